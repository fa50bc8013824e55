"""Whatever a hand does to a goal, the Stop hook does not lose it in silence (SPEC 17.10)."""

from __future__ import annotations

import json
import os
import shutil
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.user_state.checkouts import CheckoutNotes
from flow.errors import StorageError
from tests.support import GitRepo, scene
from tests.support.effort import sizes
from tests.support.stops import event, run_script, scripted, settings, stop, stopped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
MODES = ("warn", "block", "evaluator-loop")


@pytest.fixture
def work(repo: GitRepo, home: Path) -> GitRepo:
    """A goal that is not met, in a mode that keeps the agent working."""
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    return repo


def file(repo: GitRepo) -> Path:
    return repo.path / ".flow/goals/greet.goal.yaml"


def replaced(old: str, new: str) -> Callable[[GitRepo], None]:
    def edit(repo: GitRepo) -> None:
        text = file(repo).read_text()
        assert old in text
        file(repo).write_text(text.replace(old, new, 1))

    return edit


def to_status(status: str) -> Callable[[GitRepo], None]:
    return replaced("status: active", f"status: {status}")


def by_link(repo: GitRepo) -> None:
    os.rename(file(repo), repo.path / "moved.yaml")
    file(repo).symlink_to(repo.path / "moved.yaml")


def by_folder(repo: GitRepo) -> None:
    file(repo).unlink()
    file(repo).mkdir()


def by_pipe(repo: GitRepo) -> None:
    file(repo).unlink()
    os.mkfifo(file(repo))


def no_folder(repo: GitRepo) -> None:
    shutil.rmtree(repo.path / ".flow/goals")
    (repo.path / ".flow/goals").write_text("")


def flow_a_file(repo: GitRepo) -> None:
    shutil.rmtree(repo.path / ".flow")
    repo.write(".flow", "")


def flow_a_link(repo: GitRepo) -> None:
    os.rename(repo.path / ".flow", repo.path / "elsewhere")
    (repo.path / ".flow").symlink_to("elsewhere")


def no_runs(repo: GitRepo) -> None:
    shutil.rmtree(repo.path / ".flow/runs")
    repo.write(".flow/runs", "")


def no_lock(repo: GitRepo) -> None:
    lock = repo.path / ".flow/runs/.locks/stop-greet.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir(parents=True)


def other_id(repo: GitRepo) -> None:
    text = file(repo).read_text().replace("id: greet", "id: other", 1)
    file(repo).unlink()
    repo.write(".flow/goals/other.goal.yaml", text)


HANDS: dict[str, tuple[Callable[[GitRepo], Any], str]] = {
    "removed": (lambda repo: file(repo).unlink(), "is gone"),
    "moved away": (lambda repo: os.rename(file(repo), repo.path / "x"), "is gone"),
    "cleaned": (lambda repo: repo.git("clean", "-fdxq"), "is gone"),
    "stashed": (lambda repo: repo.git("stash", "-uaq"), "is gone"),
    "another id": (other_id, "is gone"),
    ".flow removed": (lambda repo: shutil.rmtree(repo.path / ".flow"), "is gone"),
    ".flow renamed": (lambda repo: os.rename(repo.path / ".flow", repo.path / ".f"), "is gone"),
    "a link": (by_link, "cannot be read"),
    "a folder": (by_folder, "cannot be read"),
    "a pipe": (by_pipe, "cannot be read"),
    "no folder of goals": (no_folder, "cannot be read"),
    ".flow a file": (flow_a_file, "cannot be read"),
    ".flow a link": (flow_a_link, "cannot be read"),
    "no folder of runs": (no_runs, "cannot be judged"),
    "a lock that is none": (no_lock, "cannot be judged"),
    "broken": (lambda repo: file(repo).write_text("apiVersion: ["), "cannot be read"),
    "empty": (lambda repo: file(repo).write_text(""), "cannot be read"),
    "drafted": (to_status("draft"), "status was set to draft by hand"),
    "paused": (to_status("waiting_for_user"), "status was set to waiting_for_user by hand"),
    "waits": (to_status("waiting_for_ci"), "status was set to waiting_for_ci by hand"),
    "blocked": (to_status("blocked"), "status was set to blocked by hand"),
    "achieved": (to_status("achieved"), "closed by hand"),
    "failed": (to_status("failed"), "closed by hand"),
    "cancelled": (to_status("cancelled"), "closed by hand"),
    "another branch": (
        replaced("branch: main", "branch: other"),
        "branch was set to other by hand",
    ),
    "another contract": (replaced("grep -q please", "true please"), "contract was changed by hand"),
    ".git renamed": (lambda repo: os.rename(repo.path / ".git", repo.path / ".g"), "is gone"),
    ".git and .flow": (
        lambda repo: [os.rename(repo.path / f".{n}", repo.path / n) for n in ("git", "flow")],
        "is gone",
    ),
}


ALIKE = frozenset(
    (
        *("moved away", ".flow renamed", "stashed", "empty"),  # as removed, cleaned, broken
        *("waits", "blocked", "failed", "cancelled"),  # one status for another
    )
)
"""Hands for the long form: the look at what they leave is the same as for another one."""
SHORT = [hand for hand in HANDS if hand not in ALIKE]
IN_MODES = sizes(
    short=[(hand, MODES[number % len(MODES)]) for number, hand in enumerate(SHORT)],
    long=[(hand, mode) for hand in HANDS for mode in MODES],
)
"""In short each hand once, and each mode with every third."""


@pytest.mark.parametrize(("hand", "mode"), IN_MODES)
def test_what_a_hand_does_is_said_and_continued(
    hand: str, mode: str, work: GitRepo, home: Path, capfd: Capture
) -> None:
    do, words = HANDS[hand]
    assert stopped(work)["decision"] == "block"
    settings(home, stopHookEnforcement=mode)
    do(work)
    answer = stop(work, capfd)
    assert "goal greet" in answer["systemMessage"]
    assert words in answer["systemMessage"]
    if mode == "warn":
        assert answer["decision"] == "approve"
        return
    assert answer["decision"] == "block"
    assert answer["reason"].startswith("FLOW_GOAL_CONTINUATION goal greet")
    assert words in answer["reason"]
    assert "put" in answer["reason"]
    assert "flow goal forget greet" in answer["reason"]


@pytest.mark.parametrize("hand", sizes(short=SHORT, long=list(HANDS)))
def test_in_another_session_it_is_said_once_and_not_continued(
    hand: str, work: GitRepo, capfd: Capture
) -> None:
    do, words = HANDS[hand]
    do(work)
    answer = stop(work, capfd)
    assert answer["decision"] == "approve"
    if hand != "another contract":  # there the hook says that it is not trusted
        assert words in answer["systemMessage"]
    again = stop(work, capfd)
    assert again["decision"] == "approve"
    if words != "cannot be judged":  # that is said each time
        assert words not in again.get("systemMessage", "").replace("cannot read", "")


def test_it_is_asked_for_at_most_so_often_and_said_once(work: GitRepo, capfd: Capture) -> None:
    stopped(work)
    file(work).unlink()
    answers = [stop(work, capfd) for _ in range(5)]
    assert [a["decision"] for a in answers] == ["block"] * 3 + ["approve"] * 2
    assert ["systemMessage" in a for a in answers] == [True, False, False, False, False]
    assert "3 of 3" in answers[2]["reason"]


def test_the_setting_says_how_often(work: GitRepo, home: Path, capfd: Capture) -> None:
    stopped(work)
    settings(home, stopHookEnforcement="block", failAfterStuckTurns=1)
    file(work).unlink()
    assert [stop(work, capfd)["decision"] for _ in range(2)] == ["block", "approve"]


def test_put_back_it_is_judged_and_another_change_is_said(work: GitRepo, capfd: Capture) -> None:
    text = file(work).read_text()
    stopped(work)
    file(work).unlink()
    assert "is gone" in stop(work, capfd)["systemMessage"]
    file(work).write_text(text)
    answer = stop(work, capfd)
    assert "AC1" in answer["reason"]
    assert answer["systemMessage"] == "◎ greet turn 2: AC1 failed. The agent goes on (2)."
    to_status("draft")(work)
    assert "set to draft by hand" in stop(work, capfd)["systemMessage"]
    file(work).unlink()
    assert "is gone" in stop(work, capfd)["systemMessage"]


def test_a_checkout_that_nobody_remembers_is_named(work: GitRepo, tmp_path: Path) -> None:
    gone = tmp_path / "gone/deep"
    done = scene.flow(work, "goal", "forget", "greet", "--checkout", str(gone))
    assert done.status == 2
    assert f"{gone} is in no git repository" in done.stderr


def test_a_person_forgets_it(work: GitRepo, capfd: Capture) -> None:
    stopped(work)
    file(work).unlink()
    assert stop(work, capfd)["decision"] == "block"
    done = scene.flow(work, "goal", "forget", "greet", "--json")
    assert (done.status, done.json["goal_id"]) == (0, "greet")
    answer = stop(work, capfd)
    assert answer["decision"] == "approve"
    assert "systemMessage" not in answer
    done = scene.flow(work, "goal", "forget", "greet")
    assert done.status == 2
    assert "greet" in done.stderr


@pytest.mark.parametrize("door", ["clear", "confirm", "paused"])
def test_what_flow_does_itself_is_no_loss(door: str, work: GitRepo, capfd: Capture) -> None:
    stopped(work)
    if door == "clear":
        assert scene.flow(work, "goal", "clear", "greet", "--yes").status == 0
    elif door == "confirm":
        proposal = scene.propose(work)
        words = ("goal", "confirm", "greet", "--proposal", proposal)
        assert scene.flow(work, *words).status == 0
    else:
        assert scene.flow(work, "goal", "pause", "greet").status == 0
    answer = stop(work, capfd)
    assert answer["decision"] == "approve"
    assert "by hand" not in str(answer)
    if door != "paused":
        assert answer["systemMessage"].startswith("Flow: goal greet was closed as ")
        shutil.rmtree(work.path / ".flow")
        assert "systemMessage" not in stop(work, capfd)


@pytest.fixture
def side(work: GitRepo, tmp_path: Path) -> GitRepo:
    """The work goes on in another working tree; the first one is on another branch meanwhile."""
    stopped(work)
    work.commit("a goal")
    work.git("switch", "-qc", "other")
    linked = tmp_path / "linked"
    work.git("worktree", "add", "-q", str(linked), "main")
    return GitRepo(linked)


def back(work: GitRepo, side: GitRepo) -> None:
    """The other working tree goes, with its runs, and the first one gets its branch."""
    side.commit("its end")
    work.git("worktree", "remove", "--force", str(side.path))
    work.git("switch", "-q", "main")


@pytest.mark.parametrize("door", ["clear at once", "clear", "confirm"])
def test_a_closing_in_another_working_tree_is_no_loss_and_is_told(
    door: str, work: GitRepo, side: GitRepo, capfd: Capture
) -> None:
    if door != "clear at once":  # named: in the same second it would be called like the first
        begun = ("goal", "evaluate", "greet", "--no-input", "--run-id", "side")
        assert "side" in scene.flow(side, *begun, "--json").json["run_id"]
    if door != "confirm":
        assert scene.flow(side, "goal", "clear", "greet", "--yes").status == 0
    else:
        said = ("--by", "A Tester", "--note", "a new working tree", "--yes")
        assert scene.flow(side, "goal", "approve", "greet", "guards", *said).status == 0
        scene.meet(side)
        done = scene.flow(side, "goal", "evaluate", "greet", "--json")
        proposal = done.json["proposed_transition"]["proposal_id"]
        words = ("goal", "confirm", "greet", "--proposal", proposal)
        assert scene.flow(side, *words).status == 0
    back(work, side)
    status = "achieved" if door == "confirm" else "cancelled"
    for words in (("status", "greet"), ("inspect", "greet")):
        document = scene.flow(work, "goal", *words, "--json").json
        assert (document["closed_by_hand"], document["warnings"]) == (False, [])
    told = f"Flow: goal greet was closed as {status}, said from another working tree"
    answer = stop(work, capfd)
    assert answer["decision"] == "approve"
    assert answer["systemMessage"].startswith(told)
    assert "systemMessage" not in stop(work, capfd)


@pytest.mark.parametrize("hand", ["status alone", "another closing", "another contract", "run"])
def test_a_hand_in_another_working_tree_closes_nothing(
    hand: str, work: GitRepo, side: GitRepo, capfd: Capture
) -> None:
    if hand != "status alone":
        assert scene.flow(side, "goal", "clear", "greet", "--yes").status == 0
    edits = {
        "status alone": ("status: active", "status: achieved"),
        "another closing": ("status: cancelled", "status: achieved"),
        "another contract": ("grep -q please", "true please"),
        "run": ('run_id: "', 'run_id: "x'),
    }
    replaced(*edits[hand])(side)
    back(work, side)
    answer = stop(work, capfd)
    assert answer["decision"] == "block"
    assert "closed by hand" in answer["systemMessage"]


def test_a_closing_in_another_working_tree_does_not_renew_one_of_this_one(
    work: GitRepo, capfd: Capture, tmp_path: Path
) -> None:
    """Opened again by git, and on another status since: its own record alone says how it is."""
    stopped(work)
    work.commit("a goal")
    assert scene.flow(work, "goal", "clear", "greet", "--yes").status == 0
    closed = file(work).read_text()
    work.git("checkout", "-q", "--", ".")
    assert scene.flow(work, "goal", "pause", "greet").status == 0
    assert scene.flow(work, "goal", "resume", "greet").status == 0
    stop(work, capfd)
    file(work).write_text(closed)
    assert "closed by hand" in stop(work, capfd)["systemMessage"]


def test_a_closing_in_another_state_folder_is_by_hand(
    work: GitRepo, capfd: Capture, tmp_path: Path
) -> None:
    """What an agent's shell says of the state folder does not fool the host's hook."""
    stopped(work)
    other = {"FLOW_STATE_DIR": str(tmp_path / "other state")}
    done = scene.flow(work, "goal", "clear", "greet", "--yes", env=other)
    assert done.status == 0, done.stderr
    answer = stop(work, capfd)
    assert answer["decision"] == "block"
    assert "closed by hand" in answer["systemMessage"]


def test_a_change_that_somebody_decided_in_the_checkout_closes_nothing(
    work: GitRepo, capfd: Capture
) -> None:
    """A forged intent is carried out like one of a killed command; nobody vouches for it."""
    stopped(work)
    text = file(work).read_text()
    run_id = scene.run_dir(work).name
    intent = {
        "version": 1,
        "key": "0" * 24,
        "goal_id": "greet",
        "run_id": run_id,
        "at": "2026-01-01T00:00:00Z",
        "journal": ".decisions/issue-7.md",
        "issue": 7,
        "branch": "main",
        "artifact": {
            "type": "goal-evaluation",
            "fields": {"goal_id": "greet", "result": "pass", "evidence_bundle": "x"},
        },
        "event_type": "confirmed",
        "event": {"from": "active", "to": "achieved"},
        "text": text.replace("status: active", "status: achieved", 1),
        "before": sha256(text.encode()).hexdigest(),
        "proposal": None,
        "proposal_change": "keep",
        "sidecar": None,
        "sidecar_sha256": None,
    }
    work.write(".flow/runs/.pending/greet.json", json.dumps(intent))
    answer = stop(work, capfd)
    assert answer["decision"] == "block"
    assert "closed by hand" in answer["reason"]


def test_what_a_killed_command_had_closed_is_forgotten(
    work: GitRepo, home: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flow.app.transitions.remembered import RememberedGoals

    stopped(work)
    with monkeypatch.context() as patch:
        patch.setattr(RememberedGoals, "after_change", lambda *_: None)
        assert scene.flow(work, "goal", "clear", "greet", "--yes").status == 0
    assert list((home / "flow-state").rglob("goals.json"))
    told = stop(work, capfd)["systemMessage"]
    assert told.startswith("Flow: goal greet was closed as cancelled at ")
    assert told.endswith(", said from a pipe")
    assert not list((home / "flow-state").rglob("goals.json"))


def test_a_branch_switch_is_said_and_never_continued(work: GitRepo, capfd: Capture) -> None:
    work.git("switch", "-qc", "other")
    assert "systemMessage" not in stop(work, capfd, session_id="s2")
    work.git("switch", "-q", "main")
    stopped(work)
    work.git("switch", "-q", "other")
    answer = stop(work, capfd)
    assert answer["decision"] == "approve"
    assert "git switch main" in answer["systemMessage"]
    assert "systemMessage" not in stop(work, capfd)
    work.git("switch", "-q", "main")
    assert stop(work, capfd)["decision"] == "block"


def test_a_claim_by_a_session_that_never_stopped_hides_nothing(
    work: GitRepo, capfd: Capture
) -> None:
    stopped(work)
    assert scene.flow(work, "goal", "claim", "greet", "--session", "made-up").status == 0
    answer = stop(work, capfd)
    assert answer["decision"] == "block"
    assert "AC1" in answer["reason"]
    assert "made-up" in answer["systemMessage"]
    stop(work, capfd, session_id="s2")
    assert scene.flow(work, "goal", "claim", "greet", "--session", "s2").status == 0
    assert stop(work, capfd)["decision"] == "approve"


def test_a_claim_before_the_first_stop_is_said(work: GitRepo, capfd: Capture) -> None:
    assert scene.flow(work, "goal", "claim", "greet", "--session", "made-up").status == 0
    answer = stop(work, capfd)
    assert answer["decision"] == "approve"
    assert "goal greet: session made-up claimed it" in answer["systemMessage"]
    assert "systemMessage" not in stop(work, capfd)


def test_a_second_goal_hides_nothing(work: GitRepo, capfd: Capture) -> None:
    stopped(work)
    scene.create(work, "decoy", criterion="AC1: x :: true")
    assert scene.flow(work, "goal", "claim", "decoy", "--session", "s1").status == 0
    assert scene.flow(work, "goal", "claim", "greet").status == 0
    answer = stop(work, capfd)
    assert answer["decision"] == "block"
    assert "Goal greet is not done: " in answer["reason"]


def test_a_goal_that_was_only_written_into_the_checkout_hides_none(
    work: GitRepo, capfd: Capture
) -> None:
    text = file(work).read_text().replace("id: greet", "id: decoy", 1)
    work.write(".flow/goals/decoy.goal.yaml", text)
    answer = stop(work, capfd)
    assert answer["decision"] == "block"
    assert "Goal greet is not done: " in answer["reason"]


def test_all_goals_of_a_session_are_judged(work: GitRepo, capfd: Capture) -> None:
    scene.create(work, "other", criterion="AC1: is there :: test -e src/other.txt")
    for goal in ("greet", "other"):
        assert scene.flow(work, "goal", "claim", goal, "--session", "s1").status == 0
    reason = stop(work, capfd)["reason"]
    assert "Goal greet is not done: " in reason
    assert "Goal other is not done: " in reason
    work.write("src/other.txt", "x")
    reason = stop(work, capfd)["reason"]
    assert "Goal greet is not done: " in reason
    assert "Goal other" not in reason
    scene.meet(work)
    answer = stop(work, capfd)
    assert answer["decision"] == "approve"
    assert "◎ greet turn 3: all proved." in answer["systemMessage"]
    assert "◎ other turn 3: all proved." in answer["systemMessage"]


def test_background_work_is_waited_for_twice(work: GitRepo, capfd: Capture) -> None:
    tasks = [{"id": "b1", "type": "shell", "status": "running", "description": "the server"}]
    answers = [stop(work, capfd, background_tasks=tasks)["decision"] for _ in range(4)]
    assert answers == ["approve", "approve", "block", "block"]
    assert stop(work, capfd)["decision"] == "block"
    assert stop(work, capfd, background_tasks=tasks)["decision"] == "approve"


def test_a_wait_that_does_not_end_is_asked_about(work: GitRepo, capfd: Capture) -> None:
    stopped(work)
    assert scene.flow(work, "goal", "wait", "greet", "--until", "false").status == 0
    answers = [stop(work, capfd) for _ in range(6)]
    assert [a["decision"] for a in answers] == ["approve"] * 2 + ["block"] * 3 + ["approve"]
    assert all("false" in a["systemMessage"] for a in answers[:2])
    assert "flow goal resume greet" in answers[2]["reason"]
    assert "goal greet is open, and waits." in answers[2]["reason"]
    assert "Undo what you did" not in answers[2]["reason"]  # waiting is no harm to be undone


def test_a_hook_that_was_killed_is_said_by_the_next(
    work: GitRepo, home: Path, capfd: Capture
) -> None:
    stopped(work)
    [path] = (home / "flow-state/checkouts").rglob("session-*.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "judging": True}))
    answer = stop(work, capfd)
    assert answer["decision"] == "block"
    assert "at the previous stop" in answer["systemMessage"]
    assert "at the previous stop" not in stop(work, capfd)["systemMessage"]


def test_a_stop_that_is_judged_is_marked_beside_notes_that_stay(
    work: GitRepo, home: Path, capfd: Capture
) -> None:
    stopped(work)
    [path] = (home / "flow-state/checkouts").rglob("session-*.json")
    notes = CheckoutNotes(str(home / "flow-state"), str(work.path), None)
    kept = notes.session("s1")
    assert kept is not None
    assert kept.judging is False
    os.utime(path, (1, 1))
    before = path.stat()
    notes.keep_session("s1", kept._replace(judging=True))  # and killed
    assert notes.session("s1") == kept._replace(judging=True)
    assert path.stat().st_ino == before.st_ino
    assert path.stat().st_mtime > 1  # not the oldest
    assert "at the previous stop" in stop(work, capfd)["systemMessage"]
    assert notes.session("s1") == kept
    assert [*path.parent.glob("session-*")] == [path]
    path.with_name(f"{path.name}.judging").mkdir()  # in the mark's way: a fault, and no crash
    with pytest.raises(StorageError):
        notes.keep_session("s1", kept._replace(judging=True))


def test_a_hook_that_is_switched_off_says_so_once(
    work: GitRepo, home: Path, capfd: Capture
) -> None:
    settings(home, stopHookEnforcement="off")
    assert "systemMessage" not in stop(work, capfd)
    settings(home, stopHookEnforcement="block")
    stopped(work)
    for off in ({"stopHookEnforcement": "off"}, {"enabled": False}):
        settings(home, **off)
        assert "greet" in stop(work, capfd)["systemMessage"]
        assert "systemMessage" not in stop(work, capfd)
        settings(home, stopHookEnforcement="block")
        assert stop(work, capfd)["decision"] == "block"


def test_the_run_folder_removed_leaves_the_goal_judged(work: GitRepo, capfd: Capture) -> None:
    stopped(work)
    shutil.rmtree(work.path / ".flow/runs")
    assert stop(work, capfd)["decision"] == "block"


def test_nothing_is_kept_where_no_goal_was_begun(repo: GitRepo, home: Path, capfd: Capture) -> None:
    scene.create(scene.start(repo), "greet", "--draft")
    stop(repo, capfd)
    assert not list((home / "flow-state").rglob("goals.json"))


# --- the script ------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["", "src", "gone/below"])
def test_the_script_asks_for_a_checkout_without_goals_too(
    where: str, work: GitRepo, tmp_path: Path, capfd: Capture
) -> None:
    data = json.dumps(event(work.path / where if where else work))
    assert scripted(data, tmp_path, capfd)["decision"] == "block"
    shutil.rmtree(work.path / ".flow")
    assert "is gone" in scripted(data, tmp_path, capfd)["reason"]


@pytest.mark.parametrize("name", ["a b", "ü", "a'b", "$(x)", "[a]", "*"])
def test_a_checkout_of_any_name_is_remembered(
    name: str, tmp_path: Path, home: Path, capfd: Capture
) -> None:
    repo = GitRepo.init(tmp_path / name)
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    data = json.dumps(event(repo))
    assert scripted(data, tmp_path, capfd)["decision"] == "block"
    shutil.rmtree(repo.path / ".flow")
    assert "is gone" in scripted(data, tmp_path, capfd)["reason"]


def test_a_checkout_that_is_gone_is_said(work: GitRepo, tmp_path: Path) -> None:
    data = json.dumps(event(work))
    assert run_script(data, cwd=tmp_path).json["decision"] == "block"
    os.rename(work.path, tmp_path / "elsewhere")
    answer = run_script(data, cwd=tmp_path).json
    assert answer["decision"] == "block"
    assert str(work.path) in answer["reason"]
    os.rename(tmp_path / "elsewhere", work.path)
    assert "AC1" in run_script(data, cwd=tmp_path).json["reason"]


@pytest.mark.parametrize("where", ["nested", "beside"])
def test_in_another_repository_it_is_said_once(
    where: str, work: GitRepo, tmp_path: Path, capfd: Capture
) -> None:
    other = GitRepo.init(work.path / "src/inner" if where == "nested" else tmp_path / "beside")
    data = json.dumps(event(other))
    assert "systemMessage" not in scripted(data, tmp_path, capfd)
    stopped(work)
    answer = scripted(data, tmp_path, capfd)
    assert answer["decision"] == "approve"
    assert f"goal greet of {work.path} is not judged" in answer["systemMessage"]
    assert "systemMessage" not in scripted(data, tmp_path, capfd)
    assert "AC1" in stop(work, capfd)["reason"]


def test_outside_of_all_repositories_the_sessions_goal_is_judged(
    work: GitRepo, tmp_path: Path, capfd: Capture
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    data = json.dumps(event(outside))
    assert scripted(data, tmp_path, capfd)["reason"] == "there are no goals here"
    stopped(work)
    answer = scripted(data, tmp_path, capfd)
    assert answer["decision"] == "block"
    assert "AC1" in answer["reason"]
    other = json.dumps(event(outside, session_id="s2"))
    assert scripted(other, tmp_path, capfd)["reason"] == "there are no goals here"
    os.rename(work.path / ".git", work.path / "git")
    assert "is gone" in scripted(data, tmp_path, capfd)["reason"]


def test_notes_that_are_broken_are_no_notes(work: GitRepo, home: Path, capfd: Capture) -> None:
    stopped(work)
    [path] = (home / "flow-state/checkouts").rglob("goals.json")
    [session] = (home / "flow-state/checkouts").rglob("session-*.json")
    texts = ("", "{", "[]", '{"goals": 3}', '{"goals": {"greet": {"statuses": [1]}}}')
    for number, text in enumerate(texts):
        work.write("src/other.txt", f"{number}")  # no throttle
        path.write_text(text)
        session.write_text(text)
        assert stop(work, capfd)["decision"] == "block"


def test_old_sessions_are_forgotten(tmp_path: Path) -> None:
    from flow.adapters.user_state import checkouts
    from flow.core.stop.lost_goals import SessionNotes

    notes = CheckoutNotes(str(tmp_path / "state"), "/x", None)
    for number in range(checkouts.MOST_SESSIONS + 5):
        notes.keep_session(f"s{number}", SessionNotes(judged=("g",)))
    assert notes.session("s0") is None
    assert notes.session(f"s{checkouts.MOST_SESSIONS + 4}") == SessionNotes(judged=("g",))


# --- what a person reads ---------------------------------------------------------------------


def test_closed_by_hand_is_told_wherever_the_goal_is_shown(work: GitRepo) -> None:
    assert scene.flow(work, "goal", "evaluate", "greet", "--no-input").status == 1
    to_status("achieved")(work)
    shown = "achieved, closed by hand"
    assert shown in scene.flow(work, "goal", "list").stdout
    assert f"greet  {shown}" in scene.flow(work, "goal", "status").stdout
    assert "by hand" in scene.flow(work, "goal", "inspect", "greet").stdout
    page = scene.flow(work, "report", "greet", "--output", "-").stdout
    assert f"<title>greet: {shown}</title>" in page
    found = scene.flow(work, "doctor", "--json").json["findings"]
    (lost,) = [f for f in found if "goal greet: it was closed by hand" in f["what"]]
    assert lost["do"].endswith("; if it is meant to be so: flow goal forget greet")
    for words in (("status", "greet"), ("inspect", "greet")):
        document = scene.flow(work, "goal", *words, "--json").json
        assert document["closed_by_hand"] is True
        assert any("closed by hand" in warning for warning in document["warnings"])
    [row] = scene.flow(work, "goal", "list", "--json").json["goals"]
    assert row["closed_by_hand"] is True


def test_open_again_after_a_closing_is_told_wherever_the_goal_is_shown(work: GitRepo) -> None:
    """The commit that closed it is taken back, which brings its file back as it was before."""
    work.commit("a goal")
    proposal = scene.propose(work)
    assert scene.flow(work, "goal", "confirm", "--proposal", proposal).status == 0
    work.commit("closed")
    assert "open again" not in scene.flow(work, "goal", "list").stdout
    work.git("revert", "--no-edit", "HEAD")
    told = "open again: goal greet was closed as achieved at "
    for words in (("status", "greet"), ("inspect", "greet")):
        document = scene.flow(work, "goal", *words, "--json").json
        assert document["open_again"] is True
        (warning,) = [text for text in document["warnings"] if text.startswith(told)]
        assert "by A Tester, said from " in warning
        assert ", and its file says active" in warning
    (events,) = work.path.glob(".flow/runs/*/events.jsonl")
    own = events.read_text()  # anyone can write events, which are in the checkout
    events.write_text(own + '{"type":"transition","goal_id":"greet","to":["achieved"]}\n')
    assert told in scene.flow(work, "goal", "status").stderr
    events.write_text(own)
    work.write("src/more.txt", "x")  # what was proposed is no longer
    assert "open again" in scene.flow(work, "goal", "list").stdout
    assert "greet  open again" in scene.flow(work, "goal", "status").stdout
    (row,) = scene.flow(work, "inbox", "--json").json["items"]
    assert row["section"] == "working"
    assert row["why"].startswith("was closed, and its file says active again; ")
    proposal = scene.propose(work)
    assert scene.flow(work, "goal", "confirm", "--proposal", proposal).status == 0
    document = scene.flow(work, "goal", "status", "greet", "--json").json
    assert (document["open_again"], document["warnings"]) == (False, [])


def test_closed_by_flow_is_told_as_before(work: GitRepo) -> None:
    assert scene.flow(work, "goal", "clear", "greet", "--yes").status == 0
    for words in (("goal", "list"), ("goal", "status", "greet"), ("goal", "inspect", "greet"),
                  ("report", "greet"), ("doctor",)):  # fmt: skip
        assert "by hand" not in scene.flow(work, *words).stdout


def test_doctor_names_a_goal_that_is_gone(work: GitRepo) -> None:
    shutil.rmtree(work.path / ".flow")
    found = scene.flow(work, "doctor", "--json").json["findings"]
    assert any("goal greet: its file .flow/goals/greet" in finding["what"] for finding in found)
    assert not (work.path / ".flow").exists()
