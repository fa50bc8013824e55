"""One look at one folder of a working tree, against the stamps of its clean files.

Most folders are unchanged: then their files' stamps are compared as one block of bytes.
"""

from __future__ import annotations

import _struct as struct  # `struct` only passes it on
import os
import stat

from flow.adapters.worktree.clean_files import pack_stamps, packed_stamps
from flow.core.boundary.by_products import CLOCK_TICK_NS
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from flow.adapters.worktree.clean_files import CleanFiles

_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderLook(NamedTuple):
    """Content of a folder, as paths below the top level; unchanged files are not named."""

    files: list[bytes]
    """Entries (no folders) that have other stamps, or were not clean. There may be very many."""
    folders: list[bytes]
    missing: list[bytes]
    """Clean files that do not exist any more."""
    renamed: int | None
    """Time (ns) at which the folder itself was renamed, if its stamps show that."""


def look_at(
    top: int, folder: bytes, clean: CleanFiles, doubted: Collection[bytes] = ()
) -> FolderLook:
    """Look at ``folder`` (with a ``/`` at its end) below the folder that ``top`` is opened on.

    The paths in ``doubted`` count as having other stamps. Raises OSError, whose file is a path
    below the top level: ELOOP, ENOENT if the tree changes at this moment.
    """
    here = -1
    try:
        here = os.open(folder[:-1] or b".", _FLAGS, dir_fd=top)
        look = FolderLook([], [], [], renamed_at(os.fstat(here)))
        listed = set(os.listdir(here))
        joined = clean.names(folder)
        names = os.fsdecode(joined).split("\0") if joined else []
        if doubted or not _all_as_they_were(here, names, clean.stamps(folder)):
            _examine_clean(here, folder, listed, clean, doubted, look)
        others = listed.difference(names)
        for name, is_folder in _kinds(here, others, one_by_one=len(others) <= max(len(names), 8)):
            (look.folders if is_folder else look.files).append(folder + os.fsencode(name))
        return look
    except OSError as error:
        name = error.filename
        error.filename = folder + os.fsencode(name) if isinstance(name, str) else folder
        raise
    finally:
        if here >= 0:
            os.close(here)


def _kinds(here: int, names: Collection[str], *, one_by_one: bool) -> list[tuple[str, bool]]:
    """Each name with whether it is a folder; for many the folder is read once more."""
    kinds: dict[str, bool] = {}
    if not one_by_one:
        with os.scandir(here) as entries:
            kinds = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    lstat = os.lstat
    return [
        (name, kinds[name] if name in kinds else stat.S_ISDIR(lstat(name, dir_fd=here).st_mode))
        for name in names
    ]


def renamed_at(status: os.stat_result) -> int | None:
    """Time (ns) of a folder's rename after a name was last made or removed in it.

    None if its stamps do not show that.
    """
    changed = status.st_ctime_ns
    return changed if changed - status.st_mtime_ns > CLOCK_TICK_NS else None


def _all_as_they_were(here: int, names: list[str], stamps: bytes) -> bool:
    """Whether all stamps match.

    Runs once for each file of the checkout: it must stay this small.
    """
    lstat, pack = os.lstat, pack_stamps
    try:
        packed = [
            pack(st.st_ctime_ns, st.st_mtime_ns, st.st_size, st.st_ino, st.st_mode)
            for name in names
            for st in (lstat(name, dir_fd=here),)
        ]
    except (OSError, struct.error):  # type: ignore[attr-defined]  # one is gone, or dated before 1970
        return False
    return b"".join(packed) == stamps


def _examine_clean(
    here: int,
    folder: bytes,
    listed: Collection[str],
    clean: CleanFiles,
    doubted: Collection[bytes],
    look: FolderLook,
) -> None:
    """Compare the clean files of a folder one by one."""
    for path in clean.paths_in(folder):
        name = os.fsdecode(path[len(folder) :])
        try:
            status = os.lstat(name, dir_fd=here)
        except FileNotFoundError:
            if name in listed:
                raise
            look.missing.append(path)
            continue
        if stat.S_ISDIR(status.st_mode):
            look.missing.append(path)
            look.folders.append(path)
        elif path in doubted or packed_stamps(status) != clean[path]:
            look.files.append(path)
