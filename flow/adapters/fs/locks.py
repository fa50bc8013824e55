"""One syntax for every lock: ``with exclusive(root, rel):``.

The lock is the kernel's ``flock`` on a file below the checkout: it ends with its holder, also with
a killed one, and no age or process id is ever looked at. ``quick=True`` takes it with ``fcntl``
directly, since importing ``filelock`` costs more than the rest of a helper; both exclude each other
on the same file (a test checks it). There is no fallback to a soft lock: a file system without
``flock`` is an error.

A thread that holds a lock may take it again, also by another path; another thread waits as another
process would. Programs that Flow starts do not inherit the descriptor.
"""

from __future__ import annotations

import errno
import os
import stat
from _thread import get_ident

from flow.adapters.fs.folders import open_parent, remedy, split
from flow.core import layout
from flow.errors import LockTimeout, RefusedError, StorageError, in_file
from flow.startup.contexts import contextmanager
from flow.startup.functools import partial
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from filelock import UnixFileLock

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MODE = 0o600
_BUSY = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES}
_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05

_held: dict[tuple[int, int, str, str], tuple[int, int]] = {}
"""(process, thread, root, lock file) → device and inode of the lock file, for held locks."""


@contextmanager
def exclusive(root: str, rel: str, *, timeout: float = 10.0, quick: bool = False) -> Iterator[None]:
    """Hold the lock file ``rel`` below ``root`` alone; wait at most ``timeout`` seconds.

    Raises :class:`LockTimeout`, :class:`RefusedError` (a symlink or no regular file at the path) or
    :class:`StorageError`.
    """
    key = (os.getpid(), get_ident(), root, rel)
    taken = None if key in _held else (_take_quick if quick else _take_filelock)(root, rel, timeout)
    if taken is None:
        yield
        return
    _held[key] = taken.file
    try:
        yield
    finally:
        del _held[key]
        taken.release()


class _Taken(NamedTuple):
    """A lock that was taken."""

    file: tuple[int, int]
    """Device and inode of its file."""
    release: Callable[[], object]


def _is_held(file: tuple[int, int]) -> bool:
    """Whether this thread holds the lock of this file by another path."""
    here = (os.getpid(), get_ident())
    return any(key[:2] == here and held == file for key, held in _held.items())


def _take_quick(root: str, rel: str, timeout: float) -> _Taken | None:
    """Take the lock with ``fcntl``; None if this thread holds it already."""
    import fcntl
    import time

    deadline = time.monotonic() + timeout
    pause = _FIRST_PAUSE
    while True:
        fd, file = _open_lock_file(root, rel)
        try:
            if _is_held(file):
                return None
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in _BUSY:
                    raise _no_lock(root, rel, error) from error
            else:
                if _still_there(root, rel, file):
                    held, fd = fd, -1
                    return _Taken(file, partial(os.close, held))
                continue  # deleted while we waited: it guards nothing any more
        finally:
            if fd >= 0:
                os.close(fd)
        left = deadline - time.monotonic()
        if left <= 0:
            raise _timed_out(root, rel, timeout)
        time.sleep(min(pause, left))
        pause = min(pause * 2, _LONGEST_PAUSE)


def _take_filelock(root: str, rel: str, timeout: float) -> _Taken | None:
    """Like :func:`_take_quick`, with ``filelock``."""
    import time

    from filelock import Timeout

    deadline = time.monotonic() + timeout
    path = os.path.join(os.path.realpath(root), *split(rel))
    while True:
        fd, file = _open_lock_file(root, rel)  # every component checked, made with our mode
        try:
            if _is_held(file):
                return None
            lock = _filelock(path)
            try:
                lock.acquire(max(deadline - time.monotonic(), 0), poll_interval=_FIRST_PAUSE)
            except Timeout:
                raise _timed_out(root, rel, timeout) from None
            except (OSError, NotImplementedError) as error:
                raise _no_lock(root, rel, error) from error
            # filelock opens the path by itself. The file that our walk without symlinks opened
            # before must be there still, else the lock may be on a deleted or a swapped one.
            if _still_there(root, rel, file):
                return _Taken(file, partial(_release, lock))
            _release(lock)
        finally:
            os.close(fd)
        if time.monotonic() > deadline:
            raise _timed_out(root, rel, timeout)


def _release(lock: UnixFileLock) -> None:
    try:
        lock.release(force=True)
    except OSError:
        pass  # the lock ends with this process; the work under it is done


def _filelock(path: str) -> UnixFileLock:
    from filelock import UnixFileLock

    try:
        return UnixFileLock(path, fallback_to_soft=False)
    except TypeError:  # an older filelock: it has no soft fallback to turn off
        return UnixFileLock(path)


def _open_lock_file(root: str, rel: str) -> tuple[int, tuple[int, int]]:
    """The lock file's descriptor, and its device and inode."""
    folder, name = open_parent(root, rel)
    try:
        fd = os.open(name, _FLAGS, _MODE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO):
            raise _unsafe_lock(root, rel) from None
        raise _no_lock(root, rel, error) from error
    finally:
        os.close(folder)
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:  # filelock may truncate the file
        os.close(fd)
        raise _unsafe_lock(root, rel, linked=status.st_nlink > 1)
    return fd, (status.st_dev, status.st_ino)


def _still_there(root: str, rel: str, file: tuple[int, int]) -> bool:
    """Whether the path still names the file that is locked (HAZARD B20).

    A path that leads through a symlink by now is refused when it is next opened.
    """
    try:
        there = os.lstat(f"{root}/{rel}")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _no_lock(root, rel, error) from error
    return (there.st_dev, there.st_ino) == file


def _shown(root: str, rel: str) -> str:
    """The file as messages name it: a checkout's from its top level, that of another root whole."""
    return rel if rel.startswith(f"{layout.LOCKS}/") else f"{root}/{rel}"


def _timed_out(root: str, rel: str, timeout: float) -> LockTimeout:
    return LockTimeout(
        f"another process has held this lock for more than {timeout:g} s",
        file=_shown(root, rel),
        remedy="wait for the other flow command to end, or end it; the lock goes with it",
    )


def _no_lock(root: str, rel: str, error: Exception) -> StorageError:
    reason = getattr(error, "strerror", None) or type(error).__name__
    return in_file(_shown(root, rel)).storage(
        f"cannot lock it: {reason}",
        remedy(
            error,
            "check the folder's owner and mode; its file system must have locks (flow doctor)",
        ),
    )


def _unsafe_lock(root: str, rel: str, *, linked: bool = False) -> RefusedError:
    return in_file(_shown(root, rel)).refused(
        "has a second name (a hard link)" if linked else "is not a regular file",
        "remove it; Flow makes its lock files itself and follows no link",
        code="unsafe_path",
    )
