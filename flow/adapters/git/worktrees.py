"""The working trees of a repository, as git names them; a single one costs no process."""

from __future__ import annotations

import os

from flow.adapters.git.directories import shared_dir
from flow.adapters.git.find import Repo, find_repo, read_regular
from flow.adapters.git.run import git, refusal
from flow.errors import GitError
from flow.startup.typing import NamedTuple


def main_tree(repo: Repo) -> str:
    """The top level of the main working tree; of a bare repository, its git directory."""
    common = shared_dir(repo)
    if common is None:
        return repo.top
    parent, name = os.path.split(common)
    return parent if name == ".git" else repo.top if repo.git_dir == common else common


def working_trees(repo: Repo) -> list[str]:
    """The top levels of a repository's working trees that exist, the main one first.

    A folder counts only if it leads back to this repository, even if git's records name it. Raises
    :class:`GitError` if git cannot be used.
    """
    common = shared_dir(repo)
    if common is None or not os.path.isdir(os.path.join(common, "worktrees")):
        return [repo.top]
    named = dict.fromkeys(os.path.realpath(path) for path in _listed(repo))
    tops = [path for path in named if _is_tree_of(common, path)]
    return tops or [repo.top]


class LostTree(NamedTuple):
    """A linked working tree whose folder is gone, and whose repository is there."""

    main: Repo | None
    """The main checkout; None of a bare repository."""
    is_listed: bool
    """Whether git's records still name it, as ``git worktree list`` does."""


def lost_tree(git_dir: str, top: str) -> LostTree | None:
    """The linked working tree that was at ``top`` and had the git directory ``git_dir``.

    None if it was no linked one, or if its repository is gone as well.
    """
    common, name = os.path.split(os.path.dirname(git_dir))
    if name != "worktrees" or not os.path.isfile(os.path.join(common, "HEAD")):
        return None
    main = find_repo(os.path.dirname(common))
    main = main if main is not None and main.common_dir == common else None
    try:
        entry = read_regular(os.path.join(git_dir, "gitdir"))
    except GitError:  # if it cannot be looked at, it is not known to be gone
        return LostTree(main, is_listed=True)
    named = os.path.dirname(os.fsdecode((entry or b"").rstrip(b"\r\n")))
    is_path = bool(named) and "\0" not in named
    return LostTree(main, is_path and os.path.realpath(os.path.join(git_dir, named)) == top)


def _listed(repo: Repo) -> list[str]:
    words = ("worktree", "list", "--porcelain")
    try:
        lines = git(repo, *words, "-z").split(b"\0")
    except GitError:  # git before 2.36 has no -z here
        if refusal(repo) is not None:
            raise
        lines = git(repo, *words).splitlines()
    names = (line.removeprefix(b"worktree ") for line in lines if line.startswith(b"worktree "))
    return [os.fsdecode(name) for name in names]


def _is_tree_of(common: str, path: str) -> bool:
    try:
        repo = find_repo(path)
    except GitError:
        return False
    return repo is not None and repo.top == path and shared_dir(repo) == common
