"""The heads of this user's chains, in the state folder, where no checkout can take them back.

One small file for each repository and run, mode 0600, replaced whole. It records the heads of the
run's ledger and events at Flow's last write, which distinguishes a run that has vanished, was cut
or was restored from an older copy from one that never was. A head moves on only if the chain still
leads back to the pinned one: a later write of Flow's does not hide that a run was cut.

It moves on to entries that the pinning process has appended itself, never to others. The numbers in
between that no process claimed are stored, too: those of a killed process, or of entries that
others wrote into the checkout. They never count (:mod:`flow.adapters.chain.run_record`). The
process that appended one of them, and pins the head later, takes it out of the list.
"""

from __future__ import annotations

import os

from flow.adapters.chain import event_log as events
from flow.adapters.chain import ledger_file
from flow.adapters.chain.session_writes import COMING, UNVERIFIED
from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.stamps import is_settled, signature_of
from flow.adapters.fs.state_folder import check_state_dir, key_of, write_json
from flow.core import layout
from flow.core.chain.entries import Head, head_of
from flow.core.chain.intervals import bounded, contains, merged, without
from flow.core.goal import ids
from flow.core.text.display import visible
from flow.errors import FlowError, StorageError
from flow.startup.sha import is_digest, sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.chain.session_writes import RunWrites, Unpinned
    from flow.adapters.fs.stamps import Signature
    from flow.core.chain.entries import LedgerEntry
    from flow.core.chain.intervals import Intervals

KIND = "chains"
LIMIT = 64 << 10
"""Most bytes of a file of heads."""
INTERVALS_LIMIT = 500
"""Most intervals of unverified numbers; beyond that, the gaps between the oldest are included."""
RUNS_LIMIT = 1_000_000
_SUFFIX = ".json"


class PinnedRun(NamedTuple):
    """The pinned heads of one run. ``broken``: their file cannot be read."""

    ledger: Head | None
    events: Head | None
    files: Mapping[str, str | None]
    """Small files of the run by name: their SHA-256 as Flow left them, None for a removed one."""
    broken: bool = False
    unvouched: Intervals = ()
    """Numbers up to the ledger's head whose entries no process of Flow's has claimed."""
    read_error: StorageError | None = None
    """The disk's error, if it gave no answer."""

    def is_unverified(self, number: int) -> bool:
        """Whether the entry with this number is unverified."""
        return (
            self.ledger is None or number > self.ledger.number or contains(self.unvouched, number)
        )


class PinnedHeads:
    """The heads of one repository's runs. ``folder`` is the user's state folder."""

    def __init__(self, folder: str, repo: str) -> None:
        self._folder = folder
        self._rel = f"{KIND}/{key_of(repo)}"
        self._parsed: tuple[bytes, PinnedRun | None] | None = None
        """The bytes that were read last, parsed: the same file is read often."""
        self._settled: tuple[str, Signature] | None = None
        """The file of these bytes, and its stamps, if its next write will surely change them."""

    def path(self, run_id: str) -> str:
        """The file that holds a run's heads."""
        return os.path.join(self._folder, self._file(run_id))

    def _file(self, run_id: str) -> str:
        return f"{self._rel}/{ids.run_id(run_id)}{_SUFFIX}"

    def read(self, run_id: str) -> PinnedRun | None:
        """The pinned heads of a run; None if there are none."""
        try:
            return self._read(run_id)
        except StorageError as error:
            return PinnedRun(None, None, {}, broken=True, read_error=error)

    def _read(self, run_id: str) -> PinnedRun | None:
        """Like :meth:`read`, for a write: raises if the disk gives no answer.

        Heads that were not read must not be written over, since they would be lost.
        """
        if not check_state_dir(self._folder):
            return None
        rel = self._file(run_id)
        status = _status(os.path.join(self._folder, rel))
        settled = (rel, signature_of(status)) if status is not None and is_settled(status) else None
        try:
            if settled is None or settled != self._settled or self._parsed is None:
                self._settled = None
                data = files.read_optional(self._folder, rel, limit=LIMIT)
                if data is None:
                    return None
                if self._parsed is None or self._parsed[0] != data:
                    self._parsed = data, _from_document(lenient_json.loads(data))
                self._settled = settled
            return self._parsed[1] or PinnedRun(None, None, {}, broken=True)
        except StorageError:
            raise
        except (ValueError, FlowError):
            return PinnedRun(None, None, {}, broken=True)

    def vouches(self, run_id: str, name: str, digest: str) -> bool:
        """Whether a small file of the run has the content that Flow left, or was about to leave.

        ``digest`` is its SHA-256. No file of an unknown run qualifies: anyone can make one.
        """
        pinned = self.read(run_id)
        return pinned is not None and digest in (
            pinned.files.get(name),
            pinned.files.get(name + COMING),
        )

    def announce(self, root: str, run_id: str, name: str, data: bytes | None) -> None:
        """Pin the content that a small file is about to have as well: a kill may come in between.

        ``None`` cancels that.
        """
        with locks.exclusive(root, layout.run_lock(ids.run_id(run_id)), quick=True):
            pinned = self._read(run_id) or PinnedRun(None, None, {})
            others = {key: value for key, value in pinned.files.items() if key != name + COMING}
            coming = {} if data is None else {name + COMING: sha256(data).hexdigest()}
            self._write(run_id, pinned._replace(files={**others, **coming}))

    def runs(self) -> list[str]:
        """The ids of the runs with pinned heads, sorted."""
        if not check_state_dir(self._folder):
            return []
        names = files.names(self._folder, self._rel, suffix=_SUFFIX, limit=RUNS_LIMIT)
        run_ids = (name.removesuffix(_SUFFIX) for name in names)
        return list(filter(ids.RUN_ID.fits, run_ids))

    def check_room(self, needed: int) -> None:
        """Raise :class:`StorageError` if the state folder's disk has fewer bytes left."""
        if check_state_dir(self._folder):
            files.check_space(self._folder, needed, visible(self._folder))

    def pin(self, run: RunWrites) -> None:
        """Move a run's heads on to their present places, and take in a session's writes to it.

        Raises :class:`FlowError` if run or state folder cannot be read or written.
        """
        root, run_id = run.root, ids.run_id(run.run_id)
        with locks.exclusive(root, layout.run_lock(run_id), quick=True):
            before = self._read(run_id) or PinnedRun(None, None, {})
            unpinned = run.unpinned()
            ledger, unvouched = _advanced(root, run_id, before, unpinned)
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
        """Remove the pinned heads of the run."""
        if check_state_dir(self._folder):
            files.remove(self._folder, self._file(run_id))

    def _events(self, root: str, run_id: str, before: Head | None) -> Head | None:
        head = Head(*events.last_hash(root, run_id))
        if not head.number or head == before:
            return before
        if before is not None and not events.holds(root, run_id, *before):
            return before
        return head

    def _write(self, run_id: str, pinned: PinnedRun) -> None:
        document = {
            "run_id": run_id,
            "ledger": str(pinned.ledger) if pinned.ledger else None,
            "events": str(pinned.events) if pinned.events else None,
            "files": pinned.files,
            **({"unvouched": pinned.unvouched} if pinned.unvouched else {}),
        }
        write_json(self._folder, self._file(run_id), document, "keep the head of a run")


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:  # its reader reports the fault
        return None


def _from_document(document: Any) -> PinnedRun | None:
    if not isinstance(document, dict) or not isinstance(document.get("files"), dict):
        return None
    heads = []
    for name in ("ledger", "events"):
        text = document.get(name)
        heads.append(head_of(text))
        if text is not None and heads[-1] is None:
            return None
    digests = document["files"]
    if not all(digest is None or is_digest(digest) for digest in digests.values()):
        return None
    unvouched = document.get("unvouched", [])
    try:
        intervals = tuple((int(first), int(last)) for first, last in unvouched)
    except (TypeError, ValueError):
        return None
    return PinnedRun(heads[0], heads[1], digests, unvouched=intervals)


def _files(root: str, run_id: str, before: PinnedRun, unpinned: Unpinned) -> dict[str, str | None]:
    """The small files and their digests, as they are to be pinned.

    A file that vanished after the session wrote it was withdrawn by another command of Flow's; if
    it were pinned as written, it could be put back and count.
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


def _advanced(
    root: str, run_id: str, before: PinnedRun, unpinned: Unpinned
) -> tuple[Head | None, Intervals]:
    """The ledger's head with this session's entries, and the unverified numbers.

    The ledger is not read if no other process has appended since the pinned head.
    """
    own, head, intervals = unpinned.appended, before.ledger, before.unvouched
    if own:
        last = head.number if head is not None else 0
        start = own[-1].head if head is None or own[-1].seq > last else head
        claimed = _own_numbers(root, run_id, start, head, own)
        if claimed is not None:  # else the ledger was cut or replaced: keep the old head as proof
            head = start
            intervals = without(merged([*intervals, (last + 1, start.number)]), claimed)
    discounted = [(entry.seq, entry.seq) for entry in unpinned.discounted]
    if discounted or own:
        intervals = bounded(merged([*intervals, *discounted]), INTERVALS_LIMIT)
    return head, intervals


def _own_numbers(
    root: str, run_id: str, start: Head, old: Head | None, own: Sequence[LedgerEntry]
) -> list[int] | None:
    """The numbers of own entries that ``start`` leads back to.

    None if it does not lead back to the head ``old``.
    """
    by_hash = {entry.hash: entry for entry in own}
    first = min(entry.seq for entry in own)
    links, at, numbers = ledger_file.EntryLinks(root, run_id), start, list[int]()
    reached = old is None
    while True:
        reached = reached or at == old
        if reached and at.number < first:
            return numbers
        if old is not None and not reached and at.number <= old.number:
            return None
        entry = by_hash.get(at.hash) or links.get(at.hash)
        if entry is None or entry.seq != at.number:
            return numbers if reached else None
        if entry.hash in by_hash:
            numbers.append(entry.seq)
        at = Head(entry.seq - 1, entry.prev)
