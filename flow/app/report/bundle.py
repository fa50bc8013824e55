"""A goal's report from an exported bundle: no repository, and no file beside it.

A bundle has the newest evidence of each criterion and no events, so its turns are those that the
evidence names. Nothing of it is run, and what it says of itself counts as far as its check goes.
"""

from __future__ import annotations

import json

from flow.app.goal_record import evidence_row, turn_of
from flow.app.report.gather import compose
from flow.app.report.opinions import NoCards
from flow.app.verdict_details import OutputEnd, output_tail
from flow.core.chain import entries as chain_entries
from flow.core.chain.closing_record import PLACES
from flow.core.evidence.attestation import LEDGER_FILE, Record
from flow.core.report import GoalReport, RecordChain, ReportedResult
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.exchange.bundle import BundleReport
    from flow.core.evidence.model import Evidence


def bundle_report(checked: BundleReport, record: Record, name: str, version: str) -> GoalReport:
    """The report of a checked bundle's goal; ``name`` is the bundle's file."""
    own = (item.evidence for item in record.items if item.evidence.counts)
    evidence = sorted(
        (e for e in own if e.goal == record.goal.id),
        key=lambda e: (turn_of(e) or (0,), e.created_at, e.id),
    )
    outputs = {file.name: file.content for file in record.files if file.content is not None}
    events = _events(evidence)
    document: dict[str, Any] = {
        "status": _status(record),
        "verdict": None,
        "evidence": [evidence_row(e) for e in evidence],
        "events": events,
        "warnings": [*checked.notes],
    }
    ledger = outputs.get(LEDGER_FILE, b"")
    chain = RecordChain(_head(ledger), ledger.count(b"\n"), checked.findings, checked.signers)
    report = compose(
        record.goal,
        document,
        evidence,
        verdict=lambda _turn: {},
        tail=lambda result, e: _with_tail(outputs, result, e),
        cards=NoCards(),
        chain=chain,
        version=version,
        bundle=name,
    )
    # whether anything was outside its paths is not in a bundle
    return report._replace(turns=tuple(turn._replace(files_known=False) for turn in report.turns))


def _head(ledger: bytes) -> str:
    """The head of the chain in a bundle; empty if its last line is no entry."""
    line = ledger.rstrip(b"\n").rpartition(b"\n")[2]
    try:
        return str(chain_entries.read(json.loads(line), line).head)
    except (ValueError, RecursionError):
        return ""


def _events(evidence: list[Evidence]) -> list[dict[str, Any]]:
    """The turns that evidence names, as events: what is in no evidence is not known."""
    told: list[dict[str, Any]] = []
    by_turn: dict[int, list[Evidence]] = {}
    for each in evidence:
        by_turn.setdefault((turn_of(each) or (0,))[0], []).append(each)
    for turn, group in sorted(by_turn.items()):
        told += [{"type": "evidence", "at": e.created_at, "evidence_id": e.id} for e in group]
        if turn:
            at = max(e.created_at for e in group)
            subject = dict(group[-1].subject)
            told.append(
                {
                    "type": "evaluated",
                    "at": at,
                    "turn": turn,
                    "verdict": "not_run",
                    "reason": "measured; what it came to is not in the bundle",
                    "subject": subject,
                }
            )
    return told


def _status(record: Record) -> dict[str, Any]:
    """The goal as ``status`` would print it, as far as a bundle knows."""
    goal = record.goal
    closed = None
    if record.closed_at is not None:
        closed = _act(goal.status, record.closed_at)
    return {
        "goal_id": goal.id,
        "status": goal.status,
        "outcome": goal.outcome,
        "branch": goal.branch,
        "issue": goal.issue,
        "run_id": record.run_id,
        "base_commit": goal.base_commit,
        "turns_evaluated": goal.turns_evaluated,
        "last_evaluation": dict(goal.last_evaluation) if goal.last_evaluation else None,
        "criteria": [
            {
                "id": c.id,
                "text": c.text,
                "status": c.status,
                "must_pass": c.must_pass,
                "fuzzy": c.fuzzy,
                "last_result": c.last_result,
                "last_evaluated_at": c.last_evaluated_at,
                "fresh": None,
                "why_stale": [],
            }
            for c in goal.criteria
        ],
        "files": None,
        "trusted": False,
        "trust": "nobody here was asked: this is the record of another machine",
        "contract": record.contract,
        "proposal": None,
        "paused": None,
        "approvals": [
            _approval(item.evidence)
            for item in record.items
            if item.evidence.counts and item.evidence.type == "human_approval"
        ],
        "closed": closed,
        "closed_by_hand": False,
        "open_again": False,
        "waits_for": None,
        "next": "",
        "red_first": [],
    }


def _act(about: str, at: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    body = body or {}
    place = body.get("said_from")
    return {
        "about": about,
        "at": at,
        "by": body.get("approved_by"),
        "by_from": body.get("by_from"),
        "said_from": place if place in PLACES else None,
        "agent": body.get("agent"),
        "note": body.get("note"),
    }


def _approval(evidence: Evidence) -> dict[str, Any]:
    about = ", ".join(evidence.proves) or "protected"
    return {
        **_act(about, evidence.created_at, evidence.body),
        "evidence_id": evidence.id,
        "paths": [],
        "vouched": True,
    }


def _with_tail(
    outputs: Mapping[str, bytes], result: ReportedResult, evidence: Evidence
) -> ReportedResult:
    """A result with the end of its output, where the bundle has that."""
    content = outputs.get(evidence.output_ref or "")
    if content is None:
        return result
    end = OutputEnd(content, content.count(b"\n"), whole=True)
    tail = output_tail(end, evidence.body)
    return result._replace(details=result.details._replace(output=tail))
