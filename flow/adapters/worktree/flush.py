"""Make time stamps show writes through shared mappings of files.

A mapped page moves its file's stamps when it is first written to, and not again before it was
written back to disk. So a stamp is believed only of a file that was flushed before it was hashed:
from then on the next write moves it. Whether that is so where a checkout lies is tried out each
time, on a file without a name. Where there is nothing to write back to (tmpfs, ramfs, an overlay on
those), or where that is unknown, no stamp is believed, and every walk hashes everything anew.
"""

from __future__ import annotations

import os
import time

from flow.startup.typing import NamedTuple


class Flush(NamedTuple):
    """A flush that works: the stamps that are older than ``began`` tell of every later write."""

    began: int
    """When it began (ns)."""
    device: int
    """The file system that was flushed (``st_dev``)."""


def flush(folder: str | bytes) -> Flush | None:
    """Write the file system of ``folder`` back; None where stamps then still show nothing.

    It takes as long as the disk needs for unwritten data.
    """
    try:
        began = time.time_ns()
        fd = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):  # read-only, or a file system without nameless files
        return None
    try:
        return Flush(began, os.fstat(fd).st_dev) if _stamps_tell(fd) else None
    except (OSError, ValueError):
        return None
    finally:
        os.close(fd)


def _stamps_tell(fd: int) -> bool:
    """Flush, and see whether a mapped page that was written to before moves the stamp again."""
    import mmap

    os.ftruncate(fd, mmap.PAGESIZE)
    with mmap.mmap(fd, mmap.PAGESIZE) as page:
        page[0] = 1
        if not _syncfs(fd):
            return False
        os.utime(fd, ns=(0, 0))
        page[0] = 2
        return os.fstat(fd).st_mtime_ns != 0


def _syncfs(fd: int) -> bool:
    import ctypes

    call = getattr(ctypes.CDLL(None), "syncfs", None)
    return call is not None and call(fd) == 0
