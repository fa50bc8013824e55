"""``flow inbox --watch``: the inbox as it changes, and what waits now told to the desktop."""

from __future__ import annotations

import os
import sys

from flow.adapters.git.run import environment
from flow.adapters.process.environment import clean_environment
from flow.adapters.process.speaker import is_terminal
from flow.adapters.process.tool import run_tool
from flow.cli.output import Output, height_of, screen_of
from flow.core.standing.items import InboxChange, InboxItem, changes
from flow.errors import Interrupted
from flow.render.inbox import change_line, inbox_lines, notice
from flow.render.progress import Redrawn, rows_of, write
from flow.startup import ctrl_c
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from flow.render.screen import Screen

EVERY = 2.0
"""Seconds between two looks."""
_NOTIFY_LIMIT = 5.0
"""Seconds for ``notify-send``."""


def watch(
    read_items: Callable[[], Sequence[InboxItem]], args: argparse.Namespace, out: Output
) -> int:
    """Show the inbox until Ctrl-C; returns the exit status."""
    in_place = not out.json and is_terminal(sys.stdout)
    block = None
    if in_place and sys.stdout is not None:
        block = Redrawn(sys.stdout, lambda: screen_of(sys.stdout, out.environ).columns)
    before: Sequence[InboxItem] | None = None
    try:
        while True:
            now = read_items()
            news = changes(before or (), now)
            if block is not None:
                screen = screen_of(sys.stdout, out.environ)
                block.show(_fitting(inbox_lines(now, screen, whole=args.all), screen))
            else:
                _tell(news, out)
            if args.notify and before is not None:
                for change in news:
                    if change.into_waits:
                        _notify(change.item)
            before = now
            if not out.wait(EVERY):
                return 0
    except KeyboardInterrupt:
        ctrl_c.ignore()
        return Interrupted.exit_code


def _tell(news: Sequence[InboxChange], out: Output) -> None:
    for change in news:
        out.line(change.to_document(), change_line(change, out.screen))


def _fitting(lines: list[str], screen: Screen) -> list[str]:
    """The lines that the terminal can hold: more could not be drawn again in place."""
    height = height_of(sys.stdout)
    if rows_of(lines, screen.columns) < height:
        return lines
    shown = list(lines)
    while len(shown) > 1 and rows_of(shown, screen.columns) > height - 2:
        shown.pop()
    return [*shown, f"and {len(lines) - len(shown):,} more lines"]


def _notify(item: InboxItem) -> None:
    """One notification: by the terminal, else by the desktop; where neither takes it, none."""
    whose, why = notice(item)
    stream = next((s for s in (sys.stdout, sys.stderr) if s is not None and is_terminal(s)), None)
    if stream is not None and os.environ.get("TERM", "dumb") != "dumb":
        write(stream, f"\x1b]9;{whose}: {why}\x07")
        return
    env, _ = clean_environment(os.environ)
    env["PATH"] = environment()["PATH"]  # a program that lies in a checkout is the checkout's
    body = why.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    argv = ("notify-send", "--app-name=Flow", "--", whose, body)
    run_tool(argv, cwd="/", env=env, timeout=_NOTIFY_LIMIT)
