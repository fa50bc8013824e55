"""``flow inbox``: what waits for a person, over every checkout they work in."""

from __future__ import annotations

import argparse
import re

from flow.cli.parsing import CommandSpec, usage_error
from flow.core.standing.items import SECTIONS, to_document
from flow.core.text.display import visible
from flow.errors import PersonNeeded, at_key
from flow.render.inbox import inbox_lines
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.inbox.finder import InboxQuery
    from flow.cli.output import Output

WAITS = PersonNeeded.exit_code
_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_LONGEST = 100 * 365 * 86400.0


def age(text: str) -> float:
    """A type for argparse: seconds, from ``30m``, ``12h``, ``7d`` or ``2w``."""
    parts = re.fullmatch(r"([0-9]{1,6})([mhdw])", text, re.ASCII)
    if parts is None:
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no length of time: a number and m, h, d or w, as in 7d"
        )
    return min(int(parts[1]) * _UNITS[parts[2]], _LONGEST)


def query_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that choose among the inbox's rows."""
    add = parser.add_argument
    add("--repo", action="append", default=[], metavar="PATH", help="only this repository")
    add(
        "--exclude",
        action="append",
        default=[],
        metavar="GLOB",
        help="leave out checkouts whose path or folder's name matches",
    )
    add("--since", type=age, metavar="AGE", help="tell goals closed since (7d)")


def query(args: argparse.Namespace) -> InboxQuery:
    """The query that these arguments describe."""
    from flow.adapters.inbox.finder import InboxQuery

    chosen = InboxQuery(tuple(args.repo), tuple(args.exclude))
    return chosen if args.since is None else chosen._replace(since=args.since)


def _arguments(parser: argparse.ArgumentParser) -> None:
    query_arguments(parser)
    add = parser.add_argument
    add("--all", action="store_true", help="every row of every section, with its checkout")
    add("--watch", action="store_true", help="go on: redraw in place, or a line for each change")
    add("--notify", action="store_true", help="with --watch: tell the desktop what waits now")
    add("--exit-code", action="store_true", help="exit with 4 where something waits for you")


def _show(args: argparse.Namespace, out: Output) -> int:
    from flow.wiring.inbox import read_inbox

    if args.watch:
        if args.exit_code:
            raise usage_error("--watch ends with Ctrl-C alone", "flow inbox", key="--exit-code")
        from flow.cli.inbox.watch import watch

        return watch(lambda: read_inbox(query(args)).rows, args, out)
    if args.notify:
        raise usage_error("goes with --watch", "flow inbox", key="--notify")
    items = read_inbox(query(args)).rows
    out.result(to_document(items), inbox_lines(items, out.screen, whole=args.all))
    waits = any(item.section == SECTIONS[0] for item in items)
    return WAITS if waits and args.exit_code else 0


def _forget_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("PATH", help="the checkout, which may be gone")


def _forget(args: argparse.Namespace, out: Output) -> int:
    from flow.adapters.inbox.finder import forget

    top = forget(args.PATH)
    if top is None:
        raise at_key("PATH", args.PATH).not_found(
            "the inbox knows no such checkout", "flow inbox --all names them"
        )
    mark = out.screen.mark("proved")
    lines = [f"{mark} {visible(top)} is left out of the inbox; flow inbox --repo shows it"]
    out.result({"forgotten": top}, lines)
    return 0


COMMAND = CommandSpec(
    "what waits for you, over every checkout you work in",
    _arguments,
    _show,
    "exit status: 0, and with --exit-code 4 where something waits for you; Ctrl-C ends --watch "
    "with 130\n\n"
    "flow inbox forget PATH leaves a checkout out",
)
COMMANDS = {
    "forget": CommandSpec(
        "leave a checkout out of the inbox; trust and hooks keep what they know",
        _forget_arguments,
        _forget,
    )
}
