"""Folders of base checkouts while their commands run: below ``work/`` of the user's state folder.

Outside of the checkout, so that neither tools that look upward nor git find the files of the change
there. Each call has a folder of its own and holds a lock in it; the kernel releases that when the
process ends, however it ends, and then the next call removes the folder. No process id is used.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from flow.adapters.fs import locks
from flow.adapters.fs.folders import remedy
from flow.adapters.fs.state_folder import check_state_dir, ensure_state_dir
from flow.adapters.fs.temporary import remove_folder
from flow.core.layout import TEMP_PREFIX
from flow.errors import FlowError, StorageError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "work"
LOCK = "lock"
WAIT = 10.0
"""Seconds: making a folder and sweeping take turns."""

_held: set[str] = set()
"""Names of this process's own folders: a thread may take a lock again that it holds."""


@contextmanager
def new_folder(state: str) -> Iterator[str]:
    """A new folder with mode 0700 (its real path); it is removed at the end."""
    ensure_state_dir(state)
    above = os.path.join(state, FOLDER)
    ensure_state_dir(above)
    name = f"{TEMP_PREFIX}{os.urandom(9).hex()}"
    path = os.path.join(os.path.realpath(above), name)
    own = f"{FOLDER}/{name}/{LOCK}"
    with locks.exclusive(state, f"{FOLDER}/{LOCK}", timeout=WAIT, quick=True):
        try:
            os.mkdir(path, 0o700)
        except OSError as error:
            raise StorageError(
                f"cannot make a folder: {error.strerror}",
                file=path,
                remedy=remedy(error, "check the disk"),
            ) from error
        lock = locks.exclusive(state, own, quick=True)
        lock.__enter__()
    _held.add(name)
    try:
        yield path
    finally:
        try:
            remove_folder(path)
        finally:
            _held.discard(name)
            lock.__exit__(None, None, None)


def remove_abandoned(state: str) -> list[str]:
    """Remove the folders of calls that were killed; returns those that are gone now."""
    return [path for path in _lockable_folders(state) if remove_folder(path)]


def abandoned_folders(state: str) -> list[str]:
    """Folders of calls that were killed."""
    return list(_lockable_folders(state))


def _lockable_folders(state: str) -> Iterator[str]:
    """Abandoned folders one after the other, each while its lock is held."""
    above = os.path.join(state, FOLDER)
    if not os.path.isdir(above) or not check_state_dir(state):
        return
    folders = [name for name in os.listdir(above) if name.startswith(TEMP_PREFIX)]
    names = sorted(name for name in folders if name not in _held)
    if not names:
        return
    with locks.exclusive(state, f"{FOLDER}/{LOCK}", timeout=WAIT, quick=True):
        for name in names:
            try:
                with locks.exclusive(state, f"{FOLDER}/{name}/{LOCK}", timeout=0, quick=True):
                    yield os.path.join(above, name)
            except FlowError:  # in use; or gone, or not Flow's
                continue
