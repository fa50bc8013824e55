"""A goal's record as people and programs are shown it: events, contract, evidence."""

from __future__ import annotations

from functools import partial

from flow.app import overview
from flow.app.evaluation import proofs
from flow.app.evaluation.current_files import CurrentFiles
from flow.app.goal_views import ViewPort, closed_by_hand, newest, status, told_by_hand
from flow.core import layout
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.values import ClosingContext
    from flow.core.evidence.freshness import Freshness
    from flow.core.evidence.model import Evidence


class RecordPort(ViewPort, Protocol):
    """What showing a goal's record needs of the checkout."""

    def output_end(self, path: str) -> bytes:
        """The end of an output."""

    def previous_verdict(self, run_id: str) -> Mapping[str, Any] | None:
        """The newest verdict of a run; None where there is none that Flow would write."""

    def events(
        self, run_id: str, goal_id: str
    ) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        """The events of a goal in a run, and what could not be read."""


def history(port: RecordPort, goal_id: str) -> dict[str, Any]:
    """Every event of the goal's run."""
    return overview.history(port.records, port.events, goal_id)


def inspect(port: RecordPort, goal_id: str) -> dict[str, Any]:
    """The contract as read and the evidence of its run."""
    document = overview.inspect(port.records, goal_id, partial(freshness, port))
    loaded = port.load(goal_id)
    by_hand = closed_by_hand(port, loaded)
    told = [told_by_hand(loaded.goal)] if by_hand else []
    warnings = [*document["warnings"], *told]
    proof = proofs.shown_now(port.closing_context(), loaded.goal)
    document["document"] = overview.with_newest_results(loaded.goal, newest(port, loaded.goal))
    return {**document, "proof": proof, "closed_by_hand": by_hand, "warnings": warnings}


def report(port: RecordPort, goal_id: str) -> dict[str, Any]:
    """A goal's whole record, as ``flow report`` shows it."""
    stand, events = status(port, goal_id), history(port, goal_id)
    run_id = stand["run_id"]
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    if run_id is not None:
        evidence, warnings = port.records.evidence(run_id)
    rows = []
    stands = freshness(port, evidence)
    for found in evidence:
        end = b""
        if found.output_ref is not None:
            rel = f"{layout.evidence_dir(run_id)}/{found.output_ref}"
            end = port.output_end(rel)
        fresh = overview.fresh_fields(stands.get(found.id))
        shown = {"output_end": end.decode("utf-8", "replace"), **fresh}
        rows.append({**overview.evidence_row(found), **shown})
    return {
        "status": stand,
        "verdict": port.previous_verdict(run_id) if run_id is not None else None,
        "evidence": [row for row in rows if row["goal"] == goal_id],
        "events": events["events"],
        "warnings": [
            *stand["warnings"],
            *stand.get("red_first", ()),
            *events["warnings"],
            *warnings,
        ],
    }


def freshness(port: RecordPort, found: Sequence[Evidence]) -> dict[str, Freshness]:
    """By its id, how each sidecar of a run stands to the files now.

    One of a goal that cannot be read is left out.
    """
    context, known = port.closing_context(), dict[str, CurrentFiles | None]()
    discounted: dict[str, frozenset[str]] = {}
    stands = {}
    for evidence in found:
        if evidence.goal not in known:
            known[evidence.goal] = _present(port, context, evidence.goal)
        if evidence.run_id not in discounted:
            discounted[evidence.run_id] = port.records.discounted(evidence.run_id)
        present = known[evidence.goal]
        if present is not None:
            path = layout.evidence_file(evidence.run_id, evidence.id)
            moved = path in discounted[evidence.run_id]
            doubt = port.records.doubt(path)
            stands[evidence.id] = present.freshness_of(evidence, moved=moved, doubt=doubt)
    return stands


def _present(port: RecordPort, context: ClosingContext, goal_id: str) -> CurrentFiles | None:
    try:
        return CurrentFiles(context, port.load(goal_id))
    except FlowError:
        return None
