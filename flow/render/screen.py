"""The parts from which every screen is drawn: marks, colours, rows, rules, times. Pure.

A :class:`Screen` describes the reader's terminal or file; nothing here asks a terminal or a clock.
"""

from __future__ import annotations

import time

from flow.core import instant
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

COLOURS: Mapping[str, str] = {
    "proved": "32",
    "failed": "31",
    "undecided": "33",
    "outside": "35",
    "person": "36",
    "dim": "2",
    "bold": "1",
}
"""Terminal colours by meaning; ``person`` is a person's turn: a question, a line to type."""

MARKS: Mapping[str, tuple[str, str]] = {
    "proved": ("✓", "+"),
    "failed": ("✗", "x"),
    "undecided": ("◐", "?"),
    "outside": ("⊘", "!"),
    "unasked": ("○", "."),
    "running": ("▸", ">"),
    "contract": ("±", "~"),
    "flow": ("◎", "(o)"),
}
"""Marks by meaning, each with its replacement if the encoding lacks it."""

_MARK_STYLES = {"unasked": "dim", "running": "", "contract": "undecided", "flow": ""}

MEANING: Mapping[str, str] = {
    "passed": "proved",
    "pass": "proved",
    "achieved": "proved",
    "failed": "failed",
    "fail": "failed",
    "not_achieved": "failed",
    "inconclusive": "undecided",
    "waiting_for_user": "undecided",
    "waiting_for_ci": "undecided",
    "needs_human_review": "undecided",
    "evidence_collected": "undecided",
    "blocked": "outside",
    "active": "running",
    "not_run": "unasked",
    "not_executed": "unasked",
    "pending": "unasked",
    "draft": "unasked",
    "cancelled": "unasked",
}
"""The meaning, and so the mark, of a word in files: an outcome, a status, a verdict."""

LABEL = 10
"""Columns of the labels before a screen's last lines."""

_ASCII = {
    0x2026: "...",
    0x201C: '"',
    0x201D: '"',
    0x2500: "-",
    0xB7: ",",
    0x2212: "-",
    0x2192: "->",
}
_ASCII_MARKS = {ord(mark): plain for mark, plain in MARKS.values()}
_MARK_TEXTS = {mark for mark, _ in MARKS.values()} | {" "}
_NARROW = dict.fromkeys([*_ASCII, *_ASCII_MARKS], "x")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Styled(NamedTuple):
    """A text in one of :data:`COLOURS`; empty for none."""

    text: str
    style: str = ""


class Column(NamedTuple):
    """The layout of one column of a table.

    ``right`` aligns its cells to the right; those of the last column to the screen's edge. ``cut``
    lets it be cut if the row is too wide. A ``spare`` column is left out if it does not fit in
    full, a ``yields`` column if cutting the others is not enough.
    """

    head: str = ""
    right: bool = False
    cut: bool = False
    spare: bool = False
    yields: bool = False


class Screen(NamedTuple):
    """The capabilities of the reader's terminal or file.

    ``columns`` is the width of a terminal; None without one: then nothing is cut, and times are
    complete and in UTC. ``unicode`` is False if the encoding lacks marks and rules, or on a dumb
    terminal. ``now`` is in seconds since 1970.
    """

    columns: int | None = None
    colour: bool = False
    unicode: bool = True
    now: float = 0.0

    @property
    def width(self) -> int | None:
        """The columns that a line may take: one less than the terminal has, so that none wraps."""
        return None if self.columns is None else max(self.columns, 40) - 1

    def paint(self, style: str, text: str) -> str:
        """``text`` in a style of :data:`COLOURS`."""
        return f"\x1b[{COLOURS[style]}m{text}\x1b[0m" if self.colour and style and text else text

    def mark(self, meaning: str) -> str:
        """The mark of :data:`MARKS`, in its colour."""
        return self._painted(mark_of(meaning))

    def plain(self, text: str) -> str:
        """``text``, with ASCII for dots, rules and quotes if the screen needs that.

        A mark in it stays: it is part of foreign text.
        """
        return text if self.unicode else text.translate(_ASCII)

    def marks(self, text: str) -> str:
        """Flow's own marks, in ASCII if the screen needs that."""
        return text if self.unicode else text.translate(_ASCII_MARKS)

    def quote(self, words: str) -> str:
        """A person's words, made visible, in quotes."""
        return self.plain(f"“{visible(words)}”")

    def head(self, meaning: str, name: str, verdict: str, right: str = "") -> str:
        """A screen's first line: mark, name and verdict in bold, an explanation at the edge."""
        style = mark_of(meaning).style
        left = f"{mark_of(meaning).text} {visible(name)}  "
        space = self._space(measure(self.plain(f"{left}{verdict}")), measure(right))
        bold_name = self.paint("bold", visible(name))
        word = self.paint("bold", self.paint(style, verdict))
        line = f"{self.mark(meaning)} {bold_name}  {word}"
        return f"{line}{space}{self.paint('dim', right)}" if right else line

    def rule(self, title: str, right: str = "") -> str:
        """A line across the screen with a title, and a note at its end."""
        end = f" {right}" if right else ""
        width = self.width or 79
        title = self.cut(self.plain(title), max(width - measure(end) - 8, 8))
        fill = width - 4 - measure(title) - measure(end)
        return self.paint("dim", self.plain(f"── {title} " + "─" * max(fill, 2) + end))

    def cut(self, text: str, columns: int) -> str:
        """``text``, which must be visible already, in at most ``columns``."""
        if measure(text) <= columns:
            return text
        from flow.render.columns import fit

        return fit(text, columns, self.plain("…")).rstrip()

    def typed(self, line: str) -> str:
        """A command as a person types it here: at a terminal ``approve`` asks for the words."""
        return line if self.columns is None else line.replace(" --by NAME --note TEXT", "")

    def labelled(self, label: str, text: str, style: str = "", *, width: int = LABEL) -> str:
        """``next   do this``: a label and its text, which is never cut."""
        return f"{label:<{width}} {self.paint(style, text)}".rstrip()

    def wrapped(self, label: str, text: str, *, width: int = LABEL) -> list[str]:
        """A label and its text, broken at blanks to fit."""
        if self.width is None:
            return [self.labelled(label, text, width=width)]
        from flow.render.columns import wrap

        lines = wrap(text, max(self.width - width - 1, 20), 1_000, self.plain("…"))
        return [
            self.labelled(label if not place else "", line, width=width)
            for place, line in enumerate(lines)
        ]

    def table(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[str | Styled]],
        *,
        heads: bool = False,
    ) -> list[str]:
        """Rows as aligned columns, two blanks between them and one after a mark.

        Every text must be visible already. A first column of marks is one character wide. Heads are
        dim.
        """
        cells = [[_styled(cell, self) for cell in row] for row in rows]
        if heads:
            cells.insert(0, [Styled(column.head, "dim") for column in columns])
        if not cells:
            return []
        widths = [max(measure(row[at].text) for row in cells) for at in range(len(columns))]
        gaps = [1 if width == 1 and not at else 2 for at, width in enumerate(widths)]
        gaps[-1] = 0
        shown = self._fitted(columns, widths, gaps)
        return [self._line(row, columns, widths, gaps, shown) for row in cells]

    def _fitted(self, columns: Sequence[Column], widths: list[int], gaps: list[int]) -> list[int]:
        """The indexes of the shown columns; ``widths`` is changed to fit."""
        shown = [at for at in range(len(columns)) if widths[at]]
        if self.width is None:
            return shown

        def excess() -> int:
            total = sum(widths[at] + gaps[at] for at in shown)
            return total - gaps[shown[-1]] - (self.width or 0)

        for at in reversed(list(shown)):
            if columns[at].spare and excess() > 0:
                shown.remove(at)
        for at in shown:
            if columns[at].cut and excess() > 0:
                widths[at] = max(widths[at] - excess(), 8)
        for at in reversed(list(shown)):
            if columns[at].yields and excess() > 0:
                shown.remove(at)
        return shown

    def _line(
        self,
        row: Sequence[Styled],
        columns: Sequence[Column],
        widths: Sequence[int],
        gaps: Sequence[int],
        shown: Sequence[int],
    ) -> str:
        line, used = "", 0
        for place in shown:
            cell, last = row[place], place == shown[-1]
            text = self.cut(cell.text, widths[place]) if columns[place].cut else cell.text
            fill = max(widths[place] - measure(text), 0)
            if columns[place].right:
                edge = self.width if last and self.width is not None else None
                before = max(edge - used - measure(text), 0) if edge is not None else fill
                line += " " * before + self.paint(cell.style, text)
                used += before + measure(text)
            else:
                line += self.paint(cell.style, text) + " " * fill
                used += fill + measure(text)
            if not last:
                line += " " * gaps[place]
                used += gaps[place]
        return line.rstrip()

    def at(self, stamp: str) -> str:
        """A moment from a file (RFC 3339): local and short at a terminal, else complete and UTC."""
        moment = moment_of(stamp)
        if moment is None:
            return visible(stamp)
        if self.columns is None:
            return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(moment))
        local, today = time.localtime(moment), time.localtime(self.now)
        if local[:3] == today[:3]:
            return f"{local.tm_hour:02d}:{local.tm_min:02d}"
        day = f"{local.tm_mday} {_MONTHS[local.tm_mon - 1]}"
        return day if local.tm_year == today.tm_year else f"{day} {local.tm_year}"

    def age(self, stamp: str) -> str:
        """The age of a moment from a file: ``4 min``, ``1 h 18 m``, ``2 d``."""
        moment = moment_of(stamp)
        return visible(stamp) if moment is None else ago(self.now - moment)

    def _painted(self, cell: Styled) -> str:
        return self.paint(cell.style, self.marks(cell.text))

    def _space(self, left: int, right: int) -> str:
        return " " * max(2, (self.width or 0) - left - right)


def moment_of(stamp: str) -> float | None:
    """Seconds since 1970 of a moment from a file; None for any other text."""
    try:
        return instant.seconds(stamp)
    except (ValueError, IndexError):
        return None


def mark_of(meaning: str) -> Styled:
    """The mark for a cell; a table turns it into ASCII if the screen needs that."""
    return Styled(MARKS[meaning][0], _MARK_STYLES.get(meaning, meaning))


def _styled(cell: str | Styled, screen: Screen) -> Styled:
    text, style = (cell, "") if isinstance(cell, str) else cell
    own = _MARK_TEXTS.issuperset(text)
    return Styled(screen.marks(text) if own else screen.plain(text), style)


def measure(text: str) -> int:
    """Width of ``text`` in columns; that of Flow's own marks is known without a table."""
    if text.isascii() or text.translate(_NARROW).isascii():
        return len(text)
    from flow.render.columns import width

    return width(text)


def took(seconds: float) -> str:
    """A duration in words: ``1.2 s``, ``21 s``, ``3 min 24 s``, ``1 h 18 m``."""
    if seconds < 9.95:
        return f"{max(seconds, 0.0):.1f} s"
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} m"


def ago(seconds: float) -> str:
    """An age in words: ``now``, ``4 min``, ``1 h 18 m``, ``2 d``."""
    minutes = int(max(seconds, 0)) // 60
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60} m"
    return f"{minutes // (24 * 60)} d"


def lines_of(*blocks: Iterable[str]) -> list[str]:
    """Blocks with one empty line between them; empty blocks are left out."""
    lines: list[str] = []
    for block in map(list, blocks):
        if block:
            lines += ["", *block] if lines else block
    return lines
