"""Resolves the goal or run that a command is about: the named one, or this branch's (SPEC 12)."""

from __future__ import annotations

from flow.app import goal_views
from flow.cli.parsing import goal_argument, usage_error
from flow.core.goal import ids
from flow.core.goal.lifecycle import UNDER_WAY
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

    from flow.wiring.context import Context

DRAFTS = frozenset({"draft"})
STOPPED = UNDER_WAY - {"active"}


def goal_to_act_on(
    context: Context, args: argparse.Namespace, states: Collection[str] = UNDER_WAY
) -> str:
    """The id that ``args`` names; without one this branch's goal in ``states``.

    Raises :class:`StateError` if several goals may be meant, :class:`InputError` if none is.
    """
    return ids.goal_id(goal_views.choose(Goals(context), args.ID, states))


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a goal's ``ID`` and ``--run-id``, which :func:`run_of_goal` reads."""
    goal_argument(parser)
    parser.add_argument("--run-id", metavar="R", help="this run instead of the goal's")


def run_of_goal(
    goals: Goals, run_id: str | None, goal_id: str | None, prog: str
) -> tuple[str, str | None]:
    """The run that is meant, and its goal where that is known."""
    if run_id is not None and goal_id is not None:
        raise usage_error("name the goal or the run, not both", prog)
    if run_id is not None:
        return ids.run_id(run_id), None
    goal_id = goal_views.choose(goals, goal_id)
    return goals.run_of(goal_id), goal_id
