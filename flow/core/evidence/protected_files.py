"""Protected files that changed since activation (SPEC 10). Values only.

The change set has every path that differs from the pinned base; the baseline holds the digests of
the few that differed at activation already.
"""

from __future__ import annotations

from itertools import chain

from flow.core.boundary.by_products import cache_root, ignored_differences
from flow.core.boundary.changes import ABSENT, GITLINK, Baseline, PathChange, Snapshot, entry_digest
from flow.core.boundary.globs import Globs, path_bytes
from flow.core.goal.model import canonical_digest
from flow.core.text.display import joined, visible
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


LISTED = 100
"""Files in a document, at most; all are counted, and all are in the digest."""


class Matcher(Protocol):
    """The methods of :class:`~flow.core.boundary.globs.Globs`."""

    def __bool__(self) -> bool:
        """Whether there are any patterns."""

    def first(self, path: bytes, *, folder: bool = False) -> str | None:
        """The first pattern that names ``path``."""

    def enters(self, folder: bytes) -> bool:
        """Whether a pattern can name a path below ``folder``."""


class FileChange(NamedTuple):
    """A changed protected file. The digests are ``mode:hash``, or ``absent``."""

    path: str
    before: str
    after: str

    @property
    def kind(self) -> Literal["added", "removed", "modified"]:
        """The kind of change."""
        if self.before == ABSENT:
            return "added"
        return "removed" if self.after == ABSENT else "modified"


class FileStates(NamedTuple):
    """The digests of a file at activation, in the order of ``Baseline.protected``."""

    on_disk: str
    in_index: str
    in_head: str
    in_base: str


class Difference(NamedTuple):
    """All changed protected files; there is at least one."""

    files: tuple[FileChange, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Their paths, sorted."""
        return tuple(file.path for file in self.files)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over the whole difference; an approval names it."""
        return canonical_digest([list(file) for file in self.files])

    def to_document(self) -> dict[str, Any]:
        """The difference as part of a sidecar; ``files`` has the first :data:`LISTED`."""
        return {
            "digest": self.digest,
            "count": len(self.files),
            "files": [
                {
                    "path": visible(file.path),
                    "change": file.kind,
                    "before": file.before,
                    "after": file.after,
                }
                for file in self.files[:LISTED]
            ],
        }

    def sentence(self, most: int = 5) -> str:
        """``tests/a.py (modified), tests/b.py (added) and 3 more``."""
        shown = [f"{visible(file.path)} ({file.kind})" for file in self.files[:most]]
        return joined(shown, len(self.files))


def difference(
    snapshot: Snapshot,
    baseline: Baseline,
    patterns: Sequence[str],
    own_files: Callable[[PathChange], bool],
) -> Difference | None:
    """The protected files that changed since activation; None if none did.

    Also None if git could not answer: the boundary is inconclusive then. A path is compared in all
    three places: on disk it must be as it was on disk; in HEAD and in the index it must be as any
    of the three was, or as in the base. Caches, and by-products of Flow's own commands, are left
    out.
    """
    if not patterns or snapshot.problems:
        return None
    known = Globs([p for p in patterns if p in baseline.protected_patterns], anchored=False)
    late = Globs([p for p in patterns if p not in baseline.protected_patterns], anchored=False)
    return compared(snapshot, baseline, known, late, own_files)


def compared(
    snapshot: Snapshot,
    baseline: Baseline,
    known: Matcher,
    late: Matcher,
    own_files: Callable[[PathChange], bool],
) -> Difference | None:
    """The files that match ``known`` or ``late`` and changed since activation; None if none did.

    Files of ``known`` are compared with ``baseline.protected``, those of ``late`` with the base.
    """
    by_path: dict[str, FileChange] = {}
    seen: set[str] = set()
    for change in counted(chain(snapshot.changes, snapshot.emptied), seen, own_files):
        recorded = _naming_pattern(known, change) is not None
        if not recorded and _naming_pattern(late, change) is None:
            continue
        seen.add(change.path)
        states = _recorded_states(change, baseline) if recorded else _dirty_states(change, baseline)
        after = _new_digest(change, states)
        if after is not None:
            by_path[change.path] = FileChange(change.path, states.on_disk, after)
    for path, (before, after) in ignored_differences(snapshot, baseline).items():
        if path not in seen and known.first(path_bytes(path)) is not None:
            by_path[path] = FileChange(path, before, after)
    for path, (before, base) in _put_back(baseline, known, late).items():
        if path not in seen and path not in snapshot.ignored_protected and before != base:
            by_path.setdefault(path, FileChange(path, before, base))
    files = tuple(by_path[path] for path in sorted(by_path))
    return Difference(files) if files else None


def counted(
    changes: Iterable[PathChange],
    seen: set[str] | None = None,
    own_files: Callable[[PathChange], bool] = lambda _: False,
) -> Iterable[PathChange]:
    """``changes`` without untracked caches and Flow's own files, whose paths go to ``seen``."""
    for change in changes:
        cached = change.untracked and change.base is None and cache_root(change.path) is not None
        if not cached and own_files(change):
            if seen is not None:
                seen.add(change.path)
        elif not cached:
            yield change


def matching(paths: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """The ``paths`` that a protected pattern names, without well-known caches."""
    protected = Globs(patterns, anchored=False)
    return tuple(
        p for p in paths if cache_root(p) is None and protected.first(path_bytes(p)) is not None
    )


def deviations(
    changes: Iterable[PathChange], ignored: Mapping[str, str], protected: Matcher
) -> dict[str, str]:
    """path → its states for ``Baseline.protected``, for files that differ from the base now."""
    states_by_path = {
        path: states_of_ignored(digest) for path, digest in ignored.items() if not cache_root(path)
    }
    for change in changes:
        if _naming_pattern(protected, change) is not None:
            entries = (change.worktree, change.index, change.head, change.base)
            states_by_path[change.path] = " ".join(map(entry_digest, entries))
    return states_by_path


def with_patterns(
    baseline: Baseline, patterns: Sequence[str], before: Sequence[str], now: Mapping[str, str]
) -> Baseline:
    """The baseline with ``patterns`` instead of ``before``; ``now`` are the present deviations.

    Files that were protected before keep their record, others are recorded as they are now.
    """
    common = Globs([pattern for pattern in patterns if pattern in before], anchored=False)

    def was_protected(path: str) -> bool:
        return common.first(path_bytes(path)) is not None

    protected = {
        **{path: states for path, states in baseline.protected.items() if was_protected(path)},
        **{path: states for path, states in now.items() if not was_protected(path)},
    }
    recorded = [p for p in patterns if p in baseline.protected_patterns or p not in before]
    return baseline._replace(protected=protected, protected_patterns=tuple(recorded))


def states_of_ignored(digest: str) -> str:
    """The states of an ignored file for ``Baseline.protected``."""
    return f"{digest} {ABSENT} {ABSENT} {ABSENT}"


def _naming_pattern(patterns: Matcher, change: PathChange) -> str | None:
    """The pattern that names the change; empty if a pattern names a path inside a submodule."""
    if not patterns:
        return None
    path = path_bytes(change.path)
    pattern = patterns.first(path, folder=change.folder)
    return "" if pattern is None and change.folder and patterns.enters(path) else pattern


def _recorded_states(change: PathChange, baseline: Baseline) -> FileStates:
    """The recorded states; without a record the file was as in the base."""
    as_in_base = FileStates(*[entry_digest(change.base)] * 4)
    return _parsed_states(baseline.protected.get(change.path, "")) or as_in_base


def _dirty_states(change: PathChange, baseline: Baseline) -> FileStates:
    """The states for a later pattern: of a dirty file as recorded, of any other as in the base.

    A commit between the base and the activation counts as a change, because it is not recorded.
    """
    base = entry_digest(change.base)
    worktree, _, index = baseline.dirty.get(change.path, base).partition(" ")
    return FileStates(worktree, index or base, base, base)


def _parsed_states(text: str) -> FileStates | None:
    states = text.split(" ")
    return FileStates(*states) if len(states) == len(FileStates._fields) else None


def _new_digest(change: PathChange, states: FileStates) -> str | None:
    """The new digest of a path that changed; None if it did not."""
    now = entry_digest(change.worktree)
    if now != states.on_disk:
        return now
    recorded = {*states, entry_digest(change.base)}
    staged = (entry_digest(entry) for entry in (change.index, change.head))
    return next((digest for digest in staged if digest not in recorded), None)


_EMPTIED = f"{ABSENT} {GITLINK}:"


def _put_back(baseline: Baseline, known: Matcher, late: Matcher) -> dict[str, tuple[str, str]]:
    """path → digests before and in the base; a path in no change set any more is as in the base."""
    put_back = {}
    for path, text in baseline.protected.items():
        states = _parsed_states(text)
        if states is not None and text.startswith(_EMPTIED):
            continue  # a submodule that is checked out now is as in the base
        if states is not None and known and known.first(path_bytes(path)) is not None:
            put_back[path] = (states.on_disk, states.in_base)
    for path, text in baseline.dirty.items() if late else ():
        if path not in put_back and late.first(path_bytes(path)) is not None:
            put_back[path] = (text.partition(" ")[0], "as in the base")
    return put_back
