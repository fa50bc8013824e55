"""Detection of text that speaks to the judge, or imitates something other than data.

A list of patterns can never be complete, and nothing depends on it: the fence with its nonce keeps
evidence in its place. By detecting the usual attempts, Flow can label them for the judge and name
them to people. The patterns are in :mod:`flow.core.untrusted.injections`.
"""

from __future__ import annotations

import codecs
import re
from html import unescape
from unicodedata import category, normalize

from flow.core.untrusted.injections import (
    ANY_OTHER_LANGUAGE,
    IMITATIONS,
    INSTRUCTIONS,
    LOOK_ALIKES,
    OTHER_LANGUAGES,
)
from flow.startup.functools import lru_cache
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    Found = TypeVar("Found")

_LINES = 1 << 10
_SHORT = 1 << 12
"""Lines that are remembered, and the characters of one of them at most: half of a long part."""


def _remembered(look: Callable[[str], Found]) -> Callable[[str], Found]:
    """``look``, which remembers the last lines, for a bounded memory.

    Lines repeat in an output, and every judge of a panel is shown the same evidence, in each round.
    """
    kept = lru_cache(maxsize=_LINES)(look)
    return lambda text: kept(text) if len(text) <= _SHORT else look(text)


_ENTITY = re.compile(r"&(?:amp;){0,3}(?:[a-z]{2,8}|#[0-9]{1,7}|#x[0-9a-f]{1,6});?", re.IGNORECASE)
_ESCAPED_BRACKET = re.compile(r"(?:\\u00|\\u\{|\\x|%)(3[ce]|5[bd]|7c)\}?", re.IGNORECASE)
_BRACKETS = "<>|[]"


def with_brackets(text: str) -> str:
    """``text`` with brackets in place of the entities and escapes for them."""
    if "&" in text:
        text = _ENTITY.sub(_bracket_of_entity, text)
    if "\\" in text or "%" in text:
        text = _ESCAPED_BRACKET.sub(lambda match: chr(int(match[1], 16)), text)
    return text


def _bracket_of_entity(match: re.Match[str]) -> str:
    character = unescape("&" + match[0].rpartition("&")[2].replace("amp;", ""))
    return character if character in _BRACKETS else match[0]


@_remembered
def as_read(text: str) -> str:
    """``text`` as a reader perceives it: look-alikes folded, no invisible characters, lower case.

    Brackets written as entities or escapes count as brackets, and other entities as their
    characters.

    Compatibility forms (full-width, mathematical letters) become plain ones; so do the commonest
    Cyrillic and Greek look-alikes of Latin letters, if Latin letters are next to them.
    """
    plain = with_brackets(text)
    if "&" in plain:
        plain = unescape(plain)
    if plain.isascii() and plain.isprintable():  # most are
        return " ".join(plain.lower().split())
    folded = normalize("NFKC", plain).casefold()
    folded = "".join(c for c in folded if category(c) not in ("Cf", "Cc", "Mn") or c in "\t ")
    if not folded.isascii() and re.search("[a-z]", folded):
        folded = folded.translate(LOOK_ALIKES)
    return " ".join(folded.split())


@_remembered
def instructs(text: str) -> bool:
    """Whether ``text`` (one line, :func:`as_read`) seems to give a judge instructions."""
    if INSTRUCTIONS.search(text) is not None:
        return True
    return ANY_OTHER_LANGUAGE.search(text) is not None and OTHER_LANGUAGES.search(text) is not None


@_remembered
def imitates(text: str) -> bool:
    """Whether ``text`` (a line, :func:`as_read`) imitates a fence, a role or a remark of Flow's."""
    return IMITATIONS.search(text) is not None


@_remembered
def hides(line: str) -> bool:
    """Whether ``line`` holds an instruction to a judge in one of the usual encodings."""
    return any(instructs(as_read(part)) for text in _decoded(line) for part in text.splitlines())


_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_BASE32 = re.compile(r"[A-Z2-7]{32,}={0,6}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:\\x|0x|%)?[0-9A-Fa-f]{2}[ :,]{0,2}){16,}")
_ESCAPED = re.compile(
    r"(?:\\u\{?[0-9A-Fa-f]{2,6}\}?|&#(?:x[0-9A-Fa-f]{2,6}|[0-9]{2,6});|%[0-9A-Fa-f]{2}|\\x[0-9A-Fa-f]{2})"
)
_CODES = re.compile(r"(?:\b\d{2,3}\b[ ,;]{1,2}){15,}\d{2,3}\b")
_SPACED = re.compile(r"(?:\b\w[ ._*-]{1,3}){8,}\w\b")


def _decoded(line: str) -> Iterator[str]:
    """Decodings of ``line`` and of its parts."""
    from base64 import b32decode, b64decode

    for match in _BASE64.finditer(line):
        run = match.group().rstrip("=").translate(str.maketrans("-_", "+/"))
        yield from _decoded_texts(b64decode, run + "=" * (-len(run) % 4))
    for match in _BASE32.finditer(line):
        run = match.group().rstrip("=")
        yield from _decoded_texts(b32decode, run + "=" * (-len(run) % 8))
    for match in _HEX.finditer(line):
        digits = re.sub(r"\\x|0x|[^0-9A-Fa-f]", "", match.group())
        yield from _decoded_texts(bytes.fromhex, digits)
    if _ESCAPED.search(line):
        yield _ESCAPED.sub(_character, line)
    for match in _CODES.finditer(line):
        yield "".join(chr(int(code)) for code in re.findall(r"\d+", match.group()))
    for match in _SPACED.finditer(line):
        # Two separators, or one that differs from those between the letters, separate words.
        words = re.split(r"[ ._*-]{2,3}", match.group())
        yield " ".join(re.sub(r"[ ._*-]", "", word) for word in words)
    if _BACKWARDS.search(line):
        yield line[::-1]
    if _ROTATED.search(line):
        yield codecs.encode(line, "rot13")


def _decoded_texts(decode: Callable[[str], bytes], run: str) -> Iterator[str]:
    try:
        data = decode(run)
        yield data.decode("utf-16-le" if data[1::2].count(0) * 3 > len(data) else "utf-8")
    except ValueError:
        return


def _character(match: re.Match[str]) -> str:
    digits = re.sub(r"[^0-9A-Fa-f]", "", match.group())
    code = int(digits, 10 if match.group().startswith("&#") and "x" not in match.group() else 16)
    return chr(code) if code < 0x110000 else ""


_WORDS = ("instruction", "verdict", "achieved", "ignore", "disregard", "judge", "evaluator")
_BACKWARDS = re.compile("|".join(word[::-1] for word in _WORDS), re.IGNORECASE)
_ROTATED = re.compile("|".join(codecs.encode(word, "rot13") for word in _WORDS), re.IGNORECASE)
