"""``flow report``: a goal's record as a page to look at."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from flow.app import goal_record, goal_views
from flow.app.report.gather import goal_report
from flow.cli.inbox import query, query_arguments
from flow.cli.output_file import off_limits, refuse_foreign, refuse_own, write_out
from flow.cli.parsing import CommandSpec, goal_argument, usage_error
from flow.cli.verdict_screen import recorded_outputs
from flow.core.layout import goal_file
from flow.core.text import display
from flow.errors import at_key
from flow.render.page.frame import is_page
from flow.render.page.goal import goal_page
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

_UNSAFE = re.compile(r"[^\w.+@-]+")
_LONGEST = 120
"""Bytes of a repository's name in its page's name."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    goal_argument(parser)
    parser.add_argument(
        "--output", metavar="F", help="write the page to F (-: standard output), not to the cache"
    )
    parser.add_argument(
        "--all", action="store_true", help="a folder of pages, and one over every goal of the inbox"
    )
    parser.add_argument(
        "--bundle",
        metavar="FILE",
        action="extend",
        nargs="+",
        default=[],
        help="the same of exported bundles, as of other machines; beside --all both",
    )
    query_arguments(parser)
    parser.add_argument("--open", action="store_true", help="open the page in the browser")


def _run_report(args: argparse.Namespace, out: Output) -> int:
    if args.open and args.output == "-":
        raise usage_error("--open needs a file, and --output - writes none", "flow report")
    if out.json and args.output == "-":
        raise usage_error("--json and --output - both want standard output", "flow report")
    if args.all or args.bundle:
        return _run_all(args, out)
    _refuse_choosing(args)
    context = Context()
    goals = Goals(context)
    goal_id = goal_views.choose(goals, args.ID)
    if out.json and args.output is None:
        out.result(goal_record.report(goals, goal_id), ())
        return 0
    text = goal_page(goal_report(goals, recorded_outputs(context), goal_id, __version__))
    if args.output == "-":
        out.text(text)
        return 0
    named = args.output is not None  # an empty name, of a variable that is not set, is none
    path = args.output if named else _own_path(context, goal_id)
    limits = off_limits(context) if named else ()
    if named:
        refuse_own(path, limits)
        refuse_foreign(path, is_page)
    write_out(path, text, "page", off_limits=limits)
    document = {**goal_record.report(goals, goal_id), "output": path} if out.json else {}
    out.result(document, [display.visible(path)])
    if args.open:
        _open(path, out)
    return 0


def _refuse_choosing(args: argparse.Namespace) -> None:
    if args.repo or args.exclude or args.since is not None:
        raise usage_error("--repo, --exclude and --since go with --all", "flow report")


def _run_all(args: argparse.Namespace, out: Output) -> int:
    from flow.cli.report.every import write_all

    if args.ID is not None or args.output == "-":
        what = "one goal" if args.ID is not None else "standard output"
        raise usage_error(f"--all and --bundle write a folder, not {what}", "flow report")
    if not args.all:
        _refuse_choosing(args)
    pages = write_all(args.output, args.bundle, query(args) if args.all else None)
    out.result(pages.to_document(), [display.visible(pages.path)])
    if not out.json:
        for error in pages.unreadable:
            out.say(f"flow: {error}")
    if args.open:
        _open(pages.path, out)
    return max((error.exit_code for error in pages.unreadable), default=0)


def _own_path(context: Context, goal_id: str) -> str:
    """``<cache>/reports/<repo>-<goal>.html``; with a digest where another goal has that name."""
    folder = context.cache("reports")
    if folder is None:
        raise at_key("--output").storage(
            "there is no cache folder that could be written", "name a file: flow report --output F"
        )
    repository = _UNSAFE.sub("-", os.path.basename(context.top)).encode()[:_LONGEST]
    name = f"{repository.decode(errors='ignore') or 'root'}-{goal_id}"
    goal = os.path.join(context.top, goal_file(goal_id))
    if not _is_named(os.path.join(folder, f".{name}.of"), goal):
        name += f"-{sha256(os.fsencode(goal)).hexdigest()[:8]}"
    return os.path.join(folder, f"{name}.html")


def _is_named(mark: str, goal: str) -> bool:
    """Whether the page beside ``mark``, which holds the path of a goal's file, is ``goal``'s.

    Another folder of the same name has other pages. The first goal takes a name, and one whose
    checkout is gone gives it back.
    """
    try:
        with suppress(FileNotFoundError):
            if not os.path.isdir(os.path.dirname(_read(mark))):
                os.unlink(mark)
        with suppress(FileExistsError):
            fd = os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with open(fd, "wb") as file:
                file.write(os.fsencode(goal))
        return _read(mark) == goal
    except OSError:
        return False


def _read(mark: str) -> str:
    fd = os.open(mark, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        return os.fsdecode(file.read(1 << 16))


def _open(path: str, out: Output) -> None:
    import webbrowser

    if not webbrowser.open(Path(os.path.abspath(path)).as_uri()):
        out.say("no browser could be started; open the file above")


COMMAND = CommandSpec(
    "write a goal's record as a page to look at",
    _arguments,
    _run_report,
    "exit status: 0 done; 2 wrong call, or a bundle that cannot be read: its row says why, and\n"
    "the others have their pages; 5 disk, git or lock failed",
)
