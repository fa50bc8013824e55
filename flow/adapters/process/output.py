"""A command's output on its way to the disk: redacted, bounded, never held in memory as a whole.

Secrets are redacted first (SPEC 10), so that no file ever holds one. Of more than ``limit`` bytes
the first and the last half are kept, with a line between them that gives the number left out. The
first half goes to the file that will be published; the rest goes to a second one without a name,
used as a ring, so that 300 MB of output take no more disk than 10 MiB of it. Digest and size are
those of the published file; the bytes printed are counted before redaction.

Once the first half is full, bytes wait in memory, and only the last of them are redacted, at the
end: what will be left out costs no search. The search begins :data:`LOOK_BACK` before the part that
is kept, so that a secret that begins up there is known. Bytes that were redacted and left out are
counted after redaction, those that were never searched as they were printed.
"""

from __future__ import annotations

import os

from flow.adapters.fs import files, folders
from flow.errors import FlowError
from flow.startup.contexts import suppress
from flow.startup.sha import MUCH, new
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from hashlib import _Hash

    from flow.core.secrets.redact import Redactor

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 1 << 16
LOOK_BACK = 1 << 20
"""Bytes before the part that is kept in which a secret that reaches into it is known by its start.
"""
_IN_MEMORY = 1 << 24
"""Bytes of a tail that may wait in memory; a longer one is redacted as it comes."""
_LITTLE = 1 << 14
"""Bytes: an output that begins with more is taken for a long one."""
END_KEPT = 1 << 18
"""Bytes of the end that can be read at any limit: decisions are made on uncut text."""
END = "-end"
"""Suffix to the work file's name: the end of an output that was cut shorter than that."""


class StoredOutput(NamedTuple):
    """The finished file: its digest and size, and the bytes that were printed and left out.

    ``redacted`` counts the secrets by their kinds. ``end``: there is a file with the uncut end.
    """

    sha256: str
    size: int
    printed: int
    left_out: int
    redacted: Mapping[str, int]
    end: bool = False


def gap(left_out: int) -> bytes:
    """The line in place of ``left_out`` bytes."""
    return b"\n[flow: %d bytes of output left out here]\n" % left_out


class OutputFile:
    """One command's output, written to ``rel`` below ``root``, through a redactor made for it.

    Raises :class:`RefusedError` or :class:`StorageError` if the file cannot be made; every other
    method raises OSError if the disk refuses, and then its content is worth nothing.
    """

    def __init__(
        self, root: str, rel: str, limit: int, make_redactor: Callable[[], Redactor]
    ) -> None:
        self._make_redactor = make_redactor
        self._redactor: Redactor | None = None
        self._root, self._rel = root, rel
        self._fd = self._make()
        self._head = limit // 2
        self._tail = limit - self._head
        self._ring = _FileRing(self._tail, root, f"{rel}-tail")
        self._end: bytearray | None = bytearray() if self._tail < END_KEPT else None
        self._digest: _Hash | None = None
        self._size = 0
        self._printed = 0
        self._skipped = 0
        """Bytes between head and ring that were never in the ring."""
        self._waiting: _MemoryRing | None = None

    def _make(self) -> int:
        folder, name = folders.open_parent(self._root, self._rel)
        try:
            return os.open(name, _FLAGS, files.FILE_MODE, dir_fd=folder)
        finally:
            os.close(folder)

    def write(self, data: bytes) -> None:
        """Take more output; some of it may be held back until its end is known."""
        self._printed += len(data)
        if self._waiting is not None:
            self._waiting.add(data)
            return
        if self._redactor is None:
            self._redactor = self._make_redactor()
        self._keep(self._redactor.feed(data))
        if self._size >= self._head and self._tail <= _IN_MEMORY:
            self._waiting = _MemoryRing(LOOK_BACK + max(self._tail, END_KEPT))

    def _redact_waiting(self, redactor: Redactor, waiting: _MemoryRing) -> Redactor:
        """Redact what waits, and return who did it: another one if bytes before it were dropped."""
        search_only = 0
        if waiting.dropped:
            self._skipped = self._ring.added + len(redactor.finish()) + waiting.dropped
            self._ring.added = 0
            if self._end is not None:
                self._end.clear()
            counts, redactor = redactor.counts, self._make_redactor()
            redactor.counts.update(counts)
            search_only = LOOK_BACK
        for block in waiting.blocks():
            data = redactor.feed(block)
            if search_only > 0:
                self._skipped += len(data)
                search_only -= len(block)
            else:
                self._keep(data)
        return redactor

    def _keep(self, data: bytes) -> None:
        if self._end is not None:
            self._end += data
            if len(self._end) > 2 * END_KEPT:
                del self._end[:-END_KEPT]
        view = memoryview(data)
        room = max(self._head - self._size, 0)
        if room:
            self._append(view[:room])
        self._ring.add(view[room:])

    def _append(self, data: memoryview | bytes) -> None:
        files.write_all(self._fd, data)
        if self._digest is None:  # a small output mostly stays small
            self._digest = new("sha256", len(data) if len(data) <= _LITTLE else MUCH)
        self._digest.update(data)
        self._size += len(data)

    def finish(self) -> StoredOutput:
        """Put the tail after the head, sync the bytes, and describe the finished file."""
        redacted: Mapping[str, int] = {}
        if self._redactor is not None:
            redactor = self._redactor
            if self._waiting is not None:
                redactor = self._redact_waiting(redactor, self._waiting)
            self._keep(redactor.finish())
            redacted = redactor.counts
        left_out = self._skipped + self._ring.dropped
        if left_out:
            self._append(gap(left_out))
        for block in self._ring.blocks():
            self._append(block)
        end = bool(left_out) and self._end is not None
        if end:
            self._write_end()
        if not self._still_there():
            self._put_back()
        if self._size:  # an empty file is only a name, synced with its next folder
            os.fsync(self._fd)
        digest = self._digest or new("sha256", 0)
        return StoredOutput(digest.hexdigest(), self._size, self._printed, left_out, redacted, end)

    def close(self) -> None:
        """Close its descriptors."""
        self._waiting = None
        self._ring.close()
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _write_end(self) -> None:
        """Leave the uncut end beside the work file, for the attribution of this run."""
        folder, name = folders.open_parent(self._root, self._rel + END)
        try:
            fd = os.open(name, _FLAGS, files.FILE_MODE, dir_fd=folder)
        finally:
            os.close(folder)
        try:
            files.write_all(fd, bytes(self._end or b"")[-END_KEPT:])
        finally:
            os.close(fd)

    def _still_there(self) -> bool:
        try:
            status = os.lstat(os.path.join(self._root, self._rel))
        except OSError:
            return False
        return os.path.samestat(status, os.fstat(self._fd))

    def _put_back(self) -> None:
        """Write it again if the command removed or moved it, folder and all (HAZARD E67)."""
        old, self._fd = self._fd, self._make()
        try:
            for at in range(0, self._size, _BLOCK):
                files.write_all(self._fd, os.pread(old, _BLOCK, at))
        finally:
            os.close(old)


class _Ring:
    """The last ``room`` bytes of those that were added."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.added = 0
        """Number of bytes that were added; with 0 it is empty again."""

    @property
    def dropped(self) -> int:
        """Number of bytes that were added and are not there any more."""
        return max(self.added - self._room, 0)

    def add(self, data: bytes | memoryview) -> None:
        """Take the newest bytes, in place of the oldest."""
        view = memoryview(data)
        self.added += max(len(view) - self._room, 0)  # the ring would overwrite these
        view = view[-self._room :]
        while view:
            at = self.added % self._room
            part = view[: self._room - at]
            self._write_at(at, part)
            self.added += len(part)
            view = view[len(part) :]

    def blocks(self) -> Iterator[bytes]:
        """All bytes from the oldest on; every length but the last one's divides LOOK_BACK."""
        start = self.added % self._room if self.dropped else 0
        held = min(self.added, self._room)
        for at in range(0, held, _BLOCK):
            begin = (start + at) % self._room
            size = min(_BLOCK, held - at)
            part = self._read_at(begin, min(size, self._room - begin))
            yield part + self._read_at(0, size - len(part))

    def _write_at(self, at: int, part: memoryview) -> None:
        raise NotImplementedError

    def _read_at(self, at: int, size: int) -> bytes:
        raise NotImplementedError


class _MemoryRing(_Ring):
    """For bytes that are not redacted yet, since no file may have them."""

    def __init__(self, room: int) -> None:
        from mmap import mmap  # few outputs are so long

        super().__init__(room)
        self._map = mmap(-1, room)

    def _write_at(self, at: int, part: memoryview) -> None:
        self._map[at : at + len(part)] = part

    def _read_at(self, at: int, size: int) -> bytes:
        return self._map[at : at + size]


class _FileRing(_Ring):
    """In a nameless file beside ``rel``, made for the first bytes and gone with this process."""

    def __init__(self, room: int, root: str, rel: str) -> None:
        super().__init__(room)
        self._root, self._rel = root, rel
        self._fd = -1

    def _write_at(self, at: int, part: memoryview) -> None:
        if self._fd < 0:
            folder, name = folders.open_parent(self._root, self._rel)
            try:
                self._fd = os.open(name, _FLAGS, 0o600, dir_fd=folder)
                os.unlink(name, dir_fd=folder)
            finally:
                os.close(folder)
        os.lseek(self._fd, at, os.SEEK_SET)
        files.write_all(self._fd, part)

    def _read_at(self, at: int, size: int) -> bytes:
        return os.pread(self._fd, size, at) if size else b""

    def close(self) -> None:
        """Close its descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def discard(root: str, rels: Sequence[str]) -> None:
    """Remove work files of one folder if they are still there; never fails.

    No other file has their names, and of a symlink only the link is removed.
    """
    if not rels:
        return
    names = {rel.rpartition("/")[2] for rel in rels}
    # The folder may have become unsafe or unreadable; doctor lists the rest.
    with suppress(FlowError), folders.in_folder(root, rels[0], "remove") as (folder, _):
        if folder is None:
            return
        with suppress(OSError):  # no descriptor left: then each is tried
            names.intersection_update(os.listdir(folder))  # most were taken before
        for name in names:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
