"""Writing a checkout's ledger: :class:`~flow.app.ports.ClosingLedger` over real files.

An evaluation gets this object as a ``TurnLedger``. Many of them change nothing but evidence, or not
even that, so the modules that change goals and record evidence are loaded only when needed.
"""

from __future__ import annotations

from flow.adapters.contracts import cache as contracts_cache
from flow.adapters.fs import files, locks
from flow.adapters.ledger.reader import read_goal
from flow.core import layout
from flow.core.goal import ids
from flow.startup import json
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.ledger.goal_contracts import GoalContracts
    from flow.adapters.ledger.goal_moves import StatusChanges
    from flow.adapters.ledger.settings import LedgerSettings
    from flow.app.checks import RawOutput
    from flow.app.ports import Amendment, Approval, Closing, Move, Turn
    from flow.core.boundary.changes import Baseline
    from flow.core.goal.lifecycle import Status
    from flow.core.goal.loaded import ExpectedState
    from flow.core.goal.model import Goal


SPACE = 256 << 10
"""Free bytes without which no evaluation is begun: for its record, beside the commands' files."""


class FileLedger:
    """The ledger of the checkout that ``record`` vouches for; each change of a run is committed."""

    def __init__(self, record: RunRecord, settings: LedgerSettings) -> None:
        self._root = record.root
        self._record = record
        self._settings = settings
        self._unkept: list[tuple[bytes, dict[str, Any], Sequence[str]]] = []
        """Published sidecars that are not in the cache yet: bytes, document, warnings."""
        self._puts_off = False

    def put_off(self) -> None:
        """From now on, leave work that no result needs to :meth:`catch_up`."""
        self._puts_off = True

    def catch_up(self) -> None:
        """Keep the published sidecars, parsed, in the user's cache for the next process.

        Nothing of the checkout is read or written. Sidecars that a kill prevents from being kept
        are parsed again.
        """
        unkept, self._unkept = self._unkept, []
        folder = self._settings.cache_dir
        if folder is not None:
            for data, document, warnings in unkept:
                contracts_cache.store_checked(folder, data, document, [*warnings], "evidence")

    def _keep_parsed(self, data: bytes, document: dict[str, Any], warnings: Sequence[str]) -> None:
        self._unkept.append((data, document, warnings))
        if not self._puts_off:
            self.catch_up()

    # --- evidence ------------------------------------------------------------------------------

    def record_evidence(
        self, document: Mapping[str, Any], raw: RawOutput | None = None, *, suffix: bool = False
    ) -> tuple[str, str]:
        """Publish a sidecar of Flow's own; returns (evidence id, path below the checkout)."""
        from flow.adapters.ledger.evidence_store import record

        published = record(
            self._record,
            document,
            raw,
            suffix=suffix,
            now=self._settings.now(),
            keep_parsed=self._keep_parsed,
        )
        return published.id, published.path

    def discount(self, goal_id: str, run_id: str, evidence_id: str, moved: Sequence[str]) -> None:
        """Record that files changed while this was measured."""
        from flow.adapters.ledger.evidence_store import discount

        run, now = self._record.run(run_id), self._settings.now()
        discount(run, goal_id, evidence_id, moved, now=now)
        self._record.commit(run_id)

    def record_handed_in(
        self,
        run_id: str,
        data: bytes,
        raw_path: str | None,
        *,
        file: str,
        environ: Mapping[str, str],
    ) -> tuple[str, tuple[str, ...]]:
        """Record a foreign sidecar from a file's bytes; returns the sidecar's path and warnings."""
        from flow.adapters.contracts.formats import parse_yaml

        _, path, warnings = self.contracts.record_foreign(
            run_id, parse_yaml(data, file=file), raw_path, file=file, environ=environ
        )
        return path, warnings

    def repropose(
        self, goal_id: str, run_id: str, seen: ExpectedState, proposal: Mapping[str, Any]
    ) -> None:
        """Replace the live proposal; the goal stays unchanged.

        Raises :class:`StateError` if the goal differs from the caller's view of it.
        """
        from flow.adapters.ledger.goal_edits import compare

        self.finish(goal_id)
        with locks.exclusive(self._root, layout.goal_lock(ids.goal_id(goal_id)), quick=True):
            compare(read_goal(self._root, goal_id)[1], seen)
            text = json.dumps({"goal_id": goal_id, "run_id": run_id, **proposal}, indent=2)
            rel = layout.proposal_file(ids.run_id(run_id))
            self._record.run(run_id).replace(rel, f"{text}\n".encode("ascii"))

    # --- goals ---------------------------------------------------------------------------------

    def finish(self, goal_id: str) -> bool:
        """Complete a change that an earlier process began; True if there was one."""
        pending = files.exists(self._root, layout.pending_file(ids.goal_id(goal_id)))
        return pending and self._moves.finish(goal_id)

    def check_room(self, goal: Goal, folder: str | None) -> None:
        """Raise if a result could not be recorded now: no disk, no journal.

        ``folder`` is that of journals; with None they are not looked at.
        """
        files.check_space(self._root, SPACE)
        self._record.check_room(SPACE)  # another disk, maybe: without a head there, nothing counts
        if folder is None:
            return
        from flow.adapters.journal import parts, store
        from flow.app.ports import Artifact

        journal = layout.journal_path(goal.journal, goal.issue, goal.id, folder)
        part = parts.part_to_write(self._root, journal)
        store.check(self._root, part, Artifact("goal-evaluation", {}), now=self._settings.now())

    def write_turn(self, goal_id: str, run_id: str, seen: ExpectedState, turn: Turn) -> Status:
        """Write one evaluation, all or nothing; returns the status now on disk."""
        return self._moves.write_turn(goal_id, run_id, seen, turn)

    def move(self, goal_id: str, run_id: str, seen: ExpectedState, move: Move) -> None:
        """Write a non-terminal status."""
        self._moves.move(goal_id, run_id, seen, move)

    def approve(self, goal_id: str, run_id: str, seen: ExpectedState, approval: Approval) -> None:
        """Write the changes of a person's approval to the goal, its journal and its events."""
        self._moves.approve(goal_id, run_id, seen, approval)

    def close(self, goal_id: str, run_id: str, seen: ExpectedState, closing: Closing) -> None:
        """See :meth:`StatusChanges.close`."""
        self._moves.close(goal_id, run_id, seen, closing)

    def update_lifecycle(self, goal_id: str, lifecycle: Mapping[str, Any], **how: Any) -> Status:
        """See :meth:`StatusChanges.update_lifecycle`."""
        return self._moves.update_lifecycle(goal_id, lifecycle, **how)

    def amend(self, goal_id: str, run_id: str, seen: ExpectedState, amendment: Amendment) -> None:
        """Replace the goal's contract; the live proposal is withdrawn."""
        self.contracts.amend(goal_id, run_id, seen, amendment)

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        """Replace the run's ``baseline.json``; a run that another goal has pinned is refused."""
        self.contracts.write_baseline(goal_id, run_id, baseline)

    @property
    def _moves(self) -> StatusChanges:
        from flow.adapters.ledger.goal_moves import StatusChanges

        return StatusChanges(self._record, self._settings)

    @property
    def contracts(self) -> GoalContracts:
        """The changes of a goal's contract, which few processes make."""
        from flow.adapters.ledger.goal_contracts import GoalContracts

        return GoalContracts(self._record, self._settings)
