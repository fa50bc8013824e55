"""The verifier lock: which protected files are not as they were at activation (SPEC 10).

What a goal's proof rests on (tests, runner settings, scripts that the commands call) is told by the
change set: a path that differs from the pinned base nowhere is as the base has it, and of the few
that differed at activation already the baseline holds the digests. Values only.
"""

from __future__ import annotations

from flow.core.boundary.by_products import cache_root, ignored_differences
from flow.core.boundary.changes import ABSENT, GITLINK, entry_digest
from flow.core.boundary.globs import Globs
from flow.core.goal.model import canonical_digest
from flow.core.text.display import visible
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flow.core.boundary.changes import Baseline, PathChange, Snapshot

LISTED = 100
"""Files that a document names; all are counted, and all are in the digest."""


class Matcher(Protocol):
    """Patterns, as :class:`~flow.core.boundary.globs.Globs` has them."""

    def __bool__(self) -> bool:
        """Whether there are any."""

    def first(self, path: bytes, *, folder: bool = False) -> str | None:
        """The first pattern that names ``path``."""

    def enters(self, folder: bytes) -> bool:
        """Whether a pattern can name something below ``folder``."""


class FileChange(NamedTuple):
    """A protected file that is not as it was. The digests are ``mode:hash``, or ``absent``."""

    path: str
    before: str
    after: str

    @property
    def kind(self) -> Literal["added", "removed", "modified"]:
        """What happened to it."""
        if self.before == ABSENT:
            return "added"
        return "removed" if self.after == ABSENT else "modified"


class Difference(NamedTuple):
    """All protected files that are not as they were; there is at least one."""

    files: tuple[FileChange, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Their paths, sorted."""
        return tuple(file.path for file in self.files)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over the whole difference: what an approval approves."""
        return canonical_digest([list(file) for file in self.files])

    def to_document(self) -> dict[str, Any]:
        """As sidecars hold it; ``files`` names the first :data:`LISTED`."""
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
        shown = ", ".join(f"{visible(file.path)} ({file.kind})" for file in self.files[:most])
        more = len(self.files) - most
        return f"{shown} and {more} more" if more > 0 else shown


def difference(
    snapshot: Snapshot,
    baseline: Baseline,
    patterns: Sequence[str],
    own_files: Callable[[PathChange], bool],
) -> Difference | None:
    """The protected files that are not as they were at activation; None where all are.

    Where git could not answer nothing is said: the boundary is inconclusive then. A path counts in
    all three places: on disk it must be what it was on disk, in HEAD and in the index what any of
    the three was, or the base. Caches that tools rewrite, and what Flow's own commands left behind,
    are no part of it.
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
    """The files that ``known`` or ``late`` name and that are not as they were at activation.

    Of what ``known`` names ``baseline.protected`` has a record, of what came later the base.
    """
    by_path: dict[str, FileChange] = {}
    seen: set[str] = set()
    for change in counted((*snapshot.changes, *snapshot.emptied), seen, own_files):
        recorded = _naming_pattern(known, change) is not None
        if not recorded and _naming_pattern(late, change) is None:
            continue
        seen.add(change.path)
        states = _recorded(change, baseline) if recorded else _dirty_state(change, baseline)
        after = _how_moved(change, states)
        if after is not None:
            by_path[change.path] = FileChange(change.path, states[0], after)
    for path, (before, after) in ignored_differences(snapshot, baseline).items():
        if path not in seen and known.first(_path_bytes(path)) is not None:
            by_path[path] = FileChange(path, before, after)
    for path, states in _put_back(baseline, known, late).items():
        if path not in seen and path not in snapshot.locked and states[0] != states[3]:
            by_path.setdefault(path, FileChange(path, states[0], states[3]))
    files = tuple(by_path[path] for path in sorted(by_path))
    return Difference(files) if files else None


def counted(
    changes: Iterable[PathChange],
    seen: set[str] | None = None,
    own_files: Callable[[PathChange], bool] = lambda _: False,
) -> Iterable[PathChange]:
    """``changes`` less untracked caches and Flow's own files; ``seen`` gets the names of these."""
    for change in changes:
        cached = change.untracked and change.base is None and cache_root(change.path) is not None
        if not cached and own_files(change):
            if seen is not None:
                seen.add(change.path)
        elif not cached:
            yield change


def matching(paths: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Those of ``paths`` that a protected pattern names, well-known caches aside."""
    locked = Globs(patterns, anchored=False)
    return tuple(
        p for p in paths if cache_root(p) is None and locked.first(_path_bytes(p)) is not None
    )


def deviations(
    changes: Iterable[PathChange],
    ignored: Mapping[str, str],
    patterns: Sequence[str],
) -> dict[str, str]:
    """path → what ``Baseline.protected`` holds of it, for what is not as the base has it now."""
    return deviating(changes, ignored, Globs(patterns, anchored=False))


def deviating(
    changes: Iterable[PathChange], ignored: Mapping[str, str], locked: Matcher
) -> dict[str, str]:
    """:func:`deviations`, for patterns that are compiled already."""
    states_by_path = {
        path: states_of_ignored(digest) for path, digest in ignored.items() if not cache_root(path)
    }
    for change in changes:
        if _naming_pattern(locked, change) is not None:
            entries = (change.worktree, change.index, change.head, change.base)
            states_by_path[change.path] = " ".join(map(entry_digest, entries))
    return states_by_path


def relocked(
    baseline: Baseline,
    patterns: Sequence[str],
    before: Sequence[str],
    now: Mapping[str, str],
) -> Baseline:
    """The baseline for ``patterns`` in the place of ``before``; ``now`` are the present deviations.

    What was protected before keeps its record, what was not is recorded as it is now.
    """
    kept = Globs([pattern for pattern in patterns if pattern in before], anchored=False)
    old = {path for path in baseline.protected if kept.first(_path_bytes(path)) is not None}
    new = {path for path in now if kept.first(_path_bytes(path)) is None}
    protected = {
        **{path: baseline.protected[path] for path in old},
        **{path: now[path] for path in new},
    }
    recorded = [p for p in patterns if p in baseline.protected_patterns or p not in before]
    return baseline._replace(protected=protected, protected_patterns=tuple(recorded))


def states_of_ignored(digest: str) -> str:
    """What ``Baseline.protected`` holds of an ignored file."""
    return f"{digest} {ABSENT} {ABSENT} {ABSENT}"


def _naming_pattern(patterns: Matcher, change: PathChange) -> str | None:
    """The pattern that names it, or of a submodule something in it."""
    if not patterns:
        return None
    path = _path_bytes(change.path)
    pattern = patterns.first(path, folder=change.folder)
    return "" if pattern is None and change.folder and patterns.enters(path) else pattern


def _recorded(change: PathChange, baseline: Baseline) -> list[str]:
    """The digests on disk, in the index, in HEAD and in the base, as they were at activation."""
    return _parsed_state(baseline.protected.get(change.path)) or [entry_digest(change.base)] * 4


def _dirty_state(change: PathChange, baseline: Baseline) -> list[str]:
    """The same for a pattern that came later: what was dirty then is known, the rest is the base's.

    What was committed between the base and the activation counts as changed: nothing tells it.
    """
    base = entry_digest(change.base)
    worktree, _, index = baseline.dirty.get(change.path, base).partition(" ")
    return [worktree, index or base, base, base]


def _parsed_state(text: str | None) -> list[str] | None:
    states = text.split(" ") if text is not None else []
    return states if len(states) == 4 else None


def _how_moved(change: PathChange, states: Sequence[str]) -> str | None:
    """What a path has become where it is not as it was."""
    now = entry_digest(change.worktree)
    if now != states[0]:
        return now
    known = {*states, entry_digest(change.base)}
    staged = (entry_digest(entry) for entry in (change.index, change.head))
    return next((digest for digest in staged if digest not in known), None)


_EMPTIED = f"{ABSENT} {GITLINK}:"


def _put_back(baseline: Baseline, known: Matcher, late: Matcher) -> dict[str, list[str]]:
    """What was recorded, by path; a path that is in no change set any more is as in the base."""
    put_back = {}
    for path, text in baseline.protected.items():
        states = _parsed_state(text)
        if states is not None and text.startswith(_EMPTIED):
            continue  # a submodule that is checked out now is as the base has it
        if states is not None and known and known.first(_path_bytes(path)) is not None:
            put_back[path] = states
    for path, text in baseline.dirty.items() if late else ():
        if path not in put_back and late.first(_path_bytes(path)) is not None:
            put_back[path] = [text.partition(" ")[0], "", "", "as in the base"]
    return put_back


def _path_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
