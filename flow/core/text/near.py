"""Suggestions for an unknown word: one comparison, and one form of the answer."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LENGTH = 80
"""Characters of a word that are compared."""

NAMES = 2_000
"""Names that a word is compared with, at most; the first ones count."""

_NO_DIGITS = str.maketrans("", "", "0123456789")


def nearest(word: str, names: Iterable[str], least: float = 0.6) -> str | None:
    """The most similar of ``names`` in any case; None if none is similar enough.

    ``least`` is the least similarity, from 0 to 1. Names that differ only in their number are no
    near miss: AC2 is not AC1.
    """
    from difflib import get_close_matches
    from itertools import islice

    cut = word[:LENGTH].lower()
    letters = cut.translate(_NO_DIGITS)
    folded: dict[str, str] = {}
    for name in islice(names, NAMES):
        low = name.lower()
        if low == cut or low.translate(_NO_DIGITS) != letters:
            folded.setdefault(low, name)
    close = [cut] if cut in folded else get_close_matches(cut, folded, n=1, cutoff=least)
    return folded[close[0]] if close else None


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: ``; did you mean X?``, or nothing."""
    name = nearest(word, names)
    return meant(name) if name is not None else ""


def meant(*names: str) -> str:
    """``; did you mean X or Y?``, or nothing without a name."""
    return f"; did you mean {' or '.join(names)}?" if names else ""


def nearest_or_all(word: str, names: Iterable[str]) -> str:
    """The remedy for an unknown key: the nearest of ``names``, or all of them."""
    listed = tuple(names)
    name = nearest(word, listed)
    return f"did you mean {name}?" if name is not None else f"known here: {', '.join(listed)}"
