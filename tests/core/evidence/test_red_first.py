"""What a run on the base commit says, and which remembered ones are about the goal as it is."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.evidence import red_first
from flow.core.evidence.red_first import BaseRun
from flow.core.goal.model import Goal, goal_from_document
from tests.app.fakes import BASE, criterion, goal_document

AT = "2026-11-21T12:00:00Z"


def goal(*criteria: dict[str, Any], base: str | None = BASE) -> Goal:
    document = goal_document(*(criteria or (criterion(), criterion("AC2", None))))
    document["scope"]["base_commit"] = base
    return goal_from_document(document)


def run(outcome: Any = "passed", *, of: Goal | None = None, **more: Any) -> BaseRun:
    key = red_first.base_run_key(BASE, (of or goal()).criteria[0])
    values = {"key": key, "outcome": outcome, "result": "exit 0", "reason": "", "at": AT, **more}
    return BaseRun(**values)


SAYS = [("passed", True), ("failed", False), ("inconclusive", None)]


@pytest.mark.parametrize(("outcome", "says"), SAYS)
def test_what_an_outcome_says(outcome: str, says: bool | None) -> None:
    found = run(outcome)
    assert found.non_discriminating is says
    assert found.shown().get("non_discriminating") is says
    assert red_first.green_criteria([("AC1", found)]) == (["AC1"] if says else [])
    warning = red_first.warning("AC1", found, BASE)
    assert (warning is None) is (says is False)
    assert ("non_discriminating" in (warning or "")) is bool(says)


def test_it_comes_back_as_it_was_remembered() -> None:
    for found in (run(), run("failed", evidence_id="e", reason="because"), run("inconclusive")):
        assert red_first.from_document(found.to_document()) == found
    long = run("inconclusive", reason="x" * 5000)
    assert len(long.to_document()["reason"]) == 200


WRONG: list[object] = [
    None, [], "passed", {}, {"outcome": "passed", "key": 3}, {"outcome": "not_run"},
    {"outcome": ["passed"]}, {"outcome": "passed", "evidence_id": {}},
]  # fmt: skip


@pytest.mark.parametrize("document", WRONG, ids=repr)
def test_what_is_none(document: object) -> None:
    assert red_first.from_document(document) is None
    assert red_first.current(goal(), {"AC1": document}) == {}


def test_only_what_is_about_command_folder_and_base_as_they_are() -> None:
    rows = {"AC1": run().to_document(), "AC2": run().to_document(), "AC9": run().to_document()}
    assert red_first.current(goal(), rows) == {"AC1": run()}
    for other in (
        goal(criterion(command="false")),
        goal(criterion(cwd="src")),
        goal(base="c" * 40),
        goal(base=None),
        goal(criterion("AC3")),
        goal(criterion("AC1", None)),
    ):
        assert red_first.current(other, rows) == {}
    same = goal(criterion(text="another text", must_pass=False, timeout_seconds=3))
    assert red_first.current(same, rows) == {"AC1": run()}


def test_reasons_are_made_visible() -> None:
    found = run("inconclusive", reason="bad\x1b[31m\u202e")
    text = red_first.warning("AC1", found, BASE)
    assert text is not None
    assert "\x1b" not in text
    assert "\u202e" not in text
