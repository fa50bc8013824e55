"""The stamps of a file, and when they show every later change of its content.

Programs cannot set ctime, but its clock ticks in milliseconds: a file that changed less than
``RACY_NS`` before it was looked at could change again within the same tick, so its stamps are not
remembered.

A page of a file that is mapped changes the stamps when it is first written to, and not again before
it was written back to disk. So a stamp is believed only of a file that was flushed before it was
read: from then on the next write changes it. Whether a checkout's disk behaves like that is tried
each time, on a file without a name. If there is nothing to write back to (tmpfs, ramfs, an overlay
on those), or that is unknown, no stamp is believed, and every look reads everything anew.
"""

from __future__ import annotations

import os
import time
from _operator import attrgetter  # `operator` itself is a module more to find

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

RACY_NS = 2_000_000_000
"""Two seconds: the coarsest time stamps of a file system in use (FAT)."""
PROBE_ROOM = 1 << 20
"""Least free bytes of a disk on which a mapped page is written to."""

Signature = tuple[int, int, int, int, int]
"""ctime_ns, mtime_ns, size, inode, mode of a file."""


def signature_of(status: os.stat_result) -> Signature:
    """The stamps that differ between two states of a file."""
    st = status
    return st.st_ctime_ns, st.st_mtime_ns, st.st_size, st.st_ino, st.st_mode


stamp_of: Callable[[os.stat_result], tuple[int, ...]] = attrgetter(
    "st_dev", "st_ctime_ns", "st_mtime_ns", "st_size", "st_ino", "st_mode"
)
"""The file system and the :data:`Signature` of a file, in C: used for thousands of files."""


class Flush(NamedTuple):
    """A flush that works: stamps that are older than ``began`` show every later write."""

    began: int
    """Time of its beginning (ns)."""
    device: int
    """The file system that was flushed (``st_dev``)."""


def is_settled(status: os.stat_result) -> bool:
    """Whether a change from now on gets another ctime than the one in these stamps."""
    return status.st_ctime_ns < time.time_ns() - RACY_NS


def shows_changes(status: os.stat_result, flushed: Flush) -> bool:
    """Whether these stamps, from before the file was read, would show any later change."""
    same = status.st_dev == flushed.device
    return same and status.st_ctime_ns < flushed.began - RACY_NS


def flush(folder: str | bytes) -> Flush | None:
    """Write the file system of ``folder`` back; None if stamps still show nothing after that.

    It takes as long as the disk needs for unwritten data.
    """
    try:
        began = time.time_ns()
        fd = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):  # read-only, or a file system without nameless files
        return None
    try:
        return Flush(began, os.fstat(fd).st_dev) if _stamps_show_writes(fd) else None
    except (OSError, ValueError):
        return None
    finally:
        os.close(fd)


def _stamps_show_writes(fd: int) -> bool:
    """Flush, and check that a second write to a mapped page changes the stamp again.

    The kernel ends a process (SIGBUS) that writes to a mapped page for which no room is left. So
    the page is written first, where a full disk or quota is an error; a file system that copies on
    write needs room for the second write, too.
    """
    import mmap

    disk = os.fstatvfs(fd)
    if disk.f_blocks and disk.f_bavail * disk.f_frsize < PROBE_ROOM:
        return False
    os.pwrite(fd, bytes(mmap.PAGESIZE), 0)
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
