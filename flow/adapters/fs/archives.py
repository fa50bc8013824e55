"""The archive of a run's evidence: one zip file with the files of the folder beside it.

``flow gc --archive`` makes it of a closed run. :mod:`flow.adapters.fs.files` reads absent files of
the folder from it, so no other reader needs to know of it. An archive is believed as much as loose
files are: the digest in the run's ledger decides for each.
"""

from __future__ import annotations

import io
import os
import struct
import tempfile
import zipfile
import zlib
from hashlib import sha256

from flow.adapters.fs.folders import refusal, reported
from flow.adapters.fs.stamps import is_settled, stamp_of
from flow.core import layout
from flow.errors import ContractError, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

INDEX_LIMIT = 64 << 20
"""Most bytes of an archive's list of files."""
IN_MEMORY = 8 << 20
"""Bytes: a larger file of an archive is read through a nameless file on the disk."""
_BLOCK = 1 << 20
_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)
"""Errors of ``zipfile`` for bytes that are no archive, or a damaged one."""


class EvidenceArchive:
    """An archive that is open: ``paths`` are those of its files, below the checkout."""

    def __init__(self, rel: str, zipped: zipfile.ZipFile) -> None:
        folder = rel.removesuffix(layout.ARCHIVE_SUFFIX)
        self._rel, self._zipped = rel, zipped
        self._members = {
            f"{os.path.dirname(folder)}/{info.filename}": info for info in zipped.infolist()
        }
        self.paths = frozenset(path for path in self._members if layout.archive_of(path) == rel)

    def blocks(self, path: str) -> Iterator[bytes]:
        """The content of one of :attr:`paths`, in parts."""
        info = self._members[path]
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self._damaged(path, "it is packed as Flow packs nothing")
        is_sidecar = path.endswith(layout.EVIDENCE_SUFFIX)
        limit = layout.SIDECAR_LIMIT if is_sidecar else layout.OUTPUT_LIMIT
        if info.file_size > limit:
            raise self._damaged(path, f"it has more than {limit} bytes")
        try:
            with reported("read", self._rel), self._zipped.open(info) as stream:
                while block := stream.read(_BLOCK):
                    yield block
        except _FAULTS as error:
            raise self._damaged(path, str(error) or type(error).__name__) from None

    def digest(self, path: str) -> str:
        """The SHA-256 (hex) of one of :attr:`paths`."""
        total = sha256()
        for block in self.blocks(path):
            total.update(block)
        return total.hexdigest()

    def open_member(self, path: str) -> int | None:
        """A descriptor with the content of a file; None if it is not in the archive."""
        if path not in self.paths:
            return None
        with _nameless(self._members[path].file_size) as file:
            for block in self.blocks(path):
                with reported("read", path):
                    file.write(block)
            with reported("read", path):
                file.seek(0)
            return os.dup(file.fileno())

    def _damaged(self, path: str, fault: str) -> ContractError:
        return _corrupt(self._rel, f"{os.path.basename(path)} in it cannot be read: {fault}")


class _BoundedFile(io.FileIO):
    """A file that limits the bytes of one read to those of an archive's list."""

    failure: OSError | None = None
    """The system's error if it could not be read: ``zipfile`` takes that for no archive."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = max(0, os.fstat(self.fileno()).st_size - self.tell())
        if size > INDEX_LIMIT:
            raise zipfile.BadZipFile("the list of its files is too long")
        try:
            return super().read(size) or b""
        except OSError as error:
            self.failure = error
            raise

    def __del__(self) -> None:
        self.close()  # readers may still use the archive, and none of them knows the last use


_last_opened: dict[tuple[str, str], tuple[tuple[int, ...], EvidenceArchive]] = {}
"""At most one: the archive that was opened last, by its place, with its file's stamps then."""


def opened(root: str, rel: str, fd: int) -> EvidenceArchive:
    """The archive at ``rel``, by a descriptor of it, which is closed with it.

    Raises :class:`ContractError` for a file that is none. The list of the files in it is read once
    for as long as the same file is there and is not written to.
    """
    status = os.fstat(fd)
    stamps = stamp_of(status)
    before = _last_opened.get((root, rel))
    if before is not None and before[0] == stamps:
        os.close(fd)
        return before[1]
    archive = read(fd, rel)
    _last_opened.clear()
    if is_settled(status):  # else its stamps may be those of a later write as well
        _last_opened[root, rel] = stamps, archive
    return archive


def read(fd: int, rel: str) -> EvidenceArchive:
    """The archive of a descriptor, read anew."""
    file = _BoundedFile(fd)
    try:
        with reported("read", rel):
            return EvidenceArchive(rel, zipfile.ZipFile(file))
    except _FAULTS as error:
        file.close()
        if file.failure is not None:
            raise refusal("read", rel, file.failure) from error
        raise _corrupt(rel, f"is no archive of evidence: {error}") from None


def _nameless(size: int) -> IO[bytes]:
    """A nameless file, to write ``size`` bytes to and to read them."""
    if size <= IN_MEMORY and hasattr(os, "memfd_create"):
        return open(os.memfd_create("flow"), "w+b")
    with reported("write", "the folder for temporary files"):
        return tempfile.TemporaryFile()


def _corrupt(rel: str, fault: str) -> ContractError:
    return in_file(rel).corrupt(
        fault,
        "if Flow did not write it, move it away: flow evidence verify says what is missing then",
    )
