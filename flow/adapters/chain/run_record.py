"""The run record: the trust anchor of a checkout's runs, given to every writer of them.

Only entries that the user's own state folder vouches for count (SPEC 1). Anyone who can write in
the checkout can write entries that fit the chain: it has no secret. So an entry counts only if

* following ``prev`` from the pinned head (:mod:`flow.adapters.chain.pinned_heads`) reaches it, and
  its number lies in no interval that Flow did not pin, or
* this session appended it.

A small file of a run counts if its digest is pinned, or this session wrote it.

A session is a command, a stop of an agent, or a caller's checkout object. An evaluation in it::

    with record.pinned_once():          # all commits in the block are pinned at its end
        record.begin(goal_id)           # nothing recorded for the goal may be pinned
        record.run(run_id).appended(…)  # by the writers of evidence
        record.settle(goal_id)          # entries that do not count are discounted: pin the others
        record.commit(run_id)           # the run's heads are to be pinned
        record.abort(goal_id)           # in a `finally`: forget what was not settled
"""

from __future__ import annotations

import os

from flow.adapters.chain import event_log, ledger_file
from flow.adapters.chain.session_writes import COMING, RunWrites
from flow.core import layout
from flow.core.chain.entries import EVIDENCE
from flow.errors import FlowError, OutsideError
from flow.startup.contexts import contextmanager, suppress
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flow.adapters.chain.newest_lines import NewestLines
    from flow.adapters.chain.pinned_heads import PinnedHeads, PinnedRun
    from flow.core.chain.entries import LedgerEntry
    from flow.core.goal.model import Goal


class SharedClosings(Protocol):
    """The user's record of closed goals that all working trees of a repository share."""

    def closing(self, goal_id: str, digest: str) -> None:
        """Record a goal that Flow has closed; ``digest`` is that of the goal as it is now."""

    def knows_closing(self, goal_id: str, digest: str) -> bool:
        """Whether Flow closed the goal so, in any of the working trees."""


BEFORE = "nothing that was recorded before counts"


class RunRecord:
    """The record of Flow's own writes in the runs of the checkout ``root`` (absolute path).

    ``heads`` returns the user's pinned heads, and may raise :class:`FlowError` if the state folder
    cannot be used; without it, only this session's writes are vouched for. ``troubles`` explains in
    words why earlier evidence does not count. ``on_first`` is called after the first write to a
    run where the checkout had none (a clone, a linked worktree). ``shared`` returns the closings in
    all working trees of the repository. For one thread at a time.
    """

    def __init__(
        self,
        root: str,
        heads: Callable[[], PinnedHeads] | None = None,
        on_first: Callable[[], None] | None = None,
        shared: Callable[[], SharedClosings] | None = None,
    ) -> None:
        self.root = root
        self.troubles: dict[str, None] = {}
        self.read_error: FlowError | None = None
        """The disk's error, here or for a sidecar: then it is unknown which evidence counts."""
        self.damaged: set[str] = set()
        """Runs in which a recorded entry or file was looked up, and was missing or altered."""
        self._heads = heads
        self._shared = shared
        self._on_first = on_first if on_first is not None and not _has_runs(root) else None
        self._measured: set[str] = set()
        self._runs: dict[str, RunWrites] = {}
        self._chains: dict[str, ledger_file.AnchoredChain] = {}
        self._there: dict[str, NewestLines] = {}
        """Hashes of the entries in the ledgers of the runs that this session has written to."""
        self._committed: dict[str, None] | None = None
        """The runs to pin at the end of :meth:`pinned_once`; None outside of it."""
        self._heads_read: dict[str, PinnedRun | None] | None = None
        """The heads read in :meth:`heads_read_once`; None outside of it."""

    # --- writing -------------------------------------------------------------------------------

    def run(self, run_id: str) -> RunWrites:
        """The session's writes to a run."""
        if run_id not in self._runs:
            self._runs[run_id] = RunWrites(self.root, run_id, self._measured)
        return self._runs[run_id]

    def begin(self, goal_id: str) -> None:
        """Hold back entries that are recorded for this goal from now on, until :meth:`settle`.

        The files may still change while it is measured: a killed process must not leave evidence
        that counts although the process would have discounted it.
        """
        self._measured.add(goal_id)

    def settle(self, goal_id: str) -> None:
        """Let this goal's entries be pinned: those that do not count were discounted."""
        self._measured.discard(goal_id)
        for run in self._runs.values():
            run.settle(goal_id)

    def abort(self, goal_id: str) -> None:
        """Never vouch for this goal's entries that were not settled; no effect after `settle`."""
        self._measured.discard(goal_id)
        for run in self._runs.values():
            run.abort(goal_id)

    def commit(self, run_id: str) -> None:
        """Pin the heads of a run as they are now, or at the end of :meth:`pinned_once`.

        If the state folder cannot be used, they stay behind, and the new entries count for this
        session alone.
        """
        if self._committed is None:
            self.pin(run_id)
        else:
            self._committed[run_id] = None

    @contextmanager
    def pinned_once(self) -> Iterator[None]:
        """Pin each run that is committed in the block once, at its end, also after an exception.

        Raises :class:`OutsideError` if the disk takes no head and nothing else was raised: the
        block's records count for no other process then, so it must not look done.
        """
        if self._committed is not None:
            yield
            return
        self._committed = {}
        try:
            yield
        except BaseException:
            self._pin_committed()
            raise
        error = self._pin_committed()
        if error is not None:
            raise error

    def _pin_committed(self) -> OutsideError | None:
        """Pin the runs of a block that ended; returns the first error of the disk."""
        committed, self._committed = self._committed or {}, None
        errors = [self.pin(run_id) for run_id in committed]
        return next(filter(None, errors), None)

    def check_room(self, needed: int) -> None:
        """Raise :class:`StorageError` if the state folder's disk has fewer bytes left.

        A folder that cannot be used at all vouches for nothing and needs none.
        """
        with without_folder():
            heads = self._heads() if self._heads is not None else None
            if heads is not None:
                heads.check_room(needed)

    def announce(self, run_id: str, name: str, data: bytes | None) -> None:
        """Pin the content that a small file is about to have; None cancels that.

        Raises :class:`FlowError` if that fails: the file must not change then, since the new one
        would be unverified.
        """
        try:
            heads = self._heads() if self._heads is not None else None
        except FlowError:  # no usable folder, so none vouches for the old one
            return
        if heads is not None:
            self._reread_heads()
            heads.announce(self.root, run_id, name, data)

    def pin(self, run_id: str) -> OutsideError | None:
        """Pin the heads of a run now, in :meth:`pinned_once` as well.

        For a file that another command may replace before the end of the block. Returns the error
        of a disk that does not take them.
        """
        failed = None
        try:
            if self._heads is not None:
                self._reread_heads()
                self._heads().pin(self.run(run_id))
        except FlowError as error:
            self._failed(error)
            failed = error if isinstance(error, OutsideError) else None
        if self._on_first is not None:
            on_first, self._on_first = self._on_first, None
            on_first()
        return failed

    def share_closing(self, goal_id: str, statement: bytes) -> None:
        """Record for the repository's other working trees how Flow has closed the goal.

        Their runs are their own, so they have no event about it. It comes when the goal is closed:
        one whose closing failed must not count. A tree that does not learn of it asks a person.
        """
        if self._shared is not None:
            with suppress(FlowError):
                self._shared().closing(goal_id, sha256(statement).hexdigest())

    # --- asking --------------------------------------------------------------------------------

    @contextmanager
    def heads_read_once(self) -> Iterator[None]:
        """Within it a run's pinned heads are read once, and again after each write of them."""
        if self._heads_read is not None:
            yield
            return
        self._heads_read = {}
        try:
            yield
        finally:
            self._heads_read = None

    def _reread_heads(self) -> None:
        if self._heads_read is not None:
            self._heads_read.clear()

    def entry(self, run_id: str, evidence_id: str, kind: str = EVIDENCE) -> LedgerEntry | None:
        """The newest entry of a sidecar that is vouched for; None if there is none."""
        own = self.run(run_id).newest(kind, evidence_id)
        if own is not None and self._is_there(run_id, own):
            return own
        pinned = self._pinned(run_id)
        if pinned is None or pinned.ledger is None:
            return None
        chain = self._chain(run_id, pinned)
        entry = chain.find(kind, evidence_id)
        self._note_parted(run_id, chain)
        return entry if entry is not None and not pinned.is_unverified(entry.seq) else None

    def evidence_ids(self, run_id: str, prefix: str) -> Iterator[str]:
        """The sidecars whose ids begin with ``prefix`` and whose entries are vouched for.

        The newest first. ``prefix`` ends in a hyphen.
        """
        yielded = dict.fromkeys(self.run(run_id).evidence_ids(prefix))
        yield from yielded
        pinned = self._pinned(run_id)
        if pinned is None or pinned.ledger is None:
            return
        chain = self._chain(run_id, pinned)
        for name, seq in chain.ids(prefix):
            if name not in yielded and not pinned.is_unverified(seq):
                yielded[name] = None
                yield name
        self._note_parted(run_id, chain)

    def _note_parted(self, run_id: str, chain: ledger_file.AnchoredChain) -> None:
        if chain.parted:
            self.troubles[f"the record of run {run_id} is not as Flow left it: {BEFORE}"] = None
            self.damaged.add(run_id)

    def file(self, run_id: str, name: str, digest: str) -> bool:
        """Whether Flow left a small file of the run with this SHA-256."""
        if self.run(run_id).last_wrote(name, digest):
            return True
        pinned = self._pinned(run_id)
        return pinned is not None and pinned.files.get(name) == digest

    def closed(self, run_id: str, goal: Goal, contract: str, at: str) -> bool:
        """Whether a terminal transition of Flow's closed the goal at ``at``, as it is now.

        A killed one that a later command has completed counts, too.
        """
        from flow.core.chain import closing_record

        digest = sha256(closing_record.statement(goal, contract, at)).hexdigest()
        name = f"{layout.CLOSINGS}{goal.id}"
        return self.file(run_id, name, digest) or self.file(run_id, name + COMING, digest)

    def has_closing(self, run_id: str, goal: Goal, contract: str) -> bool:
        """Whether this user's state folder knows how the goal got its final status.

        Where it was not closed in this checkout, its closing in another working tree counts.
        """
        from flow.core.chain import closing_record

        events, _ = event_log.read(self.root, run_id, goal.id)
        at = closing_record.closed_at(events, goal.status)
        if at is not None:
            return self.closed(run_id, goal, contract, at)
        runs = {run_id, goal.run_id or run_id}  # another working tree has a run of its own
        if self._shared is None or any(self._closed_here(run, goal.id) for run in runs):
            return False
        statement = closing_record.shared_statement(goal, contract)
        return self._shared().knows_closing(goal.id, sha256(statement).hexdigest())

    def _closed_here(self, run_id: str, goal_id: str) -> bool:
        return self.knows(run_id) and self.was_closed(run_id, goal_id)

    def was_closed(self, run_id: str, goal_id: str) -> bool:
        """Whether Flow closed the goal at some time; its present status does not count."""
        pinned = self._pinned(run_id)
        return pinned is not None and pinned.files.get(layout.CLOSINGS + goal_id) is not None

    def knows(self, run_id: str) -> bool:
        """Whether the state folder keeps anything of a run."""
        try:
            return self._heads is not None and self._heads().read(run_id) is not None
        except FlowError:
            return False

    def head(self, run_id: str) -> str | None:
        """The head of the run's chain as ``<n>:<hash>``; None if the run has no entry."""
        entry = ledger_file.last(self.root, run_id, self.run(run_id).tail)
        return str(entry.head) if entry is not None else None

    def _is_there(self, run_id: str, own: LedgerEntry) -> bool:
        """Whether an entry that this session has appended is still in the ledger."""
        if run_id not in self._there:
            self._there[run_id] = ledger_file.entries_there(self.root, run_id)
        return self._there[run_id].get(own.hash) is not None

    def _chain(self, run_id: str, pinned: PinnedRun) -> ledger_file.AnchoredChain:
        assert pinned.ledger is not None  # asked by both callers  # noqa: S101
        chain = self._chains.get(run_id)
        if chain is None or chain.head != pinned.ledger:
            chain = self._chains[run_id] = ledger_file.AnchoredChain(
                self.root, run_id, pinned.ledger
            )
        return chain

    def _pinned(self, run_id: str) -> PinnedRun | None:
        if self._heads_read is None:
            return self._read_heads(run_id)
        if run_id not in self._heads_read:
            self._heads_read[run_id] = self._read_heads(run_id)
        return self._heads_read[run_id]

    def _read_heads(self, run_id: str) -> PinnedRun | None:
        if self._heads is None:
            return None
        try:
            pinned = self._heads().read(run_id)
        except FlowError as error:
            self._failed(error)
            self.read_error = error
            return None
        if pinned is None:
            self.troubles[f"your state folder knows nothing of run {run_id}: {BEFORE}"] = None
            return None
        self.read_error = self.read_error or pinned.read_error
        if pinned.read_error is not None:
            self._failed(pinned.read_error)
        elif pinned.broken:
            self.troubles[f"what your state folder keeps of run {run_id} is torn: {BEFORE}"] = None
        return pinned

    def _failed(self, error: FlowError) -> None:
        """Note a state folder that could not be read or written."""
        text = f"{error.faults[0]}: evidence counts only where it was recorded just now"
        self.troubles[text] = None


@contextmanager
def without_folder() -> Iterator[None]:
    """Go on where no state folder can be used: it vouches for nothing, and needs nothing.

    A disk that fails is raised, as :class:`OutsideError`.
    """
    try:
        yield
    except OutsideError:
        raise
    except FlowError:
        return


def _has_runs(root: str) -> bool:
    try:
        with os.scandir(os.path.join(root, layout.RUNS)) as entries:
            return any(not entry.name.startswith(".") for entry in entries)
    except OSError:
        return False
