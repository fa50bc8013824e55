"""A goal's record as people and programs are shown it: events, contract, evidence."""

from __future__ import annotations

from functools import partial

from flow.app import overview
from flow.app.evaluation import proofs
from flow.app.evaluation.current_files import CurrentFiles
from flow.app.goal_views import (
    ViewPort,
    closed_by_hand,
    newest,
    open_again,
    status,
    told_by_hand,
    told_events,
)
from flow.app.persons_acts import persons_acts
from flow.core import layout
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.ports import Records
    from flow.core.evidence.freshness import Freshness
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Goal

    Events = Callable[[str, str], tuple[Sequence[Mapping[str, Any]], Sequence[str]]]


class RecordPort(ViewPort, Protocol):
    """Interface of showing a goal's record to the checkout."""

    def output_end(self, path: str) -> bytes:
        """The end of an output."""


def history(port: RecordPort, goal_id: str) -> dict[str, Any]:
    """Every event of the goal's run, and what people approved and closed, with their words."""
    document = events_of(port.records, port.events, goal_id)
    goal = port.load(goal_id).goal
    return {**document, **persons_acts(port.records, goal, document["events"])}


def inspect(port: RecordPort, goal_id: str) -> dict[str, Any]:
    """The contract as read and the evidence of its run."""
    document = contract_and_evidence(port.records, goal_id, partial(freshness, port))
    loaded = port.load(goal_id)
    events = told_events(port, loaded.goal)
    document["closed_by_hand"] = closed_by_hand(port, loaded)
    document["open_again"] = open_again(port, loaded.goal)
    document["warnings"] = [*document["warnings"], *told_by_hand(loaded.goal, document, events)]
    proof = proofs.shown_now(port.closing_context(), loaded.goal)
    document["document"] = with_newest_results(loaded.goal, newest(port, loaded.goal))
    return {**document, **persons_acts(port.records, loaded.goal, events), "proof": proof}


def report(port: RecordPort, goal_id: str) -> dict[str, Any]:
    """A goal's whole record, as ``flow report`` shows it."""
    status_now, events = status(port, goal_id), history(port, goal_id)
    run_id = status_now["run_id"]
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    if run_id is not None:
        evidence, warnings = port.records.evidence(run_id)
    rows = []
    by_id = freshness(port, evidence)
    for each in evidence:
        end = b""
        if each.output_ref is not None:
            end = port.output_end(f"{layout.evidence_dir(run_id)}/{each.output_ref}")
        fresh = overview.fresh_fields(by_id.get(each.id))
        rows.append({**evidence_row(each), "output_end": end.decode("utf-8", "replace"), **fresh})
    return {
        "status": status_now,
        "verdict": port.records.accepted_verdict(run_id) if run_id is not None else None,
        "evidence": [row for row in rows if row["goal"] == goal_id],
        "events": events["events"],
        "warnings": [
            *status_now["warnings"],
            *status_now.get("red_first", ()),
            *events["warnings"],
            *warnings,
        ],
    }


def newest_of(evidence: Sequence[Evidence], criterion_id: str) -> Evidence | None:
    """The newest evidence about a criterion: a run of its command, a judgement or an approval.

    What others handed in, which counts for nothing, is used only if there is nothing else.
    """
    # one of several runs is about none: the last one tells all
    own = [e for e in evidence if criterion_id in subjects_of(e)]
    counting = [e for e in own if e.counts] or own
    return max(counting, key=lambda e: (e.created_at, turn_of(e)), default=None)


def subjects_of(evidence: Evidence) -> set[str]:
    """The criteria that evidence is about, as it names them."""
    rows = [row for key in ("criteria", "apart") for row in evidence.judgement.get(key) or ()]
    named = [row.get(key) for row in rows for key in ("id", "criterion_id")]
    return {*evidence.proves, *(name for name in named if isinstance(name, str))}


def turn_of(evidence: Evidence) -> tuple[int, ...]:
    """The numbers in an evidence's id: the turn, and the place among those of one name."""
    parts = evidence.id.partition("-eval-")[2].split("-")
    return tuple(int(part) for part in parts if part.isdecimal())


def freshness(port: RecordPort, sidecars: Sequence[Evidence]) -> dict[str, Freshness]:
    """The freshness of each sidecar of a run, by its id.

    One of a goal that cannot be read is left out.
    """
    context, known = port.closing_context(), dict[str, CurrentFiles | None]()
    discounted: dict[str, frozenset[str]] = {}
    by_id = {}
    for evidence in sidecars:
        if evidence.goal not in known:
            known[evidence.goal] = _present(port, context, evidence.goal)
        if evidence.run_id not in discounted:
            discounted[evidence.run_id] = port.records.discounted(evidence.run_id)
        present = known[evidence.goal]
        if present is not None:
            path = layout.evidence_file(evidence.run_id, evidence.id)
            moved = path in discounted[evidence.run_id]
            doubt = port.records.doubt(path)
            by_id[evidence.id] = present.freshness_of(evidence, moved=moved, doubt=doubt)
    return by_id


def _present(port: RecordPort, context: ClosingContext, goal_id: str) -> CurrentFiles | None:
    try:
        return CurrentFiles(context, port.load(goal_id))
    except FlowError:
        return None


def events_of(records: Records, events: Events, goal_id: str) -> dict[str, Any]:
    """Every event of the goal's run, in order."""
    goal = records.goal(goal_id).goal
    if goal.run_id is None:
        return {"goal_id": goal.id, "run_id": None, "events": [], "warnings": []}
    recorded, warnings = events(goal.run_id, goal.id)
    return {
        "goal_id": goal.id,
        "run_id": goal.run_id,
        "events": [dict(event) for event in recorded],
        "warnings": list(warnings),
    }


def contract_and_evidence(
    records: Records,
    goal_id: str,
    freshness_of: Callable[[Sequence[Evidence]], Mapping[str, Freshness]],
) -> dict[str, Any]:
    """The contract as read, and the evidence behind each criterion.

    ``freshness_of`` is the freshness of each sidecar, by its id.
    """
    loaded = records.goal(goal_id)
    goal = loaded.goal
    evidence: Sequence[Evidence] = ()
    warnings: Sequence[str] = ()
    if goal.run_id is not None:
        evidence, warnings = records.evidence(goal.run_id)
    evidence = [e for e in evidence if e.goal == goal.id]
    by_id = freshness_of(evidence)
    return {
        "goal_id": goal.id,
        "file": loaded.file,
        "contract": loaded.contract,
        "document": dict(goal.document),
        "run": layout.run_dir(goal.run_id) if goal.run_id else None,
        "evidence": [
            {**evidence_row(e), **overview.fresh_fields(by_id.get(e.id))} for e in evidence
        ],
        "warnings": [*loaded.warnings, *warnings],
    }


def with_newest_results(goal: Goal, newest: Goal) -> dict[str, Any]:
    """The goal's document with the results of its newest turn in the place of older ones."""
    document = dict(goal.document)
    if newest is goal:
        return document
    lifecycle = {**document["lifecycle"], "turns_evaluated": newest.turns_evaluated}
    if newest.last_evaluation is not None:
        lifecycle["last_evaluation"] = dict(newest.last_evaluation)
    rows = []
    for row, old, new in zip(
        document["objective"]["acceptance_criteria"], goal.criteria, newest.criteria, strict=True
    ):
        keys = ("evidence_ref", "last_evaluated_at", "last_result")
        rows.append(row if old == new else {**row, **{key: getattr(new, key) for key in keys}})
    objective = {**document["objective"], "acceptance_criteria": rows}
    return {**document, "objective": objective, "lifecycle": lifecycle}


def evidence_row(evidence: Evidence) -> dict[str, Any]:
    """One sidecar, as lists and pages show it."""
    return {
        "id": evidence.id,
        "goal": evidence.goal,
        "type": evidence.type,
        "created_at": evidence.created_at,
        "command": evidence.command,
        "outcome": evidence.outcome,
        "exit_code": evidence.exit_code,
        "proves": list(evidence.proves),
        "output_ref": evidence.output_ref,
        "created_by": evidence.made_by,
        "handed_in": evidence.handed_in,
        "limitations": list(evidence.limitations),
        "tree": evidence.subject.get("tree"),
    }
