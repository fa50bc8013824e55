"""A baseline where none was recorded: a fresh clone has the goal file, but not its run folder.

Only the pinned commit itself can be trusted then: its ignore files count, and nothing was dirty or
outside the tree. Hooks and git settings cannot be compared, so they are taken as they are.
"""

from __future__ import annotations

from flow.adapters.baseline.pinned import only_converted
from flow.adapters.git import repository
from flow.adapters.worktree.change_set import collect
from flow.adapters.worktree.guards import guards
from flow.adapters.worktree.ignore import RULES_FILE
from flow.adapters.worktree.trees import checked_listing, listed_rows, text_of
from flow.core import layout
from flow.core.boundary.changes import UNRECORDED, Baseline, dirty_digest
from flow.errors import GitError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.git.find import Repo


def restore(
    repo: Repo,
    commit: str | None,
    *,
    denied: Sequence[str],
    journal_dir: str,
    scores_dir: str = layout.SCORES,
    cache_dir: str | None = None,
) -> Baseline:
    """The baseline by ``commit`` alone. If git cannot answer, the next snapshot says why."""
    bare = Baseline(commit, {}, {}, {}, {}, {}, journal_dir, tuple(denied))
    bare = bare._replace(scores_dir=scores_dir, began=UNRECORDED)
    if commit is None or repo.git_dir is None or not repository.is_id(commit):
        return bare
    try:
        if not repository.has_commit(repo, commit):
            return bare
        bare = bare._replace(ignore_rules=_rules_of(repo, commit), guards=guards(repo))
        now = collect(repo, commit, denied, cache_dir=cache_dir)
        dirty = {c.path: dirty_digest(c) for c in now.changes if only_converted(repo, c)}
        return bare._replace(dirty=dirty, denied_ignored=now.ignored)
    except GitError:
        return bare


def _rules_of(repo: Repo, commit: str) -> dict[str, str]:
    """The ignore files of the commit's tree, by path."""
    names: dict[str, str] = {}
    for meta, path in listed_rows(checked_listing(repo, commit)):
        if path.rpartition(b"/")[2] == RULES_FILE and meta.startswith(b"100"):
            names[text_of(path)] = meta.rpartition(b" ")[2].decode("ascii")
    texts = repository.verified_objects(repo, names.values())
    return {
        name: texts[digest].decode("utf-8", "surrogateescape") for name, digest in names.items()
    }
