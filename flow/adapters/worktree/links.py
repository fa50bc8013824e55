"""What new symlinks lead to, where nothing else looks at it: content of ignored places.

A tracked file that was moved into an ignored folder, with a symlink left in its place, is measured
through that link. So what lies there is part of what evidence was measured on.
"""

from __future__ import annotations

import os
import stat

from flow.adapters.worktree.hashes import hashed, special
from flow.adapters.worktree.trees import text_of
from flow.core.boundary.rules import INSTEAD, entry_digest
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flow.adapters.worktree.walk import Walk
    from flow.core.boundary.rules import PathChange

MOST_BYTES = 64 << 20
"""Bytes that are hashed; of what comes after them size and time of writing tell."""
_EACH = 16 << 10
"""What a file costs beside its bytes."""


class LinkTargets(NamedTuple):
    """path → digest, and what could not be read."""

    digests: dict[str, str]
    problems: list[str]


def behind_links(top: str, walks: Sequence[Walk], changes: Iterable[PathChange]) -> LinkTargets:
    """What the symlinks among ``changes`` lead to, below the top level, and no walk has met."""
    reading = _Reading(top, walks)
    led = [change for change in changes if change.real and change.real != "."]
    for change in sorted(led, key=lambda change: change.base is None):
        path = (change.real or "").encode("utf-8", "surrogateescape")
        reading.follow(path, instead=change.base is not None)
    return reading.digests()


class _Reading:
    def __init__(self, top: str, walks: Sequence[Walk]) -> None:
        self._top = os.path.realpath(os.fsencode(top)) + b"/"
        self._walks = walks
        self._found: dict[bytes, os.stat_result] = {}
        self._instead: set[bytes] = set()
        self._folders: set[bytes] = set()
        self._problems: list[str] = []

    def follow(self, path: bytes, *, instead: bool) -> None:
        """Note the file, or all files of the folder, at ``path``.

        ``instead`` says that it stands where the base has a file.
        """
        waiting = [path]
        while waiting:
            path = waiting.pop()
            if path in self._folders or path in self._found or self._met(path):
                continue
            try:
                status = os.lstat(self._top + path)
                if stat.S_ISDIR(status.st_mode):
                    self._folders.add(path)
                    names = os.listdir(self._top + path)
                    waiting += [path + b"/" + name for name in names if name != b".git"]
                    continue
                self._found[path] = status
                if instead:
                    self._instead.add(path)
                if stat.S_ISLNK(status.st_mode):
                    waiting += self._target(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                self._unreadable(path, error)

    def digests(self) -> LinkTargets:
        """The content of all that was noted."""
        digests: dict[str, str] = {}
        left = MOST_BYTES
        for path, status in sorted(self._found.items()):
            left -= status.st_size + _EACH
            try:
                digest = self._digest(path, status, whole=left >= 0)
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
        """Whether a walk looks at it anyway, or at something below it."""
        walk = max(
            (walk for walk in self._walks if path.startswith(walk.prefix)),
            key=lambda walk: len(walk.prefix),
        )
        return walk.holds(path[len(walk.prefix) :])

    def _target(self, path: bytes) -> list[bytes]:
        real = os.path.realpath(self._top + path)
        return [real[len(self._top) :]] if real.startswith(self._top) else []

    def _unreadable(self, path: bytes, error: OSError) -> None:
        why = error.strerror or "unknown error"
        self._problems.append(f"{text_of(path)}, which a symlink leads to, cannot be read: {why}")
