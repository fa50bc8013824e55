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
        self._ring = -1
        self._head = limit // 2
        self._tail = limit - self._head
        self._end: bytearray | None = bytearray() if self._tail < END_KEPT else None
        self._digest: _Hash | None = None
        self._size = 0
        self._printed = 0
        self._passed = 0
        """Bytes that were redacted and not skipped."""
        self._skipped = 0
        """Bytes between head and ring that are in neither."""
        self._waiting: _WaitingBytes | None = None

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
        if self._passed >= self._head and self._tail <= _IN_MEMORY:
            self._waiting = _WaitingBytes(LOOK_BACK + max(self._tail, END_KEPT))

    def _redact_waiting(self, redactor: Redactor, waiting: _WaitingBytes) -> Redactor:
        """Redact what waits, and return who did it: another one if bytes before it were dropped."""
        search_only = 0
        if waiting.dropped:
            self._skipped = self._passed - self._head + len(redactor.finish()) + waiting.dropped
            self._passed = self._head
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
        room = self._head - self._passed
        if room > 0:
            self._append(view[:room])
            self._passed += min(room, len(view))
            view = view[room:]
        if len(view) > self._tail:  # the ring would overwrite all but the last of these
            self._passed += len(view) - self._tail
            view = view[-self._tail :]
        while view:
            if self._ring < 0:
                self._ring = self._make_ring()
            at = (self._passed - self._head) % self._tail
            part = view[: self._tail - at]
            os.lseek(self._ring, at, os.SEEK_SET)
            files.write_all(self._ring, part)
            self._passed += len(part)
            view = view[len(part) :]

    def _make_ring(self) -> int:
        """A nameless file of the same file system, gone with this process."""
        name = f"{self._rel}-tail"
        folder, base = folders.open_parent(self._root, name)
        try:
            fd = os.open(base, _FLAGS, 0o600, dir_fd=folder)
            os.unlink(base, dir_fd=folder)
        finally:
            os.close(folder)
        return fd

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
        overwritten = max(self._passed - self._head - self._tail, 0)
        left_out = self._skipped + overwritten
        if left_out:
            self._append(gap(left_out))
        if self._ring >= 0:
            held = min(self._passed - self._head, self._tail)
            start = (self._passed - self._head) % self._tail if overwritten else 0
            for begin, end in ((start, held), (0, start)):
                for at in range(begin, end, _BLOCK):
                    self._append(os.pread(self._ring, min(_BLOCK, end - at), at))
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
        for fd in (self._fd, self._ring):
            if fd >= 0:
                os.close(fd)
        self._fd = self._ring = -1

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


class _WaitingBytes:
    """The last ``room`` bytes that were added, unredacted: in memory, since no file may have them.

    ``dropped``: number of those before them.
    """

    def __init__(self, room: int) -> None:
        from mmap import mmap  # few outputs are so long

        self._room = room
        self._ring = mmap(-1, room)
        self._added = 0

    @property
    def dropped(self) -> int:
        return max(self._added - self._room, 0)

    def add(self, data: bytes) -> None:
        """Take the newest bytes, in place of the oldest."""
        view = memoryview(data)
        self._added += max(len(view) - self._room, 0)
        view = view[-self._room :]
        while view:
            at = self._added % self._room
            part = view[: self._room - at]
            self._ring[at : at + len(part)] = part
            self._added += len(part)
            view = view[len(part) :]

    def blocks(self) -> Iterator[bytes]:
        """All bytes from the oldest on; every length but the last one's divides LOOK_BACK."""
        start = self._added % self._room if self.dropped else 0
        held = min(self._added, self._room)
        for at in range(0, held, _BLOCK):
            begin = (start + at) % self._room
            size = min(_BLOCK, held - at)
            part = self._ring[begin : begin + size]
            yield part + self._ring[: size - len(part)]


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
