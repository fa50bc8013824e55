"""Finding a checkout by Flow's own search, without starting git."""

from __future__ import annotations

import os
import stat

from flow.errors import GitError, InputError
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ_LIMIT = 64 << 20


class Repo(NamedTuple):
    """A checkout. Paths are absolute and free of symlinks."""

    top: str
    git_dir: str | None
    """The git directory of this working tree; None if git cannot be used here."""
    common_dir: str | None
    """The git directory that linked worktrees share."""
    problem: str | None = None
    """Why ``git_dir`` is None, or why it must not be used."""


def find_repo(cwd: str) -> Repo | None:
    """The checkout around ``cwd``, by Flow's own search; no process is started.

    The nearest folder upward with a ``.git`` folder or file (linked worktree, submodule) that leads
    to a git directory; else the nearest one with a ``.flow`` folder; else None. A bare repository
    is never taken: one that was committed into a subfolder could carry any configuration. Variables
    like ``GIT_DIR`` are ignored.
    """
    start = os.path.realpath(cwd)
    for folder in upward(start):
        entry = os.path.join(folder, ".git")
        if os.path.isdir(entry):
            if is_git_dir(entry):
                return _repo(folder, os.path.realpath(entry))
        elif os.path.isfile(entry):
            target = _linked_git_dir(entry)
            if target is None:
                return Repo(folder, None, None, f"{entry} leads to no git directory")
            return _repo(folder, target)
    for folder in upward(start):
        if os.path.isdir(os.path.join(folder, ".flow")):
            bare = is_bare(start)
            why = "this is a bare repository" if bare else "there is no git repository here"
            return Repo(folder, None, None, why)
    return None


def no_checkout(cwd: str) -> InputError:
    """The error for a folder around which :func:`find_repo` knows no checkout."""
    where, remedy = "no git repository", "start one: git init && flow init"
    if is_bare(cwd):
        where, remedy = "a bare repository", "make a checkout of it (git clone, git worktree add)"
    return InputError(
        f"{cwd} is in {where} and below no .flow folder",
        code="no_repository",
        remedy=f"run it inside the repository, or {remedy}",
    )


def is_bare(cwd: str) -> bool:
    """Whether ``cwd``, for which :func:`find_repo` knows no checkout, is in a bare repository."""
    return any(map(is_git_dir, upward(os.path.realpath(cwd))))


def submodule_repo(folder: str) -> Repo | None:
    """The repository whose working tree is ``folder`` itself; None if there is none."""
    entry = os.path.join(folder, ".git")
    if os.path.isdir(entry) and not os.path.islink(entry):
        return _repo(folder, os.path.realpath(entry)) if is_git_dir(entry) else None
    if os.path.isfile(entry):
        target = _linked_git_dir(entry)
        return _repo(folder, target) if target is not None else None
    return None


def read_regular(path: str | bytes, *, limit: int | None = None) -> bytes | None:
    """A regular file's bytes, symlinks followed; None if there is none. A FIFO is not waited for.

    With ``limit`` at most so many, else all. Raises :class:`GitError` for a file that exists and
    cannot be read, or whose bytes are too many for that.
    """
    unread = _READ_LIMIT + 1 if limit is None else limit
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                return None
            chunks, left = [], status.st_size
            block = min(max(left + 1, 1 << 12), 1 << 20)  # room for a MiB takes long
            while unread > 0 and (chunk := os.read(fd, min(unread, block))):
                chunks.append(chunk)
                unread, left = unread - len(chunk), left - len(chunk)
                if left == 0:  # all that was there
                    break
            if limit is None and unread == 0:
                why = f"it has more than {_READ_LIMIT >> 20} MiB"
                raise GitError(why, file=os.fsdecode(path), remedy="look at what is in it")
            return b"".join(chunks)
        finally:
            os.close(fd)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise GitError(
            f"it cannot be read: {error.strerror}", file=os.fsdecode(path), remedy="check its mode"
        ) from error


def would_block_git(path: str | bytes) -> bool:
    """Whether git would wait for the file of ignore rules: a pipe, a device."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def upward(folder: str) -> Iterator[str]:
    """``folder``, and every folder above it."""
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def is_git_dir(path: str) -> bool:
    """Git's own test: HEAD, an object store and references, the latter two perhaps elsewhere."""
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    common = _common_dir(path)
    return os.path.isdir(os.path.join(common, "objects")) and os.path.isdir(
        os.path.join(common, "refs")
    )


def _common_dir(git_dir: str) -> str:
    text = read_regular(os.path.join(git_dir, "commondir"))
    if text is None or b"\0" in text:  # a power cut may leave a file of NULs
        return git_dir
    return os.path.realpath(os.path.join(git_dir, os.fsdecode(text.rstrip(b"\r\n"))))


def _linked_git_dir(entry: str) -> str | None:
    text = read_regular(entry)
    if text is None or not text.startswith(b"gitdir: "):
        return None
    target = os.path.join(os.path.dirname(entry), os.fsdecode(text[8:].rstrip(b"\r\n")))
    return os.path.realpath(target) if is_git_dir(target) else None


def _repo(top: str, git_dir: str) -> Repo:
    return Repo(top, git_dir, os.path.realpath(_common_dir(git_dir)))
