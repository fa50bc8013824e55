"""A second active goal on a branch can hide the first one, so no agent's shell begins it alone."""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING
from flow.core.goal import NO_BRANCH
from flow.errors import FlowError, PersonNeeded

if TYPE_CHECKING:
    from flow.wiring.parts import Parts


def refuse_beside_active(parts: Parts, goal_id: str, line: str) -> None:
    """Raise :class:`PersonNeeded` in an agent's shell where another goal is active here.

    ``line`` is what a person types instead. A goal that cannot be read may be an active one.
    """
    if parts.speaker is None or parts.speaker.said_from != "agent":
        return
    branch = parts.branch()
    for other in parts.records.goal_ids():
        if other == goal_id:
            continue
        try:
            goal = parts.records.goal(other).goal
        except FlowError:
            why = f"goal {other} cannot be read, so it may be active"
        else:
            here = branch is None or goal.branch in (branch, NO_BRANCH)
            if goal.status != "active" or not here:
                continue
            why = f"goal {other} is active on this branch"
        raise PersonNeeded(
            f"{why}, and this is an agent's shell: a person decides whether goal {goal_id} begins "
            "beside it",
            code="beside_active",
            key="metadata.id",
            value=goal_id,
            remedy=f"a person, at a terminal: {line}",
        )
