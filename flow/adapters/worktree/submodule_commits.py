"""Changes that the commits of a submodule made since the pinned base.

The repository around it shows only that a submodule moved to another commit. Files that denied or
protected patterns name count by their own paths, so the trees of those commits are compared.
"""

from __future__ import annotations

from flow.adapters.git.repository import EMPTY_TREES
from flow.adapters.worktree.trees import against_tree
from flow.core.boundary.changes import GITLINK, ContentState
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flow.adapters.git.find import Repo
    from flow.core.boundary.globs import Globs


class CommittedStates(NamedTuple):
    """A path's entries in the commits of a submodule that three places around it name."""

    base: ContentState | None
    head: ContentState | None
    staged: ContentState | None

    def with_own(
        self, checked_out: ContentState | None, staged: ContentState | None
    ) -> CommittedStates:
        """With the submodule's own HEAD and index: what differs there counts as staged."""
        if staged != checked_out or self.staged == self.base:
            return self._replace(staged=staged)
        return self


def commits_of(states: Iterable[ContentState | None]) -> list[str | None]:
    """The commits of a submodule that these entries name; None where there is no submodule."""
    return [entry.digest if entry and entry.mode == GITLINK else None for entry in states]


def committed_states(
    repo: Repo,
    around: Iterable[ContentState | None],
    checked_out: Iterable[str | None],
    prefix: bytes,
    named: Globs,
) -> dict[bytes, CommittedStates]:
    """path → its entries, for each that ``named`` names, and each submodule in the submodule.

    ``around`` are the entries of the submodule itself in the base, in HEAD and in the index around
    it, ``checked_out`` further commits of it that are compared. Raises :class:`GitError` if the
    submodule lacks one of the commits.
    """
    base, head, staged = commits_of(around)
    present = next(filter(None, (base, head, staged, *checked_out)), "")
    old = base or EMPTY_TREES.get(len(present), "")
    others = dict.fromkeys((head, staged, *checked_out))
    changed = {other: against_tree(repo, old, other, prefix) for other in others if other != base}
    base_entries = {
        path: entry
        for other in changed
        for path, entry in against_tree(repo, other or EMPTY_TREES[len(old)], old, prefix).items()
        if _counts(prefix + path, (entry, changed[other].get(path)), named)
    }
    return {
        path: CommittedStates(
            entry, changed.get(head, {}).get(path, entry), changed.get(staged, {}).get(path, entry)
        )
        for path, entry in base_entries.items()
    }


def _counts(path: bytes, entries: Iterable[ContentState | None], named: Globs) -> bool:
    return any(commits_of(entries)) or named.first(path) is not None
