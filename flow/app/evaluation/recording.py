"""The writes of an evaluation: the turn, files outside the paths, the resumed goal (SPEC 3)."""

from __future__ import annotations

from flow.app.ports import CriterionUpdate, LastEvaluation, Turn, goal_evaluation, status_move
from flow.core.evidence.model import EVALUATOR, evidence_document
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.values import EvaluationFacts, Facts, Measurements
    from flow.app.ports import Records, TurnLedger
    from flow.core.decision.verdict import CriterionResult, Verdict
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal


def resume_for_evaluation(facts: Facts, ledger: TurnLedger, records: Records) -> LoadedGoal:
    """Move a waiting or blocked goal to ``active``, on the record."""
    goal = facts.loaded.goal
    scope = {} if goal.run_id == facts.run_id else {"run_id": facts.run_id}
    move = status_move(goal, facts.run_id, "active", "resumed for evaluation", {}, scope)
    ledger.move(goal.id, facts.run_id, facts.loaded.seen, move)
    return records.goal(goal.id)


def turn(
    evaluation: EvaluationFacts, verdict: Verdict, proposal: Mapping[str, Any] | None, at: str
) -> Turn:
    """The evaluation's changes of its goal."""
    facts, decision = evaluation.facts, evaluation.decision
    goal = facts.loaded.goal
    failures = [m.criterion_id for m in evaluation.measured if m.must_pass and not m.passing]
    return Turn(
        status=decision.status,
        turns_evaluated=facts.turn,
        last_evaluation=LastEvaluation(decision.result, verdict.reason, at),
        criteria=updates(goal, evaluation.measurement, verdict.criterion_results, at),
        artifact=goal_evaluation(
            goal,
            facts.run_id,
            to=decision.status,
            reason=verdict.reason,
            result=decision.result,
            failures=failures,
        ),
        event={
            "type": "evaluated",
            "turn": facts.turn,
            "from": goal.status,
            "to": decision.status,
            "verdict": decision.verdict,
            "candidate": evaluation.candidate,
            "delta": verdict.delta,
            "reason": verdict.reason,
            "passing": [m.criterion_id for m in evaluation.measured if m.passing],
            "subject": facts.subject.to_document(),
            **_reused(evaluation),
            "proposal_id": proposal["proposal_id"] if proposal else None,
        },
        proposal=proposal,
        scope={} if goal.run_id == facts.run_id else {"run_id": facts.run_id},
    )


def _reused(evaluation: EvaluationFacts) -> dict[str, list[str]]:
    """The criteria that fresh evidence stood for, where there are any."""
    reused = evaluation.measurement.reused
    return {"reused": list(reused)} if reused else {}


def violations(evaluation: EvaluationFacts, at: str) -> dict[str, Any]:
    """The ``path_boundary_check`` sidecar: every file named, nothing proved."""
    facts = evaluation.facts
    goal = facts.loaded.goal
    return evidence_document(
        id=f"evidence-boundary-eval-{facts.turn}",
        goal=goal.id,
        run_id=facts.run_id,
        created_at=at,
        created_by=EVALUATOR,
        type="path_boundary_check",
        body={
            "proves": [],
            "violations": [
                {"path": display.visible(v.path), "why": display.visible(v.why)}
                for v in evaluation.report.violations
            ],
            "limitations": ["Says which paths changed, not whether the changes are right."],
            "subject": facts.subject.to_document(),
        },
    )


def updates(
    goal: Goal, measurement: Measurements, verdict_rows: Sequence[CriterionResult], at: str
) -> tuple[CriterionUpdate, ...]:
    """The updates of the goal's criteria; none for those that were not measured."""
    updates = []
    for criterion, row, shown in zip(goal.criteria, measurement.rows, verdict_rows, strict=True):
        if row.evidence_ref is not None:
            updates.append(
                CriterionUpdate(criterion.id, shown.status, row.evidence_ref, at, row.result)
            )
        elif shown.status != criterion.status:
            updates.append(CriterionUpdate(criterion.id, shown.status, None, at, None))
    return tuple(updates)
