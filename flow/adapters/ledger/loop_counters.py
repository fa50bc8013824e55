"""``loop.json``: the Stop hook's counters for a run (SPEC 6)."""

from __future__ import annotations

import json

from flow.adapters.chain import session_writes
from flow.adapters.fs import files, lenient_json
from flow.core import layout
from flow.core.stop.policy import Loop, loop_from_document


def read(root: str, run_id: str, goal_id: str) -> Loop:
    """The counters of the goal's run; fresh ones where none can be read."""
    data = files.read_optional(root, layout.loop_file(run_id))
    try:
        found = lenient_json.loads(data) if data else None
    except ValueError:
        found = None
    loop = loop_from_document(found, goal_id) if isinstance(found, dict) else None
    return loop or Loop(goal_id)


def write(root: str, run_id: str, loop: Loop, *, now: str) -> None:
    """Replace the counters. A kill leaves the old ones or the new ones, whole."""
    document = {**loop.to_document(), "updated_at": now}
    data = json.dumps(document, separators=(",", ":"), ensure_ascii=True).encode("ascii")
    files.replace(root, layout.loop_file(run_id), data, sync=False)
    session_writes.wrote(root, layout.loop_file(run_id), data)
