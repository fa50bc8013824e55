"""A goal as a judge would find it now (``flow judge run``): nothing is run, the record is read."""

from __future__ import annotations

from flow.app.evaluation import measured_rows, proposals, protected_files
from flow.app.evaluation.goal_rules import deciding_snapshot, goal_boundary, protected_changes
from flow.app.evaluation.observing import refuse_other_branch, subject_of
from flow.app.evaluation.values import Facts, JudgeCase, Measurement, Measurements, Request
from flow.app.judging import gathering
from flow.core import layout
from flow.core.boundary.by_products import edited_by_products
from flow.core.decision import decide, explain
from flow.core.evidence.freshness import differences
from flow.core.instant import ahead
from flow.core.judging.goal import delegated, prompt
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.judging.gathering import ContextSources
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Criterion
    from flow.core.judging.common.question import Question
    from flow.core.judging.goal.context import JudgeContext


def review_case(
    context: ClosingContext, loaded: LoadedGoal, *, version: str, now: str
) -> JudgeCase:
    """The case of the next evaluation, its commands' results taken from fresh evidence.

    Raises :class:`StateError` if another branch than the goal's is checked out.
    """
    goal = loaded.goal
    run_id = goal.run_id or layout.run_id_for(goal.id, now)
    baseline, recorded = context.baseline(goal, run_id)
    before = deciding_snapshot(context, goal, baseline)
    refuse_other_branch(goal, before.branch)
    subject = subject_of(loaded, before, baseline, version)
    facts = Facts(
        loaded,
        run_id,
        goal.turns_evaluated + 1,
        baseline,
        recorded,
        before,
        subject,
        proposable=False,
        protected_changes=protected_changes(goal, before, baseline),
        edited_by_products=edited_by_products(before, baseline),
    )
    rows = tuple(_reviewed_row(criterion, facts, context, now) for criterion in goal.criteria)
    measurement = Measurements(rows, ran=False, goal_touched=False)
    approvals = proposals.fresh_approvals(goal, subject, context.records, now)
    measured = measured_rows.judgeable(goal, measurement, approvals, stale=False)
    report = goal_boundary(goal, before, baseline, context.denied(goal))
    if facts.protected_changes is not None:
        report = protected_files.report_with_protected(report, facts, (), context.records)
    candidate = decide.candidate(measured, boundary_known=report.status != "inconclusive")
    return JudgeCase(facts, measurement, measured, report, candidate, Request(goal.id))


class FirstBallot(NamedTuple):
    """The prompt of the first ballot about a goal."""

    judge_context: JudgeContext
    prompt: Question | None
    """None if there is nothing to ask the ballots about."""
    delegated: tuple[tuple[str, str], ...]
    """(criterion id, way) of what a scorecard or a debate judges."""


def first_ballot(
    case: JudgeCase, sources: ContextSources, nonce: str, redact: Callable[[str], str]
) -> FirstBallot:
    """The prompt of the first ballot; no judge is called."""
    goal = case.facts.loaded.goal
    whole = gathering.gather_context(case, sources)
    ways = tuple(
        (criterion.id, judgement.way)
        for criterion in delegated.delegated_criteria(goal, whole.sought)
        for judgement in delegated.delegated_judgements(criterion)
    )
    judge_context = whole.limited_to(delegated.balloted(goal, whole.sought))
    if not judge_context.sought:
        return FirstBallot(judge_context, None, ways)
    written = prompt.goal_question(judge_context, nonce)
    return FirstBallot(judge_context, written._replace(prompt=redact(written.prompt)), ways)


def _reviewed_row(
    criterion: Criterion, facts: Facts, context: ClosingContext, now: str
) -> Measurement:
    if criterion.fuzzy:
        return Measurement.not_run(criterion, explain.FUZZY)
    evidence = context.records.counted(criterion.evidence_ref) if criterion.evidence_ref else None
    tree = facts.subject.tree
    if (
        evidence is None
        or evidence.outcome is None
        or criterion.id not in evidence.proves
        or tree is None
        or facts.edited_by_products
        or differences(evidence, facts.subject, facts.loaded.goal)
        or ahead(evidence.created_at, now)
        or evidence.body.get("criterion_digest") != criterion.digest
    ):
        return Measurement.not_run(criterion, "it has no evidence of these files")
    return Measurement.recorded(criterion.id, evidence, criterion.evidence_ref or "")
