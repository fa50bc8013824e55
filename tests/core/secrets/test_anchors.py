"""What a text may hold is told from its anchors: none is overlooked, whatever was seen before."""

from __future__ import annotations

import random
import re
import string
import sys
from functools import cache
from typing import NamedTuple

import pytest

from flow.adapters.process import many_strings
from flow.core.secrets import anchors as secrets_anchors
from flow.core.secrets.anchors import AnchorRow, AnchorSearch, AnchorTable
from flow.core.secrets.redact import Redactor, _anchors_of
from flow.core.secrets.shapes import _word_edge, shapes
from flow.core.secrets.variants import variants
from tests.support import secret_samples as samples
from tests.support.effort import sizes

Standing = dict[AnchorRow, list[int]]
"""Anchors, and where they stand."""
SHAPES = _anchors_of(shapes())
MAKE = samples.Maker(7)
EDGES = (
    b"",
    b"\\n",
    b"\\t",
    b"\x1b[31m",
    b"\x1b[m",
    b";3m",
    b"%0A",
    b"%3d",
    b"\\u000a",
    b"\\u003D",
)
AROUND = (b" ", b"aK0_- \n", string.printable.encode(), bytes(range(256)))


def table(made: random.Random) -> AnchorTable:
    """The anchors of all shapes, and of two known values."""
    known = [bytes(made.choices(range(256), k=made.randrange(6, 40))) for _ in range(2)]
    values = enumerate(variants(known))
    rows = [AnchorRow(probe, -1 - n) for n, value in values for probe in value.probes]
    return AnchorTable(rows, (), SHAPES)


def texts(made: random.Random, rows: AnchorTable) -> list[bytes]:
    """Long texts that share most of their words, which anchors are parts of or stand between."""
    words = [bytes(made.choices(made.choice(AROUND), k=made.randrange(12))) for _ in range(90)]
    found = []
    for _ in range(6):
        parts = made.choices(words, k=sizes(short=400, long=900))
        for row in made.sample(rows.all, 25):
            data = (
                made.choice([bytes.upper, bytes.title, bytes])(row.data) if row.folded else row.data
            )
            data = made.choice([b"MT", b"Oj", b"ND"]) if row.classes else data
            before = made.choice(EDGES) if row.edged else b""
            parts[made.randrange(len(parts))] += before + data + made.choice([b"", *words])
        words += made.sample(parts, 20)
        made.shuffle(parts)
        text = made.choice([b" ", b"\n", b""]).join(parts)
        found.append(text if len(text) > secrets_anchors.SHORT else text + b"." * 2100)
    return found


def told(search: AnchorSearch, text: bytes) -> Standing:
    standing: Standing = {}
    for row, starts in search.anchors_in(text):
        standing.setdefault(row, []).extend(starts)
    return standing


def positions(data: bytes, text: bytes) -> list[int]:
    """Wherever ``data`` begins, be it inside of itself."""
    starts, at = [], text.find(data)
    while at >= 0:
        starts.append(at)
        at = text.find(data, at + 1)
    return starts


def in_text(rows: AnchorTable, text: bytes) -> tuple[Standing, Standing]:
    """Each anchor looked for by itself, at every byte; and of these, where it counts."""
    low = text.lower()
    there: Standing = {}
    counting: Standing = {}
    for row in rows.all:
        seen = low if row.folded else text
        starts = positions(row.data, text.translate(row.classes) if row.classes else seen)
        if starts:
            there[row] = starts
            edge = re.compile(_word_edge(len(row.data)) if row.edged else b"")
            counted = [start for start in starts if edge.match(seen, start + len(row.data))]
            if counted:
                counting[row] = counted
    assert counting, "the text has none"
    return there, counting


class Scene(NamedTuple):
    """A table, texts with its anchors, and where those stand in each and where they count."""

    rows: AnchorTable
    texts: list[tuple[bytes, Standing, Standing]]


@cache
def scene(seed: int) -> Scene:
    """Made and looked through once for all that are asked of it."""
    made = random.Random(seed)
    rows = table(made)
    return Scene(rows, [(text, *in_text(rows, text)) for text in texts(made, rows)])


def compare(search: AnchorSearch, text: bytes, there: Standing, counting: Standing) -> None:
    """Each that counts is told, nothing that is not there, and none twice."""
    answer = told(search, text)
    assert {*counting} <= {*answer} <= {*there}
    for row, starts in answer.items():
        assert starts == sorted({*starts})
        assert {*starts} <= {*there[row]}
        if not row.edged:
            assert starts == there[row]
    for row, starts in counting.items():
        assert {*starts} <= {*answer[row]}, row


@pytest.mark.parametrize("remembered", [1, 40, 1 << 13])
@pytest.mark.parametrize("seed", range(sizes(short=15, long=300)))
def test_no_anchor_of_a_text_is_overlooked_whatever_was_seen_before(
    seed: int, remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets_anchors, "_MOST_REMEMBERED", remembered)
    if seed % 2:
        monkeypatch.setattr(secrets_anchors, "_PIECE", 1 << 6)
    rows, texts_of_it = scene(seed)
    search = AnchorSearch(rows)
    for text, there, counting in texts_of_it:
        compare(search, text, there, counting)


@pytest.mark.parametrize("around", [b".", b"\n", b"a1_"])
def test_an_anchor_stands_where_a_part_of_a_text_ends(
    around: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words may all be those of the next part."""
    monkeypatch.setattr(secrets_anchors, "_PIECE", 1 << 6)
    search = AnchorSearch(SHAPES)
    for row in SHAPES.all:
        for at in range(62, 66) if not row.classes else ():
            text = b"x" * at + b" " + row.data + around + b" ." * 2000
            assert (row, [at + 1]) in search.anchors_in(text), row


def test_the_second_of_two_in_a_word_calls_where_the_first_one_does_not() -> None:
    text = b"xcio3mcio" + MAKE.of(samples.ALNUM, 32).encode() + b" ." * 2000
    rows = {row.data for row, _ in AnchorSearch(SHAPES).anchors_in(text)}
    assert b"cio" in rows


def test_each_of_the_words_with_an_anchor_is_remembered_with_it() -> None:
    """Also those between the first and the last one of a text."""
    search = AnchorSearch(SHAPES)
    filler = b" ." * secrets_anchors.SHORT
    for row in [row for row in SHAPES.all if not (row.classes or row.edged)]:
        words = [before + row.data for before in (b"x", b"yy", b"zzz", b"xyzxyz")]
        assert row in told(search, b" ".join(words) + filler)
        for word in words:
            assert row in told(search, word + filler), (row, word)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(sizes(short=25, long=400)))
def test_each_byte_is_as_where_every_anchor_is_looked_for(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What words call for changes no byte, at whatever edge a secret stands."""
    made = random.Random(seed)
    known = [samples.Maker(seed).of(samples.ALNUM, 24).encode()]
    secrets = [text.encode() for _, text in samples.tokens().values()] + known
    secrets += [f"{b}{s}{a}".encode() for _, b, s, a in samples.settings().values()]
    words = [bytes(made.choices(made.choice(AROUND), k=made.randrange(14))) for _ in range(60)]
    before = [*EDGES, *(e[1:] for e in EDGES), b"a", b"_", b"0", b"\n", b'"', b"x=", *words]
    parts: list[bytes] = []
    for _ in range(sizes(short=1500, long=3000)):
        parts += made.choices(words, k=made.randrange(12))
        if made.random() < 0.1:
            secret = made.choice(secrets)
            secret = secret[: made.choice([len(secret), made.randrange(len(secret))])]
            parts += [made.choice(before), secret, made.choice([b"", b"\n", *words])]
    text = made.choice([b" ", b"\n", b"_", b""]).join(parts)
    outputs = []
    for every in (False, True):
        if every:
            monkeypatch.setattr(secrets_anchors, "SHORT", len(text))
        redactor = Redactor(known)
        outputs.append((redactor.feed(text) + redactor.finish(), redactor.counts))
    assert outputs[0] == outputs[1]
    assert outputs[0][1]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets_anchors, "_MOST_REMEMBERED", 100)
    search = AnchorSearch(SHAPES)
    most = 0
    for number in range(40):
        letters = [chr(97 + number % 26), chr(97 + number // 26)]
        words = [f"{a}{b}{letters[0]}{letters[1]}" for a in "abcdefgh" for b in "abcdefghij"]
        told(search, " ".join([*words, "x" * 3000]).encode())
        most = max(most, len(search._plain_words) + len(search._anchor_words))
    assert 0 < most <= 100 + 80
    assert not any(len(word) > 32 for word in (*search._plain_words, *search._anchor_words))


@pytest.mark.parametrize("most", [1 << 13, 0], ids=["fastest", "smallest"])
@pytest.mark.parametrize("seed", range(sizes(short=10, long=200)))
def test_the_library_tells_the_same(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ahocorasick_rs")
    monkeypatch.setattr(many_strings, "_MOST", most)
    rows, texts_of_it = scene(seed)
    search = AnchorSearch(rows, many_strings.make_finder)
    for text, there, counting in texts_of_it:
        compare(search, text, there, counting)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(sizes(short=12, long=300)))
def test_with_the_library_each_byte_is_as_without(seed: int) -> None:
    pytest.importorskip("ahocorasick_rs")
    made = random.Random(seed)
    known = [samples.Maker(seed).of(samples.ALNUM, 24).encode()]
    parts = [text.encode() for _, text in samples.tokens().values()]
    parts += [f"{b}{s}{a}".encode() for _, b, s, a in samples.settings().values()]
    parts += [bytes(made.choices(made.choice(AROUND), k=3000)) for _ in range(9)] + known
    chunks = [b"".join(made.choices(parts, k=made.randrange(9))) for _ in range(40)]
    plain, fast = Redactor(known), Redactor(known, many_strings.make_finder)
    for chunk in chunks:
        assert fast.feed(chunk) == plain.feed(chunk)
    assert fast.finish() == plain.finish()
    assert fast.counts == plain.counts != {}


@pytest.mark.parametrize("module", [None, object()], ids=["not installed", "too old"])
def test_without_the_library_nothing_is_overlooked(
    module: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    many_strings._library.cache_clear()
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", module)  # type: ignore[arg-type]
    token = samples.tokens()["github-classic"][1].encode()
    try:
        assert many_strings.make_finder([b"a"]) is None
        redactor = Redactor((), many_strings.make_finder)
        out = redactor.feed(b"x y " * 9000 + token + b"\n") + redactor.finish()
    finally:
        many_strings._library.cache_clear()
    assert token not in out
    assert redactor.counts == {"github": 1}
