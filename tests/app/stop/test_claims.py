"""Whose a goal is: claimed, owned while its session goes on stopping, forgotten on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from flow.app.stop.claims import claim, forget
from flow.app.stop.sight import IDLE_SECONDS, GoalSessions
from flow.core.goal.loaded import LoadedGoal
from flow.core.stop.lost_goals import NEXT_SESSION, OpenGoal, OpenGoals, SessionNotes
from flow.errors import InputError, StateError, StorageError
from tests.app.fakes import World, goal_document

NOW = 1_000_000.0


class Port:
    """A checkout with notes in memory; ``broken`` is a state folder that cannot be used."""

    top = "/repo"

    def __init__(self, status: str = "active", *, broken: bool = False) -> None:
        self.world = World(goal_document(status=status))
        self.notes_of: dict[str, Any] = {}
        self.said: list[tuple[Any, ...]] = []
        self.broken = broken
        self.open = {"issue-4": OpenGoal("issue-4", "run-1", "main", ("active",), "c")}

    @property
    def checkout_notes(self) -> Any:
        if self.broken:
            raise StorageError("no state folder")
        return self

    def notes(self, kind: str) -> Any:
        assert kind == "sessions"
        return self

    def time(self) -> float:
        return NOW

    def load(self, goal_id: str) -> LoadedGoal:
        return self.world.goal(goal_id)

    def note(self, run_id: str | None, goal_id: str, event: Mapping[str, Any]) -> None:
        self.said.append((run_id, goal_id, dict(event)))

    def write(self, goal_id: str, note: Mapping[str, Any]) -> None:
        self.notes_of[goal_id] = note

    def remove(self, goal_id: str) -> None:
        self.notes_of.pop(goal_id, None)

    def read(self, goal_id: str | None = None) -> Any:
        return OpenGoals(None, self.open) if goal_id is None else self.notes_of.get(goal_id)

    def forget(self, goal_id: str) -> bool:
        return self.open.pop(goal_id, None) is not None

    def session(self, session: str) -> SessionNotes | None:
        return SessionNotes() if session == "known" else None

    def keep_session(self, session: str, notes: SessionNotes) -> None:
        self.said.append(("keep", session, notes))

    def closings_told(self, goal_ids: list[str]) -> None:
        self.said.append(("told", *goal_ids))


def test_a_claimed_goal_is_owned_until_its_session_is_idle() -> None:
    port = Port()
    assert claim(port, "issue-4", "s1", port.note).id == "issue-4"
    assert GoalSessions(port).owner("issue-4") == "s1"
    assert port.said == [("run-1", "issue-4", {"type": "claimed", "session": "s1"})]
    port.notes_of["issue-4"] = {"session": "s1", "at": NOW - IDLE_SECONDS - 1}
    assert GoalSessions(port).owner("issue-4") is None
    port.notes_of["issue-4"] = {"session": "s1", "at": NOW - IDLE_SECONDS}
    assert GoalSessions(port).owner("issue-4") == "s1"


@pytest.mark.parametrize(
    "note", [None, {}, {"session": 3, "at": NOW}, {"session": "s1", "at": "x"}]
)
def test_a_note_that_names_no_session_owns_nothing(note: Any) -> None:
    port = Port()
    port.notes_of["issue-4"] = note
    assert GoalSessions(port).owner("issue-4") is None


def test_a_goal_claimed_for_nobody_is_the_next_sessions() -> None:
    port = Port()
    claim(port, "issue-4", "s1", port.note)
    claim(port, "issue-4", None, port.note)
    assert GoalSessions(port).owner("issue-4") == NEXT_SESSION
    port.notes_of["issue-4"]["at"] = NOW - IDLE_SECONDS - 1
    assert GoalSessions(port).owner("issue-4") == NEXT_SESSION


def test_a_closed_goal_is_claimed_by_nobody() -> None:
    port = Port("failed")
    with pytest.raises(StateError, match="claiming it"):
        claim(port, "issue-4", "s1", port.note)
    assert port.notes_of == {}


def test_a_goal_is_forgotten_once() -> None:
    port = Port()
    forget(port, "issue-4", port.note)
    assert port.said == [("run-1", "issue-4", {"type": "forgotten"})]
    with pytest.raises(InputError) as refused:
        forget(port, "issue-4", port.note)
    assert refused.value.code == "not_found"


def test_a_stop_is_answered_where_nothing_can_be_remembered() -> None:
    sessions = GoalSessions(Port(broken=True))
    assert sessions.has_stopped("s1")
    sessions.keep("s1", SessionNotes())
    sessions.closings_told(["issue-4"])
    port = Port()
    assert (GoalSessions(port).has_stopped("known"), GoalSessions(port).has_stopped("new")) == (
        True,
        False,
    )
