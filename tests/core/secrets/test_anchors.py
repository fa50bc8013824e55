"""What a text may hold is told from its anchors: none is overlooked, whatever was seen before."""

from __future__ import annotations

import random
import re
import string
import sys

import pytest

from flow.adapters.process import many_strings
from flow.core.secrets import anchors as secrets_anchors
from flow.core.secrets.anchors import AnchorRow, AnchorSearch, AnchorTable
from flow.core.secrets.redact import Redactor
from flow.core.secrets.shapes import shapes
from flow.core.secrets.values import variants
from tests.support import secret_samples as samples
from tests.support.effort import sizes

SHAPES = [(number, s.anchors, s.folded) for number, s in enumerate(shapes())]
AROUND = (b" ", b"aK0_- \n", string.printable.encode(), bytes(range(256)))


def table(made: random.Random) -> AnchorTable:
    """The anchors of all shapes, and of two known values."""
    known = [bytes(made.choices(range(256), k=made.randrange(6, 40))) for _ in range(2)]
    rows = [(-1 - n, value.probes, False) for n, value in enumerate(variants(known))]
    return AnchorTable(rows, AnchorTable(SHAPES))


def texts(made: random.Random, rows: AnchorTable) -> list[bytes]:
    """Long texts that share most of their words, which anchors are parts of or stand between."""
    words = [bytes(made.choices(made.choice(AROUND), k=made.randrange(12))) for _ in range(90)]
    found = []
    for _ in range(6):
        parts = made.choices(words, k=sizes(short=400, long=900))
        for row in made.sample(rows.all, 25):
            data = made.choice([row[0], row[0].upper(), row[0].title()]) if row[2] else row[0]
            parts[made.randrange(len(parts))] += data + made.choice([b"", *words])
        words += made.sample(parts, 20)
        made.shuffle(parts)
        text = made.choice([b" ", b"\n", b""]).join(parts)
        found.append(text if len(text) > secrets_anchors.SHORT else text + b"." * 2100)
    return found


def told(search: AnchorSearch, text: bytes) -> dict[AnchorRow, list[int]]:
    return {row: list(starts) for row, starts in search.stand_in(text, text.lower())}


def in_text(rows: AnchorTable, text: bytes) -> dict[AnchorRow, list[int]]:
    """Each anchor looked for by itself, at every byte."""
    low = text.lower()
    present = {row for row in rows.all if row[0] in (low if row[2] else text)}
    assert present, "the text has none"
    return {
        row: [
            m.start() for m in re.finditer(b"(?=%b)" % re.escape(row[0]), low if row[2] else text)
        ]
        for row in present
    }


@pytest.mark.parametrize("remembered", [1, 40, 1 << 13])
@pytest.mark.parametrize("seed", range(sizes(short=15, long=300)))
def test_no_anchor_of_a_text_is_overlooked_whatever_was_seen_before(
    seed: int, remembered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets_anchors, "_SEEN", remembered)
    made = random.Random(seed)
    rows = table(made)
    search = AnchorSearch(rows)
    for text in texts(made, rows):
        assert told(search, text) == in_text(rows, text)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets_anchors, "_SEEN", 100)
    search = AnchorSearch(AnchorTable(SHAPES))
    most = 0
    for number in range(40):
        letters = [chr(97 + number % 26), chr(97 + number // 26)]
        words = [f"{a}{b}{letters[0]}{letters[1]}" for a in "abcdefgh" for b in "abcdefghij"]
        told(search, " ".join([*words, "x" * 3000]).encode())
        most = max(most, len(search._quiet) + len(search._telling))
    assert 0 < most <= 100 + 80
    assert not any(len(word) > 32 for word in (*search._quiet, *search._telling))


@pytest.mark.parametrize("most", [1 << 13, 0], ids=["fastest", "smallest"])
@pytest.mark.parametrize("seed", range(sizes(short=10, long=200)))
def test_the_library_tells_the_same(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ahocorasick_rs")
    monkeypatch.setattr(many_strings, "_MOST", most)
    made = random.Random(seed)
    rows = table(made)
    search = AnchorSearch(rows, many_strings.make_finder)
    for text in texts(made, rows):
        assert told(search, text) == in_text(rows, text)


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
