"""Approvals and closings by people, with their notes, from the record of a goal."""

from __future__ import annotations

from flow.core import layout
from flow.core.goal import ids
from flow.core.stop import past
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.ports import Records
    from flow.core.goal.model import Goal
    from flow.core.stop.past import PersonsAct

    Event = Mapping[str, Any]


def persons_acts(records: Records, goal: Goal, events: Sequence[Event]) -> dict[str, Any]:
    """``approvals`` and ``closed`` of a goal's documents.

    ``vouched`` is False for an approval that this user's own state folder does not know.
    """
    closed = past.closing(events, goal.status)
    return {
        "approvals": [_approval(records, goal, act) for act in past.approvals(events)],
        "closed": None if closed is None else _fields(closed),
    }


def _approval(records: Records, goal: Goal, act: PersonsAct) -> dict[str, Any]:
    """One approval; an older event leaves the words to the sidecar."""
    evidence_id, run_id = act.evidence_id or "", goal.run_id or ""
    if not ids.EVIDENCE_ID.fits(evidence_id):
        return {**_fields(act), "paths": [], "vouched": False}
    path = layout.evidence_file(run_id, evidence_id)
    counted = records.counted(path)
    sidecar = counted or records.evidence_named(run_id, evidence_id)
    body: Mapping[str, Any] = sidecar.body if sidecar is not None else {}
    files = (body.get("protected_changes") or {}).get("files") or ()
    return {
        **_fields(act._replace(note=act.note or str(body.get("note") or ""))),
        "paths": [str(file["path"]) for file in files],
        "vouched": counted is not None,
    }


def _fields(act: PersonsAct) -> dict[str, Any]:
    return {**act._asdict(), "note": act.note or None}
