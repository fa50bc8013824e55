"""Content of one name on disk, as git would name it; bytes as they are, without filters."""

from __future__ import annotations

import errno
import os
import stat

from flow.core.boundary.rules import LINK, ContentState
from flow.startup.sha import new
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.startup.sha import Algorithm

LARGEST = 8 << 30
"""Bytes of one file that are read at most; a sparse file can claim any size."""

_CHUNK = 1 << 20
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def special(status: os.stat_result) -> ContentState:
    """A FIFO, socket or device: named, never opened."""
    if stat.S_ISFIFO(status.st_mode):
        return ContentState("fifo", "")
    if stat.S_ISSOCK(status.st_mode):
        return ContentState("socket", "")
    return ContentState("device", f"{status.st_rdev:x}")


def hashed(path: bytes, status: os.stat_result, algorithm: Algorithm) -> ContentState:
    """A regular file or symlink by its blob id. Raises :class:`OSError`, ESTALE where it moves."""
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(path)
        total = new(algorithm, len(target))
        total.update(b"blob %d\0" % len(target))
        total.update(target)
        return ContentState(LINK, total.hexdigest())
    fd = os.open(path, _FLAGS)
    try:
        opened = os.fstat(fd)
        if not stat.S_ISREG(opened.st_mode):
            raise OSError(errno.ESTALE, "it was replaced while it was looked at")
        if opened.st_size > LARGEST:
            raise OSError(errno.EFBIG, f"it has more than {LARGEST >> 30} GiB")
        total = new(algorithm, opened.st_size)
        total.update(b"blob %d\0" % opened.st_size)
        size = 0
        while size <= opened.st_size and (chunk := os.read(fd, _CHUNK)):
            total.update(chunk)
            size += len(chunk)
        if size != opened.st_size:
            raise OSError(errno.ESTALE, "it changed while it was read")
    finally:
        os.close(fd)
    return ContentState("100755" if opened.st_mode & 0o100 else "100644", total.hexdigest())
