"""The key ``do`` of a verdict, in ``--json`` and in ``last-verdict.json``: what comes next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from flow.core.decision.verdict import Act
from flow.startup.typing import get_args
from tests.support.scene import (
    FUZZY,
    PASSES,
    confirm,
    create,
    flow,
    goal_file,
    meet,
    run_dir,
    start,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import GitRepo, Ran

COMMAND = "grep -q please src/greet.txt"


def evaluate(repo: GitRepo, *more: str) -> Ran:
    return flow(repo, "goal", "evaluate", "greet", "--json", "--no-input", *more)


def kept(repo: GitRepo) -> dict[str, Any]:
    found = json.loads((run_dir(repo) / "last-verdict.json").read_text())
    assert isinstance(found, dict)
    return found


def undone(repo: GitRepo) -> None:
    """Nothing was done yet."""


def outside(repo: GitRepo) -> None:
    meet(repo)
    repo.write("elsewhere.txt", "x\n")


def edited(repo: GitRepo) -> None:
    meet(repo)
    text = goal_file(repo)
    repo.write(".flow/goals/greet.goal.yaml", text.replace("grep -q", "grep -qi"))


def protected(repo: GitRepo) -> None:
    meet(repo)
    repo.write("src/kept.txt", "other\n")


def hooked(repo: GitRepo) -> None:
    meet(repo)
    hook = repo.path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)


CASES: dict[str, tuple[Callable[[GitRepo], None], tuple[str, ...], tuple[int, str, str]]] = {
    "fails": (undone, (), (1, "not_achieved", "work_on")),
    "times out": (undone, ("--timeout", "0.001"), (1, "not_achieved", "work_on")),
    "outside": (outside, (), (3, "blocked", "put_back")),
    "untrusted": (edited, (), (4, "needs_human_review", "ask_trust")),
    "protected": (protected, (), (4, "needs_human_review", "ask_approve")),
    "guards": (hooked, (), (4, "needs_human_review", "ask_approve")),
    "proved": (meet, (), (0, "achieved", "ask_confirm")),
    "only": (meet, ("--only", "AC1"), (0, "achieved", "done")),
    "dry run": (undone, ("--dry-run",), (1, "not_achieved", "work_on")),
}


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_says_what_comes_next(repo: GitRepo, name: str) -> None:
    act, options, (status, verdict, do) = CASES[name]
    start(repo).commit("more", **{"src/kept.txt": "as it was\n"})
    create(repo, "greet", "--protect", "src/kept.txt")
    act(repo)
    done = evaluate(repo, *options)
    assert (done.status, done.json["verdict"], done.json["do"]) == (status, verdict, do), done
    if name not in ("untrusted", "dry run"):
        assert kept(repo)["do"] == do
        assert kept(repo)["criterion_results"] == done.json["criterion_results"]


def test_a_fuzzy_criterion_is_a_persons_to_look_at(repo: GitRepo) -> None:
    create(start(repo), "greet", "--fuzzy", FUZZY)
    meet(repo)
    done = evaluate(repo, "--no-judge")
    assert (done.status, done.json["do"]) == (4, "person_looks"), done
    assert [(r["text"], r["command"]) for r in done.json["criterion_results"]] == [
        ("says please", COMMAND),
        ("it reads well", None),
    ]


def test_a_goal_that_is_closed_has_nothing_left_to_do(repo: GitRepo) -> None:
    create(start(repo))
    meet(repo)
    assert confirm(repo).status == 0
    shown = flow(repo, "verdict", "show", "greet", "--json")
    assert shown.json["do"] == "done"


def test_each_criterion_has_its_text_and_its_command(repo: GitRepo) -> None:
    create(start(repo), criterion=PASSES)
    for status in (1, 4):
        done = evaluate(repo)
        (row,) = done.json["criterion_results"]
        assert done.status == status
        assert list(row)[:3] == ["criterion_id", "text", "command"]
        assert (row["text"], row["command"][: len("grep -q")]) == ("says please", "grep -q")
        edited(repo)


def test_the_words_are_those_of_the_schema(repo: GitRepo) -> None:
    schema = flow(repo, "schema", "verdict").json
    assert schema["properties"]["do"]["enum"] == list(get_args(Act))
