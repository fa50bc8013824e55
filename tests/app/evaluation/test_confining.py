"""Every command of a goal that asks for a sandbox is run in it, whatever it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flow.app.evaluation.values import Request
from flow.core.decision.decide import NoOpinion
from flow.core.sandbox import CoveredPath, Sandbox, covered_path
from tests.app.fakes import World, criterion, evaluate, goal_document

if TYPE_CHECKING:
    pass


def world(sandbox: object) -> World:
    show = criterion("AC3", None, evidence_command="./show")
    found = World(goal_document(criterion("AC1"), criterion("AC2"), show, kind="hybrid"))
    found.document["evaluator"]["sandbox"] = sandbox
    found.document["constraints"] = {"allowed_paths": ["src/**"], "denied_paths": ["*.pem"]}
    return found


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("bwrap", Sandbox(False, ("src/**",), ("*.pem",))),
        ({"kind": "bwrap", "network": True}, Sandbox(True, ("src/**",), ("*.pem",))),
        ("none", None),
        (None, None),
    ],
)
def test_the_commands_get_the_goals_sandbox(value: object, wanted: Sandbox | None) -> None:
    made = world(value)
    made.judge = lambda _case: NoOpinion("only the commands count here")
    evaluate(Request("issue-4"), made.tools())
    assert [check.sandbox for check in made.checks] == [wanted, wanted, wanted]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("src", CoveredPath("src", "exact")),
        ("src/a.py", CoveredPath("src/a.py", "exact")),
        ("src/", CoveredPath("src", "folder")),
        ("src/*", CoveredPath("src", "folder")),
        ("src/**", CoveredPath("src", "folder")),
        ("./src//deep/**", CoveredPath("src/deep", "folder")),
        ("*", CoveredPath("", "folder")),
        ("src/\\*", CoveredPath("src/*", "exact")),
        ("src/*/", CoveredPath("src", "search")),
        ("src/**/", CoveredPath("src", "search")),
        ("src/*.py", CoveredPath("src", "search")),
        ("src/?", CoveredPath("src", "search")),
        ("src/**/test_*", CoveredPath("src", "search")),
        ("**/a", CoveredPath("", "search")),
        ("s[a-z]c/a", CoveredPath("", "search")),
    ],
)
def test_where_a_pattern_leads(pattern: str, expected: CoveredPath) -> None:
    assert covered_path(pattern) == expected
