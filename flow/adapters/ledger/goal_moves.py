"""What an evaluation, a person and a helper write of a goal: turns, moves, approvals, closings."""

from __future__ import annotations

from flow.adapters.ledger import checks as ledger_checks
from flow.adapters.ledger import goal_edits
from flow.adapters.ledger.goal_change import GoalChange, Plan
from flow.app.ports import Artifact, Seen
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL, check_move
from flow.errors import StateError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.ledger.goal_edits import Edit
    from flow.app.ports import Approval, Closing, LoadedGoal, Move, Turn
    from flow.core.goal.lifecycle import Status


class GoalMoves(GoalChange):
    """Changes of a goal's state; its contract stays as it is.

    The types keep an evaluation from naming a terminal status; :meth:`write_turn` and :meth:`move`
    refuse one at run time as well.
    """

    def write_turn(self, goal_id: str, run_id: str, seen: Seen, turn: Turn) -> Status:
        """Write one evaluation, all or nothing; returns the status now on disk."""
        ledger_checks.refuse_terminal(goal_id, turn.status)
        self._record.settle(goal_id)  # it is known by now what of it counts

        def plan(loaded: LoadedGoal) -> Plan:
            goal = loaded.goal
            edits = goal_edits.criterion_edits(goal, turn.criteria)
            edits += [
                (("lifecycle", "status"), turn.status),
                (("lifecycle", "turns_evaluated"), turn.turns_evaluated),
                (("lifecycle", "last_evaluation"), turn.last_evaluation._asdict()),
            ]
            if turn.proposal is None:
                return Plan(
                    turn.status,
                    edits,
                    turn.artifact,
                    turn.event,
                    turn.scope,
                    self.withdrawal(goal_id, run_id),
                )
            proposal = {"goal_id": goal_id, "run_id": run_id, **turn.proposal}
            return Plan(turn.status, edits, turn.artifact, turn.event, turn.scope, "put", proposal)

        return self.change(goal_id, run_id, seen, plan, personal=False)

    def move(self, goal_id: str, run_id: str, seen: Seen, move: Move) -> None:
        """Write a non-terminal status."""
        ledger_checks.refuse_terminal(goal_id, move.to)
        event = {"reason": move.reason, **move.event}
        self.change(
            goal_id,
            run_id,
            seen,
            lambda _: Plan(
                move.to, [(("lifecycle", "status"), move.to)], move.artifact, event, move.scope
            ),
        )

    def approve(self, goal_id: str, run_id: str, seen: Seen, approval: Approval) -> None:
        """Write what a person's approval changes in the goal, its journal and its events."""

        def plan(loaded: LoadedGoal) -> Plan:
            given = (approval.criterion,) if approval.criterion else ()
            edits = goal_edits.criterion_edits(loaded.goal, given)
            return Plan(loaded.goal.status, edits, approval.artifact, approval.event)

        self.change(goal_id, run_id, seen, plan)

    def close(self, goal_id: str, run_id: str, seen: Seen, closing: Closing) -> None:
        """Write a terminal status; a ``proposal_id`` must be the live one, and is used up.

        ``achieved`` needs a live proposal for it in any case (SPEC 2).
        """
        if closing.to not in TERMINAL:
            raise StateError(
                f"{closing.to} is no terminal status", key="lifecycle.status", value=closing.to
            )

        def plan(loaded: LoadedGoal) -> Plan:
            ledger_checks.proposal(self._records, loaded, run_id, closing.to, closing.proposal_id)
            event = {"reason": closing.reason, **closing.event}
            edits: list[Edit] = [(("lifecycle", "status"), closing.to)]
            if closing.last_evaluation is not None:
                last = closing.last_evaluation._asdict()
                edits.append((("lifecycle", "last_evaluation"), last))
            edits += goal_edits.criterion_edits(loaded.goal, closing.criteria)
            return Plan(
                closing.to,
                edits,
                closing.artifact,
                event,
                proposal_change=self.withdrawal(goal_id, run_id or loaded.goal.run_id or ""),
            )

        self.change(goal_id, run_id, seen, plan)

    def update_lifecycle(
        self,
        goal_id: str,
        lifecycle: Mapping[str, Any],
        *,
        from_status: str | None = None,
        merge: bool = False,
        increment_turns: bool = False,
        how: str = "flow-goal-record.sh",
        file: str = "lifecycle",
    ) -> Status:
        """The second door of SPEC 2: replace the lifecycle block, or ``merge`` into it.

        ``from_status`` is what the caller saw; ``how`` goes into the journal; ``file`` names the
        given block in messages. Returns the status now on disk.
        """
        goal_edits.check_given(lifecycle, merge=merge, file=file)

        def plan(loaded: LoadedGoal) -> Plan:
            goal = loaded.goal
            to = str(lifecycle.get("status", goal.status))
            newest = {path[1]: v for path, v in self._turn_edits(goal) if path[0] == "lifecycle"}
            known = {**goal.document["lifecycle"], **newest}
            block = {**known, **lifecycle} if merge else dict(lifecycle)
            if increment_turns:
                block["turns_evaluated"] = known.get("turns_evaluated", goal.turns_evaluated) + 1
            goal_edits.check_block(goal, block, file)
            if to in TERMINAL:
                check_move(goal.status, to, goal=goal.id)
                ledger_checks.proposal(self._records, loaded, "", to, None)
            edits = (
                [(("lifecycle", key), value) for key, value in block.items()]
                if merge
                else [(("lifecycle",), block)]
            )
            run_id = goal.run_id or layout.run_id_for(goal_id, self._settings.now())
            reason = goal_edits.block_reason(lifecycle) or f"recorded with {how}"
            artifact = Artifact(
                "goal-evaluation",
                {
                    "goal_id": goal_id,
                    "result": goal_edits.block_result(block, to),
                    "from": goal.status,
                    "to": to,
                    "reason": reason,
                    "evidence_bundle": layout.run_dir(run_id),
                    "failures": [c.id for c in goal.criteria if c.must_pass and c.status != "pass"]
                    or "none",
                    "how": how,
                },
            )
            event = {
                "type": "transition",
                "from": goal.status,
                "to": to,
                "reason": reason,
                "how": how,
            }
            drop = self.withdrawal(goal_id, run_id) if to in TERMINAL else "keep"
            return Plan(to, edits, artifact, event, {"run_id": run_id}, drop)

        seen = None if from_status is None else Seen(from_status)
        return self.change(goal_id, "", seen, plan)
