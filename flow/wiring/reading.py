"""What can be read of a checkout: goals, their state, their record."""

from __future__ import annotations

import os

from flow.core import layout
from flow.core.goal import ids
from flow.core.goal.lifecycle import NON_TERMINAL, TERMINAL
from flow.errors import FlowError, StateError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.current_files import Present
    from flow.app.evaluation.values import ClosingContext
    from flow.app.ports import LoadedGoal
    from flow.core.evidence.freshness import Freshness
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Goal
    from flow.core.stop.lost_goals import KnownGoal


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

    def choose(self) -> str:
        """The goal that a command without an id means."""
        from flow.app import overview

        goals, broken = self.goals()
        try:
            return overview.choose_goal(goals, self.branch()).id
        except FlowError:
            if broken:  # it may be the one: never taken for absent
                raise broken[0] from None
            raise

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

    def status(self, goal_id: str) -> dict[str, Any]:
        """Where a goal stands, as :func:`flow.app.overview.status` lays it out."""
        from flow.adapters.fs import files
        from flow.app import overview

        loaded = self.load(goal_id)
        pending = files.exists(self.top, layout.pending_file(goal_id))
        newest = self.newest(loaded.goal)
        document = overview.status(self._desk(), loaded, self.trusted(loaded), pending, newest)
        by_hand = document["closed_by_hand"] = self.closed_by_hand(loaded)
        told = [_told_by_hand(loaded.goal)] if by_hand else []
        document["warnings"] += [*self.run_record.troubles, *told]
        document["sent_to_judge"] = self._sent_to_judge(loaded.goal)
        document["paused"] = self._shown_pause(loaded.goal)
        if document["paused"] is not None:
            document["next"] = f"flow goal resume {loaded.goal.id}"
        runs = self.base_runs(loaded.goal)
        return overview.with_base(document, loaded.goal, runs) if runs else document

    def _sent_to_judge(self, goal: Goal) -> dict[str, Any] | None:
        """What was sent to a judge last: which evidence, to whom, when."""
        asks = goal.evaluator_type != "deterministic"
        path = next(self.records.judged(goal.run_id), None) if asks and goal.run_id else None
        evidence = self.records.counted(path) if path else None
        said = evidence.document["evidence"].get("judgement") if evidence is not None else None
        if evidence is None or not isinstance(said, dict) or not said.get("given"):
            return None
        judges = said.get("judges") or [said.get("judge")]
        return {
            "at": evidence.created_at,
            "judges": list(dict.fromkeys(judges)),
            "evidence": path,
            "given": said["given"],
        }

    def closed_by_hand(self, loaded: LoadedGoal) -> bool:
        """Whether a goal has a final status that no command of this user's gave it.

        One whose run is known here and was not closed here; others may have been closed elsewhere.
        """
        goal = loaded.goal
        if goal.status not in TERMINAL:
            return False
        known = self.left_open().get(goal.id)
        if known is not None:
            return not self.closing_on_record(loaded, known.run_id)
        if goal.run_id is None or self.run_record.troubles:
            return False
        try:
            if self.heads.read(goal.run_id) is None:
                return False
        except FlowError:
            return False
        return not self.closing_on_record(loaded, goal.run_id)

    def left_open(self) -> Mapping[str, KnownGoal]:
        """The goals that Flow left open in this checkout, as the state folder remembers them."""
        try:
            return self.checkout_notes.read().goals
        except FlowError:
            return {}

    def lost_goals(self) -> list[tuple[str, str]]:
        """Goals that Flow left open and that are not as it left them: (what happened, remedy)."""
        from flow.core.stop import lost_goals
        from flow.wiring import stop_sight

        losses = stop_sight.look(self, None, finish=False).losses
        return [
            (f"goal {loss.goal_id}: {lost_goals.what_happened(loss)}", lost_goals.loss_remedy(loss))
            for loss in losses
        ]

    def closing_on_record(self, loaded: LoadedGoal, run_id: str) -> bool:
        """Whether this user's state folder knows how the goal got its final status."""
        from flow.adapters.chain import event_log
        from flow.core.chain import closing_record

        goal = loaded.goal
        at = closing_record.told_at(event_log.read(self.top, run_id, goal.id)[0], goal.status)
        return at is not None and self.run_record.closed(run_id, goal, loaded.contract, at)

    def newest(self, goal: Goal) -> Goal:
        """The goal as of its newest turn, which its file may not have yet."""
        from flow.core.stop.turns import with_turn

        if goal.run_id is None:
            return goal
        try:
            return with_turn(goal, self.records.newest_turn(goal.run_id, goal.id))
        except FlowError:  # its events are told where they are read
            return goal

    def handed_in(self, verdict: Mapping[str, Any], run_id: str) -> bool:
        """Whether somebody recorded this newest verdict of a run, and not Flow after a run."""
        from flow.core.stop.turns import is_handed_in

        newest = self.records.newest_turn(run_id, str(verdict.get("goal_id")))
        return is_handed_in(verdict, newest)

    def _shown_pause(self, goal: Goal) -> dict[str, Any] | None:
        pause = self.paused(goal)
        return pause.to_document() if pause is not None else None

    def listing(self) -> dict[str, Any]:
        """One row for each goal, and the goals that cannot be read, by name."""
        from flow.app import overview

        goals, broken = self.goals()
        known = self.left_open()  # what Flow closed is not among them, so few are looked at
        return {
            "goals": [
                {
                    **overview.list_row(self.newest(goal)),
                    "paused": self._shown_pause(goal),
                    "closed_by_hand": goal.id in known and self.closed_by_hand(self.load(goal.id)),
                }
                for goal in goals
            ],
            "unreadable": [error.to_dict() for error in broken],
        }

    def history(self, goal_id: str) -> dict[str, Any]:
        """Every event of the goal's run."""
        from functools import partial

        from flow.adapters.chain import event_log
        from flow.app import overview

        return overview.history(self.records, partial(event_log.read, self.top), goal_id)

    def inspect(self, goal_id: str) -> dict[str, Any]:
        """The contract as read and the evidence of its run."""
        from flow.app import overview
        from flow.wiring import confirming

        document = overview.inspect(self.records, goal_id, self.freshness)
        loaded = self.load(goal_id)
        by_hand = self.closed_by_hand(loaded)
        told = [_told_by_hand(loaded.goal)] if by_hand else []
        warnings = [*document["warnings"], *told]
        proof = confirming.proof_now(self, goal_id)
        document["document"] = overview.with_newest_results(loaded.goal, self.newest(loaded.goal))
        return {**document, "proof": proof, "closed_by_hand": by_hand, "warnings": warnings}

    def freshness(self, found: Sequence[Evidence]) -> dict[str, Freshness]:
        """By its id, how each sidecar of a run stands to the files now.

        One of a goal that cannot be read is left out.
        """
        from flow.app.evaluation.current_files import Present

        desk, known = self._desk(), dict[str, Present | None]()
        discounted: dict[str, frozenset[str]] = {}
        stands = {}
        for evidence in found:
            if evidence.goal not in known:
                known[evidence.goal] = self._present(desk, evidence.goal)
            if evidence.run_id not in discounted:
                discounted[evidence.run_id] = self.records.discounted(evidence.run_id)
            present = known[evidence.goal]
            if present is not None:
                path = layout.evidence_file(evidence.run_id, evidence.id)
                moved = path in discounted[evidence.run_id]
                doubt = self.records.doubt(path)
                stands[evidence.id] = present.of(evidence, moved=moved, doubt=doubt)
        return stands

    def _present(self, desk: ClosingContext, goal_id: str) -> Present | None:
        from flow.app.evaluation.current_files import Present

        try:
            return Present(desk, self.load(goal_id))
        except FlowError:
            return None

    def report(self, goal_id: str) -> dict[str, Any]:
        """A goal's whole record, as ``flow report`` shows it."""
        from flow.adapters.fs import files
        from flow.app import overview

        status, history = self.status(goal_id), self.history(goal_id)
        run_id = status["run_id"]
        evidence: tuple[Evidence, ...] = ()
        warnings: tuple[str, ...] = ()
        if run_id is not None:
            evidence, warnings = self.records.evidence(run_id)
        rows = []
        stands = self.freshness(evidence)
        for found in evidence:
            end = b""
            if found.output_ref is not None:
                rel = f"{layout.evidence_dir(run_id)}/{found.output_ref}"
                end = files.read_end(self.top, rel, limit=OUTPUT_END)
            stand = overview.fresh_fields(stands.get(found.id))
            shown = {"output_end": end.decode("utf-8", "replace"), **stand}
            rows.append({**overview.evidence_row(found), **shown})
        return {
            "status": status,
            "verdict": self.previous_verdict(run_id) if run_id is not None else None,
            "evidence": [row for row in rows if row["goal"] == goal_id],
            "events": history["events"],
            "warnings": [
                *status["warnings"],
                *status.get("red_first", ()),
                *history["warnings"],
                *warnings,
            ],
        }

    def run_of(self, goal_id: str) -> str:
        """The run a goal writes to. Raises :class:`StateError` where it has none yet."""
        run_id = self.load(goal_id).goal.run_id
        if run_id is None:
            raise StateError(
                f"goal {goal_id} has no run yet",
                key="scope.run_id",
                remedy=f"flow goal evaluate {goal_id}, or flow goal activate {goal_id}",
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


def _told_by_hand(goal: Goal) -> str:
    """The warning about a goal that was closed by hand."""
    return (
        f"closed by hand: your own state folder does not know that it is {goal.status}: Flow did "
        "not close it as it is now, or could not write there (it is not exported; to have its "
        f"work on record: flow goal create NEW --from {goal.id})"
    )
