"""Which secrets a text may hold: the anchors of shapes and known values, looked for all at once.

The words of a text are far fewer than its bytes, and most of them have stood in the text before: an
anchor is looked for in words that are new, by the four bytes that its longest part begins with. A
library that finds many strings in one pass can do the same faster.
"""

from __future__ import annotations

from flow.startup import re
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    FindAll = Callable[[bytes], Mapping[int, Sequence[int]]]
    """Tells where strings stand in a text, by their numbers, from left to right."""
    MakeFinder = Callable[[Sequence[bytes]], FindAll | None]
    """Makes one for strings of bytes, each of which is there once; None where it cannot."""

AnchorRow = tuple[bytes, int, bool]
"""The bytes of an anchor, the number of its shape or value, and whether any case of them counts."""

SHORT = 1 << 11
"""Bytes of a text in which each anchor is looked for: that takes less than what finds them by grams
takes to be made."""
_GRAM = 4
_BLANK = 32
_WORDS = bytes(
    c if c in b"abcdefghijklmnopqrstuvwxyz_-" else ord("0") if c in b"0123456789" else _BLANK
    for c in bytes(range(256)).lower()
)
"""What each byte is where only words count: all digits are one, and what stands in no word is a
blank."""
_WORD_BYTES = [bytes([c]) for c in sorted(set(_WORDS))]
_RARE = b"$~*@{}+%|!#&<>^\\\"'=/"
"""Bytes that few texts hold, the rarest first; that one is missing is known at once."""
_LONG = 32
"""Bytes of a word that is too long to come again."""
_SEEN = 1 << 13
"""Words that are remembered: that bounds the memory."""


class _Anchor(NamedTuple):
    """An anchor and its words, as ``_WORDS`` has them."""

    row: AnchorRow
    probe: bytes
    """The longest of its words, with a blank on each side where it ends in the anchor."""


def _probe(anchor: bytes) -> bytes:
    words = anchor.translate(_WORDS)
    spans = [match.span() for match in re.finditer(rb"[^ ]+", words)]
    probes = {words[max(start - 1, 0) : end + 1] for start, end in spans}
    return max(probes, key=lambda probe: (len(probe), probe), default=b"")


class _Grams:
    """Anchors by the four bytes that their probes begin with; ``short`` have shorter ones."""

    def __init__(self, base: _Grams | None, rows: Iterable[AnchorRow]) -> None:
        self.short: list[AnchorRow] = [*base.short] if base is not None else []
        self.anchors: dict[int, tuple[_Anchor, ...]] = {**base.anchors} if base is not None else {}
        for row in rows:
            anchor = _Anchor(row, _probe(row[0]))
            missing = _GRAM - len(anchor.probe)
            if missing > 1:
                self.short.append(row)
                continue
            begin = anchor.probe[:_GRAM]
            for gram in [begin + more for more in _WORD_BYTES] if missing == 1 else [begin]:
                key = _gram_number(gram)
                self.anchors[key] = (*self.anchors.get(key, ()), anchor)
        self._numbers = frozenset(self.anchors)

    def candidates(self, words: bytes) -> set[_Anchor]:
        """The anchors whose first grams stand in words."""
        view = memoryview(words)
        numbers: set[int] = set()
        for offset in range(_GRAM):
            grams = view[offset : offset + (len(words) - offset) // _GRAM * _GRAM]
            if len(grams):
                numbers |= self._numbers.intersection(grams.cast("I"))
        return {anchor for number in numbers for anchor in self.anchors[number]}


class AnchorTable:
    """The shapes and values to search for, by number, and the anchors that call for them.

    ``base`` is another table, which this one adds to.
    """

    def __init__(
        self, rows: Iterable[tuple[int, Sequence[bytes], bool]], base: AnchorTable | None = None
    ) -> None:
        self._base = base
        self._own: list[AnchorRow] = []
        self.always: list[int] = [*base.always] if base is not None else []
        """What is searched for in every text: it has no anchor."""
        for number, anchors, folded in rows:
            if not anchors:
                self.always.append(number)
            self._own += [(data, number, folded) for data in anchors]
        self.all: list[AnchorRow] = [*base.all, *self._own] if base is not None else self._own

    @once
    def grams(self) -> _Grams:
        """Its anchors by their grams."""
        return _Grams(self._base.grams if self._base is not None else None, self._own)


class AnchorSearch:
    """Tells which anchors of a table may stand in each of several texts."""

    def __init__(self, table: AnchorTable, make_finder: MakeFinder | None = None) -> None:
        self._table = table
        self._make_finder = make_finder
        self._quiet: set[bytes] = set()
        """Words in which no probe stands."""
        self._telling: dict[bytes, tuple[AnchorRow, ...]] = {}
        """Words with a probe, and whose that is."""
        self._rows: list[list[AnchorRow]] = []
        """The anchors that are the same in lower case, by the number of that."""

    def stand_in(self, text: bytes, low: bytes) -> Iterator[tuple[AnchorRow, Sequence[int]]]:
        """The anchors that stand in a text, and where, from left to right.

        ``low`` is the text in lower case.
        """
        if len(text) > SHORT and self._find_all is not None:
            for number, starts in self._find_all(low).items():
                for row in self._rows[number]:
                    anchor = row[0]
                    exact = starts if row[2] else [s for s in starts if text.startswith(anchor, s)]
                    if exact:
                        yield row, exact
            return
        for row in self.candidates(text):
            rare = next((byte for byte in _RARE if byte in row[0]), -1)
            if rare < 0 or rare in text:
                starts = positions(row[0], low if row[2] else text)
                if starts:
                    yield row, starts

    def candidates(self, text: bytes) -> Iterable[AnchorRow]:
        """The anchors that may stand in a text: all that do, and some more."""
        if len(text) <= SHORT:
            return self._table.all
        words = set(text.translate(_WORDS).split()).difference(self._quiet)
        rows = {row for word in words.intersection(self._telling) for row in self._telling[word]}
        if new := words.difference(self._telling):
            rows.update(self._look_at(new))
        return [*self._table.grams.short, *rows]

    @once
    def _find_all(self) -> FindAll | None:
        """Tells where those of ``_rows`` stand in a text in lower case."""
        if self._make_finder is None:
            return None
        rows: dict[bytes, list[AnchorRow]] = {}
        for row in self._table.all:
            rows.setdefault(row[0].lower(), []).append(row)
        self._rows = [*rows.values()]
        return self._make_finder([*rows])

    def _look_at(self, new: set[bytes]) -> set[AnchorRow]:
        """The anchors whose probes stand in words that are not remembered; they are from now on."""
        if len(self._quiet) + len(self._telling) > _SEEN:
            self._quiet.clear()
            self._telling.clear()
        rows: set[AnchorRow] = set()
        text = b" %b    " % b" ".join(new)  # a gram at the end
        telling: dict[bytes, tuple[AnchorRow, ...]] = {}
        for row, probe in self._table.grams.candidates(text):
            at = text.find(probe)
            while at >= 0:
                rows.add(row)
                begin = text.rfind(b" ", 0, at + 1) + 1
                end = text.find(b" ", begin)
                word = text[begin:end]
                telling[word] = (*telling.get(word, ()), row)
                at = text.find(probe, end)
        short = [word for word in new if len(word) <= _LONG]
        self._quiet.update(word for word in short if word not in telling)
        self._telling.update((word, telling[word]) for word in short if word in telling)
        return rows


def positions(data: bytes, text: bytes) -> list[int]:
    """Where ``data`` stands in a text, from left to right."""
    starts = []
    at = text.find(data)
    while at >= 0:
        starts.append(at)
        at = text.find(data, at + 1)
    return starts


def _gram_number(gram: bytes) -> int:
    number: int = memoryview(gram).cast("I")[0]
    return number
