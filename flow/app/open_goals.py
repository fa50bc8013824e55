"""Which goals of a checkout are open, and the run of one."""

from __future__ import annotations

from flow.core.goal.lifecycle import NON_TERMINAL
from flow.core.goal.model import NO_BRANCH
from flow.errors import FlowError, StateError, at_key
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flow.app.ports import LoadedGoal
    from flow.core.goal.model import Goal


class GoalFiles(Protocol):
    """The goal files of a checkout."""

    def goal_ids(self) -> Sequence[str]:
        """The ids that the files' names give."""

    def goal(self, goal_id: str) -> LoadedGoal:
        """A goal; :class:`InputError` where there is none."""


def read_all(files: GoalFiles) -> tuple[dict[str, LoadedGoal], dict[str, FlowError]]:
    """Every goal by id, and what is wrong with those that cannot be read."""
    loaded: dict[str, LoadedGoal] = {}
    broken: dict[str, FlowError] = {}
    for goal_id in files.goal_ids():
        try:
            loaded[goal_id] = files.goal(goal_id)
        except FlowError as error:
            broken[goal_id] = error
    return loaded, broken


def active_goals(goals: Iterable[Goal], branch: str | None, *, any_open: bool) -> list[Goal]:
    """The active goals of a branch, waiting and blocked ones too with ``any_open``.

    ``branch`` None: whatever branch they are of.
    """
    states = NON_TERMINAL if any_open else {"active"}
    return [
        goal
        for goal in goals
        if goal.status in states and (branch is None or goal.branch in (branch, NO_BRANCH))
    ]


def only_open(goals: Sequence[Goal]) -> Goal:
    """The one goal that is open; :class:`StateError` where it is not exactly one."""
    if len(goals) != 1:
        raise StateError(f"{len(goals)} goals are open on this branch")
    return goals[0]


def run_of(goal: Goal) -> str:
    """The run a goal writes to. Raises :class:`StateError` where it has none yet."""
    if goal.run_id is None:
        raise at_key("scope.run_id").wrong_state(
            f"goal {goal.id} has no run yet",
            f"flow goal evaluate {goal.id}, or flow goal activate {goal.id}",
        )
    return goal.run_id
