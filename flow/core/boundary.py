"""Which changes lie inside a goal's paths (SPEC section 4). Values and pure decisions only.

What is compared is in ``changes``, by-products and digests are in ``by_products``; other modules
take both from here.
"""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, Literal, NamedTuple
from flow.core.by_products import (
    cache_root,
    cache_roots,
    find_by_products,
    is_by_product,
    moved,
    subject_tree,
    tree_digest,
)
from flow.core.changes import (
    ABSENT,
    FOLDER,
    GITLINK,
    LINK,
    SPECIAL_MODES,
    Baseline,
    Change,
    Entry,
    Snapshot,
    as_at_activation,
    dirty_digest,
    entry_digest,
)
from flow.core.globs import Globs, why_not
from flow.core.layout import TEMP_DIGITS, TEMP_PREFIX
from flow.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = [
    "ABSENT",
    "FOLDER",
    "GITLINK",
    "LINK",
    "Baseline",
    "BoundaryReport",
    "Change",
    "Entry",
    "OwnFiles",
    "PathRules",
    "Snapshot",
    "Violation",
    "as_at_activation",
    "cache_root",
    "check_patterns",
    "dirty_digest",
    "entry_digest",
    "find_by_products",
    "guards_changed",
    "is_by_product",
    "judge",
    "moved",
    "path_rules",
    "subject_tree",
    "tree_digest",
]


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
    protected_changed: tuple[str, ...] = ()


class OwnFiles:
    """Which paths are journals that Flow writes: those of the pinned folder, by Flow's names.

    What a killed process left of one, or another process is about to rename, is no change either.
    ``journal`` is the goal's ``scope.journal``; it counts where it lies in the journal folder.
    """

    def __init__(self, journal_dir: str, journal: str | None = None) -> None:
        self._folder = journal_dir.strip("/") + "/"
        self._journal = journal

    def __call__(self, path: str) -> bool:
        """Whether Flow writes the file at ``path``."""
        if not path.startswith(self._folder):
            return False
        name = path[len(self._folder) :]
        if "/" in name:
            return False
        if name.startswith(TEMP_PREFIX):
            rest = name[len(TEMP_PREFIX) :]
            return len(rest) == TEMP_DIGITS and all(digit in "0123456789abcdef" for digit in rest)
        if not name.endswith(".md"):
            return False
        kind, _, rest = name[:-3].partition("-")
        if kind == "issue":
            return rest.isascii() and rest.isdigit()
        if kind == "session":
            day = rest.split("-")
            return [len(part) for part in day] == [4, 2, 2] and all(
                part.isascii() and part.isdigit() for part in day
            )
        return path == self._journal


def check_patterns(patterns: Iterable[object], key: str, *, file: str | None = None) -> list[Fault]:
    """One :class:`Fault` for each pattern that is refused; ``key`` is where the list stands."""
    faults = []
    for number, pattern in enumerate(patterns):
        why = why_not(pattern)
        if why is not None:
            faults.append(
                Fault(
                    f"the pattern {pattern!r:.80} {why}",
                    file=file,
                    key=f"{key}[{number}]",
                    value=pattern,
                    remedy="use a gitignore glob below the top level, like src/** or *.md",
                )
            )
    return faults


def judge(
    snapshot: Snapshot,
    baseline: Baseline,
    *,
    allowed: Sequence[str],
    denied: Sequence[str],
    protected: Sequence[str] = (),
    own_files: Callable[[str], bool],
) -> BoundaryReport:
    """Hold the change set against a goal's paths.

    Every pattern must have passed :func:`check_patterns`. Where git could not answer nothing is
    said about paths: in the middle of a merge they would be somebody else's.
    """
    rules = path_rules(allowed, denied)
    locked = Globs(protected, anchored=False)
    roots = cache_roots(baseline.by_products)
    violations: list[Violation] = []
    by_products: list[str] = []
    protected_changed: list[str] = []
    for change in snapshot.changes:
        if own_files(change.path):
            continue
        if is_by_product(change, baseline.by_products, roots):
            by_products.append(change.path)
            continue
        if as_at_activation(change, baseline):
            continue
        if locked.first(_bytes(change.path), folder=change.folder) is not None:
            protected_changed.append(change.path)
        why = rules.why(change)
        if why is not None:
            violations.append(Violation(change.path, f"{_where(change)}; {why}"))
    problems = snapshot.problems
    return BoundaryReport(
        status="inconclusive" if problems else "outside" if violations else "inside",
        violations=() if problems else tuple(violations),
        by_products=tuple(by_products),
        warnings=_warnings(by_products, denied, baseline),
        problems=problems,
        guards_changed=() if problems else guards_changed(baseline.guards, snapshot.guards),
        protected_changed=() if problems else tuple(protected_changed),
    )


def path_rules(allowed: Sequence[str], denied: Sequence[str]) -> PathRules:
    """Compile a goal's patterns."""
    return PathRules(Globs(allowed, anchored=True), Globs(denied, anchored=False))


class PathRules(NamedTuple):
    """A goal's allowed and denied paths."""

    allowed: Globs
    denied: Globs

    def why(self, change: Change) -> str | None:
        """Why the change is not allowed; None where it is."""
        reason = self.place(change.path, change.folder, allow=True)
        if reason is not None or change.real is None:
            return reason
        if change.real == "":
            return "a symlink leads out of the repository"
        # What a new symlink points at is not changed by it; what is reached through one lies there.
        itself = change.worktree is not None and change.worktree.mode == LINK
        reason = self.place(change.real, folder=True, allow=not itself)
        return None if reason is None else f"it leads to {change.real}, which is {reason}"

    def place(self, path: str, folder: bool = False, *, allow: bool = True) -> str | None:
        """Why a place is not allowed; ``allow`` False: only whether it is denied."""
        name = _bytes(path)
        pattern = self.denied.first(name, folder=folder)
        if pattern is not None:
            return f"denied by {pattern!r}"
        if allow and self.allowed and self.allowed.first(name, folder=folder) is None:
            return "not in allowed_paths"
        return None


def guards_changed(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The names of hooks and git settings that differ."""
    return tuple(
        sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    )


def _where(change: Change) -> str:
    """Where a change is seen, and what kind it is."""
    places = [
        name
        for name, entry in (("committed", change.head), ("staged", change.index))
        if entry != change.base
    ]
    if change.worktree is None:
        places.append("deleted")
    elif change.worktree != change.base:
        places.append(
            "untracked" if change.untracked and change.base is None else "changed on disk"
        )
    elif places:
        places.append("put back on disk")
    if change.worktree is not None and change.worktree.mode in SPECIAL_MODES:
        places.append(f"a {change.worktree.mode}")
    return ", ".join(places)


def _warnings(
    by_products: Sequence[str], denied: Sequence[str], baseline: Baseline
) -> tuple[str, ...]:
    warnings = []
    if by_products:
        more = f" and {len(by_products) - 5} more" if len(by_products) > 5 else ""
        names = ", ".join(by_products[:5])
        warnings.append(f"left by Flow's own commands and not counted: {names}{more}")
    late = [pattern for pattern in denied if pattern not in baseline.denied]
    if late and baseline.base_commit is not None:
        warnings.append(
            "denied since activation, so ignored files that they name are not compared: "
            + ", ".join(late)
        )
    return tuple(warnings)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
