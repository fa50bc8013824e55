"""Whose a goal is: the session's that works on it, while it goes on stopping."""

from __future__ import annotations

from contextlib import suppress

from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.ports import GoalNotes
    from flow.app.stop.sight import CheckoutMemory
    from flow.core.stop.lost_goals import SessionNotes

IDLE_SECONDS = 3600
"""A session that has not stopped for so long owns nothing any more."""


class SessionPort(Protocol):
    """What is known of a checkout's sessions."""

    @property
    def checkout_notes(self) -> CheckoutMemory:
        """What the state folder remembers; :class:`FlowError` without one that can be used."""

    def notes(self, kind: Literal["sessions"]) -> GoalNotes:
        """Which session works on each goal; :class:`FlowError` without a state folder."""

    def time(self) -> float:
        """Seconds since 1970."""


class GoalSessions:
    """Whose a goal is, and what the hook did in a session (:class:`~flow.app.stop.tools.Sessions`).

    What cannot be written is not remembered: a stop is answered all the same.
    """

    def __init__(self, port: SessionPort) -> None:
        self._port = port

    def owner(self, goal_id: str) -> str | None:
        """The session a goal belongs to; None where it belongs to none, or that one is idle."""
        note = self._port.notes("sessions").read(goal_id) or {}
        session, at = note.get("session"), note.get("at")
        if not isinstance(session, str) or not isinstance(at, int | float):
            return None
        return session if self._port.time() - at <= IDLE_SECONDS else None

    def own(self, goal_id: str, session: str) -> None:
        """Remember that a session works on a goal."""
        self._port.notes("sessions").write(goal_id, {"session": session, "at": self._port.time()})

    def has_stopped(self, session: str) -> bool:
        """Whether the session has ever stopped in this checkout."""
        try:
            return self._port.checkout_notes.session(session) is not None
        except FlowError:
            return True

    def keep(self, session: str, notes: SessionNotes) -> None:
        """Remember what the hook did in a session."""
        with suppress(FlowError):
            self._port.checkout_notes.keep_session(session, notes)

    def closings_told(self, goal_ids: Sequence[str]) -> None:
        """Remember that these goals' closings were told in this checkout."""
        with suppress(FlowError):
            self._port.checkout_notes.closings_told(goal_ids)
