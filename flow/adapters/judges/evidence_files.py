"""Files for a judge: those of a criterion's ``evidence_paths``, and sidecars' outputs (SPEC 9.1).

Only regular files of the checkout are read, each component of their path opened without following
symlinks. Git's and Flow's own folders are never looked into, nor are files with another hard link,
which might belong to a denied one.
"""

from __future__ import annotations

import os
import stat
from hashlib import sha256

from flow.adapters.fs import files, folders
from flow.app.checks import RawOutput
from flow.app.judging.changed_files import EvidenceFiles, Raw
from flow.core import layout
from flow.core.boundary.by_products import cache_root
from flow.core.boundary.globs import Globs
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.core.evidence.model import Evidence

PIECE = 64 << 10
"""Bytes that are read of each end of a file; a prompt takes less."""
MOST_FILES = 40
"""Most files of one criterion, in the order of their names; the others are counted."""
BEYOND = f"file(s) beyond the first {MOST_FILES}"
MOST_ENTRIES = 200_000
"""Most names that a search looks at before it stops."""
_OWN = frozenset({b".git", b".flow"})


def collect(
    top: str,
    patterns: Sequence[str],
    denied: Sequence[str],
    left_out: Callable[[Sequence[bytes]], Mapping[bytes, str]] | None = None,
) -> EvidenceFiles:
    """The content of the files below ``top`` that ``patterns`` (from the top level) name.

    Files under ``denied`` patterns (at any depth) are not even opened. ``left_out`` returns the
    found files that are not to be read, each with its kind.
    """
    readable = _ReadableFiles(Globs(denied, anchored=False))
    paths = sorted(_Search(top, Globs(patterns, anchored=True), readable).run())
    unwanted = left_out(paths) if left_out is not None else {}
    for kind in unwanted.values():
        readable.count(kind)
    paths = [path for path in paths if path not in unwanted]
    if len(paths) > MOST_FILES:
        readable.count(BEYOND, len(paths) - MOST_FILES)
    names = [os.fsdecode(path) for path in paths[:MOST_FILES]]
    read = [(name, raw) for name in names if (raw := readable.ends(top, name)) is not None]
    return EvidenceFiles(tuple(read), readable.notes())


def changed(top: str, paths: Sequence[str], denied: Sequence[str]) -> EvidenceFiles:
    """The content of changed files, without those under ``denied`` patterns (at any depth).

    Neither Flow's own files nor binary ones are read.
    """
    readable = _ReadableFiles(Globs(denied, anchored=False))
    read: list[tuple[str, Raw]] = []
    for path in sorted(paths):
        if os.fsencode(path).partition(b"/")[0] in _OWN:
            continue
        try:
            status = os.lstat(os.path.join(top, path))
        except OSError:
            readable.count("file(s) gone")
            continue
        if not readable.readable(os.fsencode(path), status):
            continue
        if len(read) == MOST_FILES:
            readable.count(BEYOND)
            continue
        raw = readable.ends(top, path)
        if raw is not None and is_binary(raw.data):
            readable.count("binary file(s)")
        elif raw is not None:
            read.append((path, raw))
    return EvidenceFiles(tuple(read), readable.notes())


def in_words(counts: Mapping[str, int]) -> tuple[str, ...]:
    """``1 binary file``, ``2 binary files``, from counts by ``binary file(s)``; none of none."""
    return tuple(
        f"{count:,} {kind.replace('(s)', 's' * (count != 1))}"
        for kind, count in counts.items()
        if count
    )


def is_binary(data: bytes) -> bool:
    """Whether it holds a NUL, or much that is not UTF-8."""
    if b"\0" in data:
        return True
    return data.decode("utf-8", "replace").count("\ufffd") * 10 > len(data)


def output_ends(top: str, run_id: str, evidence: Evidence) -> Raw:
    """The raw output that a sidecar of the run names; of a large one both ends."""
    name = evidence.output_ref
    return Raw(b"") if name is None else read_ends(top, f"{layout.evidence_dir(run_id)}/{name}")


def read_ends(top: str, rel: str) -> Raw:
    """A regular file's bytes; of a large one both ends. Nothing if it is absent."""
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


class _ReadableFiles:
    """The content of found files for a judge, and counts of the unread ones by reason."""

    def __init__(self, denied: Globs) -> None:
        self.denied = denied
        self.counts: dict[str, int] = {}

    def readable(self, path: bytes, status: os.stat_result) -> bool:
        """Whether a judge may see the file; a forbidden one is counted."""
        if self.denied.first(path) is not None:
            self.count("file(s) kept from a judge")
            return False
        if not stat.S_ISREG(status.st_mode):
            self.count("symlink(s) or other thing(s) than a regular file")
            return False
        if status.st_nlink > 1 and self.denied:
            self.count("file(s) with several hard links, any of which may be kept from a judge")
            return False
        return True

    def ends(self, top: str, path: str) -> Raw | None:
        """The ends of the file; None, and counted, if it cannot be read."""
        try:
            return read_ends(top, path)
        except FlowError:
            self.count("file(s) not readable")
            return None

    def count(self, kind: str, number: int = 1) -> None:
        """Count files that are not read; ``(s)`` in their kind is for several."""
        self.counts[kind] = self.counts.get(kind, 0) + number

    def notes(self) -> tuple[str, ...]:
        """The unread files, in words."""
        return in_words(self.counts)


class _Search:
    """One walk over the checkout, for the files that ``wanted`` names."""

    def __init__(self, top: str, wanted: Globs, readable: _ReadableFiles) -> None:
        self._top = os.fsencode(top)
        self._wanted, self._readable = wanted, readable
        self._seen = 0

    def run(self) -> list[bytes]:
        """The paths of the files, below the top level."""
        paths: list[bytes] = []
        waiting = [b""]
        while waiting:
            folder = waiting.pop()
            for name, status in self._entries(folder):
                path = folder + b"/" + name if folder else name
                if stat.S_ISDIR(status.st_mode):
                    if self._entered(path, name):
                        waiting.append(path)
                elif self._wanted.first(path) is not None and self._readable.readable(path, status):
                    paths.append(path)
        return paths

    def _entries(self, folder: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
        if self._seen >= MOST_ENTRIES:
            return
        try:
            with os.scandir(self._top + b"/" + folder) as entries:
                for entry in entries:
                    self._seen += 1
                    if self._seen > MOST_ENTRIES:
                        self._readable.count(f"folder(s) not searched beyond {MOST_ENTRIES} names")
                        return
                    try:
                        yield entry.name, entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
        except OSError:
            self._readable.count("folder(s) not readable")

    def _entered(self, path: bytes, name: bytes) -> bool:
        if name in _OWN:
            return False
        if self._readable.denied.first(path, folder=True) is not None:
            if self._wanted.first(path, folder=True) is not None:
                self._readable.count("folder(s) kept from a judge")
            return False
        text = os.fsdecode(name)  # caches are searched only if a pattern names them
        named = any(text in glob.text for glob in self._wanted.globs)
        return named or cache_root(f"{text}/x") is None


def stashed(top: str, data: bytes) -> RawOutput:
    """``data`` in a file of its own, as the raw output of evidence that will be recorded."""
    rel = f"{layout.WORK}/{layout.TEMP_PREFIX}{os.urandom(9).hex()}"
    files.publish_new(top, rel, data)
    return RawOutput(os.path.join(top, rel), sha256(data).hexdigest(), len(data))
