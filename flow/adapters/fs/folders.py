"""Folders below a root, walked without following a symlink, and the system's errors put into words.

For :mod:`flow.adapters.fs.files` and :mod:`flow.adapters.fs.locks`, which describe the rules. Each
access walks to its folder anew, except for those that a thread holds (:func:`folders_kept_open`).
"""

from __future__ import annotations

import errno
import os
import stat
from _thread import get_ident

from flow.errors import RefusedError, in_file
from flow.startup.contexts import contextmanager
from flow.startup.functools import lru_cache
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flow.errors import StorageError

DIR_MODE = 0o755

_DIR_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_SYNC = {errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS}
FREE_SPACE = "free some disk space, then run it again"
_REMEDIES = {
    errno.ENOSPC: FREE_SPACE,
    errno.EDQUOT: "free some of your disk quota, then run it again",
    errno.EROFS: "the file system is mounted read-only; work on a writable one",
    errno.EACCES: "check who owns the file and its folder, and their modes",
    errno.EPERM: "check who owns the file and its folder, and their modes",
    errno.EIO: "the disk reports errors; check it before trusting anything written to it",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
    errno.ENFILE: "too many files are open on this system",
    errno.ENAMETOOLONG: "use a shorter name",
}

_held: dict[tuple[int, str, str], int] = {}
"""(thread, root, folder) → its descriptor, for held folders; a forked process holds none."""
os.register_at_fork(after_in_child=_held.clear)


@lru_cache(maxsize=1024)
def split(rel: str) -> tuple[str, ...]:
    """The components of ``rel``; :class:`RefusedError` for a path that could leave the root."""
    parts = tuple(rel.split("/"))
    if "\0" in rel or any(part in ("", ".", "..") for part in parts):
        raise unsafe(rel, "is not a plain path below the top level")
    try:
        os.fsencode(rel)
    except UnicodeEncodeError:
        raise unsafe(rel, "is not a file name") from None
    return parts


def open_parent(root: str, rel: str) -> tuple[int, str]:
    """(descriptor of the folder, made if missing; last component), for locks. Caller closes."""
    parts = split(rel)
    with reported("open", rel):
        return make_folder(root, parts[:-1], DIR_MODE), parts[-1]


@contextmanager
def folders_kept_open(root: str, *rels: str, make: bool = True) -> Iterator[None]:
    """Hold these folders: in the block this thread walks to them once, not for each file in them.

    Missing ones are made. Without ``make`` a folder that cannot be opened is not held, and each
    access reports why. Names in them are opened without following a symlink, as ever. A folder that
    is put in the place of a held one meanwhile is ignored: all writes of the block stay together,
    in the folder that was there before.
    """
    keys: list[tuple[int, str, str]] = []
    try:
        for rel in rels:
            key = (get_ident(), root, rel)
            if key not in _held:
                folder = _to_hold(root, rel, make)
                if folder is not None:
                    _held[key] = folder
                    keys.append(key)
        yield
    finally:
        for key in keys:
            if key in _held:
                os.close(_held.pop(key))


def _to_hold(root: str, rel: str, make: bool) -> int | None:
    if make:
        with reported("open", rel):
            return make_folder(root, split(rel), DIR_MODE)
    try:
        return open_folder(root, split(rel))
    except (OSError, RefusedError):
        return None


def _held_folder(root: str, rel: str) -> int | None:
    """The descriptor of the folder of ``rel``, if this thread holds it."""
    if not _held:
        return None
    return _held.get((get_ident(), root, rel.rpartition("/")[0]))


def _nearest(root: str, parts: Sequence[str]) -> tuple[int, int]:
    """(a new descriptor of the deepest folder on the way that this thread holds; its depth).

    The root's descriptor, with 0, if it holds none.
    """
    if _held:
        thread = get_ident()
        for depth in range(len(parts), 0, -1):
            folder = _held.get((thread, root, "/".join(parts[:depth])))
            if folder is not None:
                return os.dup(folder), depth
    return os.open(root, _DIR_FLAGS), 0


def open_folder(root: str, parts: Sequence[str]) -> int | None:
    """A descriptor of ``root/parts``; None if a component is absent."""
    try:
        return _walked(root, parts, _open_below)
    except FileNotFoundError:
        return None


def make_folder(root: str, parts: Sequence[str], mode: int) -> int:
    """Like :func:`open_folder`, with missing folders below ``root`` made and synced."""

    def made(fd: int, part: str) -> int:
        try:
            return _open_below(fd, part)
        except FileNotFoundError:
            try:
                os.mkdir(part, mode & ~0o022, dir_fd=fd)
            except FileExistsError:
                pass  # another process made it just now
            else:
                sync_folder(fd)
            return _open_below(fd, part)

    return _walked(root, parts, made)


def _open_below(fd: int, part: str) -> int:
    return os.open(part, _DIR_FLAGS | os.O_NOFOLLOW, dir_fd=fd)


def _walked(root: str, parts: Sequence[str], step: Callable[[int, str], int]) -> int:
    """A descriptor of ``root/parts``; ``step`` gives the one of a part below the last one's."""
    fd, walked = _nearest(root, parts)
    for depth, part in enumerate(parts[walked:], walked + 1):
        try:
            below = step(fd, part)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                raise _not_a_folder(fd, parts[:depth]) from None
            raise
        finally:
            os.close(fd)
        fd = below
    return fd


def _not_a_folder(fd: int, parts: Sequence[str]) -> RefusedError:
    rel = "/".join(parts)
    try:
        mode = os.stat(parts[-1], dir_fd=fd, follow_symlinks=False).st_mode
    except OSError:
        mode = 0
    return unsafe(rel, "is a symbolic link" if stat.S_ISLNK(mode) else "is not a folder")


def lstat_regular(folder: int, name: str, rel: str) -> os.stat_result | None:
    """Status of the file at ``name``; None if absent, an error for anything but a regular file."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise unsafe(rel, "is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        raise unsafe(rel, "is not a regular file")
    return status


def sync_folder(fd: int) -> None:
    """Bring a folder's names to the disk."""
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _NO_SYNC:  # some file systems cannot sync a folder, nor need it
            raise


class ReportedErrors:
    """Turns an error of the system in its block into a :class:`StorageError` with the file's name.

    A class: it is entered for every access to a file, and a generator costs three times as much.
    """

    __slots__ = ("_rel", "_verb")

    def __init__(self, verb: str, rel: str) -> None:
        self._verb, self._rel = verb, rel

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise refusal(self._verb, self._rel, error) from error


reported = ReportedErrors


def refusal(verb: str, rel: str, error: OSError) -> StorageError:
    """The error for a refusal of the system, with the file's name."""
    reason = error.strerror or type(error).__name__
    return in_file(rel).storage(
        f"cannot {verb} it: {reason}",
        remedy(error, "check the disk and the file, then run it again"),
    )


def remedy(error: Exception, otherwise: str) -> str:
    """The remedy for an error of the system; ``otherwise`` if its number has none."""
    return _REMEDIES.get(getattr(error, "errno", None) or 0, otherwise)


class FoundFolder:
    """(descriptor of the folder of ``rel``, None if it is absent; last component).

    An error of the system in the block becomes "cannot ``verb`` it".
    """

    __slots__ = ("_own", "_rel", "_root", "_verb")

    def __init__(self, root: str, rel: str, verb: str) -> None:
        self._root, self._rel, self._verb = root, rel, verb
        self._own: int | None = None
        """The descriptor to close at the end of the block."""

    def __enter__(self) -> tuple[int | None, str]:
        parts = split(self._rel)
        folder = _held_folder(self._root, self._rel)
        if folder is None:
            try:
                folder = self._own = open_folder(self._root, parts[:-1])
            except OSError as error:
                raise refusal(self._verb, self._rel, error) from error
        return folder, parts[-1]

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._own is not None:
            os.close(self._own)
        if isinstance(error, OSError):
            raise refusal(self._verb, self._rel, error) from error


class MadeFolder(FoundFolder):
    """Like :class:`FoundFolder`, for writing: missing folders are made."""

    __slots__ = ()

    def __init__(self, root: str, rel: str) -> None:
        super().__init__(root, rel, "write")

    def __enter__(self) -> tuple[int, str]:
        parts = split(self._rel)
        folder = _held_folder(self._root, self._rel)
        if folder is None:
            try:
                folder = self._own = make_folder(self._root, parts[:-1], DIR_MODE)
            except OSError as error:
                raise refusal(self._verb, self._rel, error) from error
        return folder, parts[-1]


in_folder = FoundFolder
in_made_folder = MadeFolder


@contextmanager
def scanned(root: str, rel: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder, opened without following symlinks; none if it is absent."""
    with reported("list", rel):
        folder = open_folder(root, split(rel))
        if folder is None:
            yield iter(())
            return
        try:
            with os.scandir(folder) as entries:
                yield entries
        finally:
            os.close(folder)


def unsafe(rel: str, why: str) -> RefusedError:
    """The error for a path that Flow will not touch."""
    return in_file(rel if rel.isprintable() and rel else ascii(rel)[:300]).refused(
        why,
        "Flow reads and writes only regular files in real folders below the top level",
        code="unsafe_path",
    )
