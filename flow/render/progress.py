"""Progress while commands run: a live table at a terminal, plain lines anywhere else.

Rendering is a function of the state and the time, so that it can be tested without a terminal or a
clock; only the listeners :class:`ProgressTable` and :class:`PlainProgress` write.
"""

from __future__ import annotations

from flow.app.evaluation.values import Listener
from flow.core.text.display import clip, visible
from flow.errors import more_than
from flow.render.screen import Column, Screen, Styled, mark_of, measure, took
from flow.startup import re
from flow.startup.typing import TYPE_CHECKING, NamedTuple, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from flow.app.checks import Check, CheckResult

WIDE = 119
"""Least width, in columns, for commands in the table."""
_TEXT = 200
_MOST_COMMAND = 48
_LEAST_ROWS = 3
_ROUNDED = 10
"""Seconds to which an estimate of more than a minute is rounded."""
_MEANINGS = {"passed": "proved", "failed": "failed"}
"""Word and mark of an outcome; of any other: undecided."""


class ProgressRow(NamedTuple):
    """A criterion of the table. ``last`` is the duration of its command's last run, in seconds."""

    criterion_id: str
    text: str
    command: str
    state: str
    """The state while it does not run: ``waits``, ``judge, at the end``."""
    last: float | None = None
    meaning: str = "unasked"
    since: float | None = None
    """The moment of its start, in monotonic seconds; None if it does not run."""
    seconds: float | None = None
    """Seconds that it took; None if it has not ended."""


class ProgressHead(NamedTuple):
    """The table's first line."""

    goal_id: str
    turn: int
    at: str
    """The time of day."""


def write(stream: TextIO, text: str) -> None:
    """Write and flush. Characters that the stream lacks are replaced, a closed one is ignored."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except (OSError, ValueError):
        return  # the reader has gone; the evaluation continues


def result_words(result: CheckResult) -> str:
    """``exit 0``, ``timeout``, ``exit 0, masked``."""
    kind = result.reason.partition(": ")[0]
    known = kind in ("masked", "vacuous", "flaky", "not red")
    return visible(f"{result.result}, {kind}" if known else result.result)


def asking_words(judge: str, what: str, limit: float) -> str:
    """A question to a judge, and its time limit in seconds, if there is one."""
    most = "" if limit == float("inf") else f" (at most {took(limit)})"
    return f"asks {visible(judge)}: {visible(what)}{most}"


class PlainProgress(Listener):
    """One plain line for each criterion whose command has ended."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._total = self._done = 0
        self._where = ""

    def planned(self, checks: Sequence[Check], where: str = "") -> None:
        """Note the number of commands."""
        self._total, self._done, self._where = len(checks), 0, where

    def ended(self, check: Check, result: CheckResult) -> None:
        """Write the criterion's result."""
        self._done += 1
        word = _MEANINGS.get(result.outcome, "undecided")
        if self._where:
            word = f"{self._where}: {'passed' if result.outcome == 'passed' else word}"
        words = f"{word}, {result_words(result)}, {took(result.duration_seconds)}"
        write(self._stream, f"[{self._done}/{self._total}] {check.criterion_id} {words}\n")

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """Write the question."""
        write(self._stream, f"[judge] {asking_words(judge, what, seconds)}\n")


class Redrawn:
    """Lines on a terminal that are drawn again in place.

    ``columns`` returns the terminal's present width: a wider line takes several rows. Rows are
    overwritten one by one: many terminals keep a screen that is erased from its first cell on, and
    after a day of it all that was above is lost.
    """

    def __init__(self, stream: TextIO, columns: Callable[[], int | None]) -> None:
        self._stream, self._columns = stream, columns
        self._drawn: Sequence[str] = ()

    def show(self, lines: Sequence[str]) -> None:
        """Draw these lines in place of the previous ones."""
        columns = self._columns()
        rows = rows_of(self._drawn, columns) if self._drawn else 0
        ends = ["\n" if _fills(line, columns) or not rows else "\x1b[K\n" for line in lines]
        text = "".join(line + end for line, end in zip(lines, ends, strict=True))
        if rows:
            below = "\x1b[J" if lines else "\x1b[K\n" * rows + f"\x1b[{rows}A"
            text = f"\r\x1b[{rows}A{text}{below}"
        write(self._stream, text)
        self._drawn = [*lines]


def rows_of(lines: Iterable[str], columns: int | None) -> int:
    """Number of a terminal's rows that the lines take; colours take none."""
    return sum(max(-(-_width(line) // columns), 1) if columns else 1 for line in lines)


def _width(line: str) -> int:
    return measure(re.sub(r"\x1b\[[0-9;]*m", "", line))


def _fills(line: str, columns: int | None) -> bool:
    """Whether the last row of a line is full: erasing its rest would erase its last character."""
    width = _width(line)
    return bool(width and columns) and width % (columns or 1) == 0


class ProgressTable(Listener):
    """The whole table on a terminal, redrawn in place once a second; it leaves nothing behind."""

    def __init__(
        self,
        stream: TextIO,
        now: Callable[[], float],
        screen: Callable[[], Screen],
        height: Callable[[], int],
        head: ProgressHead,
        rows: Sequence[ProgressRow],
    ) -> None:
        """``now`` returns monotonic seconds, ``height`` the number of the terminal's lines."""
        self._block = Redrawn(stream, lambda: screen().columns)
        self._now, self._screen, self._height = now, screen, height
        self._head, self._rows = head, {row.criterion_id: row for row in rows}
        self._planned: dict[str, Check] = {}
        self._where = self._asked = ""
        self._second = -1

    def planned(self, checks: Sequence[Check], where: str = "") -> None:
        """Mark the rows of all planned commands as waiting."""
        self._planned, self._where = {check.criterion_id: check for check in checks}, where
        for check in checks:
            row = self._rows.get(check.criterion_id)
            row = row or ProgressRow(check.criterion_id, "", check.command, "waits")
            self._rows[check.criterion_id] = row._replace(
                meaning="unasked", state="waits", since=None, seconds=None
            )
        self._draw()

    def started(self, check: Check) -> None:
        """Mark the check's row as running; if it runs again, its time continues."""
        row = self._rows[check.criterion_id]
        since = self._now() if row.since is None else row.since
        self._rows[check.criterion_id] = row._replace(meaning="running", since=since)
        self._draw()

    def ended(self, check: Check, result: CheckResult) -> None:
        """Put the result into the check's row."""
        row = self._rows[check.criterion_id]
        words = result_words(result)
        self._rows[check.criterion_id] = row._replace(
            meaning=_MEANINGS.get(result.outcome, "undecided"),
            state=f"{words} {self._where}".rstrip(),
            since=None,
            seconds=result.duration_seconds,
        )
        self._draw()

    def ticked(self) -> None:
        """Draw again, once a second."""
        if int(self._now()) != self._second:
            self._draw()

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """Show the question; nothing is drawn until the answer comes."""
        self._asked = asking_words(judge, what, seconds)
        self._draw()

    def finished(self) -> None:
        """Erase the table."""
        self._block.show(())

    def _draw(self) -> None:
        now, screen = self._now(), self._screen()
        rows = list(self._rows.values())
        last = self._asked or _summary(rows, self._planned, now, self._where)
        lines = table_lines(self._head, rows, last, now, screen, self._height())
        self._block.show(lines)
        self._second = int(now)


def table_lines(
    head: ProgressHead,
    rows: Sequence[ProgressRow],
    last: str,
    now: float,
    screen: Screen,
    height: int,
) -> list[str]:
    """The table's lines; if not all rows fit, the running ones come first."""
    width = screen.width or 79
    room = max(height - 5 - last.count("\n"), _LEAST_ROWS)
    shown = rows
    if len(rows) > room:
        chosen = sorted(range(len(rows)), key=lambda at: (rows[at].since is None, at))[: room - 1]
        shown = [rows[at] for at in sorted(chosen)]
    columns = [Column(), Column(), Column(cut=True)]
    columns += [Column(spare=True), Column(), Column(right=True)]
    table = screen.table(columns, [_cells(row, now, width) for row in shown])
    table += more_than(len(rows), "", len(shown))
    left = f"{clip(visible(head.goal_id), max(width - 24, 8))}  turn {head.turn}"
    space = " " * max(width - len(left) - len(head.at), 2)
    first = f"{screen.paint('bold', left)}{space}{screen.paint('dim', head.at)}"
    foot = [screen.paint("dim", screen.cut(screen.plain(line), width)) for line in last.split("\n")]
    return [first, "", *table, "", *foot]


def _cells(row: ProgressRow, now: float, width: int) -> list[str | Styled]:
    state, seconds = row.state, row.seconds
    if row.since is not None:
        seconds = now - row.since
        state = "runs" if row.last is None else f"runs, last {took(row.last)}"
    command = visible(row.command) if len(row.command) <= _MOST_COMMAND else ""
    return [
        mark_of(row.meaning),
        row.criterion_id,
        clip(visible(" ".join(row.text.split())), _TEXT),
        command if width >= WIDE else "",
        state,
        Styled("" if seconds is None else took(seconds), "dim"),
    ]


def _summary(rows: Sequence[ProgressRow], planned: Container[str], now: float, where: str) -> str:
    """``2 of 4 commands, about 2 min 20 s to go``; no estimate if a last time is missing."""
    due = [row for row in rows if row.criterion_id in planned]
    left = [row for row in due if row.seconds is None]
    count = f"{len(due) - len(left)} of {len(due)} command{'' if len(due) == 1 else 's'}"
    text = f"{count} {where}".rstrip()
    if left and all(row.last is not None for row in left):
        seconds = sum(_remaining(row, now) for row in left)
        about = f"{max(round(seconds), 1)} s"
        if seconds > 60:
            about = took(round(seconds / _ROUNDED) * _ROUNDED)
        text += f", about {about} to go"
    return f"{text}. Ctrl-C ends them, no turn is counted."


def _remaining(row: ProgressRow, now: float) -> float:
    run = 0.0 if row.since is None else now - row.since
    return max((row.last or 0.0) - run, 0.0)
