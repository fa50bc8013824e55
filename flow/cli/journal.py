"""``flow journal``: the decisions on record."""

from __future__ import annotations

from flow.adapters.journal import journals
from flow.adapters.journal.store import metadata_from_pairs
from flow.app import goal_views
from flow.cli.parsing import CommandSpec, plain, usage_error, whole
from flow.core.text import display
from flow.render import records
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

_ISSUE = whole(1, 2**53, "an issue's number")


def _record_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--issue", metavar="N", type=_ISSUE, required=True, help="the issue whose journal it is")
    add("--type", metavar="T", required=True, help="the artifact's type")
    add(
        "--metadata",
        metavar="K=V",
        action="append",
        nargs="+",
        help="a field; a comma makes a list, digits a number (repeatable)",
    )


def _record_entry(args: argparse.Namespace, out: Output) -> int:
    pairs = [pair for group in args.metadata or () for pair in group]
    path = journals.record_entry(Context(), args.issue, args.type, metadata_from_pairs(pairs))
    document = {"issue": args.issue, "type": args.type, "path": path}
    out.result(document, [f"{out.screen.mark('proved')} recorded in {display.visible(path)}"])
    return 0


def _show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--issue", metavar="N", type=_ISSUE, help="the journal of this issue")
    parser.add_argument("--goal", metavar="ID", help="the journal this goal writes to")


def _show_journal(args: argparse.Namespace, out: Output) -> int:
    if args.issue is not None and args.goal is not None:
        raise usage_error("name the issue or the goal, not both", "flow journal show")
    context = Context()
    goal_id = args.goal
    if args.issue is None and goal_id is None:
        goal_id = goal_views.choose(Goals(context))
    path, journal = journals.read_journal(context, args.issue, goal_id)
    document = {"file": path, **plain(journal._asdict())}
    out.result(document, records.journal(document, out.screen))
    out.warn(journal.warnings)
    return 0


COMMANDS = {
    "record": CommandSpec(
        "add an artifact to an issue's journal", _record_arguments, _record_entry
    ),
    "show": CommandSpec(
        "the artifacts and the text of a journal (default: the branch's goal's)",
        _show_arguments,
        _show_journal,
    ),
}
