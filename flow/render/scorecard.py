"""A scorecard as the seed draws it, and a skill's history; from ``--json`` documents. Pure."""

from __future__ import annotations

import shlex
from decimal import Decimal

from flow.core.judging.scorecard.model import NAMES, blocks, grade_name
from flow.errors import more_than
from flow.render.columns import clean, encodable, fit, width, wrap
from flow.render.screen import Column, Screen, Styled, lines_of
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.render.text import Document, Paint

WIDTH = 61
"""Columns of the box without a terminal: as in the seed's drawing."""
MOST = 120
LEAST = 4
SHOWN = 30
"""The newest cards of a history that are listed and drawn in its trend, at most."""
_NAME, _BAR, _SCORE = 15, 10, 8
_ADVICE_LINES = 4
_NOTES, _NOTE_LINES = 3, 2
"""Notes in the box, and lines of each; the others, and what is cut, stand below it."""
_ALL = 10**6
"""Lines of a text that is not cut."""
_JUSTIFICATION = 5
"""Columns below which a justification is left out."""


class Drawing(NamedTuple):
    """The characters of a box; each takes one column."""

    top: str
    middle: str
    bottom: str
    side: str
    full: str
    empty: str
    dash: str
    ellipsis: str
    arrow: str
    sparks: str
    """The characters of a trend, the lowest first."""


UNICODE = Drawing("╔═╗", "╠═╣", "╚═╝", "║", "█", "░", "—", "…", "→", "▁▂▃▄▅▆▇█")
ASCII = Drawing("+=+", "+=+", "+=+", "|", "#", ".", "-", "...", ">", "_.-=*^#@")


def drawing(encoding: str) -> Drawing:
    """The characters for text in ``encoding``."""
    try:
        "".join(UNICODE).encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return ASCII
    return UNICODE


def stored_news(document: Document, file: str) -> str:
    """The message about a card that was stored while no person was at the terminal."""
    show = f"flow judge history {shlex.quote(document['skill'])} --card {file.rpartition('/')[2]}"
    lines = ScorecardBox(document, lambda _style, text: text).lines()
    tail = (f"stored as {file}", f"whole: {show}")
    return "\n".join([f"scorecard of {document['skill']}", *lines, *tail])


class ScorecardBox:
    """A card as a box of at most 120 columns, and its texts below the box."""

    def __init__(
        self, card: Document, paint: Paint, *, columns: int = WIDTH, encoding: str = "utf-8"
    ) -> None:
        columns = max(min(columns, MOST), LEAST)
        self._columns = columns
        self._card, self._paint, self._encoding = card, paint, encoding
        self._draw = drawing(encoding)
        self._inner = columns - 2
        self._left, self._right = (2, 1) if self._inner >= 12 else (0, 0)
        self._body = self._inner - self._left - self._right
        self._room = self._body - _NAME - _BAR - 2 - _SCORE
        """Columns of a justification."""

    def lines(self) -> list[str]:
        """The box; all its lines have the same width."""
        card, draw = self._card, self._draw
        title = f"VERDICT SCORECARD {draw.dash} {card['skill']}"
        whole = f"COMPOSITE: {card['composite']:.2f}/10 {draw.dash} Grade: {card['grade']}"
        why = f" ({card['rubricWhy']})" if card.get("rubricWhy") else ""
        lines = [self._rule(draw.top), self._line(self._clean(title), "bold")]
        lines.append(self._rule(draw.middle))
        lines += [self._row(name, card["dimensions"][name]) for name in NAMES]
        lines += [
            self._rule(draw.middle),
            *self._paragraph(whole, 3, _score_style(card["composite"])),
        ]
        for issue in card["criticalIssues"]:
            lines += self._paragraph(f"Critical: {issue}", 2, "failed")
        for text in card["recommendations"][:1]:
            lines += self._paragraph(f"{draw.arrow} {text}", _ADVICE_LINES)
        lines += self._paragraph(f"Rubric: {card['rubricUsed']}{why}", 3, "dim")
        for note in card.get("notes", ())[:_NOTES]:
            lines += self._paragraph(note, _NOTE_LINES, "undecided")
        return [*lines, self._rule(draw.bottom)]

    def _row(self, name: str, row: Document) -> str:
        score = f"{row['score']:.1f}/10"
        style = _score_style(row["score"])
        filled = blocks(Decimal(str(row["score"])))
        bar = self._draw.full * filled + self._draw.empty * (_BAR - filled)
        label = fit(name.capitalize(), _NAME)
        room = self._room
        if room >= _JUSTIFICATION:
            words = fit(self._justification(row), room, self._draw.ellipsis)
            return self._raw(f"{label}{self._paint(style, bar)}  {score:<{_SCORE}}{words}")
        if room >= -1:
            rest = " " * (self._body - _NAME - _BAR - 2)
            return self._raw(f"{label}{self._paint(style, bar)}  {score:<{len(rest)}}")
        if self._body >= _SCORE + 3:
            head = fit(name.capitalize(), self._body - _SCORE, self._draw.ellipsis)
            return self._raw(f"{head} {self._paint(style, fit(score, _SCORE - 1))}")
        return self._line(name.capitalize(), style)

    def below(self) -> list[str]:
        """The texts that :meth:`lines` had to cut."""
        rows = []
        for name in NAMES:
            text = self._justification(self._card["dimensions"][name])
            if self._room < _JUSTIFICATION or width(text) > self._room:
                rows += self._labelled(name.capitalize(), text)
        for place, text in enumerate(self._card["recommendations"]):
            shown = wrap(self._clean(f"{self._draw.arrow} {text}"), self._body, _ALL)
            if place or len(shown) > _ADVICE_LINES:
                rows += self._labelled("Recommended" if not place else "Also", self._clean(text))
        for place, note in enumerate(self._card.get("notes", ())):
            if place >= _NOTES or len(wrap(self._clean(note), self._body, _ALL)) > _NOTE_LINES:
                rows += self._labelled("Note", self._clean(note))
        return ["", *rows] if rows else []

    def everything(self) -> list[str]:
        """Every text of the card in full, and the grounds of its scores."""
        card = self._card
        rows = [""]
        for name in NAMES:
            row = card["dimensions"][name]
            rows += self._labelled(name.capitalize(), self._justification(row))
            if row.get("unsupportedWhy"):
                rows += self._labelled("", self._clean(f"(?) {row['unsupportedWhy']}"))
            for quote in row.get("evidence", ()):
                rows += self._labelled("", self._clean(f'quoted: "{quote}"'))
            for quote in row.get("discounted", ()):
                rows += self._labelled("", self._clean(f'not in the transcript: "{quote}"'))
        labels = (("Critical", "criticalIssues"), ("Recommended", "recommendations"))
        for label, key in (*labels, ("Note", "notes")):
            for text in card.get(key, ()):
                rows += self._labelled(label, self._clean(text))
        for label, text in (
            ("At", card["timestamp"]),
            ("Judge", card.get("judge", {}).get("name")),
            ("Transcript", card["transcriptPath"]),
            ("Execution", card.get("execution")),
        ):
            if text:
                rows += self._labelled(label, self._clean(text))
        return rows

    def _justification(self, row: Document) -> str:
        mark = "(?) " if row.get("unsupported") else ""
        return self._clean(mark + row["justification"])

    def _labelled(self, label: str, text: str) -> list[str]:
        """A text in lines of its own, next to its label, or below it if there is little space."""
        beside = self._columns >= 2 * _NAME + _BAR
        indent = _NAME if beside else 2
        lines = wrap(text, max(self._columns - 1 - indent, 1), _ALL)
        if beside:
            first, *more = lines
            return [f"{label:<{_NAME}}{first}", *(" " * _NAME + line for line in more)]
        head = wrap(label, self._columns - 1, _ALL) if label else []
        return [*head, *(f"  {line}" for line in lines)]

    def _paragraph(self, text: str, most: int, style: str = "") -> list[str]:
        wrapped = wrap(self._clean(text), self._body, most, self._draw.ellipsis)
        return [self._line(line, style) for line in wrapped]

    def _line(self, text: str, style: str = "") -> str:
        shown = fit(text, self._body, self._draw.ellipsis)
        words = shown.rstrip()
        return self._raw(self._paint(style, words) + shown[len(words) :] if words else shown)

    def _raw(self, body: str) -> str:
        side = self._draw.side
        return f"{side}{' ' * self._left}{body}{' ' * self._right}{side}"

    def _rule(self, ends: str) -> str:
        return ends[0] + ends[1] * self._inner + ends[2]

    def _clean(self, text: str) -> str:
        return encodable(clean(text), self._encoding)


def _score_style(score: float) -> str:
    return "failed" if score < 5 else "undecided" if score < 7 else "proved"


def history(document: Document, screen: Screen) -> list[str]:
    """``flow judge history SKILL``: the cards, the trend, and the change of each dimension."""
    cards = document["cards"]
    if not cards:
        return []
    columns = (Column("at"), Column("composite", right=True), Column("grade"), Column("card"))
    rows = [
        (
            Styled(screen.at(str(card["timestamp"])), "dim"),
            f"{card['composite']:.2f}",
            card["grade"],
            clean(card["file"]),
        )
        for card in cards[-SHOWN:]
    ]
    every = f"flow judge history {shlex.quote(clean(document['skill']))} --json"
    name = screen.paint("bold", clean(document["skill"]))
    count = f"{len(cards)} scorecard{'s' if len(cards) > 1 else ''}"
    change, last = document["change"]["dimensions"], cards[-1]["scores"]
    dimensions = [
        (
            dimension,
            f"{last[dimension]:.1f}",
            _difference(change[dimension]["since_previous"], 1),
            _difference(change[dimension]["since_first"], 1),
        )
        for dimension in NAMES
    ]
    heads = ("last", "since the one before", "since the first")
    table = (Column("dimension"), *(Column(head, right=True) for head in heads))
    return lines_of(
        [f"{name}  {count} in {clean(document['folder'])}"],
        [*screen.table(columns, rows, heads=True), *more_than(len(cards), every, SHOWN)],
        [_trend_line(document, cards, UNICODE if screen.unicode else ASCII)],
        screen._replace(columns=None).table(table, dimensions, heads=True),
    )


def _trend_line(document: Document, cards: Sequence[Document], draw: Drawing) -> str:
    steps = len(draw.sparks)
    sparks = "".join(
        draw.sparks[min(int(card["composite"] * steps / 10), steps - 1)] for card in cards[-SHOWN:]
    )
    last = cards[-1]
    trend = (
        f"trend {sparks} {last['composite']:.2f}/10, {last['grade']} ({grade_name(last['grade'])})"
    )
    change = document["change"]["composite"]
    if change["since_previous"] is None:
        return f"{trend}; nothing to compare with yet"
    before = _difference(change["since_previous"], 2)
    return (
        f"{trend}; {before} since the one before, {_difference(change['since_first'], 2)} overall"
    )


def _difference(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:+.{digits}f}"
