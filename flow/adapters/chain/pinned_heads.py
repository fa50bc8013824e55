"""The heads of this user's chains, in the state folder: what no checkout can take back.

One small file for each repository and run, mode 0600, replaced whole. It says how far the run's
ledger and events had come when Flow wrote to the run last, so that a run that has vanished, was cut
or was restored from an older copy is told from one that never was. A head moves on only where the
chain still leads back to the one that was kept: whoever cuts a run cannot have that forgotten by
letting Flow write to it again.

It moves on to what the process that keeps it has appended itself, never to what is merely there.
The numbers in between that no process said were its own are kept, too: a killed process's, or those
of somebody who wrote into the checkout. They never count
(:mod:`flow.adapters.chain.trust_anchor`). Whoever appended one of them, and keeps the head later,
takes it out of the list.
"""

from __future__ import annotations

import json
import os

from flow.adapters.chain import event_log as events
from flow.adapters.chain import ledger_file
from flow.adapters.chain.session_writes import UNVERIFIED
from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.state_folder import (
    check_state_dir,
    ensure_state_dir,
    replace_own,
    storage_error,
)
from flow.core import layout
from flow.core.chain.entries import Head, head_of, is_digest
from flow.core.chain.intervals import bounded, contains, merged, without
from flow.core.goal import ids
from flow.errors import FlowError, StorageError
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.chain.session_writes import RunWrites, Unpinned
    from flow.core.chain.entries import LedgerEntry
    from flow.core.chain.intervals import Intervals

KIND = "chains"
LIMIT = 64 << 10
"""Bytes: the largest file of heads."""
SPANS_LIMIT = 500
"""Runs of numbers that nobody vouches for; beyond that, the numbers between the oldest go, too."""
RUNS_LIMIT = 1_000_000
_SUFFIX = ".json"
COMING = "~"
"""Behind the name of a small file: the digest of what it is about to hold."""


class PinnedRun(NamedTuple):
    """What is known of one run. ``broken`` says that its file cannot be read."""

    ledger: Head | None
    events: Head | None
    files: Mapping[str, str | None]
    """Small files of the run by name: their SHA-256 as Flow left them, None for a removed one."""
    broken: bool = False
    unvouched: Intervals = ()
    """Numbers up to the ledger's head whose entries no process of Flow's has said were its own."""
    read_error: StorageError | None = None
    """Why the disk gave no answer."""

    def outside(self, number: int) -> bool:
        """Whether nobody vouches for the entry with this number."""
        return (
            self.ledger is None or number > self.ledger.number or contains(self.unvouched, number)
        )


class PinnedHeads:
    """The heads of one repository's runs. ``folder`` is the user's state folder."""

    def __init__(self, folder: str, repo: str) -> None:
        self._folder = folder
        self._rel = f"{KIND}/{sha256(os.fsencode(repo)).hexdigest()[:32]}"
        self._parsed: tuple[bytes, PinnedRun | None] | None = None
        """What was read last, and what it says: much is asked of the same file."""

    def path(self, run_id: str) -> str:
        """The file that holds a run's heads."""
        return os.path.join(self._folder, self._rel, f"{ids.run_id(run_id)}{_SUFFIX}")

    def read(self, run_id: str) -> PinnedRun | None:
        """What is kept of a run; None where nothing is."""
        try:
            return self._read(run_id)
        except StorageError as error:
            return PinnedRun(None, None, {}, broken=True, read_error=error)

    def _read(self, run_id: str) -> PinnedRun | None:
        """The same for whoever goes on to write: raises where the disk gives no answer.

        What was not read must not be written over, since it would be lost.
        """
        if not check_state_dir(self._folder):
            return None
        rel = f"{self._rel}/{ids.run_id(run_id)}{_SUFFIX}"
        try:
            data = files.read_optional(self._folder, rel, limit=LIMIT)
            if data is None:
                return None
            if self._parsed is None or self._parsed[0] != data:
                self._parsed = data, _kept(lenient_json.loads(data))
            return self._parsed[1] or PinnedRun(None, None, {}, broken=True)
        except StorageError:
            raise
        except (ValueError, FlowError):
            return PinnedRun(None, None, {}, broken=True)

    def vouches(self, run_id: str, name: str, digest: str) -> bool:
        """Whether a small file of the run with this SHA-256 is as Flow left it.

        Or as it was about to leave it. Nobody vouches for a run that this folder knows nothing of:
        anyone can make one.
        """
        kept = self.read(run_id)
        return kept is not None and digest in (kept.files.get(name), kept.files.get(name + COMING))

    def announce(self, root: str, run_id: str, name: str, data: bytes | None) -> None:
        """Vouch for what a small file is about to become as well: a kill may come in between.

        ``None`` takes that back.
        """
        with locks.exclusive(root, layout.run_lock(ids.run_id(run_id)), quick=True):
            kept = self._read(run_id) or PinnedRun(None, None, {})
            others = {key: value for key, value in kept.files.items() if key != name + COMING}
            coming = {} if data is None else {name + COMING: sha256(data).hexdigest()}
            self._write(run_id, kept._replace(files={**others, **coming}))

    def runs(self) -> list[str]:
        """The ids of the runs that heads are kept of, sorted."""
        if not check_state_dir(self._folder):
            return []
        found = files.names(self._folder, self._rel, suffix=_SUFFIX, limit=RUNS_LIMIT)
        return [name for name in (each.removesuffix(_SUFFIX) for each in found) if _is_id(name)]

    def pin(self, run: RunWrites) -> None:
        """Move a run's heads on to where they are now, and take in what a session wrote to it.

        Raises :class:`FlowError` where run or state folder cannot be read or written.
        """
        root, run_id = run.root, ids.run_id(run.run_id)
        with locks.exclusive(root, layout.run_lock(run_id), quick=True):
            before = self._read(run_id) or PinnedRun(None, None, {})
            unpinned = run.unpinned()
            ledger, unvouched = _moved_on(root, run_id, before, unpinned)
            now = PinnedRun(
                ledger,
                self._events(root, run_id, before.events),
                _files(root, run_id, before, unpinned),
                unvouched=unvouched,
            )
            if now != before:
                self._write(run_id, now)
            run.pinned(unpinned)

    def forget(self, run_id: str) -> None:
        """Know nothing of the run any more."""
        if check_state_dir(self._folder):
            files.remove(self._folder, f"{self._rel}/{ids.run_id(run_id)}{_SUFFIX}")

    def _events(self, root: str, run_id: str, before: Head | None) -> Head | None:
        head = Head(*events.last_hash(root, run_id))
        if not head.number or head == before:
            return before
        if before is not None and not events.holds(root, run_id, *before):
            return before
        return head

    def _write(self, run_id: str, kept: PinnedRun) -> None:
        document = {
            "run_id": run_id,
            "ledger": str(kept.ledger) if kept.ledger else None,
            "events": str(kept.events) if kept.events else None,
            "files": kept.files,
            **({"unvouched": kept.unvouched} if kept.unvouched else {}),
        }
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=True)
        target = self.path(run_id)
        try:
            try:
                replace_own(target, text.encode("ascii"))
            except FileNotFoundError:
                self._make()
                replace_own(target, text.encode("ascii"))
        except OSError as error:
            raise storage_error("keep the head of a run", target, error) from error

    def _make(self) -> None:
        path = self._folder
        ensure_state_dir(path)
        for part in self._rel.split("/"):
            path = os.path.join(path, part)
            ensure_state_dir(path)


def _is_id(name: str) -> bool:
    try:
        ids.run_id(name)
    except FlowError:
        return False
    return True


def _kept(document: Any) -> PinnedRun | None:
    if not isinstance(document, dict) or not isinstance(document.get("files"), dict):
        return None
    heads = []
    for name in ("ledger", "events"):
        said = document.get(name)
        heads.append(head_of(said))
        if said is not None and heads[-1] is None:
            return None
    known = document["files"]
    if not all(digest is None or is_digest(digest) for digest in known.values()):
        return None
    unvouched = document.get("unvouched", [])
    try:
        spans = tuple((int(first), int(last)) for first, last in unvouched)
    except (TypeError, ValueError):
        return None
    return PinnedRun(heads[0], heads[1], known, unvouched=spans)


def _files(root: str, run_id: str, before: PinnedRun, unpinned: Unpinned) -> dict[str, str | None]:
    """The small files as they are to be pinned.

    One that is gone since the session wrote it was withdrawn by another command of Flow's; pinned
    as written, it could be put back and count.
    """
    wrote = dict(unpinned.files)
    for name in (name for name in wrote if wrote[name] and "/" not in name):  # a file's own name
        if not files.exists(root, f"{layout.run_dir(run_id)}/{name}"):
            wrote[name] = None
    others = {
        name: digest
        for name, digest in before.files.items()
        if name.removesuffix(COMING) not in wrote
    }
    return others | {name: digest for name, digest in wrote.items() if digest != UNVERIFIED}


def _moved_on(
    root: str, run_id: str, before: PinnedRun, unpinned: Unpinned
) -> tuple[Head | None, Intervals]:
    """Where the ledger's head is once this session's entries are in, and what nobody vouches for.

    Costs no look at the ledger where nobody else has appended since the kept head.
    """
    own, head, spans = unpinned.appended, before.ledger, before.unvouched
    if own:
        last = head.number if head is not None else 0
        start = own[-1].head if head is None or own[-1].seq > last else head
        mine = _met(root, run_id, start, head, own)
        if mine is not None:  # else it was cut or replaced: that is not to be forgotten
            head = start
            spans = without(merged([*spans, (last + 1, start.number)]), mine)
    gone = [(entry.seq, entry.seq) for entry in unpinned.discounted]
    return head, bounded(merged([*spans, *gone]), SPANS_LIMIT) if gone or own else spans


def _met(
    root: str, run_id: str, start: Head, old: Head | None, own: Sequence[LedgerEntry]
) -> list[int] | None:
    """The numbers of own entries that ``start`` leads back to.

    None where it does not lead to the head ``old``.
    """
    known = {entry.hash: entry for entry in own}
    first = min(entry.seq for entry in own)
    links, at, found = ledger_file.EntryLinks(root, run_id), start, list[int]()
    reached = old is None
    while True:
        reached = reached or at == old
        if reached and at.number < first:
            return found
        if old is not None and not reached and at.number <= old.number:
            return None
        entry = known.get(at.hash) or links.get(at.hash)
        if entry is None or entry.seq != at.number:
            return found if reached else None
        if entry.hash in known:
            found.append(entry.seq)
        at = Head(entry.seq - 1, entry.prev)
