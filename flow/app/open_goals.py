"""The open goals of a checkout, and the run of one."""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL, UNDER_WAY, first_step
from flow.core.goal.model import Goal, GoalSummary, is_of_branch
from flow.errors import FlowError, StateError, at_key
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeVar

    from flow.core.decision.after import EarlierGoal
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.stop.lost_goals import OpenGoal

    _Read = TypeVar("_Read")


class GoalFiles(Protocol):
    """The goal files of a checkout."""

    def goal_ids(self) -> Sequence[str]:
        """The ids that the files' names give."""

    def goal(self, goal_id: str) -> LoadedGoal:
        """A goal; :class:`InputError` if there is none."""

    def summaries(self) -> tuple[Mapping[str, GoalSummary], Mapping[str, FlowError]]:
        """Every goal in short by id, and what is wrong with those that cannot be read."""


class CheckoutGoals(NamedTuple):
    """The goals of a checkout, as they were read at one time."""

    summaries: Mapping[str, GoalSummary]
    """Every goal that can be read, by id."""
    here: Mapping[str, LoadedGoal]
    """Those of them that are of the branch that is checked out, and not closed."""
    broken: Mapping[str, FlowError]
    """Faults of unreadable goals, by id."""


class TrustedGoals(Protocol):
    """The goals that this user has trusted."""

    def newest(self, goal_id: str) -> object | None:
        """The newest line about a goal; None if there is none."""


class Closings(Protocol):
    """The user's state folder, as far as it knows closed goals."""

    def knows(self, run_id: str) -> bool:
        """Whether it keeps anything of a run."""

    def has_closing(self, run_id: str, goal: Goal, contract: str) -> bool:
        """Whether it knows how the goal got its final status."""


class EarlierGoals:
    """Looks up a goal that has to be achieved first; None if it is not in this checkout.

    A status that was edited by hand does not count: who has the goal on record here has its
    closing, too.
    """

    def __init__(
        self,
        load: Callable[[str], LoadedGoal],
        closings: Callable[[], Closings],
        trusted: Callable[[], TrustedGoals],
    ) -> None:
        self._load = load
        self._closings = closings
        self._trusted = trusted

    def __call__(self, goal_id: str) -> EarlierGoal | None:
        """The goal as it stands."""
        from flow.core.decision.after import EarlierGoal  # few goals come after another

        try:
            loaded = self._load(goal_id)
        except FlowError as error:
            if error.code == "not_found":
                return None
            return EarlierGoal("", problem="cannot be read")
        goal = loaded.goal
        if goal.status == "achieved" and not self._closed_on_record(loaded):
            problem = "says achieved, and its closing is not on record here"
            return EarlierGoal(goal.status, problem=problem)
        return EarlierGoal(goal.status, goal.after)

    def _closed_on_record(self, loaded: LoadedGoal) -> bool:
        closings, run_id = self._closings(), loaded.goal.run_id
        known = run_id is None or closings.knows(run_id)
        if not known and self._trusted().newest(loaded.goal.id) is None:
            return True  # somebody else's, closed elsewhere: nothing here says otherwise
        return run_id is not None and closings.has_closing(run_id, loaded.goal, loaded.contract)


def closed_on_record(
    left_open: Mapping[str, OpenGoal],
    summaries: Mapping[str, GoalSummary],
    load: Callable[[str], LoadedGoal],
    is_on_record: Callable[[LoadedGoal, str], bool],
) -> frozenset[str]:
    """The goals that Flow left open, whose files say closed, and whose closing is on record.

    ``is_on_record`` tells whether the state folder knows the closing of a goal and its run.
    """
    closed = set()
    for goal_id, goal in left_open.items():
        if goal_id not in summaries or summaries[goal_id].status not in TERMINAL:
            continue
        try:
            loaded = load(goal_id)
        except FlowError:  # it was changed just now
            continue
        if is_on_record(loaded, goal.run_id):
            closed.add(goal_id)
    return frozenset(closed)


def read_all(
    goal_ids: Iterable[str], read: Callable[[str], _Read]
) -> tuple[dict[str, _Read], dict[str, FlowError]]:
    """The result of ``read`` for each goal, by id, and the faults of those it cannot read."""
    goals: dict[str, _Read] = {}
    broken: dict[str, FlowError] = {}
    for goal_id in goal_ids:
        try:
            goals[goal_id] = read(goal_id)
        except FlowError as error:
            broken[goal_id] = error
    return goals, broken


def read_here(files: GoalFiles, branch: str | None) -> CheckoutGoals:
    """The goals of a checkout; only those that are open on ``branch`` (None: on any) whole."""
    summaries, unreadable = files.summaries()
    known, broken = dict(summaries), dict(unreadable)
    here: dict[str, LoadedGoal] = {}
    for goal_id, summary in summaries.items():
        if not _is_open_here(summary, branch):
            continue
        try:
            loaded = files.goal(goal_id)
        except FlowError as error:  # it was changed just now
            broken[goal_id] = error
            del known[goal_id]
            continue
        known[goal_id] = loaded.goal.summary
        if _is_open_here(known[goal_id], branch):
            here[goal_id] = loaded
    return CheckoutGoals(known, here, broken)


def _is_open_here(goal: GoalSummary, branch: str | None) -> bool:
    return goal.status not in TERMINAL and is_of_branch(goal.branch, branch)


def active_goals(
    goals: Iterable[GoalSummary], branch: str | None, *, any_open: bool
) -> list[GoalSummary]:
    """The active goals of a branch; with ``any_open`` waiting and blocked ones, too.

    ``branch`` None: goals of every branch.
    """
    states = UNDER_WAY if any_open else {"active"}
    return [goal for goal in goals if goal.status in states and is_of_branch(goal.branch, branch)]


def only_open(goals: Sequence[GoalSummary]) -> GoalSummary:
    """The one goal that is open; :class:`StateError` if it is not exactly one."""
    if len(goals) != 1:
        raise StateError(f"{len(goals)} goals are open on this branch")
    return goals[0]


def run_of(goal: Goal) -> str:
    """The run a goal writes to. Raises :class:`StateError` if it has none yet."""
    if goal.run_id is None:
        raise at_key("scope.run_id").wrong_state(
            f"goal {goal.id} has no run yet",
            first_step(goal.status, goal.id) or f"flow goal evaluate {goal.id}",
        )
    return goal.run_id
