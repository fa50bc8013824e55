"""A second active goal on a branch can hide the first one, so no agent's shell begins it alone."""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL
from flow.core.stop.lost_goals import is_here
from flow.errors import FlowError, PersonNeeded
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flow.core.goal.model import Goal
    from flow.wiring.parts import Parts


def refuse_beside_active(parts: Parts, goal_id: str, line: str) -> None:
    """Raise :class:`PersonNeeded` in an agent's shell where another goal is active here.

    ``line`` is what a person types instead. A goal that cannot be read may be an active one.
    """
    if parts.speaker is None or parts.speaker.said_from != "agent":
        return
    why = next(iter(_active(parts, goal_id)), "") or next(iter(_gone(parts)), "")
    if why:
        raise PersonNeeded(
            f"{why}, and this is an agent's shell: a person decides whether goal {goal_id} begins "
            "beside it",
            code="beside_active",
            key="metadata.id",
            value=goal_id,
            remedy=f"a person, at a terminal: {line}",
        )


def _others(parts: Parts, goal_id: str) -> Iterable[tuple[str, Goal | None]]:
    """The other goals of this branch; None for one that cannot be read."""
    branch = parts.branch()
    for other in parts.records.goal_ids():
        if other == goal_id:
            continue
        try:
            goal = parts.records.goal(other).goal
        except FlowError:
            yield other, None
        else:
            if is_here(goal, branch):
                yield other, goal


def _active(parts: Parts, goal_id: str) -> Iterable[str]:
    """Each other goal that is active here, or may be."""
    for other, goal in _others(parts, goal_id):
        if goal is None:
            yield f"goal {other} cannot be read, so it may be active"
        elif goal.status == "active":
            yield f"goal {other} is active on this branch"


def _gone(parts: Parts) -> Iterable[str]:
    """Each goal of this branch that Flow works on and whose file is gone."""
    try:
        known = parts.checkout_notes.read().goals
        here, branch = set(parts.records.goal_ids()), parts.branch()
    except FlowError:  # without a state folder nothing is remembered
        return
    for goal in known.values():
        if goal.goal_id not in here and is_here(goal, branch):
            yield (
                f"goal {goal.goal_id} is open in this checkout, and its file is gone "
                f"(put it back, or: flow goal forget {goal.goal_id})"
            )


def others_open(parts: Parts, goal_id: str) -> list[str]:
    """The other goals of this branch that have begun and are not closed, or are gone."""
    found = []
    for other, goal in _others(parts, goal_id):
        if goal is None:
            found.append(f"{other}: cannot be read")
        elif goal.status not in (*TERMINAL, "draft"):
            found.append(f"{other}: {goal.status}, {goal.outcome}")
    return [*found, *_gone(parts)]
