"""The trust ledger as a checkout sees it: the contracts that may run here."""

from __future__ import annotations

from flow.adapters.fs import inputs
from flow.adapters.ledger import reader
from flow.core.goal.loaded import LoadedGoal
from flow.core.layout import GOAL_LIMIT
from flow.errors import InputError, at_key
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.model import Goal
    from flow.wiring.context import Context


class Trusting:
    """A checkout as :class:`~flow.app.transitions.trusting.TrustPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ledger = context.trust_ledger
        self.pinned = context.pinned
        self.write_baseline = context.write_baseline
        self.recorded_contract = self._ledger.recorded_contract

    def named(self, goal_id: str | None = None, goal_file: str | None = None) -> LoadedGoal:
        """The goal, by its id or by the path of a file."""
        if goal_file is not None:
            data = inputs.read(goal_file, "--goal-file", limit=GOAL_LIMIT)
            goal, warnings = reader.parse_goal(data, goal_file)
            digest = self._context.records.contract_digest(goal)
            return LoadedGoal(goal, digest, warnings, goal_file)
        if goal_id is None:
            raise at_key("ID").invalid("no goal is named", "name a goal, or --goal-file F")
        return self._context.load(goal_id)

    def is_in_place(self, loaded: LoadedGoal) -> bool:
        try:
            return self._context.load(loaded.goal.id).contract == loaded.contract
        except InputError:
            return False

    def trusted_digest(self, goal_id: str) -> str | None:
        entry = self._ledger.recorded(goal_id)
        return entry.digest if entry is not None else None

    def restored(self, goal: Goal) -> Baseline:
        return self._context.tree.restored(goal)

    def amend_by_hand(self, loaded: LoadedGoal, how: str) -> None:
        from flow.adapters.transitions.amending import Amending

        Amending(self._context).amend_by_hand(loaded, how)

    def trust(self, loaded: LoadedGoal, how: str) -> None:
        self._context.record_trust(loaded.goal, how, loaded.contract)
