"""Contents of the files of a walk: hashed now, or known from an earlier walk by their stamps.

A content is named as git would name it; bytes count as they are, without filters. For the stamps
that are believed see :mod:`flow.adapters.fs.stamps`.
"""

from __future__ import annotations

import errno
import os
import stat

from flow.adapters.fs.stamps import flush, is_settled, shows_changes
from flow.adapters.worktree.cache import pack_hashed
from flow.adapters.worktree.clean_files import packed_stamps
from flow.core.boundary.changes import LINK, ContentState
from flow.startup.sha import new
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flow.adapters.fs.stamps import Flush
    from flow.adapters.worktree.cache import Table
    from flow.adapters.worktree.clean_files import Stamps
    from flow.startup.sha import Algorithm

LARGEST = 8 << 30
"""Most bytes of one file that are read; a sparse file can claim any size."""

UNFLUSHED = 256 << 10
"""Bytes (with :data:`_FILE_COST`) that are hashed anew at each walk, before a flush is worth it to
remember them: it may have to wait for the disk.
"""
_FILE_COST = 4096
"""Cost of hashing a file in bytes, beside its content."""

_NONE: Mapping[bytes, Stamps] = {}
_CHUNK = 1 << 20
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Contents:
    """The files of one walk; with ``doubts`` each is hashed, even with known stamps."""

    def __init__(self, top: bytes, table: Table, *, doubts: bool) -> None:
        self.fresh = 0
        """Bytes that were hashed and can be remembered, with a fixed amount for each file."""
        self.newly_clean: dict[bytes, Stamps] = {}
        self.only_written: dict[bytes, int] = {}
        """Times (ns) of the last writes of the other files that are as in the base."""
        self._top = top
        self._table = table
        self._doubts = doubts
        self._doubted: dict[bytes, dict[bytes, Stamps]] = {}
        """folder → known stamps of files in it that are hashed all the same."""
        self._unflushed = 0
        self._flush: Flush | None = None
        self._flush_tried = False
        self._algorithm: Algorithm = "sha256" if len(table.base) == 64 else "sha1"

    def doubt(self, paths: Iterable[bytes]) -> None:
        """Hash these clean files, even with known stamps."""
        for path in paths:
            folder = path[: path.rfind(b"/") + 1]
            self._doubted.setdefault(folder, {})[path] = self._table.clean[path]

    def doubted(self, folder: bytes) -> Mapping[bytes, Stamps]:
        """The doubted files of a folder (with a ``/`` at its end), with their known stamps."""
        return self._doubted.get(folder, _NONE)

    def packed(self, path: bytes, status: os.stat_result) -> bytes | None:
        """A regular file or symlink with these stamps (``pack_hashed``); None: as in the base.

        Raises :class:`OSError`.
        """
        stamps = packed_stamps(status)
        earlier = self._earlier(path, stamps)
        if earlier is not None and not self._doubts:
            return earlier
        remember = earlier is None and self._tells_later(status)
        entry = hashed(self._top + path, status, self._algorithm)
        if packed_stamps(os.lstat(self._top + path)) != stamps:
            raise OSError(errno.ESTALE, "it changed while it was looked at")
        if remember:
            self.fresh += status.st_size + _FILE_COST
        believed = pack_hashed(stamps, entry)
        if self._table.packed_entry(path) == believed[len(stamps) :]:
            if remember or believed == earlier:
                self.newly_clean[path] = stamps
            else:
                self.only_written[path] = status.st_ctime_ns
            return None
        if believed == earlier:
            return earlier
        return believed if remember else pack_hashed(stamps, entry, believed=False)

    def _earlier(self, path: bytes, stamps: Stamps) -> bytes | None:
        """The file as it was packed, with these stamps, when it was hashed last; else None."""
        if self.doubted(path[: path.rfind(b"/") + 1]).get(path) == stamps:
            return stamps + (self._table.packed_entry(path) or b"")
        earlier = self._table.hashes.pop(path, b"")
        return earlier if earlier.startswith(stamps) else None

    def _tells_later(self, status: os.stat_result) -> bool:
        """Whether the stamps of a file that is hashed after this will show any later change.

        Flushes if there is enough to be remembered.
        """
        if not is_settled(status):
            return False
        self._unflushed += status.st_size + _FILE_COST
        if not self._flush_tried and self._unflushed > UNFLUSHED:
            self._flush, self._flush_tried = flush(self._top), True
        return self._flush is not None and shows_changes(status, self._flush)


def special(status: os.stat_result) -> ContentState:
    """A FIFO, socket or device: named, never opened."""
    if stat.S_ISFIFO(status.st_mode):
        return ContentState("fifo", "")
    if stat.S_ISSOCK(status.st_mode):
        return ContentState("socket", "")
    return ContentState("device", f"{status.st_rdev:x}")


def hashed(path: bytes, status: os.stat_result, algorithm: Algorithm) -> ContentState:
    """A regular file or symlink by its blob id. Raises :class:`OSError`, ESTALE if it changes."""
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
        # One byte more than expected is read: it shows growth, and the end.
        while wanted := min(_CHUNK, opened.st_size - size + 1):
            chunk = os.read(fd, wanted)
            total.update(chunk)
            size += len(chunk)
            if len(chunk) < wanted:
                break
        if size != opened.st_size:
            raise OSError(errno.ESTALE, "it changed while it was read")
    finally:
        os.close(fd)
    return ContentState("100755" if opened.st_mode & 0o100 else "100644", total.hexdigest())
