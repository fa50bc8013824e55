"""Real places of paths: each folder and each symlink on the way is read once, for all paths."""

from __future__ import annotations

import os

from flow.adapters.worktree.cache import folders_above
from flow.adapters.worktree.trees import text_of
from flow.core.boundary.changes import LINK
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from flow.adapters.git.find import Repo
    from flow.core.boundary.changes import PathChange

_LOOP = b"loop"  # no real path: those are absolute
_LONGEST = 4096
"""Most bytes of a real path; links can add up to longer ones, which no call can open by name."""


class RealPaths:
    """Like ``os.path.realpath``, for many paths below one folder, ``top``, which is a real path.

    Symlinks that end in a loop count as plain names.
    """

    def __init__(self, top: bytes) -> None:
        self._top = top.rstrip(b"/")
        self._places: dict[bytes, bytes | None] = {}
        """A name in a real folder → its real path, ``_LOOP``, or None if that is too long."""

    def of(self, path: bytes) -> bytes | None:
        """The real path of ``path``, relative to the top; None if it is too long."""
        here = self._top
        opened = {b"": _names(path)}
        """Links whose targets are being entered → the names that are left, the last one first."""
        while opened:
            link, names = next(reversed(opened.items()))
            if not names:
                opened.popitem()
                self._places[link] = here
            elif (name := names.pop()) == b"..":
                here = here.rpartition(b"/")[0]
            elif name not in (b"", b"."):
                entered = self._entered(here + b"/" + name, opened)
                if entered is None:
                    return None
                here = entered
        del self._places[b""]
        return here or b"/"

    def _entered(self, child: bytes, opened: dict[bytes, list[bytes]]) -> bytes | None:
        """The real folder to continue from, after ``child`` of a real folder was entered."""
        places = self._places
        if child in opened:
            place: bytes | None = _LOOP
        elif child in places:
            place = places[child]
        elif len(child) > _LONGEST:
            place = None
        else:
            target = _target(child)
            if target is not None:
                opened[child] = _names(target)
                return b"" if target.startswith(b"/") else child.rpartition(b"/")[0]
            place = places[child] = child
        if place is not None and place != _LOOP:
            return place
        _, *failed = opened  # each of them leads here
        places.update(dict.fromkeys(failed, place))
        for link in failed:
            del opened[link]
        return None if place is None else failed[0] if failed else child


def real_paths_below(
    repo: Repo, top: str, links: Collection[bytes]
) -> Callable[[bytes, PathChange], PathChange]:
    """Function that adds to a change of a repository (with its path in it) the target of symlinks.

    ``links`` are the repository's symlinks that are new since the base; ``top`` is the checkout's.
    """
    real_paths = RealPaths(os.fsencode(repo.top))
    checkout = os.fsencode(top)
    folders = [os.fsencode(folder) for folder in (repo.git_dir, repo.common_dir) if folder]
    git_dirs = tuple(folder + b"/" for folder in (*folders, checkout + b"/.git"))

    def real(path: bytes) -> str:
        try:
            place = real_paths.of(path)
        except (OSError, ValueError):
            return ""
        if place is None or (place + b"/").startswith(git_dirs):
            return ""
        if place == checkout:
            return "."
        inside = place.startswith(checkout + b"/")
        return text_of(place[len(checkout) + 1 :]) if inside else ""

    def with_target(path: bytes, change: PathChange) -> PathChange:
        if is_link(change) or any(folder in links for folder in folders_above(path)):
            return change._replace(real=real(path))
        return change

    return with_target


def is_link(change: PathChange) -> bool:
    """Whether it is a symlink on disk."""
    return change.worktree is not None and change.worktree.mode == LINK


def _names(path: bytes) -> list[bytes]:
    return path.split(b"/")[::-1]


def _target(path: bytes) -> bytes | None:
    """Target of a symlink; None for anything else."""
    try:
        return os.readlink(path)
    except OSError:
        return None
