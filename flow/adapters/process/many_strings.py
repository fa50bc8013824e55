"""Many strings found in one pass over a text, by ``ahocorasick_rs``, which is loaded here alone."""

from __future__ import annotations

from flow.startup.functools import cache
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from flow.core.secrets.anchors import FindAll

_MOST = 1 << 13
"""Bytes of strings for which the fastest automaton is made; for more it takes too much memory."""


def make_finder(strings: Sequence[bytes]) -> FindAll | None:
    """A function that finds the places of ``strings`` in a text; None without the library."""
    library = _library()
    if library is None:
        return None
    fastest = library.Implementation.DFA if sum(map(len, strings)) <= _MOST else None
    automaton = library.BytesAhoCorasick(strings, implementation=fastest)

    def find(text: bytes) -> dict[int, list[int]]:
        starts: dict[int, list[int]] = {}
        for number, start, _ in automaton.find_matches_as_indexes(text, overlapping=True):
            starts.setdefault(number, []).append(start)
        return starts

    return find


@cache
def _library() -> ModuleType | None:
    try:
        import ahocorasick_rs
    except ImportError:
        return None
    return ahocorasick_rs if hasattr(ahocorasick_rs, "BytesAhoCorasick") else None
