"""Progress while commands run: a live block at a terminal, plain lines anywhere else.

Rendering is a function of the running commands and the time, so that it can be tested without a
terminal or a clock; only the listeners :class:`Live` and :class:`PlainProgress` write.
"""

from __future__ import annotations

import unicodedata

from flow.app.evaluation.values import Listener
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.ports import Check, CheckResult
    from flow.startup.typing import TextIO

MARKS: Mapping[str, str] = {"passed": "✓", "failed": "✗", "inconclusive": "?"}
PLAIN_MARKS: Mapping[str, str] = {"passed": "+", "failed": "x", "inconclusive": "?"}
COLOURS: Mapping[str, str] = {"passed": "32", "failed": "31", "inconclusive": "33"}
MOST_LINES = 8
"""Running commands that the live block shows; the others are counted."""


class Running(NamedTuple):
    """A command that has not ended. ``since`` is a monotonic time in seconds."""

    criterion_id: str
    command: str
    since: float


def progress(
    stream: TextIO,
    environ: Mapping[str, str],
    now: Callable[[], float],
    width: Callable[[], int],
) -> Listener:
    """The listener for ``stream``; ``now`` is monotonic seconds, ``width`` is in columns."""
    unicode = can_show("✓…", getattr(stream, "encoding", None))
    if stream.isatty() and environ.get("TERM", "dumb") != "dumb":
        colour = not environ.get("NO_COLOR")
        return Live(stream, now, width, unicode=unicode, colour=colour)
    return PlainProgress(stream)


def can_show(text: str, encoding: str | None) -> bool:
    """Whether ``encoding`` has every character of ``text``."""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def columns(text: str) -> int:
    """How many terminal columns ``text`` takes."""
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fit(text: str, width: int, *, mark: str = "…") -> str:
    """``text`` cut to ``width`` columns, the mark included."""
    if columns(text) <= width:
        return text
    room, head = max(width - columns(mark), 0), ""
    for char in text:
        room -= _char_width(char)
        if room < 0:
            break
        head += char
    return head + mark if width >= columns(mark) else ""


def seconds(duration: float) -> str:
    """``0.3 s``, ``12 s``, ``2 min 5 s``."""
    if duration < 10:
        return f"{duration:.1f} s"
    if duration < 60:
        return f"{duration:.0f} s"
    return f"{int(duration) // 60} min {int(duration) % 60} s"


def ended_line(check: Check, result: CheckResult, *, unicode: bool) -> str:
    """The result of one ended command."""
    mark = (MARKS if unicode else PLAIN_MARKS).get(result.outcome, "-")
    text = f"{mark} {check.criterion_id}  {result.result} ({seconds(result.duration_seconds)})"
    return text if result.reason in ("", result.result) else f"{text}: {visible(result.reason)}"


def asking_line(judge: str, what: str, limit: float) -> str:
    """A question to a judge, and its time limit, if there is one."""
    most = "" if limit == float("inf") else f" (at most {seconds(limit)})"
    return f"  judge  asks {visible(judge)}: {visible(what)}{most}"


def block(
    running: Sequence[Running], done: int, total: int, now: float, width: int, *, unicode: bool
) -> list[str]:
    """The live block: the running commands, their time, and the number of ended ones."""
    dots = "…" if unicode else "..."
    lines = [
        fit(
            f"  {each.criterion_id}  {seconds(now - each.since)}  {visible(each.command)}",
            width - 1,
            mark=dots,
        )
        for each in running[:MOST_LINES]
    ]
    if len(running) > MOST_LINES:
        lines.append(fit(f"  and {len(running) - MOST_LINES} more", width - 1, mark=dots))
    lines.append(fit(f"{done} of {total} done", width - 1, mark=dots))
    return lines


class PlainProgress(Listener):
    """One plain line for each command that ended."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._unicode = can_show("✓…", getattr(stream, "encoding", None))
        self._total = 0
        self._done = 0

    def planned(self, checks: Sequence[Check]) -> None:
        """Note the number of commands."""
        self._total = len(checks)

    def ended(self, check: Check, result: CheckResult) -> None:
        """Write its result."""
        self._done += 1
        line = ended_line(check, result, unicode=self._unicode)
        self._write_line(f"{line}  [{self._done}/{self._total}]")

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """Write the question."""
        self._write_line(asking_line(judge, what, seconds))

    def _write_line(self, line: str) -> None:
        write(self._stream, line + "\n")


class Live(Listener):
    """A block at the bottom of a terminal, redrawn in place; ended commands stay above it."""

    def __init__(
        self,
        stream: TextIO,
        now: Callable[[], float],
        width: Callable[[], int],
        *,
        unicode: bool,
        colour: bool,
    ) -> None:
        self._stream = stream
        self._now = now
        self._width = width
        self._unicode = unicode
        self._colour = colour
        self._running: dict[str, Running] = {}
        self._total = 0
        self._done = 0
        self._drawn = 0

    def planned(self, checks: Sequence[Check]) -> None:
        """Note the number of commands."""
        self._total = len(checks)

    def started(self, check: Check) -> None:
        """Add it to the block."""
        running = Running(check.criterion_id, check.command, self._now())
        self._running[check.criterion_id] = running
        self.ticked()

    def ticked(self) -> None:
        """Redraw the block with the present time."""
        self._draw(())

    def ended(self, check: Check, result: CheckResult) -> None:
        """Move it from the block to the lines above."""
        self._running.pop(check.criterion_id, None)
        self._done += 1
        line = ended_line(check, result, unicode=self._unicode)
        line = fit(line, self._width() - 1, mark="…" if self._unicode else "...")
        if self._colour:
            line = f"\x1b[{COLOURS.get(result.outcome, '0')}m{line}\x1b[0m"
        self._draw((line,))

    def finished(self) -> None:
        """Erase the block; the lines of ended commands stay."""
        write(self._stream, self._erase())
        self._drawn = 0

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """Write the question; nothing is drawn until the answer comes, so the line stays."""
        dots = "…" if self._unicode else "..."
        line = fit(asking_line(judge, what, seconds), self._width() - 1, mark=dots)
        write(self._stream, f"{self._erase()}{line}\n")
        self._drawn = 0

    def _erase(self) -> str:
        return f"\r\x1b[{self._drawn}A\x1b[J" if self._drawn else ""

    def _draw(self, above: Sequence[str]) -> None:
        lines = block(
            list(self._running.values()),
            self._done,
            self._total,
            self._now(),
            self._width(),
            unicode=self._unicode,
        )
        write(self._stream, self._erase() + "".join(f"{line}\n" for line in (*above, *lines)))
        self._drawn = len(lines)


def write(stream: TextIO, text: str) -> None:
    """Write and flush. Characters the stream lacks are replaced, a closed one is ignored."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except (OSError, ValueError):
        return  # the reader has gone; the evaluation goes on
