"""Taking evidence out of the count, on the record: the files changed while it was measured.

The sidecar stays as it is, since evidence is append-only. The user's own state folder does not
vouch for it (:mod:`flow.adapters.chain.session_writes`), and the newest event about it says why.
"""

from __future__ import annotations

from flow.adapters.chain import event_log, session_writes
from flow.adapters.ledger.reader import DISCOUNTED
from flow.core.decision.explain import names
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def discount(
    root: str, goal_id: str, run_id: str, evidence_id: str, moved: Sequence[str], *, now: str
) -> None:
    """Append the event, synced; raises :class:`StorageError` where that fails.

    The caller keeps the run's head afterwards.
    """
    session_writes.take_out(root, run_id, evidence_id)
    fields = {"evidence_id": evidence_id, "moved": names(moved, 5)}
    event_log.append(root, run_id, goal_id, DISCOUNTED, fields, at=now)
