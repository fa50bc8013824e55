"""Reading a file that the caller named: any readable file, a pipe, ``-``; bounded."""

from __future__ import annotations

import os

from flow.errors import InputError, in_file

LIMIT = 1 << 20
"""Bytes; SPEC 1."""


def read(path: str, option: str, *, limit: int = LIMIT) -> bytes:
    """The bytes of ``path`` (``-``: standard input).

    ``option`` is the option, or argument, that named it. Raises :class:`InputError` if it cannot be
    read or is larger than ``limit``.
    """
    try:
        fd = os.dup(0) if path == "-" else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(path, option, error) from error
    chunks: list[bytes] = []
    size = 0
    try:
        while size <= limit:
            chunk = os.read(fd, limit + 1 - size)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
            size += len(chunk)
    except OSError as error:
        raise _unreadable(path, option, error) from error
    finally:
        os.close(fd)
    raise in_file(path).invalid(
        f"is larger than {limit} bytes", "make it smaller", code="too_large"
    )


def read_text(path: str, option: str, *, limit: int = LIMIT) -> str:
    """Like :func:`read`, decoded from UTF-8."""
    data = read(path, option, limit=limit)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise in_file(path).invalid(
            f"is not UTF-8 text (byte {error.start})", "save it as UTF-8", code="invalid_file"
        ) from error


def check_file(path: str, option: str) -> None:
    """Raise :class:`InputError` unless ``path`` is a regular file that can be read."""
    import stat

    remedy = "name a regular file that can be read"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(path, option, error, remedy) from error
    try:
        regular = stat.S_ISREG(os.fstat(fd).st_mode)
    finally:
        os.close(fd)
    if not regular:
        why = "is not a regular file"
        raise in_file(path, option).invalid(why, remedy, code="unreadable")


def _unreadable(
    path: str,
    option: str,
    error: OSError | ValueError,
    remedy: str = "name a readable file, or - for standard input",
) -> InputError:
    why = getattr(error, "strerror", None) or "it is no path"
    return in_file(path, option).invalid(
        f"cannot be read: {why}",
        remedy,
        code="not_found" if isinstance(error, FileNotFoundError) else "unreadable",
    )
