"""Looks of a second process at half of a large checkout, while this one does the rest.

Both processes get the same result, and this process alone decides which folders are examined. So a
missing answer costs time only.
"""

from __future__ import annotations

import marshal
import os

from flow.adapters.process.beside import WorkBeside, can_work_beside
from flow.adapters.worktree.folder_look import FolderLook, look_at
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.worktree.clean_files import CleanFiles
    from flow.startup.typing import Any

_SHARE = 0.55
"""The second process's share. It gets more than half, since this one also handles the index and
the changed files.
"""
_FOLDER = 6
"""Cost of opening and listing a folder, in looks at a file."""


class LookAhead:
    """The looks of the other process, if there is one. :meth:`close` ends it."""

    def __init__(self, top: str, clean: CleanFiles) -> None:
        self.folders: frozenset[bytes] = frozenset()
        """Folders that the other process looks at."""
        self._beside: WorkBeside | None = None
        self._looks: dict[bytes, Any] = {}
        folders = _share(clean)
        if folders and can_work_beside():
            with suppress(OSError):
                self._beside = WorkBeside(lambda: _looks(top, folders, clean))
                self.folders = frozenset(folders)

    def close(self) -> None:
        """End the process, if it is still there."""
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    def take(self, folder: bytes) -> FolderLook | None:
        """The look at one of ``folders``; None if this process has to look."""
        if self._beside is not None:
            data = self._beside.result()
            self.close()
            self._looks = {} if data is None else marshal.loads(data)  # noqa: S302 - Flow wrote it
        look = self._looks.pop(folder, None)
        return None if look is None else FolderLook(*look)


def _share(clean: CleanFiles) -> list[bytes]:
    """The folders that the other process looks at; empty if its share would be too small."""
    left = int((len(clean) + _FOLDER * len(clean.folders)) * _SHARE)
    most, folders = left, []
    for folder, place in clean.folders.items():
        # This process starts at the top level.
        if folder and place.files + _FOLDER <= left:
            left -= place.files + _FOLDER
            folders.append(folder)
    return folders if left <= most // 2 else []


def _looks(top: str, folders: list[bytes], clean: CleanFiles) -> bytes:
    """folder → the look at it. Folders that cannot be looked at are left out."""
    looks = {}
    opened = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for folder in folders:
        with suppress(OSError):
            looks[folder] = tuple(look_at(opened, folder, clean))
    return marshal.dumps(looks)
