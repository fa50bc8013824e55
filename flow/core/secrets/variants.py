"""The forms that a known secret takes in a text.

One pattern matches a value unchanged, URL-encoded, and with the backslashes of JSON, ``repr`` and
shells; three match it inside base64, at any offset; one in base 16; others in UTF-16, and with each
character escaped. None is compiled before four of its bytes are found in the text (SPEC 10,
Secrets).
"""

from __future__ import annotations

import binascii

from flow.core.secrets.values import LEAST
from flow.startup import re
from flow.startup.functools import lru_cache
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_PIECE = 3500
"""Bytes: a longer value is searched for in pieces of at most this reach."""

_SIZES = (12, 8, 6, 4)


class Variant(NamedTuple):
    """One form of a value in a text: its pattern, and bytes to search for first.

    Every match contains one of ``probes``; without probes the pattern is always searched for. Each
    probe has at least four bytes.
    """

    pattern: bytes
    probes: tuple[bytes, ...]


def variants(secrets: Iterable[bytes]) -> Iterator[Variant]:
    """All forms of the values, starting with the longest value."""
    distinct = {value for value in secrets if len(value) >= LEAST}
    for value in sorted(distinct, key=lambda v: (-len(v), v)):
        yield from _variants_of(value)


@lru_cache(maxsize=512)
def _variants_of(value: bytes) -> tuple[Variant, ...]:
    """The forms of one value, which every text of a command is searched for."""
    digits = [_hex_digit(c) for c in binascii.b2a_hex(value)]
    return (
        *_variant_pieces(_plain_variants(value)),
        *(v for at in range(3) for v in _variant_pieces(_base64_atoms(value, at), _NEW_LINE)),
        *_variant_pieces(digits, _NEW_LINE, cases=True),
        *_escaped(value),
    )


def may_hold(text: bytes, secrets: Iterable[bytes]) -> bool:
    """Whether one of the values may be in ``text``, in any form; no pattern is compiled."""
    probes = (variant.probes for variant in variants(secrets))
    return any(not each or any(probe in text for probe in each) for each in probes)


class _Atom(NamedTuple):
    """A pattern for one character, and its byte if it can be only one.

    ``reach`` is the most bytes that it takes, including a line end before it.
    """

    pattern: bytes
    sure: bytes = b""
    reach: int = 14


_NEW_LINE = rb"(?>\\{0,3}+\r?+\n|)"
_NAMED = {"&": b"&amp;", "<": b"&lt;", ">": b"&gt;", '"': b"&quot;"}
_WHITE = {
    10: rb"(?>\r?+\n|\\{1,4}+(?>r\\{1,4}+|)n|\\{1,2}+u000[aA]|%0[aA])",
    13: rb"(?>\r|\\{1,4}+r(?!\\{1,4}n)|\\{1,2}+u000[dD]|%0[dD]|)",
    9: rb"(?>\t|\\{1,4}+t|\\{1,2}+u0009|%09)",
    32: rb"(?>\\?+ |\+|%20)",
    39: rb"(?>'\\''|'\"'\"'|\\{0,4}+'|\\{1,2}+u0027|%27|&#39;|&apos;)",
}


def _plain_variants(value: bytes) -> list[_Atom]:
    """The value unchanged, and as URLs, JSON, shells and programs write it."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return [_byte_atom(c) for c in value]
    atoms: list[_Atom] = []
    slashes = 0
    for at, char in enumerate(text):
        if char == "\\":
            slashes += 1
            if slashes < _PIECE // 16:
                continue
        if slashes:
            atoms.append(_backslashes(slashes))
            slashes = 0
        if char != "\\":
            atoms.append(_char_atom(char, text[at + 1 : at + 5]))
    if slashes:
        atoms.append(_backslashes(slashes))
    return atoms


def _backslashes(count: int) -> _Atom:
    """A run of backslashes, each possibly written as two or four."""
    low, high = b"%d" % count, b"%d" % (4 * count)
    return _Atom(rb"(?>(?:%%5[cC]){%b}|\\{%b,%b}+)" % (low, low, high), reach=4 * count)


def _escaped(value: bytes) -> Iterator[Variant]:
    r"""The value in UTF-16, in either order, and with every character as ``\uXXXX`` or ``%XX``."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return
    units = text.encode("utf-16-be")
    pairs = [(units[at], units[at + 1]) for at in range(0, len(units), 2)]
    for order in ("be",) if text.isascii() else ("be", "le"):
        wide = b"".join(bytes(p if order == "be" else p[::-1]) for p in pairs)
        if text.isascii():  # around an ASCII character, either order has the same zero
            wide = wide[1:]
        atoms = [
            _Atom(re.escape(wide[at : at + 1]), wide[at : at + 1], 1) for at in range(len(wide))
        ]
        yield from _variant_pieces(atoms)
    written = [b"%02x%02x" % pair for pair in pairs]
    yield from _digit_variants(written, rb"\\{1,4}+u", b"u", 9)
    yield from _digit_variants([b"%02x" % code for code in value], b"%", b"%", 3)


def _digit_variants(
    written: Sequence[bytes], before: bytes, sign: bytes, reach: int
) -> Iterator[Variant]:
    """Characters written as a sign and digits in base 16, of either case."""
    ways = [b"|".join(dict.fromkeys((each, each.upper()))) for each in written]
    # Atomic, so that a missing end does not make it try every digit both ways again.
    atoms = [_Atom(b"%b(?>%b)" % (before, way), b"", reach) for way in ways]
    at = 0
    for piece in _variant_pieces(atoms):
        size = piece.pattern.count(before + b"(?>")
        first = written[at : at + (1 if reach > 3 else 2)]
        probes = [b""]
        for each in first:
            probes = [p + sign + way for p in probes for way in {each, each.upper()}]
        yield Variant(piece.pattern, tuple(probes))
        at += size


def _byte_atom(code: int) -> _Atom:
    if chr(code).isascii() and chr(code).isalnum():
        return _Atom(bytes([code]), bytes([code]))
    raw = re.escape(bytes([code]))
    return _Atom(b"(?>%b|%b)" % (_percent(bytes([code])), raw))


def _char_atom(char: str, after: str) -> _Atom:
    data = char.encode("utf-8")
    code = ord(char)
    if char.isascii() and char.isalnum():
        return _Atom(data, data)
    if code in _WHITE:
        return _Atom(_WHITE[code])
    raw = rb"\\{0,4}+" + re.escape(data) if char.isascii() else re.escape(data)
    ways = [_percent(data), *([_NAMED[char]] if char in _NAMED else ())]
    if (char == "%" and after[:2] == "25") or (char == "&" and after == "amp;"):
        # It begins its own escape, and the value continues like that: an escaped text has it twice.
        ways[-1] += b"(?=%b)" % ways[-1][1:]
    units = char.encode("utf-16-be")
    ways.append(
        b"".join(
            rb"\\{1,2}+u" + _any_case(binascii.b2a_hex(units[at : at + 2]))
            for at in range(0, len(units), 2)
        )
    )
    ways.append(raw)
    return _Atom(b"(?>%b)" % b"|".join(ways))


def _percent(data: bytes) -> bytes:
    return b"".join(b"%" + _any_case(binascii.b2a_hex(bytes([c]))) for c in data)


def _any_case(digits: bytes) -> bytes:
    return b"".join(b"[%c%c]" % (c, c - 32) if c >= 97 else bytes([c]) for c in digits)


def _base64_atoms(value: bytes, before: int) -> list[_Atom]:
    """The base64 of ``value`` that every text contains if ``before`` bytes (mod 3) precede it."""
    whole = binascii.b2a_base64(b"\0" * before + value, newline=False)
    start, end = -(-before * 8 // 6), (before + len(value)) * 8 // 6
    other = {ord("+"): rb"(?>[+-]|%2[bB])", ord("/"): rb"(?>\\?+/|_|%2[fF])"}
    return [
        _Atom(other.get(c, bytes([c])), b"" if c in other else bytes([c]), 9)
        for c in whole[start:end]
    ]


def _hex_digit(code: int) -> _Atom:
    return _Atom(_any_case(bytes([code])), bytes([code]), 8)


def _variant_pieces(
    atoms: Sequence[_Atom], joint: bytes = b"", *, cases: bool = False
) -> Iterator[Variant]:
    """Variants of at most ``_PIECE`` bytes; ``joint`` may occur between two atoms.

    An encoder that breaks lines may break one inside a probe, never inside two of them.
    """
    at = 0
    while at < len(atoms):
        end, reach = at, 0
        while end < len(atoms) and reach + atoms[end].reach <= _PIECE:
            reach += atoms[end].reach
            end += 1
        if 0 < len(atoms) - end < LEAST:  # too short to be distinguished from ordinary text
            end -= LEAST
        piece = atoms[at:end]
        probes = _sure_probes(piece, 2 if joint else 1)
        both = (*probes, *(p.upper() for p in probes)) if cases else probes
        yield Variant(joint.join(a.pattern for a in piece), both)
        at = end


def _sure_probes(atoms: Sequence[_Atom], wanted: int) -> tuple[bytes, ...]:
    """The first disjoint runs of sure bytes, the longest possible size first; may be empty."""
    for size in _SIZES:
        probes: list[bytes] = []
        run = b""
        for atom in atoms[:48] if wanted > 1 else atoms:  # less than a line of any common width
            run = run + atom.sure if atom.sure else b""
            if len(run) == size:
                probes.append(run)
                run = b""
                if len(probes) == wanted:
                    return tuple(probes)
    return ()
