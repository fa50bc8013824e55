"""The commit that a person or a goal file means by a name (SPEC 4).

Git itself takes a file ``.git/NAME`` and a tag before the branch of that name. Here a name is a
branch, a remote branch, a tag, a commit, in this order; if two of them have it and lead to
different commits, none is taken.
"""

from __future__ import annotations

import os
import re

from flow.adapters.git import repository
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.adapters.git.find import Repo

REMOTES = "refs/remotes/"
ORIGIN_HEAD = "refs/remotes/origin/HEAD"

_HEX = re.compile(r"(?:.+-\d+-g)?([0-9a-f]{4,64})", re.IGNORECASE)
"""An id, perhaps shortened, perhaps in the form of ``git describe``."""
_PSEUDO = re.compile(r"@|HEAD|[A-Z]+_HEAD")
_SUFFIX = re.compile(r"[~^]|@\{|:")
_NO_NAME = re.compile(r"(?:^|/)(?:\.|/|$)|\.\.|@\{|[\x00-\x20\x7f~^:?*\[\\]|\.lock(?:/|$)|\.$")
"""Text that git allows in no reference's name."""
_OF_BRANCH = ("@{u}", "@{upstream}", "@{push}")
"""Suffixes that name another branch."""


class _NamedCommit(NamedTuple):
    """A reference (full name) or a commit (id) that a name stands for, and its commit."""

    name: str
    commit: str


def resolve(repo: Repo, name: str, *, key: str) -> str | None:
    """The id of the commit that ``name`` means; None if it means none.

    ``name`` is a branch, remote branch, tag or commit, with git's suffixes (``main~2``). Raises
    :class:`InputError` naming ``key`` for a name of two different commits and for a reference that
    leads out of its kind, :class:`GitError` if git cannot answer.
    """
    suffix = _SUFFIX.search(name)
    if suffix is None or suffix.start() == 0:
        named = _named_commit(repo, name, key)
        return named.commit if named else None
    named = _named_commit(repo, name[: suffix.start()], key)
    rest = name[suffix.start() :]
    if named is None or rest.startswith(":"):
        return None  # NAME:PATH is a file or a folder
    start = named.commit
    if rest.lower().startswith(_OF_BRANCH):  # which git takes after a branch's short name only
        start = named.name.removeprefix("refs/heads/")
    elif rest.startswith("@{"):
        start = named.name
    return repository.commit_of(repo, start + rest)


def is_branch(repo: Repo, name: str, *, key: str) -> bool:
    """Whether ``name`` is a branch or a remote branch, without git's suffixes; raises as above."""
    named = None if _SUFFIX.search(name) or name == "HEAD" else _named_commit(repo, name, key)
    return named is not None and named.name.startswith(("refs/heads/", "refs/remotes/"))


def remote_default(repo: Repo) -> str | None:
    """The remote's default branch as a full name, if ``origin/HEAD`` leads to one of its own."""
    target = repository.symbolic_target(repo, ORIGIN_HEAD)
    return target if target and not _leads_out(repo, ORIGIN_HEAD) else None


def by_id(repo: Repo, text: str) -> str | None:
    """The whole id of the commit whose id begins with ``text``; None unless exactly one does.

    No reference and no file in ``.git`` of that name is taken for it.
    """
    digits = _HEX.fullmatch(text)
    if digits is None:
        return None
    if repository.is_id(text):
        return text if repository.commit_of(repo, text) == text else None
    described = f"{os.urandom(8).hex()}-0-g{digits[1]}"  # as ``git describe`` does
    return repository.commit_of(repo, described)


def _named_commit(repo: Repo, name: str, key: str) -> _NamedCommit | None:
    """The reference or commit that a name without suffix stands for; None if there is none."""
    if _PSEUDO.fullmatch(name) or _SUFFIX.match(name):
        commit = repository.commit_of(repo, name)  # ``@{-1}``, ``:/words``: git's own notation
        return _NamedCommit(name, commit) if commit else None
    commits = list(_named_commits(repo, name, key))
    for other in commits[1:]:
        if other.commit != commits[0].commit:
            raise at_key(key, name).invalid(
                f"{name!r:.80} is both {commits[0].name} and {other.name}, "
                "which are different commits",
                f"name the one that is meant: {commits[0].name}",
                code="ambiguous_ref",
            )
    return commits[0] if commits else None


def _named_commits(repo: Repo, name: str, key: str) -> Iterator[_NamedCommit]:
    for full in _references(repo, name):
        if _leads_out(repo, full):
            raise at_key(key, name).invalid(
                f"{full!r:.80} is a symbolic reference that leads to another kind of reference",
                "name the branch, tag or commit that is meant",
                code="ambiguous_ref",
            )
        commit = repository.commit_of(repo, full)
        if commit is not None:
            yield _NamedCommit(full, commit)
    commit = by_id(repo, name)
    if commit is not None:
        yield _NamedCommit(commit, commit)


def _references(repo: Repo, name: str) -> list[str]:
    """The full names of the references with this name: branch, remote branch, tag, others."""
    if _NO_NAME.search(name):
        return []
    if name.startswith("refs/"):
        return [name] if _is_there(repo, name) else []
    branches = (f"refs/heads/{name}", f"{REMOTES}{name}", f"{REMOTES}{name}/HEAD")
    there = [full for full in branches if _is_there(repo, full)]
    if not there:  # references that a fetch brought, and that are not checked out
        there = [full for full in (f"{REMOTES}origin/{name}",) if _is_there(repo, full)]
    return there + [f for f in (f"refs/tags/{name}", f"refs/{name}") if _is_there(repo, f)]


def _is_there(repo: Repo, full: str) -> bool:
    return (
        repository.symbolic_target(repo, full) is not None
        or repository.read_ref(repo, full) is not None
    )


def _leads_out(repo: Repo, full: str) -> bool:
    """Whether a reference leads to one of another kind, or of another remote."""
    kind = "/".join(full.split("/")[: 3 if full.startswith(REMOTES) else 2]) + "/"
    for _ in range(5):
        if os.path.islink(os.path.join(repo.common_dir or "", full)):
            return True
        target = repository.symbolic_target(repo, full)
        if target is None:
            return False
        if not target.startswith(kind) or _NO_NAME.search(target) or target == full:
            return True
        full = target
    return True
