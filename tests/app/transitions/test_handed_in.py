"""A lifecycle block that is handed in: what closes a goal and what starts one is checked."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.evaluation.closing_context import ClosingContext
from flow.app.transitions.handed_in import LifecycleChange, update_lifecycle
from flow.core.goal.loaded import LoadedGoal
from flow.errors import StaleProposal
from tests.app.fakes import World, goal_document


class Port:
    """A checkout with one goal; ``calls`` is what was done to it."""

    def __init__(self, status: str) -> None:
        self.world = World(goal_document(status=status))
        self.calls: list[Any] = []

    def load(self, goal_id: str) -> LoadedGoal:
        return self.world.goal(goal_id)

    def closing_context(self) -> ClosingContext:
        self.calls.append("context")
        return self.world.desk()

    def activate(self, goal_id: str) -> None:
        self.calls.append(f"activate {goal_id}")

    @property
    def ledger(self) -> Port:
        return self

    def update_lifecycle(self, goal_id: str, lifecycle: Any, **how: Any) -> None:
        self.calls.append((goal_id, dict(lifecycle), how["from_status"]))


def handed_in(port: Port, block: dict[str, Any], from_status: str | None = None) -> list[Any]:
    change = LifecycleChange(block, "file", from_status, True, False)
    assert (
        update_lifecycle(port, "issue-4", change, port.activate) == ".flow/goals/issue-4.goal.yaml"
    )
    return port.calls


@pytest.mark.parametrize("block", [{"status": "blocked"}, {"lifecycle": {"status": "blocked"}}])
def test_a_block_is_written_bare_or_below_its_key(block: dict[str, Any]) -> None:
    assert handed_in(Port("active"), block, "active") == [
        ("issue-4", {"status": "blocked"}, "active")
    ]


def test_achieved_without_a_live_proposal_is_refused() -> None:
    port = Port("active")
    with pytest.raises(StaleProposal, match="there is none"):
        handed_in(port, {"status": "achieved"})
    assert port.calls == ["context"]
    assert port.world.log == ["finish"]


@pytest.mark.parametrize("from_status", [None, "draft"])
def test_a_draft_that_becomes_active_is_activated_first(from_status: str | None) -> None:
    calls = handed_in(Port("draft"), {"status": "active"}, from_status)
    assert calls == ["activate issue-4", ("issue-4", {"status": "active"}, None)]


def test_another_goal_that_becomes_active_is_only_written() -> None:
    calls = handed_in(Port("blocked"), {"status": "active"}, "blocked")
    assert calls == [("issue-4", {"status": "active"}, "blocked")]
