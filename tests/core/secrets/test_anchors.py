"""What a text may hold is told from its anchors: none is overlooked, whatever was seen before."""

from __future__ import annotations

import random
import string

import pytest

from flow.core.secrets import anchors as secrets_anchors
from flow.core.secrets.anchors import AnchorSearch, AnchorTable
from flow.core.secrets.shapes import shapes
from flow.core.secrets.values import variants
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
        found.append(text if len(text) > secrets_anchors._SHORT else text + b"." * 2100)
    return found


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
        present = {row for row in rows.all if row[0] in (text.lower() if row[2] else text)}
        assert present, "the text has none"
        assert present <= set(search.candidates(text))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets_anchors, "_SEEN", 100)
    search = AnchorSearch(AnchorTable(SHAPES))
    most = 0
    for number in range(40):
        letters = [chr(97 + number % 26), chr(97 + number // 26)]
        words = [f"{a}{b}{letters[0]}{letters[1]}" for a in "abcdefgh" for b in "abcdefghij"]
        search.candidates(" ".join([*words, "x" * 3000]).encode())
        most = max(most, len(search._quiet) + len(search._telling))
    assert 0 < most <= 100 + 80
    assert not any(len(word) > 32 for word in (*search._quiet, *search._telling))
