"""The change set: the working tree, the index and HEAD against the pinned base (SPEC 4).

HEAD and the index are compared with the base by git, as trees, with no file of the working tree
involved; the working tree is walked and hashed by Flow itself (``walk.py``). So none of git's ways
to look away from a file matters: index flags, ``fileMode``, ``trustctime``, ``core.worktree``,
filters, ignore rules set later.

A path missing because of a sparse checkout counts as deleted, unless it was already missing at
activation; a path marked intent-to-add counts as staged.

In a warm checkout a snapshot starts one git process for each of these that happened since the last
snapshot: HEAD moved, the index changed, new untracked names. If none did, it starts none.
"""

from __future__ import annotations

import time
from itertools import chain, islice

from flow.adapters.git import repository
from flow.adapters.git.run import refusal, usable
from flow.adapters.worktree.guards import guards
from flow.adapters.worktree.scan import Ignored, ScanRequest, settled_scan
from flow.core.boundary.changes import (
    PLAIN,
    Baseline,
    DecidingFiles,
    PathChange,
    Snapshot,
    entry_digest,
    in_order,
    order_key,
)
from flow.core.boundary.globs import Globs, why_not
from flow.errors import FlowError, GitError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.git.find import Repo
    from flow.adapters.worktree.scan import Scan
    from flow.core.boundary.changes import Changes, TimesByPath


_NOTHING_MORE = DecidingFiles()


def snapshot(
    repo: Repo,
    baseline: Baseline,
    denied: Sequence[str],
    *,
    cache_dir: str | None,
    deciding: DecidingFiles | None = _NOTHING_MORE,
) -> Snapshot:
    """Snapshot of the checkout against the pinned base.

    Files that differ from the base, protected files and those of ``deciding`` are hashed anew,
    independent of their time stamps. With None the stamps are believed: for a snapshot that is only
    shown.

    Raises nothing: questions that git or the file system could not answer are in ``problems``, and
    then the change set is not reliable. ``cache_dir`` is a folder of the user's own, outside the
    checkout (None: nothing is remembered).
    """
    now = Snapshot(None, None, (), {}, (), began=time.time_ns())
    problems: list[str] = []
    try:
        usable(repo)
        head, branch = repository.checked_out(repo)
        now = now._replace(head=head, branch=branch)
        now = now._replace(guards=guards(repo))
        base = _base_commit(baseline)
        request = _request(repo, baseline, denied, cache_dir, deciding)
        scan = settled_scan(repo, base, head, request)
        now = now._replace(
            changes=_changes(scan, base),
            ignored_protected=scan.ignored_protected,
            written=_written(scan),
            submodules=tuple(sorted(name for walk in scan.walks for name in walk.checked_out())),
            emptied=tuple(scan.emptied),
            set_aside=tuple(sorted(name for walk in scan.walks for name in walk.set_aside_names())),
            redated=dict(chain.from_iterable(walk.redated() for walk in scan.walks)),
            ignored=tuple(sorted(name for walk in scan.walks for name in walk.ignored_folders())),
        )
        if any(change.real is not None for change in now.changes):
            from flow.adapters.worktree.links import behind_links

            links = [c for c in now.changes if c.path not in baseline.by_products]
            targets, problems = behind_links(repo.top, scan.walks, links)
            now = now._replace(link_targets=targets)
        problems += scan.problems
        if repository.checked_out(repo) != (head, branch):
            problems.append("HEAD moved while the files were read")
    except FlowError as error:
        problems.append(_base_gone(repo, baseline) or str(error))
    return now._replace(problems=tuple(problems))


def _changes(scan: Scan, base: str) -> Changes:
    """Changes of a scan in their order; packed if there are many."""
    batches = [iter(in_order(batch)) for batch in scan.batches]
    some = list(islice(chain.from_iterable(batches), PLAIN + 1))
    if len(some) <= PLAIN:
        return tuple(in_order(some))
    from heapq import merge

    from flow.core.boundary.packed import PackedChanges

    rest = merge(in_order(some), *batches, key=order_key)
    return PackedChanges.of(rest, len(base) // 2)


def _written(scan: Scan) -> TimesByPath:
    """Times of the last writes of the examined files; packed if there are many."""
    if sum(1 for _ in scan.written()) <= PLAIN:
        return dict(scan.written())
    from flow.core.boundary.packed import PackedTimes

    return PackedTimes(scan.written())


def _request(
    repo: Repo,
    baseline: Baseline,
    denied: Sequence[str],
    cache_dir: str | None,
    deciding: DecidingFiles | None,
) -> ScanRequest:
    patterns = baseline.protected_patterns
    return ScanRequest(
        denied=Globs([pattern for pattern in denied if pattern in baseline.denied], anchored=False),
        denied_ignored=baseline.denied_ignored,
        rules=baseline.ignore_rules,
        cache_dir=cache_dir,
        top=repo.top,
        protected=Globs([entry for entry in patterns if why_not(entry) is None], anchored=False),
        deciding=deciding,
        forbidden=Globs([entry for entry in denied if why_not(entry) is None], anchored=False),
    )


def _base_gone(repo: Repo, baseline: Baseline) -> str | None:
    """The problem of a base that this repository does not hold (any more); None if it has it."""
    base = baseline.base_commit
    try:
        if base is None or not repository.is_id(base) or refusal(repo) is not None:
            return None
        if repository.has_commit(repo, base):
            return None
    except GitError:
        return None
    step = (
        "this is a shallow clone: git fetch --unshallow"
        if repository.is_shallow(repo)
        else "fetch the branch that has it, or start a new goal"
    )
    return f"the pinned base {base[:12]} is not in this repository; {step}"


def _base_commit(baseline: Baseline) -> str:
    """The pinned base; raises :class:`GitError` if there is none."""
    if baseline.base_commit is None:
        raise at_key("scope.base_commit").git(
            "no base is pinned: there was no git repository at activation",
            "start a new goal in the repository",
            code="no_base",
        )
    if not repository.is_id(baseline.base_commit):
        raise at_key("scope.base_commit", baseline.base_commit).git(
            "the pinned base is not a whole object id", "restore the goal file, or start a new goal"
        )
    return baseline.base_commit


class WorktreeState(NamedTuple):
    """The state of a working tree that a baseline pins."""

    changes: list[PathChange]
    ignored: dict[str, str]
    """Ignored files that a denied pattern names."""
    rules: dict[str, str]
    """The ignore rules in force."""
    ignored_protected: dict[str, str]
    """Ignored files that a protected pattern names."""
    emptied: list[PathChange]
    """The submodules that are not checked out."""


def collect(
    repo: Repo,
    base: str,
    denied: Sequence[str],
    *,
    cache_dir: str | None,
    protected: Sequence[str] = (),
) -> WorktreeState:
    """The state to pin now. Raises :class:`GitError` if any part cannot be found out."""
    denied_globs = Globs(denied, anchored=False)
    request = ScanRequest(
        denied=denied_globs,
        denied_ignored={},
        rules=None,
        cache_dir=cache_dir,
        top=repo.top,
        protected=Globs(protected, anchored=False),
        deciding=_NOTHING_MORE,
        forbidden=denied_globs,
    )
    scan = settled_scan(repo, base, repository.head_commit(repo), request)
    if scan.problems:
        raise in_file(repo.top).git(
            "the state of the files cannot be pinned: " + "; ".join(scan.problems),
            "settle that first, then try again",
            code="unsettled",
        )
    changes, ignored = [], {}
    for change in chain.from_iterable(scan.batches):
        if isinstance(change, Ignored):
            ignored[change.path] = entry_digest(change.worktree)
        else:
            changes.append(change)
    return WorktreeState(changes, ignored, scan.rules, scan.ignored_protected, scan.emptied)
