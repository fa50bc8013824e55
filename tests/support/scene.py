"""A repository with a goal in it, as the tests of the command line need it."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import pexpect

from tests.support import ROOT, GitRepo, Ran, run_flow, start_flow
from tests.support.made_once.replay import replay_flow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PASSES = "AC1: says please :: grep -q please src/greet.txt"
FUZZY = "AC2: it reads well"


def start(repo: GitRepo) -> GitRepo:
    """A first commit: one file, and run folders left out of git."""
    repo.commit("start", **{"src/greet.txt": "give me that\n", ".gitignore": ".flow/runs/\n"})
    return repo


def flow(repo: GitRepo, *words: str | Path, **more: Any) -> Ran:
    """``flow`` at the top of the repository, in the test's own process."""
    return run_flow(*words, cwd=more.pop("cwd", repo.path), **more)


def step(repo: GitRepo, *words: str | Path, **more: Any) -> Ran:
    """``flow`` there, where it only leads to what a test looks at: see ``made_once/replay.py``."""
    return replay_flow(*words, cwd=more.pop("cwd", repo.path), **more)


def flow_started(repo: GitRepo, *words: str | Path, **more: Any) -> Ran:
    """``bin/flow`` there, where the process is the point."""
    return start_flow(*words, cwd=more.pop("cwd", repo.path), **more)


def create(repo: GitRepo, goal: str = "greet", *more: str, criterion: str = PASSES) -> GitRepo:
    """An active goal with one criterion, which the first commit does not meet yet."""
    words = ("goal", "create", goal, "--outcome", "the greeting is polite")
    paths = ("--allow", "src/**", "--issue", "7")
    done = step(repo, *words, "--criterion", criterion, *paths, *more)
    assert done.status == 0, done.stderr
    return repo


def create_from(repo: GitRepo, file: str = "goal.yaml") -> Ran:
    """A goal from a file in the checkout, or beside it."""
    done = step(repo, "goal", "create", "--file", file)
    assert done.status == 0, done.stderr
    return done


def edit(repo: GitRepo, *edits: tuple[str, str], goal: str = "greet") -> None:
    """Change the goal's file by hand, and trust it again."""
    text = goal_file(repo, goal)
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    repo.write(f".flow/goals/{goal}.goal.yaml", text)
    done = step(repo, "trust", "record", goal, "--yes")
    assert done.status == 0, done.stderr


def meet(repo: GitRepo) -> None:
    """Do the work that :data:`PASSES` asks for."""
    repo.write("src/greet.txt", "please\n")


def goal_file(repo: GitRepo, goal: str = "greet") -> str:
    """The goal's text."""
    return repo.read(f".flow/goals/{goal}.goal.yaml")


def status(repo: GitRepo, goal: str = "greet") -> str:
    """The status that the goal's file says."""
    found = re.search(r"lifecycle:\n\s+status: *\"?(\w+)", goal_file(repo, goal))
    assert found, goal_file(repo, goal)
    return found.group(1)


def run_dir(repo: GitRepo, goal: str = "greet") -> Path:
    """The folder of the goal's run."""
    found = re.search(r"run_id: *[\"']?([^\s\"']+)", goal_file(repo, goal))
    assert found
    return repo.path / ".flow/runs" / found.group(1)


def propose(repo: GitRepo, goal: str = "greet") -> str:
    """Meet the goal, evaluate it, and return the proposal's id."""
    meet(repo)
    done = step(repo, "goal", "evaluate", goal, "--json")
    assert done.status == 0, done
    return str(done.json["proposed_transition"]["proposal_id"])


def confirm(repo: GitRepo, *more: str, goal: str = "greet") -> Ran:
    """Evaluate, and confirm what is proposed, as a caller does that has asked a person.

    Each is a step towards a scene.
    """
    done = step(repo, "goal", "evaluate", goal, "--json", *more)
    if done.status != 0:
        return done
    proposal = done.json["proposed_transition"]["proposal_id"]
    return step(repo, "goal", "confirm", goal, "--proposal", proposal, "--json")


def at_terminal(
    repo: GitRepo, words: Sequence[str], columns: int = 200, **env: str
) -> pexpect.spawn[str]:
    """``bin/flow`` at a terminal of its own, as wide as that from the start."""
    return pexpect.spawn(
        os.path.join(ROOT, "bin", "flow"),
        list(words),
        cwd=os.fspath(repo.path),
        env={**os.environ, "FLOW_PYTHON": sys.executable, "TERM": "xterm", **env},
        encoding="utf-8",
        timeout=120,
        dimensions=(40, columns),
    )


def ended(child: pexpect.spawn[str]) -> tuple[int, str]:
    """The exit status, and what was printed since the last expectation.

    It is waited for: ``close`` alone gives a process a moment to be gone, and then kills it.
    """
    child.expect(pexpect.EOF)
    said = child.before or ""
    child.wait()
    child.close()
    return -child.signalstatus if child.exitstatus is None else child.exitstatus, said
