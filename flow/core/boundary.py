"""Which changes lie inside a goal's paths (SPEC section 4). Values and pure decisions only."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Entry(NamedTuple):
    """One path's content at one place. ``mode`` is git's (``100644``, ``120000``, ``160000`` ...)."""

    mode: str
    digest: str


class Change(NamedTuple):
    """A path that differs between the pinned base and HEAD, the index or the working tree.

    ``path`` is relative to the top level, ``/``-separated, non-UTF-8 bytes as surrogate escapes.
    The four entries are None where the path does not exist there. ``real`` is where the path really
    lies when a symlink leads to it (None: nowhere else; ``""``: outside the repository).
    """

    path: str
    base: Entry | None
    head: Entry | None
    index: Entry | None
    worktree: Entry | None
    real: str | None = None

    @property
    def untracked(self) -> bool:
        """Neither in HEAD nor in the index."""
        return self.head is None and self.index is None


class Baseline(NamedTuple):
    """What was there when the goal was activated; ``baseline.json`` of the run."""

    base_commit: str | None
    dirty: dict[str, str]
    """path → digest (``mode:hash``, or ``absent``) of files that were dirty at activation."""
    denied_ignored: dict[str, str]
    """path → digest of ignored files that ``denied_paths`` names."""
    ignore_rules: dict[str, str]
    """file → text of the ignore rules in force at activation."""
    guards: dict[str, str]
    """name → digest of hooks, ``core.hooksPath``, ``info/*`` and replace refs."""
    by_products: dict[str, str]
    """path → digest of untracked files that Flow's own commands made."""
    journal_dir: str = ".decisions"


class Snapshot(NamedTuple):
    """The working tree as it is now, against the pinned base."""

    head: str | None
    branch: str | None
    tree: str | None
    """Digest of the whole change set; None where git could not answer."""
    changes: tuple[Change, ...]
    guards: dict[str, str]
    problems: tuple[str, ...]
    """Why git could not answer; not empty means the boundary is inconclusive."""


class Violation(NamedTuple):
    """A changed path that the goal does not allow, and why."""

    path: str
    why: str


class BoundaryReport(NamedTuple):
    """What the change set means for a goal."""

    status: Literal["inside", "outside", "inconclusive"]
    violations: tuple[Violation, ...]
    by_products: tuple[str, ...]
    warnings: tuple[str, ...]
    problems: tuple[str, ...]
    guards_changed: tuple[str, ...]
