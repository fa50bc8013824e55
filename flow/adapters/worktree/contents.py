"""Contents of the files of a walk: hashed now, or known from an earlier walk by their stamps."""

from __future__ import annotations

import errno
import os
import time

from flow.adapters.worktree.cache import RACY_NS, Hashed, signature_of
from flow.adapters.worktree.flush import flush
from flow.adapters.worktree.hashes import hashed
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from flow.adapters.worktree.cache import Signature, Table
    from flow.adapters.worktree.flush import Flush
    from flow.core.boundary.rules import ContentState
    from flow.startup.sha import Algorithm

UNFLUSHED = 256 << 10
"""Bytes (a file counts for 4096 more) that are hashed anew at each walk, before a flush is worth it
to remember them: it may have to wait for the disk."""

_NO_SIGNATURE: Signature = (0, 0, 0, 0, 0)
"""No file has it, so that the file is hashed anew."""


class Contents:
    """The files of one walk; with ``doubts`` each is hashed, whatever its stamps are."""

    def __init__(self, top: bytes, table: Table, *, doubts: bool) -> None:
        self.fresh = 0
        """Bytes that were hashed and can be remembered, with a fixed amount for each file."""
        self.newly_clean: dict[bytes, Signature] = {}
        self.hashes: dict[bytes, Hashed] = {}
        """For the cache: files that are not as in the base."""
        self._top = top
        self._table = table
        self._doubts = doubts
        self._doubted: dict[bytes, Signature] = {}
        """Known stamps of files that are hashed all the same."""
        self._unflushed = 0
        self._flush: Flush | None = None
        self._flush_tried = False
        self._algorithm: Algorithm = "sha256" if len(table.base) == 64 else "sha1"

    def doubt(self, paths: Collection[bytes]) -> None:
        """Make a walk meet these clean files, whatever their stamps are."""
        clean = self._table.clean
        self._table.expect(paths)
        for path in paths:
            self._doubted[path] = clean[path]
            clean[path] = _NO_SIGNATURE

    def entry(self, path: bytes, status: os.stat_result) -> ContentState:
        """A regular file or symlink with these stamps. Raises :class:`OSError`."""
        signature = signature_of(status)
        earlier = self._earlier(path, signature)
        if earlier is not None and not self._doubts:
            self.hashes[path] = Hashed(signature, earlier)
            return earlier
        remember = earlier is None and self._tells_later(status)
        entry = hashed(self._top + path, status, self._algorithm)
        if signature_of(os.lstat(self._top + path)) != signature:
            raise OSError(errno.ESTALE, "it changed while it was looked at")
        if remember:
            self.fresh += status.st_size + 4096
        if remember or entry == earlier:
            if entry == self._table.entry(path):
                self.newly_clean[path] = signature
            else:
                self.hashes[path] = Hashed(signature, entry)
        return entry

    def _earlier(self, path: bytes, signature: Signature) -> ContentState | None:
        """The content of a file with these stamps when it was hashed last; None if unknown."""
        if self._doubted.get(path) == signature:
            return self._table.entry(path)
        hashed = self._table.hashes.get(path)
        return hashed.entry if hashed is not None and hashed.signature == signature else None

    def _tells_later(self, status: os.stat_result) -> bool:
        """Whether the stamps of a file that is hashed after this will tell of any later change.

        Flushes where there is enough to be remembered.
        """
        if status.st_ctime_ns >= time.time_ns() - RACY_NS:
            return False
        self._unflushed += status.st_size + 4096
        if not self._flush_tried and self._unflushed > UNFLUSHED:
            self._flush, self._flush_tried = flush(self._top), True
        flushed = self._flush
        return (
            flushed is not None
            and status.st_dev == flushed.device
            and status.st_ctime_ns < flushed.began - RACY_NS
        )
