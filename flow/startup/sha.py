"""SHA digests of small values without OpenSSL: loading that takes as long as half an interpreter.

On much data OpenSSL is many times faster, so :func:`new` asks how much there is. On 400 bytes, a
line of the ledger, it is five times faster: once something has loaded it, :func:`sha256` takes it.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hashlib import _Hash, sha1, sha256
else:
    from sys import modules

    try:
        from _sha1 import sha1

        try:
            from _sha256 import sha256 as _own_sha256
        except ImportError:
            from _sha2 import sha256 as _own_sha256  # Python 3.12 and newer
    except ImportError:  # an interpreter that was built without them
        from hashlib import sha1
        from hashlib import sha256 as _own_sha256

    def sha256(data=b""):
        """A SHA-256 over ``data`` and what it is updated with."""
        return getattr(modules.get("_hashlib"), "openssl_sha256", _own_sha256)(data)


__all__ = ["Algorithm", "is_digest", "new", "sha1", "sha256"]

Algorithm = Literal["sha1", "sha256"]
_DIGITS = frozenset("0123456789abcdef")
SMALL = 1 << 14
"""Bytes up to which OpenSSL is not worth loading."""


def is_digest(value: object) -> bool:
    """Whether ``value`` is a SHA-256 as Flow writes it."""
    return isinstance(value, str) and len(value) == 64 and _DIGITS.issuperset(value)


def new(algorithm: Algorithm, size: int) -> _Hash:
    """A digest for about ``size`` bytes that are still to come."""
    if size > SMALL:
        import hashlib

        return hashlib.sha256() if algorithm == "sha256" else hashlib.sha1()  # noqa: S324
    return sha256() if algorithm == "sha256" else sha1()  # noqa: S324
