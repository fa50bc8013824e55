"""Abilities of the file system below ``.flow``, by trying them, and leftover files there."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress

from flow.adapters.baseline import work_folder
from flow.adapters.chain import check as chain_check
from flow.adapters.chain import pinned_heads
from flow.adapters.chain.session_writes import RunWrites
from flow.adapters.fs import files, locks
from flow.adapters.fs.temporary import remove_folder
from flow.adapters.ledger import evidence_store
from flow.adapters.ledger.writer import SPACE
from flow.adapters.setup.doctor_report import folder_names, journal_dir
from flow.adapters.user_state import goal_notes, noted_checkouts, written_files
from flow.core import layout
from flow.errors import FlowError, StorageError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.adapters.setup.doctor_report import DoctorReport, ExaminedCheckout

LOCK_SECONDS = 2.0
CACHE_SECONDS = 3600.0
"""Seconds of age from which a temporary file of a cache counts as left over."""


def abilities(report: DoctorReport, top: str) -> None:
    """Try the abilities that Flow needs: links, locks, syncing, refusing symlinks, renaming."""
    flow = os.path.join(top, ".flow")
    if os.path.islink(flow):
        report.found(
            ".flow is a symbolic link", "Flow writes through no link", "make it a real folder"
        )
        return
    try:
        _try_all(report, flow)
        files.check_space(top, SPACE)
    except (OSError, StorageError) as error:
        reason = getattr(error.__cause__ or error, "strerror", error)
        report.found(
            f".flow cannot be written: {reason}",
            "no evidence can be recorded, so nothing can be proved",
            "check who owns the folder, its mode, and the space on the disk",
        )


def _try_all(report: DoctorReport, flow: str) -> None:
    """Try each ability; :class:`OSError` where nothing can be written at all."""
    folder = tempfile.mkdtemp(prefix=f"{files.TEMP_PREFIX}doctor-", dir=flow)
    can = []
    try:
        for name, probe, why in _PROBES:
            problem = _try_probe(probe, folder)
            if problem is None:
                can.append(name)
            else:
                do = "move the checkout to a local file system"
                report.found(f".flow: {name}: {problem}", why, do)
        report.fact("file system", ", ".join(can))
        _probe_file(folder, "case")
        if os.path.exists(os.path.join(folder, "CASE")):
            report.fact("letter case", "names that differ only in case are one file here")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _try_probe(probe: Callable[[str], str | None], folder: str) -> str | None:
    try:
        return probe(folder)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise
        return error.strerror or type(error).__name__


def _link_fault(folder: str) -> str | None:
    path = _probe_file(folder, "link-source")
    os.link(path, os.path.join(folder, "link-target"))
    try:
        os.link(path, os.path.join(folder, "link-target"))
    except FileExistsError:
        return None
    return "a second link took a name that was taken"


def _flock_fault(folder: str) -> str | None:
    path = _probe_file(folder, "lock")
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


def _fsync_fault(folder: str) -> str | None:
    for path, flags in ((_probe_file(folder, "sync"), os.O_RDWR), (folder, os.O_RDONLY)):
        descriptor = os.open(path, flags)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return None


def _symlink_fault(folder: str) -> str | None:
    link = os.path.join(folder, "symlink")
    os.symlink(_probe_file(folder, "symlink-target"), link)
    try:
        os.close(os.open(link, os.O_RDONLY | os.O_NOFOLLOW))
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            return None
        raise
    return "a symbolic link was followed"


def _rename_fault(folder: str) -> str | None:
    source, target = _probe_file(folder, "new"), _probe_file(folder, "old")
    os.rename(source, target)
    return None if not os.path.exists(source) and os.path.exists(target) else "nothing was renamed"


def _append_fault(folder: str) -> str | None:
    path = _probe_file(folder, "append")
    first, second = (os.open(path, os.O_WRONLY | os.O_APPEND) for _ in range(2))
    try:
        os.write(first, b"a\n")
        os.write(second, b"b\n")
    finally:
        os.close(first)
        os.close(second)
    with open(path, "rb") as file:
        return None if file.read() == b"a\nb\n" else "one append overwrote the other"


def _probe_file(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return path


_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_PROBES: tuple[tuple[str, Callable[[str], str | None], str], ...] = (
    ("hard links", _link_fault, "two writers could take the same evidence id"),
    ("locks (flock)", _flock_fault, "two commands could write at once; Flow refuses to"),
    ("fsync", _fsync_fault, "a power cut could lose what was said to be recorded"),
    ("O_NOFOLLOW", _symlink_fault, "a link could lead a write out of the checkout"),
    ("rename", _rename_fault, "a reader could see half of a goal"),
    ("O_APPEND", _append_fault, "two events could overwrite each other"),
)


REPORT_SECONDS = 600
"""Seconds after which a report's temporary file is left over; no lock of a goal covers it."""


def leftovers(checkout: ExaminedCheckout) -> list[str]:
    """Temporary files and folders of ended processes: below the top level, or absolute."""
    top = checkout.top
    paths = [name for name in folder_names(top) if name.startswith(files.TEMP_PREFIX)]
    probes = [name for name in _folders(f"{top}/.flow") if name.startswith(files.TEMP_PREFIX)]
    paths += files.leftovers(top, (".flow", ".claude", journal_dir(checkout)))
    paths += [
        rel
        for rel in files.leftovers(top, _reports(checkout))
        if _is_old(os.path.join(top, rel), REPORT_SECONDS)
    ]
    paths += [f".flow/{name}" for name in probes]  # of probes that were ended in the middle
    return [*paths, *_state_leftovers(checkout)]


def remove_leftovers(checkout: ExaminedCheckout) -> list[str]:
    """Remove the temporary files of ended processes; returns a line for each.

    The present files are left over once every present lock was free once: a process at work holds
    one of them. So the locks are taken one after the other, in any number. Files that came
    meanwhile, under the same name as well, stay. Raises :class:`LockTimeout` if a process stays at
    work.
    """
    top = checkout.top
    before = {path: _identity(top, path) for path in leftovers(checkout)}
    for rel in _lock_files(top):
        with locks.exclusive(top, rel, timeout=LOCK_SECONDS, quick=True):
            pass
    removed = []
    for run_id in chain_check.run_ids(top):
        folder = f"{layout.run_dir(run_id)}/"
        with locks.exclusive(top, layout.run_lock(run_id), timeout=LOCK_SECONDS, quick=True):
            of_run = [path for path in before if path.startswith(folder)]
            if _settled(top, run_id):
                removed += [path for path in of_run if _remove(top, path, before[path])]
        for path in of_run:
            del before[path]
    removed += [path for path, identity in before.items() if _remove(top, path, identity)]
    return [f"removed {path}" for path in removed]


def _settled(top: str, run_id: str) -> bool:
    """Finish pending records; False if that fails: then their temporary files are still needed."""
    try:
        evidence_store.finish_record(RunWrites(top, run_id))
    except FlowError:  # another check names the cause
        return False
    return True


def _identity(top: str, path: str) -> tuple[int, ...]:
    """Identity of the file at a path; empty if there is none."""
    try:
        status = os.lstat(os.path.join(top, path))
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_ctime_ns


def _remove(top: str, path: str, identity: tuple[int, ...]) -> bool:
    """Remove a file or folder if it is still the one that was seen; True if it was removed."""
    whole = os.path.join(top, path)
    if not identity or _identity(top, path) != identity:
        return False
    if os.path.isdir(whole) and not os.path.islink(whole):
        remove_folder(whole)
    elif not os.path.isabs(path):
        files.remove(top, path)
    else:
        with suppress(OSError):
            os.unlink(whole)
    return True


def _lock_files(top: str) -> list[str]:
    """Every lock that a process can hold here: its file is made before it is taken."""
    names = folder_names(os.path.join(top, layout.LOCKS))
    return [f"{layout.LOCKS}/{name}" for name in names if name.endswith(".lock")]


def _reports(checkout: ExaminedCheckout) -> tuple[str, ...]:
    """The folders of debates' reports and of scorecards, except those that are checked anyhow."""
    usual = [layout.REPORTS_DIR, layout.PLUGIN_SCORES]
    with suppress(FlowError):  # another check names the fault
        settings = checkout.settings.settings
        usual += [settings.reports_dir.strip("/"), settings.scores_dir.strip("/")]
    known = [".flow", ".claude", journal_dir(checkout).strip("/")]
    top = os.path.realpath(checkout.top)
    folders: list[str] = []
    for folder in sorted(dict.fromkeys(usual)):
        inside = any(f"{folder}/".startswith(f"{other}/") for other in (*known, *folders))
        if not inside and os.path.realpath(os.path.join(top, folder)) == os.path.join(top, folder):
            folders.append(folder)
    return tuple(folders)


def _state_leftovers(checkout: ExaminedCheckout) -> list[str]:
    """Leftovers in caches and notes of the state folder, without locks: names show their process.

    Another checkout's process may be at work there. A process number can be reused, so an old file
    counts as left over in any case; a cache's lost files are made again.
    """
    paths = []
    try:
        state = checkout.state_dir
    except FlowError:
        return []
    kinds = ("cache", pinned_heads.KIND, written_files.FOLDER, *goal_notes.KINDS)
    parents = [os.path.join(state, kind) for kind in kinds]
    folders = [os.path.join(parent, name) for parent in parents for name in _folders(parent)]
    folders += [where for where, _, _ in os.walk(os.path.join(state, noted_checkouts.FOLDER))]
    for folder in folders:
        for name in folder_names(folder):
            path = os.path.join(folder, name)
            owner = name.removeprefix(files.TEMP_PREFIX).partition("-")[0]
            if name.startswith(files.TEMP_PREFIX) and (_is_old(path) or not _is_running(owner)):
                paths.append(path)
    try:
        return [*paths, *work_folder.abandoned_folders(state)]
    except FlowError:
        return paths


def _is_old(path: str, seconds: float = CACHE_SECONDS) -> bool:
    try:
        return time.time() - os.lstat(path).st_mtime > seconds
    except OSError:
        return False  # gone meanwhile


def _is_running(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []
