"""The files of a checkout that a sandbox opens for writing, by the goal's patterns.

A mount needs an existing file, so a pattern opens a folder as a whole if it covers that folder, and
else the files that match it now: below a folder that stays closed nothing new can be made. A
pattern that cannot be opened is reported, never opened a bit further. A symlink is never followed:
its target is opened by a pattern that names it.
"""

from __future__ import annotations

import os
import stat

from flow.core.boundary.globs import Globs, compile_glob, path_bytes
from flow.core.sandbox import covered_path
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.core.sandbox import Sandbox

MOST = 200
"""Most mounts for the files that patterns find; each one costs about 0.3 ms."""
LOOKED_AT = 100_000
"""Most paths that are compared with patterns."""
CLOSED = (".git", ".flow")
"""Never opened, even if a pattern names them."""


class Opened(NamedTuple):
    """Paths relative to the top level; ``""`` is the top level itself."""

    writable: tuple[str, ...]
    closed: tuple[str, ...]
    """Paths inside writable ones that must not be written."""
    left_out: tuple[str, ...]
    """Patterns that open nothing, or not all they cover, with the reason."""
    made: tuple[str, ...]
    """Folders that were made so that they could be opened."""


def opened(top: str, sandbox: Sandbox) -> Opened:
    """The writable paths; makes the folders that a pattern names and that are missing."""
    opening = _Opening(top, sandbox)
    if not sandbox.allowed:
        opening.writable[""] = None
    for pattern in sandbox.allowed:
        opening.open(pattern)
    opening.close_denied()
    return opening.result()


class _Opening:
    """The state of one call of :func:`opened`; its dicts are sets in the order of insertion."""

    def __init__(self, top: str, sandbox: Sandbox) -> None:
        self.top = top
        self.denied = Globs(sandbox.denied, anchored=False)
        self.writable: dict[str, None] = {}
        self.closed: dict[str, None] = {}
        self.left_out: dict[str, None] = {}
        self.made: list[str] = []

    def open(self, pattern: str) -> None:
        """Open the paths that one allowed pattern covers."""
        path, covers = covered_path(pattern)
        kind = self._kind(path)
        if path.split("/")[0] in CLOSED:
            self._leave_out(pattern, "Flow and git write there, nobody else")
        elif kind == "missing" and covers == "folder":
            self._make(path, pattern)
        elif kind == "missing":
            self._leave_out(pattern, "not there yet (a / at its end would make it a folder)")
        elif kind == "link":
            self._leave_out(pattern, "reached through a symlink")
        elif kind == "other" or (kind == "file" and covers != "exact"):
            self._leave_out(pattern, "neither a file nor a folder that it could cover")
        elif covers == "search":
            self._search(path, pattern)
        else:
            self.writable[path] = None

    def _leave_out(self, pattern: str, why: str) -> None:
        self.left_out[f"{pattern}: {why}"] = None

    def _kind(self, path: str) -> str:
        full = os.path.join(self.top, path) if path else self.top
        if os.path.realpath(full) != full:
            return "link"
        try:
            mode = os.lstat(full).st_mode
        except OSError:
            return "missing"
        if stat.S_ISDIR(mode):
            return "folder"
        return "file" if stat.S_ISREG(mode) else "other"

    def _make(self, path: str, pattern: str) -> None:
        parts = path.split("/")
        try:
            for end in range(1, len(parts) + 1):
                rel = "/".join(parts[:end])
                if self._kind(rel) == "missing":
                    os.mkdir(os.path.join(self.top, rel))
                    self.made.append(rel)
        except OSError as error:
            self._leave_out(pattern, f"{error.strerror}")
            return
        self.writable[path] = None

    def _search(self, below: str, pattern: str) -> None:
        glob = compile_glob(pattern, anchored=True)

        def fits(rel: str, folder: bool) -> bool:
            return glob.matches(path_bytes(rel), folder=folder)

        matches = _topmost_matches(self.top, below, fits, MOST)
        if matches is None:
            self._leave_out(pattern, "covers too much to be opened one by one")
            return
        self.writable.update(dict.fromkeys(matches))
        self._leave_out(pattern, f"only the {len(matches)} paths that fit it already")

    def close_denied(self) -> None:
        """Close denied paths again: denied beats allowed."""
        if "" in self.writable:
            self.writable = {"": None}
        if not self.denied:
            return
        for root in list(self.writable):
            if root and self.denied.first(path_bytes(root), folder=self._kind(root) == "folder"):
                del self.writable[root]
            elif self._kind(root) == "folder" and not self._close_in(root):
                del self.writable[root]
                self._leave_out(root or "the checkout", "too many denied paths in it")

    def _close_in(self, root: str) -> bool:
        def fits(rel: str, folder: bool) -> bool:
            return self.denied.first(path_bytes(rel), folder=folder) is not None

        matches = _topmost_matches(self.top, root, fits, MOST - len(self.closed))
        self.closed.update(dict.fromkeys(matches or ()))
        return matches is not None

    def result(self) -> Opened:
        """The opened paths, without those below another open one."""
        roots = sorted(self.writable)
        writable: list[str] = []
        for rel in roots:
            if not any(_is_inside(rel, other) for other in writable):
                writable.append(rel)
        closed = [rel for rel in sorted(self.closed) if any(_is_inside(rel, k) for k in writable)]
        return Opened(tuple(writable), tuple(closed), tuple(self.left_out), tuple(self.made))


def _is_inside(rel: str, other: str) -> bool:
    return other in ("", rel) or rel.startswith(other + "/")


def _topmost_matches(
    top: str, below: str, fits: Callable[[str, bool], bool], most: int
) -> list[str] | None:
    """The topmost paths below a folder that fit; None if there are more than ``most``.

    Also None if too many were compared. ``fits`` gets a path and whether it is a folder. Symlinks,
    and git's and Flow's own folders, are left out.
    """
    matches: list[str] = []
    waiting, seen = [below], 0
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(os.path.join(top, folder)), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if seen > LOOKED_AT:
                return None
            rel = f"{folder}/{entry.name}" if folder else entry.name
            if rel in CLOSED or entry.is_symlink():
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if fits(rel, is_folder):
                if len(matches) == most:
                    return None
                matches.append(rel)
            elif is_folder:
                waiting.append(rel)
    return matches
