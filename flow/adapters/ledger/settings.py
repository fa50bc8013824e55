"""Settings of a ledger; a module of its own, since both its sides need it."""

from __future__ import annotations

from flow.core import layout
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.adapters.journal.store import Announce
    from flow.core.goal.model import Goal
    from flow.core.tool_calls.speaker import Speaker


class LedgerSettings(NamedTuple):
    """Settings of a ledger: time, journals, locks, caches, and the speaker."""

    now: Callable[[], str]
    """The time as ``YYYY-MM-DDTHH:MM:SSZ``."""
    journal_dir: str = layout.JOURNAL_DIR
    """The journal folder of runs that have pinned none."""
    timeout: float = 10.0
    """Seconds to wait for a lock."""
    quick: bool = True
    """Locks are taken without importing ``filelock``."""
    cache_dir: str | None = None
    """The ``cache_dir`` of :class:`~flow.adapters.ledger.reader.FileRecords`."""
    before_change: Callable[[Goal, str], None] = lambda *_: None
    """Gets a goal and the status that it is about to have."""
    after_change: Callable[[Goal, str, str, str], None] = lambda *_: None
    """Gets a goal that was written, its run's id, and its status and contract since then."""
    speaker: Speaker | None = None
    """Speaker of the commands, for the journal and event of every change that a person could have
    made. None: a hook, which has ``how``.
    """
    asked_by: Callable[[], Mapping[str, str]] = dict
    """Origin of the request for an evaluation, as fields of its event; empty at the stop of an
    agent.
    """
    before_journal: Announce | None = None
    """``announce`` of ``journal.append``."""
