"""A quick check for short texts without any secret, such as an agent's last words.

The patterns that find secrets take longer to load than a bare interpreter to start. This module
only searches for bytes that every secret of a shape contains. If they are present, the shape's own
pattern must decide, so :mod:`flow.core.secrets.redact` would redact nothing in a text that is plain
here.
"""

from __future__ import annotations

from flow.core.secrets.table import FORMED, HEADERS, OPTIONS, PREFIXED, SETTINGS
from flow.startup.functools import partial
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Need = Callable[[bytes, int], bool]
    """Whether a secret may have its anchor, in any case, at an index of a text."""

LONGEST = 1 << 15
"""Bytes of a text up to which searching for each anchor costs little."""

KEY_ANCHORS = (
    *(b"private key", b"private%20key", b"private+key", b"private-lines:"),
    b"ls0tls1crudjti",  # base64 of "-----BEGIN "
)
"""The anchors of private keys, in lower case."""


def is_plain(text: bytes) -> bool:
    """Whether no shape of a secret can be in ``text``."""
    if len(text) > LONGEST or any(map(_may_be_discord, text.split())):
        return False
    low = text.lower()
    return not any(_may_be_secret(text, low, anchor, need) for anchor, need in _anchors_in(low))


def _may_be_secret(text: bytes, low: bytes, anchor: bytes, need: Need | None) -> bool:
    """Whether a secret may be at one of the places of ``anchor``."""
    at = low.find(anchor)
    while at >= 0:
        if need is None or need(text, at):
            return True
        at = low.find(anchor, at + 1)
    return False


def _anchors_in(low: bytes) -> Iterator[tuple[bytes, Need | None]]:
    """The anchors in a text in lower case, each with the further condition for its position."""
    letters = frozenset(low)  # most anchors have a letter that the text lacks: no search is faster
    for key in KEY_ANCHORS:
        if letters.issuperset(key) and key in low:
            yield key, None
    for line in _lines(PREFIXED):
        for name in line.split(None, 2)[1].split(b","):
            if letters.issuperset(name) and name in low:
                yield name, _token_behind(len(name), *line.split(None, 4)[2:4])
    for table in (FORMED, HEADERS, SETTINGS):
        for line in _lines(table):
            kind, names, _ = line.split(None, 2)
            named = names if table is FORMED else names.replace(b"~", b" ")
            for name in named.split(b","):
                if letters.issuperset(name) and name in low and name != b"-":
                    yield name, NEEDS.get((kind, names.partition(b",")[0]))
    for line in _lines(OPTIONS):
        program = line.split(None, 1)[0].replace(b"~", b" ")
        if letters.issuperset(program) and program in low:
            yield program, None


def _token_behind(size: int, alphabet: bytes, least: bytes) -> Need:
    """The condition of a row of prefixes: enough bytes of its alphabet after ``size`` bytes."""
    allowed = BASE64_BYTES if alphabet.startswith(b"base64") else WORD_BYTES
    return partial(_goes_on, size, int(least), allowed)


def _lines(table: str) -> list[bytes]:
    """The rows of a table in lower case."""
    return table.lower().encode().strip().splitlines()


_ALNUM = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
WORD_BYTES = _ALNUM + b"_-=%."
"""All bytes of the tokens' alphabets, except those of base64."""
BASE64_BYTES = _ALNUM + b"_-=+/"


def _goes_on(size: int, least: int, allowed: bytes, text: bytes, at: int) -> bool:
    """Whether at least ``least`` bytes of ``allowed`` follow an anchor of ``size`` bytes."""
    rest = text[at + size : at + size + least]
    return len(rest) == least and not rest.translate(None, allowed)


_BLANKS = b" \t\n\r\f\v"
_VALUE = 16


def _may_be_assigned(text: bytes, at: int) -> bool:
    """Whether 16 bytes without a blank may be the value of the name at ``at``."""
    behind = text[at : at + 128].lstrip(_ALNUM + b"_.-").lstrip(_BLANKS + b"\"'\\:=>")
    value = behind[:_VALUE].split()
    return len(value) == 1 and len(value[0]) == _VALUE


def _may_be_url_password(text: bytes, at: int) -> bool:
    """Whether a colon and an ``@`` are in the host of the URL whose ``://`` is at ``at``."""
    host = text[at + 3 : at + 512].partition(b"/")[0]
    return b":" in host and b"@" in host


def _is_parameter(text: bytes, at: int) -> bool:
    """Whether a parameter's sign precedes ``at``."""
    return text[at - 1 : at] in (b"?", b"&", b";")


def _before_login(text: bytes, at: int) -> bool:
    return b"login" in text[at:]


def _may_be_discord(word: bytes) -> bool:
    """Whether a word may match a shape without anchor: by its length, dots and beginning."""
    return len(word) >= 58 and word.count(b".") >= 2 and any(each in word for each in _PAIRS)


_PAIRS = tuple(bytes([first, second]) for first in b"MNO" for second in b"DTjz")

NEEDS: dict[tuple[bytes, bytes], Need] = {
    (b"airtable", b"pat"): partial(_goes_on, 3, 79, WORD_BYTES),
    (b"mailgun", b"key-"): partial(_goes_on, 4, 32, WORD_BYTES),
    (b"url_password", b"://"): _may_be_url_password,
    (b"assignment", b"passw"): _may_be_assigned,
    (b"password", b"machine"): _before_login,
    (b"password", b"password"): _is_parameter,
}
"""The further condition for secrets of a row, by its kind and first anchor."""
