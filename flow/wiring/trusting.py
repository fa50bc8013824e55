"""What may run here: the trust ledger as a checkout sees it."""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, Any
from flow.core.lifecycle import NON_TERMINAL
from flow.errors import InputError
from flow.wiring.parts import Parts

if TYPE_CHECKING:
    from flow.app.ports import LoadedGoal


class Trusting(Parts):
    """What may run here: the trust ledger as a checkout sees it."""

    def _named(self, goal_id: str | None, goal_file: str | None) -> LoadedGoal:
        if goal_file is not None:
            return self._goal_in(goal_file)
        if goal_id is None:
            raise InputError("no goal is named", key="ID", remedy="name a goal, or --goal-file F")
        return self.load(goal_id)

    def _goal_in(self, file: str) -> LoadedGoal:
        """A goal file that the caller names by its path."""
        from flow.adapters import inputs, records
        from flow.app.ports import LoadedGoal

        goal, warnings = records.parse_goal(inputs.read(file, "--goal-file"), file)
        return LoadedGoal(goal, goal.digest(records.rubric_digests(self.top, goal)), warnings, file)

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
        from flow.core.goal import contract
        from flow.core.trust_diff import difference

        goal = self._named(goal_id, goal_file).goal
        return difference(self.trust_ledger.recorded_contract(goal.id), contract(goal.document))

    def trust_record(
        self, goal_id: str | None = None, goal_file: str | None = None, *, how: str
    ) -> str:
        """Trust the contract as it is now; returns its digest.

        Where nothing is recorded of an active goal's start (a fresh clone), its baseline is made
        here.
        """
        loaded = self._named(goal_id, goal_file)
        goal = loaded.goal
        if (
            goal.base_commit is not None
            and goal.run_id is not None
            and goal.status in NON_TERMINAL
            and self.records.baseline(goal.run_id) is None
        ):
            self.ledger.write_baseline(goal.id, goal.run_id, self._pin_at(goal))
        self._trust(goal, how)
        return loaded.contract

    def trust_list(self) -> list[dict[str, Any]]:
        """The trust in force for this repository."""
        return [
            {key: value for key, value in entry._asdict().items() if key != "contract"}
            for entry in self.trust_ledger.standing()
        ]

    def trust_revoke(self, goal_id: str, how: str) -> bool:
        """End trust in a goal; False where there was none."""
        from flow.adapters import clock

        return self.trust_ledger.revoke(goal_id, now=clock.now(), how=how)
