"""Evaluating a goal (SPEC 3), as one list of steps.

*load → trust → subject and change set → resume → run → boundary → judge → decide → write → return.*

An evaluation is given its ledger as a :class:`~flow.app.ports.TurnLedger`, a type without a way to
a terminal status: what it may write (``Turn.status``) and what it may only propose
(``ProposedTransition.to``) are two types, and the ledger refuses a terminal status at run time, too
(ADR 9).
"""

from __future__ import annotations

from flow.app.evaluation import compose, measure, measured_rows, observing, proofs, proposals
from flow.app.evaluation.values import Drift, Evaluated, EvaluationFacts, JudgeCase
from flow.core.decision import decide
from flow.core.goal.lifecycle import UNDER_WAY, first_step
from flow.core.stop.lost_goals import is_acting
from flow.core.text import display
from flow.errors import FlowError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.collecting import CollectedEvidence
    from flow.app.evaluation.tools import EvaluationTools
    from flow.app.evaluation.values import Facts, Measurements, ProofObservation, Request
    from flow.core.boundary.rules import BoundaryReport
    from flow.core.decision.after import HeldBy, Hold
    from flow.core.decision.decide import Decision, NoOpinion, Opinion
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal


def examine(request: Request, tools: EvaluationTools) -> Evaluated:
    """Evaluate one goal; returns the verdict and what it rests on.

    Never writes ``last-verdict.json``. Raises :class:`InputError` for an unknown criterion,
    :class:`StateError` for a draft, closed or meanwhile changed goal and for another branch,
    :class:`OutsideError` if disk, git or a lock fails.
    """
    if not request.dry_run:
        tools.ledger.finish(request.goal_id)
    loaded = tools.records.goal(request.goal_id)
    _refuse_unless_evaluable(loaded.goal, request)
    only = chosen_criteria(loaded.goal, request.only)
    trusted, why = tools.trusted(loaded)
    if not trusted:
        return Evaluated(compose.untrusted(loaded, request.run_id, why), None)

    facts = _observe(loaded, request, tools)
    facts, measurement, proof_before = _run(facts, request, only, tools)
    command_drift = observing.observe_again(facts, measurement, request, tools)
    proof = proofs.after(proof_before, facts, command_drift, tools.proof)
    case = _settle(facts, measurement, command_drift, request, tools)
    asked = _ask_judge(case, tools)
    case, opinion, judge_drift = _after_judge(case, asked, command_drift, tools)
    holds, held_by = _holds(loaded.goal, tools)
    decision = _decide(case, opinion, held_by)
    broken = _broken_record(decision, facts, request, tools)
    if broken:
        decision = decide.on_broken_record(decision)
    evaluation = EvaluationFacts(
        facts,
        case.measurement,
        case.measured,
        judge_drift.moved or command_drift.moved,
        case.report,
        case.candidate,
        opinion,
        decision,
        proof,
        holds,
        last_snapshot=(judge_drift.after or command_drift.after or facts.before)
        if request.base is None
        else None,
        counted=proposals.counted_once(tools.records.counted),
        broken=broken,
    )
    with tools.records.together(facts.run_id):
        verdict = compose.verdict(evaluation, request, tools.records, tools.proof)
        verdict, written = _record(verdict, evaluation, request, tools)
    if not request.dry_run:
        tools.mark_ended(facts.run_id)
    head = tools.records.ledger_head(facts.run_id)
    return Evaluated(verdict._replace(ledger_head=head), evaluation._replace(written=written))


def _holds(goal: Goal, tools: EvaluationTools) -> tuple[tuple[Hold, ...], HeldBy]:
    """The goals that must be achieved first and are not, and the kind of hold they make."""
    if not goal.after:
        return (), ""
    from flow.core.decision import after  # few goals come after another

    holds = after.holds(goal.id, goal.after, tools.earlier)
    return holds, after.held_by(holds)


def _observe(loaded: LoadedGoal, request: Request, tools: EvaluationTools) -> Facts:
    """Observe the files before anything runs; a goal that waits becomes active again.

    Raises where the result could not be recorded: seen here, nothing has run in vain.
    """
    facts = observing.observe(loaded, request, tools)
    if not request.dry_run and not request.quiet:  # a quiet one may write nothing
        tools.ledger.check_room(loaded.goal, facts.baseline.journal_dir)
    if loaded.goal.status == "active" or request.dry_run or request.quiet:
        return facts
    from flow.app.evaluation import recording

    return facts._replace(
        loaded=recording.resume_for_evaluation(facts, tools.ledger, tools.records)
    )


def _run(
    facts: Facts, request: Request, only: frozenset[str] | None, tools: EvaluationTools
) -> tuple[Facts, Measurements, ProofObservation | None]:
    """Run the commands, on the base commit too: after the deciding ones where time is limited."""
    time_limited = tools.seconds_left is not None
    if not time_limited:
        facts = _red_first(facts, request, only, tools)
    proof_before = proofs.before(facts, tools.proof)
    measurement = measure.run(facts, request, only, tools)
    if time_limited:
        facts = _red_first(facts, request, only, tools)
    return facts, measurement._replace(ran=measurement.ran or facts.base_ran), proof_before


def _settle(
    facts: Facts, measurement: Measurements, drift: Drift, request: Request, tools: EvaluationTools
) -> JudgeCase:
    """Settle boundary and commands without a judge; evidence of moved files is discounted."""
    report = observing.boundary(facts, drift, tools)
    unsettled = drift.moved or _under_other_guards(facts, drift, report)
    if unsettled:
        measure.discount(facts, measure.made_sidecars(measurement), unsettled, tools)
    goal = facts.loaded.goal
    approvals = proposals.fresh_approvals(goal, facts.subject, tools.records, tools.now())
    measured = measured_rows.judgeable(goal, measurement, approvals, stale=bool(drift.moved))
    whole_range = facts.proposable  # what changed before a later --base was not looked at
    boundary_known = whole_range and report.status != "inconclusive"
    candidate = decide.candidate(measured, boundary_known=boundary_known)
    return JudgeCase(facts, measurement, measured, report, candidate, request)


def _decide(case: JudgeCase, opinion: Opinion | NoOpinion | None, held_by: HeldBy) -> Decision:
    report = case.report
    return decide.decide(
        case.candidate,
        violation=report.status == "outside",
        evaluator_type=case.facts.loaded.goal.evaluator_type,
        trigger=case.request.trigger,
        judge=opinion,
        review=bool(report.guards_changed or report.protected_changed or case.request.no_proposal),
        held=held_by,
    )


def _broken_record(
    decision: Decision, facts: Facts, request: Request, tools: EvaluationTools
) -> str:
    """The fault of the run's record, as a sentence, where the goal would be achieved.

    A stop has no time for the whole chain, and the confirmation looks at it in any case. But where
    the stop itself came upon damage, an earlier failure may be what is gone.
    """
    if decision.proposed is None:
        return ""
    if _is_at_stop(request) and not tools.records.is_damaged(facts.run_id):
        return ""
    broken = tools.broken(facts.run_id)
    return proposals.broken_record(facts.run_id, broken) if broken else ""


def _record(
    verdict: Verdict, evaluation: EvaluationFacts, request: Request, tools: EvaluationTools
) -> tuple[Verdict, bool]:
    """SPEC 3, step 7: the verdict as recorded, and whether it was written to the goal's file."""
    withheld = request.only_fresh and verdict.proposed_transition is None
    written_before = request.quiet and _unchanged(verdict, evaluation)
    if not request.dry_run and not withheld and not written_before:
        try:
            return _write_turn(verdict, evaluation, tools), True
        except FlowError:
            _refuse_spoilt(evaluation, tools)
            raise
    if verdict.proposed_transition is not None:
        verdict = _repropose(verdict, evaluation, tools)
    uncounted = request.dry_run or withheld
    turn = evaluation.facts.turn - 1 if uncounted else evaluation.facts.turn
    status = evaluation.facts.loaded.goal.status
    return verdict._replace(lifecycle_to=status, turns_evaluated=turn), False


def _under_other_guards(facts: Facts, drift: Drift, report: BoundaryReport) -> tuple[str, ...]:
    """The hooks and git settings that changed while commands ran, unless a person approved them.

    A person is asked, and what was measured meanwhile is never counted again: putting them back
    must not be a way around the question.
    """
    return observing.guards_moved(facts, drift) if report.guards_changed else ()


def _red_first(
    facts: Facts, request: Request, only: frozenset[str] | None, tools: EvaluationTools
) -> Facts:
    """The facts with the commands' results on the base commit (SPEC 10)."""
    if not facts.loaded.goal.tdd_required and not tools.base_runs(facts.loaded.goal):
        return facts
    from flow.app.evaluation import base_facts

    return base_facts.look_up_base(facts, request, only, tools)


def _refuse_unless_evaluable(goal: Goal, request: Request) -> None:
    if goal.status in UNDER_WAY and (is_acting(goal) or not _is_at_stop(request)):
        return
    # under way: a person set it aside while the stop waited for its turn
    resume = f"go on with it: flow goal resume {goal.id}"
    raise at_key("lifecycle.status", goal.status).wrong_state(
        f"goal {goal.id} is {goal.status} and cannot be evaluated",
        first_step(goal.status, goal.id) or resume,
    )


def _is_at_stop(request: Request) -> bool:
    """Whether the Stop hook asks; what follows an approval is quiet, too."""
    return request.quiet and request.trigger == "stop-hook"


def chosen_criteria(goal: Goal, wanted: Sequence[str]) -> frozenset[str] | None:
    """The criteria that ``--only`` names; None for all. :class:`InputError` for an unknown one."""
    if not wanted:
        return None
    known = [c.id for c in goal.criteria]
    for criterion_id in wanted:
        if criterion_id not in known:
            from flow.core.text.near import did_you_mean

            raise at_key("--only", criterion_id).invalid(
                f"goal {goal.id} has no criterion {criterion_id!r:.60}"
                f"{did_you_mean(criterion_id, known)}",
                f"it has {display.names(known)}",
            )
    return frozenset(wanted)


class _Asked(NamedTuple):
    """A judge's opinion, and the evidence that was collected for it."""

    opinion: Opinion | NoOpinion | None
    """None if this evaluation has no place for one."""
    collected: CollectedEvidence | None = None
    """None if no judge was to be asked now."""


def _ask_judge(case: JudgeCase, tools: EvaluationTools) -> _Asked:
    """SPEC 3, step 5: collect evidence for a judge, then ask, where one is to be asked."""
    goal, request = case.facts.loaded.goal, case.request
    if case.report.status == "outside" or case.candidate in ("fail", "incomplete"):
        return _Asked(None)
    if not decide.judge_wanted(case.candidate, goal.evaluator_type, request.trigger):
        if goal.evaluator_type == "flow_verdict_judge":
            why = "asked only when a person starts the evaluation (trigger manual)"
            return _Asked(decide.NoOpinion(why))
        return _Asked(None)
    if request.no_judge:
        if request.trigger == "stop-hook":
            return _Asked(decide.NoOpinion("not asked at a stop, but with evaluator-loop"))
        return _Asked(decide.NoOpinion("not asked (--no-judge)"))
    if not tools.has_judge:
        return _Asked(decide.NoOpinion("none configured", remedy="name_judge"))
    if request.dry_run:
        return _Asked(decide.NoOpinion("not asked (--dry-run)"))
    open_ones = [c.id for c in goal.criteria if c.fuzzy and c.must_pass]
    if request.only and open_ones and not any(name in request.only for name in open_ones):
        return _Asked(decide.NoOpinion("not asked (--only leaves its criteria out)"))
    if request.use_recorded_opinion:
        recorded = tools.recorded_opinion(case)
        if recorded is not None:
            return _Asked(recorded)
    from flow.app.evaluation import collecting

    collected = collecting.collect(case, tools)
    if collected.blamed:
        return _Asked(decide.NoOpinion(collecting.blame_reason(collected)), collected)
    seconds = tools.seconds_left() if tools.seconds_left is not None else None
    return _Asked(tools.judge(case._replace(seconds=seconds)), collected)


def _after_judge(
    case: JudgeCase, asked: _Asked, command_drift: Drift, tools: EvaluationTools
) -> tuple[JudgeCase, Opinion | NoOpinion | None, Drift]:
    """The case with the opinion, that opinion if it still counts, and the drift meanwhile."""
    opinion, collected = asked
    if collected is None:
        return _with_opinion(case, opinion), opinion, Drift()
    # Evidence commands may have left something behind, and asking takes time.
    facts, touched = case.facts, case.measurement.goal_touched or collected.goal_touched
    case = case._replace(measurement=case.measurement._replace(ran=True, goal_touched=touched))
    drift = observing.observe_again(facts, case.measurement, case.request, tools)
    made = (*measure.made_sidecars(case.measurement), *collected.sidecar_ids)
    same_files = drift.rewritten == command_drift.rewritten and not drift.left_behind
    if not same_files or drift.guards != command_drift.guards:
        both = drift._replace(
            left_behind=(*command_drift.left_behind, *drift.left_behind),
            guards=(*command_drift.guards, *drift.guards),
        )
        case = case._replace(report=observing.boundary(facts, both, tools))
        unsettled = _under_other_guards(facts, drift, case.report)
        if unsettled:
            measure.discount(facts, made, unsettled, tools)
    if not drift.moved:
        return _with_opinion(case, opinion), opinion, drift
    # The opinion is about files that are no more.
    opinion_ids = [opinion.evidence_id] if isinstance(opinion, decide.Opinion) else []
    measure.discount(facts, (*made, *filter(None, opinion_ids)), drift.moved, tools)
    goal = facts.loaded.goal
    measured = measured_rows.judgeable(goal, case.measurement, case.approved, stale=True)
    return case._replace(measured=measured, candidate="incomplete"), None, drift


def _with_opinion(case: JudgeCase, opinion: Opinion | NoOpinion | None) -> JudgeCase:
    goal = case.facts.loaded.goal
    measurement, measured = measured_rows.judged_rows(
        goal, case.measurement, case.measured, opinion
    )
    return case._replace(measurement=measurement, measured=measured)


def _unchanged(verdict: Verdict, evaluation: EvaluationFacts) -> bool:
    """Whether the goal's file has this evaluation's result already."""
    goal, decision = evaluation.facts.loaded.goal, evaluation.decision
    last = goal.last_evaluation or {}
    if goal.run_id != evaluation.facts.run_id or evaluation.measurement.goal_touched:
        return False
    if (goal.status, last.get("result")) != (decision.status, decision.result):
        return False
    if [c.status for c in goal.criteria] != [r.status for r in verdict.criterion_results]:
        return False
    return not evaluation.report.violations or last.get("reason") == verdict.reason


def _propose(
    verdict: Verdict, evaluation: EvaluationFacts, tools: EvaluationTools
) -> tuple[Verdict, dict[str, Any], bool]:
    """The verdict with its proposal, the proposal's document, and whether that is live already."""
    facts = evaluation.facts
    live = tools.records.proposal(facts.run_id)
    counted = evaluation.counted or tools.records.counted
    grounds = compose.proposal_grounds(evaluation)
    proposal = proposals.document(verdict, grounds, tools.now(), live, counted)
    proposed = verdict.proposed_transition
    if proposed is not None:
        proposed = proposed._replace(proposal_id=proposal["proposal_id"])
    return verdict._replace(proposed_transition=proposed), proposal, proposal == live


def _repropose(verdict: Verdict, evaluation: EvaluationFacts, tools: EvaluationTools) -> Verdict:
    """Renew only the proposal: the goal's file has the result already."""
    verdict, proposal, live = _propose(verdict, evaluation, tools)
    if not live:
        facts = evaluation.facts
        tools.ledger.repropose(verdict.goal_id, facts.run_id, facts.loaded.seen, proposal)
    return verdict


def _refuse_spoilt(evaluation: EvaluationFacts, tools: EvaluationTools) -> None:
    """Raise :class:`StateError` where a command left a goal's file that cannot be read.

    Its failure is on record in its evidence, and there is no goal to write the turn to.
    """
    if not evaluation.measurement.goal_touched:
        return
    goal_id = evaluation.facts.loaded.goal.id
    try:
        tools.records.goal(goal_id)
    except FlowError as error:
        fault = error.faults[0]
        blamed = [row.criterion_id for row in evaluation.measurement.rows if row.blamed]
        who = display.names(blamed) or "an evidence command"
        raise in_file(fault.file, fault.key, fault.value).wrong_state(
            f"{fault.message}, and could be read before the commands ran: "
            f"what changed it ({who}) failed, and the goal cannot say so",
            f"put the file back, keep the command away from it, then: flow goal evaluate {goal_id}",
            code="goal_spoilt",
        ) from error


def _write_turn(verdict: Verdict, evaluation: EvaluationFacts, tools: EvaluationTools) -> Verdict:
    """Write the boundary's sidecar, then the turn in one transaction."""
    from flow.app.evaluation import recording  # most stops have nothing to write

    facts, at = evaluation.facts, tools.now()
    goal = facts.loaded.goal
    if goal.status != "active":  # a quiet evaluation resumes only what it changes
        turns = recording.resume_for_evaluation(
            facts, tools.ledger, tools.records
        ).goal.turns_evaluated
        goal = goal._replace(status="active", turns_evaluated=turns)
        facts = facts._replace(loaded=facts.loaded._replace(goal=goal))
        evaluation = evaluation._replace(facts=facts)
    if evaluation.report.violations:
        tools.ledger.record_evidence(recording.violations(evaluation, at), suffix=True)
    proposal = None
    if verdict.proposed_transition is not None:
        verdict, proposal, _ = _propose(verdict, evaluation, tools)
    seen = facts.loaded.seen
    if evaluation.measurement.goal_touched:
        # A command changed the goal file: that is this turn's failure, and goes on the record.
        seen = seen._replace(contract=None)
    turn = recording.turn(evaluation, verdict, proposal, at)
    status = tools.ledger.write_turn(goal.id, facts.run_id, seen, turn)
    return verdict._replace(lifecycle_to=status)
