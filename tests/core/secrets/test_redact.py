"""What is masked and what is not, in one piece and in any pieces (SPEC 10, HAZARD E64)."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import shlex
import string
import time
from functools import cache
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

from flow.core.secrets import redact as secrets_redact
from flow.core.secrets import shapes as secrets_shapes
from flow.core.secrets.plain import is_plain
from flow.core.secrets.redact import Redacted, Redactor, placeholder
from flow.core.secrets.shapes import CLASSES, REACH, SecretShape, shapes, shapes_in
from flow.core.secrets.table import FORMED, rows
from flow.core.secrets.values import LEAST, _words_of, secret_name, values
from flow.core.secrets.variants import may_hold, variants
from tests.support import secret_samples as samples
from tests.support.effort import sizes
from tests.support.pace import exceeds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOKENS = samples.tokens()
SETTINGS = samples.settings()
MAKE = samples.Maker(99)


def redact(data: bytes, secrets: Sequence[bytes] = ()) -> Redacted:
    """As Flow redacts; what is found is found by the look before, too, that loads no pattern."""
    redacted = secrets_redact.redact(data, secrets)
    assert not redacted.counts or may_hold(data, secrets) or not is_plain(data)
    return redacted


def streamed(data: bytes, cuts: Sequence[int], known: Sequence[bytes] = ()) -> tuple[bytes, object]:
    redactor = Redactor(known)
    out = []
    for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
        out.append(redactor.feed(data[start:end]))
    out.append(redactor.finish())
    assert redactor.bytes_fed == len(data)
    return b"".join(out), redactor.counts


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every chunk is looked at by itself, and nothing is collected first."""
    monkeypatch.setattr(secrets_redact, "BLOCK", 1)


def test_the_corpus_is_large() -> None:
    assert len(TOKENS) + len(SETTINGS) >= 120


AROUND = [
    ("", ""),
    ("a line\n", "\nanother\n"),
    ('{"x": "', '"}'),
    ("x=", "; y"),
    ("\x1b[31m", "\x1b[0m"),
    # In a long text those anchors are looked for that begin with the bytes of its words.
    (" " * 3000, ""),
]


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_is_masked(name: str) -> None:
    kind, token = TOKENS[name]
    around = AROUND[1:-1]
    one = around[[*TOKENS].index(name) % len(around)]  # each of them around some of a kind
    for before, after in sizes(short=[AROUND[0], one, AROUND[-1]], long=AROUND):
        found = redact(f"{before}{token}{after}".encode())
        assert found.data.decode() == before + placeholder(kind).decode() + after
        assert found.counts == {kind: 1}


@pytest.mark.parametrize("name", SETTINGS)
def test_what_stands_in_a_setting_is_masked(name: str) -> None:
    kind, before, secret, after = SETTINGS[name]
    for first, last in (("first ", " last"), ("", ""), (" " * 3000, "")):
        found = redact(f"{first}{before}{secret}{after}{last}".encode())
        assert found.data.decode() == f"{first}{before}{placeholder(kind).decode()}{after}{last}"
        assert found.counts == {kind: 1}


KEYED = ["password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential"] + [
    f"{word}{joint}key"
    for joint in ("", "_", "-")
    for word in ["api", "access", "account", "auth", "private"]
]
KEYED += [f"{w}{j}key" for w in ["signing", "shared", "encryption", "master"] for j in "_-"]


@pytest.mark.parametrize("case", [str.lower, str.upper, str.title], ids=["low", "up", "title"])
def test_each_name_in_each_case_is_enough_by_itself(case: Callable[[str], str]) -> None:
    """Nothing else in the text has a pattern looked for."""
    value = "aB3x" + "Yz7Kq" * 4
    for name in map(case, KEYED):
        for before in (b"", b" " * 3000):  # a short text is looked through in another way
            found = redact(before + f"{name}={value}".encode())
            assert found.data == before + name.encode() + b"=" + placeholder("assignment")


@pytest.mark.parametrize("case", [str.lower, str.upper, str.title, str.swapcase])
def test_headers_are_found_in_any_case(case: Callable[[str], str]) -> None:
    value = "aB3x" + "Yz7Kq" * 4
    for name in ("Authorization: Bearer", "bearer", "Authorization: Token"):
        found = redact(f"{case(name)} {value}".encode())
        assert found.data == case(name).encode() + b" " + placeholder("authorization")
    basic = base64.b64encode(f"me:{value}".encode()).decode()
    assert redact(f"{case('Basic')} {basic}".encode()).counts == {"authorization": 1}


@pytest.mark.parametrize("name", samples.ORDINARY)
def test_ordinary_text_stays_as_it_is(name: str) -> None:
    data = samples.ORDINARY[name].encode()
    assert redact(data) == (data, {})
    assert redact(b"\n".join([data] * 3)).counts == {}


@pytest.mark.slow
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", TOKENS)
def test_a_border_at_any_byte_of_a_token_changes_nothing(name: str) -> None:
    kind, token = TOKENS[name]
    lead = b"some words before it " * 3
    data = lead + token.encode() + b" and after it " + b"word " * 900
    whole = lead + placeholder(kind) + b" and after it " + b"word " * 900
    step = max(1, len(token) // sizes(short=2, long=60))
    first = len(lead) - 2 + [*TOKENS].index(name) % step  # other bytes of each of a kind
    for cut in range(first, len(lead) + len(token) + 3, step):
        assert streamed(data, [cut]) == (whole, {kind: 1}), cut


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_border_at_any_byte_of_a_setting_changes_nothing(name: str) -> None:
    kind, before, secret, after = SETTINGS[name]
    data = f"{before}{secret}{after}".encode()
    step = sizes(short=9, long=1)
    for cut in range([*SETTINGS].index(name) % step, len(data), step):
        assert streamed(data + b" " * 5000, [cut])[1] == {kind: 1}, cut


ROWS = [f"{before}{secret}{after}" for _, before, secret, after in SETTINGS.values()]


@pytest.mark.slow
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    "size",
    sizes(
        short=[1, 64, 4095, 4096, 4097],
        long=[1, 2, 3, 7, 64, 1000, 4095, 4096, 4097],
    ),
)
def test_all_of_it_in_chunks_of_a_size(size: int) -> None:
    rows = [token for _, token in TOKENS.values()]
    data = "\n".join([*rows, *ROWS, *samples.ORDINARY.values()]).encode()
    if size < sizes(short=1000, long=64):
        data = data[: sizes(short=70, long=300) * size + sizes(short=4400, long=6000)]
    whole = redact(data)
    first = sizes(short=max(size, 4000), long=size)  # until REACH nothing is told
    assert streamed(data, range(first, len(data), size)) == whole


KNOWN = {
    "letters": "Kq7" + "xVw2mPz9" + "LtR4",
    "symbols": 'p@ss"w0rd\\with/all + of<it>&more=%',
    "words": "a passphrase of four words",
    "umlauts": "Pässwörd-für-Größe😀!",
    "lines": "first line of it\nsecond 'line'\r\nthird\tline",
    "quotes": 'it\'s "quoted" \\\\ twice',
    "shortest": "Zt9-" + "q+4/",
    "base64 like": "c2Vj" + "cmV0/+==" + "dmFsdWU",
    "digits": "8402" + "77193356",
    "escapes": "%25 &amp; \\n %41 & \\",
}


def units(value: str) -> list[str]:
    """Its UTF-16 code units in base 16."""
    return re.findall("....", value.encode("utf-16-be").hex())


def encodings(value: str) -> dict[str, str]:
    data = value.encode()
    found = {
        "plain": value,
        "json": json.dumps(value)[1:-1],
        "json, characters kept": json.dumps(value, ensure_ascii=False)[1:-1],
        "json in json": json.dumps(json.dumps(value))[3:-3],
        "json of others": json.dumps(value)[1:-1].replace("/", "\\/").replace("<", "\\u003C"),
        "url": quote(value, safe=""),
        "url, lower case": re.sub("%..", lambda m: m[0].lower(), quote(value, safe="")),
        "url path": quote(value),
        "form": quote_plus(value),
        "repr": repr(value)[1:-1],
        "shell": shlex.quote(value).strip("'"),
        "html": value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;"),
        "url, all of it": "".join(f"%{code:02x}" for code in data),
        "json, all of it": "".join(f"\\u{unit}" for unit in units(value)),
        "json, all of it, upper case": "".join(f"\\u{unit.upper()}" for unit in units(value)),
        "base16": data.hex(),
        "base16, upper case": data.hex().upper(),
    }
    for before in range(3):
        text = b"\0" * before + data + b"end"
        found[f"base64, {before} before"] = base64.b64encode(text).decode()
        found[f"base64url, {before} before"] = base64.urlsafe_b64encode(text).decode()
        found[f"base64 in lines, {before} before"] = base64.encodebytes(
            b"x" * (30 + before) + data * 4
        ).decode()
    return found


def traces(value: str, masked: bytes) -> str:
    """What of a value is still there, in whatever encoding; at most the borders of base64."""
    decoded = [masked.decode("utf-8", "replace")]
    for start in range(4):
        for text in re.split(rb"[^A-Za-z0-9+/_-]+", masked.replace(b"\n", b"")):
            part = text[start:].translate(bytes.maketrans(b"-_", b"+/"))
            part = part[: len(part) // 4 * 4]
            decoded.append(base64.b64decode(part).decode("latin-1"))
    wide = max(len(value.encode()) // 2, 4)
    latin = value.encode().decode("latin-1")
    for text in decoded:
        for at in range(len(latin) - wide + 1):
            if latin[at : at + wide] in text:
                return latin[at : at + wide]
    return ""


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_value_is_masked_however_it_is_written(name: str) -> None:
    value = KNOWN[name]
    for way, text in encodings(value).items():
        found = redact(f"here: {text} :there".encode(), [value.encode()])
        assert found.counts[secrets_redact.KNOWN] >= 1, way
        assert traces(value, found.data) == "", way
        assert found.data.startswith(b"here: "), way
        assert found.data.endswith(b" :there"), way
        if not way.startswith("base64"):
            assert found == (
                b"here: " + placeholder(secrets_redact.KNOWN) + b" :there",
                {secrets_redact.KNOWN: 1},
            ), way


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", KNOWN)
def test_a_known_value_is_masked_in_utf_16(name: str, order: str) -> None:
    value = KNOWN[name]
    data = f"here: {value} :there".encode(order)
    found = redact(data, [value.encode()])
    assert found.counts == {secrets_redact.KNOWN: 1}
    assert value.encode(order).strip(b"\0") not in found.data
    assert found.data.startswith("here: ".encode(order).rstrip(b"\0"))
    assert found.data.endswith(" :there".encode(order).lstrip(b"\0"))
    padded = data + b"." * 5000
    for cut in range(4, len(data), 7):
        assert streamed(padded, [cut], [value.encode()]) == redact(padded, [value.encode()])


@pytest.mark.slow
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", KNOWN)
def test_a_border_inside_a_known_value_changes_nothing(name: str) -> None:
    value = KNOWN[name]
    step = sizes(short=29, long=3)
    for first, (way, text) in enumerate(encodings(value).items(), [*KNOWN].index(name)):
        data = f"here: {text} :there".encode() + b"." * 5000
        whole = redact(data, [value.encode()])
        for cut in range(4 + first % step, len(data) - 4990, step):
            assert streamed(data, [cut], [value.encode()]) == whole, (way, cut)


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_all_but_the_end_of_a_known_value_is_looked_at_once(name: str) -> None:
    """A pattern that tries each character in two ways would never come to an end here."""
    for way, text in encodings(KNOWN[name] * 8).items():
        data = b"here: " + text.encode()[:-4] + b" :there"
        for variant in variants([KNOWN[name].encode() * 8]):
            re.search(variant.pattern, data)  # ends
        assert redact(data, [KNOWN[name].encode() * 8]).data.startswith(b"here: "), way


@pytest.mark.slow
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    "size", sizes(short=[300, 3500, 3508], long=[300, 3499, 3500, 3508, 20_000])
)
def test_a_long_value_is_one_secret(size: int) -> None:
    value = MAKE.of(samples.ALNUM, size).encode()
    texts = (value, base64.b64encode(b"ab" + value), value.hex().encode())
    data = b"".join(b"<" + text + b">" + b" " * 5000 for text in texts)
    found = redact(data, [value])
    assert found.counts == {secrets_redact.KNOWN: 3}
    assert [len(part) < 40 for part in found.data.split()] == [True] * 3
    assert streamed(data, range(1000, len(data), 1000), [value]) == found


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("data", "known"),
    [
        (b"<abcdefgh-ijklmnop-qrstuvwx>", [b"abcdefgh-ijklmnop", b"ijklmnop-qrstuvwx"]),
        (b"a_word_before_" + TOKENS["npm"][1].encode(), []),
    ],
    ids=["a secret that began in another one", "what makes it none stands before it"],
)
def test_what_was_told_already_is_still_looked_at(data: bytes, known: list[bytes]) -> None:
    whole = data + b" " * 2 * REACH
    for border in range(REACH + 1, REACH + len(data)):  # all before the last ``REACH`` is told
        assert streamed(whole, [border], known) == redact(whole, known), border


def test_secrets_that_overlap_are_masked_to_the_last_byte() -> None:
    one, two = b"abcdefgh-ijklmnop", b"ijklmnop-qrstuvwx"
    found = redact(b"<abcdefgh-ijklmnop-qrstuvwx>", [one, two])
    assert found == (b"<" + placeholder(secrets_redact.KNOWN) + b">", {secrets_redact.KNOWN: 1})


def test_a_value_that_begins_another_hides_the_longer_one_too() -> None:
    found = redact(b"<abcdefgh-ijklmnop>", [b"abcdefgh", b"abcdefgh-ijklmnop"])
    assert found.data == b"<" + placeholder(secrets_redact.KNOWN) + b">"


def test_short_values_are_not_looked_for() -> None:
    assert redact(b"a cat sat", [b"cat", b""]).counts == {}
    assert redact(b"x" * LEAST, [b"x" * LEAST]).counts == {secrets_redact.KNOWN: 1}


@pytest.mark.usefixtures("eager")
def test_a_key_of_any_length_is_left_out_to_its_end_and_never_collected() -> None:
    begin, end = (f"-----{word} RSA PRIVATE" + " KEY-----\n" for word in ("BEGIN", "END"))
    redactor = Redactor()
    out = redactor.feed(b"before\n" + begin.encode())
    line = (MAKE.of(samples.ALNUM, 64) + "\n").encode()
    for _ in range(3000):
        out += redactor.feed(line)
        assert len(redactor._buffer) <= 3 * REACH
    out += redactor.feed(end.encode() + b"after\n") + redactor.finish()
    assert out == b"before\n" + placeholder("private_key") + b"\nafter\n"


LONG = {
    "key": MAKE.pem("RSA PRIVATE" + " KEY", 120),
    "putty": f"Private-Lines: 120\n{MAKE.lines(120)}\nPrivate-MAC: {MAKE.of(samples.HEX, 64)}",
    "jwt": "ey" + "JhbGciOi" + ".".join(MAKE.of(samples.WORD, 1500) for _ in range(5)),
    "lines of base64": base64.encodebytes(MAKE.pem("PRIVATE" + " KEY", 90).encode()).decode(),
}
"""Longer than a pattern reaches, so that what goes on is told by the state alone."""


@pytest.mark.slow
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", LONG)
def test_a_border_where_a_long_secret_goes_on_or_ends(name: str) -> None:
    secret = LONG[name].rstrip()
    data = f"x {secret}. And more, {'of words ' * 700}".encode()
    whole = redact(data)
    assert len(whole.counts) == 1
    assert whole.data == b"x " + placeholder(*whole.counts) + data[2 + len(secret) :]
    end = 2 + len(secret)
    dots = [at for at in range(5000, end) if data[at : at + 1] in b".\n"]
    cuts = {at + by for at in dots for by in range(3)} | set(range(end - 90, end + 40))
    step = sizes(short=4, long=1)
    for cut in sorted(cuts)[[*LONG].index(name) % step :: step]:
        assert streamed(data, [cut]) == whole, cut


def test_a_key_without_an_end_hides_the_rest() -> None:
    _, key = TOKENS["pem-rsa"]
    cut = key[: key.index("-----END")].encode()
    assert redact(b"x\n" + cut + b"\nmore").data == b"x\n" + placeholder("private_key")


ANCHORS = [
    (number, anchor.swapcase() if shape.folded else anchor)
    for number, shape in enumerate(shapes())
    for anchor in shape.anchors
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(sizes(short=10, long=400)))
def test_an_anchor_anywhere_in_a_long_text_calls_for_its_shape(seed: int) -> None:
    """Whatever stands around it: what is looked for first, the words of a text, overlooks none."""
    draw = random.Random(seed)
    value = bytes(draw.choices(range(256), k=draw.randrange(6, 40)))
    rows = [
        *ANCHORS,
        *((n, probe) for n, v in enumerate(variants([value])) for probe in v.probes),
    ]
    index = secrets_redact._Index([value])
    size = len(list(variants([value])))
    for number, anchor in draw.sample(rows, 40):
        known = rows.index((number, anchor)) >= len(ANCHORS)
        edged = not known and shapes()[number].edged
        around = draw.choice([b" ", string.printable.encode(), b"aK0_- \n", bytes(range(256))])
        before, after = (bytes(draw.choices(around, k=n)) for n in (draw.randrange(9), 2100))
        if draw.random() < 0.2:
            before, after = after, before[:0]  # at the very end
        before += draw.choice([b" ", b"\\n", b"\x1b[0m", b"%0a"]) if edged else b""
        finders = index.present(before + anchor + after, 0)
        assert index._finder(number - size if known else number) in finders, (before, anchor)


def test_an_anchor_stands_as_near_to_the_beginning_of_a_match_as_is_said() -> None:
    """However a match looks: every one has an anchor in it, no further than ``lead`` behind it."""
    for shape in shapes():
        if shape.lead is None:
            continue
        anchors = (CLASSES,) if shape.classes else shape.anchors
        size = max(map(len, anchors))
        made, parsed = random.Random(shape.pattern), _parser.parse(shape.pattern)
        for _ in range(sizes(short=10, long=500)):
            match = _sample(parsed, made)[: shape.lead + size]
            begin = match.translate(shape.classes) if shape.classes else match
            begin = begin.lower() if shape.folded else begin
            assert any(0 <= begin.find(a) <= shape.lead for a in anchors), (shape.kind, match)


EDGED = [line.split() for line in FORMED.strip().splitlines() if re.search(r"<[0-9]+>", line)]


def test_the_edge_of_a_word_is_where_a_pattern_begins() -> None:
    """As many bytes ago as the pattern before it is long, so that each of its texts can match."""
    assert EDGED
    for row in EDGED:
        edge = re.search(r"<([0-9]+)>", row[3])
        assert edge, row
        width = int(edge[1])
        assert _parser.parse(row[3][: edge.start()]).getwidth() == (width, width), row


def test_classes_are_of_letters() -> None:
    """A pair of them stands in one word, with no digit."""
    classed = [shape.classes for shape in shapes() if shape.classes]
    assert classed
    for classes in classed:
        assert bytes(byte for byte in range(256) if classes[byte]).isalpha()


def _sample(parsed: Any, made: random.Random) -> bytes:
    """Bytes that a pattern matches, its look-around and what is after its least size left out."""
    out = b""
    for name, arguments in parsed:
        match str(name):
            case "LITERAL":
                out += bytes([arguments])
            case "NOT_LITERAL":
                out += bytes([made.choice([c for c in range(256) if c != arguments])])
            case "ANY":
                out += b"x"
            case "IN":
                out += made.choice(_members(tuple(arguments)))
            case "BRANCH":
                out += _sample(made.choice(arguments[1]), made)
            case "SUBPATTERN":
                inner = _sample(arguments[3], made)
                out += made.choice([inner, inner.upper(), inner.lower()]) if arguments[1] else inner
            case "ATOMIC_GROUP":
                out += _sample(arguments, made)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = arguments
                most = max(least, min(int(most), 140))
                for _ in range(made.choice([least, most, made.randint(least, most)])):
                    out += _sample(inner, made)
            case other:
                assert other in ("ASSERT", "ASSERT_NOT", "AT"), other
    return out


@cache
def _members(parts: tuple[Any, ...]) -> list[bytes]:
    members: set[int] = set()
    negated = False
    for name, value in parts:
        match str(name):
            case "NEGATE":
                negated = True
            case "LITERAL":
                members.add(value)
            case "RANGE":
                members |= set(range(value[0], value[1] + 1))
            case _:
                escape = {
                    "CATEGORY_SPACE": rb"\s",
                    "CATEGORY_NOT_SPACE": rb"\S",
                    "CATEGORY_WORD": rb"\w",
                }[str(value)]
                members |= {c for c in range(256) if re.match(escape, bytes([c]))}
    return [bytes([c]) for c in range(256) if (c in members) is not negated]


LOG = b"2026-03-01 10:15:%02d INFO module.part: test_%d passed the check of /usr/lib/x, as said\n"


def test_ordinary_text_is_searched_by_few_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: bytes over which a pattern runs, for each byte that is printed."""
    read: list[int] = []
    real = secrets_redact._ShapeFinder._search

    def search(self: Any, text: bytes, at: int) -> bool:
        if self._shape.lead is None:
            read.append(len(text) - max(self._cursor, at - REACH))
        return real(self, text, at)

    monkeypatch.setattr(secrets_redact._ShapeFinder, "_search", search)
    text = b"".join(LOG % (n % 60, n) for n in range(12_000))
    assert redact(text).data == text
    assert sum(read) <= 1.2 * len(text)


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [t for _, t in TOKENS.values()]
            + [f"{b}{s}{a}" for _, b, s, a in SETTINGS.values()]
            + [way for value in KNOWN.values() for way in encodings(value).values()]
            + [
                "token",
                "=",
                ": ",
                "-----BEGIN ",
                "://",
                "Bearer ",
                "eyJ",
                "\n",
                '"',
                "\\n",
                " " * 90,
            ]
        ),
        st.text(string.printable, max_size=12),
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data(), PIECES, st.sampled_from([1, 50, 3000]))
def test_chunks_never_change_the_result(data: st.DataObject, parts: list[str], block: int) -> None:
    text = "".join(parts)
    text += "." * data.draw(st.sampled_from([0, 100, 4000, 5000]))
    raw = text.encode()
    known = [value.encode() for value in KNOWN.values()]
    whole = redact(raw, known)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=12)))
    target(float(sum(whole.counts.values())))
    before = secrets_redact.BLOCK
    secrets_redact.BLOCK = block
    try:
        assert streamed(raw, cuts, known) == whole
    finally:
        secrets_redact.BLOCK = before


@pytest.mark.slow
def test_no_pattern_looks_further_than_is_held_back() -> None:
    for pattern, parsed in every_pattern():
        back, ahead = _around(parsed)
        assert back + parsed.getwidth()[1] + ahead <= REACH, pattern[:80]
    for step in (secrets_redact.run_step(shape) for shape in shapes() if shape.run):
        parsed = _parser.parse(step)
        assert parsed.getwidth()[1] + _around(parsed)[1] <= secrets_redact.RUN_AHEAD, step


@cache
def every_pattern() -> list[tuple[bytes, _parser.SubPattern]]:
    """All patterns that are ever compiled, those of unusual known values too, and parsed."""
    odd = ["\\" * 40 + "x", "😀" * 300, "\n" * 300, "'" * 300, '&"<' * 100]
    table = shapes()
    found = [shape.pattern for shape in table]
    found += [secrets_redact.run_step(shape) for shape in table if shape.run]
    found += [shape.until for shape in table if shape.until]
    found += [v.pattern for v in variants([t.encode() for t in (*KNOWN.values(), *odd)])]
    return [(pattern, _parser.parse(pattern)) for pattern in found]


def _nodes(part: object) -> list[tuple[str, Any]]:
    """Every operation in a parsed pattern, at any depth, with its arguments."""
    found, left = [], [part]
    while left:
        part = left.pop()
        if isinstance(part, _parser.SubPattern):
            left += part.data
        elif isinstance(part, (tuple, list)):
            if isinstance(part, tuple) and len(part) == 2 and type(part[0]) is not int:
                found.append((str(part[0]), part[1]))
            left += [each for each in part if isinstance(each, (tuple, list, _parser.SubPattern))]
    return found


def _around(parsed: object) -> tuple[int, int]:
    """The widest look-around behind and ahead, nested ones too."""
    asserted = [value for name, value in _nodes(parsed) if name in ("ASSERT", "ASSERT_NOT")]
    back, ahead = (
        max((inner.getwidth()[1] for way, inner in asserted if way == direction), default=0)
        for direction in (-1, 1)
    )
    return back, ahead


@pytest.mark.slow
def test_every_pattern_means_the_same_on_every_supported_python() -> None:
    """Before 3.11.5 a possessive group that fails in its middle keeps what it took until there.

    A possessive quantifier stands behind one character or class only; a group is made atomic by
    ``(?>...)`` around a plain quantifier, and holds no group that captures.
    """
    for pattern, parsed in every_pattern():
        for name, arguments in _nodes(parsed):
            if name == "POSSESSIVE_REPEAT":
                assert _compiler._simple(arguments[2]), pattern[:80]
            elif name == "ATOMIC_GROUP":
                groups = [inner for kind, inner in _nodes(arguments) if kind == "SUBPATTERN"]
                assert not [group for group in groups if group[0] is not None], pattern[:80]


FRAGMENTS = (
    *(
        "\\",
        "\\\\",
        "\r",
        "\n",
        "\r\n",
        "\\n",
        "\\r",
        "\\r\\n",
        "%0D",
        "%0A",
        ".",
        "..",
        "'",
        '"',
        '\\"',
    ),
    *(" ", "\t", "+", "/", "=", "-", "%5c", "%2f", "&amp;", "\\u0022", "a", "Zq4", "token", ": "),
    *("tok" + "en=", "xYz7Kq" * 4, "eyJ" + "hbGciOiJIUzI1NiJ9", "da" + "pi" + "0a1b2c3d" * 4, "-1"),
    *("-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"),
    *("Qm9vKzEv" * 8, "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t", "Proc-Type: 4,ENCRYPTED", "ghs" + "_"),
)
MIXED = "9405c0fc"
"""The digest of what is left of the texts that are made of these pieces, on every Python."""


@pytest.mark.slow
def test_what_is_redacted_is_the_same_on_every_python() -> None:
    """A change of the rules may change the digest; a change of Python never does."""
    made = random.Random(20261122)
    known = [value.encode() for value in KNOWN.values()]
    pieces = [*FRAGMENTS, *(KNOWN[name][:9] for name in KNOWN)]
    pieces += [way for value in KNOWN.values() for way in encodings(value).values()]
    digest = hashlib.sha256()
    for _ in range(40):
        text = "".join(made.choice(pieces) for _ in range(200)).encode()
        masked = redact(text, known)
        digest.update(masked.data + repr(sorted(masked.counts.items())).encode())
    assert digest.hexdigest()[:8] == MIXED


HOSTILE = {
    "one letter": b"a",
    "dashes": b"-",
    "begins": b"-----BEGIN RSA PRIVATE" + b" KEY-----",
    "begins and words": b"-----BEGIN RSA PRIVATE" + b" KEY-----\n" + b"a b " * 30,
    "names": b"token",
    "settings": b"token=",
    "rejected": b"token=abcdefgh12345678 ",
    "urls": b"://",
    "passwords": b"://a:bbbbbbbb",
    "tokens": b"ey" + b"J",
    "half tokens": b"ey" + b"J" + b"a" * 1000,
    "bearers": b"bearer " + b"a" * 32 + b" ",
    "basics": b"basic QUJDREVGR0hJSktM ",
    "all anchors": b" ".join(anchor for shape in shapes() for anchor in shape.anchors),
    "backslashes": b"\\",
    "quoted": b'\\\\\\"',
    "begins and headers": b"-----BEGIN RSA PRIVATE" + b" KEY-----\n" + b"abc: abc: abc: abc:\n" * 9,
    "begins and ends of lines": b"-----BEGIN RSA PRIVATE" + b" KEY-----" + b"\\n\\r\\n" * 30,
    "half base64": b"YWJhYmFiYWJhYmEh",
    "nearly": b"b-a-",
    "digits": b"0123456789",
    "web tokens": b"ey" + b"Ja" + b".ey" + b"Ja",
    "names with spaces": b"token" + b" " * 4,
    "programs": b"curl ",
    "options": b"curl a -u b:$c ",
    "cookies": b"Cookie: a=b; ",
    "members": b'"d":"',
    "query": b"?password=(",
    "begins and lines": b"-----BEGIN RSA PRIVATE" + b" KEY-----\n\n\n" + b"aB3xYz7Kq4mPzw2L" * 3,
    "options of htpasswd": b"htpasswd -b -c 1 -n ",
    "programs and users": b"http -a b:$c ",
    "names with pass": b"ansible_pass_pass",
    "elements": b"<password ><token x>",
    "definitions": b"define('A_PASS_PASSWORD_",
    "passes": b"_pass = ",
    "half hashes": b"$" + b"6$" + b"a" * 16 + b"$",
    "spaces": b" ",
}


CPU = 4.0
"""Seconds of CPU time for a MiB: ten times what the worst of them takes."""
HOSTILE_SIZE = sizes(short=1 << 16, long=1 << 20)
"""Bytes of each text: many times what a pattern reads, and what is searched together."""


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_the_worst_that_can_be_printed_takes_no_longer(name: str) -> None:
    known = [b"aaaaaaaaaaaaaaaaaaab", b"abababababababac", b"\\\\\\\\x", b"b-a-b-a-b-a-b-c"]
    unit = HOSTILE[name]
    data = (unit * (HOSTILE_SIZE // len(unit) + 1))[:HOSTILE_SIZE]
    began = time.process_time()
    found = redact(data, known)
    assert not exceeds(time.process_time() - began, CPU * HOSTILE_SIZE / (1 << 20))
    assert found == (data, {})


NAMES = {
    True: "GITHUB_TOKEN NPM_TOKEN token AWS_SECRET_ACCESS_KEY SECRET MY_SECRETS DB_PASSWORD "
    "PGPASSWORD MYSQL_PWD PASSWD OPENAI_API_KEY APIKEY apiKey PRIVATE_KEY CREDENTIALS "
    "DEPLOY_PRIVATE_KEY SLACK_WEBHOOK SSHPASS DB_PW DBPASS "
    "SMTP_PASS TOKEN_2 API_KEY1 SIGNING_KEY authToken X_AUTH_KEY MY_CREDENTIAL",
    False: "PWD OLDPWD SSH_AUTH_SOCK GPG_TTY PATH HOME USER LANG TERM TOKENIZERS_PARALLELISM "
    "MAX_TOKENS PASSWORD_FILE TOKEN_TTL GIT_ASKPASS SSH_ASKPASS XAUTHORITY COMPASS_MODE "
    "SECRET_NAME AUTHOR GIT_AUTHOR_NAME KEYBOARD MONKEY TURKEY SSH_PUBLIC_KEY SECRETARIAT",
    None: "SORT_KEY CACHE_KEY SENTRY_DSN SESSION_COOKIE NPM_AUTH GITHUB_PAT STRIPE_SK "
    "HTTP_AUTHORIZATION",
}


@pytest.mark.parametrize("expected", NAMES)
def test_which_names_look_secret(expected: bool | None) -> None:
    names = NAMES[expected].split()
    assert [name for name in names if secret_name(name) is not expected] == []


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("MY_TOKEN", "abcd" + "efgh", ["abcd" + "efgh"]),
        ("MY_TOKEN", "abcdefg", []),
        ("MY_TOKEN", "1234567", []),
        ("MY_TOKEN", "hun" + "ter2", ["hun" + "ter2"]),
        ("DB_PASSWORD", "s3c" + "r3t", ["s3c" + "r3t"]),
        ("DB_PASSWORD", "a1b2!", []),
        ("JWT_SECRET_ENCODING", "base64", []),
        ("TOKEN_HASH", "sha256", []),
        ("MY_TOKEN", "  abcd" + "efgh\n", ["abcd" + "efgh"]),
        ("MY_TOKEN", "localhost", []),
        ("MY_TOKEN", "development", []),
        ("DB_PASSWORD", "postgres", []),
        ("DB_PASSWORD", "********", []),
        ("MY_SECRET", "/usr/bin", []),
        ("MY_SECRET", "./my/secret", []),
        ("MY_SECRET", "/not/there/at/all", ["/not/there/at/all"]),
        ("CACHE_KEY", "node-modules-linux", []),
        ("CACHE_KEY", MAKE.of(samples.ALNUM, 32), None),
        ("DATABASE_URL", "postgres://app:s3cr" + "etpw@db/x", ["s3cr" + "etpw"]),
        ("DATABASE_URL", "postgres://app@db/x", []),
        ("MY_KEYS_TOKEN", "one word\nother words", ["one word\nother words"]),
    ],
)
def test_which_values_are_secret(name: str, value: str, found: list[str] | None) -> None:
    expected = [value] if found is None else found
    environ = {"PATH": "/usr/bin", name: value}
    assert values(environ, lambda path: path in ("/usr/bin", "./my/secret")) == tuple(
        t.encode() for t in expected
    )


def test_the_lines_of_a_value_are_secrets_of_their_own() -> None:
    line = MAKE.of(samples.ALNUM, 40)
    found = values({"SOME_SECRET": f"a heading\n{line}\nthe end"}, lambda _: False)
    assert found[1:] == (line.encode(),)


@pytest.mark.slow
def test_hundreds_of_values_cost_little_more_than_none() -> None:
    """What is not there is not even compiled."""
    many = 200
    known = [MAKE.of(samples.ALNUM, 40).encode() for _ in range(many)]
    redactor = Redactor(known)
    text = b"tests/core/test_x.py::test_one PASSED\n" * 3000
    assert redactor.feed(text) + redactor.finish() == text
    assert not any(
        finder.kind == secrets_redact.KNOWN for finder in redactor._index.finders.values()
    )
    dump = b"\n".join(b"NAME=" + value for value in known)
    found = redact(dump, known)
    assert found.data == b"\n".join([b"NAME=" + placeholder(secrets_redact.KNOWN)] * many)
    assert found.counts == {secrets_redact.KNOWN: many}


def test_any_bytes_are_taken() -> None:
    data = random.Random(1).randbytes(200_000)
    assert redact(data, [b"\xff\xfe" * 3 + b"ab", b"\0\1\2\3\4\5\6\7"]).counts == {}
    hidden = b"\xff\xfe" * 3 + b"ab"
    assert (
        redact(b"\0" + hidden + b"\0", [hidden]).data
        == b"\0" + placeholder(secrets_redact.KNOWN) + b"\0"
    )


@given(st.text(alphabet="aZz09._-\u00c9\u00e9\u0661", max_size=12))
def test_a_name_falls_into_words_at_separators_and_capitals(name: str) -> None:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[.-]", "_", name)
    assert _words_of(name) == parted.upper().strip("_").split("_")


SECRET = MAKE.of(samples.ALNUM, 24)
ALONE = {
    "tabs in .netrc": (f"machine\thost.example\tlogin\tme\tpassword\t{SECRET}", "password"),
    "a blank before the sign": ("?user=me&password = Blumen!Topf", "password"),
    "a member of a JWK, escaped twice": (
        rf"{{\\\"d\\\":\\\"{MAKE.of(samples.ALNUM, 40)}\\\"}}",
        "jwk",
    ),
    "a blank after the header's name": (f"Cookie : session={SECRET}", "cookie"),
    "a hash that says its size": ("{SHA256}" + MAKE.of(samples.ALNUM, 43) + "=", "password_hash"),
}


@pytest.mark.parametrize("size", [0, 9000])
@pytest.mark.parametrize("name", ALONE)
def test_a_secret_needs_no_other_one_of_its_kind_beside_it(name: str, size: int) -> None:
    """Each anchor is part of every match, so that what a pattern means is found wherever it is."""
    text, kind = ALONE[name]
    found = redact(b". " * size + text.encode() + b"\n")
    assert found.counts == {kind: 1}, found.data[-300:]


def _facts(made: tuple[SecretShape, ...]) -> list[tuple[Any, ...]]:
    return [(*each._replace(form=b""), each.pattern) for each in made]


def test_a_text_with_every_anchor_calls_for_every_shape() -> None:
    text = b" ".join(anchor for shape in shapes() for anchor in shape.anchors)
    assert _facts(shapes_in(text)) == _facts(shapes())


def test_a_short_text_calls_for_every_shape_whose_anchor_it_holds() -> None:
    every = list(zip(shapes(), _facts(shapes()), strict=True))
    for anchor in {anchor for shape, _ in every for anchor in shape.anchors}:
        for text in (anchor, b"x" + anchor.upper() + b"y"):
            low, made = text.lower(), _facts(shapes_in(text))
            called = [
                facts
                for shape, facts in every
                if not shape.anchors
                or any(each in (low if shape.folded else text) for each in shape.anchors)
            ]
            assert [facts for facts in made if facts in called] == called


EVERY_ANCHOR = sorted({anchor for shape in shapes() for anchor in shape.anchors})
PIECES = st.sampled_from(EVERY_ANCHOR) | st.sampled_from([b"a1B2c3D4e5F6g7H8i9J0" * 3, b"=", b": "])


@given(st.lists(PIECES | st.binary(max_size=8), max_size=8).map(b"".join))
def test_a_short_text_is_redacted_as_a_stream_is(data: bytes) -> None:
    stream = Redactor(())
    whole = b"".join((stream.feed(data), stream.finish()))
    assert redact(data) == (whole, stream.counts)


def test_an_edge_in_a_table_is_found_without_its_expression() -> None:
    texts = [row[3].encode() for row in rows(FORMED, 7)]
    texts += [
        b"<4>",
        b"<12>",
        b"<123>",
        b"<>",
        b"<4",
        b"4>",
        b"(?<!a)x<",
        b"(?<=<)4>",
        b"<<4>",
        b"<4<>",
    ]
    for text in texts:
        assert secrets_shapes._has_edge(text) == (
            re.search(secrets_shapes._EDGE, text) is not None
        ), text


@pytest.mark.parametrize("program", ["sshpass -p", "redis-cli -a", "docker login -p"])
def test_a_sentence_about_an_option_is_kept(program: str) -> None:
    prose = f"the {program} flag or the {program} option is unsafe".encode()
    typed = f"{program} hunter22 host".encode()
    assert secrets_redact.redact(prose)[0] == prose
    assert b"hunter22" not in secrets_redact.redact(typed)[0]
