"""The ways to a terminal status (SPEC 2); each records who took it, and how.

Nothing here tests whether a person speaks. The command line asks at a terminal, and Claude Code
asks before ``flow goal confirm`` runs (:func:`flow.app.tool_calls.question_before`). The Stop hook
has one way, :func:`give_up`, to ``failed`` alone. An evaluation cannot come through here: it has no
:class:`~flow.app.ports.ClosingLedger`, which every way needs.
"""

from __future__ import annotations

from flow.app.evaluation import proofs, proposals, recording
from flow.app.evaluation.goal_rules import deciding_snapshot, goal_boundary, own_files
from flow.app.evaluation.observing import refuse_other_branch
from flow.app.evaluation.values import Evaluated, ProofObservation
from flow.app.ports import (
    Closing,
    CriterionUpdate,
    LastEvaluation,
    Turn,
    goal_evaluation,
    status_move,
)
from flow.app.transitions.persons_word import PersonsWord
from flow.core.boundary.by_products import subject_tree
from flow.core.boundary.guards import differences
from flow.core.decision.after import holds, sentences
from flow.core.decision.confirming import LEAST_PREFIX, names_proposal
from flow.core.decision.verdict import REASON_LIMIT, ProposedTransition, Verdict
from flow.core.goal.lifecycle import TERMINAL, NonTerminal, Terminal, check_move, first_step
from flow.core.stop.pause import STOP_HOOK
from flow.core.text import display
from flow.core.text.display import clip
from flow.errors import PersonNeeded, StaleProposal, StateError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.ports import Records, TurnLedger
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.evidence.model import Evidence
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal

RESULT_OF: Mapping[str, str] = {"achieved": "pass", "failed": "fail"}


class Closed(NamedTuple):
    """A goal that was just closed."""

    goal_id: str
    run_id: str
    status: Terminal
    reason: str
    proposal_id: str | None
    by: str = ""
    by_from: str | None = None
    """Source of the name ``by``; None if the caller gave the name."""
    note: str = ""

    def to_document(self) -> dict[str, Any]:
        """The document that ``--json`` prints."""
        return dict(self._asdict())


class _Closer(NamedTuple):
    """The person or hook that closes a goal, and the command used."""

    word: PersonsWord
    how: str
    asked: bool = True
    """Whether a person was asked; a stuck loop is closed by the Stop hook alone."""


class _End(NamedTuple):
    """A goal's final status, and what is written with it."""

    run_id: str
    to: Terminal
    reason: str
    proposal_id: str | None = None
    criteria: tuple[CriterionUpdate, ...] = ()
    last_evaluation: LastEvaluation | None = None
    turns_evaluated: int | None = None
    """None leaves the number as it is."""


def confirm(
    context: ClosingContext,
    goal_id: str,
    proposal_id: str,
    reason: str | None,
    how: str,
    word: PersonsWord | None = None,
) -> Closed:
    """Write the proposed terminal status, if nothing it rests on has moved.

    ``how`` names the command (``flow goal confirm``); without a ``word`` it is the user's, and
    has no note. Raises :class:`StaleProposal`, which says what moved, and why earlier records do
    not count if they do not, and :class:`LockTimeout` while an evaluation of the goal runs.
    """
    context.await_evaluation(goal_id)
    context.ledger.finish(goal_id)
    refuse_broken(context, goal_id)
    try:
        return _confirm_live(
            context, goal_id, proposal_id, reason, _Closer(word or PersonsWord(context.who), how)
        )
    except StaleProposal as error:
        troubles, fault = "; ".join(context.troubles()), error.faults[0]
        if not troubles:
            raise
        raise at_key(fault.key, fault.value).stale(
            f"{fault.message} ({troubles})",
            f"look at it, then, at a terminal: flow goal evaluate {goal_id} --confirm",
        ) from error


def refuse_broken(context: ClosingContext, goal_id: str) -> None:
    """Raise :class:`StaleProposal` if the record that a proposal would rest on is broken."""
    goal = context.records.goal(goal_id).goal
    run_id = goal.run_id or ""
    broken = context.broken(run_id) if run_id else ()
    if broken:
        raise in_file(broken[0].file).stale(
            proposals.broken_record(run_id, broken), proposals.after_broken_record(goal, run_id)
        )


def refuse_stale(context: ClosingContext, goal_id: str) -> None:
    """Raise :class:`StaleProposal` unless a live proposal still holds."""
    loaded = context.records.goal(goal_id)
    proposal = proposals.live_proposal(context.records, loaded.goal)
    moved = what_moved(context, loaded, proposal) if proposal else ["there is none"]
    if moved:
        raise at_key("lifecycle.status", "achieved").stale(
            f"no live proposal for goal {goal_id}: {'; '.join(moved)}", _new_proposal(loaded.goal)
        )


def _new_proposal(goal: Goal) -> str:
    """The remedy for a goal without a live proposal: how to get one, if it can have one."""
    return first_step(goal.status, goal.id) or f"evaluate again: flow goal evaluate {goal.id}"


def _confirm_live(
    context: ClosingContext, goal_id: str, proposal_id: str, reason: str | None, closer: _Closer
) -> Closed:
    loaded = context.records.goal(goal_id)
    goal = loaded.goal
    proposal = proposals.live_proposal(context.records, goal)
    if proposal is not None and names_proposal(proposal_id, str(proposal["proposal_id"])):
        proposal_id = str(proposal["proposal_id"])
    if goal.status in TERMINAL:
        raise at_key("--proposal", proposal_id).stale(
            f"goal {goal.id} is {goal.status} already, so no proposal for it is live",
            _new_proposal(goal),
        )
    named = proposal is not None and proposal["proposal_id"] == proposal_id
    if proposal is not None and len(proposal_id) < LEAST_PREFIX and not named:
        raise at_key("--proposal", proposal_id).stale(
            f"{proposal_id!r} is too short to name a proposal: it takes {LEAST_PREFIX} digits",
            f"evaluate again, which names it: flow goal evaluate {goal.id}",
        )
    if proposal is None or not named:
        raise at_key("--proposal", proposal_id).stale(
            f"goal {goal.id} has no live proposal {proposal_id!r:.80}", _new_proposal(goal)
        )
    moved = what_moved(context, loaded, proposal)
    if moved:
        raise at_key("--proposal", proposal_id).stale(
            f"the proposal for goal {goal.id} is stale: {'; '.join(moved)}",
            f"evaluate again: flow goal evaluate {goal.id}",
        )
    to: Terminal = proposal["to"]
    run_id = str(proposal["run_id"])
    why = (reason or "").strip() or str(proposal["reason"])
    if goal.status != "active":
        loaded = _reactivate(context, loaded, run_id, closer.word)
    end = _End(run_id, to, why, proposal_id, _newer_evidence(goal, proposal))
    return _close_goal(context, loaded, end, closer)


def _newer_evidence(goal: Goal, proposal: Mapping[str, Any]) -> tuple[CriterionUpdate, ...]:
    """The evidence that the proposal counted, where the goal names older one.

    The Stop hook measures again without touching the goal where the result is the same.
    """
    by_id = {row.criterion_id: row for row in proposals.rows(proposal)}
    return tuple(
        CriterionUpdate(criterion.id, row.status, row.evidence_ref)
        for criterion in goal.criteria
        if (row := by_id.get(criterion.id)) is not None
        and row.status == criterion.status
        and row.evidence_ref not in (None, criterion.evidence_ref)
    )


def give_up(
    context: ClosingContext, evaluated: Evaluated, reason: str, how: str, now: str
) -> Closed:
    """Close the goal of a loop that is stuck as ``failed``, for the Stop hook (SPEC 6).

    Turning the loop on is the user's standing answer. Only what an evaluation just saw is closed:
    anything that moved since is refused.
    """
    verdict = evaluated.verdict
    loaded = context.records.goal(verdict.goal_id)
    if (
        evaluated.evaluation is not None
        and loaded.contract != evaluated.evaluation.facts.loaded.contract
    ):
        raise StateError(
            f"the contract of goal {verdict.goal_id} was changed while it was evaluated",
            code="moved",
            remedy="evaluate again",
        )
    hook = PersonsWord(STOP_HOOK)
    if loaded.goal.status != "active":
        loaded = _reactivate(context, loaded, verdict.run_id, hook)
    criteria: tuple[CriterionUpdate, ...] = ()
    if evaluated.evaluation is not None:
        facts, measurement = evaluated.evaluation.facts, evaluated.evaluation.measurement
        criteria = recording.updates(facts.loaded.goal, measurement, verdict.criterion_results, now)
    end = _End(
        verdict.run_id,
        "failed",
        reason,
        criteria=criteria,
        last_evaluation=LastEvaluation("fail", clip(reason, REASON_LIMIT), now),
        turns_evaluated=verdict.turns_evaluated,
    )
    return _close_goal(context, loaded, end, _Closer(hook, how, asked=False))


def propose_failed(
    ledger: TurnLedger,
    records: Records,
    evaluated: Evaluated,
    reason: str,
    *,
    waits: bool,
    now: str,
) -> Verdict:
    """Propose ``failed`` for a reason; with ``waits`` the goal waits for the user meanwhile.

    Returns the verdict with what it proposes. It writes no terminal status.
    """
    verdict, evaluation = evaluated
    if evaluation is None:
        return verdict
    loaded = records.goal(verdict.goal_id)
    goal = loaded.goal
    grounds = proposals.Grounds(evaluation.facts.subject, evaluation.report.guards)
    if grounds.subject.tree is None:  # nobody could confirm it
        return verdict._replace(reason=reason)
    rows = verdict.criterion_results
    proposal_id = proposals.proposal_id(grounds, verdict.verdict, "failed", rows)
    proposed = ProposedTransition("failed", reason, verdict.turns_evaluated, proposal_id)
    lifecycle_to = "waiting_for_user" if waits else goal.status
    verdict = verdict._replace(
        reason=reason, lifecycle_to=lifecycle_to, proposed_transition=proposed
    )
    live = records.proposal(verdict.run_id)
    proposal = proposals.document(verdict, grounds, now, live, records.counted)
    to: NonTerminal = "waiting_for_user" if waits else "active"
    updates = (
        () if evaluation.written else recording.updates(goal, evaluation.measurement, rows, now)
    )
    turn = Turn(
        status=to,
        turns_evaluated=verdict.turns_evaluated,
        last_evaluation=LastEvaluation(evaluation.decision.result, clip(reason, REASON_LIMIT), now),
        criteria=updates,
        artifact=goal_evaluation(goal, verdict.run_id, to=to, reason=reason),
        event={
            "type": "transition",
            "from": goal.status,
            "to": to,
            "reason": reason,
            "proposal_id": proposal["proposal_id"],
        },
        proposal=proposal,
    )
    ledger.write_turn(goal.id, verdict.run_id, loaded.seen, turn)
    proposed = proposed._replace(proposal_id=proposal["proposal_id"])
    return verdict._replace(proposed_transition=proposed)


def what_moved(
    context: ClosingContext,
    loaded: LoadedGoal,
    proposal: Mapping[str, Any],
    now: Snapshot | None = None,
    counted: Callable[[str], Evidence | None] | None = None,
) -> list[str]:
    """Differences from the state that the proposal rests on; empty while it is live.

    ``now`` is a snapshot of the files that the caller has just taken; without it, one is taken
    here. ``counted`` is the caller's lookup of sidecars, each read once.
    """
    goal = loaded.goal
    moved = []
    if loaded.contract != proposal["contract"]:
        moved.append("the contract was changed")
    trusted, why = context.trusted(loaded)
    if not trusted:
        moved.append(why)
    baseline = context.baseline(goal, str(proposal["run_id"])).baseline
    now = now or deciding_snapshot(context, goal, baseline)
    refuse_other_branch(goal, now.branch)
    if now.problems:
        moved.append(f"git cannot say what the files are now ({display.names(now.problems, 2)})")
    else:
        guards = differences(proposal["guards"], now.guards)
        if guards:
            names = display.names(guards)
            moved.append(f"git's hooks or settings were changed since it was made: {names}")
        now = now._replace(guards=proposal["guards"])
        tree = subject_tree(now, baseline, own_files(goal, baseline), as_recorded=True)
        if tree != proposal["tree"]:
            committed = " or committed" if now.head != proposal.get("head") else ""
            moved.append(f"the files were changed{committed} since it was made")
        elif proposal.get("proof") is not None and context.proof is not None:
            files = proofs.files_now(goal, baseline, now, context.proof)
            if proofs.digest(ProofObservation(after=files)) != proposal["proof"]:
                moved.append("what the commands rest on was changed since it was made")
        moved += _outside(context, goal, now, baseline) if proposal["to"] == "achieved" else []
    if goal.after and proposal["to"] == "achieved":
        moved += sentences(holds(goal.id, goal.after, context.earlier))
    counted = counted or proposals.counted_once(context.records.counted)
    moved += proposals.lost_grounds(proposal, counted)
    moved += proposals.outdated(proposal, counted, context.version, context.now())
    return moved


def _outside(context: ClosingContext, goal: Goal, now: Snapshot, baseline: Baseline) -> list[str]:
    """The changed paths that are not the goal's: the settings may deny more than they did."""
    report = goal_boundary(goal, now, baseline, context.denied(goal), inside=False)
    named = [f"{display.visible(each.path)} ({each.why})" for each in report.violations]
    return [f"outside the goal's paths: {display.names(named, 5)}"] if named else []


def cancel(
    context: ClosingContext, goal_id: str, reason: str, how: str, word: PersonsWord | None = None
) -> Closed:
    """Cancel a goal that is not closed yet; ``word`` as for :func:`confirm`."""
    loaded = context.finished(goal_id)
    end = _End(loaded.goal.run_id or "", "cancelled", reason)
    return _close_goal(context, loaded, end, _Closer(word or PersonsWord(context.who), how))


def _reactivate(
    context: ClosingContext, loaded: LoadedGoal, run_id: str, word: PersonsWord
) -> LoadedGoal:
    """From ``blocked`` or a waiting status to a terminal one is two recorded steps."""
    goal = loaded.goal
    move = status_move(goal, run_id, "active", "resumed to be closed", {"by": word.by})
    context.ledger.move(goal.id, run_id, loaded.seen, move)
    return context.records.goal(goal.id)


def _close_goal(context: ClosingContext, loaded: LoadedGoal, end: _End, closer: _Closer) -> Closed:
    goal = loaded.goal
    check_move(goal.status, end.to, goal=goal.id)  # the ledger makes the move, under its lock
    result = RESULT_OF.get(end.to)
    artifact = goal_evaluation(goal, end.run_id, to=end.to, reason=end.reason, result=result)
    word, how = closer.word, closer.how
    confirmed = {"confirmed_by": word.by} if closer.asked else {}
    fields = {**artifact.fields, **confirmed, **word.fields, "how": how}
    if end.proposal_id:
        fields["proposal_id"] = end.proposal_id
    closing = Closing(
        to=end.to,
        reason=end.reason,
        artifact=artifact._replace(fields=fields),
        event={
            "type": "confirmed" if end.proposal_id else "transition",
            "from": goal.status,
            "to": end.to,
            "reason": end.reason,
            "by": word.by,
            **word.fields,
            "how": how,
            "proposal_id": end.proposal_id,
        },
        proposal_id=end.proposal_id,
        last_evaluation=end.last_evaluation,
        criteria=end.criteria,
        turns_evaluated=end.turns_evaluated,
    )
    context.ledger.close(goal.id, end.run_id, loaded.seen, closing)
    return Closed(goal.id, end.run_id, end.to, end.reason, end.proposal_id, **word._asdict())


def refuse_closed(goal: Goal, doing: str) -> None:
    """Raise :class:`StateError` if ``goal`` is closed."""
    if goal.status in TERMINAL:
        raise at_key("lifecycle.status", goal.status).wrong_state(
            f"goal {goal.id} is {goal.status}; {doing} is not possible any more",
            f"start anew: flow goal create NEW --from {goal.id}",
        )


def refuse_untrusted(goal: Goal, what: str, trusted: tuple[bool, str]) -> None:
    """Raise :class:`PersonNeeded` unless the contract is trusted; ``trusted`` also says why not."""
    if not trusted[0]:
        raise PersonNeeded(
            f"{what} not trusted here: {trusted[1]}",
            code="not_trusted",
            remedy=f"read the contract, then: flow trust record {goal.id}",
        )
