"""What is told to hold no secret without a pattern is what the patterns leave as it is."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.core.secrets import plain
from flow.core.secrets.plain import is_plain
from flow.core.secrets.redact import Redactor
from flow.core.secrets.shapes import shapes
from flow.core.secrets.table import ALPHABETS, FORMED, HEADERS, PREFIXED, SETTINGS, rows
from flow.core.secrets.variants import may_hold
from tests.support import secret_samples as samples
from tests.support.effort import sizes

SECRETS = [f"{b}{t}{a}" for t, b, a in [(t, "", "") for _, t in samples.tokens().values()]]
SECRETS += [f"{before}{secret}{after}" for _, before, secret, after in samples.settings().values()]


def found(data: bytes) -> dict[str, int]:
    """What the patterns find, all of them."""
    stream = Redactor(())
    stream.feed(data)
    stream.finish()
    return stream.counts


@pytest.mark.parametrize(
    "text",
    [
        "It is done. " * 40,
        "See /usr/lib/python3/x.py, src/flow/greet.py:12 and ./tests/paths/test_patch_path.py.",
        "It is https://example.com/x?y=1&z=2#part, http://localhost:8080/a@b and ssh://git@host/x.",
        "The token is kept, tokens and passwords are not; a secret = none, pwd: src/x. By default",
        "disk-usage, task-list, risk-free, key-value, pre_commit and re_use in src/core_dir/x.py",
        "commit 0123456789abcdef0123456789abcdef01234567 on NOTE.branch-name.of-mine " + "x" * 99,
        "",
    ],
)
def test_what_agents_say_last_is_plain(text: str) -> None:
    assert is_plain(text.encode())
    assert not found(text.encode())


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_not_plain(text: str) -> None:
    for before in ("", "see ", "x" * 300 + " "):
        assert not is_plain(f"{before}{text} ".encode())


def test_a_long_text_is_left_to_the_patterns() -> None:
    assert is_plain(b" " * plain.LONGEST)
    assert not is_plain(b" " * (plain.LONGEST + 1))


PARTS = [
    *(
        "://",
        "a:b@",
        "user:",
        "@",
        ":",
        "=",
        " = ",
        '"',
        "\\",
        " ",
        "\n",
        "?",
        "&",
        ";",
        "password",
    ),
    *("token", "Api_Key", "pwd=", "machine ", "default ", "login ", "key-", "pat", "M", "OT", "."),
    *("a1B2c3D4e5F6g7H8i9J0", "0123456789abcdef" * 2, "x" * 33, "/", "-", "_", "Secret"),
]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.sampled_from(PARTS) | st.sampled_from(SECRETS) | st.text(string.printable, max_size=8),
        max_size=12,
    ).map("".join),
    st.integers(0, 80),
    st.integers(0, 80),
)
def test_the_patterns_leave_as_it_is_what_is_plain(text: str, first: int, last: int) -> None:
    data = text.encode()[first : max(len(text) - last, 0) or None]
    if is_plain(data):
        assert not found(data)


BY_ROW: dict[tuple[bytes, bytes], list[bytes]] = {}
for shape in shapes():
    first_anchor = shape.anchors[0].lower() if shape.anchors else b""
    BY_ROW.setdefault((shape.kind.encode(), first_anchor), []).append(shape.pattern)


@pytest.mark.slow
@settings(max_examples=sizes(short=150, long=300), deadline=None)
@given(st.data())
def test_a_row_with_a_need_of_its_own_matches_nothing_plain(data: st.DataObject) -> None:
    [pattern] = BY_ROW[data.draw(st.sampled_from(sorted(plain.NEEDS)))]
    text = data.draw(st.from_regex(re.compile(pattern)))
    assert not is_plain(text)


def test_every_anchor_of_a_shape_is_looked_for() -> None:
    anchors = {anchor.lower() for shape in shapes() for anchor in shape.anchors}
    assert {a for a, _ in plain._anchors_in(b"\0".join(sorted(anchors)))} == anchors
    every = b"\0".join(sorted(anchors, key=len))
    assert not is_plain(every)


def test_the_needs_are_those_of_the_rows_as_they_are() -> None:
    """A row that changes may need something else where its anchor stands."""
    texts = {}
    for table, columns in ((FORMED, 7), (HEADERS, 8), (SETTINGS, 8)):
        for row in rows(table, columns):
            key = row[0].encode(), row[1].partition(",")[0].encode()
            if key in plain.NEEDS:
                assert key not in texts, "two rows with one key"
                texts[key] = (row[2], row[3])
    value = r"([A-Za-z0-9+/_.~!@#$%^*|?-]{16,256}+={0,2}+)"
    named = r"<NAME>[A-Za-z0-9_.-]{0,32}+<QUOTE>(?:\s{0,4}+(?::=|=>|=|:)\s{0,4}+|\x20{1,2})<QUOTE>"
    blank, word = r"\s{1,20}+", r"[\w.@+-]{1,128}+"
    machine, few = r"(?:machine\s{1,4}+\S{1,255}+|default)", r"\s{1,4}+"
    last = few + r"(\S{1,128}+)"
    parameter = r"""(?i:(?<=[?&;])(?:password|passwd|pwd)\s?=\s?)([^&;\s"'<>\\]{3,128}+)"""
    host, secret = r"[^\s/@:\"'<>?#\\]{0,128}+", r"([^\s/@\"'<>?#\\]{1,256}+)"
    assert texts == {
        (b"airtable", b"pat"): ("0", r"pat<3>[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
        (b"mailgun", b"key-"): ("0", r"key-(?<!-key-)<4>[0-9a-f]{32}(?![0-9A-Za-z])"),
        (b"url_password", b"://"): ("0", f"://{host}:{secret}(?=@)"),
        (b"assignment", b"passw"): ("0", named + value),
        (b"password", b"machine"): ("0", f"{machine}{blank}login{few}{word}{blank}password{last}"),
        (b"password", b"password"): ("0", parameter),
    }
    [without] = [shape for shape in shapes() if not shape.anchors]
    assert [row[3] for row in rows(FORMED, 7) if row[1] == "-"] == [
        r"[MNO][DTjz]<2>[A-Za-z0-9_-]{21,26}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"
    ]
    assert without.kind == "discord"


@pytest.mark.parametrize("row", [*rows(PREFIXED, 7)], ids=lambda row: row[1])
def test_the_bytes_behind_a_prefix_are_those_of_its_alphabet(row: list[str]) -> None:
    need = plain._token_behind(0, row[2].lower().encode(), row[3].encode())
    least = int(row[3])
    for code in range(256):
        byte = bytes([code])
        if re.match(ALPHABETS[row[2]], byte + b"a"):
            assert need(byte * least, 0), byte
    assert not need(b"a" * (least - 1), 0)
    assert not need(b"a" * (least - 1) + b" a", 0)


def test_a_known_value_is_looked_for_in_every_form() -> None:
    assert not may_hold(b"nothing of it", (b"Kq7xVw2mPz9", b"short"))
    for text in (b"see Kq7xVw2mPz9", b"S3E3eFZ3Mm1Qejk=", b"4b713778567732", b"%4b%71%37%78%56"):
        assert may_hold(text, (b"Kq7xVw2mPz9",)), text
