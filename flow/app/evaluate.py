"""Evaluating a goal (SPEC section 3), as one list of steps.

*load → trust → subject and change set → resume → run → boundary → judge → decide → write → return.*

An evaluation holds a :class:`~flow.app.ports.TurnLedger` and nothing more, so there is no way from
here to a terminal status: what it may write (``Turn.status``) and what it may only propose
(``ProposedTransition.to``) are two types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flow.app import measure, proposals
from flow.app.ports import Artifact, LastEvaluation, Move, Turn
from flow.core import boundary as bounds
from flow.core import decide, explain, layout
from flow.core.delta import delta
from flow.core.evidence import EVALUATOR, Subject, evidence_document
from flow.core.lifecycle import EVALUABLE, TERMINAL
from flow.core.verdict import ProposedTransition, Verdict
from flow.errors import InputError, StateError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.app.measure import Listener, Measurement
    from flow.app.ports import (
        LoadedGoal,
        Records,
        RunChecks,
        Seen,
        TakeSnapshot,
        Trigger,
        TurnLedger,
        Watch,
    )
    from flow.core.boundary import Baseline, BoundaryReport, Snapshot
    from flow.core.decide import Candidate, Decision, Opinion, Silence
    from flow.core.goal import Goal
    from flow.core.verdict import Delta


class Request(NamedTuple):
    """What a caller asks for. ``timeout_seconds`` and ``jobs`` override goal and settings."""

    goal_id: str
    trigger: Trigger = "manual"
    run_id: str | None = None
    base: str | None = None
    only: tuple[str, ...] = ()
    jobs: int | None = None
    timeout_seconds: float | None = None
    no_judge: bool = False
    dry_run: bool = False


class Limits(NamedTuple):
    """What the settings say about evaluating."""

    jobs: int
    timeout_seconds: float
    denied_paths: tuple[str, ...]


class Tools(NamedTuple):
    """Everything an evaluation touches outside of values."""

    records: Records
    ledger: TurnLedger
    trusted: Callable[[LoadedGoal], tuple[bool, str]]
    """Whether the contract may run here, and why or why not."""
    baseline: Callable[[Goal, str], Baseline]
    """The baseline of (goal, run id); what can be known of it where none was recorded."""
    snapshot: TakeSnapshot
    widen: Callable[[Baseline, str], tuple[Baseline, bool]]
    """The baseline moved to another base, and whether its range contains the pinned one."""
    run_checks: RunChecks
    watch: Callable[[str, str], Watch]
    """Watches (goal id, run id) for changes that Flow did not make."""
    keep_by_products: Callable[[str, str, Baseline], None]
    now: Callable[[], str]
    limits: Limits
    version: str
    listener: Listener
    judge: Callable[[LoadedGoal, Sequence[Measurement]], Opinion | Silence] | None = None


class _Facts(NamedTuple):
    """What is known before any command runs."""

    loaded: LoadedGoal
    run_id: str
    turn: int
    baseline: Baseline
    before: Snapshot
    subject: Subject
    proposable: bool


def evaluate(request: Request, tools: Tools) -> Verdict:
    """Evaluate one goal; returns the verdict and never writes ``last-verdict.json``.

    Raises :class:`InputError` for an unknown criterion or branch mismatch, :class:`StateError` for
    a draft, closed or meanwhile changed goal, :class:`OutsideError` where disk, git or a lock
    fails.
    """
    if not request.dry_run:
        tools.ledger.finish(request.goal_id)
    loaded = tools.records.goal(request.goal_id)
    _refuse_unless_evaluable(loaded.goal)
    only = _only(loaded.goal, request.only)
    trusted, why = tools.trusted(loaded)
    if not trusted:
        return _untrusted(loaded, request, why)

    facts = _look(loaded, request, tools)
    if loaded.goal.status != "active" and not request.dry_run:
        facts = facts._replace(loaded=_resume(facts, tools))
    measurement = measure.run(
        facts.loaded.goal,
        facts.subject,
        facts.run_id,
        facts.turn,
        only=only,
        request_timeout=request.timeout_seconds,
        jobs=request.jobs,
        dry_run=request.dry_run,
        tools=tools,
    )
    baseline, stale = _look_again(facts, measurement, request, tools)
    approvals = proposals.fresh_approvals(facts.loaded.goal, facts.subject, tools.records)
    report = _boundary(facts, baseline, tools)
    measured = measure.judgeable(facts.loaded.goal, measurement, approvals, stale=bool(stale))
    found = decide.candidate(measured, boundary_known=report.status != "inconclusive")
    opinion = _ask(found, report, facts, request, tools, measurement)
    decision = decide.decide(
        found,
        violation=report.status == "outside",
        evaluator_type=loaded.goal.evaluator_type,
        trigger=request.trigger,
        judge=opinion,
        review=bool(report.guards_changed),
    )
    verdict = _verdict(
        facts, request, tools, measurement, measured, stale, report, found, opinion, decision
    )
    if request.dry_run:
        return verdict._replace(lifecycle_to=loaded.goal.status, turns_evaluated=facts.turn - 1)
    return _write(verdict, decision, found, facts, report, measurement, measured, tools)


def _refuse_unless_evaluable(goal: Goal) -> None:
    if goal.status in EVALUABLE:
        return
    if goal.status in TERMINAL:
        remedy = f"a closed goal stays closed; start anew: flow goal create NEW --from {goal.id}"
    else:
        remedy = f"activate it first: flow goal activate {goal.id}"
    raise StateError(
        f"goal {goal.id} is {goal.status} and cannot be evaluated",
        key="lifecycle.status",
        value=goal.status,
        remedy=remedy,
    )


def _only(goal: Goal, wanted: Sequence[str]) -> frozenset[str] | None:
    if not wanted:
        return None
    known = [c.id for c in goal.criteria]
    for criterion_id in wanted:
        if criterion_id not in known:
            raise InputError(
                f"goal {goal.id} has no criterion {criterion_id!r:.60}",
                key="--only",
                value=criterion_id,
                remedy=f"it has {explain.names(known)}",
            )
    return frozenset(wanted)


def _look(loaded: LoadedGoal, request: Request, tools: Tools) -> _Facts:
    """Take the subject and the change set now, before any command runs."""
    goal = loaded.goal
    run_id = request.run_id or goal.run_id or layout.run_id_for(goal.id, tools.now())
    baseline = tools.baseline(goal, run_id)
    proposable = True
    if request.base is not None:
        baseline, proposable = tools.widen(baseline, request.base)
    before = tools.snapshot(baseline, _denied(goal, tools))
    refuse_other_branch(goal, before.branch)
    subject = subject_of(loaded, before, baseline, tools.version)
    return _Facts(loaded, run_id, goal.turns_evaluated + 1, baseline, before, subject, proposable)


def refuse_other_branch(goal: Goal, branch: str | None) -> None:
    """Raise :class:`StateError` where another branch than the goal's is checked out."""
    if branch is not None and branch != goal.branch:
        raise StateError(
            f"goal {goal.id} belongs to branch {explain.visible(goal.branch)}, "
            f"and {explain.visible(branch)} is checked out",
            code="wrong_branch",
            key="scope.branch",
            value=goal.branch,
            remedy=f"git switch {explain.visible(goal.branch)}",
        )


def subject_of(loaded: LoadedGoal, snapshot: Snapshot, baseline: Baseline, version: str) -> Subject:
    """The stamp for evidence measured on ``snapshot``."""
    tree = None
    if not snapshot.problems:
        tree = bounds.subject_tree(snapshot, baseline, own_files(loaded.goal, baseline))
    return Subject(snapshot.head, tree, loaded.contract, version)


def own_files(goal: Goal, baseline: Baseline) -> Callable[[str], bool]:
    """Which changed paths are files that Flow wrote itself: journals of this checkout."""
    return bounds.OwnFiles(baseline.journal_dir, goal.journal)


def _denied(goal: Goal, tools: Tools) -> tuple[str, ...]:
    return (*goal.denied_paths, *tools.limits.denied_paths)


def _resume(facts: _Facts, tools: Tools) -> LoadedGoal:
    """A waiting or blocked goal becomes ``active`` first, on the record."""
    goal = facts.loaded.goal
    reason = "resumed for evaluation"
    tools.ledger.move(
        goal.id,
        facts.run_id,
        facts.loaded.seen,
        Move(
            to="active",
            reason=reason,
            artifact=transition_artifact(goal, facts.run_id, "active", reason),
            event={"type": "transition", "from": goal.status, "to": "active", "reason": reason},
            scope={} if goal.run_id == facts.run_id else {"run_id": facts.run_id},
        ),
    )
    return tools.records.goal(goal.id)


def transition_artifact(
    goal: Goal, run_id: str, to: str, reason: str, result: str | None = None
) -> Artifact:
    """The ``goal-evaluation`` artifact of a change of status outside an evaluation."""
    last = (goal.last_evaluation or {}).get("result")
    failures = [c.id for c in goal.criteria if c.must_pass and c.status != "pass"]
    return Artifact(
        "goal-evaluation",
        {
            "goal_id": goal.id,
            "result": result or last or "incomplete",
            "from": goal.status,
            "to": to,
            "reason": reason,
            "evidence_bundle": layout.run_dir(run_id),
            "failures": failures or "none",
        },
    )


def _look_again(
    facts: _Facts, measurement: measure.Measurements, request: Request, tools: Tools
) -> tuple[Baseline, tuple[str, ...]]:
    """Find by-products, and whether anything else moved while commands ran.

    Returns the baseline with its by-products, and the paths that make this evaluation stale.
    """
    if request.dry_run or not measurement.ran:
        return facts.baseline, ()
    after = tools.snapshot(facts.baseline, _denied(facts.loaded.goal, tools))
    if after.problems and not facts.before.problems:
        return facts.baseline, after.problems
    found = bounds.find_by_products(facts.before, after, facts.baseline)
    baseline = facts.baseline
    if found:
        baseline = baseline._replace(by_products={**baseline.by_products, **found})
        if request.base is None:
            tools.keep_by_products(facts.loaded.goal.id, facts.run_id, baseline)
    if facts.before.problems:
        return baseline, ()
    again = subject_of(facts.loaded, after, baseline, tools.version)
    if again.tree == facts.subject.tree and again.head == facts.subject.head:
        return baseline, ()
    moved = bounds.moved(facts.before, after, baseline, own_files(facts.loaded.goal, baseline))
    return baseline, moved or ("HEAD",)


def _boundary(facts: _Facts, baseline: Baseline, tools: Tools) -> BoundaryReport:
    goal = facts.loaded.goal
    report = bounds.judge(
        facts.before,
        baseline,
        allowed=goal.allowed_paths,
        denied=_denied(goal, tools),
        protected=goal.protected_paths,
        own_files=own_files(goal, baseline),
    )
    approved = proposals.approved_guards(goal, facts.run_id, facts.before, tools.records)
    return report._replace(guards_changed=()) if approved else report


def _ask(
    found: Candidate,
    report: BoundaryReport,
    facts: _Facts,
    request: Request,
    tools: Tools,
    measurement: measure.Measurements,
) -> Opinion | Silence | None:
    kind = facts.loaded.goal.evaluator_type
    if report.status == "outside" or found in ("fail", "incomplete"):
        return None
    if not decide.judge_wanted(found, kind, request.trigger):
        if kind == "flow_verdict_judge":
            return decide.Silence("asked only when a person starts the evaluation (trigger manual)")
        return None
    if request.no_judge:
        return decide.Silence("not asked (--no-judge)")
    if tools.judge is None or request.dry_run:
        return decide.Silence("none configured" if tools.judge is None else "not asked (--dry-run)")
    return tools.judge(facts.loaded, measurement.rows)


def _verdict(
    facts: _Facts,
    request: Request,
    tools: Tools,
    measurement: measure.Measurements,
    measured: Sequence[decide.Measured],
    stale: tuple[str, ...],
    report: BoundaryReport,
    found: Candidate,
    opinion: Opinion | Silence | None,
    decision: Decision,
) -> Verdict:
    goal = facts.loaded.goal
    results = measure.results(goal, measurement, measured, stale)
    required = frozenset(c.id for c in goal.criteria if c.must_pass)
    may_propose = not request.only and not request.dry_run and facts.proposable
    remarks = []
    if stale:
        remarks.append(f"changed while the commands ran: {explain.names(stale, 5)}")
    if decision.proposed and not may_propose:
        remarks.append("nothing is proposed: " + _why_not(request))
    reason = explain.reason(decision, found, results, required, report, opinion, remarks)
    proposed = None
    if decision.proposed and may_propose:
        proposed = ProposedTransition(
            decision.proposed,
            reason,
            facts.turn,
            proposals.proposal_id(facts.subject, decision.verdict, decision.proposed, results),
        )
    return Verdict(
        goal_id=goal.id,
        run_id=facts.run_id,
        verdict=decision.verdict,
        confidence=decision.confidence,
        delta=_delta(facts, measured, tools.records),
        reason=reason,
        next_step_hint=explain.hint(
            decision, goal.id, results, required, report, opinion, goal.evaluator_type
        ),
        blocker_type=decision.blocker_type,
        criterion_results=results,
        path_violations=tuple(explain.visible(v.path) for v in report.violations),
        warnings=(
            *facts.loaded.warnings,
            *report.warnings,
            *measurement.warnings,
            *measure.optional_failures(measured),
        ),
        proposed_transition=proposed,
        lifecycle_from=goal.status,
        lifecycle_to=decision.status,
        turns_evaluated=facts.turn,
    )


def _why_not(request: Request) -> str:
    if request.dry_run:
        return "--dry-run"
    if request.only:
        return "--only leaves criteria out"
    return f"the range from {explain.visible(request.base or '')} does not contain the pinned base"


def _delta(facts: _Facts, measured: Sequence[decide.Measured], records: Records) -> Delta:
    goal = facts.loaded.goal
    previous = records.previous_verdict(facts.run_id)
    before = {c.id for c in goal.criteria if c.status == "pass"}
    if previous is not None and previous.get("goal_id") == goal.id:
        rows = previous.get("criterion_results")
        if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
            before = {row["criterion_id"] for row in rows if row.get("status") == "pass"}
    return delta(
        before=before,
        decided={m.criterion_id: m.passing for m in measured if m.decided},
        first=goal.turns_evaluated == 0,
    )


def _write(
    verdict: Verdict,
    decision: Decision,
    found: Candidate,
    facts: _Facts,
    report: BoundaryReport,
    measurement: measure.Measurements,
    measured: Sequence[decide.Measured],
    tools: Tools,
) -> Verdict:
    goal = facts.loaded.goal
    at = tools.now()
    if report.violations:
        _record_violations(facts, report, at, tools.ledger)
    proposal = None
    if verdict.proposed_transition is not None:
        live = tools.records.proposal(facts.run_id)
        proposal = proposals.document(verdict, facts.subject, at, live)
        verdict = verdict._replace(
            proposed_transition=verdict.proposed_transition._replace(
                proposal_id=proposal["proposal_id"]
            )
        )
    failures = [m.criterion_id for m in measured if m.must_pass and not m.passing]
    turn = Turn(
        status=decision.status,
        turns_evaluated=facts.turn,
        last_evaluation=LastEvaluation(decision.result, verdict.reason, at),
        criteria=measure.updates(goal, measurement, verdict.criterion_results, at),
        artifact=Artifact(
            "goal-evaluation",
            {
                "goal_id": goal.id,
                "result": decision.result,
                "from": goal.status,
                "to": decision.status,
                "reason": verdict.reason,
                "evidence_bundle": layout.run_dir(facts.run_id),
                "failures": failures or "none",
            },
        ),
        event={
            "type": "evaluated",
            "turn": facts.turn,
            "from": goal.status,
            "to": decision.status,
            "verdict": decision.verdict,
            "candidate": found,
            "delta": verdict.delta,
            "reason": verdict.reason,
            "passing": [m.criterion_id for m in measured if m.passing],
            "subject": facts.subject.to_document(),
            "proposal_id": proposal["proposal_id"] if proposal else None,
        },
        proposal=proposal,
        scope={} if goal.run_id == facts.run_id else {"run_id": facts.run_id},
    )
    seen: Seen = facts.loaded.seen
    if measurement.goal_touched:
        # A command changed the goal file: that is this turn's failure, and it must be on the
        # record.
        seen = seen._replace(contract=None)
    status = tools.ledger.write_turn(goal.id, facts.run_id, seen, turn)
    return verdict._replace(lifecycle_to=status)


def _record_violations(facts: _Facts, report: BoundaryReport, at: str, ledger: TurnLedger) -> None:
    goal = facts.loaded.goal
    ledger.record_evidence(
        evidence_document(
            id=f"evidence-boundary-eval-{facts.turn}",
            goal=goal.id,
            run_id=facts.run_id,
            created_at=at,
            created_by=EVALUATOR,
            type="path_boundary_check",
            body={
                "proves": [],
                "violations": [
                    {"path": explain.visible(v.path), "why": explain.visible(v.why)}
                    for v in report.violations
                ],
                "limitations": ["Says which paths changed, not whether the changes are right."],
                "subject": facts.subject.to_document(),
            },
        ),
        suffix=True,
    )


def _untrusted(loaded: LoadedGoal, request: Request, why: str) -> Verdict:
    """Nothing is run and nothing is written (SPEC section 3, step 1)."""
    goal = loaded.goal
    return Verdict(
        goal_id=goal.id,
        run_id=request.run_id or goal.run_id or "",
        verdict="needs_human_review",
        confidence=0.0,
        delta="unchanged",
        reason=f"the goal's commands are not trusted here: {why}",
        next_step_hint=f"read the contract, then: flow trust record {goal.id}",
        blocker_type="missing_approval",
        criterion_results=measure.unexecuted(goal),
        path_violations=(),
        warnings=loaded.warnings,
        proposed_transition=None,
        lifecycle_from=goal.status,
        lifecycle_to=goal.status,
        turns_evaluated=goal.turns_evaluated,
    )
