"""Ignored folders of the checkout in a base checkout (``evaluator.baseline_link``, SPEC 17.1).

They are copied, so that commands cannot change the real ones. Their content is no part of the base
commit: if it changed since the goal began, a failure there proves nothing about the change.
"""

from __future__ import annotations

import os
import shutil
import stat

from flow.adapters.worktree.ignore import Rules
from flow.core.boundary.changes import ABSENT
from flow.core.text.display import names, visible
from flow.errors import InputError, StorageError, at_key, in_file
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.core.boundary.changes import Baseline

KEY = "evaluator.baseline_link"
CACHES = frozenset(
    (
        "__pycache__", ".cache", ".vite", ".vitest", ".pytest_cache", ".mypy_cache", ".ruff_cache",
        ".turbo", ".parcel-cache", ".package-lock.json",
    )
)  # fmt: skip
"""Names in dependency folders that tools write to as they run: neither copied nor digested."""
MOST_ENTRIES = 1_000_000


class BaseLinks(NamedTuple):
    """The folders to copy into each base checkout of one call."""

    paths: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """The folders that differ from their state when the goal began."""


def base_links(
    top: str, paths: tuple[str, ...], baseline: Baseline, scratch: str | None
) -> BaseLinks:
    """The folders to copy, and those that differ from ``baseline``.

    Raises :class:`InputError` for one that cannot be copied.
    """
    refuse_unusable(top, paths, baseline.ignore_rules, scratch)
    now = digests(top, [path for path in paths if path in baseline.linked])
    return BaseLinks(paths, tuple(path for path in now if now[path] != baseline.linked[path]))


def refuse_unusable(
    top: str, paths: Sequence[str], ignore_rules: Mapping[str, str], scratch: str | None
) -> None:
    """Raise :class:`InputError` for a path that is no ignored folder, or leads elsewhere."""
    for path in paths:
        if not _has_no_symlink(top, path):
            raise _refused(path, "is reached through a symlink", "name the folder where it lies")
    named = {os.fsencode(f"{path}/" if _is_folder(top, path) else path): path for path in paths}
    ignored = Rules(ignore_rules, scratch).ignored(named) if named else {}
    for name, path in named.items():
        if not ignored[name]:
            remedy = "add it to .gitignore before the goal begins; git brings the rest by itself"
            raise _refused(path, "is not ignored by the rules that were pinned", remedy)


def _refused(path: str, fault: str, remedy: str) -> InputError:
    return at_key(KEY, path).invalid(f"{visible(path)} {fault}", remedy)


def _is_folder(top: str, path: str) -> bool:
    full = os.path.join(top, path)
    return os.path.isdir(full) or not os.path.lexists(full)


def _has_no_symlink(top: str, path: str) -> bool:
    """Whether no component of the path is a symlink."""
    real = os.path.realpath(top)
    return os.path.realpath(os.path.join(real, path)) == os.path.normpath(os.path.join(real, path))


def digests(top: str, paths: Sequence[str]) -> dict[str, str]:
    """path → digest over names, sizes and time stamps; only files with several links are read."""
    return {path: _tree_digest(os.path.join(top, path)) for path in paths}


def _tree_digest(root: str) -> str:
    if not os.path.lexists(root):
        return ABSENT
    total = sha256(b"flow-link-1")
    for count, entry in enumerate(_entry_texts(root)):
        if count > MOST_ENTRIES:
            raise in_file(root).storage(
                f"it holds more than {MOST_ENTRIES} files", f"leave it out of {KEY}"
            )
        total.update(entry)
    return f"tree:{total.hexdigest()}"


def _entry_texts(root: str) -> Iterator[bytes]:
    """A text for each entry below ``root``, in the order of their names."""
    waiting = [root]
    while waiting:
        path = waiting.pop()
        try:
            status = os.lstat(path)
            name = os.fsencode(os.path.relpath(path, root))
            if stat.S_ISDIR(status.st_mode):
                inside = sorted(name for name in os.listdir(path) if name not in CACHES)
                waiting += [os.path.join(path, name) for name in reversed(inside)]
                yield b"\0%b\0folder" % name
            elif stat.S_ISLNK(status.st_mode):
                yield b"\0%b\0link %b" % (name, os.fsencode(os.readlink(path)))
            else:
                yield b"\0%b\0%b" % (name, _entry_stamp(path, status))
        except OSError as error:
            yield b"\0%b\0%d" % (os.fsencode(path), error.errno or 0)


def _entry_stamp(path: str, status: os.stat_result) -> bytes:
    """Stamps that change when a file is written; for a file with several hard links its digest.

    A package manager that links the file once more changes its ctime without a write.
    """
    if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
        total = sha256()
        with open(path, "rb", opener=_no_link) as file:
            while data := file.read(1 << 20):
                total.update(data)
        return b"%o %b" % (status.st_mode, total.hexdigest().encode())
    times = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return b"%o %d %d %d %d" % times


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def copy_links(
    top: str, paths: Sequence[str], folder: str, seconds_left: Callable[[], float]
) -> tuple[str, ...]:
    """Copy the paths from ``top`` into the base checkout ``folder``; returns notes for the reader.

    ``seconds_left`` is the time it may still take. Raises :class:`StorageError` if the disk, and
    :class:`GitError` if the time does not suffice.
    """
    copied, absent, present = [], [], []
    unreadable: list[str] = []
    for path in paths:
        source, target = os.path.join(top, path), os.path.join(folder, path)
        if not os.path.lexists(source) or not _has_no_symlink(top, path):
            absent.append(path)
        elif os.path.lexists(target) or not _has_no_symlink(folder, path):
            present.append(path)
        else:
            unreadable += _copy_path(source, target, seconds_left)
            copied.append(path)
    notes = (
        ("Copied from the checkout, as they are now", copied),
        ("Not readable, so they were not copied", sorted(unreadable)),
        ("Not here, so they were not linked", absent),
        ("Part of the base commit, so they were not linked", present),
    )
    return tuple(f"{note}: {names(listed, 5)}." for note, listed in notes if listed)


def _copy_path(source: str, target: str, seconds_left: Callable[[], float]) -> list[str]:
    """Copy one path; returns the names of files in it that this user cannot read."""
    unreadable: list[str] = []

    def copy_file(path: str, to: str) -> str:
        if seconds_left() <= 0:
            raise at_key(KEY).git(
                f"no time was left to copy {visible(os.path.basename(source))}",
                "give it more time, or leave it out",
            )
        try:
            if stat.S_ISREG(os.lstat(path).st_mode):
                shutil.copy2(path, to)
        except PermissionError:
            unreadable.append(os.path.basename(path))
        return to

    def caches(_: str, inside: list[str]) -> list[str]:
        return [name for name in inside if name in CACHES]

    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, target, symlinks=True, ignore=caches, copy_function=copy_file)
        else:
            copy_file(source, target)
    except shutil.Error as error:
        first = error.args[0][0] if error.args and error.args[0] else ("", "", "it fails")
        raise _no_copy(source, str(first[2])) from error
    except OSError as error:
        raise _no_copy(source, error.strerror or str(error)) from error
    return unreadable


def _no_copy(source: str, reason: str) -> StorageError:
    return in_file(source, KEY).storage(
        f"cannot copy it: {visible(reason)}", "free some disk space, or leave it out"
    )
