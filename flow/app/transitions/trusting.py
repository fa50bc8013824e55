"""Trusting a goal's contract on a person's word (SPEC 7)."""

from __future__ import annotations

from flow.app.evaluation.baselines import StoredBaselinePort
from flow.core.amendment import changes as amendment
from flow.core.amendment import trust_diff
from flow.core.goal.lifecycle import UNDER_WAY
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.amendment.changes import ContractChange
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal


class TrustPort(StoredBaselinePort, Protocol):
    """Interface of trusting to the checkout."""

    def is_in_place(self, loaded: LoadedGoal) -> bool:
        """Whether a goal that was read is the one in ``.flow/goals``, and not another file."""

    def trusted_digest(self, goal_id: str) -> str | None:
        """The digest of the contract that was trusted last; None if none was."""

    def recorded_contract(self, goal_id: str) -> Mapping[str, Any] | None:
        """The last trusted contract itself, even if its trust was revoked."""

    def amend_by_hand(self, loaded: LoadedGoal, how: str) -> None:
        """Record a change that was made in a goal file by hand, and trust it as it was read."""

    def trust(self, loaded: LoadedGoal, how: str) -> None:
        """Trust the contract of a goal as it was read."""


def lines_since_trusted(port: TrustPort, loaded: LoadedGoal) -> list[str]:
    """Difference between the contract now and the last trusted one, as lines for a person."""
    before = port.recorded_contract(loaded.goal.id)
    return trust_diff.difference(before, loaded.goal.contract_document)


def changes_since_trusted(port: TrustPort, loaded: LoadedGoal) -> tuple[ContractChange, ...]:
    """Changes since the last trusted contract, each with its class; empty if there is none."""
    before = port.recorded_contract(loaded.goal.id)
    return () if before is None else amendment.changes(before, loaded.goal.contract_document)


def record_trust(port: TrustPort, loaded: LoadedGoal, how: str) -> None:
    """Trust the contract of a goal as it was read.

    Where an open goal's file was changed by hand, that is an amendment, and goes on its record.
    Where nothing is recorded of an active goal's start (a fresh clone), its baseline is made here.
    """
    goal = loaded.goal
    if goal.status in UNDER_WAY:
        placed = port.is_in_place(loaded)
        trusted = port.trusted_digest(goal.id) if placed else None
        if trusted is not None and trusted != loaded.contract:
            port.amend_by_hand(loaded, how)
            return
        if placed and goal.base_commit is not None and goal.run_id is not None:
            _record_start(port, goal, goal.run_id)
    port.trust(loaded, how)


def _record_start(port: TrustPort, goal: Goal, run_id: str) -> None:
    """Write the run's baseline if nothing is recorded of the goal's start."""
    known = port.pinned(run_id, goal)
    if known is None or not known.recorded:
        baseline = (known or port.restored(goal))._replace(began=goal.created_at)
        port.write_baseline(goal.id, run_id, baseline)
