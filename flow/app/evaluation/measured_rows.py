"""A measurement's rows, as the decision, the verdict and the goal take them (SPEC 3)."""

from __future__ import annotations

from flow.core.decision.decide import JudgedCriterion, Measured, NoOpinion, Opinion
from flow.core.decision.verdict import CriterionResult
from flow.core.evidence.model import FEWER, FLAKY, ONLY_OPINION, OTHER_CODE
from flow.core.goal.model import JUDGED
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


def judged_rows(
    goal: Goal,
    measurement: Measurements,
    measured: Sequence[Measured],
    opinion: Opinion | NoOpinion | None,
) -> tuple[Measurements, tuple[Measured, ...]]:
    """The rows with a judge's opinion of the fuzzy criteria; a command's row stays as it is."""
    if not isinstance(opinion, Opinion) or opinion.evidence_ref is None:
        return measurement, tuple(measured)  # an opinion that is not on record does not count
    judged_by_id = {judged.id: judged for judged in opinion.criteria}
    rows, judged_measured = list(measurement.rows), list(measured)
    for place, criterion in enumerate(goal.criteria):
        judged = judged_by_id.get(criterion.id)
        if judged is None or not criterion.fuzzy or judged_measured[place].approved:
            continue
        rows[place] = rows[place]._replace(
            result=f"{JUDGED}{judged.status}",
            reason=_judge_reason(judged),
            limitations=(*rows[place].limitations, ONLY_OPINION),
            evidence_id=opinion.evidence_id,
            evidence_ref=opinion.evidence_ref,
        )
        judged_measured[place] = judged_measured[place]._replace(judged=judged.status)
    return measurement._replace(rows=tuple(rows)), tuple(judged_measured)


def _judge_reason(judged: JudgedCriterion) -> str:
    """The judge's words, and why a pass is counted as less."""
    if not judged.lowered:
        return ": ".join(filter(None, (f"{JUDGED}{judged.status}", judged.words())))
    return f"{JUDGED}pass, counted as {judged.status} ({judged.lowered}): {judged.words()}"


def results(
    goal: Goal, measurement: Measurements, measured: Sequence[Measured], stale: Sequence[str]
) -> tuple[CriterionResult, ...]:
    """The verdict's rows, in the goal's order."""
    rows = []
    for criterion, row, each in zip(goal.criteria, measurement.rows, measured, strict=True):
        reason = row.reason
        if each.stale and not reason:
            reason = f"changed while it ran: {display.names(stale, 3)}"
        rows.append(
            CriterionResult(
                criterion.id,
                status=_row_status(criterion, row, each),
                outcome=row.outcome,
                exit_code=row.exit_code,
                evidence_ref=row.evidence_ref
                or (criterion.evidence_ref if each.approved or not each.decided else None),
                limitations=row.limitations,
                reason=criterion.last_result or "" if each.approved else reason,
                text=criterion.text,
                command=criterion.verification_command,
                reused=criterion.id in measurement.reused,
            )
        )
    return tuple(rows)


def _row_status(criterion: Criterion, row: Measurement, measured: Measured) -> str:
    """``passed`` → pass; ``failed`` → fail; ``inconclusive`` → evidence_collected; else as before.

    A criterion that rested on an approval which is no longer fresh falls back to
    evidence_collected.
    """
    if measured.passing:
        return "pass"
    if measured.failing:
        return "fail"
    if row.outcome in ("passed", "failed", "inconclusive") or measured.judged is not None:
        return "evidence_collected"
    if criterion.fuzzy and criterion.status == "pass":
        return "evidence_collected"
    if criterion.status == "pass" and not criterion.evidence_ref:
        return "pending"  # never pass without evidence
    return criterion.status


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
    """A result that was contradicted before, or of fewer tests, or of other code, is a warning."""
    return tuple(
        f"{row.criterion_id}: {text}"
        for row in results
        for text in row.limitations
        if text.startswith((FLAKY, FEWER, OTHER_CODE))
    )


def optional_failures(measured: Sequence[Measured]) -> tuple[str, ...]:
    """A ``must_pass: false`` criterion that failed is a warning (SPEC 3, step 3)."""
    return tuple(
        f"{m.criterion_id} failed; it is not must_pass, so it does not count"
        for m in measured
        if m.failing and not m.must_pass
    )
