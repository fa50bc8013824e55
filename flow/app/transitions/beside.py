"""Keeps an agent's shell from beginning a second open goal on a branch, which could hide the first.

A goal is open from its activation until it is closed: a blocked goal is kept working, and a pause
without a person's yes must not be a way to a goal that asks for less.
"""

from __future__ import annotations

from flow.app.open_goals import closed_on_record
from flow.app.ports import SpeakerPort
from flow.app.transitions.remembered import BranchPort
from flow.core.goal.lifecycle import UNDER_WAY
from flow.core.goal.model import is_of_branch
from flow.core.stop import lost_goals
from flow.core.tool_calls.speaker import is_agent
from flow.errors import FlowError, PersonNeeded
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flow.app.open_goals import Closings, GoalFiles
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import GoalSummary


class OpenGoalsPort(BranchPort, SpeakerPort, Protocol):
    """Interface to the goals of a checkout."""

    @property
    def records(self) -> GoalFiles:
        """The goals."""

    @property
    def run_record(self) -> Closings:
        """The user's state folder, as far as it knows closed goals."""


def namesake(port: OpenGoalsPort, goal_id: str) -> list[str]:
    """A warning where a new goal takes the name of an open one whose file is gone."""
    known = port.remembered.left_open().get(goal_id)
    if known is None or not is_of_branch(known.branch, port.branch()):
        return []
    begun = f"goal {goal_id} was open here, and its file was gone: this one has its name only"
    return [f"{begun}; what was recorded of that: flow evidence list --run-id {known.run_id}"]


def refuse_beside_active(port: OpenGoalsPort, goal_id: str, line: str) -> None:
    """Raise :class:`PersonNeeded` in an agent's shell where another goal is open here.

    ``line`` is the line for a person. A goal that cannot be read may be an active one. A goal that
    Flow left open counts as open if its file is gone, or was edited by hand to say that it is
    closed, a draft or of another branch; this includes the goal ``goal_id`` itself.
    """
    if not is_agent(port.speaker):
        return
    why = next(iter(_other_open(port, goal_id)), "") or next(iter(_lost_goals(port)), "")
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


def _lost_goals(port: OpenGoalsPort) -> Iterable[str]:
    """Each goal of this branch that Flow left open, and that its file does not show as open."""
    known = port.remembered.left_open()
    if not known:
        return
    try:
        summaries, broken = port.records.summaries()
        branch = port.branch()
    except FlowError:
        return

    def is_on_record(loaded: LoadedGoal, run_id: str) -> bool:
        return port.run_record.has_closing(run_id, loaded.goal, loaded.contract)

    losses = lost_goals.lost_goals(
        [*known.values()],
        summaries,
        unreadable=dict.fromkeys(broken, ""),
        closed=closed_on_record(known, summaries, port.records.goal, is_on_record),
        branch=branch,
        judged=(),
    )
    for loss in losses:
        goal = summaries.get(loss.goal_id)
        if loss.kind != "unreadable" and (goal is None or not _is_under_way_here(goal, branch)):
            yield (
                f"goal {loss.goal_id} is open in this checkout, and "
                f"{lost_goals.describe_loss(loss)} ({lost_goals.persons_remedy(loss)})"
            )


def _is_under_way_here(goal: GoalSummary, branch: str | None) -> bool:
    return goal.status in UNDER_WAY and is_of_branch(goal.branch, branch)


def others_open(port: OpenGoalsPort, goal_id: str) -> list[str]:
    """The other goals of this branch that have begun and are not closed, as far as Flow knows."""
    found = []
    for other, goal in _other_goals(port, goal_id):
        if goal is None:
            found.append(f"{other}: cannot be read")
        elif goal.status in UNDER_WAY:
            found.append(f"{other}: {goal.status}, {port.records.goal(other).goal.outcome}")
    return [*found, *_lost_goals(port)]
