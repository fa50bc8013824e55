"""The inbox of a user: the checkouts that their state folder knows, and what is in them."""

from __future__ import annotations

from flow.adapters.chain import event_log
from flow.adapters.inbox.checkout import InboxCheckout
from flow.adapters.inbox.finder import InboxContents, InboxFinder, InboxQuery, own_state_folder
from flow.adapters.inbox.index import InboxIndex
from flow.adapters.user_state.trust import TrustedContracts, doubt
from flow.app.inbox.goal_facts import is_no_evidence
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.git.find import Repo
    from flow.app.evaluation.closing_context import ClosingContext
    from flow.core.standing.table import Doubt


def read_inbox(query: InboxQuery) -> InboxContents:
    """Every row and checkout. Runs nothing of a checkout, and writes nothing to one.

    Raises :class:`FlowError` for an unusable state folder, or a ``repos`` that names no checkout;
    any fault of a checkout becomes a row.
    """
    folder = own_state_folder()
    index, trust = InboxIndex(folder), TrustedContracts(folder)

    def open_checkout(repo: Repo) -> InboxCheckout:
        context = Context(repo.top, repo=repo)
        return InboxCheckout(InboxGoals(context, trust), context, index)

    return InboxFinder(query, folder, index, open_checkout).contents()


class InboxGoals(Goals):
    """A checkout as :class:`~flow.adapters.inbox.checkout.InboxGoalsPort`."""

    def __init__(self, context: Context, trust: TrustedContracts) -> None:
        super().__init__(context)
        self.branch = lambda: self._branch
        self._trust = trust

    def doubt(self, goal_id: str, contract: str) -> Doubt:
        context = self.context
        if self._trust.trusts(context.repository, goal_id, contract):
            return ""
        return doubt(context.settings.settings, context.trust_ledger, goal_id, contract)[0]

    def newest_event(self, run_id: str, goal_id: str) -> Mapping[str, Any] | None:
        return event_log.newest(self.top, run_id, "goal_id", goal_id, is_no_evidence)

    def closing_context(self) -> ClosingContext:
        return self._closing

    @once
    def _branch(self) -> str | None:
        return self.context.branch()

    @once
    def _closing(self) -> ClosingContext:
        return super().closing_context()
