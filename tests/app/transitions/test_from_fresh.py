"""A proposal by evidence that is there already, with evaluation and record faked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from flow.app.transitions.from_fresh import propose_from_fresh
from flow.errors import StorageError

NEWEST = {"AC1": ".flow/runs/r/evidence/e.evidence.yaml"}


def proposed(transition: object, record: Any) -> tuple[Any, tuple[str, ...], Any]:
    """(what was evaluated, warnings, the request)."""
    requests: list[Any] = []
    made: Any = SimpleNamespace(verdict=SimpleNamespace(proposed_transition=transition))

    def evaluate(request: Any) -> Any:
        requests.append(request)
        return made

    evaluated, warnings = propose_from_fresh("greet", NEWEST, evaluate, record)
    assert evaluated is made
    (request,) = requests
    return made, warnings, request


def test_nothing_is_run_or_asked_and_the_newest_evidence_is_tried_first() -> None:
    _, _, request = proposed(None, None)
    assert (request.goal_id, request.reuse, request.trigger) == ("greet", NEWEST, "command")
    assert (request.only_fresh, request.no_judge, request.quiet) == (True, True, True)


def test_without_a_proposal_no_verdict_is_recorded() -> None:
    def record(_: object) -> tuple[str, ...]:
        raise AssertionError

    assert proposed(None, record)[1] == ()


def test_the_verdict_of_a_proposal_is_recorded_and_its_warnings_told() -> None:
    recorded: list[object] = []

    def record(verdict: object) -> tuple[str, ...]:
        recorded.append(verdict)
        return ("cut",)

    made, warnings, _ = proposed("achieved", record)
    assert (recorded, warnings) == ([made.verdict], ("cut",))


def test_a_proposal_stands_where_its_verdict_cannot_be_kept() -> None:
    def record(_: object) -> tuple[str, ...]:
        raise StorageError("the disk is full")

    (warning,) = proposed("achieved", record)[1]
    assert warning.startswith("the proposal stands, but its verdict could not be kept: ")
    with pytest.raises(ZeroDivisionError):  # what is no fault of Flow's goes through
        proposed("achieved", lambda _: 1 / 0)
