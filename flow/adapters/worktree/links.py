"""Content of ignored places that new symlinks lead to, and that nothing else examines.

A tracked file that was moved into an ignored folder, with a symlink left in its place, is measured
through that link. So its content there is part of the subject of the evidence.
"""

from __future__ import annotations

import os
import stat

from flow.adapters.worktree.cache import folders_above
from flow.adapters.worktree.contents import hashed, special
from flow.adapters.worktree.real_paths import RealPaths
from flow.adapters.worktree.trees import text_of
from flow.core.boundary.by_products import INSTEAD
from flow.core.boundary.changes import entry_digest
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flow.adapters.worktree.walk import Walk
    from flow.core.boundary.changes import PathChange

MOST_BYTES = 64 << 20
"""Most bytes that are hashed; later files count by size and time of writing."""
_EACH = 16 << 10
"""Cost of a file in bytes, beside its content."""


class LinkTargets(NamedTuple):
    """path → digest, and descriptions of unreadable ones."""

    digests: dict[str, str]
    problems: list[str]


def behind_links(top: str, walks: Sequence[Walk], changes: Iterable[PathChange]) -> LinkTargets:
    """The targets of the symlinks among ``changes``, below the top level, that no walk has met."""
    reader = _TargetReader(top, walks)
    links = [change for change in changes if change.real and change.real != "."]
    for link in sorted(links, key=lambda change: change.base is None):
        path = (link.real or "").encode("utf-8", "surrogateescape")
        reader.follow(path, instead=link.base is not None)
    return reader.digests()


class _TargetReader:
    def __init__(self, top: str, walks: Sequence[Walk]) -> None:
        self._top = os.path.realpath(os.fsencode(top)) + b"/"
        self._real_paths = RealPaths(self._top)
        self._walks = {walk.prefix: walk for walk in walks}
        self._targets: dict[bytes, os.stat_result] = {}
        self._instead: set[bytes] = set()
        self._folders: set[bytes] = set()
        self._problems: list[str] = []

    def follow(self, path: bytes, *, instead: bool) -> None:
        """Note the file, or all files of the folder, at ``path``.

        ``instead``: it is in the place of a file of the base.
        """
        waiting = [path]
        while waiting:
            path = waiting.pop()
            if path in self._folders or path in self._targets or self._met(path):
                continue
            try:
                status = os.lstat(self._top + path)
                if stat.S_ISDIR(status.st_mode):
                    self._folders.add(path)
                    names = os.listdir(self._top + path)
                    waiting += [path + b"/" + name for name in names if name != b".git"]
                    continue
                self._targets[path] = status
                if instead:
                    self._instead.add(path)
                if stat.S_ISLNK(status.st_mode):
                    waiting += self._link_target(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                self._unreadable(path, error)

    def digests(self) -> LinkTargets:
        """The content of all noted files."""
        digests: dict[str, str] = {}
        bytes_left = MOST_BYTES
        for path, status in sorted(self._targets.items()):
            bytes_left -= status.st_size + _EACH
            try:
                digest = self._digest(path, status, whole=bytes_left >= 0)
                digests[text_of(path)] = f"{INSTEAD} {digest}" if path in self._instead else digest
            except OSError as error:
                self._unreadable(path, error)
        return LinkTargets(digests, self._problems)

    def _digest(self, path: bytes, status: os.stat_result, *, whole: bool) -> str:
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
            return entry_digest(special(status))
        if whole:
            return entry_digest(hashed(self._top + path, status, "sha1"))
        return f"{status.st_mode:o}:{status.st_size}:{status.st_mtime_ns}"

    def _met(self, path: bytes) -> bool:
        """Whether a walk examines it anyway, or something below it."""
        above = (folder + b"/" for folder in folders_above(path))
        prefix = next((folder for folder in above if folder in self._walks), b"")
        return self._walks[prefix].holds(path[len(prefix) :])

    def _link_target(self, path: bytes) -> list[bytes]:
        real = self._real_paths.of(path)
        inside = real is not None and real.startswith(self._top)
        return [real[len(self._top) :]] if real and inside else []

    def _unreadable(self, path: bytes, error: OSError) -> None:
        reason = error.strerror or "unknown error"
        target = f"{text_of(path)}, which a symlink leads to"
        self._problems.append(f"{target}, cannot be read: {reason}")
