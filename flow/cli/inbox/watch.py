"""``flow inbox --watch``: the inbox as it changes, and what waits now told to the desktop."""

from __future__ import annotations

import os
import sys
import time

from flow.adapters.git.run import environment
from flow.adapters.process.speaker import is_terminal
from flow.adapters.process.tool import clean_environment, run_tool
from flow.cli.output import screen_of
from flow.core.standing.items import changes
from flow.errors import Interrupted
from flow.render.inbox import change_line, inbox_lines, notice
from flow.render.progress import Redrawn
from flow.startup import ctrl_c
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from flow.cli.output import Output
    from flow.core.standing.items import InboxChange, InboxItem

EVERY = 2.0
"""Seconds between two looks."""
_NOTIFY_LIMIT = 5.0
"""Seconds for ``notify-send``."""


def watch(look: Callable[[], Sequence[InboxItem]], args: argparse.Namespace, out: Output) -> int:
    """Show the inbox until Ctrl-C; returns the exit status."""
    in_place = not out.json and is_terminal(sys.stdout)
    block = Redrawn(sys.stdout) if in_place and sys.stdout is not None else None
    before: Sequence[InboxItem] | None = None
    try:
        while True:
            now = look()
            news = changes(before or (), now)
            if block is not None:
                screen = screen_of(sys.stdout, out.environ)
                block.show(_fitting(inbox_lines(now, screen, whole=args.all)))
            else:
                _tell(news, out)
            if args.notify and before is not None:
                for change in news:
                    if change.into_waits:
                        _notify(change.item)
            if not out.is_read:
                return 0
            before = now
            time.sleep(EVERY)
    except KeyboardInterrupt:
        ctrl_c.ignore()
        return Interrupted.exit_code


def _tell(news: Sequence[InboxChange], out: Output) -> None:
    for change in news:
        out.line(change.to_document(), change_line(change, out.screen))


def _fitting(lines: list[str]) -> list[str]:
    """The lines that the terminal can hold: more could not be drawn again in place."""
    try:
        height = os.get_terminal_size(1).lines or 24
    except OSError:
        height = 24
    if len(lines) < height:
        return lines
    return [*lines[: max(height - 2, 1)], f"and {len(lines) - max(height - 2, 1):,} more lines"]


def _notify(item: InboxItem) -> None:
    """One notification: by the terminal, else by the desktop; where neither takes it, none."""
    whose, why = notice(item)
    stream = next((s for s in (sys.stdout, sys.stderr) if is_terminal(s)), None)
    if stream is not None:
        stream.write(f"\x1b]9;{whose}: {why}\x07")
        stream.flush()
        return
    env, _ = clean_environment(os.environ)
    env["PATH"] = environment()["PATH"]  # a program that lies in a checkout is the checkout's
    body = why.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    argv = ("notify-send", "--app-name=Flow", "--", whose, body)
    run_tool(argv, cwd="/", env=env, timeout=_NOTIFY_LIMIT)
