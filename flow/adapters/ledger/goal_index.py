"""Summaries of a checkout's goals; only a file that may have changed is read.

The index is one JSON file for each checkout in the user's own state folder: each goal file's
summary, and its stamps at that time. It saves reading and is no source: a row counts while its file
has the same stamps, and is written only if they show every later change
(:mod:`flow.adapters.fs.stamps`). An index that is not exactly as expected is not used; it is
replaced whole, so the last of many writers wins. If it cannot be kept, every goal is read.
"""

from __future__ import annotations

import os

from flow.adapters.contracts import cache
from flow.adapters.fs import files, stamps
from flow.adapters.fs.state_folder import drop_oldest, read_small, replace_own
from flow.core import layout
from flow.core.goal import ids
from flow.core.goal.lifecycle import STATUSES
from flow.core.goal.model import GoalSummary
from flow.errors import FlowError
from flow.startup import json
from flow.startup.sha import checksum, sha256
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

LEAST = 32
"""Fewest files to remember anew that are worth a flush of the file system."""
LIMIT = 256 << 20
"""Most bytes of an index that is read; a row has about 170."""
MOST = 1024
"""Most indexes that are kept, one for each checkout."""
_REVISION = 1
"""To be raised when the meaning of a row changes."""
_STAMPS = 6
_FIELDS = [str, str, str, str, bool]
"""Types of a row's values after the stamps: a summary without its id."""

Row = list[Any]
"""A file's stamps and its summary; only the stamps if it could not be read."""


def summaries(
    root: str, folder: str | None, read: Callable[[str], GoalSummary], *, limit: int
) -> tuple[dict[str, GoalSummary], dict[str, FlowError]]:
    """Every goal of the checkout by id, and the errors of those that cannot be read.

    ``folder`` is the user's own, for indexes (None: without one). ``read`` reads one goal; it
    raises :class:`FlowError`, as this does if there are more than ``limit`` or none can be listed.
    """
    path, header = _place(root, folder)
    known = _load(path, header) if path else {}
    rows: dict[str, Row] = {}
    by_id: dict[str, GoalSummary] = {}
    unknown: dict[str, os.stat_result | None] = {}
    suffix = len(layout.GOAL_SUFFIX)
    with files.listed(root, layout.GOALS, suffix=layout.GOAL_SUFFIX, limit=limit) as entries:
        for entry in entries:
            goal_id, status = entry.name[:-suffix], _status(entry)
            row = known.get(goal_id)
            if row is not None and status is not None and row[:_STAMPS] == _stamps(status):
                rows[goal_id] = row
                if len(row) > _STAMPS:
                    by_id[goal_id] = GoalSummary(goal_id, *row[_STAMPS:])
                    continue
            if ids.GOAL_ID.fits(goal_id):
                unknown[goal_id] = status
    new = {goal_id: status for goal_id, status in unknown.items() if goal_id not in rows}
    flushed = _flushed(root, new.values()) if path else None
    broken: dict[str, FlowError] = {}
    for goal_id in unknown:
        summary: Row = []
        try:
            by_id[goal_id] = read(goal_id)
            summary = list(by_id[goal_id][1:])
        except FlowError as error:
            broken[goal_id] = error
        before = new.get(goal_id)
        if flushed is not None and before is not None and stamps.shows_changes(before, flushed):
            # It was read after its stamps and the flush: a later change has other stamps.
            rows[goal_id] = [*_stamps(before), *summary]
    if path and any(goal_id in rows for goal_id in new):
        _store(path, header, rows)
    return {goal_id: by_id[goal_id] for goal_id in sorted(by_id)}, broken


def _place(root: str, folder: str | None) -> tuple[str, bytes]:
    """The path of the checkout's index, empty if there can be none, and its first bytes."""
    if folder is None or not cache.private(folder):
        return "", b""
    name = f"{sha256(os.fsencode(root)).hexdigest()}.json"
    header = f"flow-goals-{_REVISION} {cache.reader_digest('goal')} {name}"
    return os.path.join(folder, name), header.encode("ascii")


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Status of an entry now; None if the system does not give it."""
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _stamps(status: os.stat_result) -> Row:
    return [*stamps.stamp_of(status)]


def _flushed(root: str, statuses: Collection[os.stat_result | None]) -> stamps.Flush | None:
    """A flush of the file system; None if too few files could be remembered, or if it failed."""
    if len(statuses) < LEAST:
        return None
    settled = sum(status is not None and stamps.is_settled(status) for status in statuses)
    return stamps.flush(root) if settled >= LEAST else None


def _load(path: str, header: bytes) -> dict[str, Row]:
    """The rows by id; none if the index is not exactly as expected."""
    first_line, _, body = (read_small(path, LIMIT) or b"").partition(b"\n")
    if first_line != header + b" " + _checksum(body):
        return {}
    try:
        rows = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    whole = isinstance(rows, dict) and all(map(_is_row, rows.values()))
    return rows if whole else {}


def _is_row(row: object) -> bool:
    """Whether ``row`` has the form that :func:`_store` writes."""
    if type(row) is not list:
        return False
    if len(row) == _STAMPS:
        return True
    return [type(value) for value in row[_STAMPS:]] == _FIELDS and row[_STAMPS] in STATUSES


def _store(path: str, header: bytes, rows: dict[str, Row]) -> None:
    """Replace the index; a failure is of no consequence."""
    try:
        body = json.dumps(rows, separators=(",", ":"), ensure_ascii=True).encode("ascii")
        folder = os.path.dirname(path)
        if not os.path.lexists(path):
            drop_oldest(folder, MOST - 1)
        replace_own(path, header + b" " + _checksum(body) + b"\n" + body)
    except (OSError, ValueError):
        return  # the next look reads the goals instead


def _checksum(body: bytes) -> bytes:
    """Checksum against damage: nothing is synced, so a power cut can leave a part of it."""
    return b"%d %016x" % (len(body), checksum(body))
