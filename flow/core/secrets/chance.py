"""Checks whether bytes look like a random key, or like a password that a person chose.

A name like ``token`` in front says little: a type, a path or a sentence may follow. A random value
has no words, dates or counters in it, which ordinary text always has.
"""

from __future__ import annotations

import binascii

from flow.startup import re

_CLASSES = bytes.maketrans(
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    b"0" * 10 + b"A" * 26 + b"a" * 26,
)
_WORDS = rb"A?a{3,}|A{3,}|0{2,}"
"""Words, abbreviations, years and counters, over the classes of characters."""

_EXAMPLES = frozenset(
    b"password passwd passw0rd pass pwd secret token pw test example changeme changeit user "
    b"username mypassword my-password your-password yourpassword your_password password123".split()
)
"""Passwords of examples and documentation."""

_EXPRESSION = rb"[(){}<>\[\]]|^[A-Za-z_]+\.[A-Za-z_.]+$|^[A-Z_]{3,}$"

_MOST_BYTES = 96
_LEAST_BYTES = 16


def base64(data: bytes) -> bytes:
    """The part of the base64 of ``data`` that does not depend on later bytes."""
    return binascii.b2a_base64(data, newline=False)[: len(data) * 8 // 6]


def random(value: bytes) -> bool:
    """Whether a value of at least 16 bytes looks like a key, in base 16, 36, 62 or 64."""
    return len(value) >= _LEAST_BYTES and _is_odd(value)


def _is_odd(value: bytes) -> bool:
    value = value.rstrip(b"=.?!")[:_MOST_BYTES]
    if len(set(value)) < 8 or value.startswith((b"$", b"%(", b"*", b"./", b"../")):
        return False
    classes = value.translate(_CLASSES)
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
    """Whether a value behind a short prefix has digits, and letters that make no words."""
    classes = value.translate(_CLASSES)
    return classes.count(b"0") >= 2 and (_is_odd(value) or _is_odd(value[3:]))


def cased(value: bytes) -> bool:
    """Whether it has digits and letters of both cases, and makes no words."""
    classes = value.translate(_CLASSES)
    return all(classes.count(kind) >= 2 for kind in (b"0", b"a", b"A")) and _is_odd(value)


def key(value: bytes) -> bool:
    """Whether it is a line of a key in base64, not a digest, path or identifier."""
    return len(value) >= _LEAST_BYTES and not _is_hex(value) and _is_odd(value)


def typed(value: bytes) -> bool:
    """Whether it is a typed password, not an example, variable or expression."""
    if not chosen(value) or value.lower() in _EXAMPLES:
        return False
    if value.startswith((b"<", b"[", b"$", b"%")) or value.isdigit() or len(set(value)) <= 2:
        return False
    return not re.search(_EXPRESSION, value)


def coined(value: bytes) -> bool:
    """Whether it is a typed password that is no word, path, option or number."""
    others = value.translate(_CLASSES).translate(None, b"aA")
    if len(others) == len(value) or not others.strip(b"_.-"):
        return False
    return typed(value) and value[:1] not in b"/-.~"


def cookies(value: bytes) -> bool:
    """Whether a cookie header holds a value that looks random."""
    return any(random(pair.partition(b"=")[2]) for pair in re.split(rb"[;,] ?", value))


def header(value: bytes) -> bool:
    """Whether it is a credential in a header: shorter ones count, too."""
    classes = value.translate(_CLASSES)
    return _is_odd(value) or (len(value) >= 24 and classes.count(b"0") >= 3)


def basic(value: bytes) -> bool:
    """Whether it is the base64 of ``user:password``, as ``Authorization: Basic`` has it."""
    plain = value.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    try:
        text = binascii.a2b_base64(plain + b"=" * (-len(plain) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    if not text.isprintable():
        return False
    _, colon, password = text.partition(":")
    return bool(colon and password) and len(text) >= 6


def chosen(value: bytes) -> bool:
    """Whether the password of a URL is one, not a placeholder."""
    if value.startswith((b"[masked:", b"${", b"$(", b"{", b"%(")):
        return False
    return bool(value.strip(b"*.xX-")) and not (value[:1] == b"$" and value[1:].isupper())
