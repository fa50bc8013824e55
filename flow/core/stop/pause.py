"""A paused goal: who paused it, when, and why; and the reasons that Flow gives for moves itself.

Values only.
"""

from __future__ import annotations

from flow.core.text.display import clip, visible
from flow.startup.json import text_of
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_REASON = 500
"""Characters of a reason that are shown."""
PAUSED_STATUS: Literal["waiting_for_user"] = "waiting_for_user"
"""The status of a paused goal, and of others that wait for a person."""

_REASON_LESS = ("paused by ", ", who gave no reason")
"""Start and end of the recorded reason of a pause without a reason of its own."""
WAITS = "waits until this exits 0: "
"""Start of the reason of a goal that waits for a command."""
ARRIVED = "what it waited for is there: "
"""Start of the reason of a goal that has waited and goes on."""
PERSON, AGENT = "a person", "the agent"
RESUMED_BY = "resumed by "
"""Start of the reason of a goal that was resumed without one: by a person or the agent."""
CLEARED = f"cleared by {PERSON}"
"""Reason of a goal that was cancelled without one."""
STOP_HOOK = "the Stop hook"
"""Name recorded as ``by`` for a goal whose loop was stuck: no person was asked."""
ACTIVATED = "activated"
"""Reason of a draft that became active."""
REASONS_OF_NOBODY = (f"{RESUMED_BY}{PERSON}", f"{RESUMED_BY}{AGENT}", CLEARED, ACTIVATED)
"""Reasons that Flow writes for a move without a reason; no person said them, so none is quoted."""


def recorded_reason(reason: str, who: str) -> str:
    """The reason for the record: ``reason``, or that ``who`` gave none."""
    return reason.strip() or who.join(_REASON_LESS)


class Pause(NamedTuple):
    """The move that paused a goal, from its event."""

    reason: str
    by: str
    said_from: str | None
    at: str

    @property
    def who(self) -> str:
        """The user, or the agent if the command came from an agent's shell."""
        return AGENT if self.said_from == "agent" else visible(self.by) or PERSON

    @property
    def words(self) -> str:
        """The reason in the words of the one who paused it; empty if none was given."""
        start, end = _REASON_LESS
        given = not (self.reason.startswith(start) and self.reason.endswith(end))
        return self.reason if given else ""

    def sentence(self) -> str:
        """``paused by the agent: "the reason"``, or that no reason was given."""
        if not self.words:
            return self.who.join(_REASON_LESS)
        return f'paused by {self.who}: "{clip(visible(self.words), _LONGEST_REASON)}"'

    def to_document(self) -> dict[str, Any]:
        """The value in ``status --json``."""
        return self._asdict()


def changes_status(event: Mapping[str, Any]) -> bool:
    """Whether an event changed the goal's status."""
    return isinstance(event.get("to"), str)


def pause_of(event: Mapping[str, Any] | None) -> Pause | None:
    """The pause described by ``event``, a goal's newest change of status; None for another move.

    A proposal that waits for a person is no pause, nor is a status written by a helper.
    """
    if (
        event is None
        or (event.get("type"), event.get("to")) != ("transition", PAUSED_STATUS)
        or "proposal_id" in event
        or "how" in event
    ):
        return None
    reason, by, said_from, at = (text_of(event.get(key)) for key in Pause._fields)
    return Pause(reason, by, said_from or None, at)
