"""Redaction of secrets in bytes that are stored or sent (SPEC 10, Secrets).

The result does not depend on how the input is cut: each decision waits for all bytes that it can
depend on. At most ``WINDOW`` bytes are held back; a private key of any length is dropped from its
first line to its last as it passes, and never collected.

Known values come first, then the shapes of :mod:`flow.core.secrets.shapes`. Of two secrets that
overlap everything is redacted, under the first one's name.
"""

from __future__ import annotations

from flow.core.secrets.anchors import SHORT, AnchorRow, AnchorSearch, AnchorTable
from flow.core.secrets.shapes import CLASSES, REACH, SecretShape, shapes, shapes_in
from flow.core.secrets.variants import variants
from flow.startup import re
from flow.startup.functools import cache
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flow.core.secrets.anchors import MakeFinder

KNOWN = "known_value"
"""The kind of a secret whose value is in the environment."""

BLOCK = 1 << 14
"""Bytes that are collected before a search, so that many small chunks cost little."""

WINDOW = REACH + BLOCK
"""Bytes that are held back, at most."""

_STEP = 1 << 16
"""Bytes of a text that are searched together: a longer text may hold more anchors to search for."""
RUN_AHEAD = 512
"""No step of a run reads further than this many bytes after its start."""

_END_AHEAD = 32
_UNTIL_AHEAD = 256


class Redacted(NamedTuple):
    """Bytes without their secrets, and the number of secrets by kind."""

    data: bytes
    counts: Mapping[str, int]


def placeholder(kind: str) -> bytes:
    """The text that replaces a secret."""
    return b"[masked:%b]" % kind.encode()


def redact(data: bytes, secrets: Sequence[bytes] = ()) -> Redacted:
    """Redact ``data``; values in ``secrets`` with fewer than 6 bytes are not searched for."""
    possible = shapes_in(data) if len(data) <= SHORT else None
    redactor = Redactor(secrets, possible=possible)
    return Redacted(redactor.feed(data) + redactor.finish(), redactor.counts)


class Redactor:
    """A stream from which secrets are removed; ``counts`` has their number by kind.

    ``make_finder`` saves time and does not change the result. ``possible`` are the shapes that can
    occur; None: all shapes.
    """

    def __init__(
        self,
        secrets: Iterable[bytes] = (),
        make_finder: MakeFinder | None = None,
        possible: Sequence[SecretShape] | None = None,
    ) -> None:
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
        self._index = _Index(secrets, make_finder, possible)

    def feed(self, chunk: bytes) -> bytes:
        """Take more bytes; return those that are certain to stay."""
        if len(chunk) > _STEP:
            steps = range(0, len(chunk), _STEP)
            return b"".join([self.feed(chunk[at : at + _STEP]) for at in steps])
        self.bytes_fed += len(chunk)
        self._chunks.append(bytes(chunk))
        self._waiting += len(chunk)
        return self._work(final=False) if self._waiting >= BLOCK else b""

    def finish(self) -> bytes:
        """Return the rest. No ``feed`` may follow."""
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
        """The first secret that is certain by now and ends after ``_position``; None if none is."""
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
        """Skip the rest of the last secret; False if its end is yet to come."""
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
        gone = max(self._position - REACH, 0)
        self._buffer = text[gone:]
        self._position -= gone
        for finder in self._index.finders.values():
            finder.move(gone)


class _SecretSpan(NamedTuple):
    """A secret in the text, and the start of its pattern's match."""

    start: int
    end: int
    begins: int
    finder: _ShapeFinder


class _ShapeFinder:
    """Finds the secrets of one shape, from left to right.

    A secret that another one overlaps is found, too, unless it begins more than ``REACH`` bytes
    before the end of the other one.
    """

    def __init__(self, shape: SecretShape) -> None:
        self.kind = shape.kind
        self._shape = shape
        self._pattern = re.compile(shape.pattern)
        self._group = min(self._pattern.groups, 1)
        self._checked = self._pattern.groups
        self._cursor = 0
        """The earliest index at which a later match can begin."""
        self._span: _SecretSpan | None = None
        self._limit = 0
        self._done = False
        self._anchors: Sequence[int] = ()
        """Positions of anchors, from left to right."""
        self._passed = 0
        """Number of anchors that no later match can contain."""

    @property
    def run(self) -> re.Pattern[bytes] | None:
        """A step over more of the secret, of bounded size, so that a run needs no memory."""
        return re.compile(run_step(self._shape)) if self._shape.run else None

    @property
    def until(self) -> re.Pattern[bytes] | None:
        """The end of the secret."""
        return re.compile(self._shape.until) if self._shape.until else None

    def begin(self, limit: int, anchors: Sequence[int]) -> None:
        """Start a new block, in which secrets that begin before ``limit`` can be decided.

        ``anchors`` are the positions of the shape's anchors, from left to right.
        """
        self._limit, self._done = limit, False
        self._anchors, self._passed = anchors, 0

    def next(self, text: bytes, at: int) -> _SecretSpan | None:
        """The first secret that ends after ``at``; None if none can be decided yet."""
        while not (secret := self._span) or secret.end <= at or secret.begins < at - REACH:
            self._span = None
            if self._done or not self._search(text, at):
                return None
        return secret if secret.start < self._limit else None

    def _search(self, text: bytes, at: int) -> bool:
        cursor = max(self._cursor, at - REACH)
        if self._shape.lead is None:
            match = self._pattern.search(text, cursor)
        else:
            match = self._match(text, cursor, self._shape.lead)
        if match is None or match.start() >= self._limit:
            self._cursor, self._done = max(self._limit, cursor), True
            return False
        self._cursor = match.start() + 1
        if self._shape.check is None or self._shape.check(match[self._checked]):
            self._span = _SecretSpan(*match.span(self._group), match.start(), self)
        return True

    def _match(self, text: bytes, cursor: int, lead: int) -> re.Match[bytes] | None:
        """Like ``search``, but only at bytes that an anchor follows closely enough."""
        anchors = self._anchors
        while self._passed < len(anchors) and anchors[self._passed] < cursor:
            self._passed += 1
        for index in range(self._passed, len(anchors)):
            anchor = anchors[index]
            for start in range(max(cursor, anchor - lead), min(anchor + 1, self._limit)):
                match = self._pattern.match(text, start)
                if match is not None:
                    return match
            cursor = anchor + 1
            if cursor >= self._limit + lead:
                break
        return None

    def move(self, gone: int) -> None:
        """Follow the text, from which the first ``gone`` bytes were dropped."""
        self._cursor = max(self._cursor - gone, 0)
        if self._span is not None:
            start, end, begins, _ = self._span
            self._span = _SecretSpan(start - gone, end - gone, begins - gone, self)


class _Index:
    """All shapes and known values; only those that may be in a text are searched for.

    The words of a long text are computed once for any number of secrets.
    """

    def __init__(
        self,
        secrets: Iterable[bytes],
        make_finder: MakeFinder | None = None,
        possible: Sequence[SecretShape] | None = None,
    ) -> None:
        self.finders: dict[int, _ShapeFinder] = {}
        self._variants = list(variants(secrets))
        self._shapes = _all_shapes() if possible is None else possible
        self._table = _anchors_of_shapes() if possible is None else _anchors_of(possible)
        if self._variants:
            # Negative numbers sort before the shapes, and index the variants from the end.
            numbers = range(-len(self._variants), 0)
            values = [*zip(numbers, self._variants, strict=True)]
            rows = [AnchorRow(probe, n) for n, value in values for probe in value.probes]
            without = [n for n, value in values if not value.probes]
            self._table = AnchorTable(rows, without, self._table)
        self._search = AnchorSearch(self._table, make_finder)

    def present(self, text: bytes, limit: int) -> list[_ShapeFinder]:
        """The finders that may match, in order of precedence for secrets with the same start.

        Each has begun this block, in which secrets before ``limit`` can be decided.
        """
        anchors: dict[int, list[int]] = {number: [] for number in self._table.without_anchor}
        for row, starts in self._search.anchors_in(text):
            anchors.setdefault(row.number, []).extend(starts)
        finders = []
        for number in sorted(anchors):
            if anchors[number] or number < 0 or self._shapes[number].lead is None:
                finder = self._finder(number)
                finder.begin(limit, sorted(anchors[number]))
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
    """The pattern for up to 64 more bytes of a secret of this shape."""
    whole = shape.run.startswith(b"(?>")
    return shape.run if whole else b"(?>(?:%b){1,64})" % shape.run


@cache
def _all_shapes() -> Sequence[SecretShape]:
    return shapes()


@cache
def _anchors_of_shapes() -> AnchorTable:
    """The table of all shapes' anchors, the same for every text."""
    return _anchors_of(_all_shapes())


def _anchors_of(shapes: Sequence[SecretShape]) -> AnchorTable:
    rows = [
        AnchorRow(data, number, shape.folded, shape.edged, shape.classes)
        for number, shape in enumerate(shapes)
        for data in ((CLASSES,) if shape.classes else shape.anchors)
    ]
    return AnchorTable(rows, ())
