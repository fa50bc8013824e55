"""Masking secrets in bytes that are kept or sent (SPEC 10, Secrets).

What stands in the result does not depend on how the input was cut: each decision is made once
everything it can depend on is there. At most ``WINDOW`` bytes are held back; a private key of any
length is left out from its first line to its last while it passes, and never collected.

Known values come first, then the table of :mod:`flow.core.secrets.shapes`. Of two secrets that
overlap everything is masked, under the first one's name.
"""

from __future__ import annotations

import re
from functools import cache

from flow.core.secrets.shapes import BEHIND, REACH, SecretShape, shapes
from flow.core.secrets.values import variants
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

KNOWN = "known_value"
"""The kind of a secret that was found because its value is known."""

BLOCK = 1 << 13
"""Bytes that are collected before they are looked at, so that many small chunks cost little."""

WINDOW = REACH + BLOCK
"""More bytes than this are never held back."""

_GRAM = 4
_WORD_BYTES = [bytes([c]) for c in b"abcdefghijklmnopqrstuvwxyz0123456789_-"]
"""What follows an anchor of three bytes, in lower case."""
_STEP = 1 << 16
"""Bytes of a text that are looked at together: in more of them more may be, and is looked for."""
RUN_AHEAD = 512
"""No step of a run looks further than this many bytes beyond where it begins."""

_END_AHEAD = 32
_UNTIL_AHEAD = 256


class Masked(NamedTuple):
    """Bytes without their secrets, and how many of each kind were there."""

    data: bytes
    counts: Mapping[str, int]


def mark(kind: str) -> bytes:
    """What stands for a secret."""
    return b"[masked:%b]" % kind.encode()


def mask(data: bytes, secrets: Sequence[bytes] = ()) -> Masked:
    """Mask ``data``; values of ``secrets`` that are shorter than 6 bytes are not looked for."""
    masker = Redactor(secrets)
    parts = [masker.feed(data[at : at + _STEP]) for at in range(0, len(data), _STEP)]
    return Masked(b"".join((*parts, masker.finish())), masker.counts)


class Redactor:
    """A stream that loses its secrets. ``counts`` grows with it, ``taken`` is what was fed."""

    def __init__(self, secrets: Iterable[bytes] = ()) -> None:
        self.counts: dict[str, int] = {}
        self.taken = 0
        self._chunks: list[bytes] = []
        self._waiting = 0
        self._kept = b""
        self._at = 0
        """Where in ``_kept`` the first byte is that has neither gone out nor been masked."""
        self._last = ""
        """The kind of the secret that ends at ``_at``."""
        self._run: re.Pattern[bytes] | None = None
        self._until: re.Pattern[bytes] | None = None
        self._index = _Index(secrets)

    def feed(self, chunk: bytes) -> bytes:
        """Take more; returns what is sure to stay."""
        self.taken += len(chunk)
        self._chunks.append(bytes(chunk))
        self._waiting += len(chunk)
        return self._work(final=False) if self._waiting >= BLOCK else b""

    def finish(self) -> bytes:
        """The rest. Nothing may be fed after it."""
        return self._work(final=True)

    def _work(self, *, final: bool) -> bytes:
        text = b"".join((self._kept, *self._chunks))
        self._chunks.clear()
        self._waiting = 0
        out: list[bytes] = []
        limit = len(text) if final else max(len(text) - REACH, 0)
        if self._pass(text, final=final):
            finders = self._index.present(text)
            for finder in finders:
                finder.begin(limit)
            while (secret := self._next(finders, text)) is not None:
                self._take(out, text, secret)
                if not self._pass(text, final=final):
                    break
            else:
                if limit > self._at:
                    self._last = ""
                    out.append(text[self._at : limit])
                    self._at = limit
        self._trim(text)
        return b"".join(out)

    def _next(self, finders: Sequence[_ShapeFinder], text: bytes) -> _SecretSpan | None:
        """The first secret that begins where everything is known, or reaches beyond ``_at``."""
        best: _SecretSpan | None = None
        for finder in finders:
            secret = finder.next(text, self._at)
            if secret is not None and (best is None or secret.start < best.start):
                best = secret
        return best

    def _take(self, out: list[bytes], text: bytes, secret: _SecretSpan) -> None:
        if secret.start > self._at:
            out.append(text[self._at : secret.start])
            self._last = ""
        new = secret.start >= self._at and secret.finder.kind != self._last
        if new:
            kind = self._last = secret.finder.kind
            out.append(mark(kind))
            self.counts[kind] = self.counts.get(kind, 0) + 1
        self._at = secret.end
        self._run, self._until = secret.finder.run, secret.finder.until

    def _pass(self, text: bytes, *, final: bool) -> bool:
        """Leave out what belongs to the last secret; False where its end is yet to come."""
        while self._run is not None:
            if not final and self._at > len(text) - RUN_AHEAD:
                return False
            step = self._run.match(text, self._at)
            if step is None:
                self._run = None
            else:
                self._at = step.end()
        if self._until is not None:
            ended = self._until.search(text, self._at)
            if ended is not None and not final and ended.end() > len(text) - _END_AHEAD:
                ended = None  # more may belong to it
            if ended is None and not final:
                self._at = max(self._at, len(text) - _UNTIL_AHEAD)
                return False
            self._at = ended.end() if ended else len(text)
            self._until = None
        return True

    def _trim(self, text: bytes) -> None:
        gone = max(self._at - REACH - BEHIND, 0)
        self._kept = text[gone:]
        self._at -= gone
        for finder in self._index.used.values():
            finder.move(gone)


class _SecretSpan(NamedTuple):
    """A secret in the text, and where its pattern begins."""

    start: int
    end: int
    begins: int
    finder: _ShapeFinder


class _ShapeFinder:
    """Finds the secrets of one shape, from left to right.

    A secret that another one overlaps is found too, unless it begins more than ``REACH`` bytes
    before where the other one ends.
    """

    def __init__(self, shape: SecretShape) -> None:
        self.kind = shape.kind
        self._shape = shape
        self._pattern = re.compile(shape.pattern)
        self._group = min(self._pattern.groups, 1)
        self._checked = self._pattern.groups
        self._cursor = 0
        """Nothing that is yet to be found begins before this."""
        self._found: _SecretSpan | None = None
        self._limit = 0
        self._done = False

    @property
    def run(self) -> re.Pattern[bytes] | None:
        """A step over more of the secret: of bounded size, so that no run needs memory."""
        return re.compile(run_step(self._shape)) if self._shape.run else None

    @property
    def until(self) -> re.Pattern[bytes] | None:
        """What ends the secret."""
        return re.compile(self._shape.until) if self._shape.until else None

    def begin(self, limit: int) -> None:
        """A new block, in which secrets before ``limit`` can be told."""
        self._limit, self._done = limit, False

    def next(self, text: bytes, at: int) -> _SecretSpan | None:
        """The first secret that ends behind ``at``; None where none can be told yet."""
        while not (secret := self._found) or secret.end <= at or secret.begins < at - REACH:
            self._found = None
            if self._done or not self._search(text, at):
                return None
        return secret if secret.start < self._limit else None

    def _search(self, text: bytes, at: int) -> bool:
        cursor = max(self._cursor, at - REACH)
        match = self._pattern.search(text, cursor)
        if match is None or match.start() >= self._limit:
            self._cursor, self._done = max(self._limit, cursor), True
            return False
        self._cursor = match.start() + 1
        if self._shape.check is None or self._shape.check(match[self._checked]):
            self._found = _SecretSpan(*match.span(self._group), match.start(), self)
        return True

    def move(self, gone: int) -> None:
        """The first ``gone`` bytes of the text have been dropped."""
        self._cursor = max(self._cursor - gone, 0)
        if self._found is not None:
            start, end, begins, _ = self._found
            self._found = _SecretSpan(start - gone, end - gone, begins - gone, self)


class _Anchor(NamedTuple):
    """Bytes of which some are part of every match of what has this number."""

    data: bytes
    number: int
    folded: bool


class _Asks:
    """Which bytes have something looked for, by the number of that."""

    def __init__(self) -> None:
        self.always: tuple[int, ...] = ()
        self.short: tuple[_Anchor, ...] = ()
        self.grams: dict[int, tuple[_Anchor, ...]] = {}
        """Four bytes in lower case → what begins with them."""

    def copy(self) -> _Asks:
        """The same, to be added to."""
        other = _Asks()
        other.always, other.short, other.grams = self.always, self.short, dict(self.grams)
        return other

    def add(self, number: int, anchors: Sequence[bytes], *, folded: bool) -> None:
        """Look for ``number`` where one of ``anchors`` stands, everywhere without any."""
        if not anchors:
            self.always += (number,)
        for anchor in anchors:
            row = _Anchor(anchor, number, folded)
            short = _GRAM - len(anchor)
            if short > 1 or (short == 1 and (folded or anchor[-1:] == b"/")):
                self.short += (row,)
                continue
            low = anchor[:_GRAM].lower()
            for gram in [low + more for more in _WORD_BYTES] if short == 1 else [low]:
                key = _gram_number(gram)
                self.grams[key] = (*self.grams.get(key, ()), row)


class _Index:
    """All that is looked for, of which only what may be there is asked.

    Which four bytes stand in a text is found out once, whatever the number of secrets.
    """

    def __init__(self, secrets: Iterable[bytes]) -> None:
        self.used: dict[int, _ShapeFinder] = {}
        self._variants = list(variants(secrets))
        self._shapes = _all_shapes()
        self._asks = _asked_of_shapes()
        if self._variants:
            self._asks = self._asks.copy()
            # Below zero: before the shapes, and as an index it is the variant's own.
            for number, variant in enumerate(self._variants, -len(self._variants)):
                self._asks.add(number, variant.probes, folded=False)
        self._wanted = frozenset(self._asks.grams) if self._variants else _wanted_by_shapes()

    def present(self, text: bytes) -> list[_ShapeFinder]:
        """Whoever may find something, in the order that counts where two begin at one byte."""
        low = text.lower()
        view = memoryview(low)
        numbers = set(self._asks.always)
        asked = set(self._asks.short)
        for offset in range(_GRAM):
            words = view[offset : offset + (len(low) - offset) // _GRAM * _GRAM]
            for hit in self._wanted.intersection(words.cast("I")) if len(words) else ():
                asked.update(self._asks.grams[hit])
        for anchor, number, folded in asked:
            if number not in numbers and anchor in (low if folded else text):
                numbers.add(number)
        return [self._finder(number) for number in sorted(numbers)]

    def _finder(self, number: int) -> _ShapeFinder:
        if number not in self.used:
            self.used[number] = _ShapeFinder(
                SecretShape(KNOWN, (), self._variants[number].pattern)
                if number < 0
                else self._shapes[number]
            )
        return self.used[number]


def run_step(shape: SecretShape) -> bytes:
    """The pattern for up to 64 bytes more of a secret of this shape."""
    whole = shape.run.startswith(b"(?>")
    return shape.run if whole else b"(?>(?:%b){1,64})" % shape.run


def _gram_number(gram: bytes) -> int:
    number: int = memoryview(gram).cast("I")[0]
    return number


_TABLE: list[SecretShape] = []


def _all_shapes() -> Sequence[SecretShape]:
    if not _TABLE:
        _TABLE.extend(shapes())
    return _TABLE


@cache
def _asked_of_shapes() -> _Asks:
    """What the shapes ask, which is the same for every text; nobody adds to it."""
    asks = _Asks()
    for number, shape in enumerate(_all_shapes()):
        asks.add(number, shape.anchors, folded=shape.folded)
    return asks


@cache
def _wanted_by_shapes() -> frozenset[int]:
    return frozenset(_asked_of_shapes().grams)
