"""Goals as the state folder remembers them: the notes after each change."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.transitions.remembered import RememberedGoals
from flow.core.goal.model import Goal, goal_from_document
from flow.core.stop.lost_goals import OpenGoal, OpenGoals
from flow.core.tool_calls.speaker import Speaker
from flow.errors import FlowError, StorageError
from tests.app.fakes import goal_document

PAUSE = {"type": "transition", "to": "waiting_for_user", "reason": "later", "by": "sam", "at": "t"}


class Port:
    """A checkout with notes in memory; ``broken`` is a state folder that cannot be used."""

    def __init__(self, *, speaks: bool = True, broken: bool = False) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.speaker = Speaker("terminal", None, None) if speaks else None
        self.event: dict[str, Any] | None = PAUSE
        self.broken = broken
        self.goals = {"issue-4": OpenGoal("issue-4", "run-1", "main", ("active",), "c")}

    @property
    def checkout_notes(self) -> Port:
        if self.broken:
            raise StorageError("no state folder")
        return self

    def newest_change(self, goal_id: str, run_id: str) -> dict[str, Any] | None:
        assert (goal_id, run_id) == ("issue-4", "run-1")
        if self.event is None:
            raise StorageError("its events cannot be read")
        return self.event

    def read(self) -> OpenGoals:
        return OpenGoals(None, self.goals)

    def note_next_status(self, goal_id: str, status: str) -> None:
        self.calls.append(("coming", goal_id, status))

    def note_open(self, goal: OpenGoal) -> None:
        self.calls.append(("left", goal))

    def forget(self, goal_id: str) -> bool:
        self.calls.append(("forget", goal_id))
        return True

    def note_closed(self, goal: Any) -> None:
        self.calls.append(("closed", goal.goal_id, goal.status))


def goal(status: str = "active") -> Goal:
    return goal_from_document(goal_document(status=status))


def after(port: Port, before: str, status: str) -> list[tuple[Any, ...]]:
    RememberedGoals(port).after_change(goal(before), "run-1", status, "digest")
    return port.calls


@pytest.mark.parametrize("status", ["active", "blocked", "waiting_for_user", "waiting_for_ci"])
def test_an_open_goal_is_missed_from_now_on(status: str) -> None:
    left = OpenGoal("issue-4", "run-1", "main", (status,), "digest")
    assert after(Port(), "active", status) == [("left", left)]


@pytest.mark.parametrize("status", ["achieved", "failed", "cancelled"])
@pytest.mark.parametrize(
    ("speaks", "before", "call"),
    [(True, "active", "closed"), (False, "active", "forget"), (True, "draft", "forget")],
)
def test_a_closing_is_told_by_the_next_stop_unless_the_stop_made_it(
    status: str, speaks: bool, before: str, call: str
) -> None:
    calls = after(Port(speaks=speaks), before, status)
    assert [name for name, *_ in calls] == [call]


def test_a_draft_is_not_missed() -> None:
    assert after(Port(), "draft", "draft") == [("forget", "issue-4")]


def test_the_status_to_come_is_noted() -> None:
    port = Port()
    RememberedGoals(port).before_change(goal(), "blocked")
    assert port.calls == [("coming", "issue-4", "blocked")]


def test_without_a_state_folder_nothing_is_remembered_and_nothing_fails() -> None:
    port = Port(broken=True)
    remembered = RememberedGoals(port)
    assert remembered.left_open() == {}
    remembered.before_change(goal(), "blocked")
    assert after(port, "active", "blocked") == []
    with pytest.raises(FlowError):
        remembered.note_closing("issue-4", "main", "run-1", "failed")


def test_a_closing_whose_events_cannot_be_read_is_told_all_the_same() -> None:
    port = Port()
    port.event = None
    RememberedGoals(port).note_closing("issue-4", "main", "run-1", "failed")
    assert port.calls == [("closed", "issue-4", "failed")]


def test_who_paused_a_goal_is_in_its_newest_change() -> None:
    port = Port()
    pause = RememberedGoals(port).paused(goal("waiting_for_user"))
    assert pause is not None
    assert (pause.reason, pause.by) == ("later", "sam")
    assert RememberedGoals(port).paused(goal("active")) is None
    port.event = None
    assert RememberedGoals(port).paused(goal("waiting_for_user")) is None
    assert RememberedGoals(port).left_open() == port.goals
