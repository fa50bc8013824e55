"""``flow goal status``, ``list``, ``history``, ``inspect``: showing, never changing."""

from __future__ import annotations

from flow.app import goal_views
from flow.cli.parsing import CommandSpec, goal_argument, nothing, plain
from flow.render import text
from flow.render.status import status_lines
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _optional_goal(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)


def _show_status(args: argparse.Namespace, out: Output) -> int:
    goals = Goals(Context())
    document = goal_views.status(goals, goal_views.choose(goals, args.ID))
    out.result(document, status_lines(document, out.screen))
    out.warn(document["warnings"])
    return 0


def _list_goals(_args: argparse.Namespace, out: Output) -> int:
    document = goal_views.listing(Goals(Context()))
    out.result(document, text.goal_list(document, out.paint))
    out.warn(text.unreadable(document["unreadable"]))
    if not out.json and not document["goals"] and not document["unreadable"]:
        out.say("no goals yet; make one: flow goal create")
    return 0


def _history(args: argparse.Namespace, out: Output) -> int:
    from flow.app import goal_record

    goals = Goals(Context())
    document = goal_record.history(goals, goal_views.choose(goals, args.ID))
    out.result(document, text.history(document))
    out.warn(document["warnings"])
    return 0


def _inspect(args: argparse.Namespace, out: Output) -> int:
    from flow.app import goal_record

    goals = Goals(Context())
    document = plain(goal_record.inspect(goals, goal_views.choose(goals, args.ID)))
    out.result(document, text.inspect(document, out.paint))
    out.warn(document["warnings"])
    return 0


COMMANDS = {
    "status": CommandSpec("where a goal stands and what to do next", _optional_goal, _show_status),
    "list": CommandSpec("all goals of this repository", nothing, _list_goals),
    "history": CommandSpec("everything that happened to a goal", _optional_goal, _history),
    "inspect": CommandSpec(
        "the contract and the evidence behind each criterion", _optional_goal, _inspect
    ),
}
