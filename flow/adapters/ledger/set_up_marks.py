"""Mark changes that ``flow init`` made, and settings files that only tighten (SPEC 12, 17.2)."""

from __future__ import annotations

from flow.adapters.fs import files
from flow.adapters.ledger.own_marks import states_beside_base
from flow.adapters.user_state.written_files import (
    ALGORITHMS,
    FLOW_BEGAN,
    blob_names,
    with_plain_ends,
)
from flow.core.boundary.changes import REGULAR, with_replaced
from flow.core.layout import SET_UP_FILES, SETTINGS_LOCAL, SETTINGS_PROJECT
from flow.errors import FlowError, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from flow.adapters.git.find import Repo
    from flow.adapters.user_state.written_files import OwnRecord
    from flow.core.boundary.changes import Baseline, Changes, ContentState, PathChange

PRE_PUSH, BEFORE_FLOW = "hooks/pre-push", "hooks/pre-push.before-flow"
"""Names of guards: the hook that ``flow init`` installs, and the one that was there before it."""
SET_UP_GUARDS = (PRE_PUSH, "info/exclude")
_LIMIT = 1 << 20
_SETTINGS = (SETTINGS_LOCAL, SETTINGS_PROJECT)


def marked_set_up(
    repo: Repo,
    changes: Changes,
    baseline: Baseline,
    record: OwnRecord,
    own_values: Callable[[], Mapping[str, Any] | None],
) -> Changes:
    """``changes`` with ``set_up`` if Flow's set-up wrote all of it, or it only tightens.

    ``own_values`` are the user's own values of the settings; None if they cannot be read.
    """
    set_up: dict[int, PathChange] = {}
    for place, change in enumerate(changes):
        if change.path not in SET_UP_FILES:
            continue
        wrote = _written_by_set_up(repo, change, baseline, record)
        if wrote or (change.path in _SETTINGS and _tightens(repo, change, own_values)):
            set_up[place] = change._replace(set_up=True)
    return with_replaced(changes, set_up)


def guards_without_set_up(
    now: Mapping[str, str], baseline: Mapping[str, str], record: OwnRecord
) -> dict[str, str]:
    """The guards of ``now``; one of ``baseline`` that ``flow init`` changed counts as unchanged."""
    guards = dict(now)
    for name in SET_UP_GUARDS:
        before, after = baseline.get(name), now.get(name)
        if before == after or after is None or not _leads_to(record, name, before, after):
            continue
        guards.pop(name)
        if before is not None:
            guards[name] = before
        kept = guards.get(BEFORE_FLOW)
        if name == PRE_PUSH and kept is not None and kept == before and BEFORE_FLOW not in baseline:
            del guards[BEFORE_FLOW]
    return guards


def _leads_to(record: OwnRecord, name: str, before: str | None, after: str) -> bool:
    """Whether Flow's own writes turned the guard ``before`` into ``after``, one after the other."""
    rows = record.rows(f"guard {name}")
    reached = {before or FLOW_BEGAN}
    for _ in rows:
        reached |= {row.front for row in rows if row.origin in reached}
    return after in reached


def _written_by_set_up(
    repo: Repo, change: PathChange, baseline: Baseline, record: OwnRecord
) -> bool:
    """Whether each state is the base's, the one at activation, or one that Flow made from these."""
    rows = record.rows(change.path)
    if not rows:
        return False
    at_start = baseline.dirty.get(change.path, "").partition(" ")[0].rpartition(":")[2]
    absent = change.base is None and not at_start
    reached = {change.base.digest if change.base is not None else "", at_start} - {""}
    both = len(ALGORITHMS)
    for _ in rows:
        for row in rows:
            before = row.blobs[both:]
            if reached.intersection(before) or (absent and not before):
                reached.update(row.blobs[:both])
    return all(
        entry is not None
        and entry.mode == REGULAR
        and (
            entry.digest in reached
            or (entry == change.worktree and not reached.isdisjoint(_plain_names(repo, change)))
        )
        for entry in states_beside_base(change)
    )


def _plain_names(repo: Repo, change: PathChange) -> tuple[str, ...]:
    """git's ids of a file on disk with the line ends that Flow writes."""
    try:
        data = files.read_optional(repo.top, change.path, limit=_LIMIT)
    except FlowError:
        return ()
    return blob_names(with_plain_ends(data or b""))


def _tightens(
    repo: Repo, change: PathChange, own_values: Callable[[], Mapping[str, Any] | None]
) -> bool:
    from flow.core.settings import only_tightens

    own = own_values()
    if own is None or change.worktree is None:
        return False
    try:
        before = None if change.base is None else _document(repo, change, change.base)
        return all(
            entry is not None
            and entry.mode == REGULAR
            and only_tightens(before, _document(repo, change, entry), own)
            for entry in states_beside_base(change)
        )
    except FlowError:
        return False


def _document(repo: Repo, change: PathChange, entry: ContentState) -> Any:
    from flow.adapters.contracts import formats

    if entry == change.worktree:
        data = files.read_optional(repo.top, change.path, limit=_LIMIT)
        if data is None or entry.digest not in blob_names(data):
            raise in_file(change.path).corrupt("changed while it was read", "look again")
    else:
        from flow.adapters.git.blobs import blob_of

        data = blob_of(repo, entry)
    return formats.parse_json(data or b"", file=change.path)
