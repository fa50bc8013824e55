"""What the Stop hook can see of a checkout's goals, and what it remembers of them."""

from __future__ import annotations

from contextlib import suppress

from flow.adapters.user_state.checkouts import Remembered
from flow.app.stop.tools import Sight
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL
from flow.core.stop import lost_goals
from flow.core.stop.lost_goals import Loss, SessionNotes
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.git.repository import Repo
    from flow.app.ports import LoadedGoal
    from flow.core.chain.closing_record import ClosedGoal
    from flow.core.goal.model import Goal
    from flow.core.stop.lost_goals import KnownGoal
    from flow.core.stop.pause import Pause
    from flow.wiring.reading import Reading

PENDING_LIMIT = 1000
"""Goals whose last change is completed at most; a crash leaves one."""


def look(
    checkout: Reading,
    session: str | None,
    *,
    finish: bool = True,
    read: tuple[Mapping[str, LoadedGoal], Mapping[str, FlowError]] | None = None,
) -> Sight:
    """The branch's open goals, those that are lost, and the notes about them.

    With ``finish`` what a killed call had decided is written everywhere first. ``read`` is every
    goal as the caller has just read them; they are read here where that may have changed some.
    Raises :class:`FlowError`.
    """
    remembered, notes = _remembered(checkout, session)
    if remembered.git_dir is not None and checkout.repo.git_dir is None:
        losses = [Loss(goal_id, "no_repository", checkout.top) for goal_id in remembered.goals]
        closings = [*remembered.closed.values()]
        return Sight((), {}, remembered.goals, losses, {}, notes, {}, closings)
    pending, broken = _finish(checkout) if finish else (0, {})
    goals = _goals(checkout, remembered.goals, broken, None if pending else read)
    branch = checkout.branch()
    closed = _closed(checkout, remembered.goals, goals)
    if finish and closed:
        remembered = _note_closings(checkout, closed, goals, remembered)
    losses = lost_goals.lost_goals(
        [*remembered.goals.values()],
        {goal_id: loaded.goal for goal_id, loaded in goals.items()},
        unreadable={goal_id: str(error.faults[0]) for goal_id, error in broken.items()},
        closed=closed,
        branch=branch,
        judged=notes.judged,
    )
    here = {
        goal_id: loaded
        for goal_id, loaded in goals.items()
        if loaded.goal.status not in TERMINAL and lost_goals.is_here(loaded.goal, branch)
    }
    return Sight(
        [loaded.goal for loaded in here.values()],
        broken,
        remembered.goals,
        losses,
        {goal_id: loaded.contract for goal_id, loaded in here.items()},
        notes,
        _paused(checkout, [loaded.goal for loaded in here.values()]),
        _closings(remembered, branch, notes),
    )


def repository(folder: str, environ: Mapping[str, str], session: str | None) -> Repo | None:
    """The repository around ``folder``; None where there is none and Flow knows of none.

    A checkout that Flow works for, and of which nothing is left, is one without git. Outside of
    all repositories it is the one in which Flow kept the session working.
    """
    import os

    from flow.adapters.fs.state_folder import state_dir
    from flow.adapters.git.repository import Repo, find_repo
    from flow.adapters.user_state import checkouts

    folder = os.path.realpath(folder)
    repo = find_repo(folder)
    try:
        state = state_dir(environ, environ.get("HOME"), None)
        top = checkouts.nearest(state, folder)
        if top is None and repo is None:
            top = checkouts.worked_in(state, session)
            repo = find_repo(top) if top is not None else None
    except FlowError:
        return repo
    if top is None or (repo is not None and not f"{top}/".startswith(f"{repo.top}/")):
        return repo
    if repo is not None and repo.top == top:
        return repo
    return Repo(top, None, None, "its folder or its .git is gone")


def left_behind(checkout: Reading, session: str | None) -> list[str]:
    """A word, once, about the goals of another checkout in which the session was kept working."""
    from flow.adapters.user_state import checkouts
    from flow.core.text import display

    try:
        top = checkouts.worked_in(checkout.state_dir, session)
        if session is None or top is None or top == checkout.top:
            return []
        there = checkouts.CheckoutNotes(checkout.state_dir, top, None)
        notes, known = there.session(session) or SessionNotes(), there.read().goals
        left = [goal_id for goal_id in notes.continued if goal_id in known]
        news = [goal_id for goal_id in left if notes.told.get(goal_id) != checkout.top]
        if not news:
            return []
        told = {**notes.told, **dict.fromkeys(left, checkout.top)}
        there.keep_session(session, notes._replace(told=told))
    except FlowError:
        return []
    names, place = display.names(news, 5), display.visible(top)
    return [f"goal {names} of {place} is not judged while the session is elsewhere"]


def _finish(checkout: Reading) -> tuple[int, dict[str, FlowError]]:
    """Carry out what was decided; returns how much there was, and what could not be, by file."""
    from flow.adapters.fs import files

    broken: dict[str, FlowError] = {}
    try:
        names = files.names(checkout.top, layout.PENDING, suffix=".json", limit=PENDING_LIMIT)
    except FlowError as error:
        return 1, {layout.PENDING: error}
    for name in names:
        try:
            checkout.ledger.finish(name.removesuffix(".json"))
        except FlowError as error:
            broken[name] = error
    return len(names), broken


def _remembered(checkout: Reading, session: str | None) -> tuple[Remembered, SessionNotes]:
    """What the state folder knows; nothing where there is none that can be used."""
    try:
        notes = checkout.checkout_notes
        known = notes.read()
        return known, (notes.session(session) if session else None) or SessionNotes()
    except FlowError:
        return Remembered(None, {}), SessionNotes()


def _goals(
    checkout: Reading,
    known: Mapping[str, KnownGoal],
    broken: dict[str, FlowError],
    read: tuple[Mapping[str, LoadedGoal], Mapping[str, FlowError]] | None,
) -> Mapping[str, LoadedGoal]:
    """Every goal that can be read, by id; ``broken`` gets the others."""
    try:
        loaded, unreadable = checkout.loaded_goals() if read is None else read
    except FlowError as error:  # no folder stands at its place
        if not known:
            raise
        broken.update(dict.fromkeys(known, error))
        return {}
    broken.update(unreadable)
    return loaded


def _paused(checkout: Reading, goals: list[Goal]) -> dict[str, Pause]:
    found = ((goal.id, checkout.paused(goal)) for goal in goals)
    return {goal_id: pause for goal_id, pause in found if pause is not None}


def _closed(
    checkout: Reading, known: Mapping[str, KnownGoal], goals: Mapping[str, LoadedGoal]
) -> frozenset[str]:
    """The known goals that are closed, and whose closing is on record in the state folder."""
    closed = set()
    for goal_id, goal in known.items():
        loaded = goals.get(goal_id)
        if loaded is None or loaded.goal.status not in TERMINAL:
            continue
        if checkout.closing_on_record(loaded, goal.run_id):
            closed.add(goal_id)
    return frozenset(closed)


def _note_closings(
    checkout: Reading,
    closed: frozenset[str],
    goals: Mapping[str, LoadedGoal],
    remembered: Remembered,
) -> Remembered:
    """Remember no longer as open what a killed command had closed, and tell that, too."""
    for goal_id in closed:
        known, status = remembered.goals[goal_id], goals[goal_id].goal.status
        with suppress(FlowError):
            checkout.note_closing(goal_id, known.branch, known.run_id, status)
    with suppress(FlowError):
        remembered = remembered._replace(closed=checkout.checkout_notes.read().closed)
    return remembered


def _closings(
    remembered: Remembered, branch: str | None, notes: SessionNotes
) -> Sequence[ClosedGoal]:
    """Those that are told here; those of another branch where this session was judged by them."""
    return [
        goal
        for goal in remembered.closed.values()
        if goal.goal_id in notes.judged or lost_goals.is_here(goal, branch)
    ]
