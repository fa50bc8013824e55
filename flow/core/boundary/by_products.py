"""By-products of commands, and digests of what a working tree holds (SPEC 4 and 10)."""

from __future__ import annotations

from flow.core.boundary.changes import ABSENT, PathChange, entry_digest
from flow.core.boundary.guards import guards_changed
from flow.core.boundary.leftovers import (
    CACHE_FILES,
    CACHE_FOLDERS,
    CACHE_NAMES,
    is_harmless,
    is_report,
)
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from flow.core.boundary.changes import Baseline, Snapshot

CLOCK_TICK_NS = 20_000_000
"""How far the kernel's stamps may lie behind its clock."""
INSTEAD = "instead"
"""Begins the digest of what a symlink leads to from where the base has a file."""
REPORT = "report "
"""Begins the digest of a file that the contract names as its command's report."""
SUBMODULE = "submodule"
"""What stands for a submodule that a command checked out, in the place of a digest."""
_IGNORED = f" {ABSENT} {ABSENT} {ABSENT}"
"""How what is recorded of a protected file ends that is in neither index, HEAD nor base."""


def cache_root(path: str) -> str | None:
    """The cache folder or file that ``path`` belongs to by its name; None for any other path."""
    root = _cache_root(path)
    return root if root is None or is_harmless(path, "100644") else None


def _cache_root(path: str) -> str | None:
    names = path.split("/")
    for number, name in enumerate(names):
        if name in CACHE_FOLDERS and number < len(names) - 1:
            return "/".join(names[: number + 1])
    last = names[-1]
    if last in CACHE_NAMES or last.endswith(CACHE_FILES) or last.startswith(".coverage."):
        return path
    return None


def _could_be(change: PathChange, recorded: str = "") -> bool:
    """Whether a change is an untracked file that commands may leave behind.

    ``recorded`` is what is on record of its path.
    """
    entry = change.worktree
    if not change.untracked or change.base is not None:
        return False
    told = is_report if recorded.startswith(REPORT) else is_harmless
    return entry is None or told(change.path, entry.mode)


def _harmless(path: str, digest: str) -> bool:
    """As :func:`is_harmless`, of a digest ``mode:hash``."""
    return is_harmless(path, digest.partition(":")[0])


def cache_roots(by_products: Iterable[str]) -> frozenset[str]:
    """The cache folders and files among by-products."""
    return frozenset(root for root in map(cache_root, by_products) if root is not None)


def is_by_product(
    change: PathChange, by_products: Mapping[str, str], known_roots: Collection[str] | None = None
) -> bool:
    """Whether an untracked path is a recorded by-product.

    It must be as recorded, unless a well-known cache name covers it: tools rewrite those as they
    like, also when somebody else runs them. Staged or committed it is a change like any other, and
    so is what could steer a run.
    """
    recorded = by_products.get(change.path, "")
    if change.worktree is None or not _could_be(change, recorded):
        return False
    if recorded.removeprefix(REPORT) == entry_digest(change.worktree):
        return True
    root = cache_root(change.path)
    roots = cache_roots(by_products) if known_roots is None else known_roots
    return root is not None and root in roots


def find_by_products(
    before: Snapshot,
    after: Snapshot,
    baseline: Baseline,
    denied: Callable[[str], bool] = lambda _: False,
    reports: Callable[[str], bool] = lambda _: False,
) -> dict[str, str]:
    """path → digest of what commands left behind between two snapshots.

    Nothing that could steer a later run is among them, and of what is ``denied`` only caches are.
    ``reports`` tells the paths that the contract names as reports of its commands.
    Untracked paths that were not there before, and recorded by-products whose content changed,
    also where somebody had written to them: what is there now, the commands made. A file that was
    there before and is no by-product is none now either: changing it makes evidence stale.
    """
    earlier = {change.path: change for change in before.changes}
    roots = cache_roots(baseline.by_products)
    by_products = {}
    for change in after.changes:
        if change.worktree is None:
            continue
        mark = "" if _could_be(change) or not reports(change.path) else REPORT
        if not _could_be(change, mark) or (cache_root(change.path) is None and denied(change.path)):
            continue
        digest = mark + entry_digest(change.worktree)
        old = earlier.get(change.path)
        if (old is None and change.path not in baseline.denied_ignored) or (
            old is not None
            and old.worktree != change.worktree
            and _is_left_behind(old, baseline.by_products, roots)
        ):
            by_products[change.path] = digest
    by_products.update(
        (path, SUBMODULE) for path in after.submodules if path not in before.submodules
    )
    return by_products


def ignored_differences(snapshot: Snapshot, baseline: Baseline) -> dict[str, tuple[str, str]]:
    """path → digests before and now of ignored files under the verifier lock that have changed.

    One that was there at activation counts whoever changed it; a new one does not where Flow's own
    commands left it behind, nor do well-known caches.
    """
    differences = {}
    for path, now in snapshot.locked.items():
        recorded = baseline.protected.get(path)
        before = ABSENT if recorded is None else recorded.partition(" ")[0]
        left = recorded is None and baseline.by_products.get(path) == now and _harmless(path, now)
        if now != before and not left and cache_root(path) is None:
            differences[path] = (before, now)
    gone = [
        path
        for path, states in baseline.protected.items()
        if path not in snapshot.locked and states.endswith(_IGNORED)
    ]
    there = {change.path for change in snapshot.changes} if gone else ()
    for path in gone:
        if path not in there:
            differences[path] = (baseline.protected[path].partition(" ")[0], ABSENT)
    return differences


def find_ignored_by_products(
    before: Snapshot, after: Snapshot, baseline: Baseline
) -> dict[str, str]:
    """path → digest of new ignored files that are looked at and that commands left behind.

    Those are files under the verifier lock, and what new symlinks lead to. What was made anew there
    is an output as well, unless it stands where the base has a file.
    """
    known = ignored_differences(before, baseline)
    by_products = {
        path: now
        for path, now in after.locked.items()
        if path not in baseline.protected
        and path not in known
        and before.locked.get(path) != now
        and cache_root(path) is None
        and _harmless(path, now)
    }
    for path, now in after.behind.items():
        old = before.behind.get(path)
        ours = old is None or (old != now and not old.startswith(INSTEAD))
        if ours and path not in baseline.protected and path not in known:
            by_products.setdefault(path, now)
    return by_products


def edited_by_products(snapshot: Snapshot, baseline: Baseline) -> tuple[str, ...]:
    """The recorded by-products that somebody has written to since; caches aside."""
    roots = cache_roots(baseline.by_products)
    return tuple(
        change.path
        for change in snapshot.changes
        if _is_left_behind(change, baseline.by_products, roots)
        and not is_by_product(change, baseline.by_products, roots)
    )


def _is_left_behind(
    change: PathChange, by_products: Mapping[str, str], roots: Collection[str]
) -> bool:
    """Whether a command left this path behind, whatever is in it now."""
    if not _could_be(change, by_products.get(change.path, "")):
        return False
    return change.path in by_products or cache_root(change.path) in roots


def moved_paths(
    before: Snapshot, after: Snapshot, baseline: Baseline, own_files: Callable[[PathChange], bool]
) -> tuple[str, ...]:
    """The paths whose state differs between two snapshots, Flow's files and by-products aside."""
    roots = cache_roots(baseline.by_products)
    states: list[dict[str, PathChange]] = [
        {
            change.path: change
            for change in snapshot.changes
            if not own_files(change) and not _is_left_behind(change, baseline.by_products, roots)
        }
        for snapshot in (before, after)
    ]
    paths = states[0].keys() | states[1].keys()
    moved_paths = {path for path in paths if states[0].get(path) != states[1].get(path)}
    come_and_gone = {*before.submodules} ^ {*after.submodules}
    moved_paths.update(path for path in come_and_gone if path not in baseline.by_products)
    ways = [_link_targets(snapshot, baseline) for snapshot in (before, after)]
    moved_paths.update(
        path for path in {*ways[0], *ways[1]} if ways[0].get(path) != ways[1].get(path)
    )
    if before.locked or after.locked:
        ignored = [ignored_differences(snapshot, baseline) for snapshot in (before, after)]
        moved_paths.update(
            p for p in {*ignored[0], *ignored[1]} if ignored[0].get(p) != ignored[1].get(p)
        )
    return tuple(sorted(moved_paths))


def _link_targets(snapshot: Snapshot, baseline: Baseline) -> dict[str, str]:
    """What new symlinks lead to, by-products aside."""
    return {
        path: digest
        for path, digest in snapshot.behind.items()
        if path not in baseline.by_products and cache_root(path) is None
    }


def rewritten(
    before: Snapshot, after: Snapshot, baseline: Baseline, own_files: Callable[[PathChange], bool]
) -> tuple[str, ...]:
    """The files that were written to between two snapshots, and are as they were.

    What was measured meanwhile was measured on something else, for all that anybody knows.
    """
    changes = [{c.path: c for c in snapshot.changes} for snapshot in (before, after)]
    roots = cache_roots(baseline.by_products)
    new_ones = tuple(path + "/" for path in after.submodules if path not in before.submodules)
    rewritten_paths = []
    for name, at in after.written.items():
        known = before.written.get(name)
        if at == known if known is not None else at < before.began - CLOCK_TICK_NS:
            continue
        path = name.decode("utf-8", "surrogateescape")
        if path.endswith("//"):
            path = path[:-1]
            inside = [c for c in after.changes if c.path.startswith(path)]
            if all(_is_left_behind(change, baseline.by_products, roots) for change in inside):
                continue  # what commands made
        old, new = (states.get(path) for states in changes)
        locked = before.locked.get(path), after.locked.get(path)
        if (
            old != new
            or locked[0] != locked[1]
            or _is_own_file(own_files, new, path)
            or path.startswith(new_ones)
        ):
            continue  # it is new, or another one, or Flow's
        if locked[1] is not None:
            if cache_root(path) is None and path not in baseline.by_products:
                rewritten_paths.append(path)
        elif new is None or not _is_left_behind(new, baseline.by_products, roots):
            rewritten_paths.append(path)
    return tuple(sorted(rewritten_paths))


def _is_own_file(
    own_files: Callable[[PathChange], bool], change: PathChange | None, path: str
) -> bool:
    """As ``own_files`` tells; without a change, of the file's name."""
    return own_files(change or PathChange(path, None, None, None, None))


def subject_tree(
    snapshot: Snapshot,
    baseline: Baseline,
    own_files: Callable[[PathChange], bool],
    *,
    as_recorded: bool = False,
) -> str:
    """The tree part of evidence's subject: the change set less Flow's files and by-products.

    With it goes what is no change and yet content: which submodules are checked out, guards that
    are not as recorded, and the ignored files that new symlinks lead to. A by-product is left out
    whatever is in it, since the commands that are about to run may write it anew; with
    ``as_recorded``, where evidence is held against the files as they are now, only as the commands
    left it.
    """
    roots = cache_roots(baseline.by_products)
    tree = tree_digest(
        baseline.base_commit,
        [
            c
            for c in snapshot.changes
            if not (is_by_product if as_recorded else _is_left_behind)(
                c, baseline.by_products, roots
            )
        ],
        own_files=own_files,
    )
    ignored = ignored_differences(snapshot, baseline) if baseline.protected_patterns else {}
    tree = _tree_with(tree, "locked", {path: now for path, (_, now) in ignored.items()})
    tree = with_submodules(tree, snapshot.submodules, baseline)
    tree = with_guards(tree, snapshot.guards, baseline)
    return _tree_with(tree, "behind", _link_targets(snapshot, baseline))


def with_guards(tree: str, guards: Mapping[str, str], baseline: Baseline) -> str:
    """The digest of a tree where git's hooks and settings are these; as recorded they add nothing.

    They can decide what a check answers, so what was measured with others is about another state.
    """
    changed = guards_changed(baseline.guards, guards)
    return _tree_with(tree, "guards", {name: guards.get(name, ABSENT) for name in changed})


def with_submodules(tree: str, submodules: Iterable[str], baseline: Baseline) -> str:
    """The digest of a tree in which these are checked out; those a command did are left out."""
    there = [path for path in submodules if path not in baseline.by_products]
    return _tree_with(tree, "submodules", dict.fromkeys(there, SUBMODULE))


def _tree_with(tree: str, what: str, digests: Mapping[str, str]) -> str:
    """``tree`` itself where there is nothing to add."""
    if not digests:
        return tree
    total = sha256(f"flow-tree-{what}-1 {tree}".encode())
    for path in sorted(digests):
        total.update(f"\0{path}\0{digests[path]}".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def tree_digest(
    base: str | None,
    changes: Iterable[PathChange],
    *,
    leave_out: Collection[str] = (),
    own_files: Callable[[PathChange], bool] | None = None,
) -> str:
    """SHA-256 over the base and every change: what a set of files is, whoever measures it.

    ``leave_out`` names paths that are left out while they are untracked (by-products); what
    ``own_files`` accepts is left out always, so that a commit of Flow's own files changes nothing.
    """
    total = sha256(f"flow-tree-1 {base}".encode())
    for path, change in sorted(
        ((c.path.encode("utf-8", "surrogateescape"), c) for c in changes), key=lambda pair: pair[0]
    ):
        if change.untracked and change.path in leave_out:
            continue
        if own_files is not None and own_files(change):
            continue
        states = " ".join(map(entry_digest, (change.head, change.index, change.worktree)))
        total.update(b"\0%b\0%b" % (path, states.encode()))
    return total.hexdigest()
