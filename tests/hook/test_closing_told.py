"""The first stop in a checkout after a goal was closed tells it to the person, once."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import ROOT, GitRepo, run, run_helper, scene
from tests.support.stops import run_script, settings, stop, stopped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
CLEAR = ("goal", "clear", "greet", "--yes")


@pytest.fixture
def work(repo: GitRepo, home: Path) -> GitRepo:
    """A goal that is not met, in a mode that keeps the agent working."""
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    return repo


def by_script(repo: GitRepo) -> None:
    """What the question before a tool call cannot read."""
    words = ("goal", "confirm", "greet", "--proposal", scene.propose(repo))
    line = shlex.join([f"{ROOT}/bin/flow", *words])
    repo.write("../go.sh", f"{line}\n")
    env = {**AGENT, "FLOW_PYTHON": sys.executable}
    done = run(["bash", str(repo.path.parent / "go.sh")], cwd=repo.path, env=env)
    assert done.status == 0, done


def by_terminal(repo: GitRepo) -> None:
    words = ("goal", "confirm", "greet", "--proposal", scene.propose(repo))
    child = scene.at_terminal(repo, words)
    status, said = scene.ended(child)
    assert status == 0, said


def by_pipe(repo: GitRepo) -> None:
    words = ("goal", "confirm", "greet", "--proposal", scene.propose(repo))
    assert scene.flow(repo, *words).status == 0


def by_helper(repo: GitRepo) -> None:
    scene.propose(repo)
    repo.write("../l.yaml", "status: achieved\n")
    words = ("--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "../l.yaml", "--merge")
    done = run_helper("flow-goal-record", *words, cwd=repo.path, env=AGENT)
    assert done.status == 0, done


def by_helper_failed(repo: GitRepo) -> None:
    repo.write("../l.yaml", "status: failed\n")
    words = ("--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "../l.yaml", "--merge")
    done = run_helper("flow-goal-record", *words, cwd=repo.path, env=AGENT)
    assert done.status == 0, done


def by_clear(repo: GitRepo) -> None:
    assert scene.flow(repo, *CLEAR).status == 0


DOORS: dict[str, tuple[Callable[[GitRepo], None], str, str]] = {
    "an agent's script": (by_script, "achieved", "an agent's shell"),
    "a terminal": (by_terminal, "achieved", "a terminal"),
    "a pipe": (by_pipe, "achieved", "a pipe"),
    "the helper": (by_helper, "achieved", "an agent's shell"),
    "the helper, failed": (by_helper_failed, "failed", "an agent's shell"),
    "clear": (by_clear, "cancelled", "a pipe"),
}


def closing(repo: GitRepo) -> dict[str, Any]:
    lines = (scene.run_dir(repo) / "events.jsonl").read_text().splitlines()
    moves = [event for event in map(json.loads, lines) if "to" in event]
    return dict(moves[-1])


def message(answer: dict[str, Any]) -> str:
    return str(answer.get("systemMessage", ""))


@pytest.mark.parametrize(
    ("door", "stopped_before"),
    [("clear", False), *((door, number % 2 == 1) for number, door in enumerate(DOORS))],
)
def test_the_first_stop_after_a_closing_tells_it_once(
    door: str, stopped_before: bool, work: GitRepo, capfd: Capture
) -> None:
    if stopped_before:
        assert stopped(work)["decision"] == "block"
    close, status, place = DOORS[door]
    close(work)
    event = closing(work)
    at, by = event["at"], event.get("by") or event["how"]
    answer = stop(work, capfd)
    assert answer["decision"] == "approve"
    told = f"goal greet was closed as {status} at {at} by {by}, said from {place}"
    assert message(answer) == f"Flow: {told}"
    assert message(stop(work, capfd)) == ""
    assert message(stop(work, capfd, session_id="s2")) == ""  # once for the checkout


def test_a_session_that_never_knew_the_goal_tells_it_where_it_stops_first(
    work: GitRepo, capfd: Capture
) -> None:
    stopped(work)
    by_clear(work)
    assert "closed as cancelled" in message(stop(work, capfd, session_id="s2"))
    assert message(stop(work, capfd)) == ""


@pytest.mark.parametrize("host", ["codex", "cursor"])
def test_a_host_that_shows_no_message_uses_it_up_for_none(
    host: str, work: GitRepo, capfd: Capture
) -> None:
    by_clear(work)
    assert stop(work, capfd, host) == {}
    assert "closed as cancelled" in message(stop(work, capfd))


def test_the_script_of_the_hook_tells_it_where_flow_is_gone(work: GitRepo) -> None:
    import shutil

    from tests.support.stops import event

    by_clear(work)
    shutil.rmtree(work.path / ".flow")
    told = [json.loads(run_script(json.dumps(event(work)), cwd=work.path).stdout) for _ in range(2)]
    assert "goal greet was closed as cancelled" in message(told[0])
    assert message(told[1]) == ""


def test_it_is_told_beside_an_active_goal(work: GitRepo, capfd: Capture) -> None:
    stopped(work)
    scene.create(work, "other", criterion="AC1: is there :: test -e src/other.txt")
    by_clear(work)
    answer = stop(work, capfd)
    assert answer["decision"] == "block"
    assert "Goal other is not done" in answer["reason"]
    assert "goal greet" not in answer["reason"]
    assert "goal greet was closed as cancelled" in message(answer)
    assert "closed" not in message(stop(work, capfd))


def test_several_are_told_in_one_stop(work: GitRepo, capfd: Capture) -> None:
    scene.create(work, "other")
    by_clear(work)
    assert scene.flow(work, "goal", "clear", "other", "--yes").status == 0
    told = message(stop(work, capfd))
    assert "goal greet was closed" in told
    assert "goal other was closed" in told


def test_another_checkout_does_not_tell_it(work: GitRepo, capfd: Capture, tmp_path: Path) -> None:
    work.git("add", "-A")
    work.git("commit", "-qm", "goal")
    linked = tmp_path / "linked"
    work.git("worktree", "add", "-qb", "side", str(linked), "main")
    by_clear(work)
    assert message(stop(linked, capfd)) == ""
    assert "closed as cancelled" in message(stop(work, capfd))


@pytest.mark.parametrize("judged", [True, False])
def test_another_branch_tells_it_only_to_a_session_that_was_judged(
    judged: bool, work: GitRepo, capfd: Capture
) -> None:
    if judged:
        stop(work, capfd)
    by_clear(work)
    work.git("switch", "-qc", "other")
    assert ("closed as cancelled" in message(stop(work, capfd))) is judged
    work.git("switch", "-q", "main")
    assert ("closed as cancelled" in message(stop(work, capfd))) is not judged


def test_what_the_hook_closed_itself_is_not_told_twice(
    work: GitRepo, home: Path, capfd: Capture
) -> None:
    settings(home, stopHookEnforcement="evaluator-loop", failAfterStuckTurns=1)
    for _ in range(4):
        stop(work, capfd)
        if scene.status(work) == "failed":
            break
    assert scene.status(work) == "failed"
    assert message(stop(work, capfd)) == ""


def test_a_draft_that_is_cleared_is_no_news(repo: GitRepo, home: Path, capfd: Capture) -> None:
    scene.create(scene.start(repo), "greet", "--draft")
    by_clear(repo)
    assert message(stop(repo, capfd)) == ""


def test_an_old_closing_is_not_told(
    work: GitRepo, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flow.adapters.user_state.checkouts import CheckoutNotes

    with monkeypatch.context() as before:  # as the version before did
        before.setattr(CheckoutNotes, "note_closed", lambda self, row: self.forget(row.goal_id))
        by_clear(work)
    assert message(stop(work, capfd)) == ""


def test_where_the_hook_is_off_a_session_that_was_judged_is_told(
    work: GitRepo, home: Path, capfd: Capture
) -> None:
    stopped(work)
    by_clear(work)
    settings(home, stopHookEnforcement="off")
    assert message(stop(work, capfd, session_id="s2")) == ""
    assert "closed as cancelled" in message(stop(work, capfd))
    assert message(stop(work, capfd)) == ""


def test_hostile_notes_are_shown_and_cut(work: GitRepo, home: Path, capfd: Capture) -> None:
    by_clear(work)
    [path] = (home / "flow-state/checkouts").rglob("goals.json")
    document = json.loads(path.read_text())
    [row] = document["closed"].values()
    row["by"] = "\x1b[31m" + "x" * 5000
    document["closed"]["bad"] = {"status": 7}
    path.write_text(json.dumps(document))
    told = message(stop(work, capfd))
    assert "goal greet was closed" in told
    assert "\x1b" not in told
    assert len(told) < 1000
