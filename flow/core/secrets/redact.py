"""Redaction of secrets in bytes that are stored or sent (SPEC 10, Secrets).

The result does not depend on how the input was cut: each decision is made once everything it can
depend on is there. At most ``WINDOW`` bytes are held back; a private key of any length is left out
from its first line to its last while it passes, and never collected.

Known values come first, then the shapes of :mod:`flow.core.secrets.shapes`. Of two secrets that
overlap everything is redacted, under the first one's name.
"""

from __future__ import annotations

import re
from functools import cache

from flow.core.secrets.shapes import BEHIND, CLASSES, REACH, SecretShape, shapes
from flow.core.secrets.values import variants
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

KNOWN = "known_value"
"""The kind of a secret whose value the environment holds."""

BLOCK = 1 << 14
"""Bytes that are collected before a search, so that many small chunks cost little."""

WINDOW = REACH + BLOCK
"""The most bytes that are held back."""

_SHORT = 1 << 11
"""Bytes of a text in which each anchor is looked for: that takes less than what finds them by grams
takes to be made."""
_GRAM = 4
_BLANK = 32
_WORDS = bytes(
    c if c in b"abcdefghijklmnopqrstuvwxyz" else ord("0") if c in b"0123456789" else _BLANK
    for c in bytes(range(256)).lower()
)
"""What each byte is where only words count: all digits are one, all else but letters is a blank."""
_WORD_BYTES = [bytes([c]) for c in sorted(set(_WORDS))]
_RARE = b"$~*@{}+%|!#&<>^\\\"'=/"
"""Bytes that few texts hold, the rarest first; that one is missing is known at once."""
_STEP = 1 << 16
"""Bytes of a text that are searched together: more bytes may hold more anchors to search for."""
RUN_AHEAD = 512
"""No step of a run reads further than this many bytes beyond where it begins."""

_END_AHEAD = 32
_UNTIL_AHEAD = 256


class Redacted(NamedTuple):
    """Bytes without their secrets, and the number of secrets by kind."""

    data: bytes
    counts: Mapping[str, int]


def placeholder(kind: str) -> bytes:
    """The text in the place of a secret."""
    return b"[masked:%b]" % kind.encode()


def redact(data: bytes, secrets: Sequence[bytes] = ()) -> Redacted:
    """Redact ``data``; values of ``secrets`` that are shorter than 6 bytes are not searched for."""
    redactor = Redactor(secrets)
    parts = [redactor.feed(data[at : at + _STEP]) for at in range(0, len(data), _STEP)]
    return Redacted(b"".join((*parts, redactor.finish())), redactor.counts)


class Redactor:
    """A stream that loses its secrets, which ``counts`` counts by kind."""

    def __init__(self, secrets: Iterable[bytes] = ()) -> None:
        self.counts: dict[str, int] = {}
        self.bytes_fed = 0
        self._chunks: list[bytes] = []
        self._waiting = 0
        self._buffer = b""
        self._position = 0
        """Index in ``_buffer`` of the first byte that was neither returned nor redacted."""
        self._last_kind = ""
        """The kind of the secret that ends at ``_position``."""
        self._run: re.Pattern[bytes] | None = None
        self._until: re.Pattern[bytes] | None = None
        self._index = _Index(secrets)

    def feed(self, chunk: bytes) -> bytes:
        """Take more bytes; returns those that are sure to stay."""
        self.bytes_fed += len(chunk)
        self._chunks.append(bytes(chunk))
        self._waiting += len(chunk)
        return self._work(final=False) if self._waiting >= BLOCK else b""

    def finish(self) -> bytes:
        """Return the rest. Nothing may be fed after it."""
        return self._work(final=True)

    def _work(self, *, final: bool) -> bytes:
        text = b"".join((self._buffer, *self._chunks))
        self._chunks.clear()
        self._waiting = 0
        out: list[bytes] = []
        limit = len(text) if final else max(len(text) - REACH, 0)
        if self._skip_secret(text, final=final):
            finders = self._index.present(text, limit)
            while (secret := self._next_span(finders, text)) is not None:
                self._redact_span(out, text, secret)
                if not self._skip_secret(text, final=final):
                    break
            else:
                if limit > self._position:
                    self._last_kind = ""
                    out.append(text[self._position : limit])
                    self._position = limit
        self._trim(text)
        return b"".join(out)

    def _next_span(self, finders: Sequence[_ShapeFinder], text: bytes) -> _SecretSpan | None:
        """The first secret that can be told by now and ends behind ``_position``."""
        best: _SecretSpan | None = None
        for finder in finders:
            secret = finder.next(text, self._position)
            if secret is not None and (best is None or secret.start < best.start):
                best = secret
        return best

    def _redact_span(self, out: list[bytes], text: bytes, secret: _SecretSpan) -> None:
        if secret.start > self._position:
            out.append(text[self._position : secret.start])
            self._last_kind = ""
        kind = secret.finder.kind
        if secret.start >= self._position and kind != self._last_kind:
            self._last_kind = kind
            out.append(placeholder(kind))
            self.counts[kind] = self.counts.get(kind, 0) + 1
        self._position = secret.end
        self._run, self._until = secret.finder.run, secret.finder.until

    def _skip_secret(self, text: bytes, *, final: bool) -> bool:
        """Skip the rest of the last secret; False where its end is yet to come."""
        while self._run is not None:
            if not final and self._position > len(text) - RUN_AHEAD:
                return False
            step = self._run.match(text, self._position)
            if step is None:
                self._run = None
            else:
                self._position = step.end()
        if self._until is not None:
            ended = self._until.search(text, self._position)
            if ended is not None and not final and ended.end() > len(text) - _END_AHEAD:
                ended = None  # more may belong to it
            if ended is None and not final:
                self._position = max(self._position, len(text) - _UNTIL_AHEAD)
                return False
            self._position = ended.end() if ended else len(text)
            self._until = None
        return True

    def _trim(self, text: bytes) -> None:
        gone = max(self._position - REACH - BEHIND, 0)
        self._buffer = text[gone:]
        self._position -= gone
        for finder in self._index.finders.values():
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
        """Every later match begins here or behind."""
        self._span: _SecretSpan | None = None
        self._limit = 0
        self._done = False
        self._lowered = b""
        self._next: dict[bytes, int] = {}
        """Where each of the anchors that may begin a match stands next; -1: nowhere."""

    @property
    def run(self) -> re.Pattern[bytes] | None:
        """A step over more of the secret, of bounded size, so that no run needs memory."""
        return re.compile(run_step(self._shape)) if self._shape.run else None

    @property
    def until(self) -> re.Pattern[bytes] | None:
        """The end of the secret."""
        return re.compile(self._shape.until) if self._shape.until else None

    def begin(self, limit: int, lowered: bytes, anchors: Iterable[bytes]) -> None:
        """Start a new block, in which secrets before ``limit`` can be told.

        ``lowered`` is its text in lower case, or as the shape has it; ``anchors`` stand in it.
        """
        self._limit, self._done = limit, False
        if self._shape.starts:
            self._lowered, self._next = lowered, dict.fromkeys(anchors, 0)

    def next(self, text: bytes, at: int) -> _SecretSpan | None:
        """The first secret that ends behind ``at``; None where none can be told yet."""
        while not (secret := self._span) or secret.end <= at or secret.begins < at - REACH:
            self._span = None
            if self._done or not self._search(text, at):
                return None
        return secret if secret.start < self._limit else None

    def _search(self, text: bytes, at: int) -> bool:
        cursor = max(self._cursor, at - REACH)
        match = (self._match if self._shape.starts else self._pattern.search)(text, cursor)
        if match is None or match.start() >= self._limit:
            self._cursor, self._done = max(self._limit, cursor), True
            return False
        self._cursor = match.start() + 1
        if self._shape.check is None or self._shape.check(match[self._checked]):
            self._span = _SecretSpan(*match.span(self._group), match.start(), self)
        return True

    def _match(self, text: bytes, cursor: int) -> re.Match[bytes] | None:
        """As ``search`` would, only that it tries no byte where no anchor stands."""
        following = self._next
        while True:
            best = self._limit
            for anchor, at in following.items():
                if 0 <= at <= cursor:
                    at = following[anchor] = self._lowered.find(anchor, cursor)  # noqa: PLW2901
                if 0 <= at < best:
                    best = at
            if best == self._limit:
                return None
            match = self._pattern.match(text, best)
            if match is not None:
                return match
            cursor = best + 1

    def move(self, gone: int) -> None:
        """Follow the text, whose first ``gone`` bytes were dropped."""
        self._cursor = max(self._cursor - gone, 0)
        if self._span is not None:
            start, end, begins, _ = self._span
            self._span = _SecretSpan(start - gone, end - gone, begins - gone, self)


class _Anchor(NamedTuple):
    """Bytes that stand in matches of the shape or value with this number."""

    data: bytes
    number: int
    folded: bool
    probes: tuple[bytes, ...]
    """Its words as ``_WORDS``, with a blank on each side where they end in it, the longest first.

    Each stands where it does; there is one at least.
    """


def _probes(anchor: bytes) -> tuple[bytes, ...]:
    words = anchor.translate(_WORDS)
    spans = [match.span() for match in re.finditer(rb"[^ ]+", words)]
    probes = {words[max(start - 1, 0) : end + 1] for start, end in spans}
    return tuple(sorted(probes, key=lambda probe: (-len(probe), probe))) or (b"",)


class _Grams:
    """Anchors by the four bytes that their longest probes begin with; ``short`` have shorter ones.

    They are looked for among the different words of a text, which are far fewer than its words.
    """

    def __init__(self, base: _Grams | None, anchors: Iterable[_Anchor]) -> None:
        self.short: list[_Anchor] = [*base.short] if base is not None else []
        self.anchors: dict[int, tuple[_Anchor, ...]] = {**base.anchors} if base is not None else {}
        for anchor in anchors:
            missing = _GRAM - len(anchor.probes[0])
            if missing > 1:
                self.short.append(anchor)
                continue
            begin = anchor.probes[0][:_GRAM]
            for gram in [begin + more for more in _WORD_BYTES] if missing == 1 else [begin]:
                key = _gram_number(gram)
                self.anchors[key] = (*self.anchors.get(key, ()), anchor)
        self._numbers = frozenset(self.anchors)

    def in_text(self, text: bytes) -> list[_Anchor]:
        """The anchors whose probes stand in a text."""
        words = b" %b    " % b" ".join(set(text.translate(_WORDS).split()))  # a gram at the end
        view = memoryview(words)
        numbers: set[int] = set()
        for offset in range(_GRAM):
            grams = view[offset : offset + (len(words) - offset) // _GRAM * _GRAM]
            if len(grams):
                numbers |= self._numbers.intersection(grams.cast("I"))
        candidates = {anchor for number in numbers for anchor in self.anchors[number]}
        return [
            anchor
            for anchor in (*self.short, *candidates)
            if all(probe in words for probe in anchor.probes)
        ]


class _AnchorTable:
    """The shapes and values to search for, by number, and the anchors that call for them.

    ``base`` is another table, which this one adds to.
    """

    def __init__(
        self, rows: Iterable[tuple[int, Sequence[bytes], bool]], base: _AnchorTable | None = None
    ) -> None:
        self._base = base
        self._own: list[tuple[bytes, int, bool]] = []
        self.always: list[int] = [*base.always] if base is not None else []
        """What is searched for in every text: it has no anchor."""
        for number, anchors, folded in rows:
            if not anchors:
                self.always.append(number)
            self._own += [(data, number, folded) for data in anchors]
        self.all: list[tuple[bytes, int, bool]] = (
            [*base.all, *self._own] if base is not None else self._own
        )

    @once
    def _grams(self) -> _Grams:
        anchors = (_Anchor(*row, _probes(row[0])) for row in self._own)
        return _Grams(self._base._grams if self._base is not None else None, anchors)

    def candidates(self, text: bytes) -> Iterable[tuple[bytes, int, bool]]:
        """The bytes, number and case of the anchors that may stand in a text."""
        if len(text) <= _SHORT:
            return self.all
        return [anchor[:3] for anchor in self._grams.in_text(text)]


class _Index:
    """Every shape and known value, of which only those that may be in a text are searched for.

    Which words stand in a long text is computed once, whatever the number of secrets.
    """

    def __init__(self, secrets: Iterable[bytes]) -> None:
        self.finders: dict[int, _ShapeFinder] = {}
        self._variants = list(variants(secrets))
        self._shapes = _all_shapes()
        self._table = _anchors_of_shapes()
        if self._variants:
            # Below zero: before the shapes, and as an index it is the variant's own.
            numbers = range(-len(self._variants), 0)
            values = zip(numbers, self._variants, strict=True)
            rows = [(number, value.probes, False) for number, value in values]
            self._table = _AnchorTable(rows, self._table)

    def present(self, text: bytes, limit: int) -> list[_ShapeFinder]:
        """The finders that may match, in the order that counts where two begin at one byte.

        They have begun this block, in which secrets before ``limit`` can be told.
        """
        low = text.lower()
        numbers: dict[int, list[bytes]] = {number: [] for number in self._table.always}
        for anchor, number, folded in self._table.candidates(text):
            if number in numbers and (number < 0 or not self._shapes[number].starts):
                continue
            rare = next((byte for byte in _RARE if byte in anchor), -1)
            if rare >= 0 and rare not in text:
                continue
            if anchor in (low if folded else text):
                numbers.setdefault(number, []).append(anchor)
        finders = []
        for number in sorted(numbers):
            classes = self._shapes[number].classes if number >= 0 else b""
            lowered, anchors = low, numbers[number]
            if classes:
                lowered, anchors = text.translate(classes), [CLASSES]
                if CLASSES not in lowered:
                    continue
            finder = self._finder(number)
            finder.begin(limit, lowered, anchors)
            finders.append(finder)
        return finders

    def _finder(self, number: int) -> _ShapeFinder:
        if number not in self.finders:
            self.finders[number] = _ShapeFinder(
                SecretShape(KNOWN, (), self._variants[number].pattern)
                if number < 0
                else self._shapes[number]
            )
        return self.finders[number]


def run_step(shape: SecretShape) -> bytes:
    """The pattern for up to 64 bytes more of a secret of this shape."""
    whole = shape.run.startswith(b"(?>")
    return shape.run if whole else b"(?>(?:%b){1,64})" % shape.run


def _gram_number(gram: bytes) -> int:
    number: int = memoryview(gram).cast("I")[0]
    return number


@cache
def _all_shapes() -> Sequence[SecretShape]:
    return shapes()


@cache
def _anchors_of_shapes() -> _AnchorTable:
    """The anchors of the shapes, the same for every text."""
    shapes = enumerate(_all_shapes())
    return _AnchorTable((number, shape.anchors, shape.folded) for number, shape in shapes)
