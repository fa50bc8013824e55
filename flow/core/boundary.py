"""Which changes lie inside a goal's paths (SPEC section 4). Values and pure decisions only."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from flow.core.globs import Globs, why_not
from flow.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

ABSENT = "absent"
LINK = "120000"
GITLINK = "160000"
FOLDER = "040000"
"""Mode of a nested repository's folder."""

SPECIAL_MODES = ("fifo", "socket", "device")

CACHE_FOLDERS = frozenset(
    (
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".import_linter_cache",
        ".tox",
        ".nox",
        ".nyc_output",
        ".gradle",
        "htmlcov",
    )
)
"""Folders that tools fill as they like. Once Flow's commands made one, its content may change."""

CACHE_FILES = (".pyc", ".pyo", ".tsbuildinfo")
CACHE_NAMES = frozenset((".coverage", "coverage.xml", "coverage.json", "lcov.info", ".eslintcache"))


class Entry(NamedTuple):
    """One path's content at one place.

    ``mode`` is git's (``100644``, ``100755``, ``120000``, ``160000`` a submodule), ``040000`` a
    nested repository's folder, or one of ``SPECIAL_MODES``. ``digest`` is the blob's id over the
    bytes as they are on disk; for a submodule its HEAD.
    """

    mode: str
    digest: str


class Change(NamedTuple):
    """A path that differs between the pinned base and HEAD, the index or the working tree.

    ``path`` is relative to the top level, ``/``-separated, non-UTF-8 bytes as surrogate escapes.
    The four entries are None where the path does not exist there. ``real`` is where the path really
    lies when a symlink leads to it, or, for a symlink itself, where it leads (None: nowhere else;
    ``""``: outside the repository).
    """

    path: str
    base: Entry | None
    head: Entry | None
    index: Entry | None  # type: ignore[assignment]  # the file format's word, not tuple.index
    worktree: Entry | None
    real: str | None = None

    @property
    def untracked(self) -> bool:
        """Neither in HEAD nor in the index."""
        return self.head is None and self.index is None

    @property
    def folder(self) -> bool:
        """Whether the path stands for a folder: a submodule or a nested repository."""
        entries = (self.worktree, self.index, self.head, self.base)
        return any(entry is not None and entry.mode in (GITLINK, FOLDER) for entry in entries)


class Baseline(NamedTuple):
    """What was there when the goal was activated; ``baseline.json`` of the run."""

    base_commit: str | None
    """The pinned commit; the empty tree's id on a branch without commits; None without git."""
    dirty: dict[str, str]
    """path → digest (``mode:hash``, or ``absent``) of files that were dirty at activation.

    Where the index differed from the base, its digest follows after a blank. Files whose bytes on
    disk are not those of their blob for another reason (line ends, filters) are dirty in this sense
    too.
    """
    denied_ignored: dict[str, str]
    """path → digest of ignored files that ``denied_paths`` names."""
    ignore_rules: dict[str, str]
    """file → text of the ignore rules in force at activation."""
    guards: dict[str, str]
    """name → digest of hooks, ``core.hooksPath``, ``info/*`` and replace refs."""
    by_products: dict[str, str]
    """path → digest of untracked files that Flow's own commands made."""
    journal_dir: str = ".decisions"
    denied: tuple[str, ...] = ()
    """The denied patterns that ``denied_ignored`` was recorded for."""


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
    protected_changed: tuple[str, ...] = ()


class OwnFiles:
    """Which paths are journals that Flow writes: those of the pinned folder, by Flow's names.

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
        if "/" in name or not name.endswith(".md"):
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


def entry_digest(entry: Entry | None) -> str:
    """``mode:hash``, or ``absent``."""
    return ABSENT if entry is None else f"{entry.mode}:{entry.digest}"


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
    cache_roots = _cache_roots(baseline.by_products)
    violations: list[Violation] = []
    by_products: list[str] = []
    protected_changed: list[str] = []
    for change in snapshot.changes:
        if own_files(change.path):
            continue
        if is_by_product(change, baseline.by_products, cache_roots):
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


def as_at_activation(change: Change, baseline: Baseline) -> bool:
    """Whether a path is exactly as it was found at activation.

    Its working-tree content and its staged content must each be the recorded ones or the base's,
    and it must not have been committed since: staging or committing somebody's unfinished file is a
    change.
    """
    ignored = baseline.denied_ignored.get(change.path)
    if ignored is not None and change.untracked and entry_digest(change.worktree) == ignored:
        return True
    recorded = baseline.dirty.get(change.path)
    if recorded is None or change.head != change.base:
        return False
    worktree, _, index = recorded.partition(" ")
    return (change.worktree == change.base or entry_digest(change.worktree) == worktree) and (
        change.index == change.base or entry_digest(change.index) == index
    )


def dirty_digest(change: Change) -> str:
    """What ``Baseline.dirty`` holds for a path."""
    digest = entry_digest(change.worktree)
    return digest if change.index == change.base else f"{digest} {entry_digest(change.index)}"


def is_by_product(
    change: Change, by_products: Mapping[str, str], cache_roots: Collection[str] | None = None
) -> bool:
    """Whether an untracked path is a recorded by-product.

    It must be as recorded, unless a well-known cache name covers it: tools rewrite those as they
    like, also when somebody else runs them. Staged or committed it is a change like any other.
    """
    if not change.untracked or change.base is not None or change.worktree is None:
        return False
    if by_products.get(change.path) == entry_digest(change.worktree):
        return True
    root = cache_root(change.path)
    roots = _cache_roots(by_products) if cache_roots is None else cache_roots
    return root is not None and root in roots


def _left(change: Change, by_products: Collection[str], roots: Collection[str]) -> bool:
    """Whether a command left this path behind, whatever is in it now."""
    if not change.untracked or change.base is not None:
        return False
    return change.path in by_products or cache_root(change.path) in roots


def cache_root(path: str) -> str | None:
    """The cache folder or file that ``path`` belongs to by its name; None for any other path."""
    names = path.split("/")
    for number, name in enumerate(names):
        if name in CACHE_FOLDERS and number < len(names) - 1:
            return "/".join(names[: number + 1])
    last = names[-1]
    if last in CACHE_NAMES or last.endswith(CACHE_FILES) or last.startswith(".coverage."):
        return path
    return None


def _cache_roots(by_products: Iterable[str]) -> frozenset[str]:
    return frozenset(root for root in map(cache_root, by_products) if root is not None)


def find_by_products(before: Snapshot, after: Snapshot, baseline: Baseline) -> dict[str, str]:
    """path → digest of what commands left behind between two snapshots.

    Untracked paths that were not there before, and recorded by-products whose content changed. A
    file that was there before and is no by-product is none now either: changing it makes evidence
    stale.
    """
    earlier = {change.path: change for change in before.changes}
    roots = _cache_roots(baseline.by_products)
    found = {}
    for change in after.changes:
        if not change.untracked or change.base is not None or change.worktree is None:
            continue
        digest = entry_digest(change.worktree)
        old = earlier.get(change.path)
        if (old is None and change.path not in baseline.denied_ignored) or (
            old is not None
            and old.worktree != change.worktree
            and is_by_product(old, baseline.by_products, roots)
        ):
            found[change.path] = digest
    return found


def moved(
    before: Snapshot, after: Snapshot, baseline: Baseline, own_files: Callable[[str], bool]
) -> tuple[str, ...]:
    """The paths whose state differs between two snapshots, Flow's files and by-products aside."""
    roots = _cache_roots(baseline.by_products)
    states: list[dict[str, Change]] = [
        {
            change.path: change
            for change in snapshot.changes
            if not own_files(change.path) and not _left(change, baseline.by_products, roots)
        }
        for snapshot in (before, after)
    ]
    paths = states[0].keys() | states[1].keys()
    return tuple(sorted(path for path in paths if states[0].get(path) != states[1].get(path)))


def tree_digest(
    base: str | None,
    changes: Iterable[Change],
    *,
    leave_out: Collection[str] = (),
    own_files: Callable[[str], bool] | None = None,
) -> str:
    """SHA-256 over the base and every change: what a set of files is, whoever measures it.

    ``leave_out`` names paths that are left out while they are untracked (by-products); what
    ``own_files`` accepts is left out always, so that a commit of Flow's own files changes nothing.
    """
    total = hashlib.sha256(f"flow-tree-1 {base}".encode())
    for path, change in sorted(((_bytes(c.path), c) for c in changes), key=lambda pair: pair[0]):
        if change.untracked and change.path in leave_out:
            continue
        if own_files is not None and own_files(change.path):
            continue
        states = " ".join(map(entry_digest, (change.head, change.index, change.worktree)))
        total.update(b"\0%b\0%b" % (path, states.encode()))
    return total.hexdigest()


def subject_tree(snapshot: Snapshot, baseline: Baseline, own_files: Callable[[str], bool]) -> str:
    """The tree part of evidence's subject: the change set less Flow's files and by-products."""
    roots = _cache_roots(baseline.by_products)
    return tree_digest(
        baseline.base_commit,
        [c for c in snapshot.changes if not _left(c, baseline.by_products, roots)],
        own_files=own_files,
    )


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


def baseline_to_document(baseline: Baseline) -> dict[str, Any]:
    """The baseline as JSON holds it. Text that is no UTF-8 becomes ``hex:`` and its bytes."""
    document: dict[str, Any] = {}
    for name, value in baseline._asdict().items():
        if isinstance(value, dict):
            document[name] = {_to_text(k): _to_text(v) for k, v in sorted(value.items())}
        else:
            document[name] = list(value) if isinstance(value, tuple) else value
    return document


def baseline_from_document(document: Mapping[str, Any], *, file: str) -> Baseline:
    """Read what :func:`baseline_to_document` made; :class:`InputError` for anything else."""
    from flow.errors import InputError

    try:
        maps = {
            name: {_from_text(k): _from_text(v) for k, v in document[name].items()}
            for name in ("dirty", "denied_ignored", "ignore_rules", "guards", "by_products")
        }
        base, folder = document["base_commit"], document["journal_dir"]
        denied = tuple(document.get("denied", ()))
        if not (base is None or isinstance(base, str)) or not all(
            isinstance(text, str) for text in (folder, *denied)
        ):
            raise TypeError("base_commit, journal_dir and denied must be strings")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"this is not a baseline: {error}",
            code="invalid_file",
            file=file,
            remedy="restore the file, or activate a new goal from this one",
        ) from error
    return Baseline(base_commit=base, journal_dir=folder, denied=denied, **maps)


def _to_text(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "hex:" + _bytes(text).hex()
    return "hex:" + _bytes(text).hex() if text.startswith("hex:") else text


def _from_text(text: str) -> str:
    if text.startswith("hex:"):
        return bytes.fromhex(text[4:]).decode("utf-8", "surrogateescape")
    return str(text)
