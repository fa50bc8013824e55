"""Whether a judge's quote stands in what it was given: one rule for every kind of question.

White space, and the marks that Flow put there, do not count. A few characters occur anywhere, so a
quote shorter than ``LEAST_QUOTE`` has to be a whole line.
"""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING
from flow.core.judging.fences import LABEL, blunt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LEAST_QUOTE = 8
"""Characters."""


class QuotableTexts:
    """The texts that a quote may come from (:attr:`flow.core.judging.fences.Fenced.data`)."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [normalized(text) for text in texts]
        self._lines = {normalized(line) for text in texts for line in text.split("\n")}

    def contain(self, quote: str) -> bool:
        """Whether ``quote`` is word for word in one of them."""
        wanted = _bare(quote)
        if not is_long_enough(quote):
            return bool(wanted) and wanted in self._lines
        return any(wanted in text for text in self._texts)


def normalized(text: str) -> str:
    """``text`` as quotes are compared: on one line, without what Flow adds to data."""
    return " ".join(blunt(text.replace(LABEL.strip(), "")).split())


def is_long_enough(quote: str) -> bool:
    """Whether a quote can be looked up anywhere in a text, not as a whole line only."""
    return len(_bare(quote)) >= LEAST_QUOTE


def _bare(quote: str) -> str:
    return normalized(quote).strip("'\" ")


def distinct(quotes: Iterable[str]) -> set[str]:
    """The quotes that differ in more than white space."""
    return {text for quote in quotes if (text := normalized(quote))}


def mostly_invented(true: int, invented: int) -> bool:
    """Whether more quotes were made up than copied: nothing rests on such an answer."""
    return invented > true
