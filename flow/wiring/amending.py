"""Changing the contract of a live goal, and contracts that a pipeline names."""

from __future__ import annotations

from flow.adapters.attribution.command_checks import syntax_faults
from flow.adapters.baseline.pinning import Pinning
from flow.adapters.chain import event_log
from flow.adapters.contracts import formats
from flow.adapters.ledger import goal_edits
from flow.adapters.ledger.reader import (
    AMENDED,
    parse_goal,
    read_goal,
    rubrics_named,
)
from flow.adapters.setup.completed import read_handed_in
from flow.adapters.setup.project import about_commands
from flow.app.transitions import amend
from flow.app.transitions.create import lint_goal
from flow.app.transitions.persons_word import persons_word
from flow.core.amendment.requested import RequestedChanges, requested_edits
from flow.core.drafting.completing import LiveFields, live_fields
from flow.core.goal import ids
from flow.core.goal.model import contract_digest, scorecard_rubrics
from flow.errors import ContractError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.user_state.goal_notes import Notes
    from flow.adapters.user_state.trust import TrustEntry
    from flow.app.transitions.amend import AmendmentPlan
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.settings import LoadedSettings
    from flow.wiring.context import Context


class Amending:
    """Amendments of one checkout's goals."""

    def __init__(self, context: Context) -> None:
        self._context = context
        pinning = Pinning(context)
        self._tools = amend.AmendmentTools(
            read=lambda text, name: parse_goal(text.encode("utf-8", "surrogateescape"), name),
            carry=lambda live, text, name: goal_edits.carried(live, text, name)[1],
            digest=context.records.contract_digest,
            basis=self._basis,
            trust=context.record_trust,
            relock=pinning.with_protected,
            rename=pinning.with_named,
            lint=lambda goal: lint_goal(goal, about_commands(context, goal)),
        )

    def plan(self, goal_id: str, text: str, name: str) -> AmendmentPlan:
        """What the new ``text`` of a goal would change; ``name`` is the file it came from.

        Raises :class:`ContractError` for commands that bash cannot read, too.
        """
        text, warnings = self.completed(goal_id, text, name)
        plan = self._plan(self._tools, ids.goal_id(goal_id), text, name)
        plan = plan._replace(warnings=(*dict.fromkeys((*warnings, *plan.warnings)),))
        faults = syntax_faults(plan.goal, name, self._context.environ, self._context.top)
        if faults:
            raise ContractError(faults)
        return plan

    def completed(self, goal_id: str, text: str, name: str) -> tuple[str, tuple[str, ...]]:
        """A goal's ``text`` with what Flow writes itself, as the live goal has it; and warnings."""

        def live() -> LiveFields:
            return live_fields(read_goal(self._context.top, ids.goal_id(goal_id))[1].goal.document)

        handed_in = read_handed_in(text, name, live)
        return handed_in.text, handed_in.warnings

    def live_text(self, goal_id: str) -> str:
        """The goal's file as it is now, after what a killed call had decided."""
        self._context.ledger.finish(ids.goal_id(goal_id))
        return read_goal(self._context.top, goal_id)[0].decode("utf-8")

    @staticmethod
    def with_changes(text: str, name: str, changes: RequestedChanges) -> str:
        """A goal's ``text`` with changes that were named one by one; nothing is written."""
        if not any(changes):
            return text
        goal, _ = parse_goal(text.encode("utf-8", "surrogateescape"), name)
        for edits in requested_edits(goal.document, changes):
            text = formats.edit(text, edits, file=name)
        return text

    def _plan(
        self, tools: amend.AmendmentTools, goal_id: str, text: str, name: str
    ) -> AmendmentPlan:
        return amend.plan_amendment(self._context.closing_context(), tools, goal_id, text, name)

    def carry_out(
        self,
        plan: AmendmentPlan,
        *,
        who: str | None,
        asked: str,
        reason: str | None,
        how: str = "flow goal amend",
        tools: amend.AmendmentTools | None = None,
    ) -> None:
        """Write an amendment that was agreed to; ``asked`` says how, ``who`` by whom."""
        word = persons_word(self._context, who)
        amend.carry_out(
            self._context.closing_context(),
            tools or self._tools,
            plan,
            who=word.by,
            how=how,
            asked=asked,
            reason=reason,
            by_from=word.by_from,
        )

    def amend_by_hand(self, goal_id: str, how: str) -> None:
        """Put on the record what somebody changed in a goal file, and a person has now trusted."""
        data, loaded = read_goal(self._context.top, goal_id)
        plan = self._plan(self._tools, goal_id, data.decode("utf-8"), loaded.file)
        reason = "the goal file was changed by hand"
        self.carry_out(plan, who=None, asked=how, reason=reason, how=how)

    def amend_untrusted(
        self, goal_id: str, how: str, before: Mapping[str, Any], digest: str
    ) -> None:
        data, loaded = read_goal(self._context.top, goal_id)
        tools = self._tools._replace(
            basis=lambda _loaded: amend.Basis(before, digest=digest),
            trust=lambda _goal, _how: None,
        )
        self.carry_out(
            self._plan(tools, goal_id, data.decode("utf-8"), loaded.file),
            who=None,
            asked="nobody: a pipeline names the contract",
            reason="the contract was changed without flow goal amend",
            how=f"flow goal evaluate {how}",
            tools=tools,
        )

    def _basis(self, loaded: LoadedGoal) -> amend.Basis:
        ledger = self._context.trust_ledger
        return amend.basis_of(
            loaded,
            ledger.newest(loaded.goal.id),
            ledger.recorded(loaded.goal.id),
            self._digest_now,
            all_trusted=self._context.settings.settings.execute_verification_commands,
        )

    def _digest_now(self, document: Mapping[str, Any]) -> str:
        """The digest of a contract with the rubrics as they are now."""
        criteria = document["objective"]["acceptance_criteria"]
        names = sorted({c["rubric"] for c in criteria if c.get("rubric")})
        rubrics = rubrics_named(self._context.top, names, scorecard_rubrics(criteria))
        return contract_digest(document, rubrics)


class Naming:
    """A checkout as :class:`~flow.app.transitions.named_contract.NamedContractPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.load = context.load
        self.speaker = context.speaker
        self.amend_untrusted = Amending(context).amend_untrusted

    @property
    def settings(self) -> LoadedSettings:
        return self._context.settings

    @property
    def contracts(self) -> Notes:
        return self._context.notes("contracts")

    def take_contract(self, digest: str | None) -> None:
        self._context.named_contract = digest

    def recorded_trust(self, goal_id: str) -> TrustEntry | None:
        return self._context.trust_ledger.recorded(goal_id)

    def newest_amendment(self, run_id: str) -> Mapping[str, Any] | None:
        return event_log.newest(
            self._context.top, run_id, "type", AMENDED, lambda event: event.get("type") == AMENDED
        )
