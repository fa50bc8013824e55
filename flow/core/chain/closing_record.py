"""What the user's state folder keeps of how a goal was closed (SPEC 2 and 10).

A goal file and its run lie in the checkout, where whoever works there may write ``achieved`` and an
event that fits. So each door leaves a digest there of what it closed, and on what. The Stop hook
tells each closing to the person once: a command in a script reaches a door without a question.
"""

from __future__ import annotations

import json

from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from flow.core.goal.model import Goal

FOLDER = "closed/"
"""Before the goal's id: the name of the digest among those of a run's small files."""


PLACES = {"agent": "an agent's shell", "terminal": "a terminal", "pipe": "a pipe"}
"""Where a closing was said, in words, by ``said_from``."""
_LONGEST = 200


class ClosedGoal(NamedTuple):
    """A goal that was closed in a checkout, as the person is told at the next stop there.

    ``at``, ``by`` and ``said_from`` are the event's; empty where it does not say.
    """

    goal_id: str
    branch: str
    status: str
    at: str = ""
    by: str = ""
    said_from: str = ""

    def sentence(self) -> str:
        """Who closed it, when and from where; without a full stop, safe for a terminal."""
        place = PLACES.get(self.said_from, self.said_from)
        parts = ((" at ", self.at), (" by ", self.by), (", said from ", place))
        told = "".join(before + visible(text)[:_LONGEST] for before, text in parts if text)
        return f"goal {visible(self.goal_id)} was closed as {visible(self.status)[:_LONGEST]}{told}"


def closed_goal(
    goal_id: str, branch: str, status: str, event: Mapping[str, Any] | None
) -> ClosedGoal:
    """The closing that ``event``, the goal's newest change of status, tells."""
    transition = event if event is not None and event.get("to") == status else {}
    by = transition.get("by", transition.get("how"))  # a helper names itself
    texts = (transition.get("at"), by, transition.get("said_from"))
    return ClosedGoal(
        goal_id, branch, status, *(text if isinstance(text, str) else "" for text in texts)
    )


def told_at(events: Sequence[Mapping[str, Any]], status: str) -> str | None:
    """Time of the latest transition event, if it set ``status``; else None."""
    for event in reversed(events):
        if event.get("type") in ("confirmed", "transition") and "to" in event:
            at = event.get("at")
            return at if event["to"] == status and isinstance(at, str) else None
    return None


def statement(goal: Goal, contract: str, at: str) -> bytes:
    """What is digested: a goal as it was closed at ``at``, and the evidence it names."""
    said = {
        "goal": goal.id,
        "to": goal.status,
        "at": at,
        "contract": contract,
        "evidence": [[c.id, c.status, c.evidence_ref] for c in goal.criteria],
    }
    return json.dumps(said, sort_keys=True, ensure_ascii=True).encode("ascii")
