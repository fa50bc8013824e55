"""The record of a closed goal in the user's state folder (SPEC 2 and 10).

A goal file and its run are in the checkout, where anyone may write ``achieved`` and a matching
event. So each terminal transition stores a digest of the goal and its evidence in the state folder.
The Stop hook reports each closing to the person once: a command in a script closes a goal without a
question.
"""

from __future__ import annotations

from flow.core.text.display import visible
from flow.startup import json
from flow.startup.json import text_of
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from flow.core.goal.model import Goal

PLACES = {"agent": "an agent's shell", "terminal": "a terminal", "pipe": "a pipe"}
"""The origin of a closing in words, by ``said_from``."""
_LONGEST = 200


class ClosedGoal(NamedTuple):
    """A goal that was closed in a checkout, for the report at the next stop there.

    ``at``, ``by`` and ``said_from`` are the event's; empty if it has none.
    """

    goal_id: str
    branch: str
    status: str
    at: str = ""
    by: str = ""
    said_from: str = ""

    def sentence(self) -> str:
        """The closer, time and origin in one sentence; without a full stop, safe for a terminal."""
        place = PLACES.get(self.said_from, self.said_from)
        parts = ((" at ", self.at), (" by ", self.by), (", said from ", place))
        details = "".join(before + visible(text)[:_LONGEST] for before, text in parts if text)
        return (
            f"goal {visible(self.goal_id)} was closed as {visible(self.status)[:_LONGEST]}{details}"
        )


def closed_goal(
    goal_id: str, branch: str, status: str, event: Mapping[str, Any] | None
) -> ClosedGoal:
    """The closing described by ``event``, the goal's newest change of status."""
    transition = event if event is not None and event.get("to") == status else {}
    by = transition.get("by", transition.get("how"))  # a helper names itself
    texts = (transition.get("at"), by, transition.get("said_from"))
    return ClosedGoal(goal_id, branch, status, *map(text_of, texts))


def closed_at(events: Sequence[Mapping[str, Any]], status: str) -> str | None:
    """Time of the latest transition event, if it set ``status``; else None."""
    for event in reversed(events):
        if event.get("type") in ("confirmed", "transition") and "to" in event:
            at = event.get("at")
            return at if event["to"] == status and isinstance(at, str) else None
    return None


def statement(goal: Goal, contract: str, at: str) -> bytes:
    """The bytes to digest: the goal as it was closed at ``at``, and its evidence."""
    return _bytes(goal, contract, {"at": at})


def shared_statement(goal: Goal, contract: str) -> bytes:
    """The bytes to digest for other working trees: they have the goal's file, and not the event."""
    return _bytes(goal, contract, {"run": goal.run_id})


def _bytes(goal: Goal, contract: str, more: Mapping[str, str | None]) -> bytes:
    document = {
        "goal": goal.id,
        "to": goal.status,
        **more,
        "contract": contract,
        "evidence": [[c.id, c.status, c.evidence_ref] for c in goal.criteria],
    }
    return json.dumps(document, sort_keys=True, ensure_ascii=True).encode("ascii")
