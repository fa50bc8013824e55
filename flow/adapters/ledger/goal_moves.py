"""Changes of a goal's state by an evaluation, a person or a helper; its contract stays."""

from __future__ import annotations

from flow.adapters.ledger import goal_edits
from flow.adapters.ledger.goal_change import GoalChange, Plan
from flow.app.ports import goal_evaluation
from flow.core import layout
from flow.core.goal.lifecycle import STATUSES, TERMINAL, check_move
from flow.core.goal.loaded import ExpectedState
from flow.errors import at_key, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.ledger.goal_edits import Edit
    from flow.app.ports import Approval, Closing, Move, Turn
    from flow.core.goal.lifecycle import Status
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal


class StatusChanges(GoalChange):
    """Turns, moves, approvals and terminal transitions of goals.

    The types keep an evaluation from naming a terminal status; :meth:`write_turn` and :meth:`move`
    refuse one at run time as well.
    """

    def write_turn(self, goal_id: str, run_id: str, seen: ExpectedState, turn: Turn) -> Status:
        """Write one evaluation, all or nothing; returns the status now on disk."""
        refuse_terminal(goal_id, turn.status)
        self._record.settle(goal_id)  # evidence that does not count was discounted by now

        def plan_for(loaded: LoadedGoal) -> Plan:
            edits = goal_edits.criterion_edits(loaded.goal, turn.criteria)
            edits += [
                (("lifecycle", "status"), turn.status),
                (("lifecycle", "turns_evaluated"), turn.turns_evaluated),
                (("lifecycle", "last_evaluation"), turn.last_evaluation._asdict()),
            ]
            event = {**turn.event, **self._settings.asked_by()}
            plan = Plan(turn.status, edits, turn.artifact, event, turn.scope)
            if turn.proposal is None:
                return plan._replace(proposal_change=self.withdrawal(goal_id, run_id))
            proposal = {"goal_id": goal_id, "run_id": run_id, **turn.proposal}
            return plan._replace(proposal_change="put", proposal=proposal)

        return self.change(goal_id, run_id, seen, plan_for, personal=False)

    def move(self, goal_id: str, run_id: str, seen: ExpectedState, move: Move) -> None:
        """Write a non-terminal status."""
        refuse_terminal(goal_id, move.to)
        event = {"reason": move.reason, **move.event}
        edits: list[Edit] = [(("lifecycle", "status"), move.to)]
        plan = Plan(move.to, edits, move.artifact, event, move.scope)
        self.change(goal_id, run_id, seen, lambda _: plan)

    def approve(self, goal_id: str, run_id: str, seen: ExpectedState, approval: Approval) -> None:
        """Write the changes of a person's approval to the goal, its journal and its events."""

        def plan(loaded: LoadedGoal) -> Plan:
            updates = (approval.criterion,) if approval.criterion else ()
            edits = goal_edits.criterion_edits(loaded.goal, updates)
            return Plan(loaded.goal.status, edits, approval.artifact, approval.event)

        self.change(goal_id, run_id, seen, plan)

    def close(self, goal_id: str, run_id: str, seen: ExpectedState, closing: Closing) -> None:
        """Write a terminal status; a ``proposal_id`` must be the live one, and is used up.

        ``achieved`` needs a live proposal for it in any case (SPEC 2).
        """
        if closing.to not in TERMINAL:
            raise at_key("lifecycle.status", closing.to).wrong_state(
                f"{closing.to} is no terminal status"
            )

        def plan(loaded: LoadedGoal) -> Plan:
            self._check_proposal(loaded, run_id, closing.to, closing.proposal_id)
            event = {"reason": closing.reason, **closing.event}
            edits: list[Edit] = [(("lifecycle", "status"), closing.to)]
            if closing.last_evaluation is not None:
                last = closing.last_evaluation._asdict()
                edits.append((("lifecycle", "last_evaluation"), last))
            if closing.turns_evaluated is not None:
                edits.append((("lifecycle", "turns_evaluated"), closing.turns_evaluated))
            edits += goal_edits.criterion_edits(loaded.goal, closing.criteria)
            drop = self.withdrawal(goal_id, run_id or loaded.goal.run_id or "")
            return Plan(closing.to, edits, closing.artifact, event, proposal_change=drop)

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
        word: Mapping[str, str] = {},
    ) -> Status:
        """Replace the lifecycle block, or ``merge`` into it, for ``flow-goal-record.sh`` (SPEC 2).

        ``from_status`` is the status that the caller saw; ``how`` and ``word``, who closes the
        goal, go into the journal; ``file`` names the given block in messages. Returns the status
        now on disk.
        """
        goal_edits.check_given(lifecycle, merge=merge, file=file)

        def plan(loaded: LoadedGoal) -> Plan:
            goal = loaded.goal
            to = str(lifecycle.get("status", goal.status))
            block = self._block(goal, lifecycle, merge=merge, increment_turns=increment_turns)
            goal_edits.check_block(goal, block, file)
            if to in TERMINAL:
                check_move(goal.status, to, goal=goal.id)
                self._check_proposal(loaded, "", to, None)
            whole: list[Edit] = [(("lifecycle",), block)]
            edits = [(("lifecycle", key), v) for key, v in block.items()] if merge else whole
            run_id = goal.run_id or layout.run_id_for(goal_id, self._settings.now())
            reason = goal_edits.block_reason(lifecycle) or f"recorded with {how}"
            result = goal_edits.block_result(block, to)
            artifact = goal_evaluation(goal, run_id, to=to, reason=reason, result=result)
            artifact = artifact._replace(fields={**artifact.fields, **word, "how": how})
            change = {"from": goal.status, "to": to, "reason": reason}
            event = {"type": "transition", **change, **word, "how": how}
            drop = self.withdrawal(goal_id, run_id) if to in TERMINAL else "keep"
            return Plan(to, edits, artifact, event, {"run_id": run_id}, drop)

        seen = None if from_status is None else ExpectedState(from_status)
        return self.change(goal_id, "", seen, plan)

    def _block(
        self, goal: Goal, lifecycle: Mapping[str, Any], *, merge: bool, increment_turns: bool
    ) -> dict[str, Any]:
        """The goal's new lifecycle block."""
        turns = {path[1]: v for path, v in self._turn_edits(goal) if path[0] == "lifecycle"}
        old = {**goal.document["lifecycle"], **turns}
        block = {**old, **lifecycle} if merge else dict(lifecycle)
        if increment_turns:
            block["turns_evaluated"] = old.get("turns_evaluated", goal.turns_evaluated) + 1
        return block

    def _check_proposal(
        self, loaded: LoadedGoal, run_id: str, to: str, proposal_id: str | None
    ) -> None:
        """Raise unless the given proposal is the live one; ``achieved`` always needs one."""
        goal = loaded.goal
        run_id = run_id or goal.run_id or ""
        live = self._records.proposal(run_id) if run_id else None
        if live is not None and live["goal_id"] != goal.id:
            live = None
        if proposal_id is not None and (
            live is None or live["proposal_id"] != proposal_id or live["to"] != to
        ):
            raise at_key("proposal_id", proposal_id).stale(
                f"goal {goal.id} has no live proposal {proposal_id!r:.80} to become {to}",
                f"it was used or replaced; evaluate again: flow goal evaluate {goal.id}",
            )
        if to == "achieved" and (live is None or live["to"] != "achieved"):
            raise at_key("lifecycle.status", to).wrong_state(
                f"no proposal for goal {goal.id} to become achieved is live",
                f"evaluate it first: flow goal evaluate {goal.id}",
                code="no_proposal",
            )
        if live is None or (to != "achieved" and proposal_id is None):
            return
        if live.get("contract", loaded.contract) != loaded.contract:
            raise in_file(loaded.file).stale(
                f"the contract of goal {goal.id} was changed since the proposal was made",
                f"evaluate again: flow goal evaluate {goal.id}",
            )


def refuse_terminal(goal_id: str, status: str) -> None:
    """Raise for a terminal status: an evaluation never writes one (SPEC 2)."""
    if status in TERMINAL or status not in STATUSES:
        raise at_key("lifecycle.status", status).wrong_state(
            f"an evaluation or a move may not make goal {goal_id} {status}",
            f"a final status needs a person: flow goal confirm {goal_id}",
            code="refused_transition",
        )
