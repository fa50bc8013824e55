"""Trusting a contract: where it is an amendment, where a baseline is made, and where neither."""

from __future__ import annotations

import pytest

from flow.app.transitions.trusting import record_trust
from flow.core.boundary.changes import Baseline
from flow.core.goal.lifecycle import TERMINAL
from flow.core.goal.loaded import LoadedGoal
from flow.core.goal.model import Goal, goal_from_document
from tests.app.fakes import BASE, goal_document

RESTORED = Baseline(BASE, {}, {}, {}, {}, {})


class Port:
    """A checkout; ``trusted`` is the digest of the contract that was trusted last."""

    def __init__(self, trusted: str | None, *, live: bool, pinned: bool) -> None:
        self.trusted, self.live, self.has_pinned = trusted, live, pinned
        self.calls: list[str] = []

    def is_in_place(self, loaded: LoadedGoal) -> bool:
        return self.live and loaded.goal.id == "issue-4"

    def trusted_digest(self, goal_id: str) -> str | None:
        return self.trusted if goal_id == "issue-4" else None

    def pinned(self, run_id: str, goal: Goal) -> Baseline | None:
        return RESTORED if self.has_pinned and run_id == "run-1" else None

    def restored(self, goal: Goal) -> Baseline:
        return RESTORED if goal.id == "issue-4" else Baseline("", {}, {}, {}, {}, {})

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        assert (goal_id, run_id) == ("issue-4", "run-1")
        assert baseline == RESTORED._replace(began=goal_document()["metadata"]["created_at"])
        self.calls.append("baseline")

    def amend_by_hand(self, loaded: LoadedGoal, how: str) -> None:
        assert (loaded.goal.id, loaded.contract, how) == ("issue-4", "new", "how")
        self.calls.append("amend")

    def trust(self, loaded: LoadedGoal, how: str) -> None:
        assert (loaded.goal.id, loaded.contract, how) == ("issue-4", "new", "how")
        self.calls.append("trust")


def recorded(port: Port, status: str = "active") -> list[str]:
    goal = goal_from_document(goal_document(status=status))
    record_trust(port, LoadedGoal(goal, "new", (), "f"), "how")
    return port.calls


@pytest.mark.parametrize(
    ("trusted", "live", "pinned", "calls"),
    [
        ("old", True, True, ["amend"]),
        ("old", True, False, ["amend"]),
        ("new", True, True, ["trust"]),
        ("old", False, True, ["trust"]),
        (None, True, True, ["trust"]),
        (None, True, False, ["baseline", "trust"]),
        ("new", True, False, ["baseline", "trust"]),
    ],
)
def test_an_open_goal(trusted: str | None, live: bool, pinned: bool, calls: list[str]) -> None:
    assert recorded(Port(trusted, live=live, pinned=pinned)) == calls


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_a_closed_goal_is_neither_amended_nor_given_a_baseline(status: str) -> None:
    assert recorded(Port("old", live=True, pinned=False), status) == ["trust"]
