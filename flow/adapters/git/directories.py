"""The git directories that a folder may use, if git's own records name it as a working tree.

A ``.git`` file, or a link, can lead from any folder to any repository. So a folder shares the
user's settings for a repository only if the repository leads back to that folder.
"""

from __future__ import annotations

import os

from flow.adapters.git.find import read_regular
from flow.adapters.git.run import user_config
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.git.find import Repo


def shared_dir(repo: Repo) -> str | None:
    """The git directory that all working trees of the repository share; None for any other folder.

    A working tree of it is the folder that holds the git directory itself, one that
    ``worktrees/NAME/gitdir`` names (``git worktree add``), or one that its own ``core.worktree``
    names (a submodule).
    """
    return repo.common_dir if _leads_back(repo) else None


def own_dir(repo: Repo) -> str | None:
    """The git directory of this working tree alone; None if git's records do not name it."""
    return repo.git_dir if _leads_back(repo) else None


def repo_key(common_dir: str | None, top: str) -> str:
    """Key of a repository in the state folder: a real path."""
    return os.path.realpath(common_dir or top)


def _leads_back(repo: Repo) -> bool:
    git_dir, common, entry = repo.git_dir, repo.common_dir, os.path.join(repo.top, ".git")
    if git_dir is None or common is None:
        return False
    if git_dir == common:
        return git_dir == entry or _names_worktree(repo, git_dir)
    if os.path.dirname(git_dir) != os.path.join(common, "worktrees"):
        return False
    try:
        named = read_regular(os.path.join(git_dir, "gitdir"))
    except GitError:
        return False
    return named is not None and _is_same_path(git_dir, os.fsdecode(named.rstrip(b"\r\n")), entry)


def _names_worktree(repo: Repo, git_dir: str) -> bool:
    """Whether the configuration of a git directory names this working tree as its own."""
    try:
        named = user_config(repo, "-z", "--get", "core.worktree").rstrip(b"\0")
    except GitError:
        return False
    return bool(named) and _is_same_path(git_dir, os.fsdecode(named), repo.top)


def _is_same_path(folder: str, named: str, path: str) -> bool:
    """Whether a recorded path, relative to ``folder``, is ``path`` and no link."""
    if "\0" in named:  # a power cut may leave NULs
        return False
    parent, name = os.path.split(os.path.join(folder, named))
    if name in ("", ".", ".."):
        return os.path.realpath(os.path.join(parent, name)) == path
    return os.path.join(os.path.realpath(parent), name) == path and not os.path.islink(path)
