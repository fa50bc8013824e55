"""Goals as the user's state folder remembers them: the open ones, who paused them, who closed them.

Remembering never stops a command: without a state folder nothing is remembered.
"""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL
from flow.core.stop.pause import PAUSED_STATUS, Pause, pause_of
from flow.errors import FlowError
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.chain.closing_record import ClosedGoal
    from flow.core.goal.model import Goal
    from flow.core.stop.lost_goals import OpenGoal, OpenGoals
    from flow.core.tool_calls.speaker import Speaker

ELSEWHERE = "another working tree"
"""Origin of a closing that this checkout has no event about."""


class GoalMemory(Protocol):
    """Memory of a checkout's goals; every method may raise :class:`FlowError`."""

    def read(self) -> OpenGoals:
        """The goals that are open, and those that were closed."""

    def note_next_status(self, goal_id: str, status: str) -> None:
        """A goal is about to get a status."""

    def note_open(self, goal: OpenGoal) -> None:
        """A goal was left open."""

    def forget(self, goal_id: str) -> bool:
        """Forget a goal; False if none was known."""

    def note_closed(self, goal: ClosedGoal) -> None:
        """A goal was closed, which the next stop tells."""


class RememberingPort(Protocol):
    """Interface of remembering goals to the checkout."""

    @property
    def checkout_notes(self) -> GoalMemory:
        """The notes; :class:`FlowError` without a state folder that can be used."""

    @property
    def speaker(self) -> Speaker | None:
        """From where the commands of this process come; None at the stop of an agent."""

    def newest_change(self, goal_id: str, run_id: str) -> Mapping[str, Any] | None:
        """The newest event of the run that changed the goal's status."""


class RememberedGoals:
    """Memory of one checkout's goals, in which failed reads and writes are ignored."""

    def __init__(self, port: RememberingPort) -> None:
        self._port = port

    def left_open(self) -> Mapping[str, OpenGoal]:
        """The goals that Flow left open in this checkout, by id."""
        try:
            return self._port.checkout_notes.read().goals
        except FlowError:
            return {}

    def paused(self, goal: Goal) -> Pause | None:
        """The pause of the goal: who set it aside, and why; None if it is not paused."""
        if goal.status != PAUSED_STATUS or goal.run_id is None:
            return None
        try:
            return pause_of(self._port.newest_change(goal.id, goal.run_id))
        except FlowError:  # its events are told where they are read
            return None

    def before_change(self, goal: Goal, status: str) -> None:
        """Note the status that a goal is about to get: the Stop hook knows that Flow wrote it."""
        with suppress(FlowError):
            self._port.checkout_notes.note_next_status(goal.id, status)

    def after_change(self, goal: Goal, run_id: str, status: str, contract: str) -> None:
        """Remember a goal that Flow wrote: until it is closed, stops notice if it is lost."""
        from flow.core.stop.lost_goals import OpenGoal

        with suppress(FlowError):
            # The next stop tells who closed it, unless the hook did (no speaker) or it was a draft.
            if status in TERMINAL and self._port.speaker is not None and goal.status != "draft":
                self.note_closing(goal.id, goal.branch, run_id, status)
            elif status in TERMINAL or status == "draft":
                self._port.checkout_notes.forget(goal.id)
            else:
                left = OpenGoal(goal.id, run_id, goal.branch, (status,), contract)
                self._port.checkout_notes.note_open(left)

    def note_closing(self, goal_id: str, branch: str, run_id: str, status: str) -> None:
        """Let the next stop in this checkout tell who closed the goal.

        Raises :class:`FlowError` if that cannot be remembered.
        """
        from flow.core.chain.closing_record import closed_goal

        try:
            event = self._port.newest_change(goal_id, run_id)
            if event is None or event.get("to") != status:
                event = {"to": status, "said_from": ELSEWHERE}
        except FlowError:  # its events are told where they are read
            event = None
        self._port.checkout_notes.note_closed(closed_goal(goal_id, branch, status, event))


class BranchPort(Protocol):
    """The branch of a checkout, and the goals that Flow left there."""

    def branch(self) -> str | None:
        """The branch that is checked out; None on a detached HEAD or without git."""

    @property
    def remembered(self) -> RememberedGoals:
        """The goals as the user's state folder remembers them."""
