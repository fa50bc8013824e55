"""What the user's state folder keeps of how a goal was closed (SPEC sections 2 and 10).

A goal file and its run lie in the checkout, where whoever works there may write ``achieved`` and an
event that fits. So each door leaves a digest there of what it closed, and on what.
"""

from __future__ import annotations

import json

from flow.cheap_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from flow.core.goal import Goal

FOLDER = "closed/"
"""Before the goal's id: the name of the digest among those of a run's small files."""


def told_at(events: Sequence[Mapping[str, Any]], status: str) -> str | None:
    """When the newest of a goal's events about a move says that it became ``status``, if so."""
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
