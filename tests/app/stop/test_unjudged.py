"""Goals that no stop judges are named once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from flow.app.stop import unjudged
from flow.core.stop.lost_goals import OpenGoals, SessionNotes
from flow.errors import StorageError


class Memory:
    """What is remembered, in memory."""

    def __init__(self, notes: SessionNotes | None, *goals: str, closed: Any = None) -> None:
        self.notes = notes
        known: Any = dict.fromkeys(goals)
        self.remembered = OpenGoals(None, known, closed or {})
        self.told: list[str] = []

    def read(self) -> OpenGoals:
        return self.remembered

    def session(self, session: str) -> SessionNotes | None:
        assert session == "s"
        return self.notes

    def keep_session(self, session: str, notes: SessionNotes) -> None:
        self.notes = notes

    def closings_told(self, goal_ids: Any) -> None:
        self.told += goal_ids


def test_goals_of_another_checkout_are_named_once() -> None:
    memory = Memory(SessionNotes(continued=("a", "b")), "a")
    said = unjudged.left_behind("/here", "s", "/there", memory)
    assert said == ["goal a of /there is not judged while the session is elsewhere"]
    assert unjudged.left_behind("/here", "s", "/there", memory) == []
    assert unjudged.left_behind("/third", "s", "/there", memory) == said


def test_a_switched_off_hook_names_what_it_judged_before_once() -> None:
    closed = {"c": SimpleNamespace(goal_id="c", sentence=lambda: "goal c was closed")}
    memory = Memory(SessionNotes(judged=("a", "c")), "a", "other", closed=closed)
    said = unjudged.switched_off(lambda: memory, "s", "it is off")
    assert said == ["goal c was closed", "goal a: not judged any more, since it is off"]
    assert (memory.told, memory.notes and memory.notes.judging) == (["c"], False)
    memory.remembered = memory.remembered._replace(closed={})
    assert unjudged.switched_off(lambda: memory, "s", "it is off") == []
    assert len(unjudged.switched_off(lambda: memory, "s", "another reason")) == 1


@pytest.mark.parametrize(("session", "notes"), [(None, SessionNotes()), ("s", None)])
def test_a_session_that_was_never_judged_is_told_nothing(session: Any, notes: Any) -> None:
    assert unjudged.switched_off(lambda: Memory(notes, "a"), session, "it is off") == []


def test_without_a_state_folder_nothing_is_told() -> None:
    def unusable() -> Any:
        raise StorageError("no folder")

    assert unjudged.switched_off(unusable, "s", "it is off") == []
