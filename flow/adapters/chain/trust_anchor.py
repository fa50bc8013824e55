"""What counts of a run: only what the user's own state folder vouches for (SPEC 1).

Whoever can write in the checkout can write entries that fit the chain, since it has no secret. So
an entry counts only where the kept head (:mod:`flow.adapters.chain.pinned_heads`) is the hash of
an entry that leads back to it, ``prev`` by ``prev``, and no gap in what Flow kept is in its place;
or where this very process appended it. The same holds for the small files of a run, by their
digests.
"""

from __future__ import annotations

from flow.adapters.chain import ledger_file, session_writes
from flow.core.chain.entries import EVIDENCE
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

BEFORE = "nothing that was recorded before counts"

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flow.adapters.chain.pinned_heads import Heads, Kept
    from flow.core.chain.entries import Entry, Head
    from flow.core.goal.model import Goal


class Vouching:
    """What Flow itself left in the runs of the checkout ``root``.

    ``heads`` gives the user's own; without, only what this process wrote is vouched for.
    ``troubles`` says in words why what was recorded before does not count.
    """

    def __init__(self, root: str, heads: Callable[[], Heads] | None = None) -> None:
        self._root = root
        self._heads = heads
        self._chains: dict[str, _Chain] = {}
        self.troubles: dict[str, None] = {}
        self.unread: FlowError | None = None
        """Why the disk gave no answer, here or for a sidecar: then nobody knows what counts."""

    def entry(self, run_id: str, evidence_id: str, kind: str = EVIDENCE) -> Entry | None:
        """The newest entry of a sidecar that is vouched for; None where there is none."""
        own = session_writes.own(self._root, run_id, kind, evidence_id)
        if own is not None and ledger_file.Links(self._root, run_id).get(own.hash) is not None:
            return own
        kept = self._kept(run_id)
        if kept is None or kept.ledger is None:
            return None
        known = self._chain(run_id, kept.ledger)
        found = known.find(kind, evidence_id)
        if known.parted:
            self.troubles[f"the record of run {run_id} is not as Flow left it: {BEFORE}"] = None
        return found if found is not None and not kept.outside(found.seq) else None

    def evidence_ids(self, run_id: str, prefix: str) -> Iterator[str]:
        """The sidecars whose ids begin so and whose entries are vouched for, the newest first."""
        met = dict.fromkeys(session_writes.own_ids(self._root, run_id, prefix))
        yield from met
        kept = self._kept(run_id)
        if kept is None or kept.ledger is None:
            return
        for found, seq in self._chain(run_id, kept.ledger).ids():
            if found.startswith(prefix) and found not in met and not kept.outside(seq):
                met[found] = None
                yield found

    def _chain(self, run_id: str, head: Head) -> _Chain:
        known = self._chains.get(run_id)
        if known is None or known.head != head:
            known = self._chains[run_id] = _Chain(self._root, run_id, head)
        return known

    def file(self, run_id: str, name: str, digest: str) -> bool:
        """Whether Flow left a small file of the run with this SHA-256."""
        if session_writes.holds(self._root, run_id, name, digest):
            return True
        kept = self._kept(run_id)
        return kept is not None and kept.files.get(name) == digest

    def closed(self, run_id: str, goal: Goal, contract: str, at: str) -> bool:
        """Whether a door of Flow's closed the goal then, as it is now.

        Also one that was killed on its way: what it had decided a later command has carried out.
        """
        from flow.adapters.chain.pinned_heads import COMING
        from flow.core.chain import closing_record
        from flow.startup.sha import sha256

        digest = sha256(closing_record.statement(goal, contract, at)).hexdigest()
        name = f"{closing_record.FOLDER}{goal.id}"
        return self.file(run_id, name, digest) or self.file(run_id, name + COMING, digest)

    def _kept(self, run_id: str) -> Kept | None:
        if self._heads is None:
            return None
        try:
            kept = self._heads().read(run_id)
        except FlowError as error:
            self.failed(error)
            self.unread = error
            return None
        if kept is not None:
            self.unread = self.unread or kept.unread
        if kept is None:
            self.troubles[f"your state folder knows nothing of run {run_id}: {BEFORE}"] = None
        elif kept.broken:
            self.troubles[f"what your state folder keeps of run {run_id} is torn: {BEFORE}"] = None
        return kept

    def failed(self, error: FlowError) -> None:
        """The state folder could not be read, or not be written."""
        self.troubles[f"{error.faults[0]}: evidence counts only where it was recorded just now"] = (
            None
        )


def _text(line: bytes, key: bytes) -> str:
    """A plain text of a canonical line: no value can hold the quotes of a key."""
    return line.partition(b'"%b":"' % key)[2].partition(b'"')[0].decode("ascii")


class _Chain:
    """The entries that a kept head leads back to, as far as somebody has asked.

    A long run has thousands: only those that are asked for are read, the others are hashed.
    """

    def __init__(self, root: str, run_id: str, head: Head) -> None:
        self.head = head
        self.parted = False
        self._links = ledger_file.Links(root, run_id)
        self._number, self._hash = head
        self._met: dict[tuple[str, str], bytes] = {}
        self._ids: list[tuple[str, int]] = []

    def find(self, kind: str, evidence_id: str) -> Entry | None:
        """The newest entry of this kind of a sidecar."""
        while (kind, evidence_id) not in self._met and self._step():
            pass
        found = self._met.get((kind, evidence_id))
        return ledger_file.parse(found) if found is not None else None

    def ids(self) -> Iterator[tuple[str, int]]:
        """(sidecar, number) of each entry, the newest first."""
        at = 0
        while at < len(self._ids) or self._step():
            yield self._ids[at]
            at += 1

    def _step(self) -> bool:
        """Read one entry more; whether there was one."""
        if not self._number or self.parted:
            return False
        line = self._links.line(self._hash)
        if line is None or b'"seq":%d,' % self._number not in line:
            self.parted = True
            return False
        found = _text(line, b"evidence_id")
        self._met.setdefault((_text(line, b"kind"), found), line)
        self._ids.append((found, self._number))
        self._number, self._hash = self._number - 1, _text(line, b"prev")
        return True
