"""Replacing the live proposal of a goal that stays as it is (SPEC 3, step 7, the hook)."""

from __future__ import annotations

import json

from flow.adapters.fs import files, locks
from flow.adapters.ledger.goal_edits import compare
from flow.adapters.ledger.reader import read_goal
from flow.core import layout
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.chain.run_record import RunRecord
    from flow.app.ports import Seen


def replace(
    record: RunRecord, goal_id: str, run_id: str, seen: Seen, proposal: Mapping[str, Any]
) -> None:
    """Make ``proposal`` the live one, under the goal's lock.

    Raises :class:`StateError` where the goal is not as the caller saw it.
    """
    root = record.root
    with locks.exclusive(root, layout.goal_lock(ids.goal_id(goal_id)), quick=True):
        compare(read_goal(root, goal_id)[1], seen)
        text = json.dumps({"goal_id": goal_id, "run_id": run_id, **proposal}, indent=2)
        rel, data = layout.proposal_file(ids.run_id(run_id)), f"{text}\n".encode("ascii")
        files.replace(root, rel, data)
        record.run(run_id).wrote(rel, data)
