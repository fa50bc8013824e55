"""Private keys: from their first line to their last, whatever stands around the lines.

A key is known by its own lines: what BEGIN announces is one only where lines of base64 that look
random follow it, each behind any prefix (a log's, a container's JSON, a list's brackets). Else it
is talk about keys, and stays. Keys without BEGIN are known by how their first line begins
(``secret_table``), and by base64 of BEGIN.
"""

from __future__ import annotations

import re

from flow.core.secrets import chance
from flow.core.secrets.shape import SecretShape
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

AHEAD = 3500
"""Bytes behind BEGIN in which its lines must begin."""

_SPACE = rb"(?: |%20|\+)"
_DASHES = _SPACE + b"?-{4,5}"
_LABEL = b"(?:[A-Z0-9]{1,12}+%b){0,3}PRIVATE%bKEY(?>%bBLOCK|)" % (_SPACE, _SPACE, _SPACE)

KEY_LINES = (
    rb"(?>[A-Za-z0-9+/=]{1,64}+|\r?+\n(?=[A-Za-z0-9+/]{20})"
    rb"|(?<!=)[^A-Za-z0-9+/=](?:(?!----)[\s\S]){0,250}?"
    rb"(?<![A-Za-z0-9+/-])(?![0-9a-f]{40})"
    rb"(?=[A-Za-z0-9+/]{60}|[A-Za-z0-9+/]{12,59}+={1,2}(?![A-Za-z0-9=])))"
)
"""A step over base64 in lines, and over what stands between two of them."""

_BEGIN = re.compile(b"-{4,5}%b?BEGIN%b" % (_SPACE, _SPACE))
_END = re.compile(b"-{4,5}%b?END%b" % (_SPACE, _SPACE))
_RUN = re.compile(b"[A-Za-z0-9+/]{16,}+")
_HEADER = re.compile(b"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|MessageID): ")
_DIGEST = re.compile(b"sha[0-9]{1,3}-$")
_LINE = 40
_BLOCK = 600
"""A run of so many bytes that looks random is a key by itself."""
_NEAR = 64
"""Bytes in which the first line follows BEGIN where nothing stands before it."""


def follows(text: bytes) -> bool:
    """Whether the lines of a key stand in ``text``, which follows its BEGIN."""
    other = _BEGIN.search(text)
    text = text[: other.start() if other else None].replace(b"\\/", b"/")
    end = _END.search(text)
    least = 16 if end else _LINE
    runs = [
        run
        for run in _RUN.finditer(text, 0, end.start() if end else len(text))
        if len(run[0]) >= least and chance.key(run[0]) and not _is_lock_digest(text, run.start())
    ]
    if not runs:
        return False
    gap = text[: runs[0].start()]
    if gap.count(b"\n") > 1 and not _HEADER.search(gap):
        return False
    if end or len(gap) <= _NEAR or len(runs[0][0]) >= _BLOCK:
        return True
    return len(runs) > 1 and len(runs[0][0]) == len(runs[1][0])


def _is_lock_digest(text: bytes, at: int) -> bool:
    """Whether it is the digest of a package in a lock file."""
    return _DIGEST.search(text, max(at - 8, 0), at) is not None


def shapes() -> Iterator[SecretShape]:
    """The shapes of keys in any armour."""
    yield SecretShape(
        "private_key",
        (b"PRIVATE KEY", b"PRIVATE%20KEY", b"PRIVATE+KEY"),
        rb"(-{4,5}%b?BEGIN%b%b%b)(?=([\s\S]{0,%d}+))" % (_SPACE, _SPACE, _LABEL, _DASHES, AHEAD),
        until=b"-{4,5}%b?END%b" % (_SPACE, _SPACE) + _LABEL + _DASHES,
        check=follows,
    )
    yield SecretShape(
        "private_key",
        (b"Private-Lines:",),
        rb"Private-Lines: [0-9]{1,4}+(?=[^\s0-9A-Za-z]|\s{0,2}[\r\n])",
        until=b"Private-MAC: [0-9a-f]{40}[0-9a-f]{0,24}+",
    )
    begins = [
        chance.base64(b"-----BEGIN %bPRIVATE KEY" % kind)
        for kind in (b"", b"RSA ", b"EC ", b"DSA ", b"OPENSSH ", b"ENCRYPTED ", b"PGP ")
    ]
    anchors = (chance.base64(b"-----BEGIN "),)
    yield SecretShape("private_key", anchors, b"(?:%b)" % b"|".join(begins), run=KEY_LINES)
