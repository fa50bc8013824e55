"""The question before a goal is closed: gathered from the record, and the diff behind it."""

from __future__ import annotations

from flow.adapters.attribution.proof_diff import proof_file_diffs
from flow.adapters.chain import event_log
from flow.adapters.ledger.reader import AMENDED
from flow.app.evaluation import proofs
from flow.app.evaluation.values import ProofObservation
from flow.app.transitions import closing as transitions_closing
from flow.app.transitions import confirming
from flow.app.transitions.beside import others_open
from flow.app.transitions.confirming import TrustedContract
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.ports import LoadedGoal
    from flow.core.boundary.changes import Snapshot
    from flow.core.decision.confirming import ConfirmQuestion
    from flow.wiring.parts import Parts


def question(parts: Parts, goal_id: str, look: Snapshot | None = None) -> ConfirmQuestion | None:
    """What a person must know before the live proposal is confirmed; None where none is live.

    ``look`` is as for :func:`flow.app.transitions.confirming.question`.
    """
    loaded = parts.load(goal_id)
    proposal = transitions_closing.live_proposal(parts.records, loaded.goal)
    if proposal is None:
        return None
    return confirming.question(parts._desk(), loaded, proposal, _Sources(parts), look)


def proof_now(parts: Parts, goal_id: str) -> dict[str, Any] | None:
    """The files that the commands rest on and that changed, to be shown; None without a run."""
    goal = parts.load(goal_id).goal
    if goal.run_id is None or goal.base_commit is None:
        return None
    baseline = parts._baseline(goal, goal.run_id).baseline
    snapshot = parts._snapshot(baseline, parts._denied(goal), None)
    files = proofs.files_now(goal, baseline, snapshot, parts.proof_disk)
    look = ProofObservation(files)
    return proofs.proof_change(look, goal, baseline, parts.proof_disk).to_document(listed=None)


def diff(parts: Parts, goal_id: str, first: Sequence[str]) -> str:
    """What changed since the base, as text for a pager: the files ``first`` names, then the rest.

    Foreign text in it is made visible.
    """
    goal = parts.load(goal_id).goal
    baseline = parts._baseline(goal, goal.run_id or "").baseline
    snapshot = parts._snapshot(baseline, parts._denied(goal), None)
    return proof_file_diffs(parts.repo, snapshot.changes, first, baseline.proof_states)


class _Sources:
    """The user's own trust ledger, and the run's events."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def trusted(self, loaded: LoadedGoal) -> tuple[bool, str]:
        return self._parts.trusted(loaded)

    def history(self, goal_id: str) -> Sequence[TrustedContract]:
        try:
            entries = self._parts.trust_ledger.history(goal_id)
        except FlowError:  # it cannot be used: then nothing is trusted, and that is said
            return ()
        return [
            TrustedContract(
                entry.at,
                entry.how,
                entry.said_from or "",
                entry.agent or "",
                entry.digest,
                entry.contract,
            )
            for entry in entries
            if entry.contract is not None
        ]

    def amendments(self, run_id: str) -> Sequence[Mapping[str, Any]]:
        return event_log.of_type(self._parts.top, run_id, AMENDED)

    def others_open(self, goal_id: str) -> Sequence[str]:
        return others_open(self._parts, goal_id)
