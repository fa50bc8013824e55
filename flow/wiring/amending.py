"""Changing the contract of a goal, and contracts that a pipeline names."""

from __future__ import annotations

from flow.adapters.attribution.command_checks import syntax_faults
from flow.adapters.baseline.pinning import Pinning
from flow.adapters.ledger import goal_edits
from flow.adapters.ledger.reader import parse_goal, read_goal, rubric_digests_of
from flow.adapters.setup.completed import read_handed_in
from flow.adapters.setup.project import about_commands
from flow.app.transitions import amend
from flow.app.transitions.closing import refuse_closed
from flow.app.transitions.create import lint_goal
from flow.core.drafting.completing import OwnFields, current_fields
from flow.core.goal import ids
from flow.core.goal.model import contract_digest, rubrics_of
from flow.errors import ContractError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.transitions.amend import AmendmentPlan
    from flow.app.transitions.persons_word import PersonsWord
    from flow.core.goal.loaded import LoadedGoal
    from flow.wiring.context import Context


class Amending:
    """Amendments of one checkout's goals."""

    def __init__(self, context: Context) -> None:
        self._context = context
        pinning = Pinning(context)
        self._tools = amend.AmendmentTools(
            read=lambda text, name: parse_goal(text.encode("utf-8", "surrogateescape"), name),
            carry=lambda current, text, name: goal_edits.carried(current, text, name)[1],
            digest=context.records.contract_digest,
            basis=self._basis,
            trust=context.record_trust,
            with_protected=pinning.with_protected,
            with_named=pinning.with_named,
            lint=lambda goal: lint_goal(goal, about_commands(context, goal)),
            text_and_file=self._text_and_file,
        )

    def plan(self, goal_id: str, text: str, name: str) -> AmendmentPlan:
        """The changes that the new ``text`` of a goal would make; ``name`` is its file.

        Raises :class:`ContractError` for commands that bash cannot read, too.
        """
        text, warnings = self.completed(goal_id, text, name)
        closing = self._context.closing_context()
        plan = amend.plan_amendment(closing, self._tools, ids.goal_id(goal_id), text, name)
        plan = plan._replace(warnings=(*dict.fromkeys((*warnings, *plan.warnings)),))
        faults = syntax_faults(plan.goal, name, self._context.environ, self._context.top)
        if faults:
            raise ContractError(faults)
        return plan

    def completed(self, goal_id: str, text: str, name: str) -> tuple[str, tuple[str, ...]]:
        """A goal's ``text`` with what Flow writes itself, as its file has it; and warnings."""

        def current() -> OwnFields:
            loaded = read_goal(self._context.top, ids.goal_id(goal_id))[1]
            return current_fields(loaded.goal.document)

        handed_in = read_handed_in(text, name, current)
        return handed_in.text, handed_in.warnings

    def current_text(self, goal_id: str) -> str:
        """The goal's file as it is now, after what a killed call had decided.

        Raises :class:`StateError` for a closed goal, before a person edits anything.
        """
        self._context.finish(ids.goal_id(goal_id))
        refuse_closed(self._context.load(goal_id).goal, amend.DOING)
        return self._text_and_file(goal_id)[0]

    def carry_out(
        self, plan: AmendmentPlan, *, word: PersonsWord, asked: str, reason: str | None
    ) -> None:
        """Write an amendment that was agreed to; ``asked`` says how, ``word`` by whom."""
        closing, how = self._context.closing_context(), "flow goal amend"
        amend.carry_out(closing, self._tools, plan, word=word, how=how, asked=asked, reason=reason)

    def amend_by_hand(self, loaded: LoadedGoal, how: str) -> None:
        """See :func:`flow.app.transitions.amend.amend_by_hand`."""
        closing, word = self._context.closing_context(), self._context.own_word()
        amend.amend_by_hand(closing, self._tools, loaded, how, word)

    def amend_untrusted(
        self, goal_id: str, how: str, before: Mapping[str, Any], digest: str
    ) -> None:
        """See :func:`flow.app.transitions.amend.amend_untrusted`."""
        closing, word = self._context.closing_context(), self._context.own_word()
        basis = amend.Basis(before, digest=digest)
        amend.amend_untrusted(closing, self._tools, goal_id, how, basis, word)

    def _text_and_file(self, goal_id: str) -> tuple[str, str]:
        data, loaded = read_goal(self._context.top, goal_id)
        return data.decode("utf-8"), loaded.file

    def _basis(self, loaded: LoadedGoal) -> amend.Basis:
        ledger, top = self._context.trust_ledger, self._context.top
        return amend.basis_of(
            loaded,
            ledger.newest(loaded.goal.id),
            ledger.recorded(loaded.goal.id),
            lambda document: contract_digest(
                document, rubric_digests_of(top, *rubrics_of(document))
            ),
            all_trusted=self._context.settings.settings.execute_verification_commands,
        )
