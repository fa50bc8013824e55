"""Gathering what a person must know before a goal is closed; nothing is run, nothing is written."""

from __future__ import annotations

from flow.app.evaluation import proofs, protected_files
from flow.app.evaluation.closing_context import ClosingPort
from flow.app.evaluation.goal_rules import (
    deciding_snapshot,
    goal_boundary,
    own_files,
    protected_changes,
)
from flow.app.evaluation.proposals import ProposedRow, counted_once, live_proposal, rows
from flow.app.evaluation.values import ProofObservation
from flow.app.ports import GoalPort, TrustingPort, TrustLedgerPort
from flow.app.transitions import closing as transitions_closing
from flow.app.transitions.beside import OpenGoalsPort, others_open
from flow.core.boundary import rules as bounds
from flow.core.boundary.changes import as_at_activation
from flow.core.chain.closing_record import PLACES
from flow.core.decision.confirming import (
    ConfirmQuestion,
    ContractStep,
    CriterionProof,
    ProvedBy,
    TrustGround,
)
from flow.core.decision.details import judged_figures
from flow.core.evidence.model import GENERAL_LIMITATIONS, Evidence
from flow.core.evidence.proof import ProofChange, ProofFile
from flow.core.goal import ids
from flow.errors import FlowError
from flow.startup.json import items_of
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.evaluation.values import Evaluated
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.loaded import LoadedGoal, TrustEntry
    from flow.core.goal.model import Criterion, Goal

STARTS = ("flow goal create", "flow goal activate")
"""The commands whose trust is in the contract that a goal began with."""


class ConfirmPort(OpenGoalsPort, GoalPort, ClosingPort, TrustingPort, TrustLedgerPort, Protocol):
    """Interface of the Confirm question to the checkout."""

    def amendments(self, run_id: str) -> Sequence[Mapping[str, Any]]:
        """The run's events about its contract, oldest first."""


def live_question(
    port: ConfirmPort,
    goal_id: str,
    snapshot: Snapshot | None = None,
    counted: Callable[[str], Evidence | None] | None = None,
) -> ConfirmQuestion | None:
    """The Confirm question of the live proposal; None without a live proposal.

    Gathered from Flow's own records: no words of an agent are in it. ``snapshot`` and ``counted``
    are as for :func:`question`.
    """
    loaded, context = port.load(ids.goal_id(goal_id)), port.closing_context()
    proposal = live_proposal(context.records, loaded.goal)
    if proposal is None:
        return None
    with context.records.together(str(proposal["run_id"])):
        return question(context, loaded, proposal, port, snapshot, counted)


def with_question(port: ConfirmPort, evaluated: Evaluated) -> Verdict:
    """The verdict, its proposal with what a person must know before they confirm it."""
    verdict, evaluation = evaluated
    proposed = verdict.proposed_transition
    if proposed is None:
        return verdict
    snapshot = evaluation.last_snapshot if evaluation is not None else None
    counted = evaluation.counted if evaluation is not None else None
    asked = live_question(port, verdict.goal_id, snapshot, counted)
    if asked is None or asked.proposal_id != proposed.proposal_id:
        return verdict
    confirm = asked.to_document()
    return verdict._replace(proposed_transition=proposed._replace(confirm=confirm))


def question(
    context: ClosingContext,
    loaded: LoadedGoal,
    proposal: Mapping[str, Any],
    port: ConfirmPort,
    snapshot: Snapshot | None = None,
    counted: Callable[[str], Evidence | None] | None = None,
) -> ConfirmQuestion:
    """The facts that a person must know before confirming ``proposal``, as of now.

    ``snapshot`` is the snapshot of the files after the evaluation that has just made the proposal,
    ``counted`` its lookup of sidecars; without them the files and sidecars are read here, once for
    everything.
    """
    goal, run_id = loaded.goal, str(proposal["run_id"])
    known = context.baseline(goal, run_id)
    baseline = known.baseline
    snapshot = snapshot or deciding_snapshot(context, goal, baseline)
    report = goal_boundary(goal, snapshot, baseline, context.denied(goal), inside=False)
    unknown = [f"the files cannot be looked at: {problem}" for problem in snapshot.problems]
    unknown += bounds.not_looked_at(snapshot, goal.allowed_paths)
    unknown += bounds.set_back(snapshot, baseline, goal.created_at)
    history = _trusted_contracts(port, goal.id)
    steps, gaps = contract_steps(loaded, history, port.amendments(run_id))
    proof = _proof_change(context, goal, baseline, snapshot)
    changed, beside_proof = _changed(
        snapshot, baseline, report.by_products, own_files(goal, baseline), proof.files
    )
    counted = counted or counted_once(context.records.counted)
    moved = (
        ()
        if snapshot.problems
        else tuple(transitions_closing.what_moved(context, loaded, proposal, snapshot, counted))
    )
    return ConfirmQuestion(
        goal_id=goal.id,
        to=str(proposal["to"]),
        proposal_id=str(proposal["proposal_id"]),
        outcome=goal.outcome,
        reason=str(proposal["reason"]),
        criteria=tuple(_criteria(goal, proposal, counted)),
        contract=steps,
        proof=proof,
        approved=_approved(context, goal, run_id, snapshot, baseline),
        changed_files=changed,
        others=tuple(others_open(port, goal.id)),
        only_proof=bool(changed) and not beside_proof,
        outside=tuple(violation.path for violation in report.violations),
        left_behind=report.by_products,
        trust=_trust_ground(loaded, port, history),
        unknown=(*unknown, *gaps, *proof.unknown),
        moved=moved,
    )


def _criteria(
    goal: Goal, proposal: Mapping[str, Any], counted: Callable[[str], Evidence | None]
) -> Iterable[CriterionProof]:
    """The proof of each criterion of the contract, including those that the proposal leaves out."""
    by_id = {row.criterion_id: row for row in rows(proposal)}
    for criterion in goal.criteria:
        absent = ProposedRow(criterion.id, "pending", "not_run", None)
        row = by_id.get(criterion.id, absent)
        evidence = counted(row.evidence_ref) if row.evidence_ref is not None else None
        by, result = _proved_result(criterion, row.status, row.outcome, evidence)
        yield CriterionProof(
            criterion.id,
            criterion.text,
            criterion.verification_command,
            criterion.must_pass,
            row.status == "pass",
            by,
            result,
            _limitations(criterion, evidence),
        )


def _limitations(criterion: Criterion, evidence: Evidence | None) -> tuple[str, ...]:
    """Limits of the proof: those that the contract names, and those that Flow found."""
    listed = evidence.body.get("limitations") if evidence is not None else None
    more = [text for text in listed or () if text not in GENERAL_LIMITATIONS]
    return tuple(dict.fromkeys((*criterion.limitations, *more)))


def _proved_result(
    criterion: Criterion, status: str, outcome: str, evidence: Evidence | None
) -> tuple[ProvedBy, str]:
    """By what, and with which figures."""
    if evidence is None:
        return "nothing", "nothing measured it" if outcome == "not_run" else outcome
    body = evidence.body
    if evidence.type == "human_approval":
        note = f", “{body['note']}”" if body.get("note") else ""
        return "person", f"approved by {_approver(evidence)}{note}"
    if evidence.type == "llm_judge_report":
        return "judge", _judged_result(criterion, body)
    code = f"exit {evidence.exit_code}" if evidence.exit_code is not None else outcome
    repeat = body.get("repeat") or {}
    runs = repeat.get("runs")
    passed = repeat.get("passed")
    if isinstance(runs, int) and runs > 1:
        code += f", {passed if isinstance(passed, int) else runs} of {runs}"
    elif status == "pass" and outcome != "passed":
        code += f", {outcome}"
    return ("command" if status == "pass" else "nothing"), code


def _judged_result(criterion: Criterion, body: Mapping[str, Any]) -> str:
    figures = judged_figures(criterion.id, body.get("judgement") or {})
    return f"a judge, {figures}" if figures else "a judge"


def contract_steps(
    loaded: LoadedGoal, history: Sequence[TrustEntry], events: Sequence[Mapping[str, Any]]
) -> tuple[tuple[ContractStep, ...], tuple[str, ...]]:
    """Each change of the contract since the start, and reasons why there may be more.

    From this user's own record of what was trusted, which no checkout can write; the run's events
    add who it was. What another user amended is known by the events alone.
    """
    since: list[TrustEntry] = []
    begun = False
    for entry in history:
        since.append(entry)
        if entry.how in STARTS:
            begun = True
            break
    since.reverse()
    by_digest = {str(event.get("contract_sha256")): event for event in events}
    steps: list[ContractStep] = []
    for before, after in zip(since, since[1:], strict=False):  # noqa: RUF007
        step = _contract_step(before, after.contract, by_digest.pop(after.digest, {}), after)
        if step is not None:
            steps.append(step)
    known = {entry.digest for entry in since}
    steps += [_step_of_event(event) for digest, event in by_digest.items() if digest not in known]
    if since and since[-1].digest != loaded.contract:
        event = by_digest.get(loaded.contract, {})
        if not event:
            step = _contract_step(since[-1], loaded.goal.contract_document, {}, None)
            steps += [step] if step is not None else []
    gaps = [] if begun else [_unknown_start(since)]
    return tuple(sorted(steps, key=lambda step: step.at or "~")), tuple(gaps)


def _unknown_start(since: Sequence[TrustEntry]) -> str:
    first = f"; the first one known is of {since[0].at} ({since[0].how})" if since else ""
    return f"the contract that the goal began with is not on your own record{first}"


def _contract_step(
    before: TrustEntry,
    contract: Mapping[str, Any] | None,
    event: Mapping[str, Any],
    entry: TrustEntry | None,
) -> ContractStep | None:
    """The step to ``contract``, which ``entry`` trusts; None if that changes nothing."""
    from flow.core.amendment.changes import changes, overall
    from flow.core.amendment.trust_diff import difference

    old, new = before.contract or {}, contract or {}
    lines = difference(old, new)
    if not lines:
        return None
    return ContractStep(
        (entry and entry.at) or str(event.get("at") or ""),
        str(event.get("by") or ""),
        entry.how if entry is not None else "nothing on record says how",
        (entry and entry.said_from) or str(event.get("said_from") or ""),
        overall(changes(old, new)),
        tuple(lines),
        str(event.get("reason") or ""),
    )


def _step_of_event(event: Mapping[str, Any]) -> ContractStep:
    """An amendment that this user's own record does not know, in the words of its event."""
    lines = [str(line) for line in items_of(event.get("changes"))]
    return ContractStep(
        str(event.get("at") or ""),
        str(event.get("by") or ""),
        str(event.get("how") or "on another machine, or by another user"),
        str(event.get("said_from") or ""),
        str(event.get("class") or ""),
        tuple(lines or ["what changed is not on record"]),
        str(event.get("reason") or ""),
    )


def _proof_change(
    context: ClosingContext, goal: Goal, baseline: Baseline, snapshot: Snapshot
) -> ProofChange:
    if context.proof is None:
        return ProofChange("", (), ("what the commands rest on was not looked at",))
    observed = ProofObservation(proofs.files_now(goal, baseline, snapshot, context.proof))
    return proofs.proof_change(observed, goal, baseline, context.proof)


def _approved(
    context: ClosingContext, goal: Goal, run_id: str, snapshot: Snapshot, baseline: Baseline
) -> dict[str, str]:
    """path → whose approval covers its change."""
    differs = protected_changes(goal, snapshot, baseline)
    if differs is None or not protected_files.approved(goal, run_id, differs, context.records):
        return {}
    evidence = context.records.counted_last(run_id, protected_files.APPROVED)
    if evidence is None:
        return {}
    return dict.fromkeys(differs.paths, _approver(evidence))


def _approver(evidence: Evidence) -> str:
    """The person who approved, the time, and the source of the name."""
    body = evidence.body
    who, said_from = body.get("approved_by") or "a person", body.get("said_from")
    told = PLACES.get(str(said_from), said_from)
    place = f"said from {told}" if said_from else "from where is not on record"
    return f"{who}, {evidence.created_at}, {place}"


def _changed(
    snapshot: Snapshot,
    baseline: Baseline,
    left_behind: Sequence[str],
    own: Callable[..., bool],
    proof: Iterable[ProofFile],
) -> tuple[int, int]:
    """Number of changed files, and how many of them are not among ``proof``.

    Changed since the goal began; by-products and Flow's own files do not count.
    """
    aside, proof_paths, number, beside = set(left_behind), {file.path for file in proof}, 0, 0
    for change in snapshot.changes:
        path = change.path
        if path in aside or own(path) or as_at_activation(change, baseline):
            continue
        number += 1
        beside += path not in proof_paths
    return number, beside


def _trusted_contracts(port: ConfirmPort, goal_id: str) -> Sequence[TrustEntry]:
    """Every contract of the goal that this user trusted, newest first."""
    try:
        return port.trust_ledger.history(goal_id)
    except FlowError:  # it cannot be used: then nothing is trusted, and that is said
        return ()


def _trust_ground(
    loaded: LoadedGoal, port: ConfirmPort, history: Sequence[TrustEntry]
) -> TrustGround:
    trusted, why = port.trusted(loaded)
    entry = next((one for one in history if one.digest == loaded.contract), None)
    if entry is None:
        return TrustGround(trusted, why)
    return TrustGround(trusted, why, entry.at, entry.how, entry.said_from or "", entry.agent or "")
