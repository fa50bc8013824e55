"""A file that the user named for a command's output."""

from __future__ import annotations

import os
import stat

from flow.errors import FlowError, StorageError


def write_out(path: str, text: str, what: str) -> None:
    """Write ``text`` (``what`` names it) to ``path``, whole or not at all.

    A file that is there keeps its content until the new one is on disk, and a symlink is not
    followed. Anything else that is there, a pipe or a terminal, is written to as it is. Raises
    :class:`StorageError`.
    """
    from flow.adapters import files

    try:
        if _is_file(path):
            folder, name = os.path.split(os.path.abspath(path))
            files.replace(folder, name, text.encode("utf-8"), mode=0o644)
            return
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(path, flags), "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError, FlowError) as error:
        why = error.fault.message if isinstance(error, FlowError) else _why(error)
        raise StorageError(
            f"cannot write the {what}: {why}",
            file=path,
            key="--output",
            remedy="name a file that can be written",
        ) from error


def _is_file(path: str) -> bool:
    """Whether a regular file is there, or nothing that could not become one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return bool(os.path.basename(path))


def _why(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or "it is no path"
