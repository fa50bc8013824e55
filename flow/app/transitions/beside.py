"""Keeps an agent's shell from beginning a second open goal on a branch, which could hide the first.

A goal is open from its activation until it is closed: a blocked goal is kept working, and a pause
without a person's yes must not be a way to a goal that asks for less.
"""

from __future__ import annotations

from flow.core.goal.lifecycle import UNDER_WAY
from flow.core.goal.model import is_of_branch
from flow.core.tool_calls.speaker import Speaker, is_agent
from flow.errors import FlowError, PersonNeeded
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flow.app.open_goals import GoalFiles
    from flow.app.transitions.remembered import RememberedGoals
    from flow.core.goal.model import GoalSummary


class OpenGoalsPort(Protocol):
    """Interface to the goals of a checkout."""

    @property
    def records(self) -> GoalFiles:
        """The goals."""

    @property
    def speaker(self) -> Speaker | None:
        """From where the commands of this process come; None at the stop of an agent."""

    def branch(self) -> str | None:
        """The branch that is checked out; None on a detached HEAD or without git."""

    @property
    def remembered(self) -> RememberedGoals:
        """The goals as the user's state folder remembers them."""


def refuse_beside_active(port: OpenGoalsPort, goal_id: str, line: str) -> None:
    """Raise :class:`PersonNeeded` in an agent's shell where another goal is open here.

    ``line`` is what a person types instead. A goal that cannot be read may be an active one.
    """
    if not is_agent(port.speaker):
        return
    why = next(iter(_other_open(port, goal_id)), "") or next(iter(_gone_goals(port)), "")
    if why:
        raise PersonNeeded(
            f"{why}, and this is an agent's shell: a person decides whether goal {goal_id} begins "
            "beside it",
            code="beside_active",
            key="metadata.id",
            value=goal_id,
            remedy=f"a person, at a terminal: {line}",
        )


def _other_goals(port: OpenGoalsPort, goal_id: str) -> Iterable[tuple[str, GoalSummary | None]]:
    """The other goals of this branch; None for one that cannot be read."""
    branch = port.branch()
    summaries, broken = port.records.summaries()
    for other in sorted({*summaries, *broken} - {goal_id}):
        goal = summaries.get(other)
        if goal is None or is_of_branch(goal.branch, branch):
            yield other, goal


def _other_open(port: OpenGoalsPort, goal_id: str) -> Iterable[str]:
    """Each other goal that is open here, or may be."""
    for other, goal in _other_goals(port, goal_id):
        if goal is None:
            yield f"goal {other} cannot be read, so it may be active"
        elif goal.status in UNDER_WAY:
            yield f"goal {other} is {goal.status} on this branch"


def _gone_goals(port: OpenGoalsPort) -> Iterable[str]:
    """Each goal of this branch that Flow works on and whose file is gone."""
    known = port.remembered.left_open()
    try:
        here, branch = set(port.records.goal_ids()), port.branch()
    except FlowError:
        return
    for goal in known.values():
        if goal.goal_id not in here and is_of_branch(goal.branch, branch):
            yield (
                f"goal {goal.goal_id} is open in this checkout, and its file is gone "
                f"(put it back, or: flow goal forget {goal.goal_id})"
            )


def others_open(port: OpenGoalsPort, goal_id: str) -> list[str]:
    """The other goals of this branch that have begun and are not closed, or are gone."""
    found = []
    for other, goal in _other_goals(port, goal_id):
        if goal is None:
            found.append(f"{other}: cannot be read")
        elif goal.status in UNDER_WAY:
            found.append(f"{other}: {goal.status}, {port.records.goal(other).goal.outcome}")
    return [*found, *_gone_goals(port)]
