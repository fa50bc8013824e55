"""What a commit's files are, as a digest of the same kind as a working tree's."""

from __future__ import annotations

from flow.adapters.git import repository
from flow.adapters.worktree.trees import changed_between
from flow.core.boundary.rules import PathChange, tree_digest
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.adapters.git.repository import Repo
    from flow.core.boundary.rules import Baseline

    Mark = Callable[[Sequence[PathChange], Baseline], Sequence[PathChange]]
    """The same changes, with those marked that only have names of Flow's."""


def commit_tree(
    repo: Repo,
    baseline: Baseline,
    commit: str,
    own_files: Callable[[PathChange], bool],
    mark: Mark = lambda changes, _: changes,
) -> str | None:
    """What ``subject_tree`` gives where ``commit`` is checked out and nothing is uncommitted.

    ``mark`` is as in ``base.commits_outside``. Submodules are left out: a commit does not say
    whether they are checked out.

    None where git does not know the commit, or nothing is pinned to compare it with.
    """
    base = baseline.base_commit
    if base is None or not repository.is_id(base) or not repository.is_id(commit):
        return None
    try:
        repository.usable(repo)
        if repository.commit_of(repo, commit) != commit:
            return None
        entries = changed_between(repo, base, commit)
    except GitError:
        return None
    changes = [PathChange(path, None, entry, entry, entry) for path, entry in entries.items()]
    return tree_digest(base, mark(changes, baseline), own_files=own_files)
