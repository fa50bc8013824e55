"""Resolves the goal or run that a command is about: the named one, or this branch's (SPEC 12)."""

from __future__ import annotations

import os

from flow.app import goal_views
from flow.cli.parsing import goal_argument, usage_error
from flow.core import layout
from flow.core.goal import ids
from flow.core.goal.lifecycle import UNDER_WAY
from flow.core.text.near import did_you_mean
from flow.errors import InputError, at_key
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable

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
        if not is_run_here(goals.top, ids.run_id(run_id)):
            from flow.adapters.chain.check import run_ids  # few are mistyped

            raise no_such_run(run_id, "--run-id", run_ids(goals.top))
        return run_id, None
    goal_id = goal_views.choose(goals, goal_id)
    return goals.run_of(goal_id), goal_id


def is_run_here(top: str, run_id: str) -> bool:
    """Whether the checkout has a folder of the run."""
    return os.path.lexists(os.path.join(top, layout.run_dir(run_id)))


def no_such_run(run_id: str, key: str, names: Iterable[str]) -> InputError:
    """The error for a run that is not here; ``names`` are those that may have been meant."""
    return at_key(key, run_id).not_found(
        f"there is no run {run_id} here{did_you_mean(run_id, names)}",
        "see the runs there are: ls .flow/runs",
    )
