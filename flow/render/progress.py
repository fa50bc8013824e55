"""Progress while commands run: a live block at a terminal, plain lines anywhere else.

Implements :class:`flow.app.evaluation.values.Listener`. Rendering is a function of what is known
and the time, so that it can be tested without either a terminal or a clock; only :class:`Live` and
:class:`PlainProgress` write.
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
    room, kept = max(width - columns(mark), 0), []
    for char in text:
        room -= _char_width(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept) + mark if width >= columns(mark) else ""


def seconds(duration: float) -> str:
    """``0.3 s``, ``12 s``, ``2 min 5 s``."""
    if duration < 10:
        return f"{duration:.1f} s"
    if duration < 60:
        return f"{duration:.0f} s"
    return f"{int(duration) // 60} min {int(duration) % 60} s"


def ended_line(check: Check, result: CheckResult, *, unicode: bool) -> str:
    """What one ended command came to."""
    mark = (MARKS if unicode else PLAIN_MARKS).get(result.outcome, "-")
    text = f"{mark} {check.criterion_id}  {result.result} ({seconds(result.duration_seconds)})"
    said = result.reason in ("", result.result)
    return text if said else f"{text}: {visible(result.reason)}"


def asking_line(judge: str, what: str, limit: float) -> str:
    """Which judge is being asked what, and how long that may take, if there is a limit."""
    most = "" if limit == float("inf") else f" (at most {seconds(limit)})"
    return f"  judge  asks {visible(judge)}: {visible(what)}{most}"


def block(
    running: Sequence[Running], done: int, total: int, now: float, width: int, *, unicode: bool
) -> list[str]:
    """The live block: what runs, for how long, and what is done."""
    dots = "…" if unicode else "..."
    lines = [
        fit(
            f"  {one.criterion_id}  {seconds(now - one.since)}  {visible(one.command)}",
            width - 1,
            mark=dots,
        )
        for one in running[:MOST_LINES]
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
        """Remember how many there are."""
        self._total = len(checks)

    def ended(self, check: Check, result: CheckResult) -> None:
        """Say what it came to."""
        self._done += 1
        line = ended_line(check, result, unicode=self._unicode)
        self._say(f"{line}  [{self._done}/{self._total}]")

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """Say who is asked."""
        self._say(asking_line(judge, what, seconds))

    def _say(self, line: str) -> None:
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
        """Remember how many there are."""
        self._total = len(checks)

    def started(self, check: Check) -> None:
        """Show one more."""
        one = Running(check.criterion_id, check.command, self._now())
        self._running[check.criterion_id] = one
        self.ticked()

    def ticked(self) -> None:
        """Draw the block again, with the time as it is now."""
        self._draw(())

    def ended(self, check: Check, result: CheckResult) -> None:
        """Move one from the block to the lines above it."""
        self._running.pop(check.criterion_id, None)
        self._done += 1
        line = ended_line(check, result, unicode=self._unicode)
        line = fit(line, self._width() - 1, mark="…" if self._unicode else "...")
        if self._colour:
            line = f"\x1b[{COLOURS.get(result.outcome, '0')}m{line}\x1b[0m"
        self._draw((line,))

    def finished(self) -> None:
        """Take the block away; what ended stays."""
        write(self._stream, self._erase())
        self._drawn = 0

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """Say who is asked; nothing can be drawn until the answer is there, so the line stays."""
        dots = "…" if self._unicode else "..."
        self._draw_line(fit(asking_line(judge, what, seconds), self._width() - 1, mark=dots))

    def _draw_line(self, line: str) -> None:
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
        return  # whoever reads has gone; the evaluation goes on
