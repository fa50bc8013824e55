"""A person says which session works on a goal, or that a goal counts as left open no more."""

from __future__ import annotations

from flow.app.ports import GoalPort
from flow.app.stop.sight import CheckoutMemory, GoalSessions, SessionPort
from flow.app.transitions.closing import refuse_closed
from flow.core.goal import ids
from flow.core.stop.lost_goals import NEXT_SESSION
from flow.core.text import display
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.core.goal.model import Goal

    NoteEvent = Callable[[str | None, str, Mapping[str, Any]], None]
    """Appends (run, goal, event) to the run's events; without a run it does nothing."""


class ClaimMemory(CheckoutMemory, Protocol):
    """Memory of a checkout from which a goal can be removed."""

    def forget(self, goal_id: str) -> bool:
        """Forget a goal; False if none was known."""


class ClaimPort(SessionPort, GoalPort, Protocol):
    """Interface of claiming and forgetting goals to the checkout."""

    @property
    def top(self) -> str:
        """The top level."""

    @property
    def checkout_notes(self) -> ClaimMemory:
        """The memory in the state folder; raises :class:`FlowError` if that is unusable."""


def claim(port: ClaimPort, goal_id: str, session: str | None, note: NoteEvent) -> Goal:
    """Assign the goal to ``session``; None: to the session that stops next.

    Raises :class:`StateError` for a closed goal.
    """
    goal = port.load(goal_id).goal
    refuse_closed(goal, "claiming it")
    GoalSessions(port).own(goal.id, NEXT_SESSION if session is None else session)
    note(goal.run_id, goal.id, {"type": "claimed", "session": session})
    return goal


def forget(port: ClaimPort, goal_id: str, note: NoteEvent) -> None:
    """Forget that Flow left the goal open here: no stop looks for it any more.

    Raises :class:`InputError` if it is not remembered.
    """
    left = port.checkout_notes.read().goals.get(ids.goal_id(goal_id))
    if left is None or not port.checkout_notes.forget(goal_id):
        raise at_key("goal id", goal_id).not_found(
            f"no goal {goal_id} is remembered of {display.visible(port.top)}",
            f"name the checkout where it was: flow goal forget {goal_id} --checkout DIR",
        )
    note(left.run_id, goal_id, {"type": "forgotten"})
