"""Whether bytes look like a random key.

A name like ``token`` before a value says little: a type, a path or a sentence may follow. A random
value contains no words, dates or counters; ordinary text always does.
"""

from __future__ import annotations

from flow.startup import re

_CLASSES = bytes.maketrans(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    b"0" * 10 + b"A" * 26 + b"a" * 26,
)
_WORDS = rb"A?a{3,}|A{3,}|0{2,}"
"""Words, abbreviations, years and counters, in terms of the classes of characters."""

_MOST_BYTES = 96
_LEAST_BYTES = 16


def classes_of(value: bytes) -> bytes:
    """The value with ``0`` for each digit, and ``A`` or ``a`` for each letter by its case."""
    return value.translate(_CLASSES)


def random(value: bytes) -> bool:
    """Whether a value of at least 16 bytes looks like a key, in base 16, 36, 62 or 64."""
    return len(value) >= _LEAST_BYTES and is_odd(value)


def is_odd(value: bytes) -> bool:
    """Whether a value of any length contains no words, dates or counters."""
    value = value.rstrip(b"=.?!")[:_MOST_BYTES]
    if len(set(value)) < 8 or value.startswith((b"$", b"%(", b"*", b"./", b"../")):
        return False
    classes = classes_of(value)
    digits, size = classes.count(b"0"), len(classes)
    small, large = classes.count(b"a"), classes.count(b"A")
    if not digits and not (large and small and b"+" in value) and size < 40:
        return False
    if _is_hex(value):
        return size - classes.count(b"-") >= 32 and digits >= 4 and small + large >= 4
    others = size - digits - small - large
    if not small or not large:  # base 32 or 36: letters and digits take turns
        turns = sum(map(classes.count, (b"a0", b"0a", b"A0", b"0A")))
        return digits >= 3 and others <= size // 8 and turns * 9 >= size * 2
    words = sum(map(len, re.findall(_WORDS, classes)))
    return (size - words - others) * 5 >= size


def _is_hex(value: bytes) -> bool:
    return not value.lower().translate(None, b"0123456789abcdef-")


def mixed(value: bytes) -> bool:
    """Whether a value after a short prefix has digits, and letters that form no words."""
    classes = classes_of(value)
    return classes.count(b"0") >= 2 and (is_odd(value) or is_odd(value[3:]))


def cased(value: bytes) -> bool:
    """Whether the value has digits and letters of both cases, and forms no words."""
    classes = classes_of(value)
    return all(classes.count(kind) >= 2 for kind in (b"0", b"a", b"A")) and is_odd(value)


def key(value: bytes) -> bool:
    """Whether the value is a line of a key in base64, not a digest, path or identifier."""
    return len(value) >= _LEAST_BYTES and not _is_hex(value) and is_odd(value)
