"""Changing the contracts of goals."""

from __future__ import annotations

from functools import partial

from flow.adapters.attribution.command_checks import syntax_faults
from flow.adapters.baseline.pinning import Pinning, PinningContext
from flow.adapters.ledger import goal_edits
from flow.adapters.ledger.reader import parse_goal, read_goal, rubric_digests_of
from flow.adapters.setup.completed import read_handed_in
from flow.adapters.setup.project import NewGoalContext, about_commands
from flow.app.evaluation.closing_context import ClosingPort
from flow.app.transitions import amend
from flow.core.drafting.completing import OwnFields, current_fields
from flow.core.goal import ids
from flow.core.goal.model import contract_digest, rubrics_of
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.user_state.trust import TrustLedger
    from flow.app.transitions.create import Parsed
    from flow.app.transitions.persons_word import PersonsWord
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal
    from flow.errors import Fault


class AmendingContext(NewGoalContext, PinningContext, ClosingPort, Protocol):
    """The parts of a checkout's context that amending needs."""

    @property
    def trust_ledger(self) -> TrustLedger:
        """The contracts that may run here."""

    def own_word(self) -> PersonsWord:
        """The word of the person who runs this."""

    def record_trust(self, goal: Goal, how: str) -> None:
        """Trust the contract of a goal; ``how`` is the command."""


class Amending:
    """A checkout as :class:`~flow.app.transitions.amend.AmendmentTools` sees it."""

    def __init__(self, context: AmendingContext) -> None:
        self._context = context
        pinning = Pinning(context)
        self.with_protected, self.with_named = pinning.with_protected, pinning.with_named
        self.closing_context, self.own_word = context.closing_context, context.own_word
        self.contract_digest = context.records.contract_digest
        self.record_trust = context.record_trust
        self.about_commands = partial(about_commands, context)

    def text_and_file(self, goal_id: str) -> tuple[str, str]:
        data, loaded = read_goal(self._context.top, goal_id)
        return data.decode("utf-8"), loaded.file

    def completed(self, goal_id: str, text: str, name: str) -> Parsed:
        def current() -> OwnFields:
            loaded = read_goal(self._context.top, ids.goal_id(goal_id))[1]
            return current_fields(loaded.goal.document)

        return read_handed_in(text, name, current)

    def read(self, text: str, name: str) -> tuple[Goal, tuple[str, ...]]:
        return parse_goal(text.encode("utf-8", "surrogateescape"), name)

    def carried(self, current: Goal, text: str, name: str) -> Goal:
        return goal_edits.carried(current, text, name)[1]

    def syntax_faults(self, goal: Goal, name: str) -> Sequence[Fault]:
        return syntax_faults(goal, name, self._context.environ, self._context.top)

    def basis(self, loaded: LoadedGoal) -> amend.Basis:
        ledger, top = self._context.trust_ledger, self._context.top

        def digest_now(document: Mapping[str, Any]) -> str:
            return contract_digest(document, rubric_digests_of(top, *rubrics_of(document)))

        return amend.basis_of(
            loaded,
            ledger.newest(loaded.goal.id),
            ledger.recorded(loaded.goal.id),
            digest_now,
            all_trusted=self._context.settings.settings.execute_verification_commands,
        )

    def amend_by_hand(self, loaded: LoadedGoal, how: str) -> None:
        amend.amend_by_hand(self, loaded, how)
