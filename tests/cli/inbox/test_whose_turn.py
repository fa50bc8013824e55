"""A goal waits for you if and only if the command shown changes something when a person runs it.

Held over generated histories of real repositories: commands, edits by hand, commits, another
branch. Then what the inbox shows is run as a person would.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support import GitRepo, effort, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.support.made_once.stage import Stage

STEPS: dict[str, Any] = {}
"""What may happen to a goal, by name."""


def step(function: Any) -> Any:
    STEPS[function.__name__] = function
    return function


@step
def meet(repo: GitRepo) -> None:
    repo.write("src/greet.txt", "please\n")


@step
def fail(repo: GitRepo) -> None:
    repo.write("src/greet.txt", "give me that\n")


@step
def polish(repo: GitRepo) -> None:
    with open(repo.path / "src/greet.txt", "a", encoding="utf-8") as file:
        file.write("please, once more\n")


@step
def stray(repo: GitRepo) -> None:
    repo.write("out.txt", "x")


@step
def tidy(repo: GitRepo) -> None:
    (repo.path / "out.txt").unlink(missing_ok=True)


@step
def touch_protected(repo: GitRepo) -> None:
    with open(repo.path / "src/test.txt", "a", encoding="utf-8") as file:
        file.write("weaker\n")


@step
def restore_protected(repo: GitRepo) -> None:
    repo.write("src/test.txt", "strict\n")


@step
def add_hook(repo: GitRepo) -> None:
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\n", mode=0o755)


@step
def commit(repo: GitRepo) -> None:
    repo.git("add", "-A")
    repo.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "more", "--allow-empty")


@step
def leave(repo: GitRepo) -> None:
    repo.git("switch", "-q", "-C", "aside", check=False)


@step
def detach(repo: GitRepo) -> None:
    repo.git("checkout", "-q", "--detach", check=False)


@step
def come_back(repo: GitRepo) -> None:
    repo.git("switch", "-q", "main", check=False)


@step
def evaluate(repo: GitRepo) -> None:
    flow(repo, "goal", "evaluate", "greet")


@step
def pause(repo: GitRepo) -> None:
    flow(repo, "goal", "pause", "greet", "--reason", "later")


@step
def resume(repo: GitRepo) -> None:
    flow(repo, "goal", "resume", "greet")


@step
def approve(repo: GitRepo) -> None:
    flow(repo, "goal", "approve", "greet", "AC2", "--note", "well", "--yes")


@step
def approve_protected(repo: GitRepo) -> None:
    flow(repo, "goal", "approve", "greet", "protected", "--note", "well", "--yes")


@step
def amend(repo: GitRepo) -> None:
    flow(repo, "goal", "amend", "greet", "--allow", "out.txt", "--yes", "--reason", "r")


@step
def revoke(repo: GitRepo) -> None:
    flow(repo, "trust", "revoke", "greet")


@step
def trust(repo: GitRepo) -> None:
    flow(repo, "trust", "record", "greet", "--yes")


@step
def edit_contract(repo: GitRepo) -> None:
    text = scene.goal_file(repo)
    repo.write(".flow/goals/greet.goal.yaml", text.replace("polite", "kind", 1))


@step
def lose_evidence(repo: GitRepo) -> None:
    for file in sorted(repo.path.glob(".flow/runs/*/evidence/*.yaml"))[:1]:
        file.unlink()


@step
def break_record(repo: GitRepo) -> None:
    for file in repo.path.glob(".flow/runs/*/events.jsonl"):
        file.write_bytes(file.read_bytes()[:-40] + b"\n")


@step
def confirm(repo: GitRepo) -> None:
    run_as_a_person(repo, "flow goal confirm greet")


@step
def clear(repo: GitRepo) -> None:
    flow(repo, "goal", "clear", "greet", "--yes")


def run_as_a_person(repo: GitRepo, command: str) -> Any:
    """Run a line that the inbox shows, with the answers that a person would give."""
    program, *words = shlex.split(command)
    assert program == "flow"
    if words[:2] == ["goal", "confirm"]:
        proposal = flow(repo, "goal", "status", words[2], "--json").json["proposal"]
        words += ["--proposal", proposal["proposal_id"] if proposal else "0" * 12]
    elif words[:2] == ["goal", "approve"]:
        words += ["--note", "as it is", "--yes"]
    elif words[:2] == ["trust", "record"]:
        words += ["--yes"]
    return flow(repo, *words)


def state(repo: GitRepo, own: Path) -> Mapping[str, bytes]:
    """Every file that Flow keeps of the goal: its own, its run's, and what the user trusts."""
    kept = {}
    for folder in (repo.path / ".flow", own / "goal-trust.jsonl"):
        files = [folder] if folder.is_file() else folder.rglob("*")
        kept |= {os.fspath(file): file.read_bytes() for file in files if file.is_file()}
    return {name: data for name, data in kept.items() if "/.locks/" not in name}


CONFIRM, TRUST = "flow goal confirm greet", "flow trust record greet"
"""What changes nothing of a goal that is not shown to wait; trust, while it is open here."""


def check(repo: GitRepo, own: Path) -> str:
    """The rule itself; returns where the goal stood, and what was shown."""
    done = flow(repo, "inbox", "--json", "--repo", ".")
    assert done.status == 0, done.stderr
    (row,) = done.json["items"]
    before = state(repo, own)
    if row["section"] == "waits":
        ran = run_as_a_person(repo, row["command"])
        assert state(repo, own) != before, (row, ran)
        return str(row["command"])
    assert row["section"] == "blocked" or "command" not in row, row
    is_open = row["section"] != "closed" and "not checked out" not in row["why"]
    for command in (CONFIRM, TRUST) if is_open else (CONFIRM,):
        ran = run_as_a_person(repo, command)
        assert state(repo, own) == before, (row, command, ran)
    return str(row["section"])


def scene_of(folder: Path) -> GitRepo:
    """A goal with a command, a criterion for a person, and a protected file."""
    repo = scene.start(GitRepo.init(folder))
    repo.git("branch", "-q", "-M", "main")
    repo.write("src/test.txt", "strict\n")
    repo.commit("a test")
    more = ("--fuzzy", scene.FUZZY, "--evidence", "AC2: src/**", "--protect", "src/test.txt")
    return scene.create(repo, "greet", *more)


def come_to(stage: Stage, steps: Sequence[str]) -> GitRepo:
    """The scene after these steps; what many histories begin with is played once."""

    def play() -> None:
        if not steps:
            scene_of(stage.repo.path)
            return
        come_to(stage, steps[:-1])
        STEPS[steps[-1]](stage.repo)

    stage.begin(play, "-".join(["made", *steps]))
    return stage.repo


HISTORIES = {
    "made": ("", "working"),
    "proposed": ("meet approve evaluate", "flow goal confirm greet"),
    "asks for a word": ("meet evaluate", "flow goal approve greet AC2"),
    "moved": ("meet approve evaluate polish", "working"),
    "moved by the contract": ("meet approve evaluate edit_contract", "flow trust record greet"),
    "amended": ("meet approve evaluate amend", "working"),
    "blocked": ("stray evaluate", "blocked"),
    "blocked no longer": ("stray evaluate tidy", "flow goal evaluate greet"),
    "protected": ("meet touch_protected approve evaluate", "flow goal approve greet protected"),
    "protected and restored": (
        "meet touch_protected approve evaluate restore_protected",
        "flow goal evaluate greet",
    ),
    "hook": ("meet approve add_hook evaluate", "flow goal approve greet guards"),
    "hook after": ("meet approve evaluate add_hook", "working"),
    "paused": ("pause", "flow goal resume greet"),
    "paused, proposed": ("meet approve evaluate pause", "flow goal resume greet"),
    "revoked": ("meet approve evaluate revoke", "flow trust record greet"),
    "away": ("meet approve evaluate commit leave", "blocked"),
    "detached": ("commit detach meet approve evaluate", "flow goal confirm greet"),
    "detached later": ("meet approve evaluate commit detach", "working"),
    "detached, paused": ("commit detach pause", "flow goal resume greet"),
    "detached, closed": ("commit detach meet approve evaluate confirm", "closed"),
    "away, paused": ("pause commit leave", "blocked"),
    "evidence lost": ("meet approve evaluate lose_evidence", "broken"),
    "record broken": ("meet approve evaluate break_record", "broken"),
    "closed": ("meet approve evaluate confirm", "closed"),
    "cleared": ("clear", "closed"),
    "committed": ("meet approve evaluate commit", "working"),
}
"""Steps, and what is shown then: the command, else the section. ``test_index`` plays each."""


@effort.examples(16, long=12_500)
@given(
    begin=st.sampled_from([steps.split() for steps, _ in HISTORIES.values()]),
    more=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6),
)
def test_it_waits_exactly_where_the_command_shown_changes_something(
    stage: Stage, begin: list[str], more: list[str]
) -> None:
    repo = come_to(stage, begin)
    for name in more:
        STEPS[name](repo)
    check(repo, stage.own)
