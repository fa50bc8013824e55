"""Which goal a command without an id means once nothing is under way."""

from __future__ import annotations

import pytest

from flow.app import overview
from flow.core.goal.model import Goal, goal_from_document
from tests.app.fakes import criterion, goal_document


def goal(id: str, status: str, created: int, ended: int | None = None) -> Goal:
    document = goal_document(criterion("AC1"))
    document["metadata"] |= {"id": id, "created_at": f"2026-01-{created:02}T00:00:00Z"}
    document["scope"]["branch"] = "main"
    document["lifecycle"]["status"] = status
    if ended is not None:
        at = f"2026-01-{ended:02}T00:00:00Z"
        document["lifecycle"]["last_evaluation"] = {"result": "pass", "reason": "", "at": at}
    return goal_from_document(document)


OLD = goal("old", "achieved", 3, 20)
LATE = goal("late", "achieved", 2, 21)


@pytest.mark.parametrize(
    ("goals", "expected"),
    [
        ([goal("example", "draft", 1), OLD], "old"),
        ([goal("example", "draft", 5), OLD], "old"),
        ([OLD, LATE], "late"),
        ([OLD, goal("next", "draft", 22)], "next"),
        ([goal("example", "draft", 1)], "example"),
        ([goal("example", "draft", 1), OLD, goal("waits", "waiting_for_user", 4)], "waits"),
        ([goal("example", "draft", 1), goal("gone", "cancelled", 1)], "gone"),
    ],
)
def test_the_goal_that_ended_last_or_was_drafted_since(goals: list[Goal], expected: str) -> None:
    assert overview.choose_goal(goals, "main").id == expected
