"""What measurements mean for the criteria: for the decision, the verdict, the goal."""

from __future__ import annotations

from flow.app.ports import CriterionUpdate
from flow.core.decision.decide import Measured
from flow.core.decision.verdict import CriterionResult
from flow.core.evidence.repeat import FLAKY
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.values import Measurement, Measurements
    from flow.core.goal.model import Criterion, Goal


def judgeable(
    goal: Goal, measurement: Measurements, approvals: frozenset[str], *, stale: bool
) -> tuple[Measured, ...]:
    """The rows as the decision takes them."""
    return tuple(
        Measured(
            criterion.id,
            criterion.must_pass,
            criterion.fuzzy,
            row.outcome,
            stale=stale and row.outcome in ("passed", "failed") and not row.blamed,
            approved=criterion.id in approvals,
        )
        for criterion, row in zip(goal.criteria, measurement.rows, strict=True)
    )


def results(
    goal: Goal,
    measurement: Measurements,
    measured: Sequence[Measured],
    stale: Sequence[str],
) -> tuple[CriterionResult, ...]:
    """The verdict's rows, in the goal's order."""
    rows = []
    for criterion, row, fact in zip(goal.criteria, measurement.rows, measured, strict=True):
        reason = row.reason
        if fact.stale and not reason:
            reason = f"changed while it ran: {display.names(stale, 3)}"
        rows.append(
            CriterionResult(
                criterion.id,
                status=_row_status(criterion, row, fact),
                outcome=row.outcome,
                exit_code=row.exit_code,
                evidence_ref=row.evidence_ref or _kept_ref(criterion, fact),
                limitations=row.limitations,
                reason=criterion.last_result or "" if fact.approved else reason,
                text=criterion.text,
                command=criterion.verification_command,
            )
        )
    return tuple(rows)


def _row_status(criterion: Criterion, row: Measurement, fact: Measured) -> str:
    """``passed`` → pass; ``failed`` → fail; ``inconclusive`` → evidence_collected; else as before.

    A criterion that rested on an approval which is no longer fresh falls back to
    evidence_collected.
    """
    if fact.passing:
        return "pass"
    if fact.failing:
        return "fail"
    if row.outcome in ("passed", "failed", "inconclusive") or fact.judged is not None:
        return "evidence_collected"
    if criterion.fuzzy and criterion.status == "pass":
        return "evidence_collected"
    if criterion.status == "pass" and not criterion.evidence_ref:
        return "pending"  # never pass without evidence
    return criterion.status


def _kept_ref(criterion: Criterion, fact: Measured) -> str | None:
    return criterion.evidence_ref if fact.approved or not fact.decided else None


def updates(
    goal: Goal,
    measurement: Measurements,
    verdict_rows: Sequence[CriterionResult],
    at: str,
) -> tuple[CriterionUpdate, ...]:
    """What this evaluation writes into the goal's criteria; nothing for those not looked at."""
    updates = []
    for criterion, row, shown in zip(goal.criteria, measurement.rows, verdict_rows, strict=True):
        if row.evidence_ref is not None:
            updates.append(
                CriterionUpdate(criterion.id, shown.status, row.evidence_ref, at, row.result)
            )
        elif shown.status != criterion.status:
            updates.append(CriterionUpdate(criterion.id, shown.status, None, at, None))
    return tuple(updates)


def unexecuted(goal: Goal) -> tuple[CriterionResult, ...]:
    """The rows of a goal whose commands may not run here."""
    return tuple(
        CriterionResult(
            c.id,
            status=c.status,
            outcome="not_executed",
            evidence_ref=c.evidence_ref,
            limitations=c.limitations,
            reason="not trusted here",
            text=c.text,
            command=c.verification_command,
        )
        for c in goal.criteria
    )


def contradictions(results: Sequence[CriterionResult]) -> tuple[str, ...]:
    """A result that the same command contradicted on the same files before is a warning."""
    return tuple(
        f"{row.criterion_id}: {text}"
        for row in results
        for text in row.limitations
        if text.startswith(FLAKY)
    )


def optional_failures(measured: Sequence[Measured]) -> tuple[str, ...]:
    """A ``must_pass: false`` criterion that failed is a warning (SPEC 3, step 3)."""
    return tuple(
        f"{m.criterion_id} failed; it is not must_pass, so it does not count"
        for m in measured
        if m.failing and not m.must_pass
    )
