"""Moves a person makes that close nothing: activate, pause, resume, approve (SPEC 2)."""

from __future__ import annotations

from flow.app.evaluation import protected_files
from flow.app.evaluation.goal_rules import deciding_snapshot
from flow.app.evaluation.observing import refuse_other_branch, subject_of
from flow.app.evaluation.protected_files import PROTECTED
from flow.app.ports import (
    Approval,
    Artifact,
    CriterionUpdate,
    TrustingPort,
    TrustLedgerPort,
    status_move,
)
from flow.app.transitions.beside import OpenGoalsPort, refuse_beside_active
from flow.app.transitions.closing import refuse_broken, refuse_closed
from flow.app.transitions.create import lint_goal
from flow.core import layout
from flow.core.amendment.changes import changes as contract_changes
from flow.core.drafting.defaults import not_trusted
from flow.core.evidence.model import APPROVER, ONLY_WORD, evidence_document
from flow.core.goal.lifecycle import NonTerminal, check_move
from flow.core.stop.pause import (
    ACTIVATED,
    AGENT,
    PAUSED_STATUS,
    PERSON,
    RESUMED_BY,
    Pause,
    recorded_reason,
)
from flow.core.text import display
from flow.core.text.near import did_you_mean
from flow.core.tool_calls.speaker import is_agent
from flow.errors import GitError, StateError, at_key
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.transitions.persons_word import PersonsWord
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.drafting.defaults import GoalDefaults
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Criterion, Goal

GUARDS = "guards"
"""Stands in for a criterion's id where hooks and git settings are approved."""


class BeginPort(OpenGoalsPort, TrustingPort, TrustLedgerPort, Protocol):
    """Interface of starting a draft to the checkout."""

    def persons_context(self) -> ClosingContext:
        """The context in which a person's command is decided; it records the person's name."""

    def knows_defaults(self, digest: str) -> bool:
        """Whether the user trusts the repository's file of defaults as it is."""

    def record_trust(self, goal: Goal, how: str) -> None:
        """Trust the goal's contract as it is."""


def begin(
    port: BeginPort, goal_id: str, pin: Callable[[Goal], Baseline], defaults: GoalDefaults
) -> LoadedGoal:
    """Start a draft on a person's word (:func:`activate`).

    Trust is not recorded where a criterion comes from ``defaults`` that the user does not trust. It
    is not recorded either if the user trusted another contract of this goal last: a person is
    shown the difference first.
    """
    refuse_beside_active(port, goal_id, f"flow goal activate {goal_id}")
    unknown = () if port.knows_defaults(defaults.digest) else defaults.digests

    def trust(goal: Goal, how: str) -> None:
        known = port.trust_ledger.recorded_contract(goal.id)
        same = known is None or not contract_changes(known, _as_begun(goal, known))
        if same and not any(criterion.digest in unknown for criterion in goal.criteria):
            port.record_trust(goal, how)

    return activate(port.persons_context(), goal_id, pin, trust, port.branch())


def _as_begun(goal: Goal, known: Mapping[str, Any]) -> Mapping[str, Any]:
    """The goal's contract with the pinned base of the ``known`` one, for comparing the two."""
    return goal.pinned_at((known.get("scope") or {}).get("base_commit")).contract_document


def with_warnings(port: BeginPort, loaded: LoadedGoal, about_commands: Sequence[str]) -> LoadedGoal:
    """A goal that was just started, with what is to be said of it."""
    warnings = (*loaded.warnings, *lint_goal(loaded.goal, about_commands))
    trusted, why = port.trusted(loaded)
    if not trusted:
        known = port.trust_ledger.recorded_contract(loaded.goal.id) is not None
        warnings = (*warnings, why if known else not_trusted(loaded.goal.id))
    return loaded._replace(warnings=warnings)


def activate(
    context: ClosingContext,
    goal_id: str,
    pin: Callable[[Goal], Baseline],
    trust: Callable[[Goal, str], None],
    branch: str | None,
) -> LoadedGoal:
    """``draft → active``: pin the base, move, record trust in the contract that was read (SPEC 2).

    A file that changes meanwhile is not trusted with it. ``branch`` is the one that is checked out:
    what another branch's files are is no start of the goal.
    """
    loaded = context.finished(goal_id)
    goal = loaded.goal
    if goal.status != "draft":
        raise at_key("lifecycle.status", goal.status).wrong_state(
            f"goal {goal.id} is {goal.status}, not a draft",
            f"it has been started before; see where it stands: flow goal status {goal.id}",
        )
    refuse_other_branch(goal, branch)
    run_id = goal.run_id or context.records.new_run_id(goal.id, context.now())
    baseline = pin(goal)
    context.write_baseline(goal.id, run_id, baseline)
    scope: dict[str, Any] = {"run_id": run_id, "base_commit": baseline.base_commit}
    move = status_move(goal, run_id, "active", ACTIVATED, {"by": context.who}, scope)
    context.ledger.move(goal.id, run_id, loaded.seen, move)
    trust(goal.pinned_at(baseline.base_commit), "flow goal activate")
    return context.records.goal(goal.id)


def shift_status(
    context: ClosingContext, goal_id: str, to: NonTerminal, reason: str, how: str = ""
) -> LoadedGoal:
    """Move a goal to another non-terminal status, on the record.

    ``how`` names what moved it if no person did: such a wait is no pause.
    """
    loaded = context.finished(goal_id)
    goal = loaded.goal
    check_move(goal.status, to, goal=goal.id)
    _refuse_draft(goal)
    if goal.status == to:
        return context.records.goal(goal.id)
    return _moved(context, loaded, to, reason, {"how": how} if how else {"by": context.who})


def _moved(
    context: ClosingContext, loaded: LoadedGoal, to: NonTerminal, reason: str, mover: dict[str, str]
) -> LoadedGoal:
    """The goal after its status was set, on the record."""
    goal, run_id = loaded.goal, loaded.goal.run_id or ""
    context.ledger.move(goal.id, run_id, loaded.seen, status_move(goal, run_id, to, reason, mover))
    return context.records.goal(goal.id)


def pause_goal(
    context: ClosingContext, goal_id: str, reason: str, paused: Callable[[Goal], Pause | None]
) -> LoadedGoal:
    """Set a goal aside, with the reason on record.

    A blocked goal, or one that waits for CI, becomes active first, as the table has it. One that
    waits for a person already keeps its status, and the pause is recorded all the same, once.
    ``reason`` may be empty.
    """
    reason = recorded_reason(reason, _mover(context))
    loaded = context.finished(goal_id)
    goal = loaded.goal
    if goal.status in ("blocked", "waiting_for_ci"):
        loaded = shift_status(context, goal_id, "active", f"resumed to be paused: {reason}")
    elif goal.status == PAUSED_STATUS:
        known = paused(goal)
        if known is not None and (known.reason, known.by) == (reason, context.who):
            return loaded
        return _moved(context, loaded, PAUSED_STATUS, reason, {"by": context.who})
    return shift_status(context, loaded.goal.id, PAUSED_STATUS, reason)


def resume_goal(context: ClosingContext, goal_id: str, reason: str) -> LoadedGoal:
    """Make a goal that waits or is blocked active again; ``reason`` may be empty."""
    reason = reason.strip() or f"{RESUMED_BY}{_mover(context)}"
    return shift_status(context, goal_id, "active", reason)


def _mover(context: ClosingContext) -> str:
    return AGENT if is_agent(context.speaker) else PERSON


def _refuse_draft(goal: Goal) -> None:
    if goal.status == "draft":
        raise at_key("lifecycle.status", goal.status).wrong_state(
            f"goal {goal.id} is a draft", f"flow goal activate {goal.id}"
        )


class _Approvable(NamedTuple):
    """The present state of everything that an approval is tied to."""

    run_id: str
    baseline: Baseline
    is_recorded: bool
    """Whether the baseline is as Flow left it."""
    facts: Mapping[str, Any]
    """The guards, the difference of the protected files, the subject."""

    def covered(self, about: str) -> Mapping[str, Any]:
        """The part of ``facts`` that an approval of ``about`` covers."""
        key = {GUARDS: GUARDS, PROTECTED: "protected_changes"}.get(about, "subject")
        return dict(self.facts[key])


def approve(
    context: ClosingContext,
    goal_id: str,
    about: str,
    word: PersonsWord,
    shown: Mapping[str, Any] | None = None,
) -> str:
    """Record a person's word for a fuzzy criterion, changed guards or changed protected files.

    ``about`` is the criterion's id, ``guards`` or ``protected``; ``shown`` is the result of
    :func:`to_approve` from before the question (None: there was no question). Returns the sidecar's
    path. A criterion with a command is never approved: its exit code speaks (SPEC 3, step 6). A
    goal that waited for a person goes on. Raises :class:`LockTimeout` while an evaluation of the
    goal runs, :class:`StateError` (``moved``) if ``shown`` is out of date, :class:`StaleProposal`
    on a broken record: nothing would ever be proposed from it.
    """
    context.await_evaluation(goal_id)
    path = _recorded_approval(context, goal_id, about, word, shown)
    if context.records.goal(goal_id).goal.status == PAUSED_STATUS:
        with suppress(StateError):  # somebody moved it first; the approval stands all the same
            approver = context._replace(account=lambda: word.by)
            shift_status(approver, goal_id, "active", f"resumed: {about} was approved")
    return path


def to_approve(context: ClosingContext, goal_id: str, about: str) -> Mapping[str, Any]:
    """The state that an approval of ``about`` would cover now; nothing is written."""
    loaded, _ = _goal_to_approve(context, goal_id, about)
    return _approvable(context, loaded, about, context.now()).covered(about)


def _goal_to_approve(
    context: ClosingContext, goal_id: str, about: str
) -> tuple[LoadedGoal, Criterion | None]:
    """The goal and the fuzzy criterion; raises for a goal in which ``about`` cannot be approved."""
    loaded = context.finished(goal_id)
    refuse_closed(loaded.goal, "approving")
    _refuse_draft(loaded.goal)
    _refuse_elsewhere(context, loaded.goal)
    return loaded, _criterion_to_approve(loaded.goal, about)


def _approvable(context: ClosingContext, loaded: LoadedGoal, about: str, now: str) -> _Approvable:
    goal = loaded.goal
    run_id = goal.run_id or layout.run_id_for(goal.id, now)
    baseline, is_recorded = context.baseline(goal, run_id)
    if about != GUARDS or is_recorded:  # with guards a baseline that was spoilt is pinned anew
        refuse_broken(context, goal.id)
    snapshot = _snapshot_to_approve(context, goal, baseline)
    files = None
    if about == PROTECTED:
        files = protected_files.approvable_difference(goal, snapshot, baseline)
    facts = {
        "guards": dict(snapshot.guards) if about == GUARDS else None,
        "protected_changes": files.to_document() if files else None,
        "subject": subject_of(loaded, snapshot, baseline, context.version).to_document(),
    }
    return _Approvable(run_id, baseline, is_recorded, facts)


def _recorded_approval(
    context: ClosingContext,
    goal_id: str,
    about: str,
    word: PersonsWord,
    shown: Mapping[str, Any] | None,
) -> str:
    loaded, criterion = _goal_to_approve(context, goal_id, about)
    goal = loaded.goal
    for key, value in (("--by", word.by), ("--note", word.note)):
        if not value.strip():
            raise at_key(key).invalid(f"{key} is empty", "say who approves and why")
    now = context.now()
    approvable = _approvable(context, loaded, about, now)
    run_id, baseline, is_recorded, facts = approvable
    if shown is not None and shown != approvable.covered(about):
        raise at_key("AC", about).wrong_state(
            f"the files or the contract that an approval of {about} covers have changed since the "
            "question was asked",
            f"look again: flow goal approve {goal.id} {about}",
            code="moved",
        )
    if about == GUARDS and not is_recorded:
        # From here on it can be compared again.
        context.write_baseline(goal.id, run_id, baseline._replace(began=goal.created_at))
    facts = {**(context.speaker.fields() if context.speaker else {}), **facts}
    document = _approval_document(goal, run_id, criterion or about, word, now, facts)
    evidence_id, path = context.ledger.record_evidence(document, suffix=True)
    approval = _approval(goal, criterion or about, word, now, (evidence_id, path))
    context.ledger.approve(goal.id, run_id, loaded.seen, approval)
    return path


def _approval_document(
    goal: Goal,
    run_id: str,
    about: Criterion | str,
    word: PersonsWord,
    now: str,
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """The sidecar of an approval; ``facts`` are the files that it is tied to, and who spoke."""
    criterion = None if isinstance(about, str) else about
    name = criterion.id.lower() if criterion else about
    return evidence_document(
        id=f"evidence-{name}-approval-{goal.turns_evaluated}",
        goal=goal.id,
        run_id=run_id,
        created_at=now,
        created_by=APPROVER,
        type="human_approval",
        body={
            "proves": [criterion.id] if criterion else [],
            "approved_by": word.by,
            **word.name_fields,
            "note": word.note,
            "criterion_digest": criterion.digest if criterion else None,
            "limitations": [ONLY_WORD],
            **facts,
        },
    )


def _refuse_elsewhere(context: ClosingContext, goal: Goal) -> None:
    if goal.run_id is not None and context.elsewhere(goal.run_id):
        raise at_key("scope.run_id", goal.run_id).wrong_state(
            f"run {goal.run_id} of goal {goal.id} was recorded in another checkout",
            f"begin one of this checkout: flow goal evaluate {goal.id}",
        )


def _criterion_to_approve(goal: Goal, criterion_id: str) -> Criterion | None:
    """The fuzzy criterion of this id; None for guards and protected files."""
    if criterion_id in (GUARDS, PROTECTED):
        return None
    criterion = goal.criterion(criterion_id)
    if criterion is None:
        fuzzy = [c.id for c in goal.criteria if c.fuzzy]
        raise at_key("AC", criterion_id).invalid(
            f"goal {goal.id} has no criterion {criterion_id!r:.60}"
            f"{did_you_mean(criterion_id, (*(c.id for c in goal.criteria), GUARDS, PROTECTED))}",
            f"fuzzy criteria here: {display.names(fuzzy) or 'none'}",
        )
    if not criterion.fuzzy:
        raise at_key("AC", criterion.id).wrong_state(
            f"{criterion.id} has a verification_command; only its exit code can prove it",
            f"flow goal evaluate {goal.id}",
        )
    return criterion


def _snapshot_to_approve(context: ClosingContext, goal: Goal, baseline: Baseline) -> Snapshot:
    """The snapshot that an approval is tied to; raises :class:`GitError` for unreadable files."""
    snapshot = deciding_snapshot(context, goal, baseline)
    refuse_other_branch(goal, snapshot.branch)
    if snapshot.problems:
        raise GitError(
            f"the files cannot be told apart now: {display.names(snapshot.problems, 3)}",
            remedy="an approval is tied to the files it was given for; make git answer first",
        )
    return snapshot


def _approval(
    goal: Goal, about: Criterion | str, word: PersonsWord, now: str, sidecar: tuple[str, str]
) -> Approval:
    """The approval as it is written to the goal, its journal and its events."""
    criterion = None if isinstance(about, str) else about
    evidence_id, path = sidecar
    update = None
    if criterion is not None:
        result = f"approved by {display.visible(word.by)}"
        update = CriterionUpdate(criterion.id, "pass", path, now, result)
    fields = {
        "evidence_id": evidence_id,
        "goal_id": goal.id,
        "proves": [criterion.id] if criterion else "none",
        "approved_by": word.by,
        **word.fields,
    }
    event = {
        "type": "approved" if criterion else f"{about}-approved",
        "criterion_id": criterion.id if criterion else None,
        "evidence_id": evidence_id,
        "by": word.by,
        **word.fields,
    }
    return Approval(update, Artifact("evidence-captured", fields), event)
