"""Taking evidence out of the count, on the record: the files changed while it was measured.

The sidecar stays as it is, since evidence is append-only. The user's own state folder does not
vouch for it (:mod:`flow.adapters.chain.run_record`), and the newest event about it says why.
"""

from __future__ import annotations

from flow.adapters.chain import event_log
from flow.adapters.ledger.reader import DISCOUNTED
from flow.core.text.display import names
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.chain.session_writes import RunWrites


def discount(
    run: RunWrites, goal_id: str, evidence_id: str, moved: Sequence[str], *, now: str
) -> None:
    """Append the event, synced; raises :class:`StorageError` where that fails.

    The caller commits the run afterwards.
    """
    run.discount(evidence_id)
    fields = {"evidence_id": evidence_id, "moved": names(moved, 5)}
    event_log.append(run.root, run.run_id, goal_id, DISCOUNTED, fields, at=now)
