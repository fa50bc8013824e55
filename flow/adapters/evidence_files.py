"""Files for a judge: what a criterion's ``evidence_paths`` name, and sidecars' outputs (SPEC 9.1).

Only regular files of the checkout are read, each component of their path opened without following
symlinks. Git's and Flow's own folders are never looked into, nor are files with another hard link
to them that might be a denied one's.
"""

from __future__ import annotations

import os
import stat

from flow.adapters import files, folders
from flow.app.judging_bundle import EvidenceFiles, Raw
from flow.cheap_typing import TYPE_CHECKING
from flow.core.by_products import cache_root
from flow.core.globs import Globs
from flow.errors import FlowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PIECE = 64 << 10
"""Bytes that are read of each end of a file; a prompt takes less."""
MOST_FILES = 40
"""Files of one criterion, in the order of their names; the others are counted."""
MOST_ENTRIES = 200_000
"""Names that a search looks at before it stops."""
_OWN = frozenset({b".git", b".flow"})


def collect(top: str, patterns: Sequence[str], denied: Sequence[str]) -> EvidenceFiles:
    """The content of the files below ``top`` that ``patterns`` (from the top level) name.

    What ``denied`` patterns (at any depth) cover is not even opened.
    """
    search = _Search(top, Globs(patterns, anchored=True), Globs(denied, anchored=False))
    found = sorted(search.run())
    counts = search.counts
    if len(found) > MOST_FILES:
        counts["files more than one criterion may show"] = len(found) - MOST_FILES
    read: list[tuple[str, Raw]] = []
    for path in found[:MOST_FILES]:
        name = os.fsdecode(path)
        try:
            read.append((name, read_ends(top, name)))
        except FlowError:
            counts["files that cannot be read"] = counts.get("files that cannot be read", 0) + 1
    notes = tuple(f"{count} {what}" for what, count in counts.items() if count)
    return EvidenceFiles(tuple(read), notes)


def read_ends(top: str, rel: str) -> Raw:
    """A regular file's bytes; of a large one both ends. Nothing where it is absent."""
    with folders.reported("read", rel):
        fd = files.open_regular(top, rel)
        if fd is None:
            return Raw(b"")
        try:
            size = os.fstat(fd).st_size
            if size <= 2 * PIECE:
                return Raw(_pread(fd, 2 * PIECE, 0))
            head, tail = _pread(fd, PIECE, 0), _pread(fd, PIECE, size - PIECE)
            return Raw(head + tail, size - len(head) - len(tail))
        finally:
            os.close(fd)


def _pread(fd: int, count: int, at: int) -> bytes:
    pieces = b""
    while len(pieces) < count and (more := os.pread(fd, count - len(pieces), at + len(pieces))):
        pieces += more
    return pieces


class _Search:
    """One walk over the checkout."""

    def __init__(self, top: str, wanted: Globs, denied: Globs) -> None:
        self._top = os.fsencode(top)
        self._wanted, self._denied = wanted, denied
        self._seen = 0
        self.counts: dict[str, int] = {}
        """What was found and is not read, by the reason."""

    def run(self) -> list[bytes]:
        """The paths of the files, below the top level."""
        found: list[bytes] = []
        waiting = [b""]
        while waiting:
            folder = waiting.pop()
            for name, status in self._entries(folder):
                path = folder + b"/" + name if folder else name
                if stat.S_ISDIR(status.st_mode):
                    if self._entered(path, name):
                        waiting.append(path)
                elif self._wanted.first(path) is not None and self._readable(path, status):
                    found.append(path)
        return found

    def _entries(self, folder: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
        if self._seen >= MOST_ENTRIES:
            return
        try:
            with os.scandir(self._top + b"/" + folder) as entries:
                for entry in entries:
                    self._seen += 1
                    if self._seen > MOST_ENTRIES:
                        self._count(f"folders that were not searched beyond {MOST_ENTRIES} names")
                        return
                    try:
                        yield entry.name, entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
        except OSError:
            self._count("folders that cannot be listed")

    def _entered(self, path: bytes, name: bytes) -> bool:
        if name in _OWN:
            return False
        if self._denied.first(path, folder=True) is not None:
            if self._wanted.first(path, folder=True) is not None:
                self._count("folders that are kept from a judge")
            return False
        shown = os.fsdecode(name)  # caches are looked into only where a pattern names them
        return cache_root(f"{shown}/x") is None or any(
            shown in glob.text for glob in self._wanted.globs
        )

    def _readable(self, path: bytes, status: os.stat_result) -> bool:
        if self._denied.first(path) is not None:
            self._count("files that are kept from a judge")
            return False
        if not stat.S_ISREG(status.st_mode):
            self._count("symlinks and other things that are no regular files")
            return False
        if status.st_nlink > 1 and self._denied:
            self._count("files with several hard links, which may be such files")
            return False
        return True

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
