"""Changing the contract of a goal, on the record (SPEC 10, Amendments).

*load → read the new text → compare → (a person) → trust → write.* The new text is compared with the
contract that this user trusted last, not with the file: otherwise a change by hand, which ended the
trust, would slip in together with a harmless amendment.
"""

from __future__ import annotations

from flow.app.evaluation.closing_context import ClosingPort
from flow.app.ports import Amendment, Artifact
from flow.app.transitions.closing import refuse_closed
from flow.app.transitions.create import lint_goal
from flow.core.amendment import changes as amendment
from flow.core.amendment.changes import ContractChange
from flow.core.amendment.rules import NEED_PERSON, Class
from flow.core.amendment.trust_diff import difference
from flow.core.goal import ids
from flow.core.text.display import clip
from flow.errors import ContractError, FlowError, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.transitions.create import Parsed
    from flow.app.transitions.persons_word import PersonsWord
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.loaded import LoadedGoal, TrustEntry
    from flow.core.goal.model import Goal
    from flow.errors import Fault

MOST_CHANGES = 200
"""Changes that the journal names one by one."""
MOST_LINES = 60
"""Lines of a difference that an event holds."""
DOING = "changing its contract"
"""The act that is refused for a closed goal, in words."""


class Basis(NamedTuple):
    """The contract that an amendment is compared with: the last one this user trusted."""

    contract: Mapping[str, Any] | None
    """None if no contract was ever trusted."""
    why: str = ""
    """The reason that a person must look, for any new text; empty without one."""
    trusted: bool = False
    """Whether the contract that the file has now is trusted."""
    digest: str | None = None
    """The digest of the contract that was trusted last, where that is another one."""


def basis_of(
    loaded: LoadedGoal,
    newest: TrustEntry | None,
    recorded: TrustEntry | None,
    digest_now: Callable[[Mapping[str, Any]], str],
    *,
    all_trusted: bool,
) -> Basis:
    """The contract that this user trusted last, and what else speaks for asking.

    ``newest`` and ``recorded`` are the goal's newest line in the trust ledger, and its newest with
    a contract; ``digest_now`` is a contract's digest with the rubrics as they are now.
    """
    if newest is None or recorded is None or recorded.contract is None:
        if all_trusted:
            return Basis(loaded.goal.contract_document, trusted=True)
        return Basis(None, "nobody here has trusted this goal yet")
    why = ""
    if newest.action == "revoke":
        why = "trust in this goal was revoked"
    elif newest.digest == loaded.contract:
        return Basis(loaded.goal.contract_document, trusted=True)
    elif digest_now(recorded.contract) != recorded.digest:
        why = "a rubric that it names was changed since it was trusted"
    return Basis(recorded.contract, why, digest=recorded.digest)


class AmendmentTools(ClosingPort, Protocol):
    """Everything that amending touches outside of values, beside the closing context."""

    def own_word(self) -> PersonsWord:
        """The word of the person who runs this."""

    # --- the text ---

    def text_and_file(self, goal_id: str) -> tuple[str, str]:
        """The goal's text and file, as they are now."""

    def completed(self, goal_id: str, text: str, name: str) -> Parsed:
        """A text that is handed in for the goal, with Flow's own fields as its file has them."""

    def read(self, text: str, name: str) -> tuple[Goal, tuple[str, ...]]:
        """The goal as it stands in a text, and warnings."""

    def carried(self, current: Goal, text: str, name: str) -> Goal:
        """The goal of a text, with what is Flow's to keep as ``current`` has it."""

    def syntax_faults(self, goal: Goal, name: str) -> Sequence[Fault]:
        """A fault for each command that bash cannot read."""

    def about_commands(self, goal: Goal) -> Sequence[str]:
        """A warning for each command that cannot run or cannot show what it should."""

    # --- trust ---

    def contract_digest(self, goal: Goal) -> str:
        """The digest of a goal's contract, its rubrics included."""

    def basis(self, loaded: LoadedGoal) -> Basis:
        """The contract that an amendment of the goal is compared with."""

    def record_trust(self, goal: Goal, how: str) -> None:
        """Trust the contract of a goal; ``how`` is the command."""

    # --- the baseline ---

    def with_protected(self, goal: Goal, baseline: Baseline, before: Sequence[str]) -> Baseline:
        """The baseline with the files, as they are now, that patterns not in ``before`` protect."""

    def with_named(self, goal: Goal, baseline: Baseline) -> Baseline:
        """The baseline with the files that the goal's commands name."""


class AmendmentPlan(NamedTuple):
    """An amendment that may be carried out."""

    loaded: LoadedGoal
    text: str
    goal: Goal
    """The goal as it will be."""
    contract: str
    before: str
    """The digest of the contract that it is compared with."""
    changes: tuple[ContractChange, ...]
    difference: tuple[str, ...]
    needs_person: bool
    """Whether it asks for less, or cannot be compared."""
    protected: tuple[str, ...]
    """The protected patterns of the contract that it is compared with."""
    trusted: bool
    """Whether the contract is trusted as the file has it now."""
    anew: tuple[str, ...]
    """The criteria whose results are dropped: they ask for something else than before."""
    warnings: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to change."""
        return self.contract == self.loaded.contract and self.trusted

    @property
    def kind(self) -> Class:
        """The class of all changes together."""
        return amendment.overall(self.changes)

    def to_document(self) -> dict[str, Any]:
        """The document that ``--json`` prints."""
        return {
            "goal_id": self.goal.id,
            "class": self.kind,
            "changes": [change.to_document() for change in self.changes],
            "difference": list(self.difference),
            "needs_person": self.needs_person,
            "contract": self.contract,
            "before": self.before,
        }


def current_text(tools: AmendmentTools, goal_id: str) -> str:
    """The goal's file as it is now, after what a killed call had decided.

    Raises :class:`StateError` for a closed goal, before a person edits anything.
    """
    refuse_closed(tools.closing_context().finished(ids.goal_id(goal_id)).goal, DOING)
    return tools.text_and_file(goal_id)[0]


def plan_handed_in(tools: AmendmentTools, goal_id: str, text: str, name: str) -> AmendmentPlan:
    """:func:`plan_amendment` of a text that a person hands in; it may lack Flow's own fields.

    Raises :class:`ContractError` for commands that bash cannot read, too.
    """
    text, _, warnings = tools.completed(goal_id, text, name)
    plan = plan_amendment(tools, ids.goal_id(goal_id), text, name)
    faults = tools.syntax_faults(plan.goal, name)
    if faults:
        raise ContractError(faults)
    return plan._replace(warnings=(*dict.fromkeys((*warnings, *plan.warnings)),))


def plan_amendment(
    tools: AmendmentTools, goal_id: str, text: str, name: str, basis: Basis | None = None
) -> AmendmentPlan:
    """The changes that the new ``text`` would make to ``basis``; nothing is written.

    ``name`` is the file the text came from; ``basis`` None: the contract that this user trusted
    last. Raises :class:`ContractError` with every fault of the text, :class:`InputError` for
    another goal's, :class:`StateError` for a closed goal.
    """
    loaded = tools.closing_context().finished(goal_id)
    current = loaded.goal
    refuse_closed(current, DOING)
    given, warnings = tools.read(text, name)
    if given.id != current.id:
        raise in_file(name, "metadata.id", given.id).invalid(
            f"it is the goal {given.id}, not {current.id}",
            "a goal keeps its id; for another goal: flow goal create --file F",
        )
    goal = tools.carried(current, text, name)
    digest = tools.contract_digest(goal)
    now, new = current.contract_document, goal.contract_document
    if current.status == "draft":
        basis = Basis(now, trusted=True)
    elif basis is None:
        basis = tools.basis(loaded)
    contract_changes = _against(basis, new)
    shown = contract_changes or amendment.changes(now, new)
    questions = lint_goal(goal, tools.about_commands(goal))
    return AmendmentPlan(
        loaded=loaded,
        text=text,
        goal=goal,
        contract=digest,
        before=basis.digest or loaded.contract,
        changes=shown,
        difference=tuple(difference(basis.contract if contract_changes else now, new)),
        needs_person=current.status != "draft"
        and amendment.overall(contract_changes) in NEED_PERSON,
        protected=tuple(
            ((basis.contract or {}).get("constraints") or {}).get("protected_paths") or ()
        ),
        trusted=basis.trusted,
        anew=amendment.amended(new, now, *([basis.contract] if basis.contract else ())),
        warnings=(*warnings, *_kept_by_flow(current, given), *questions),
    )


def _kept_by_flow(current: Goal, given: Goal) -> list[str]:
    """Warnings about values in the new text that an amendment cannot change."""
    warnings = []
    if given.base_commit not in (None, current.base_commit):
        warnings.append(
            f"scope.base_commit stays as it is; to move it: flow goal rebase {current.id}"
        )
    if given.run_id not in (None, current.run_id):
        warnings.append("scope.run_id stays as it is: it is Flow's")
    return warnings


def _against(basis: Basis, new: Mapping[str, Any]) -> tuple[ContractChange, ...]:
    """The changes that a person would have to agree to."""
    changes = () if basis.contract is None else amendment.changes(basis.contract, new)
    return (ContractChange("", "incomparable", basis.why), *changes) if basis.why else changes


def carry_out(
    tools: AmendmentTools,
    plan: AmendmentPlan,
    *,
    word: PersonsWord,
    how: str,
    asked: str,
    reason: str | None,
) -> None:
    """Trust the new contract and write it, all or nothing.

    ``how`` is the command, ``asked`` how a person was asked, ``word`` the person's name and note.
    Trust comes first, as in creating a goal, and is taken back if the goal cannot be written. For a
    change by hand, which is in the file already, trust comes last: a kill in between leaves an
    untrusted contract, which the next person to trust it is shown.
    """
    context, change = tools.closing_context(), _change(tools, plan, word, how, asked, reason)
    draft = plan.loaded.goal.status == "draft"
    by_hand = plan.contract == plan.loaded.contract
    if not draft and not by_hand:
        tools.record_trust(plan.goal, how)
    try:
        _write(context, plan, change)
    except FlowError:
        if plan.trusted and not draft:
            _take_back(context, tools, plan, how)
        raise
    if not draft and by_hand:
        tools.record_trust(plan.goal, how)


def amend_by_hand(tools: AmendmentTools, read: LoadedGoal, how: str) -> None:
    """Record a change that was made in a goal file by hand, and that a person has now trusted.

    ``read`` is the goal as the person was shown it. Raises :class:`StateError` (``moved``) if its
    file has another contract by now.
    """
    plan = plan_amendment(tools, read.goal.id, *tools.text_and_file(read.goal.id))
    if plan.contract != read.contract:
        raise in_file(read.file).wrong_state(
            f"the contract of goal {read.goal.id} has changed since it was shown",
            f"look again: flow trust record {read.goal.id}",
            code="moved",
        )
    reason = "the goal file was changed by hand"
    carry_out(tools, plan, word=tools.own_word(), how=how, asked=how, reason=reason)


def amend_untrusted(
    tools: AmendmentTools, goal_id: str, how: str, before: Mapping[str, Any], digest: str
) -> None:
    """Put on the record what was changed since the contract ``before``, and trust nothing."""
    basis = Basis(before, digest=digest)
    plan = plan_amendment(tools, goal_id, *tools.text_and_file(goal_id), basis)
    change = _change(
        tools,
        plan,
        tools.own_word(),
        f"flow goal evaluate {how}",
        "nobody: a pipeline names the contract",
        "the contract was changed without flow goal amend",
    )
    _write(tools.closing_context(), plan, change)


def _change(
    tools: AmendmentTools,
    plan: AmendmentPlan,
    word: PersonsWord,
    how: str,
    asked: str,
    reason: str | None,
) -> Amendment:
    """The plan as the ledger takes it; the parameters are those of :func:`carry_out`."""
    fields = _record_fields(word, how, reason)
    artifact, event = _artifact(plan, fields, asked), _event(plan, fields)
    baseline = _new_baseline(tools, plan)
    return Amendment(plan.text, plan.contract, plan.anew, artifact, event, baseline)


def _write(context: ClosingContext, plan: AmendmentPlan, change: Amendment) -> None:
    current = plan.loaded.goal
    context.ledger.amend(current.id, current.run_id or "", plan.loaded.seen, change)


def _take_back(
    context: ClosingContext, tools: AmendmentTools, plan: AmendmentPlan, how: str
) -> None:
    """Trust the old contract again, unless the new one was decided on after all.

    Where even that fails the goal is untrusted: nothing runs until a person has looked.
    """
    try:
        context.ledger.finish(plan.goal.id)
        if context.records.goal(plan.goal.id).contract == plan.loaded.contract:
            tools.record_trust(plan.loaded.goal, f"{how}, taken back")
    except FlowError:
        return


def _new_baseline(tools: AmendmentTools, plan: AmendmentPlan) -> Baseline | None:
    """The baseline with what is protected from now on; None if it can stay as it is."""
    current, goal = plan.loaded.goal, plan.goal
    # The file's contract may differ from the trusted one: then a killed amendment may have replaced
    # the baseline, with no record of it yet. Files that were protected before keep their record.
    same = goal.protected_paths == plan.protected == current.protected_paths
    asks_anew = any("acceptance_criteria" in change.key for change in plan.changes)
    if current.run_id is None or (same and not asks_anew):
        return None
    baseline, recorded = tools.closing_context().baseline(current, current.run_id)
    if not recorded or current.status == "draft":
        return None  # then the pinned commit says what was there
    following = baseline if same else tools.with_protected(goal, baseline, plan.protected)
    return tools.with_named(goal, following) if asks_anew else following


def _recorded_lines(rows: Sequence[object], most: int, others: str) -> list[str]:
    """The first ``most`` rows as lines, each cut if it is long, and the number of the others."""
    lines = [clip(str(row), 500) for row in rows[:most]]
    more = len(rows) - most
    return [*lines, f"and {more} {others}"] if more > 0 else lines


def _record_fields(word: PersonsWord, how: str, reason: str | None) -> dict[str, Any]:
    """Fields of every record of an amendment: the person, the command, the reason."""
    fields = {"reason": reason, "by": word.by, "by_from": word.by_from, "how": how}
    return {key: value for key, value in fields.items() if value or key in ("by", "how")}


def _event(plan: AmendmentPlan, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "contract-amended",
        "class": plan.kind,
        **fields,
        "criteria": list(plan.anew),
        "turn": plan.loaded.goal.turns_evaluated,
        "changes": _recorded_lines(plan.changes, MOST_CHANGES, "more"),
        "difference": _recorded_lines(plan.difference, MOST_LINES, "more lines"),
        "from_sha256": plan.before,
        "contract_sha256": plan.contract,
    }


def _artifact(plan: AmendmentPlan, fields: Mapping[str, Any], asked: str) -> Artifact:
    return Artifact(
        "contract-amended",
        {
            "goal_id": plan.goal.id,
            "class": plan.kind,
            "changes": _recorded_lines(plan.changes, MOST_CHANGES, "more") or "none",
            "from": plan.before,
            "to": plan.contract,
            "criteria": list(plan.anew) or "none",
            **fields,
            "asked": asked,
        },
    )
