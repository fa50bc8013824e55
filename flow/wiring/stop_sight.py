"""What the Stop hook can see of a checkout's goals, and what it remembers of them."""

from __future__ import annotations

from flow.adapters.checkouts import Remembered
from flow.app.stop_tools import Sight
from flow.cheap_typing import TYPE_CHECKING
from flow.core import layout, lost_goals
from flow.core.lifecycle import TERMINAL
from flow.core.lost_goals import Loss, SessionNotes
from flow.errors import FlowError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.git import Repo
    from flow.app.ports import LoadedGoal
    from flow.core.lost_goals import KnownGoal
    from flow.wiring.reading import Reading

PENDING_LIMIT = 1000
"""Goals whose last change is completed at most; a crash leaves one."""


def look(checkout: Reading, session: str | None) -> Sight:
    """The branch's open goals, those that are lost, and the notes about them.

    First what a killed call had decided is written everywhere. Raises :class:`FlowError`.
    """
    from flow.core.goal import NO_BRANCH

    remembered, notes = _remembered(checkout, session)
    if remembered.git_dir is not None and checkout.repo.git_dir is None:
        losses = [Loss(goal_id, "no_repository", checkout.top) for goal_id in remembered.goals]
        return Sight((), {}, remembered.goals, losses, {}, notes)
    broken = _finish(checkout)
    goals = _goals(checkout, remembered.goals, broken)
    branch = checkout.branch()
    known = remembered.goals.values()
    losses = lost_goals.losses(
        [*known],
        {goal_id: loaded.goal for goal_id, loaded in goals.items()},
        unreadable={goal_id: str(error.faults[0]) for goal_id, error in broken.items()},
        closed=_closed(checkout, remembered.goals, goals),
        branch=branch,
        judged=notes.judged,
    )
    here = {
        goal_id: loaded
        for goal_id, loaded in goals.items()
        if loaded.goal.status not in TERMINAL
        and (branch is None or loaded.goal.branch in (branch, NO_BRANCH))
    }
    return Sight(
        [loaded.goal for loaded in here.values()],
        broken,
        remembered.goals,
        losses,
        {goal_id: loaded.contract for goal_id, loaded in here.items()},
        notes,
    )


def missing_checkout(folder: str, environ: Mapping[str, str]) -> Repo | None:
    """The checkout around ``folder`` that Flow works for, if it is none any more; else None."""
    import os

    from flow.adapters import checkouts
    from flow.adapters.git import Repo, find_repo
    from flow.adapters.state import state_dir

    folder = os.path.realpath(folder)
    try:
        top = checkouts.nearest(state_dir(environ, environ.get("HOME"), None), folder)
    except FlowError:
        return None
    if top is None:
        return None
    repo = find_repo(folder)
    if repo is not None and (repo.top == top or not f"{top}/".startswith(f"{repo.top}/")):
        return None  # it is there, or another one lies in it
    return Repo(top, None, None, "its folder or its .git is gone")


def _finish(checkout: Reading) -> dict[str, FlowError]:
    from flow.adapters import files

    broken: dict[str, FlowError] = {}
    names = files.names(checkout.top, layout.PENDING, suffix=".json", limit=PENDING_LIMIT)
    for name in names:
        goal_id = name.removesuffix(".json")
        try:
            checkout.ledger.finish(goal_id)
        except FlowError as error:
            broken[name] = error
    return broken


def _remembered(checkout: Reading, session: str | None) -> tuple[Remembered, SessionNotes]:
    """What the state folder knows; nothing where there is none that can be used."""
    try:
        notes = checkout.checkout_notes
        known = notes.read()
        return known, (notes.session(session) if session else None) or SessionNotes()
    except FlowError:
        return Remembered(None, {}), SessionNotes()


def _goals(
    checkout: Reading, known: Mapping[str, KnownGoal], broken: dict[str, FlowError]
) -> dict[str, LoadedGoal]:
    """Every goal that can be read, by id; ``broken`` gets the others."""
    found = {}
    try:
        goal_ids = checkout.records.goal_ids()
    except FlowError as error:  # no folder stands at its place
        if not known:
            raise
        broken.update(dict.fromkeys(known, error))
        return {}
    for goal_id in goal_ids:
        try:
            found[goal_id] = checkout.load(goal_id)
        except FlowError as error:
            broken[goal_id] = error
    return found


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
