"""``flow goal status``, ``list``, ``history``, ``inspect``: showing, never changing."""

from __future__ import annotations

from flow.app import goal_views
from flow.cli.parsing import goal_argument, listed, plain
from flow.core.goal.lifecycle import STATUSES
from flow.core.text.near import did_you_mean
from flow.errors import at_key
from flow.render import text
from flow.render.goal.standing import standing
from flow.render.goal.status import TURNS, status_lines
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _show_status(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goals = Goals(context)
    most = goal_views.MOST_TURNS if out.json else TURNS  # a line has no room for more
    document = goal_views.status(goals, goal_views.choose(goals, args.ID), most)
    context.note_use()
    if out.json:
        document["state"] = standing(document).words
    out.result(document, status_lines(document, out.screen))
    out.warn(document["warnings"])
    return 0


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all-branches",
        action="store_true",
        help="also those of other branches, read from git, and of other working trees",
    )
    parser.add_argument(
        "--status",
        action="append",
        metavar="S",
        help=f"only these statuses, separated by commas: {', '.join(STATUSES)}",
    )
    parser.add_argument(
        "--ids", action="store_true", help="print ids only, one a line: for scripts"
    )


def _list_goals(args: argparse.Namespace, out: Output) -> int:
    from flow.app.goal_list import goal_list
    from flow.render.goal.goal_list import goal_list_lines, none_here, unreadable_lines

    statuses = listed(args.status, "--status", "flow goal list", "status")
    for status in statuses:
        if status not in STATUSES:
            raise at_key("--status", status).invalid(
                f"{status[:40]!r} is no status{did_you_mean(status, STATUSES)}",
                f"one of {', '.join(STATUSES)}",
                code="usage",
            )
    context = Context()
    document = goal_list(Goals(context), all_branches=args.all_branches, statuses=statuses)
    if document["goals"] or document["unreadable"]:
        context.note_use()
    if out.json:
        for goal in document["goals"]:
            goal["state"] = standing(goal).words
    if args.ids:
        out.result(document, dict.fromkeys(goal["goal_id"] for goal in document["goals"]))
        return 0
    out.result(document, goal_list_lines(document, out.screen))
    out.warn(unreadable_lines(document["unreadable"]))
    told = none_here(document, statuses)
    if told and not out.json:
        out.say(told)
    return 0


def _history_arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    parser.add_argument(
        "--details", action="store_true", help="every event with its fields, evidence too"
    )


def _history(args: argparse.Namespace, out: Output) -> int:
    from flow.app import goal_record
    from flow.render.goal.history import history_lines

    goals = Goals(Context())
    document = goal_record.history(goals, goal_views.choose(goals, args.ID))
    shown = text.history(document) if args.details else history_lines(document, out.screen)
    out.result(document, shown)
    out.warn(document["warnings"])
    return 0


def _inspect(args: argparse.Namespace, out: Output) -> int:
    from flow.app import goal_record
    from flow.render.goal.inspect import inspect_lines

    goals = Goals(Context())
    document = plain(goal_record.inspect(goals, goal_views.choose(goals, args.ID)))
    out.result(document, inspect_lines(document, out.screen))
    out.warn(document["warnings"])
    return 0


COMMANDS = {
    "status": (goal_argument, _show_status),
    "list": (_list_arguments, _list_goals),
    "history": (_history_arguments, _history),
    "inspect": (goal_argument, _inspect),
}
