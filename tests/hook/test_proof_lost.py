"""A criterion that showed something before and shows nothing now keeps the agent working."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo, scene
from tests.support.stops import events, settings, stop

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
COMMAND = "AC1: says please :: bash check.sh"
FAILS = "grep -q please src/greet.txt"
PASSES = "grep -q give src/greet.txt && echo '===== 1 passed in 0.01s ====='"

NOW = {
    "vacuous": ("echo 'collected 0 items'; echo '= no tests ran in 0.01s ='", "no test ran"),
    "cannot start": ("exit 127", "was not found"),
    "not executable": ("exit 126", "cannot be executed"),
    "ended by a signal": ("kill -TERM $$", "signal TERM"),
    "out of its time": ("sleep 60", "its time limit"),
}


def begin(repo: GitRepo, home: Path, script: str, mode: str, command: str = COMMAND) -> GitRepo:
    repo.commit("start", **{"src/greet.txt": "give me that\n", ".gitignore": ".flow/runs/\n"})
    repo.write("check.sh", script)
    repo.commit("a check")
    scene.create(repo, "greet", "--allow", "check.sh", criterion=command)
    settings(home, stopHookEnforcement=mode, commandTimeoutSeconds=2)
    return repo


@pytest.mark.parametrize("before", [FAILS, PASSES], ids=["failed before", "passed before"])
@pytest.mark.parametrize("now", list(NOW))
@pytest.mark.parametrize("mode", ["warn", "block", "evaluator-loop"])
def test_what_was_shown_before_and_is_not_now(
    before: str, now: str, mode: str, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    script, words = NOW[now]
    command = "AC1: says please :: pytest() { bash check.sh; }; pytest"
    begin(repo, home, before, mode, command if now == "vacuous" else COMMAND)
    stop(repo, capfd)
    repo.write("check.sh", script)
    answer = stop(repo, capfd)
    assert events(repo)[-1]["row"] == "proof_lost"
    if mode == "warn":
        assert answer["decision"] == "approve"
        assert "a proof is lost" in answer["systemMessage"]
        return
    assert answer["decision"] == "block"
    assert words in answer["reason"]
    assert "AC1 is undecided, it showed something before" in answer["reason"]
    assert stop(repo, capfd)["decision"] == "block"  # not only once


@pytest.mark.parametrize("now", [name for name in NOW if name != "ended by a signal"])
def test_what_never_showed_anything_is_let_go(
    now: str, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    command = "AC1: says please :: pytest() { bash check.sh; }; pytest"
    begin(repo, home, NOW[now][0], "block", command if now == "vacuous" else COMMAND)
    assert stop(repo, capfd)["decision"] == "approve"
    assert events(repo)[-1]["row"] == "inconclusive"


def test_a_signal_continues_at_once(repo: GitRepo, home: Path, capfd: Capture) -> None:
    begin(repo, home, "kill -TERM $$", "block")
    answer = stop(repo, capfd)
    assert answer["decision"] == "block"
    assert "Goal greet is not done: AC1 was ended by a signal.\n" in answer["reason"]
    assert "AC1 is undecided, exit 143: says please\n  ended by signal TERM" in answer["reason"]


@pytest.mark.parametrize("mode", ["warn", "block"])
def test_a_signal_at_first_is_not_called_a_loss(
    mode: str, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    begin(repo, home, "kill -TERM $$", mode)
    told = " ".join(stop(repo, capfd).values())
    assert events(repo)[-1]["row"] == "proof_lost"
    assert "nothing failed" in told
    assert "before" not in told
    assert "lost" not in told.replace("and nothing is lost", "")


def test_what_a_person_evaluated_counts_as_before(
    repo: GitRepo, home: Path, capfd: Capture
) -> None:
    begin(repo, home, PASSES, "block")
    assert scene.flow(repo, "goal", "evaluate", "greet", "--no-input").status == 0
    repo.write("check.sh", "exit 127")
    assert stop(repo, capfd)["decision"] == "block"


def test_it_is_bounded_like_a_failure(repo: GitRepo, home: Path, capfd: Capture) -> None:
    begin(repo, home, PASSES, "evaluator-loop")
    stop(repo, capfd)
    repo.write("check.sh", "exit 127")
    answers = [stop(repo, capfd) for _ in range(4)]
    assert [a["decision"] for a in answers] == ["block"] * 3 + ["approve"]
    assert "the same criteria passed after each of" in answers[3]["systemMessage"]


@pytest.mark.parametrize(("took", "lost"), [("0", True), ("6", False)])
def test_what_fitted_the_hooks_time_before_and_does_not_now(
    took: str, lost: bool, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    begin(repo, home, f"sleep {took}; {FAILS}", "block")
    settings(home, stopHookEnforcement="block")
    assert scene.flow(repo, "goal", "evaluate", "greet", "--no-input").status == 1
    settings(home, stopHookEnforcement="block", hookTimeoutSeconds=8)
    repo.write("check.sh", "sleep 60")
    answer = stop(repo, capfd)
    assert events(repo)[-1]["row"] == ("proof_lost" if lost else "inconclusive")
    assert answer["decision"] == ("block" if lost else "approve")
