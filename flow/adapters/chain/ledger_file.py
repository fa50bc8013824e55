"""``ledger.jsonl``: append to a run's hash chain, and find an entry of it.

Callers that append hold the run's lock. The last entry is read from the end, so that an append
costs the same at any length. Lines that are no entries are skipped, and reported by
:mod:`flow.adapters.chain.check`: a broken ledger stops no evaluation, and an entry is never
rewritten. Half an entry at the end, which only a power cut or a full disk leaves, was never
acknowledged; the next append cuts it off.
"""

from __future__ import annotations

from flow.adapters.chain import event_log
from flow.adapters.chain.newest_lines import NewestLines
from flow.adapters.fs import files, lenient_json
from flow.core import layout
from flow.core.chain import entries as chain_entries
from flow.core.chain.entries import DROPPED, beginnings
from flow.startup.functools import lru_cache
from flow.startup.json import canonical
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.adapters.chain.session_writes import RunWrites
    from flow.core.chain.entries import Head, LedgerEntry

_END = 1 << 13
"""Bytes of the end of the ledger that are read first; an entry has about 600."""


def parse(line: bytes, *, hashed: bool = False) -> LedgerEntry:
    """The entry of a line; ValueError names the fault.

    ``hashed`` as for :func:`chain_entries.read`.
    """
    try:
        document = lenient_json.loads(line)
    except ValueError:
        raise ValueError("is no entry") from None
    return chain_entries.read(document, line, hashed=hashed)


def token(sidecar_sha256: str) -> str:
    """Part of the temporary name of a sidecar, by which its entry leads to it."""
    return sidecar_sha256[: layout.TEMP_DIGITS]


def last(root: str, run_id: str, tail: tuple[int, LedgerEntry] | None = None) -> LedgerEntry | None:
    """The newest entry; None if the run has none.

    ``tail`` is :attr:`RunWrites.tail`.
    """
    rel = layout.ledger_file(run_id)
    if tail is not None and files.size(root, rel) == tail[0]:
        return tail[1]  # no append since
    end = files.read_end(root, rel, limit=_END)
    for line in reversed(end.split(b"\n")[1 if len(end) == _END else 0 :]):
        entry = _entry(line)
        if entry is not None:
            return entry
    if len(end) < _END:
        return None
    return next(filter(None, map(_entry, event_log.backwards(root, rel, b'"hash":'))), None)


def at(root: str, run_id: str, seq: int) -> LedgerEntry | None:
    """The newest entry with this number; None if there is none. Searched from the end."""
    needle = canonical({"seq": seq})[1:-1]
    for line in event_log.backwards(root, layout.ledger_file(run_id), needle):
        entry = _entry(line)
        if entry is not None and entry.seq == seq:
            return entry
    return None


class EntryLinks:
    """Entries of a run by their hash, from the newest back; each line is read once.

    The hash covers the entry, so the entry found is the intended one in any file.
    """

    def __init__(self, root: str, run_id: str) -> None:
        self._lines = event_log.backwards(root, layout.ledger_file(run_id), b'"hash":"')

    def get(self, digest: str) -> LedgerEntry | None:
        """The entry with this hash, if it comes before those that were returned already."""
        line = self.line(digest)
        return _entry(line) if line is not None else None

    def line(self, digest: str) -> bytes | None:
        """The raw line with this hash, which covers its content: no further check is needed."""
        for line in self._lines:
            if _hash_holds(line, digest):
                return line
        return None


def dropped(root: str, run_id: str) -> NewestLines:
    """Lookup of the sidecars whose output was dropped, on the record."""

    def told(line: bytes) -> tuple[str, str] | None:
        try:
            entry = parse(line)
        except ValueError:
            return None
        return (entry.evidence_id, entry.kind) if entry.kind == DROPPED else None

    needle = canonical({"kind": DROPPED})[1:-1]
    return NewestLines(root, layout.ledger_file(run_id), needle, told)


def entries_there(root: str, run_id: str) -> NewestLines:
    """Lookup of the hash of each whole entry in the run's ledger."""

    def told(line: bytes) -> tuple[str, str] | None:
        digest = line.partition(b'"hash":"')[2].partition(b'"')[0].decode("ascii", "ignore")
        return (digest, "there") if _hash_holds(line, digest) else None

    return NewestLines(root, layout.ledger_file(run_id), b'"hash":"', told)


def _hash_holds(line: bytes, digest: str) -> bool:
    """Whether a line is the entry with this hash, which covers all its other content."""
    before, member, after = line.partition(b'"hash":"%b",' % digest.encode("ascii"))
    return member != b"" and sha256(before + after).hexdigest() == digest


class AnchoredChain:
    """The entries that lead back from ``head``, read as far back as needed.

    A long run has thousands: only those that are returned are parsed, the others are hashed.
    ``parted`` is True if the chain breaks before the run's first entry.
    """

    def __init__(self, root: str, run_id: str, head: Head) -> None:
        self.head = head
        self.parted = False
        self._links = EntryLinks(root, run_id)
        self._number, self._hash = head
        self._lines: dict[tuple[str, str], bytes] = {}
        self._parsed: dict[bytes, LedgerEntry] = {}
        self._ids: dict[str, list[tuple[str, int]]] = {}
        """(sidecar, number) of the entries by each :func:`beginnings` of the sidecar's id."""
        self._not_by_id: list[tuple[str, int]] = []
        """(sidecar, number) of the entries that are not sorted by id yet."""

    def find(self, kind: str, evidence_id: str) -> LedgerEntry | None:
        """The newest entry of this kind of a sidecar; None if there is none."""
        while (kind, evidence_id) not in self._lines and self._step():
            pass
        line = self._lines.get((kind, evidence_id))
        if line is None:
            return None
        entry = self._parsed.get(line)
        if entry is None:
            entry = self._parsed[line] = parse(line, hashed=True)  # by ``_step``
        return entry

    def ids(self, beginning: str) -> Iterator[tuple[str, int]]:
        """(sidecar, number) of each entry whose sidecar's id has this :func:`beginnings`.

        The newest first. Each entry is read once, however many searches there are.
        """
        place, named = 0, self._ids.setdefault(beginning, [])
        while place < len(named) or self._not_by_id or self._step():
            self._sort_by_id()
            if place < len(named):
                yield named[place]
                place += 1

    def _sort_by_id(self) -> None:
        for entry in self._not_by_id:
            for beginning in beginnings(entry[0]):
                self._ids.setdefault(beginning, []).append(entry)
        self._not_by_id.clear()

    def _step(self) -> bool:
        """Read one more entry; False if there is none."""
        if not self._number or self.parted:
            return False
        line = self._links.line(self._hash)
        if line is None or b'"seq":%d,' % self._number not in line:
            self.parted = True
            return False
        kind, evidence_id, self._hash = _texts(line)
        self._lines.setdefault((kind, evidence_id), line)
        self._not_by_id.append((evidence_id, self._number))
        self._number -= 1
        return True


def _texts(line: bytes) -> tuple[str, str, str]:
    """``kind``, ``evidence_id`` and ``prev`` of a canonical line: no value holds a key's quotes."""
    text = line.decode("ascii", "replace")
    before, _, rest = text.partition('"kind":"')
    evidence_id = before.partition('"evidence_id":"')[2]
    prev = rest.partition('"prev":"')[2]
    return rest[: rest.find('"')], evidence_id[: evidence_id.find('"')], prev[: prev.find('"')]


def append(run: RunWrites, *entries: LedgerEntry) -> None:
    """Append entries that follow the newest one, and sync them."""
    rel = layout.ledger_file(run.run_id)
    size = run.tail[0] if run.tail is not None else -1
    if files.size(run.root, rel) != size:  # else it ends in this session's own entry
        size = _mend(run.root, rel)
    text = b"".join(chain_entries.line(entry) + b"\n" for entry in entries)
    run.tail = None
    files.append_lines(run.root, rel, text)
    run.tail = size + len(text), entries[-1]
    run.appended(entries)


def take_back(run: RunWrites, entry: LedgerEntry) -> None:
    """Cut off the entry that was just appended, if it is there and the last one."""
    rel = layout.ledger_file(run.run_id)
    line = chain_entries.line(entry) + b"\n"
    run.tail = None
    run.taken_back(entry)
    if files.read_end(run.root, rel, limit=len(line)) == line:
        _cut(run.root, rel, files.size(run.root, rel) - len(line))


@lru_cache(maxsize=64)  # the newest is asked for again and again, and only that one
def _entry(line: bytes) -> LedgerEntry | None:
    try:
        return parse(line) if line else None
    except ValueError:
        return None


def _mend(root: str, rel: str) -> int:
    """Cut off half an entry at the end, and return the ledger's size.

    A whole one that lost its newline, or has another byte in its place, stays.
    """
    size, end = files.size_and_end(root, rel, limit=_END)
    tail = end[end.rfind(b"\n") + 1 :]
    if tail and len(tail) < _END and _entry(tail) is None and _entry(tail[:-1]) is None:
        size -= len(tail)
        _cut(root, rel, size)
        return size
    return size + bool(tail)  # its line is ended before the next


def _cut(root: str, rel: str, size: int) -> None:
    if size > 0:
        files.truncate(root, rel, size)
    else:
        files.remove(root, rel)
