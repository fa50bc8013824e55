"""The checks named in the tables' rows: whether bytes are a credential of a kind."""

from __future__ import annotations

import binascii

from flow.core.secrets.randomness import cased, classes_of, is_odd, key, mixed, random
from flow.startup import re

_EXAMPLES = frozenset(
    b"password passwd passw0rd pass pwd secret token pw test example changeme changeit user "
    b"username mypassword my-password your-password yourpassword your_password password123 "
    b"option options flag flags switch argument parameter".split()
)
"""Passwords from examples and documentation, and words for an option."""

_EXPRESSION = rb"[(){}<>\[\]]|^[A-Za-z_]+\.[A-Za-z_.]+$|^[A-Z_]{3,}$"

__all__ = [
    "basic",
    "cased",
    "chosen",
    "coined",
    "cookies",
    "header",
    "key",
    "mixed",
    "random",
    "typed",
]


def typed(value: bytes) -> bool:
    """Whether the value is a typed password, not an example, variable or expression."""
    if not chosen(value) or value.lower() in _EXAMPLES:
        return False
    if value.startswith((b"<", b"[", b"$", b"%")) or value.isdigit() or len(set(value)) <= 2:
        return False
    return not re.search(_EXPRESSION, value)


def coined(value: bytes) -> bool:
    """Whether the value is a typed password and no word, path, option or number."""
    others = classes_of(value).translate(None, b"aA")
    if len(others) == len(value) or not others.strip(b"_.-"):
        return False
    return typed(value) and value[:1] not in b"/-.~"


def cookies(value: bytes) -> bool:
    """Whether a cookie header holds a value that looks random."""
    return any(random(pair.partition(b"=")[2]) for pair in re.split(rb"[;,] ?", value))


def header(value: bytes) -> bool:
    """Whether the value is a credential in a header; shorter ones count, too."""
    classes = classes_of(value)
    return is_odd(value) or (len(value) >= 24 and classes.count(b"0") >= 3)


def basic(value: bytes) -> bool:
    """Whether the value is the base64 of ``user:password``, as in ``Authorization: Basic``."""
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
    """Whether the value is a real password in a URL, not a placeholder."""
    if value.startswith((b"[masked:", b"${", b"$(", b"{", b"%(")):
        return False
    return bool(value.strip(b"*.xX-")) and not (value[:1] == b"$" and value[1:].isupper())
