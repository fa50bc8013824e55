"""What may run here: the trust ledger as a checkout sees it."""

from __future__ import annotations

from flow.adapters.fs import inputs
from flow.adapters.ledger import reader
from flow.app.ports import LoadedGoal
from flow.core.goal.lifecycle import NON_TERMINAL
from flow.core.goal.model import contract
from flow.errors import InputError, at_key
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.reading import Reading

if TYPE_CHECKING:
    from flow.core.amendment.changes import ContractChange


class Trusting(Reading):
    """What may run here: the trust ledger as a checkout sees it."""

    def _named(self, goal_id: str | None, goal_file: str | None) -> LoadedGoal:
        if goal_file is not None:
            return self._goal_in(goal_file)
        if goal_id is None:
            raise at_key("ID").invalid("no goal is named", "name a goal, or --goal-file F")
        return self.load(goal_id)

    def _goal_in(self, file: str) -> LoadedGoal:
        """A goal file that the caller names by its path."""
        goal, warnings = reader.parse_goal(inputs.read(file, "--goal-file"), file)
        return LoadedGoal(goal, goal.digest(reader.rubric_digests(self.top, goal)), warnings, file)

    def finish_amendment(self, goal_id: str | None) -> None:
        """Complete what a killed call began to tell of the goal."""
        if goal_id is not None:
            self.ledger.finish(goal_id)

    def trust_check(
        self, goal_id: str | None = None, goal_file: str | None = None
    ) -> tuple[bool, str, str]:
        """(trusted, why, the contract's digest)."""
        loaded = self._named(goal_id, goal_file)
        return (*self.trusted(loaded), loaded.contract)

    def trust_difference(
        self, goal_id: str | None = None, goal_file: str | None = None
    ) -> list[str]:
        """What changed since the contract was trusted last, for a person to read."""
        from flow.core.amendment.trust_diff import difference

        goal = self._named(goal_id, goal_file).goal
        return difference(self.trust_ledger.recorded_contract(goal.id), contract(goal.document))

    def trust_changes(
        self, goal_id: str | None, goal_file: str | None
    ) -> tuple[ContractChange, ...]:
        """What changed since then, each with its class; nothing where nothing was trusted yet."""
        from flow.core.amendment.changes import changes

        goal = self._named(goal_id, goal_file).goal
        before = self.trust_ledger.recorded_contract(goal.id)
        return () if before is None else changes(before, contract(goal.document))

    def trust_record(
        self, goal_id: str | None = None, goal_file: str | None = None, *, how: str
    ) -> str:
        """Trust the contract as it is now; returns its digest.

        Where an open goal's file was changed by hand, that is an amendment, and goes on its record.
        Where nothing is recorded of an active goal's start (a fresh clone), its baseline is made
        here.
        """
        loaded = self._named(goal_id, goal_file)
        goal = loaded.goal
        if goal.status in NON_TERMINAL and self._is_live(loaded):
            newest = self.trust_ledger.recorded(goal.id)
            if newest is not None and newest.digest != loaded.contract:
                from flow.wiring.amending import Amending

                Amending(self.top, self.environ).amend_by_hand(goal.id, how)
                return loaded.contract
        if (
            goal.base_commit is not None
            and goal.run_id is not None
            and goal.status in NON_TERMINAL
            and self.pinned(goal.run_id) is None
        ):
            self.ledger.write_baseline(goal.id, goal.run_id, self._pin_at(goal))
        self._trust(goal, how)
        return loaded.contract

    def _is_live(self, loaded: LoadedGoal) -> bool:
        """Whether a goal that was read is the one in ``.flow/goals``, and not another file."""
        try:
            return self.load(loaded.goal.id).contract == loaded.contract
        except InputError:
            return False

    def trust_list(self) -> list[dict[str, Any]]:
        """The trust in force for this repository."""
        return [
            {key: value for key, value in entry.to_document().items() if key != "contract"}
            for entry in self.trust_ledger.standing()
        ]

    def trust_revoke(self, goal_id: str, how: str) -> bool:
        """End trust in a goal; False where there was none."""
        from flow.adapters.fs import clock

        return self.trust_ledger.revoke(goal_id, now=clock.now(), how=how)
