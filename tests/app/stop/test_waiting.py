"""Waiting for a command: every status, every answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from flow.app.stop import waiting
from flow.core.goal.lifecycle import STATUSES
from flow.errors import StateError


class Notes(dict[str, Any]):
    def read(self, goal_id: str) -> Any:
        return self.get(goal_id)

    def write(self, goal_id: str, note: Any) -> None:
        self[goal_id] = note

    def remove(self, goal_id: str) -> None:
        self.pop(goal_id, None)


class Port:
    """A goal in memory, and a command that comes to what it is told."""

    def __init__(self, status: str, outcome: str = "failed") -> None:
        self.goal: Any = SimpleNamespace(id="g", status=status)
        self.outcome = outcome
        self.waits = Notes()
        self.reasons: list[str] = []

    def load(self, goal_id: str) -> Any:
        assert goal_id == "g"
        return SimpleNamespace(goal=self.goal)

    def shift(self, goal_id: str, to: str, reason: str) -> Any:
        self.goal = SimpleNamespace(id=goal_id, status=to)
        self.reasons.append(reason)

    def attempt(self, command: str, seconds: float) -> Any:
        return SimpleNamespace(outcome=self.outcome, result=f"exit 1 of {command}")


@pytest.mark.parametrize("status", STATUSES)
def test_only_an_active_goal_can_wait(status: str) -> None:
    port = Port(status)
    if status in ("active", "waiting_for_ci"):
        goal, there, words = waiting.wait(port, "g", "test -e x", 1)
        assert (goal.status, there) == ("waiting_for_ci", False)
        assert words == "not there yet (exit 1 of test -e x): test -e x"
        assert port.waits == {"g": {"until": "test -e x"}}
        return
    with pytest.raises(StateError, match="only an active goal can wait"):
        waiting.wait(port, "g", "true", 1)
    assert (port.goal.status, port.waits) == (status, {})


@pytest.mark.parametrize("status", ["active", "waiting_for_ci"])
def test_what_is_there_already_is_not_waited_for(status: str) -> None:
    port = Port(status, "passed")
    port.waits.write("g", {"until": "false"})
    goal, there, words = waiting.wait(port, "g", "true", 1)
    assert (goal.status, there, words) == ("active", True, "what it waited for is there: true")
    assert port.waits == ({} if status == "waiting_for_ci" else {"g": {"until": "false"}})


def test_asking_again() -> None:
    port = Port("waiting_for_ci", "passed")
    there, words = waiting.ask_again(port, port.goal, 1)
    assert (there, "nobody said for what" in words) == (False, True)
    port.waits.write("g", {"until": "true"})
    assert waiting.ask_again(port, port.goal, 1) == (True, "what it waited for is there: true")
    waiting.go_on(port, "g", "because")
    assert (port.goal.status, port.reasons, port.waits) == ("active", ["because"], {})
