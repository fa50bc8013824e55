"""The working trees of a repository, as git names them; a single one costs no process."""

from __future__ import annotations

import os

from flow.adapters.git.find import Repo, find_repo, read_regular
from flow.adapters.git.run import git, refusal
from flow.adapters.git.trees import shared_dir
from flow.errors import GitError


def main_tree(repo: Repo) -> str:
    """The top level of the main working tree; of a bare repository, its git directory."""
    common = shared_dir(repo)
    if common is None:
        return repo.top
    parent, name = os.path.split(common)
    return parent if name == ".git" else repo.top if repo.git_dir == common else common


def working_trees(repo: Repo) -> list[str]:
    """The top levels of a repository's working trees that are there, the main one first.

    A folder counts only where it leads back to this repository, whatever git's records name.
    Raises :class:`GitError` where git cannot be used.
    """
    common = shared_dir(repo)
    if common is None or not os.path.isdir(os.path.join(common, "worktrees")):
        return [repo.top]
    named = dict.fromkeys(os.path.realpath(path) for path in _listed(repo))
    tops = [path for path in named if _is_tree_of(common, path)]
    return tops or [repo.top]


def repository_of_removed(git_dir: str, top: str) -> str | None:
    """The git directory of the repository that once had a linked working tree at ``top``.

    ``git_dir`` is the one that the working tree had. None where it was no linked one, where that
    repository is gone, or where git's records still name it: ``git worktree list`` has it then.
    """
    parent, name = os.path.split(os.path.dirname(git_dir))
    if name != "worktrees" or not os.path.isfile(os.path.join(parent, "HEAD")):
        return None
    try:
        entry = read_regular(os.path.join(git_dir, "gitdir"))
    except GitError:
        return None
    named = os.path.dirname(os.fsdecode((entry or b"").rstrip(b"\r\n")))
    return None if named and os.path.realpath(os.path.join(git_dir, named)) == top else parent


def _listed(repo: Repo) -> list[str]:
    words = ("worktree", "list", "--porcelain")
    try:
        lines = git(repo, *words, "-z").split(b"\0")
    except GitError:  # git before 2.36 knows no -z here
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
