"""A criterion that showed something before and shows nothing now keeps the agent working."""

from __future__ import annotations

import itertools
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


BEFORE = {"passed": PASSES, "failed": FAILS}
VACUOUS = "pytest() { bash check.sh %s vacuous; }; pytest"


def begin(
    repo: GitRepo, home: Path, script: str, mode: str, command: str = COMMAND, *more: str
) -> GitRepo:
    repo.commit("start", **{"src/greet.txt": "give me that\n", ".gitignore": ".flow/runs/\n"})
    repo.write("check.sh", script)
    repo.commit("a check")
    scene.create(repo, "greet", "--allow", "check.sh", *more, criterion=command)
    settings(home, stopHookEnforcement=mode, commandTimeoutSeconds=2)
    return repo


def branches(scripts: dict[str, str], argument: int) -> str:
    """A script that does what one of its arguments says."""
    cases = "".join(f"{name!r}) {script} ;;\n" for name, script in scripts.items())
    return f'case "${argument}" in\n{cases}esac\n'


def criterion(number: int, before: str, now: str) -> str:
    command = VACUOUS % before if now == "vacuous" else f"bash check.sh {before} '{now}'"
    return f"AC{number}: says please :: {command}"


def test_what_was_shown_before_and_is_not_now(repo: GitRepo, home: Path, capfd: Capture) -> None:
    first, *more = (
        criterion(number, before, now)
        for number, (before, now) in enumerate(itertools.product(BEFORE, NOW), 1)
    )
    words = [word for each in more for word in ("--criterion", each)]
    begin(repo, home, branches(BEFORE, 1), "block", first, *words)
    settings(home, stopHookEnforcement="block", commandTimeoutSeconds=2, jobs=2)
    stop(repo, capfd)
    repo.write("check.sh", branches({name: script for name, (script, _) in NOW.items()}, 2))
    answer = stop(repo, capfd)
    assert events(repo)[-1]["row"] == "proof_lost"
    assert answer["decision"] == "block"
    for number, (_, told) in enumerate(itertools.product(BEFORE, NOW.values()), 1):
        block = answer["reason"].partition(
            f"\nAC{number} is undecided, it showed something before"
        )[2]
        assert told[1] in block.partition("\nAC")[0], number
    for mode in ("block", "evaluator-loop", "warn"):  # not only once
        settings(home, stopHookEnforcement=mode, commandTimeoutSeconds=2, jobs=2)
        answer = stop(repo, capfd)
        assert events(repo)[-1]["row"] == "proof_lost"
        assert answer["decision"] == ("approve" if mode == "warn" else "block")
    assert "a proof is lost" in answer["systemMessage"]


def test_what_never_showed_anything_is_let_go(repo: GitRepo, home: Path, capfd: Capture) -> None:
    never = {name: script for name, (script, _) in NOW.items() if name != "ended by a signal"}
    first, *more = (criterion(number, "never", now) for number, now in enumerate(never, 1))
    words = [word for each in more for word in ("--criterion", each)]
    begin(repo, home, branches(never, 2), "block", first, *words)
    assert stop(repo, capfd)["decision"] == "approve"
    assert events(repo)[-1]["row"] == "inconclusive"


def test_a_signal_at_first_continues_and_is_not_called_a_loss(
    repo: GitRepo, home: Path, capfd: Capture
) -> None:
    begin(repo, home, "kill -TERM $$", "block")
    answer = stop(repo, capfd)
    assert answer["decision"] == "block"
    assert "Goal greet is not done: AC1 was ended by a signal.\n" in answer["reason"]
    assert "AC1 is undecided, exit 143: says please\n  ended by signal TERM" in answer["reason"]
    settings(home, stopHookEnforcement="warn", commandTimeoutSeconds=2)
    for told in (" ".join(answer.values()), " ".join(stop(repo, capfd).values())):
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
