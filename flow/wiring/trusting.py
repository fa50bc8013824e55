"""What may run here: the trust ledger as a checkout sees it."""

from __future__ import annotations

from flow.adapters.fs import clock, inputs
from flow.adapters.ledger import reader
from flow.app.transitions import trusting
from flow.core.goal.loaded import LoadedGoal
from flow.core.goal.model import contract
from flow.core.layout import GOAL_LIMIT
from flow.errors import InputError, at_key
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.core.amendment.changes import ContractChange
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.model import Goal
    from flow.wiring.context import Context


class Trusting:
    """Trust in goals of one checkout. A goal is named by its id, or by the path of a file."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.pinned = context.pinned
        self.write_baseline = context.write_baseline
        self.ledger = context.trust_ledger

    def _named(self, goal_id: str | None, goal_file: str | None) -> LoadedGoal:
        if goal_file is not None:
            data = inputs.read(goal_file, "--goal-file", limit=GOAL_LIMIT)
            goal, warnings = reader.parse_goal(data, goal_file)
            digest = goal.digest(reader.rubric_digests(self._context.top, goal))
            return LoadedGoal(goal, digest, warnings, goal_file)
        if goal_id is None:
            raise at_key("ID").invalid("no goal is named", "name a goal, or --goal-file F")
        return self._context.load(goal_id)

    def finish(self, goal_id: str | None) -> None:
        """Complete what a killed call began to tell of the goal."""
        if goal_id is not None:
            self._context.ledger.finish(goal_id)

    def check(
        self, goal_id: str | None = None, goal_file: str | None = None
    ) -> tuple[bool, str, str]:
        """(trusted, why, the contract's digest)."""
        loaded = self._named(goal_id, goal_file)
        return (*self._context.trusted(loaded), loaded.contract)

    def difference(self, goal_id: str | None = None, goal_file: str | None = None) -> list[str]:
        """What changed since the contract was trusted last, for a person to read."""
        from flow.core.amendment.trust_diff import difference

        goal = self._named(goal_id, goal_file).goal
        return difference(self.ledger.recorded_contract(goal.id), contract(goal.document))

    def changes(self, goal_id: str | None, goal_file: str | None) -> tuple[ContractChange, ...]:
        """What changed since then, each with its class; nothing where nothing was trusted yet."""
        from flow.core.amendment.changes import changes

        goal = self._named(goal_id, goal_file).goal
        before = self.ledger.recorded_contract(goal.id)
        return () if before is None else changes(before, contract(goal.document))

    def record(self, goal_id: str | None = None, goal_file: str | None = None, *, how: str) -> str:
        """Trust the contract as it is now; returns its digest."""
        loaded = self._named(goal_id, goal_file)
        trusting.record_trust(self, loaded, how)
        return loaded.contract

    def standing(self) -> list[dict[str, Any]]:
        """The trust in force for this repository."""
        return [
            {key: value for key, value in entry.to_document().items() if key != "contract"}
            for entry in self.ledger.standing()
        ]

    def revoke(self, goal_id: str, how: str) -> bool:
        """End trust in a goal; False where there was none."""
        return self.ledger.revoke(goal_id, now=clock.now(), how=how)

    # --- flow.app.transitions.trusting.TrustPort ------------------------------------------------

    def is_live(self, loaded: LoadedGoal) -> bool:
        try:
            return self._context.load(loaded.goal.id).contract == loaded.contract
        except InputError:
            return False

    def trusted_digest(self, goal_id: str) -> str | None:
        """The digest of the contract that was trusted last."""
        entry = self.ledger.recorded(goal_id)
        return entry.digest if entry is not None else None

    def restored(self, goal: Goal) -> Baseline:
        return self._context.tree.restored(goal)

    def amend_by_hand(self, goal_id: str, how: str) -> None:
        """Put on the record what somebody changed in a goal file."""
        from flow.wiring.amending import Amending

        Amending(self._context).amend_by_hand(goal_id, how)

    def trust(self, loaded: LoadedGoal, how: str) -> None:
        """Trust the contract of a goal as it was read."""
        document = contract(loaded.goal.document)
        self.ledger.record(loaded.goal.id, loaded.contract, document, now=clock.now(), how=how)
