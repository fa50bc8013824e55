"""A goal's report, gathered from its checkout."""

from __future__ import annotations

from flow.app import goal_record
from flow.app.goal_record import RecordPort
from flow.app.report.opinions import CardPort, opinions_of
from flow.app.report.results import turns_of
from flow.app.verdict_details import OutputReader, criterion_way, output_tail, verdict_details
from flow.core import layout
from flow.core.report import GoalReport, RecordChain, ReportedCriterion, ReportedResult
from flow.core.stop.turns import is_handed_in
from flow.errors import FlowError
from flow.startup.json import rows_of
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Criterion, Goal

    ResultsAt = Callable[[int], Mapping[str, ReportedResult]]
    """A verdict's rows by criterion, if it is of this turn; else nothing."""

TAILS = 300
"""Outputs of results that did not pass whose end is read, the newest first."""
_OPEN = ("failed", "inconclusive")


class ReportPort(RecordPort, CardPort, Protocol):
    """Interface of a report to the checkout."""

    def chain(self, run_id: str) -> RecordChain:
        """Result of comparing a run's record with its hash chain."""


def goal_report(port: ReportPort, outputs: OutputReader, goal_id: str, version: str) -> GoalReport:
    """Everything that the record of a goal shows."""
    document = goal_record.report(port, goal_id)
    goal = port.load(goal_id).goal
    evidence: Sequence[Evidence] = ()
    if goal.run_id is not None:
        found, _ = port.records.evidence(goal.run_id)
        evidence = [e for e in found if e.goal == goal_id and e.counts]
    verdict = _own_verdict(port, goal, document["verdict"])
    document = {**document, "verdict": verdict}
    return compose(
        goal,
        document,
        evidence,
        verdict=with_details(port, outputs, verdict),
        tail=lambda result, e: _with_tail(outputs, result, e),
        cards=port,
        chain=port.chain(goal.run_id) if goal.run_id is not None else RecordChain(),
        version=version,
    )


def _own_verdict(
    port: ReportPort, goal: Goal, verdict: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """The newest verdict where it is Flow's own and this goal's: others may say anything."""
    if verdict is None or verdict.get("goal_id") != goal.id or goal.run_id is None:
        return None
    try:
        newest = port.records.newest_turn(goal.run_id, goal.id)
    except FlowError:
        return None
    return None if is_handed_in(verdict, newest) else verdict


def with_details(
    port: RecordPort, outputs: OutputReader, verdict: Mapping[str, Any] | None
) -> ResultsAt:
    """The rows of the newest verdict, with what the record says beside them."""

    def rows_at(turn: int) -> Mapping[str, ReportedResult]:
        if verdict is None or (verdict.get("lifecycle") or {}).get("turns_evaluated") != turn:
            return {}
        details = verdict_details(port, outputs, verdict)
        rows = rows_of(verdict.get("criterion_results"))
        return {
            str(row.get("criterion_id")): ReportedResult(
                turn,
                row,
                details.rows[str(row.get("criterion_id"))],
                layout.sidecar_of(str(row.get("evidence_ref") or ""))[1],
                details.at,
            )
            for row in rows
        }

    return rows_at


def compose(
    goal: Goal,
    document: Mapping[str, Any],
    evidence: Sequence[Evidence],
    *,
    verdict: ResultsAt,
    tail: Callable[[ReportedResult, Evidence], ReportedResult],
    cards: CardPort,
    chain: RecordChain,
    version: str,
    bundle: str = "",
) -> GoalReport:
    """The report from its parts; ``document`` is as ``flow report --json`` prints it."""
    turns, results = turns_of(document["events"], evidence, goal.criteria)
    status = document["status"]
    newest = verdict(turns[-1].number) if turns else {}
    by_id = {e.id: e for e in evidence}
    left = TAILS
    criteria = []
    for criterion, now in zip(goal.criteria, status["criteria"], strict=True):
        own = results[criterion.id]
        if own and criterion.id in newest:
            own[-1] = _with_details(own[-1], newest[criterion.id])
        for place in range(len(own) - 1, -1, -1):
            named = by_id.get(own[place].evidence_id)
            wanted = own[place].details.output is None and own[place].row["outcome"] in _OPEN
            if wanted and named is not None and left:
                left -= 1
                own[place] = tail(own[place], named)
        criteria.append(_criterion(criterion, now, own))
    return GoalReport(
        status=status,
        contract=goal.document,
        verdict=document["verdict"],
        criteria=tuple(criteria),
        turns=tuple(turns),
        events=tuple(document["events"]),
        evidence=tuple(document["evidence"]),
        chain=chain,
        opinions=tuple(opinions_of(goal.criteria, results, evidence, cards)),
        warnings=tuple(document["warnings"]),
        version=version,
        bundle=bundle,
    )


def _with_details(recorded: ReportedResult, told: ReportedResult) -> ReportedResult:
    """The newest result with what its verdict has beside it.

    ``last-verdict.json`` is in no chain: it never says that more was proved than the record does.
    """
    if told.evidence_id == recorded.evidence_id != "":
        return recorded._replace(details=told.details)
    if recorded.evidence_id or told.row.get("status") == "pass":
        return recorded
    return told if told.row.get("outcome") != "passed" else recorded


def _criterion(
    criterion: Criterion, now: Mapping[str, Any], results: Sequence[ReportedResult]
) -> ReportedCriterion:
    return ReportedCriterion(
        criterion.id,
        criterion.text,
        criterion.must_pass,
        criterion.verification_command or "",
        criterion_way(criterion),
        now,
        tuple(results),
    )


def _with_tail(outputs: OutputReader, result: ReportedResult, evidence: Evidence) -> ReportedResult:
    """A result with the end of what its command printed, and what its runner says of it."""
    if evidence.output_ref is None:
        return result
    try:
        path = f"{layout.evidence_dir(evidence.run_id)}/{evidence.output_ref}"
        end = outputs.end(path)
        failure = ""
        if end is not None and evidence.outcome == "failed" and not evidence.body.get("truncated"):
            failure = outputs.failure(evidence.command or "", end, evidence.exit_code)
    except FlowError:
        return result
    tail = output_tail(end, evidence.body)
    return result._replace(details=result.details._replace(output=tail, failure=failure))
