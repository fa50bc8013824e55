"""The loop of SPEC 6 over several stops: limits, ownership, waits, what is written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from flow import hook
from flow.app.evaluation import command_runs
from flow.app.stop import sight
from flow.wiring import stopping
from tests.support import ROOT, GitRepo, scene
from tests.support.stops import event, events, loop, settings, stop, stopped, verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
DECISIONS = {"claude": "block", "codex": "block", "gemini": "deny"}
"""What sends an agent on."""


@pytest.fixture
def looping(repo: GitRepo, home: Path) -> GitRepo:
    """A goal that is not met, and the loop turned on."""
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="evaluator-loop")
    return repo


def journal(repo: GitRepo) -> str:
    return repo.read(".decisions/issue-7.md")


def test_it_goes_on_until_the_commands_pass_then_a_person_confirms(
    looping: GitRepo, capfd: Capture
) -> None:
    assert stop(looping, capfd)["decision"] == "block"
    assert verdict(looping)["verdict"] == "not_achieved"
    assert verdict(looping)["source"] == "evaluator-loop"
    scene.meet(looping)
    answer = stop(looping, capfd, stop_hook_active=True)
    assert answer["decision"] == "approve"
    assert answer["next_step_hint"] == "/flow:goal evaluate greet"
    assert "Waits for you: flow goal confirm greet" in answer["systemMessage"]
    assert scene.status(looping) == "active"  # never achieved by itself
    found = verdict(looping)
    assert (found["verdict"], found["source"]) == ("achieved", "evaluator-loop")
    proposal = found["proposed_transition"]["proposal_id"]
    done = scene.flow(looping, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == 0, done.stderr
    assert scene.status(looping) == "achieved"
    assert [e["answer"] for e in events(looping)] == ["continue", "let_go"]


def no_sidecar(run: Path) -> None:
    for path in (run / "evidence").iterdir():
        path.unlink()


def no_output(run: Path) -> None:
    for path in (run / "evidence").glob("*.txt"):
        path.unlink()


def altered_sidecar(run: Path) -> None:
    (path,) = (run / "evidence").glob("*.yaml")
    path.write_text(path.read_text().replace("outcome: failed", "outcome: inconclusive"))


def no_ledger(run: Path) -> None:
    (run / "ledger.jsonl").unlink()


@pytest.mark.parametrize("damage", [no_sidecar, no_output, altered_sidecar, no_ledger])
def test_a_failure_that_was_taken_out_of_the_record_is_not_forgotten_at_a_stop(
    damage: Callable[[Path], None], repo: GitRepo, home: Path, capfd: Capture
) -> None:
    """On the same files one pass would do then, and "all proved" could never be confirmed."""
    there = repo.path.parent / "there"
    scene.create(scene.start(repo), criterion=f"AC1: it is there :: test -e {there}")
    settings(home, stopHookEnforcement="evaluator-loop")
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 1
    there.touch()
    damage(scene.run_dir(repo))

    answer = stop(repo, capfd)

    assert answer["decision"] == "approve"
    assert "needs a person: the record of run" in answer["reason"]
    assert "all proved" not in answer["systemMessage"]
    found = verdict(repo)
    assert (found["verdict"], found["do"]) == ("needs_human_review", "person_looks")
    assert found["proposed_transition"] is None
    assert found["next_step_hint"].endswith("flow goal evaluate greet --run-id NEW")


def test_the_fourth_equal_stop_is_stuck(looping: GitRepo, capfd: Capture) -> None:
    answers = [stop(looping, capfd, stop_hook_active=n > 0) for n in range(4)]
    assert [a["decision"] for a in answers] == ["block", "block", "block", "approve"]
    assert "It is marked failed: " in answers[3]["systemMessage"]
    assert scene.status(looping) == "failed"
    goal = scene.goal_file(looping)
    assert "stuck_no_progress" in goal
    assert "turns_evaluated: 4" in goal
    text = journal(looping)
    assert "to: failed" in text
    assert "stuck_no_progress" in text
    assert "Stop hook" in text
    assert "confirmed_by" not in text  # nobody was asked
    found = verdict(looping)
    assert found["lifecycle"]["to"] == "failed"
    assert found["reason"].startswith("stuck_no_progress")
    assert events(looping)[-1]["limit"] == "stuck_no_progress"
    assert answers[3]["reason"].startswith("goal greet is failed: stuck_no_progress: the same ")
    told = scene.flow(looping, "goal", "history", "greet").stdout
    assert told.index("turn 4") < told.index("the Stop hook closed it as failed")
    anew = "flow goal create NEW --from greet"
    assert answers[3]["next_step_hint"].endswith(anew), "a closed goal is not evaluated again"
    why = "the same criteria passed after each of 3 continuations"
    told = scene.flow(looping, "goal", "status", "greet").stdout
    assert f"because    {why}" in told
    told = scene.flow(looping, "goal", "history", "greet").stdout
    assert "the Stop hook closed it as failed" in told
    assert (told.count(why), told.count("“")) == (1, 0), "no person's words, and said once"


def test_a_files_name_is_no_judges_word(looping: GitRepo, capfd: Capture) -> None:
    """It was taken for the start of a judge's words: the agent was let go, outside its paths."""
    name = "src/judge: x"
    looping.write("outside.txt", "x")
    scene.edit(looping, ("grep -q please src/greet.txt", f"'date +%N >> \"{name}\"'"))
    done = scene.flow(looping, "goal", "evaluate", "greet", "--json")
    assert done.json["reason"].startswith(f"changed while the commands ran: {name}; path_boundary")
    assert "remove outside.txt" in scene.flow(looping, "goal", "status", "--json").json["next"]
    answer = stop(looping, capfd)
    assert (answer["decision"], "outside.txt is new" in answer["reason"]) == ("block", True)


@pytest.mark.parametrize("limit", [1, 2])
def test_the_setting_says_after_how_many_turns(
    limit: int, looping: GitRepo, home: Path, capfd: Capture
) -> None:
    settings(home, stopHookEnforcement="evaluator-loop", failAfterStuckTurns=limit)
    answers = [stop(looping, capfd)["decision"] for _ in range(limit + 1)]
    assert answers == ["block"] * limit + ["approve"]
    assert scene.status(looping) == "failed"


def test_onstuck_propose_leaves_it_a_proposal(looping: GitRepo, home: Path, capfd: Capture) -> None:
    settings(home, stopHookEnforcement="evaluator-loop", failAfterStuckTurns=1, onStuck="propose")
    stop(looping, capfd)
    answer = stop(looping, capfd)
    assert "stuck_no_progress" in answer["reason"]
    assert scene.status(looping) == "active"
    proposed = verdict(looping)["proposed_transition"]
    assert proposed["to"] == "failed"
    words = ("goal", "confirm", "greet", "--proposal", proposed["proposal_id"])
    done = scene.flow(looping, *words)
    assert done.status == 0, done.stderr
    assert scene.status(looping) == "failed"


def test_progress_and_a_prompt_of_the_users_start_the_count_again(
    looping: GitRepo, home: Path, capfd: Capture
) -> None:
    settings(home, stopHookEnforcement="evaluator-loop", failAfterStuckTurns=2)
    for turn, prompt in enumerate(("p1", "p1", "p2", "p2", "p3", "p3")):
        looping.write("src/other.txt", f"{turn}")  # no throttle
        answer = stop(looping, capfd, prompt_id=prompt, stop_hook_active=prompt != "p1")
        assert answer["decision"] == "block", (turn, answer)
    assert scene.status(looping) == "active"
    assert loop(looping)["stuck_turns"] == 1


def test_without_prompt_ids_the_hosts_flag_counts(looping: GitRepo, capfd: Capture) -> None:
    for turn, active in enumerate((False, True, False, True, False)):
        looping.write("src/other.txt", f"{turn}")
        assert stop(looping, capfd, prompt_id=None, stop_hook_active=active)["decision"] == "block"
    assert scene.status(looping) == "active"


def test_stops_that_decide_nothing_are_not_counted(
    repo: GitRepo, home: Path, capfd: Capture
) -> None:
    scene.create(scene.start(repo), criterion="AC1: there is :: no-such-program-here")
    settings(home, stopHookEnforcement="evaluator-loop", failAfterStuckTurns=1)
    for _ in range(4):
        assert stop(repo, capfd, stop_hook_active=True)["decision"] == "approve"
    assert scene.status(repo) == "active"


@pytest.mark.parametrize("mode", ["block", "evaluator-loop"])
def test_the_goals_own_time_ends_the_loop(
    mode: str, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    budgeted(repo, 20, "max_seconds: 0.001")
    settings(home, stopHookEnforcement=mode, failAfterStuckTurns=9)
    shown = scene.flow(repo, "goal", "status", "greet", "--json").json["budget"]
    assert shown == {"max_seconds": 0.001, "max_cost_usd": None, "cost_usd": 0.0}
    assert "budget     0.0 s of an agent's work" in scene.flow(repo, "goal", "status").stdout
    answers = [stop(repo, capfd) for _ in range(2)]
    assert [a["decision"] for a in answers] == ["block", "approve"]
    assert "the 0.001 s of max_seconds are over" in answers[1]["systemMessage"]
    proposed = verdict(repo)["proposed_transition"]
    assert (proposed["to"] if proposed else None) == ("failed" if mode != "block" else None)
    assert scene.status(repo) == ("active" if mode == "block" else "waiting_for_user")


def budgeted(repo: GitRepo, iterations: int, more: str = "") -> None:
    scene.create(scene.start(repo), "greet", "--draft")
    path = repo.path / ".flow/goals/greet.goal.yaml"
    text = path.read_text()
    block = f"continuation:\n  max_iterations: {iterations}\n  {more}\nlifecycle:"
    path.write_text(text.replace("lifecycle:", block, 1))
    assert scene.step(repo, "goal", "activate", "greet").status == 0


def test_a_spent_budget_waits_for_the_user_and_proposes_failed(
    repo: GitRepo, home: Path, capfd: Capture
) -> None:
    budgeted(repo, 2)
    settings(home, stopHookEnforcement="evaluator-loop", failAfterStuckTurns=9)
    answers = [stop(repo, capfd) for _ in range(3)]
    assert [a["decision"] for a in answers] == ["block", "block", "approve"]
    assert "The goal's budget ends it after 2 more stops." in answers[0]["reason"]
    assert "the last time that Flow asks you to go on" in answers[1]["reason"]
    assert "of max_iterations are used" in answers[2]["systemMessage"]
    assert scene.status(repo) == "waiting_for_user"
    proposed = verdict(repo)["proposed_transition"]
    assert proposed["to"] == "failed"
    assert "budget_exhausted" in journal(repo)
    done = scene.flow(repo, "goal", "confirm", "greet", "--proposal", proposed["proposal_id"])
    assert done.status == 0, done.stderr
    assert scene.status(repo) == "failed"


@pytest.mark.parametrize("limit", ["budget", "stuck"])
def test_what_is_proposed_at_a_limit_rests_on_what_that_stop_measured(
    limit: str, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    """The result is that of the stop before, so the goal's file had older evidence."""
    budgeted(repo, 1)
    stuck = 1 if limit == "stuck" else 9
    settings(
        home, stopHookEnforcement="evaluator-loop", failAfterStuckTurns=stuck, onStuck="propose"
    )
    stop(repo, capfd)
    repo.write("src/more.txt", "more\n")
    assert stop(repo, capfd)["decision"] == "approve"
    shown = scene.flow(repo, "goal", "status", "greet", "--json").json
    assert [row["fresh"] for row in shown["criteria"]] == [True]


@pytest.mark.parametrize("mode", ["block", "evaluator-loop"])
def test_three_continuations_that_change_nothing_are_throttled(
    mode: str, looping: GitRepo, home: Path, capfd: Capture
) -> None:
    settings(home, stopHookEnforcement=mode, failAfterStuckTurns=9)
    answers = [stop(looping, capfd) for _ in range(4)]
    assert [a["decision"] for a in answers] == ["block", "block", "block", "approve"]
    assert "within 5 minutes" in answers[3]["systemMessage"]
    assert scene.status(looping) == "active"
    looping.write("src/more.txt", "x")
    assert stop(looping, capfd)["decision"] == "block"


def test_the_last_block_before_the_hosts_cap_says_so(
    looping: GitRepo, home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(home, stopHookEnforcement="block")
    monkeypatch.setenv(hook.CAP, "2")
    answers = [stop(looping, capfd) for _ in range(3)]
    assert [a["decision"] for a in answers] == ["block", "block", "approve"]
    assert "the host lets Flow ask for more" not in answers[0]["reason"]
    assert "the host lets Flow ask for more" in answers[1]["reason"]
    assert "the host lets go after" in answers[2]["systemMessage"]


def test_an_unchanged_result_does_not_touch_the_goal_or_its_journal(
    looping: GitRepo, capfd: Capture
) -> None:
    stop(looping, capfd)
    before = scene.goal_file(looping), journal(looping), looping.git("status", "--porcelain")
    stop(looping, capfd)
    looping.write("src/other.txt", "still not")
    stop(looping, capfd)
    after = scene.goal_file(looping), journal(looping)
    assert after == before[:2]
    assert len(events(looping)) == 3
    assert len(events(looping, "evaluated")) == 1
    assert verdict(looping)["lifecycle"]["turns_evaluated"] == 3


def test_unchanged_work_is_not_run_again(repo: GitRepo, home: Path, capfd: Capture) -> None:
    scene.start(repo)
    count = "echo run >> $HOME/runs; "
    more = ("--criterion", f"AC2: fine :: {count}true")
    scene.create(repo, "greet", *more, criterion=f"AC1: says please :: {count}exit 1")
    settings(home, stopHookEnforcement="block")

    def runs() -> int:
        return (home / "runs").read_text().count("run")

    for _ in range(3):
        stop(repo, capfd)
    assert runs() == 2
    assert events(repo)[-1]["reused"] == ["AC1", "AC2"]
    repo.write("src/other.txt", "x")
    stop(repo, capfd)
    assert runs() == 4
    stop(repo, capfd)  # of the newest evidence, though the goal names the older
    assert runs() == 4
    assert scene.flow(repo, "goal", "evaluate", "greet", "--no-input").status == 1
    assert runs() == 6  # a person's call runs everything


def test_a_criterion_that_is_not_hermetic_runs_each_time(
    repo: GitRepo, home: Path, capfd: Capture
) -> None:
    scene.create(
        scene.start(repo), "greet", "--draft", criterion="AC1: x :: echo run >> $HOME/runs; false"
    )
    path = repo.path / ".flow/goals/greet.goal.yaml"
    path.write_text(
        re.sub(r"(\n +)(verification_command:)", r"\1hermetic: false\1\2", path.read_text())
    )
    assert scene.flow(repo, "goal", "activate", "greet").status == 0
    settings(home, stopHookEnforcement="block")
    for _ in range(3):
        stop(repo, capfd)
    assert (home / "runs").read_text().count("run") == 3


FORGERIES = {
    "its outcome": (r"outcome: failed", "outcome: passed"),
    "its exit code": (r"exit_code: 1", "exit_code: 0"),
}


@pytest.mark.parametrize("how", list(FORGERIES))
def test_evidence_that_was_altered_is_not_reused(
    how: str, looping: GitRepo, capfd: Capture
) -> None:
    stopped(looping)
    [sidecar] = (scene.run_dir(looping) / "evidence").glob("*.evidence.yaml")
    text = sidecar.read_text()
    assert re.search(FORGERIES[how][0], text)
    sidecar.write_text(re.sub(*FORGERIES[how], text))
    assert stop(looping, capfd)["decision"] == "block"
    assert events(looping)[-1]["reused"] == []


def test_counters_that_point_elsewhere_prove_nothing(looping: GitRepo, capfd: Capture) -> None:
    """loop.json may name any sidecar; only one that fits counts."""
    stopped(looping)
    path = scene.run_dir(looping) / "loop.json"
    document = json.loads(path.read_text())
    for named in ("../../x", "/etc/passwd", document["evidence"]["AC1"].replace("ac1", "ac9")):
        document["evidence"] = {"AC1": named}
        path.write_text(json.dumps(document))
        assert stop(looping, capfd)["decision"] in ("block", "approve")
        assert verdict(looping)["verdict"] == "not_achieved"


def test_a_violation_is_named_until_it_is_put_back(looping: GitRepo, capfd: Capture) -> None:
    scene.meet(looping)
    looping.write("outside.txt", "x")
    answer = stop(looping, capfd)
    assert answer["decision"] == "block"
    assert "outside.txt" in answer["reason"]
    assert scene.status(looping) == "blocked"
    before = scene.goal_file(looping), journal(looping)
    assert stop(looping, capfd)["decision"] == "block"
    assert (scene.goal_file(looping), journal(looping)) == before
    os.unlink(looping.path / "outside.txt")
    answer = stop(looping, capfd)
    assert answer["decision"] == "approve"
    assert "proved" in answer["systemMessage"]
    assert scene.status(looping) == "active"
    assert "from: blocked" in journal(looping)


def test_a_goal_belongs_to_the_session_that_first_went_on(
    looping: GitRepo, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stop(looping, capfd)["decision"] == "block"
    other = stop(looping, capfd, session_id="s2")
    assert other["decision"] == "approve"
    assert "another session" in other["reason"]
    assert stop(looping, capfd)["decision"] == "block"
    done = scene.flow(looping, "goal", "claim", "greet", "--session", "s2", "--json")
    assert done.json["session"] == "s2"
    assert stop(looping, capfd)["decision"] == "approve"
    assert stop(looping, capfd, session_id="s2")["decision"] == "block"
    later = time.time() + sight.IDLE_SECONDS + 60
    monkeypatch.setattr(time, "time", lambda: later)
    assert stop(looping, capfd)["decision"] == "block"  # idle for an hour


def test_a_claim_without_a_session_opens_the_goal_to_the_next(
    looping: GitRepo, capfd: Capture
) -> None:
    stopped(looping)
    assert scene.flow(looping, "goal", "claim", "greet").status == 0
    assert stop(looping, capfd, session_id="s9")["decision"] == "block"
    assert stop(looping, capfd)["decision"] == "approve"


def test_a_warning_makes_nobody_the_owner(looping: GitRepo, home: Path, capfd: Capture) -> None:
    settings(home, stopHookEnforcement="warn")
    stop(looping, capfd)
    assert "systemMessage" in stop(looping, capfd, session_id="s2")


def test_nothing_is_run_while_the_host_has_background_work(
    looping: GitRepo, capfd: Capture
) -> None:
    tasks = [{"id": "b1", "type": "shell", "status": "running", "description": "the server"}]
    answer = stop(looping, capfd, background_tasks=tasks)
    assert answer["decision"] == "approve"
    assert "the server" in answer["reason"]
    assert not (scene.run_dir(looping) / "loop.json").exists()


# --- waiting for CI --------------------------------------------------------------------------


def test_a_wait_is_asked_again_at_a_stop_and_resumes(looping: GitRepo, capfd: Capture) -> None:
    scene.meet(looping)
    done = scene.flow(looping, "goal", "wait", "greet", "--until", "test -e .git/green", "--json")
    assert done.status == 0, done.stderr
    assert (done.json["status"], done.json["there"]) == ("waiting_for_ci", False)
    assert scene.status(looping) == "waiting_for_ci"
    answer = stop(looping, capfd)
    assert answer["decision"] == "approve"
    assert "not there yet" in answer["systemMessage"]
    assert scene.status(looping) == "waiting_for_ci"
    looping.write(".git/green", "")
    assert "proved" in stop(looping, capfd)["systemMessage"]
    assert scene.status(looping) == "active"
    assert "what it waited for is there" in journal(looping)


def test_a_wait_that_is_over_already_changes_nothing(looping: GitRepo) -> None:
    before = scene.goal_file(looping)
    done = scene.flow(looping, "goal", "wait", "greet", "--until", "true", "--json")
    assert (done.status, done.json["there"]) == (0, True)
    assert scene.goal_file(looping) == before


def test_a_wait_can_be_followed(looping: GitRepo) -> None:
    count = "echo x >> $HOME/asked; test $(wc -l < $HOME/asked) -ge 3"
    words = ("goal", "wait", "greet", "--until", count, "--follow", "--every", "0.05", "--json")
    done = scene.flow(looping, *words)
    assert (done.status, done.json["there"], done.json["status"]) == (0, True, "active")
    words = ("goal", "wait", "greet", "--until", "false", "--follow", "--every", "0.1")
    done = scene.flow(looping, *words, "--timeout", "0.3", "--json")
    assert done.status == 4
    assert "flow goal resume greet" in done.json["error"]["remedy"]
    assert scene.status(looping) == "waiting_for_ci"


def test_no_checkout_brings_a_wait_along(looping: GitRepo, home: Path, capfd: Capture) -> None:
    """What is asked again comes from the user's own state folder alone."""
    assert scene.flow(looping, "goal", "wait", "greet", "--until", "false").status == 0
    [note] = (home / "flow-state/waits").rglob("greet.json")
    assert not list(scene.run_dir(looping).glob("*wait*"))
    assert note.stat().st_mode & 0o077 == 0
    note.unlink()
    answer = stop(looping, capfd)
    assert answer["decision"] == "approve"
    assert "flow goal wait greet" in answer["systemMessage"]


@pytest.mark.parametrize("state", ["draft", "paused", "closed"])
def test_only_an_active_goal_can_wait(state: str, repo: GitRepo) -> None:
    scene.create(scene.start(repo), "greet", *(["--draft"] if state == "draft" else []))
    if state == "paused":
        scene.flow(repo, "goal", "pause", "greet")
    if state == "closed":
        scene.flow(repo, "goal", "clear", "greet", "--yes")
    done = scene.flow(repo, "goal", "wait", "greet", "--until", "true")
    assert done.status == 2
    assert "greet" in done.stderr


# --- time ------------------------------------------------------------------------------------


def test_it_answers_in_its_time_and_names_what_it_did_not_get_to(
    repo: GitRepo, home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is over once the first command runs: the clock is the test's own."""
    scene.start(repo)
    more = ("--criterion", "AC2: quick :: true", "--criterion", "AC3: never :: sleep 600")
    scene.create(repo, "greet", *more, criterion="AC1: slow :: echo $$ > $HOME/pid; sleep 300")
    settings(home, stopHookEnforcement="block", hookTimeoutSeconds=100)
    pid = home / "pid"

    def clock() -> float:
        return 100 - stopping.MARGIN if pid.exists() and pid.read_text().endswith("\n") else 0.0

    monkeypatch.setattr(hook, "monotonic", clock)
    answer = stop(repo, capfd)
    assert answer["decision"] == "approve"
    assert "Not reached in the hook's time: AC1, AC2, AC3." in answer["systemMessage"]
    deadline = time.monotonic() + 60
    while _cwd(pid.read_text().strip()):  # the command, or `sleep` in its place
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_command_that_hangs_hides_none_that_fails(
    repo: GitRepo, home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It passed before, so its status stays: that it was not reached is said all the same."""
    scene.start(repo)
    hangs = "AC1: hangs :: [ ! -e $HOME/hangs ] || { touch $HOME/hung; sleep 300; }"
    scene.create(repo, "greet", "--criterion", "AC2: fails :: false", criterion=hangs)
    scene.flow(repo, "goal", "evaluate", "greet", "--only", "AC1")
    settings(home, stopHookEnforcement="block", hookTimeoutSeconds=100)
    (home / "hangs").touch()
    scene.meet(repo)
    few = 100 - stopping.MARGIN - 10
    monkeypatch.setattr(hook, "monotonic", lambda: few if (home / "hung").exists() else 0.0)
    answer = stop(repo, capfd)
    assert answer["decision"] == "block"
    assert "AC1 is undecided: not reached in the time that was left" in answer["reason"]
    assert "AC2 failed, AC1 not run" in answer["systemMessage"]


@pytest.mark.parametrize("limit", [2, 5])
def test_a_short_time_is_enough_for_what_is_fast(
    limit: int, repo: GitRepo, home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block", hookTimeoutSeconds=limit)
    monkeypatch.setattr(hook, "monotonic", lambda: 0.0)  # no machine is too slow for it
    assert stop(repo, capfd)["decision"] == "block"


def _cwd(pid: str) -> str:
    """Where a process is at work; "" once it has ended."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def test_what_was_fast_last_time_goes_first(
    repo: GitRepo, home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long each took is given here: on a busy machine `true` may take long."""
    scene.start(repo)
    log = "echo {0} >> $HOME/order"
    more = ("--criterion", f"AC2: quick :: {log.format('AC2')}")
    scene.create(repo, "greet", *more, criterion=f"AC1: slow :: {log.format('AC1')}")
    settings(home, stopHookEnforcement="block")
    fields = command_runs.run_fields

    def timed(subject: Any, criterion: Any, result: Any) -> dict[str, Any]:
        took = {"AC1": 0.5, "AC2": 0.1}[criterion.id]
        return fields(subject, criterion, result._replace(duration_seconds=took))

    monkeypatch.setattr(command_runs, "run_fields", timed)
    stop(repo, capfd)
    repo.write("src/other.txt", "x")
    stop(repo, capfd)
    assert (home / "order").read_text().split() == ["AC1", "AC2", "AC2", "AC1"]
    rows = [row["criterion_id"] for row in verdict(repo)["criterion_results"]]
    assert rows == ["AC1", "AC2"]


def test_two_stops_at_once_measure_once(looping: GitRepo, home: Path) -> None:
    answers = stops_at_once(looping, [{}, {}])
    assert [a["decision"] for a in answers] == ["block", "block"]
    assert (home / "runs").read_text().count("run") == 1
    assert len(events(looping, goal="two")) == 2


def stops_at_once(repo: GitRepo, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers to stops that begin together, of a goal whose command takes a while to fail."""
    scene.flow(repo, "goal", "clear", "greet", "--yes")
    scene.create(repo, "two", criterion="AC1: x :: echo run >> $HOME/runs; sleep 0.5; false")
    assert (repo.path / ".flow/goals/greet.goal.yaml").exists()
    flow = [os.path.join(ROOT, "bin", "flow"), "hook", "stop"]
    env = {**os.environ, "FLOW_PYTHON": sys.executable}
    processes = []
    for number, more in enumerate(events):
        given = repo.write(f"../event{number}.json", json.dumps(event(repo, **more)))
        with given.open("rb") as file:
            processes.append(subprocess.Popen(flow, stdin=file, stdout=subprocess.PIPE, env=env))
    return [json.loads(process.communicate(timeout=120)[0]) for process in processes]


def test_of_sessions_that_stop_at_once_one_gets_the_goal(looping: GitRepo, capfd: Capture) -> None:
    """HAZARD I174."""
    named = [{"session_id": f"s{number}"} for number in range(3)]
    answers = stops_at_once(looping, named)
    assert sorted(a["decision"] for a in answers) == ["approve", "approve", "block"]
    others = [n for n, answer in enumerate(answers) if answer["decision"] == "approve"]
    assert all("belongs to another session" in answers[number]["reason"] for number in others)
    assert len(events(looping, goal="two")) == 1
    again = stop(looping, capfd, **named[others[0]])
    assert "belongs to another session" in again["reason"]
    assert "systemMessage" not in again, "it never had the goal"


@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
def test_a_stop_that_runs_the_hook_twice_counts_once(
    looping: GitRepo, capfd: Capture, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """A plugin's hook beside one of the settings: both are started before one has answered."""
    for number in range(1, 4):
        started = time.time()
        first = stop(looping, capfd, host, stop_hook_active=number > 1)
        with monkeypatch.context() as at_once:
            at_once.setattr(hook, "time", lambda then=started: then)
            second = stop(looping, capfd, host, stop_hook_active=number > 1)
        assert [first["decision"], second["decision"]] == [DECISIONS[host]] * 2
        assert first["reason"] == second["reason"]
        counts = loop(looping)
        assert (counts["continuations"], counts["stuck_turns"]) == (number, number - 1)
        if host != "codex":
            assert "ran twice" not in first["systemMessage"]
            assert "ran twice at this stop" in second["systemMessage"]
    stop(looping, capfd, host, stop_hook_active=True)
    assert scene.status(looping) == "failed"  # the fourth equal stop


@pytest.mark.parametrize("more", [{"session_id": "s2"}, {"prompt_id": "p2"}, {"session_id": None}])
def test_another_stop_at_the_same_time_is_another_stop(
    looping: GitRepo, capfd: Capture, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    started = time.time()
    stop(looping, capfd)
    monkeypatch.setattr(hook, "time", lambda: started)
    assert "ran twice" not in stop(looping, capfd, **more).get("systemMessage", "")


MOVES = {
    "pause": ("waiting_for_user", ("pause", "greet", "--reason", "hold on")),
    "clear": ("cancelled", ("clear", "greet", "--yes")),
}


@pytest.mark.parametrize("waits", [False, True], ids=["runs", "waits for its turn"])
@pytest.mark.parametrize("word", MOVES)
def test_a_goal_that_a_person_sets_aside_meanwhile_sends_nobody_on(
    looping: GitRepo, capfd: Capture, monkeypatch: pytest.MonkeyPatch, word: str, waits: bool
) -> None:
    """While the hook's commands run, and while it waits for another evaluation to end."""
    status, words = MOVES[word]
    assert stop(looping, capfd)["decision"] == "block"
    place = "_stop_lock" if waits else "_evaluate"
    real = getattr(stopping.Stopping, place)

    def meanwhile(*given: Any) -> Any:
        done = None if waits else real(*given)
        assert scene.flow(looping, "goal", *words).status == 0
        return real(*given) if waits else done

    monkeypatch.setattr(stopping.Stopping, place, meanwhile)
    answer = stop(looping, capfd, stop_hook_active=True)
    assert answer["decision"] == "approve"
    assert f"goal greet is {status}" in answer["systemMessage"]
    assert ("hold on" in answer["systemMessage"]) is (word == "pause")
    assert "cannot be judged" not in answer["systemMessage"]
    assert scene.status(looping) == status
    assert [e["answer"] for e in events(looping)] == ["continue"]


def test_a_goal_that_is_closed_by_hand_meanwhile_sends_the_agent_on(
    looping: GitRepo, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(looping)
    real = stopping.Stopping._evaluate

    def meanwhile(*given: Any) -> Any:
        done = real(*given)
        path = looping.path / ".flow/goals/greet.goal.yaml"
        path.write_text(path.read_text().replace("status: active", "status: achieved"))
        return done

    monkeypatch.setattr(stopping.Stopping, "_evaluate", meanwhile)
    assert stop(looping, capfd, stop_hook_active=True)["decision"] == "block"
    assert stop(looping, capfd, stop_hook_active=True)["decision"] == "block"


def test_history_tells_why_the_hook_did_what_it_did(looping: GitRepo, capfd: Capture) -> None:
    stop(looping, capfd)
    done = scene.flow(looping, "goal", "history", "greet", "--details")
    assert "stop" in done.stdout
    assert "answer=continue" in done.stdout
    assert "mode=evaluator-loop" in done.stdout


def test_a_verdict_that_cannot_be_kept_is_a_warning(
    looping: GitRepo, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flow.adapters.ledger import verdicts
    from flow.errors import StorageError

    def refuse(*_: Any, **__: Any) -> None:
        raise StorageError("cannot write: No space left on device", file="last-verdict.json")

    scene.meet(looping)
    monkeypatch.setattr(verdicts, "write_verdict", refuse)
    answer = stop(looping, capfd)
    assert answer["decision"] == "approve"
    assert "could not be recorded: last-verdict.json: cannot write" in answer["systemMessage"]
    assert "proved" in answer["systemMessage"]


def test_what_a_killed_stop_had_decided_is_finished_by_the_next(
    looping: GitRepo, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The goal is closed already, so no goal is left that a stop would be about."""
    from flow.adapters.ledger import transaction
    from flow.adapters.ledger.writer import FileLedger
    from flow.errors import LockTimeout

    for _ in range(3):
        stop(looping, capfd)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def held(*_: Any) -> None:
        raise LockTimeout("is held", file="greet.lock")

    with monkeypatch.context() as patch:
        patch.setattr(transaction, "_complete", killed)
        assert stop(looping, capfd)["decision"] == "approve"
    pending = looping.path / ".flow/runs/.pending/greet.json"
    assert pending.exists()
    assert scene.status(looping) == "failed"
    with monkeypatch.context() as patch:
        patch.setattr(FileLedger, "finish", held)
        message = stop(looping, capfd)["systemMessage"]
    assert "a change that was decided is not carried out yet: greet.lock: is held" in message
    assert "cannot read" not in message
    stop(looping, capfd)
    assert not pending.exists()
    assert [e["to"] for e in events(looping, "transition")] == ["failed"]


def test_the_goal_can_be_paused_from_beside(looping: GitRepo, capfd: Capture) -> None:
    assert stop(looping, capfd)["decision"] == "block"
    assert scene.flow(looping, "goal", "pause", "greet").status == 0
    assert stop(looping, capfd)["decision"] == "approve"
