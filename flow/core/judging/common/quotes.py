"""Whether a judge's quote occurs in its context: one rule for every kind of question.

White space and Flow's own marks do not count; nor do quotation marks and dots at a quote's ends. A
few characters occur anywhere, so a quote shorter than ``LEAST_QUOTE`` must be a whole line;
otherwise it cannot be checked.
"""

from __future__ import annotations

import re

from flow.core.text.display import visible
from flow.core.untrusted.fences import LABEL, blunt
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LEAST_QUOTE = 8
"""Characters."""
_MARKS = "'\" "
"""Quotation marks around a whole quote. Its length is counted without these alone: dots at its ends
may be in the source as well.
"""
_ENDS = "'\"`“”‘’… ."
"""Characters that judges add at the ends of a quote."""
_LONG_LINE = 200
"""Characters of a line that is too long to be a short quote."""
_GAP = re.compile(r"(?:^|\n)\0(?=\n|$)")
"""The place of bytes that were left out (:attr:`flow.core.untrusted.fences.Fenced.data`)."""


class QuotableTexts:
    """The texts that a quote may come from, as shown to a judge or as they were before."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [normalized(piece) for text in texts for piece in _GAP.split(text)]
        self._lines = {
            normalized(line)
            for text in texts
            for line in text.split("\n")
            if len(line) < _LONG_LINE
        }

    def contain(self, quote: str) -> bool:
        """Whether ``quote`` occurs word for word in one of them."""
        whole = normalized(quote)
        if not any(char.isalnum() for char in whole):
            return False
        return any(self._hold(text) for text in (whole, whole.strip(_MARKS), whole.strip(_ENDS)))

    def _hold(self, wanted: str) -> bool:
        if wanted in self._lines:
            return True
        return is_long_enough(wanted) and any(wanted in text for text in self._texts)


class SortedQuotes(NamedTuple):
    """A judge's quotes as written, sorted: found, not found, and too short.

    A quote in ``too_short`` may be true; it cannot be checked.
    """

    true: tuple[str, ...]
    invented: tuple[str, ...]
    too_short: tuple[str, ...]

    @property
    def founded(self) -> bool:
        """Whether they support something: a true one, and not more invented than true ones."""
        return founded(self.true, self.invented)


def sort_quotes(quotes: Iterable[str], occurs: Callable[[str], bool]) -> SortedQuotes:
    """``quotes`` by whether they occur; blank ones are left out."""
    true, invented, too_short = list[str](), list[str](), list[str]()
    for quote in quotes:
        if occurs(quote):
            true.append(quote)
        elif quote.strip():
            (invented if is_long_enough(quote) else too_short).append(quote)
    return SortedQuotes(tuple(true), tuple(invented), tuple(too_short))


def normalized(text: str) -> str:
    """``text`` for comparing quotes: on one line, as a fence shows it, without Flow's additions."""
    lines = (
        line if line.isprintable() else _shown(line)  # printable text stays as it is
        for line in text.replace("\r\n", "\n").replace(LABEL.strip(), "").split("\n")
    )
    return " ".join(blunt(" ".join(lines)).split())


def _shown(line: str) -> str:
    pieces = line.split("\t")
    return " ".join(piece if piece.isprintable() else visible(piece) for piece in pieces)


def is_long_enough(quote: str) -> bool:
    """Whether a quote can be searched anywhere in a text, not as a whole line only."""
    return len(normalized(quote).strip(_MARKS)) >= LEAST_QUOTE


def distinct(quotes: Iterable[str]) -> set[str]:
    """The quotes that differ in more than white space."""
    return {text for quote in quotes if (text := normalized(quote))}


def mostly_invented(true: int, invented: int) -> bool:
    """Whether more quotes were invented than copied: such an answer supports nothing."""
    return invented > true


def founded(true: Iterable[str], invented: Iterable[str]) -> bool:
    """Whether these quotes support something."""
    copied = len(distinct(true))
    return copied > 0 and not mostly_invented(copied, len(distinct(invented)))
