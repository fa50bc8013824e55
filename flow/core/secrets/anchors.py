"""The anchors of shapes and known values that a text holds, all found in one search.

An anchor is a string that every match of a shape contains. A text has far fewer words than bytes,
and most of its words repeat. So anchors are searched in new words only, by the first four bytes of
the anchor's longest part. A library that finds many strings in one pass can do the same faster.
"""

from __future__ import annotations

from itertools import filterfalse, product

from flow.startup import re
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    FindAll = Callable[[bytes], Mapping[int, Sequence[int]]]
    """Returns the positions of strings in a text, from left to right, by the strings' numbers."""
    MakeFinder = Callable[[Sequence[bytes]], FindAll | None]
    """Makes a :data:`FindAll` for distinct byte strings; None if it cannot."""


class AnchorRow(NamedTuple):
    """The bytes of an anchor and the number of its shape or value."""

    data: bytes
    number: int
    folded: bool = False
    """The anchor matches in any case."""
    edged: bool = False
    """It counts only at the start of a word, also after an escape or a terminal's colours."""
    classes: bytes = b""
    """Translation of a text's bytes before the search; only letters map to a byte of the anchor."""

    def searched(self, text: bytes, low: bytes) -> bytes:
        """The form of the text in which to search the anchor; ``low`` is the text in lower case."""
        return text.translate(self.classes) if self.classes else low if self.folded else text


SHORT = 1 << 11
"""Bytes: in a shorter text each anchor is searched by itself, which costs less than building the
index of grams.
"""
_GRAM = 4
_WORDS = b" " * 48 + b"0" * 10 + b" " * 7 + bytes(range(65, 91)) + b" " * 6 + bytes(range(97, 123))
_WORDS += b" " * (256 - len(_WORDS))
"""Translation of bytes for words: all digits are one byte, and every byte outside words is a blank,
so that names with other numbers are no new words."""
_COMMON_BYTES = bytes(range(256)).translate(None, b"$~*@{}+%|!#&<>^\\\"'=/_:")
"""All bytes but those that are rare in texts: if a rare one is missing, so is the anchor."""
_BEFORE_EDGE = rb"|[nrtbf]|.*0m|m|[0A-Fa-f]{2}|u00[0A-Fa-f]{2}"
"""Bytes of a word before the edge at which a secret begins: an escape, or a colour sequence."""
_PIECE = 1 << 13
"""Bytes of a text whose words are examined together. An anchor that a word triggers is searched in
this part only.
"""
_USUAL = b"test"
"""A word that triggers no anchor which has another one: every part of a test run's output has it.
"""
_LONGEST_REMEMBERED = 32
"""Bytes: a longer word is unlikely to repeat, and is not remembered."""
_MOST_REMEMBERED = 1 << 13
"""Number of remembered words, which bounds the memory."""


class _Anchor(NamedTuple):
    """An anchor and its words, translated by ``_WORDS``."""

    row: AnchorRow
    probe: bytes
    """The longest of its words, with a blank on each side where it ends inside the anchor; in lower
    case if any case counts.
    """
    edged: bool
    """Whether only a word that starts with the probe triggers it; an escape may precede the probe.
    """


def _probe(anchor: bytes) -> bytes:
    words = anchor.translate(_WORDS)
    spans = [match.span() for match in re.finditer(rb"[^ ]+", words)]
    probes = {words[max(start - 1, 0) : end + 1] for start, end in spans}
    return max(probes, key=lambda p: (p.strip() != _USUAL, len(p), p), default=b"")


class _Grams:
    """Anchors by the first four bytes of their probes; ``short`` are those with shorter ones."""

    def __init__(self, base: _Grams | None, rows: Iterable[AnchorRow]) -> None:
        self.short: list[AnchorRow] = [*base.short] if base is not None else []
        self.anchors: dict[int, tuple[_Anchor, ...]] = {**base.anchors} if base is not None else {}
        self._classed: list[_Anchor] = [*base._classed] if base is not None else []
        own: set[int] = set()
        letters = [bytes([c]) for c in sorted(set(_WORDS))]
        for row in rows:
            if row.classes:
                self._classed.append(_Anchor(row, row.data, row.edged))
                continue
            words, probe = row.data.translate(_WORDS), _probe(row.data)
            anchor = _Anchor(row, probe, row.edged and words.startswith(probe.rstrip()))
            missing = _GRAM - len(anchor.probe)
            if missing > 1:
                self.short.append(row)
                continue
            begin = anchor.probe[:_GRAM]
            for start in _cases(begin) if row.folded else [begin]:
                for gram in [start + more for more in letters] if missing == 1 else [start]:
                    key = _gram_number(gram)
                    self.anchors[key] = (*self.anchors.get(key, ()), anchor)
                    own.add(key)
        self._numbers: frozenset[int] = frozenset(own) if base is None else base._numbers.union(own)

    def candidates(self, words: bytes) -> set[_Anchor]:
        """The anchors whose first grams are in ``words``, and those without a gram."""
        view = memoryview(words)
        numbers: set[int] = set()
        for offset in range(_GRAM):
            grams = view[offset : offset + (len(words) - offset) // _GRAM * _GRAM]
            if len(grams):
                numbers |= self._numbers.intersection(grams.cast("I"))
        return {anchor for number in numbers for anchor in self.anchors[number]}.union(
            self._classed
        )


class AnchorTable:
    """The shapes and values to search for, by number, and the anchors that trigger them.

    ``base`` is another table, which this one adds to.
    """

    def __init__(
        self,
        rows: Sequence[AnchorRow],
        without_anchor: Iterable[int],
        base: AnchorTable | None = None,
    ) -> None:
        self._base = base
        self._own = rows
        self.without_anchor: list[int] = [
            *(base.without_anchor if base is not None else ()),
            *without_anchor,
        ]
        """Numbers of the shapes and values without an anchor, which are searched in every text."""
        self.all: list[AnchorRow] = [*(base.all if base is not None else ()), *rows]
        longest = max((len(row.data) for row in rows), default=0)
        self.longest: int = longest if base is None else max(base.longest, longest)
        """Bytes of the longest anchor."""

    @once
    def grams(self) -> _Grams:
        """The table's anchors by their grams."""
        return _Grams(self._base.grams if self._base is not None else None, self._own)


class AnchorSearch:
    """Search for a table's anchors in several texts."""

    def __init__(self, table: AnchorTable, make_finder: MakeFinder | None = None) -> None:
        self._table = table
        self._make_finder = make_finder
        self._plain_words: set[bytes] = set()
        """Words without a probe."""
        self._anchor_words: dict[bytes, tuple[AnchorRow, ...]] = {}
        """Words with a probe, and the anchors that they trigger."""
        self._classed: list[AnchorRow] = []
        """Anchors that the library's finder cannot find."""
        self._rows: list[list[AnchorRow]] = []
        """Anchors with the same bytes in lower case, by the finder's number for those bytes."""

    def anchors_in(self, text: bytes) -> Iterator[tuple[AnchorRow, Sequence[int]]]:
        """The anchors in a text with their positions, from left to right; an anchor may repeat."""
        low = text.lower()
        if len(text) <= SHORT:
            yield from _present(self._table.all, text, low, 0, len(text))
        elif self._find_all is None:
            yield from _present(self._table.grams.short, text, low, 0, len(text))
            for rows, begin, end in self._parts(text.translate(_WORDS)):
                yield from _present(rows, text, low, begin, end)
        else:
            yield from _present(self._classed, text, low, 0, len(text))
            for number, starts in self._find_all(low).items():
                for row in self._rows[number]:
                    data = row.data
                    exact = (
                        starts if row.folded else [s for s in starts if text.startswith(data, s)]
                    )
                    if exact:
                        yield row, exact

    def _parts(self, words: bytes) -> Iterator[tuple[set[AnchorRow], int, int]]:
        """The anchors that may begin in each part of a text: all that do, and possibly others."""
        begin, size = 0, len(words)
        while begin < size:
            end = words.find(b" ", begin + _PIECE)
            end = end if end >= 0 else size
            reach = words.find(b" ", end + self._table.longest)
            rows = self._candidates(words[begin : reach if reach >= 0 else size].split())
            if rows:
                yield rows, begin, end
            begin = end

    def _candidates(self, words: Iterable[bytes]) -> set[AnchorRow]:
        unknown = {*filterfalse(self._plain_words.__contains__, words)}  # as most are
        rows: set[AnchorRow] = set()
        for word in unknown.intersection(self._anchor_words):
            rows.update(self._anchor_words[word])
        if new := unknown.difference(self._anchor_words):
            rows.update(self._examined(new))
        return rows

    @once
    def _find_all(self) -> FindAll | None:
        """Finder of the anchors in ``_rows``, for a text in lower case; None without a library."""
        if self._make_finder is None:
            return None
        rows: dict[bytes, list[AnchorRow]] = {}
        for row in self._table.all:
            if row.classes:
                self._classed.append(row)
            else:
                rows.setdefault(row.data.lower(), []).append(row)
        self._rows = [*rows.values()]
        return self._make_finder([*rows])

    def _examined(self, new: set[bytes]) -> set[AnchorRow]:
        """The anchors whose probes are in ``new`` words; remembers those words."""
        if len(self._plain_words) + len(self._anchor_words) > _MOST_REMEMBERED:
            self._plain_words.clear()
            self._anchor_words.clear()
        rows: set[AnchorRow] = set()
        text = b" %b    " % b" ".join(new)  # a gram at the end
        low = text.lower()
        triggers: dict[bytes, tuple[AnchorRow, ...]] = {}
        for row, probe, edged in self._table.grams.candidates(text):
            searched = row.searched(text, low)
            at = searched.find(probe)
            while at >= 0:
                begin = text.rfind(b" ", 0, at + 1) + 1
                end = at + 1
                if not edged or re.fullmatch(_BEFORE_EDGE, text[begin:at]):
                    rows.add(row)
                    end = text.find(b" ", begin)
                    word = text[begin:end]
                    triggers[word] = (*triggers.get(word, ()), row)
                at = searched.find(probe, end)
        short = [word for word in new if len(word) <= _LONGEST_REMEMBERED]
        self._plain_words.update(word for word in short if word not in triggers)
        self._anchor_words.update((word, triggers[word]) for word in short if word in triggers)
        return rows


def _positions(data: bytes, text: bytes, begin: int, end: int) -> list[int]:
    """The positions at which ``data`` begins in this part of a text, from left to right."""
    last = end + len(data) - 1
    starts = []
    at = text.find(data, begin, last)
    while at >= 0:
        starts.append(at)
        at = text.find(data, at + 1, last)
    return starts


def _present(
    rows: Iterable[AnchorRow], text: bytes, low: bytes, begin: int, end: int
) -> Iterator[tuple[AnchorRow, Sequence[int]]]:
    """The ``rows`` that begin in this part of a text, with their positions."""
    for row in rows:
        if all(byte in text for byte in row.data.translate(None, _COMMON_BYTES)):
            starts = _positions(row.data, row.searched(text, low), begin, end)
            if starts:
                yield row, starts


def _cases(letters: bytes) -> set[bytes]:
    """``letters`` with every combination of upper and lower case."""
    return {bytes(each) for each in product(*zip(letters.lower(), letters.upper(), strict=True))}


def _gram_number(gram: bytes) -> int:
    number: int = memoryview(gram).cast("I")[0]
    return number
