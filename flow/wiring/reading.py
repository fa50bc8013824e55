"""What can be read of a checkout: goals, their state, their record."""

from __future__ import annotations

import os

from flow.adapters.chain import event_log
from flow.adapters.fs import files
from flow.core import layout
from flow.core.goal import ids
from flow.core.goal.lifecycle import NON_TERMINAL
from flow.errors import FlowError, at_key
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.values import ClosingContext
    from flow.app.ports import LoadedGoal
    from flow.core.evidence.freshness import Freshness
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Goal


PENDING_LIMIT = 1000
"""Goals whose last change is completed at most; a crash leaves one."""
OUTPUT_END = 4096
"""Bytes of the end of an output that a report shows."""


class Reading(Parts):
    """What can be read of a checkout: goals, their state, their record."""

    def goals(self) -> tuple[list[Goal], list[FlowError]]:
        """Every goal of the checkout, and what is wrong with those that cannot be read."""
        loaded, broken = self.loaded_goals()
        return [each.goal for each in loaded.values()], [*broken.values()]

    def loaded_goals(self) -> tuple[dict[str, LoadedGoal], dict[str, FlowError]]:
        """Every goal of the checkout by id, and what is wrong with those that cannot be read."""
        loaded: dict[str, LoadedGoal] = {}
        broken: dict[str, FlowError] = {}
        for goal_id in self.records.goal_ids():
            try:
                loaded[goal_id] = self.load(goal_id)
            except FlowError as error:
                broken[goal_id] = error
        return loaded, broken

    def lost_goals(self) -> list[tuple[str, str]]:
        """Goals that Flow left open and that are not as it left them: (what happened, remedy)."""
        from flow.app.stop import sight
        from flow.core.stop import lost_goals

        losses = sight.look(self, None, finish=False).losses
        return [
            (f"goal {loss.goal_id}: {lost_goals.describe_loss(loss)}", lost_goals.loss_remedy(loss))
            for loss in losses
        ]

    def choose(self) -> str:
        """The goal that a command without an id means."""
        from flow.app import goal_views

        return goal_views.choose(self)

    def active(
        self, branch: str | None, *, any_open: bool = False
    ) -> tuple[list[Goal], list[FlowError]]:
        """The active goals of a branch; waiting and blocked ones too with ``any_open``.

        ``branch`` None is the one checked out. Also what is wrong with the goals that cannot be
        read: a caller names them, and never takes them for absent.
        """
        from flow.core.goal.model import NO_BRANCH

        wanted = branch if branch is not None else self.branch()
        goals, broken = self.goals()
        states = NON_TERMINAL if any_open else {"active"}
        found = [
            goal
            for goal in goals
            if goal.status in states and (wanted is None or goal.branch in (wanted, NO_BRANCH))
        ]
        return found, broken

    def freshness(self, found: Sequence[Evidence]) -> dict[str, Freshness]:
        """By its id, how each sidecar of a run stands to the files now."""
        from flow.app import goal_record

        return goal_record.freshness(self, found)

    def report(self, goal_id: str) -> dict[str, Any]:
        """A goal's whole record, as ``flow report`` shows it."""
        from flow.app import goal_record

        return goal_record.report(self, goal_id)

    @property
    def troubles(self) -> Sequence[str]:
        """Why something recorded before does not count."""
        return tuple(self.run_record.troubles)

    def desk(self) -> ClosingContext:
        """What a person's command works with."""
        return self._desk()

    def is_pending(self, goal_id: str) -> bool:
        """Whether a change of the goal was decided and not carried out."""
        return files.exists(self.top, layout.pending_file(goal_id))

    def is_run_known(self, run_id: str) -> bool:
        """Whether the state folder keeps anything of a run."""
        try:
            return self.heads.read(run_id) is not None
        except FlowError:
            return False

    def events(
        self, run_id: str, goal_id: str
    ) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        """The events of a goal in a run, and what could not be read."""
        return event_log.read(self.top, run_id, goal_id)

    def proof_now(self, goal_id: str) -> dict[str, Any] | None:
        """The files that the commands rest on and that changed, to be shown; None without a run."""
        from flow.wiring import confirming

        return confirming.proof_now(self, goal_id)

    def output_end(self, path: str) -> bytes:
        """The end of an output."""
        return files.read_end(self.top, path, limit=OUTPUT_END)

    @property
    def in_git(self) -> bool:
        """Whether there is a git directory."""
        return self.repo.git_dir is not None

    def pending(self) -> Sequence[str]:
        """The files of changes that were decided and not carried out."""
        return files.names(self.top, layout.PENDING, suffix=".json", limit=PENDING_LIMIT)

    def finish(self, goal_id: str) -> None:
        """Carry out what was decided about a goal."""
        self.ledger.finish(goal_id)

    def closing_on_record(self, loaded: LoadedGoal, run_id: str) -> bool:
        """Whether this user's state folder knows how the goal got its final status."""
        from flow.core.chain import closing_record

        goal = loaded.goal
        at = closing_record.told_at(event_log.read(self.top, run_id, goal.id)[0], goal.status)
        return at is not None and self.run_record.closed(run_id, goal, loaded.contract, at)

    def handed_in(self, verdict: Mapping[str, Any], run_id: str) -> bool:
        """Whether somebody recorded this newest verdict of a run, and not Flow after a run."""
        from flow.core.stop.turns import is_handed_in

        newest = self.records.newest_turn(run_id, str(verdict.get("goal_id")))
        return is_handed_in(verdict, newest)

    def run_of(self, goal_id: str) -> str:
        """The run a goal writes to. Raises :class:`StateError` where it has none yet."""
        run_id = self.load(goal_id).goal.run_id
        if run_id is None:
            raise at_key("scope.run_id").wrong_state(
                f"goal {goal_id} has no run yet",
                f"flow goal evaluate {goal_id}, or flow goal activate {goal_id}",
            )
        return run_id

    def run_named(self, name: str) -> str:
        """The run of this id, or of the goal of this id where there is no such run."""
        run_id = ids.run_id(name)
        if run_id in self.records.goal_ids() and not os.path.lexists(
            os.path.join(self.top, layout.run_dir(run_id))
        ):
            return self.run_of(run_id)
        return run_id

    def evidence(self, run_id: str) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
        """A run's sidecars, and what could not be read."""
        return self.records.evidence(ids.run_id(run_id))

    def evidence_named(self, run_id: str, evidence_id: str) -> Evidence | None:
        """One sidecar."""
        return self.records.evidence_named(ids.run_id(run_id), ids.evidence_id(evidence_id))

    def previous_verdict(self, run_id: str) -> Mapping[str, Any] | None:
        """``last-verdict.json`` of a run; None where it is missing or not one Flow would write."""
        from flow.adapters.contracts.check import accepts

        found = self.records.previous_verdict(ids.run_id(run_id))
        return found if found is not None and accepts("verdict", found)[0] else None
