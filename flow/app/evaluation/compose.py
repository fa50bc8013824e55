"""From what was measured and decided to a verdict and a turn (SPEC 3, steps 6 to 8)."""

from __future__ import annotations

from flow.app.evaluation import measured_rows, proofs, proposals
from flow.core.decision import explain
from flow.core.decision.decide import Decision, Measured, Opinion
from flow.core.decision.delta import delta
from flow.core.decision.verdict import CriterionResult, Delta, ProposedTransition, Verdict
from flow.core.text import display
from flow.errors import MANY_ROWS
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.evaluation.values import EvaluationFacts, Facts, Request
    from flow.app.ports import ProofDisk, Records
    from flow.core.boundary.rules import BoundaryReport
    from flow.core.goal.loaded import LoadedGoal


def verdict(
    evaluation: EvaluationFacts, request: Request, records: Records, disk: ProofDisk | None = None
) -> Verdict:
    """The verdict, with what it proposes."""
    facts, decision, report = evaluation.facts, evaluation.decision, evaluation.report
    goal = facts.loaded.goal
    results = measured_rows.results(
        goal, evaluation.measurement, evaluation.measured, evaluation.stale
    )
    results, base_warnings = _with_base(facts, results)
    required = frozenset(c.id for c in goal.criteria if c.must_pass)
    in_part = request.only or request.dry_run or evaluation.measurement.not_fresh
    may_propose = facts.proposable and not request.no_proposal and not in_part
    needed = [result for result in results if result.criterion_id in required]
    trust_first = _trust_first(decision, request, may_propose=may_propose)
    grounds = explain.VerdictGrounds(decision, needed, report, evaluation.opinion)
    remarks = _remarks(evaluation, request, may_propose=may_propose)
    reason = explain.reason(grounds, evaluation.candidate, remarks)
    goes_first = _earlier_goals(evaluation)[0]
    if evaluation.broken and not goes_first:
        goes_first = proposals.after_broken_record(goal, facts.run_id)
    hint = explain.hint(
        grounds,
        goal.id,
        goal.evaluator_type,
        may_propose=may_propose,
        trust_first=trust_first,
        first=goes_first,
    )
    previous = records.previous_verdict(facts.run_id, facts.goal_so_far) or {}
    proof, proof_warnings = _proof_document(evaluation, previous, disk)
    return Verdict(
        goal_id=goal.id,
        run_id=facts.run_id,
        verdict=decision.verdict,
        confidence=decision.confidence,
        delta=_verdict_delta(facts, evaluation.measured, previous, records),
        reason=reason,
        next_step_hint=hint,
        blocker_type=decision.blocker_type,
        criterion_results=results,
        path_violations=tuple(display.visible(v.path) for v in report.violations),
        warnings=(
            *facts.loaded.warnings,
            *report.warnings,
            *proof_warnings,
            *measured_rows.optional_failures(evaluation.measured),
            *measured_rows.contradictions(results),
            *base_warnings,
            *(evaluation.opinion.warnings if evaluation.opinion is not None else ()),
        ),
        proposed_transition=_proposed(evaluation, results, reason) if may_propose else None,
        lifecycle_from=goal.status,
        lifecycle_to=decision.status,
        turns_evaluated=facts.turn,
        proof=proof,
        outside=_outside_document(evaluation, disk),
        to_approve=_to_approve(decision, report),
        to_trust=bool(trust_first),
    )


def _trust_first(decision: Decision, request: Request, *, may_propose: bool) -> str:
    """The object of a person's reading before they trust a contract that was only named."""
    if request.no_proposal and decision.blocker_type == "missing_approval":
        return "what changed in the contract"
    only_named = request.only_named and decision.proposed and may_propose
    return "the contract" if only_named else ""


def _waits_for_earlier_goal(evaluation: EvaluationFacts) -> bool:
    """Whether everything is proved and goals that come first are not achieved."""
    decision = evaluation.decision
    held = (decision.verdict, decision.blocker_type) == ("needs_human_review", "missing_dep")
    return bool(evaluation.holds) and held


def _earlier_goals(evaluation: EvaluationFacts) -> tuple[str, list[str]]:
    """The next step and its reason, if earlier goals hold the verdict back; else empty."""
    if not _waits_for_earlier_goal(evaluation):
        return "", []
    from flow.core.decision import after  # few goals come after another

    held = evaluation.holds
    return after.next_line(evaluation.facts.loaded.goal.id, held), after.sentences(held)


def _remarks(evaluation: EvaluationFacts, request: Request, *, may_propose: bool) -> list[str]:
    """The start of the reason: what overrides everything else."""
    remarks = []
    if evaluation.stale:
        remarks.append(f"changed while the commands ran: {display.names(evaluation.stale, 5)}")
    if evaluation.report.rewritten:
        names = display.names(evaluation.report.rewritten, 5)
        remarks.append(f"written to while the commands ran, now as before: {names}")
    if request.judge_named_by and isinstance(evaluation.opinion, Opinion):
        # Which program or address answers by that name is the shell's word, too.
        agent, judge = request.judge_named_by, display.visible(request.judge_backend or "")
        remarks.append(f"the judge was named in {agent}'s shell: {judge}")
    remarks += _earlier_goals(evaluation)[1]
    remarks += [evaluation.broken] if evaluation.broken else []
    if evaluation.measurement.not_fresh:
        remarks.append(f"no fresh evidence of {display.names(evaluation.measurement.not_fresh)}")
    elif _proposal_withheld(evaluation, request, may_propose=may_propose):
        remarks.append("nothing is proposed: " + _why_no_proposal(request))
    return remarks


def _proposal_withheld(evaluation: EvaluationFacts, request: Request, *, may_propose: bool) -> bool:
    """Whether nothing is proposed because of the request, not because of what was measured."""
    part_of_range = not evaluation.facts.proposable and evaluation.candidate == "incomplete"
    proved = evaluation.decision.proposed is not None and not may_propose
    for_trust = _trust_first(evaluation.decision, request, may_propose=False)
    return proved or part_of_range or bool(for_trust)


def _proposed(
    evaluation: EvaluationFacts, results: tuple[CriterionResult, ...], reason: str
) -> ProposedTransition | None:
    decision, grounds = evaluation.decision, proposal_grounds(evaluation)
    if decision.proposed is None:
        return None
    proposal_id = proposals.proposal_id(grounds, decision.verdict, decision.proposed, results)
    return ProposedTransition(decision.proposed, reason, evaluation.facts.turn, proposal_id)


def _to_approve(decision: Decision, report: BoundaryReport) -> tuple[str, ...]:
    """Words for ``flow goal approve``, without which the verdict cannot be achieved."""
    if decision.blocker_type != "missing_approval":
        return ()
    guards = ("guards",) if report.guards_changed else ()
    return (*guards, "protected") if report.protected_changed else guards


def _proof_document(
    evaluation: EvaluationFacts, previous: Mapping[str, Any], disk: ProofDisk | None
) -> tuple[Mapping[str, Any] | None, tuple[str, ...]]:
    """The verdict's part about the files that the commands rest on, and its warnings."""
    facts = evaluation.facts
    if evaluation.proof is None or disk is None:
        return None, ()
    goal = facts.loaded.goal
    told = previous.get("proof")
    told = told if isinstance(told, dict) else None
    protected = facts.protected_changes.paths if facts.protected_changes is not None else ()
    return proofs.verdict_proof(evaluation.proof, goal, facts.baseline, told, disk, aside=protected)


def _outside_document(
    evaluation: EvaluationFacts, disk: ProofDisk | None
) -> Mapping[str, Any] | None:
    """The verdict's part about the files outside, with the lines that changed in the first ones."""
    violations = evaluation.report.violations
    if not violations:
        return None
    from flow.core.decision.outside import outside_advice
    from flow.core.evidence.proof import ProofFile

    goal = evaluation.facts.loaded.goal
    advice = outside_advice(goal.id, violations, evaluation.facts.baseline.base_commit)
    asked = [
        ProofFile(each.path, "changed", each.before, each.after) for each in violations[:MANY_ROWS]
    ]
    counts = disk.lines(asked) if disk is not None else {}
    return advice.with_lines(
        {path: (count.added, count.removed) for path, count in counts.items()}
    ).to_document()


def _with_base(
    facts: Facts, results: tuple[CriterionResult, ...]
) -> tuple[tuple[CriterionResult, ...], tuple[str, ...]]:
    """The rows with their results on the base commit, and the warnings about those."""
    if not facts.base_runs and not facts.base_problem:
        return results, ()
    from flow.app.evaluation import base_facts

    return base_facts.with_base_runs(facts, results)


def proposal_grounds(evaluation: EvaluationFacts) -> proposals.Grounds:
    """The state that a proposal of this evaluation is bound to."""
    opinion, proof = evaluation.opinion, evaluation.proof
    return proposals.Grounds(
        evaluation.facts.subject,
        evaluation.report.guards,
        opinion.evidence_ref if isinstance(opinion, Opinion) else None,
        proof and proofs.digest(proof),
    )


def _why_no_proposal(request: Request) -> str:
    if request.dry_run:
        return "--dry-run"
    if request.only:
        return "--only was given"
    if request.no_proposal:
        return request.no_proposal
    return f"the range from {display.visible(request.base or '')} does not contain the pinned base"


def _verdict_delta(
    facts: Facts, measured: tuple[Measured, ...], previous: Mapping[str, Any], records: Records
) -> Delta:
    """Progress since the previous verdict, or since the goal's statuses where that is unusable."""
    goal = facts.loaded.goal
    before = {c.id for c in goal.criteria if c.status == "pass"}
    rows = previous.get("criterion_results")
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        before = {str(row.get("criterion_id")) for row in rows if row.get("status") == "pass"}
        before &= {c.id for c in goal.criteria}
    decided = {m.criterion_id: m.passing for m in measured if m.decided}
    # An amended criterion starts anew; only where one looks so, the events are asked.
    anew = {c.id for c in goal.criteria if c.status == "pending" and not c.evidence_ref}
    anew &= before | decided.keys()
    if anew and goal.run_id is not None and goal.turns_evaluated:
        anew &= records.amended(goal.run_id, goal.turns_evaluated)
    return delta(before=before, decided=decided, amended=anew, first=goal.turns_evaluated == 0)


def untrusted(loaded: LoadedGoal, run_id: str | None, why: str) -> Verdict:
    """The verdict of an untrusted goal: nothing ran, nothing is written (SPEC 3, step 1)."""
    goal = loaded.goal
    return Verdict(
        goal_id=goal.id,
        run_id=run_id or goal.run_id or "",
        verdict="needs_human_review",
        confidence=0.0,
        delta="unchanged",
        reason=f"the goal's commands are not trusted here: {why}",
        next_step_hint=f"read the contract, then: flow trust record {goal.id}",
        blocker_type="missing_approval",
        criterion_results=measured_rows.unexecuted(goal),
        path_violations=(),
        warnings=loaded.warnings,
        proposed_transition=None,
        lifecycle_from=goal.status,
        lifecycle_to=goal.status,
        turns_evaluated=goal.turns_evaluated,
    )
