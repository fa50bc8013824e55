"""Messages about goals that no stop judges: in another checkout, or with the hook off."""

from __future__ import annotations

from contextlib import suppress

from flow.core.stop.lost_goals import SessionNotes
from flow.core.text import display
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.app.stop.sight import CheckoutMemory


def left_behind(top: str, session: str, there_top: str, there: CheckoutMemory) -> list[str]:
    """The message, given once, about goals of another checkout that the session was working for.

    ``top`` is the checkout of this stop, ``there_top`` the other one. Raises :class:`FlowError`.
    """
    notes, known = there.session(session) or SessionNotes(), there.read().goals
    left = [goal_id for goal_id in notes.continued if goal_id in known]
    news = [goal_id for goal_id in left if notes.told.get(goal_id) != top]
    if not news:
        return []
    told = {**notes.told, **dict.fromkeys(left, top)}
    there.keep_session(session, notes._replace(told=told))
    names, place = display.names(news, 5), display.visible(there_top)
    return [f"goal {names} of {place} is not judged while the session is elsewhere"]


def switched_off(memory: Callable[[], CheckoutMemory], session: str | None, why: str) -> list[str]:
    """Message about the goals that no stop judges while the hook is off, once in a session.

    Only in a session that was judged before: in any other the hook is off on purpose.
    """
    try:
        checkout = memory()
        notes = checkout.session(session) if session else None
        known = checkout.read()
    except FlowError:
        return []
    if session is None or notes is None:
        return []
    closed = [goal for goal in known.closed.values() if goal.goal_id in notes.judged]
    if closed:
        with suppress(FlowError):
            checkout.closings_told([goal.goal_id for goal in closed])
    said = [goal.sentence() for goal in closed]
    left = [goal_id for goal_id in known.goals if goal_id in notes.judged]
    news = [goal_id for goal_id in left if notes.told.get(goal_id) != why]
    if not news:
        return said
    told = {**notes.told, **dict.fromkeys(left, why)}
    with suppress(FlowError):
        checkout.keep_session(session, notes._replace(told=told, judging=False))
    return [*said, f"goal {display.names(news, 5)}: not judged any more, since {why}"]
