"""A file that the user named for a command's output."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from flow.adapters.fs import files
from flow.adapters.fs.folders import FREE_SPACE
from flow.adapters.git.find import is_git_dir, upward
from flow.core import layout
from flow.core.text.display import visible
from flow.errors import FlowError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flow.wiring.context import Context

HEAD = 4096
"""Bytes at a file's start, in which it says what it is."""
_NO_FILE = (errno.EISDIR, errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""Errors of a path that is at fault itself, and not the disk."""
_CLOSED = (".git", ".flow")
"""Names of folders that are git's or Flow's own, wherever they lie."""


def write_out(path: str, text: str, name: str, *, off_limits: Iterable[str]) -> None:
    """Write ``text`` (messages call it ``name``) to ``path``, whole or not at all.

    A file that is there keeps its content until the new one is on disk, and a symlink is not
    followed. Anything else that is there, a pipe or a terminal, is written to as it is. Raises
    :class:`InputError` as :func:`refuse_own` does and where the path can be no file, and
    :class:`StorageError`.
    """
    refuse_own(path, off_limits)
    try:
        if _is_file(path):
            folder, file_name = os.path.split(path)
            folder = os.path.realpath(folder)
            files.replace(folder, file_name, text.encode("utf-8"), mode=0o644)
            return
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with open(os.open(path, flags), "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError, FlowError) as error:
        reason = error.fault.message if isinstance(error, FlowError) else _error_reason(error)
        cause = error.__cause__ if isinstance(error, FlowError) else error
        number, what = getattr(cause, "errno", None), f"cannot write the {name}: {reason}"
        if number in _NO_FILE or isinstance(cause, ValueError):
            do = "name a file, in a folder that is there"
            raise in_file(path, "--output", path).invalid(what, do) from error
        full = number in (errno.ENOSPC, errno.EDQUOT)
        raise in_file(path, "--output").storage(
            what, FREE_SPACE if full else "name a file that can be written"
        ) from error


def refuse_foreign(path: str, is_own: Callable[[bytes], bool]) -> None:
    """Raise :class:`InputError` for a file that is there, not empty, and not of that kind.

    ``is_own`` decides by a file's first :data:`HEAD` bytes.
    """
    try:
        if not _is_file(path) or is_replaceable(path, is_own):
            return
    except (OSError, ValueError):  # no path at all, which the writing says
        return
    raise in_file(path, "--output").invalid(
        "there is another file of that name, which Flow did not write",
        "name another one, or move that file away",
        code="not_overwritten",
    )


def is_replaceable(path: str, is_own: Callable[[bytes], bool]) -> bool:
    """Whether nothing is at ``path``, or an empty file, or one of that kind; a link is none."""
    if not os.path.lexists(path):
        return True
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return not head or is_own(head)


def make_folder(path: str, *, off_limits: Iterable[str]) -> None:
    """The folder for several files of a command, made where it is missing."""
    refuse_own(os.path.join(path, "index.html"), off_limits)
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError as error:
        raise in_file(path, "--output").invalid(
            "there is a file of that name, and a folder is to be written", "name a folder"
        ) from error
    except (OSError, ValueError) as error:
        what, do = f"cannot make the folder: {_error_reason(error)}", "name one that can be made"
        if isinstance(error, ValueError) or error.errno in _NO_FILE:
            raise in_file(path, "--output", path).invalid(what, do) from error
        raise in_file(path, "--output").storage(what, do) from error


def off_limits(context: Context) -> tuple[str, ...]:
    """The folders that no output of a command may lie in."""
    below = (".flow", layout.JOURNAL_DIR, context.settings.settings.journal_dir)
    folders = [os.path.join(context.top, name) for name in below]
    folders += [folder for folder in (context.repo.git_dir, context.repo.common_dir) if folder]
    if context.home:  # also where a variable names another one now
        folders.append(os.path.join(context.home, ".claude", "flow-state"))
    with suppress(FlowError):  # there is none that could be overwritten
        folders.append(context.state_dir)
    return tuple(folders)


def refuse_own(path: str, off_limits: Iterable[str]) -> None:
    """Raise :class:`InputError` for an output below one of Flow's or git's own folders.

    Also for an agent's settings, which say what a person is asked about. ``off_limits`` are the
    paths of such folders, which need not exist; every ``.git`` and ``.flow``, and every git
    directory, is one as well. It counts where the file would really lie.
    """
    try:
        folder, name = os.path.split(path)
        places = {os.path.join(os.path.realpath(folder), name), os.path.realpath(path)}
        own = next(filter(None, (_own_folder(place, off_limits) for place in places)), None)
    except (OSError, ValueError):  # no path at all, which the writing says
        return
    if any(map(_holds_settings, places)):
        raise at_key("--output", path).invalid(
            f"{visible(path)!r:.200} is a file of settings", "name another file", code="settings"
        )
    if own is not None:
        raise at_key("--output", path).invalid(
            f"{visible(path)!r:.200} lies in {visible(own)!r:.200}, where only Flow and git write",
            "name a file elsewhere",
            code="own_folder",
        )


def _holds_settings(place: str) -> bool:
    """Whether a path is that of an agent's settings, or of its hooks."""
    folder, name = place.lower().split("/")[-2:]
    settings = folder == ".claude" and name.startswith("settings")
    return settings or f"{folder}/{name}" in layout.HOOK_FILES


def _own_folder(place: str, off_limits: Iterable[str]) -> str | None:
    """The folder of Flow's or git's own that a path without links is, or lies in."""
    folders = list(upward(place))
    for folder in folders:
        if os.path.basename(folder).lower() in _CLOSED:
            return folder
    roots = {os.path.realpath(folder) for folder in off_limits}
    nodes = {node for node in map(_file_identity, roots) if node is not None}
    for folder in folders:
        if folder in roots or _file_identity(folder) in nodes:
            return folder
        if folder != place and os.path.lexists(os.path.join(folder, ".git")):
            return None  # a working tree, which may lie in a bare repository's git directory
        if folder != place and is_git_dir(folder):
            return folder
    return None


def _file_identity(path: str) -> tuple[int, int] | None:
    """Device and inode, so that letter case and bind mounts make no difference."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_file(path: str) -> bool:
    """Whether a regular file is there, or nothing that could not become one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return bool(os.path.basename(path))


def _error_reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or "it is no path"
