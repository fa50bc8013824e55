"""A goal's results by turn, from its events and its evidence. Values only.

No record holds a turn's result as a whole: the turn's event names the criteria that passed, and the
evidence recorded since the turn before gives the others.
"""

from __future__ import annotations

from flow.app.goal_record import subjects_of
from flow.app.verdict_details import DURATION, number_of, several_runs
from flow.core.decision.details import RowDetails, judged_figures
from flow.core.goal.model import JUDGED
from flow.core.layout import RUN_MARK
from flow.core.report import ReportedResult, ReportedTurn
from flow.core.stop.past import PastTurn, past_turns
from flow.core.stop.turns import has_turn
from flow.startup.json import rows_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Criterion

    Event = Mapping[str, Any]

_STATUS = {"passed": "evidence_collected", "failed": "fail"}
"""A row's status by its outcome where the turn does not name it as passing."""


class _TurnFacts(NamedTuple):
    """One turn, gathered from events and evidence."""

    turn: PastTurn
    evidence: tuple[Evidence, ...] = ()
    passing: frozenset[str] | None = None
    """None if its event does not name them."""
    reused: frozenset[str] = frozenset()
    amended: bool = False


def turns_of(
    events: Sequence[Event], evidence: Sequence[Evidence], criteria: Sequence[Criterion]
) -> tuple[list[ReportedTurn], dict[str, list[ReportedResult]]]:
    """The turns, oldest first, and by criterion the result of each of them.

    ``evidence`` is what counts of the run's: nothing that was handed in is a turn's.
    """
    facts = _facts(events, evidence)
    results: dict[str, list[ReportedResult]] = {criterion.id: [] for criterion in criteria}
    for each in facts:
        counting = _counting(each.evidence)
        for criterion in criteria:
            rows, own = results[criterion.id], counting.get(criterion.id, [])
            rows.append(_result(each, criterion, own, rows[-1] if rows else None))
    return [_reported(each) for each in facts], results


def _facts(events: Sequence[Event], evidence: Sequence[Evidence]) -> list[_TurnFacts]:
    by_id = {e.id: e for e in evidence}
    facts = {turn.turn: _TurnFacts(turn) for turn in past_turns(events)}
    waiting: list[Evidence] = []
    amended = False
    for event in events:
        named = by_id.get(str(event.get("evidence_id")))
        if named is not None and named not in waiting:
            waiting.append(named)
        amended |= event.get("type") == "contract-amended"
        if not has_turn(event):
            continue
        each = facts[event["turn"]]
        passing = event.get("passing")
        facts[event["turn"]] = each._replace(
            evidence=(*each.evidence, *waiting),
            passing=frozenset(map(str, passing)) if isinstance(passing, list) else each.passing,
            reused=each.reused | frozenset(map(str, event.get("reused") or ())),
            amended=each.amended or amended,
        )
        waiting, amended = [], False
    ordered = list(facts.values())
    if waiting and ordered:  # said after the newest turn, and about it
        ordered[-1] = ordered[-1]._replace(evidence=(*ordered[-1].evidence, *waiting))
    return ordered


def _reported(facts: _TurnFacts) -> ReportedTurn:
    turn = facts.turn
    outside = [
        str(violation.get("path"))
        for evidence in facts.evidence
        for violation in rows_of(evidence.body.get("violations"))
    ]
    took = [seconds for seconds in map(seconds_of, facts.evidence) if seconds is not None]
    return ReportedTurn(
        turn.turn,
        turn.at,
        turn.verdict,
        turn.answer,
        tuple(dict.fromkeys(outside)),
        sum(took) if took else None,
        turn.tree is not None,
        facts.amended,
    )


def seconds_of(evidence: Evidence) -> float | None:
    """Seconds that a command ran or a judge took."""
    return number_of((evidence.judgement or evidence.body).get(DURATION))


def _result(
    facts: _TurnFacts, criterion: Criterion, own: list[Evidence], before: ReportedResult | None
) -> ReportedResult:
    """One criterion's result; where nothing was measured, what stood for it."""
    number, passing = facts.turn.turn, facts.passing
    passes = passing is not None and criterion.id in passing
    if not own:
        carried = before is not None and (passes or criterion.id in facts.reused)
        if carried and before is not None:
            row = {**before.row, **({"reused": True} if criterion.id in facts.reused else {})}
            return before._replace(turn=number, row={**row, "status": "pass"} if passes else row)
        row = _row(criterion, "pass" if passes else "pending", "not_run")
        return ReportedResult(number, row, RowDetails(required=criterion.must_pass))
    evidence = max(reversed(own), key=lambda e: e.created_at)
    row, details = _read(evidence, criterion, passing)
    return ReportedResult(number, row, details, evidence.id, evidence.created_at)


def _counting(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    """By criterion the evidence that a turn's result may rest on."""
    found: dict[str, list[Evidence]] = {}
    for each in evidence:
        if RUN_MARK not in each.id:
            for criterion_id in subjects_of(each):
                found.setdefault(criterion_id, []).append(each)
    return found


def _row(criterion: Criterion, status: str, outcome: str, **more: Any) -> dict[str, Any]:
    command = criterion.verification_command
    return {
        "criterion_id": criterion.id,
        "text": criterion.text,
        "command": command,
        "status": status,
        "outcome": outcome,
        "exit_code": None,
        "reason": "",
        **more,
    }


def _read(
    evidence: Evidence, criterion: Criterion, passing: frozenset[str] | None
) -> tuple[dict[str, Any], RowDetails]:
    """A row as a verdict has it, from the sidecar behind it."""
    body = evidence.body
    details = RowDetails(required=criterion.must_pass)
    if evidence.type == "human_approval":
        by = str(body.get("approved_by") or body.get("by") or "")
        row = _row(criterion, "pass", "not_run", command=None)
        return row, details._replace(approved_by=by)
    judgement = body.get("judgement")
    if isinstance(judgement, dict):
        own = _judged(criterion.id, judgement)
        by_turn = passing is not None and criterion.id in passing
        status = "pass" if by_turn else "fail" if own == "fail" else "evidence_collected"
        reason = f"{JUDGED}{judgement.get('reason') or own}"
        row = _row(criterion, status, "not_run", command=None, reason=reason)
        figures = judged_figures(criterion.id, judgement)
        return row, details._replace(judged=figures, seconds=seconds_of(evidence))
    outcome = str(evidence.outcome or "inconclusive")
    passes = outcome == "passed" if passing is None else criterion.id in passing
    row = _row(
        criterion,
        "pass" if passes else _STATUS.get(outcome, "evidence_collected"),
        outcome,
        command=evidence.command,
        exit_code=evidence.exit_code,
        reason=str(body.get("reason") or ""),
    )
    runs = several_runs(body.get("repeat"))
    return row, details._replace(seconds=number_of(body.get(DURATION)), runs=runs)


def _judged(criterion_id: str, judgement: Mapping[str, Any]) -> str:
    """The judge's ``pass`` or ``fail`` for the criterion; empty if the judgement has none."""
    for key in ("criteria", "apart", "rubrics"):
        for row in rows_of(judgement.get(key)):
            if criterion_id not in (row.get("id"), row.get("criterion_id")):
                continue
            if row.get("status") in ("pass", "fail"):
                return str(row["status"])
            if isinstance(row.get("passed"), bool):
                return "pass" if row["passed"] else "fail"
    return ""
