"""``flow report``: a goal's record as one page to read."""

from __future__ import annotations

from flow.app import goal_record, goal_views
from flow.cli.parsing import CommandSpec, goal_argument
from flow.cli.written import off_limits, write_out
from flow.core.text import display
from flow.render.page import page
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser, optional=True)
    parser.add_argument("--output", metavar="F", help="write the page to F, not to stdout")


def _run_report(args: argparse.Namespace, out: Output) -> int:
    context = Context()
    goals = Goals(context)
    document = goal_record.report(goals, goal_views.choose(goals, args.ID))
    if args.output is None:
        if out.json:
            out.result(document, ())
        else:
            out.text(page(document))
        return 0
    write_out(args.output, page(document), "page", off_limits=off_limits(context))
    out.result({**document, "output": args.output}, [f"wrote {display.visible(args.output)}"])
    return 0


COMMAND = CommandSpec("write a goal's record as a page to read", _arguments, _run_report)
