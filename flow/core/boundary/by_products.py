"""By-products of commands, and digests of a working tree's content (SPEC 4 and 10)."""

from __future__ import annotations

from flow.core.boundary.changes import (
    ABSENT,
    PathChange,
    by_path,
    entry_digest,
    in_order,
)
from flow.core.boundary.globs import path_bytes
from flow.core.boundary.guards import differences, guards_changed
from flow.core.boundary.harmless_names import (
    CACHE_FILES,
    CACHE_FOLDERS,
    CACHE_NAMES,
    is_harmless,
    is_report,
)
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from flow.core.boundary.changes import Baseline, Changes, Snapshot

CLOCK_TICK_NS = 20_000_000
"""Nanoseconds by which the kernel's time stamps may be behind its clock."""
INSTEAD = "instead"
"""Prefix of the digest of a symlink's target, if the base has a file in the symlink's place."""
REPORT = "report "
"""Prefix of the digest of a file that the contract names as its command's report."""
SUBMODULE = "submodule"
"""Recorded in place of a digest for a submodule that a command checked out."""
_IGNORED = f" {ABSENT} {ABSENT} {ABSENT}"
"""End of the recorded states of a protected file that is in neither index, HEAD nor base."""


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


def _may_be_by_product(change: PathChange, recorded: str = "") -> bool:
    """Whether a change is an untracked file that commands may leave behind.

    ``recorded`` is the path's recorded digest.
    """
    entry = change.worktree
    if not change.untracked or change.base is not None:
        return False
    allows = is_report if recorded.startswith(REPORT) else is_harmless
    return entry is None or allows(change.path, entry.mode)


def _is_harmless_state(path: str, digest: str) -> bool:
    """Whether a file with this digest (``mode:hash``) cannot steer a later run."""
    return is_harmless(path, digest.partition(":")[0])


def cache_roots(by_products: Iterable[str]) -> frozenset[str]:
    """The cache folders and files among by-products."""
    return frozenset(root for root in map(cache_root, by_products) if root is not None)


def is_by_product(
    change: PathChange, by_products: Mapping[str, str], known_roots: Collection[str] | None = None
) -> bool:
    """Whether an untracked path is a recorded by-product.

    Its content must be as recorded, unless it has a well-known cache name: tools rewrite those in
    any run. Once staged or committed it is a change like any other, and so is a file that could
    steer a run.
    """
    if change.worktree is None:
        return False
    recorded = by_products.get(change.path, "")
    roots = cache_roots(by_products) if known_roots is None else known_roots
    as_recorded = recorded.removeprefix(REPORT) == entry_digest(change.worktree)
    covered = as_recorded or (bool(roots) and cache_root(change.path) in roots)
    return covered and _may_be_by_product(change, recorded)


def find_by_products(
    before: Snapshot,
    after: Snapshot,
    baseline: Baseline,
    denied: Callable[[str], bool] = lambda _: False,
    reports: Callable[[str], bool] = lambda _: False,
) -> dict[str, str]:
    """path → digest of the by-products of commands between two snapshots.

    These are new untracked paths, and recorded by-products whose content changed, even if a hand
    edited them before: the commands made their present content. A file that existed before and is
    no by-product does not become one: changing it makes evidence stale. Files that could steer a
    later run are left out, and so are ``denied`` paths other than caches. ``reports`` accepts the
    paths that the contract names as reports of its commands.
    """
    earlier = by_path(before.changes)
    roots = cache_roots(baseline.by_products)
    by_products = {}
    for change in after.changes:
        old = earlier.get(change.path)
        if change.worktree is None or (old is not None and old.worktree == change.worktree):
            continue
        mark = "" if _may_be_by_product(change) or not reports(change.path) else REPORT
        if not _may_be_by_product(change, mark) or (
            cache_root(change.path) is None and denied(change.path)
        ):
            continue
        new = old is None and change.path not in baseline.denied_ignored
        if new or (old is not None and _is_left_behind(old, baseline.by_products, roots)):
            by_products[change.path] = mark + entry_digest(change.worktree)
    by_products.update(
        (path, SUBMODULE) for path in after.submodules if path not in before.submodules
    )
    return by_products


def ignored_differences(snapshot: Snapshot, baseline: Baseline) -> dict[str, tuple[str, str]]:
    """path → digests before and now of ignored protected files that have changed.

    A file that existed at activation always counts; a new one does not if Flow's own commands made
    it, nor do well-known caches.
    """
    differences = {}
    for path, now in snapshot.ignored_protected.items():
        recorded = baseline.protected.get(path)
        before = ABSENT if recorded is None else recorded.partition(" ")[0]
        made = (
            recorded is None
            and baseline.by_products.get(path) == now
            and _is_harmless_state(path, now)
        )
        if now != before and not made and cache_root(path) is None:
            differences[path] = (before, now)
    gone = [
        path
        for path, states in baseline.protected.items()
        if path not in snapshot.ignored_protected and states.endswith(_IGNORED)
    ]
    changed = {change.path for change in snapshot.changes} if gone else ()
    for path in gone:
        if path not in changed:
            differences[path] = (baseline.protected[path].partition(" ")[0], ABSENT)
    return differences


def find_ignored_by_products(
    before: Snapshot, after: Snapshot, baseline: Baseline
) -> dict[str, str]:
    """path → digest of new ignored files that snapshots hold and that commands left behind.

    These are protected files, and targets of new symlinks. A target that was made anew is an output
    as well, unless the base has a file in its place.
    """
    changed_before = ignored_differences(before, baseline)
    by_products = {
        path: now
        for path, now in after.ignored_protected.items()
        if path not in baseline.protected
        and path not in changed_before
        and before.ignored_protected.get(path) != now
        and cache_root(path) is None
        and _is_harmless_state(path, now)
    }
    for path, now in after.link_targets.items():
        old = before.link_targets.get(path)
        made = old is None or (old != now and not old.startswith(INSTEAD))
        if made and path not in baseline.protected and path not in changed_before:
            by_products.setdefault(path, now)
    return by_products


def edited_by_products(snapshot: Snapshot, baseline: Baseline) -> tuple[str, ...]:
    """The recorded by-products that were edited since; caches are left out."""
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
    """Whether a command left this path behind; its present content does not matter."""
    covered = change.path in by_products or (bool(roots) and cache_root(change.path) in roots)
    return covered and _may_be_by_product(change, by_products.get(change.path, ""))


def moved_paths(
    before: Snapshot, after: Snapshot, baseline: Baseline, own_files: Callable[[PathChange], bool]
) -> tuple[str, ...]:
    """Paths whose state differs between two snapshots, without Flow's files and by-products."""
    roots = cache_roots(baseline.by_products)
    by_products = baseline.by_products

    def counts(change: PathChange | None) -> bool:
        if change is None or own_files(change):
            return False
        return not _is_left_behind(change, by_products, roots)

    moved: set[str] = set()
    for first, second in ((before, after), (after, before)):
        other = by_path(second.changes)
        for change in first.changes:
            there = other.get(change.path)
            if there != change and (counts(change) or counts(there)):
                moved.add(change.path)
    come_and_gone = {*before.submodules} ^ {*after.submodules}
    moved.update(path for path in come_and_gone if path not in baseline.by_products)
    moved.update(differences(_link_targets(before, baseline), _link_targets(after, baseline)))
    if before.ignored_protected or after.ignored_protected:
        ignored = (ignored_differences(snapshot, baseline) for snapshot in (before, after))
        moved.update(differences(*ignored))
    return tuple(sorted(moved))


def _link_targets(snapshot: Snapshot, baseline: Baseline) -> dict[str, str]:
    """The targets of new symlinks, without by-products."""
    return {
        path: digest
        for path, digest in snapshot.link_targets.items()
        if path not in baseline.by_products and cache_root(path) is None
    }


def rewritten(
    before: Snapshot, after: Snapshot, baseline: Baseline, own_files: Callable[[PathChange], bool]
) -> tuple[str, ...]:
    """Files that were written between two snapshots and have the same content in both.

    A measurement between them may have run on other content.
    """
    changes = [by_path(snapshot.changes) for snapshot in (before, after)]
    roots = cache_roots(baseline.by_products)
    new_ones = tuple(path + "/" for path in after.submodules if path not in before.submodules)
    foreign: set[str] | None = None
    rewritten_paths = []
    for name in sorted(_written_between(before, after)):
        path = name.decode("utf-8", "surrogateescape")
        if path.endswith("//"):
            path = path[:-1]
            if foreign is None:
                foreign = _folders_with_foreign(after, baseline, roots)
            if path not in foreign:
                continue  # made by commands
        old, new = (states.get(path) for states in changes)
        ignored = after.ignored_protected.get(path)
        if (
            old != new
            or before.ignored_protected.get(path) != ignored
            or own_files(new or PathChange(path, None, None, None, None))
            or path.startswith(new_ones)
        ):
            continue  # new, changed, or Flow's
        if ignored is not None:
            if cache_root(path) is None and path not in baseline.by_products:
                rewritten_paths.append(path)
        elif new is None or not _is_left_behind(new, baseline.by_products, roots):
            rewritten_paths.append(path)
    return tuple(sorted(rewritten_paths))


def _written_between(before: Snapshot, after: Snapshot) -> Iterator[bytes]:
    for name, at in after.written.items():
        before_at = before.written.get(name)
        if at != before_at if before_at is not None else at >= before.began - CLOCK_TICK_NS:
            yield name


def _folders_with_foreign(
    snapshot: Snapshot, baseline: Baseline, roots: Collection[str]
) -> set[str]:
    """The folders (with a ``/`` at the end) of changes that no command left behind."""
    folders: set[str] = set()
    for change in snapshot.changes:
        if not _is_left_behind(change, baseline.by_products, roots):
            end = change.path.rfind("/") + 1
            while end and change.path[:end] not in folders:
                folders.add(change.path[:end])
                end = change.path.rfind("/", 0, end - 1) + 1
    return folders


def subject_tree(
    snapshot: Snapshot,
    baseline: Baseline,
    own_files: Callable[[PathChange], bool],
    *,
    as_recorded: bool = False,
) -> str:
    """The tree part of evidence's subject: the change set without Flow's files and by-products.

    It includes content that is no change: checked-out submodules, guards that differ from the
    record, and ignored files that new symlinks lead to. A by-product is left out with any content,
    since the next commands may rewrite it. With ``as_recorded``, for comparing evidence with the
    present files, it is left out only if its content is as commands left it.
    """
    roots = cache_roots(baseline.by_products)
    left_out = is_by_product if as_recorded else _is_left_behind
    by_products = baseline.by_products
    tree = tree_digest(
        baseline.base_commit,
        snapshot.changes,
        own_files=lambda c: left_out(c, by_products, roots) or own_files(c),
    )
    ignored = ignored_differences(snapshot, baseline) if baseline.protected_patterns else {}
    tree = _tree_with(tree, "locked", {path: now for path, (_, now) in ignored.items()})
    tree = with_submodules(tree, snapshot.submodules, baseline)
    tree = with_guards(tree, snapshot.guards, baseline)
    return _tree_with(tree, "behind", _link_targets(snapshot, baseline))


def with_guards(tree: str, guards: Mapping[str, str], baseline: Baseline) -> str:
    """The digest of a tree with git's hooks and settings; as recorded, they add nothing.

    They can change a check's answer, so a measurement with different ones is about another state.
    """
    changed = guards_changed(baseline.guards, guards)
    return _tree_with(tree, "guards", {name: guards.get(name, ABSENT) for name in changed})


def with_submodules(tree: str, submodules: Iterable[str], baseline: Baseline) -> str:
    """The digest of a tree with its checked-out submodules, without those that a command made."""
    counted = [path for path in submodules if path not in baseline.by_products]
    return _tree_with(tree, "submodules", dict.fromkeys(counted, SUBMODULE))


def _tree_with(tree: str, kind: str, digests: Mapping[str, str]) -> str:
    """Add ``digests`` to the digest of a tree; without digests it stays the same."""
    if not digests:
        return tree
    total = sha256(f"flow-tree-{kind}-1 {tree}".encode())
    for path in sorted(digests):
        total.update(f"\0{path}\0{digests[path]}".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def tree_digest(
    base: str | None,
    changes: list[PathChange] | Changes,
    *,
    own_files: Callable[[PathChange], bool] | None = None,
) -> str:
    """SHA-256 over the base and every change: the identity of a set of files.

    Changes that ``own_files`` accepts are left out, so that a commit of Flow's own files changes
    nothing.
    """
    total = sha256(f"flow-tree-1 {base}".encode())
    for change in in_order(changes):
        if own_files is not None and own_files(change):
            continue
        states = " ".join(map(entry_digest, (change.head, change.index, change.worktree)))
        total.update(b"\0%b\0%b" % (path_bytes(change.path), states.encode()))
    return total.hexdigest()
