"""``loop.json``: the Stop hook's counters for a run (SPEC 6)."""

from __future__ import annotations

from flow.adapters.fs import files, lenient_json
from flow.core import layout
from flow.core.stop.policy import LoopCounters, loop_from_document
from flow.startup import json
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.chain.session_writes import RunWrites
    from flow.core.goal.model import Goal


def read(root: str, run_id: str, goal_id: str) -> LoopCounters:
    """The counters of the goal's run; fresh ones if its file is missing, damaged or another goal's.

    Raises :class:`RefusedError` for a path that is no regular file.
    """
    data = files.read_optional(root, layout.loop_file(run_id))
    document = lenient_json.mapping(data)
    counters = loop_from_document(document, goal_id) if document is not None else None
    return counters or LoopCounters(goal_id)


def newest_evidence(root: str, goal: Goal | None) -> Mapping[str, str]:
    """Criterion id → path of its newest sidecar, from the counters.

    Only a first try: whether it counts is decided when it is reused.
    """
    return read(root, goal.run_id, goal.id).evidence if goal and goal.run_id else {}


def write(run: RunWrites, counters: LoopCounters, *, now: str) -> None:
    """Replace the counters. A kill leaves the old ones or the new ones, whole."""
    document = {**counters.to_document(), "updated_at": now}
    data = json.dumps(document, separators=(",", ":"), ensure_ascii=True).encode("ascii")
    run.replace(layout.loop_file(run.run_id), data, sync=False)
