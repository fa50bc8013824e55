"""Digests of little data without the libraries for it, and checksums.

SHA without OpenSSL: loading that takes as long as half an interpreter.

OpenSSL is five times faster: once it is loaded, it is used. Before, the bytes that are digested
without it are counted. At :data:`MUCH` bytes it is loaded, since by then as much time is lost.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Literal

MUCH = 512 << 10
"""Bytes that take as long without OpenSSL as loading it does."""

if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash, sha1, sha256

    _checksum: Callable[[int, bytes], bytes]
    _maker: Callable[[Algorithm, int], Callable[[], _Hash]]
else:
    from _imp import source_hash as _checksum
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

    _digested = [0]
    """Bytes that were digested without OpenSSL; below 0 if there is no OpenSSL."""

    def sha256(data=b""):
        """A SHA-256 over ``data`` and later updates."""
        return _maker("sha256", len(data))(data)

    def _maker(algorithm, size):
        """The function that makes a digest for ``size`` more bytes: OpenSSL's, or Python's own."""
        library = modules.get("_hashlib")
        if library is None:
            _digested[0] += size
            if _digested[0] >= MUCH:
                library = _load_openssl()
        own = _own_sha256 if algorithm == "sha256" else sha1
        return getattr(library, f"openssl_{algorithm}", own)

    def _load_openssl():
        try:
            import _hashlib
        except ImportError:  # an interpreter that was built without it
            _digested[0] = float("-inf")
            return None
        return _hashlib


def checksum(data: bytes, before: int = 0) -> int:
    """A checksum of ``data`` behind bytes whose checksum is ``before``: against damage, no proof.

    Python's own of source files: it is there already, and zlib's takes a library.
    """
    return int.from_bytes(_checksum(before, data), "little") >> 1  # it takes no more bits than 63


__all__ = ["Algorithm", "checksum", "is_digest", "new", "sha1", "sha256"]

Algorithm = Literal["sha1", "sha256"]
_DIGITS = frozenset("0123456789abcdef")


def is_digest(value: object) -> bool:
    """Whether ``value`` is a SHA-256 as Flow writes it."""
    return isinstance(value, str) and len(value) == 64 and _DIGITS.issuperset(value)


def new(algorithm: Algorithm, size: int) -> _Hash:
    """A digest for about ``size`` bytes that are still to come, :data:`MUCH` for many."""
    return _maker(algorithm, size)()
