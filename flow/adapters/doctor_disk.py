"""What the file system below ``.flow`` can do, tried for real, and what is left over there."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING

from flow.adapters import files, locks
from flow.core import layout
from flow.errors import FlowError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.adapters.doctor import Checkout, Report

LOCK_SECONDS = 2.0


def abilities(report: Report, top: str) -> None:
    """Try what Flow relies on: links, locks, syncing, refusing symlinks, renaming."""
    flow = os.path.join(top, ".flow")
    if os.path.islink(flow):
        report.found(
            ".flow is a symbolic link", "Flow writes through no link", "make it a real folder"
        )
        return
    try:
        folder = tempfile.mkdtemp(prefix=f"{files.TEMP_PREFIX}doctor-", dir=flow)
    except OSError as error:
        report.found(
            f".flow cannot be written: {error.strerror}",
            "no evidence can be recorded, so nothing can be proved",
            "check who owns the folder, its mode, and the space on the disk",
        )
        return
    can = []
    try:
        for name, probe, why, do in _PROBES:
            problem = _try(probe, folder)
            if problem is None:
                can.append(name)
            else:
                report.found(f".flow: {name}: {problem}", why, do)
        report.fact("file system", ", ".join(can))
        if os.path.exists(os.path.join(folder, "A".lower())):
            report.fact("letter case", "names that differ only in case are one file here")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _try(probe: Callable[[str], str | None], folder: str) -> str | None:
    try:
        return probe(folder)
    except OSError as error:
        return error.strerror or type(error).__name__


def _link(folder: str) -> str | None:
    path = _file(folder, "link-source")
    os.link(path, os.path.join(folder, "link-target"))
    try:
        os.link(path, os.path.join(folder, "link-target"))
    except FileExistsError:
        return None
    return "a second link took a name that was taken"


def _flock(folder: str) -> str | None:
    path = _file(folder, "lock")
    first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    try:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK):
                return None
            raise
        return "two holders got the same lock"
    finally:
        os.close(first)
        os.close(second)


def _fsync(folder: str) -> str | None:
    for path, flags in ((_file(folder, "sync"), os.O_RDWR), (folder, os.O_RDONLY)):
        descriptor = os.open(path, flags)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return None


def _no_follow(folder: str) -> str | None:
    link = os.path.join(folder, "symlink")
    os.symlink(_file(folder, "symlink-target"), link)
    try:
        os.close(os.open(link, os.O_RDONLY | os.O_NOFOLLOW))
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            return None
        raise
    return "a symbolic link was followed"


def _rename(folder: str) -> str | None:
    source, target = _file(folder, "new"), _file(folder, "old")
    os.rename(source, target)
    return None if not os.path.exists(source) and os.path.exists(target) else "nothing was renamed"


def _append(folder: str) -> str | None:
    path = _file(folder, "append")
    one, other = (os.open(path, os.O_WRONLY | os.O_APPEND) for _ in range(2))
    try:
        os.write(one, b"a\n")
        os.write(other, b"b\n")
    finally:
        os.close(one)
        os.close(other)
    with open(path, "rb") as file:
        return None if file.read() == b"a\nb\n" else "one append overwrote the other"


def _file(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return path


_ELSEWHERE = "move the checkout to a local file system"
_PROBES: tuple[tuple[str, Callable[[str], str | None], str, str], ...] = (
    ("hard links", _link, "two writers could take the same evidence id", _ELSEWHERE),
    ("locks (flock)", _flock, "two commands could write at once; Flow refuses to", _ELSEWHERE),
    ("fsync", _fsync, "a power cut could lose what was said to be recorded", _ELSEWHERE),
    ("O_NOFOLLOW", _no_follow, "a link could lead a write out of the checkout", _ELSEWHERE),
    ("rename", _rename, "a reader could see half of a goal", _ELSEWHERE),
    ("O_APPEND", _append, "two events could overwrite each other", _ELSEWHERE),
)


def remove_leftovers(checkout: Checkout) -> list[str]:
    """Remove temporary files under every lock that a process at work would hold.

    Raises :class:`LockTimeout` where one is at work.
    """
    top = checkout.top
    with ExitStack() as held:
        for rel in _lock_files(checkout):
            held.enter_context(locks.exclusive(top, rel, timeout=LOCK_SECONDS, quick=True))
        removed = []
        for rel in files.leftovers(top):  # again: some may have been another process's
            files.remove(top, rel)
            removed.append(f"removed {rel}")
        for rel in _leftover_folders(top):
            shutil.rmtree(os.path.join(top, rel), ignore_errors=True)
        return removed


def _lock_files(checkout: Checkout) -> list[str]:
    """In the order in which Flow's commands take them: evaluation, goal, run, journal."""
    goals = checkout.records.goal_ids()
    runs = [
        name
        for name in _folders(os.path.join(checkout.top, layout.RUNS))
        if not name.startswith(".")
    ]
    try:
        folder = checkout.settings.settings.journal_dir
        journals = files.names(checkout.top, folder, suffix=".md", limit=1000)
    except FlowError:
        journals = []
    return [
        *(layout.evaluation_lock(goal) for goal in goals),
        *(layout.goal_lock(goal) for goal in goals),
        *(layout.run_lock(run) for run in runs),
        *(layout.journal_lock(name) for name in journals),
    ]


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _leftover_folders(top: str) -> list[str]:
    """Folders of probes that were ended in the middle."""
    return [
        f".flow/{name}"
        for name in _folders(os.path.join(top, ".flow"))
        if name.startswith(files.TEMP_PREFIX)
    ]
