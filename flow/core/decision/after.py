"""Goals that come first (``continuation.after``), and so hold an achieved verdict back. Pure."""

from __future__ import annotations

from flow.core.text.display import names
from flow.core.text.near import did_you_mean
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HeldBy = Literal["", "open", "person"]
"""Reason to hold an achieved verdict back.

Empty: none. ``open``: another goal comes first. ``person``: a person must act, since that goal can
no longer be achieved, or cannot be found.
"""
MOST_FOLLOWED = 1000
"""Largest number of goals that are read to find a circle."""


class EarlierGoal(NamedTuple):
    """The state of a goal that another one comes after."""

    status: str
    after: tuple[str, ...] = ()
    problem: str = ""
    """Reason that its status does not count; empty if it does."""


class Hold(NamedTuple):
    """One goal that must be achieved first and is not."""

    goal_id: str
    by: HeldBy
    why: str


def holds(
    goal_id: str, after: Sequence[str], look_up: Callable[[str], EarlierGoal | None]
) -> tuple[Hold, ...]:
    """The goals that hold this one back; ``look_up`` returns None for a goal that is missing."""
    waiting = []
    for name in dict.fromkeys(after):
        hold = _hold(goal_id, name, look_up)
        if hold is not None:
            waiting.append(hold)
    return tuple(waiting)


def _hold(goal_id: str, name: str, look_up: Callable[[str], EarlierGoal | None]) -> Hold | None:
    goal = look_up(name)
    if goal is None:
        return Hold(name, "person", "is not in this checkout; a branch that has it may be missing")
    if goal.problem:
        return Hold(name, "person", goal.problem)
    if goal.status == "achieved":
        return None
    if goal.status in ("failed", "cancelled"):
        return Hold(name, "person", f"is {goal.status}, so it will never be achieved")
    if name == goal_id or _leads_back(goal_id, goal.after, look_up):
        return Hold(name, "person", f"comes after {goal_id} itself, in a circle")
    return Hold(name, "open", f"is {goal.status}")


def _leads_back(
    goal_id: str, after: Sequence[str], look_up: Callable[[str], EarlierGoal | None]
) -> bool:
    """Whether ``goal_id`` is reached from ``after`` through goals that are not achieved."""
    waiting, seen = list(after), set(after)
    while waiting and len(seen) < MOST_FOLLOWED:
        name = waiting.pop()
        if name == goal_id:
            return True
        goal = look_up(name)
        if goal is None or goal.status == "achieved":
            continue
        new = [each for each in goal.after if each not in seen]
        seen.update(new)
        waiting += new
    return False


def held_by(waiting: Sequence[Hold]) -> HeldBy:
    """The strongest hold of them all; empty if there is none."""
    kinds = {hold.by for hold in waiting}
    return "person" if "person" in kinds else "open" if kinds else ""


def sentences(waiting: Sequence[Hold]) -> list[str]:
    """Reasons that achieved is not proposed, one sentence per goal."""
    return [f"goal {hold.goal_id} comes first and {hold.why}" for hold in waiting]


def warnings(
    goal_id: str,
    after: Sequence[str],
    look_up: Callable[[str], EarlierGoal | None],
    goal_ids: Sequence[str],
) -> list[str]:
    """A warning for each earlier goal that can never be achieved as things are.

    ``goal_ids`` are the checkout's goals, for a suggestion of the intended one.
    """
    others = [name for name in goal_ids if name != goal_id]
    told = []
    for hold in holds(goal_id, after, look_up):
        if hold.by == "person":
            meant = "" if hold.goal_id in goal_ids else did_you_mean(hold.goal_id, others)
            told.append(
                f"{sentences([hold])[0]}{meant or '.'} Until it is achieved, this goal is not "
                f"proposed; flow goal amend {goal_id} --edit takes it out"
            )
    return told


def next_line(goal_id: str, waiting: Sequence[Hold]) -> str:
    """The next step, as commands."""
    stuck = [hold.goal_id for hold in waiting if hold.by == "person"]
    if stuck:
        return (
            f"a person settles what comes first ({names(stuck, 3)}), "
            f"or takes it out: flow goal amend {goal_id} --edit"
        )
    first = waiting[0].goal_id
    return f"first: flow goal status {first}; then: flow goal evaluate {goal_id}"
