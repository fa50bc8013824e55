"""The moves of a goal that close nothing."""

from __future__ import annotations

from contextlib import suppress

from flow.adapters.fs import clock
from flow.adapters.setup.beside_goals import keep_runs_out
from flow.adapters.setup.defaults_file import read_defaults
from flow.app.evaluation import protected_files
from flow.app.transitions import create, moves
from flow.app.transitions.beside import refuse_beside_active
from flow.app.transitions.persons_word import PersonsWord, persons_name
from flow.core.drafting.defaults import not_trusted
from flow.core.drafting.draft import NO_DEFAULTS
from flow.core.goal import ids
from flow.core.stop.pause import PAUSED_STATUS
from flow.errors import StateError
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__
from flow.wiring.pinning import Pinning, about_commands, record_trust

if TYPE_CHECKING:
    from flow.app.evaluation.values import ClosingContext
    from flow.app.transitions.create import Rebase
    from flow.core.evidence.protected_files import Difference
    from flow.core.goal.lifecycle import NonTerminal
    from flow.core.goal.loaded import LoadedGoal
    from flow.wiring.context import Context


def persons_word(context: Context, named: str | None, note: str = "") -> PersonsWord:
    """Who says so, and what; see :func:`flow.app.transitions.persons_word.persons_name`."""
    name = persons_name(named, context.who, context.configured_name)
    return PersonsWord(*name, note).checked()


def activate(context: Context, goal_id: str) -> LoadedGoal:
    """``draft → active``: pins the base, records trust; warns as creating a goal does."""
    refuse_beside_active(context, ids.goal_id(goal_id), f"flow goal activate {goal_id}")
    defaults = read_defaults(context.top) or NO_DEFAULTS
    unknown = () if context.knows_defaults(defaults.digest) else defaults.digests

    def trust(loaded: LoadedGoal, how: str) -> None:
        if not any(criterion.digest in unknown for criterion in loaded.goal.criteria):
            record_trust(context, loaded.goal, how)

    pin = Pinning(context).pin
    after = moves.activate(_persons_context(context), goal_id, pin, trust, clock.now())
    keep_runs_out(context.top, context.repo.common_dir)
    told = (*after.warnings, *create.lint_goal(after.goal, about_commands(context, after.goal)))
    if not context.trusted(after)[0]:
        told = (*told, not_trusted(goal_id))
    return after._replace(warnings=told)


def pause(context: Context, goal_id: str, reason: str) -> LoadedGoal:
    """``active → waiting_for_user``; two recorded steps of one that is blocked or waits for CI."""
    paused = context.remembered.paused
    return moves.pause_goal(_persons_context(context), ids.goal_id(goal_id), reason, paused)


def resume(context: Context, goal_id: str, reason: str) -> LoadedGoal:
    """A goal that waits or is blocked becomes active again, on a person's word."""
    return moves.shift_status(_persons_context(context), ids.goal_id(goal_id), "active", reason)


def _persons_context(context: Context) -> ClosingContext:
    """The context of a move by a person: its record has their name as an approval's has it."""
    by = persons_word(context, None).by
    return context.closing_context()._replace(account=lambda: by)


def shift(context: Context, goal_id: str, to: NonTerminal, reason: str) -> LoadedGoal:
    """Write a non-terminal status."""
    return moves.shift_status(context.closing_context(), ids.goal_id(goal_id), to, reason)


def approve(context: Context, goal_id: str, about: str, word: PersonsWord) -> str:
    """Record a person's word for a criterion, ``guards`` or ``protected``; returns its path.

    A goal that waited for a person goes on.
    """
    closing, now = context.closing_context(), clock.now()
    goal_id = ids.goal_id(goal_id)
    path = moves.approve(closing, goal_id, about, word, now, __version__)
    if context.load(goal_id).goal.status == PAUSED_STATUS:
        with suppress(StateError):  # somebody moved it first; the approval stands all the same
            moves.shift_status(closing, goal_id, "active", f"resumed: {about} was approved")
    return path


def protected_changes(context: Context, goal_id: str) -> Difference | None:
    """The protected files that are not as they were at activation."""
    return protected_files.current_difference(context.closing_context(), context.load(goal_id))


def plan_rebase(context: Context, goal_id: str) -> Rebase:
    """What moving the pinned base would do; writes nothing."""
    return create.plan_rebase(
        context.closing_context(),
        ids.goal_id(goal_id),
        lambda goal, old: Pinning(context).rebased(goal, old),
        context.branch(),
    )


def do_rebase(context: Context, plan: Rebase) -> None:
    """Write an accepted plan."""
    create.do_rebase(
        context.closing_context(), plan, lambda goal, how: record_trust(context, goal, how)
    )
