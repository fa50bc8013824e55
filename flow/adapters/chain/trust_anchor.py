"""The entries of a ledger that a pinned head leads back to, ``prev`` by ``prev``."""

from __future__ import annotations

from flow.adapters.chain import ledger_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flow.core.chain.entries import Head, LedgerEntry


class AnchoredChain:
    """The entries behind ``head``, as far as somebody has asked for them.

    A long run has thousands: only those that are asked for are parsed, the others are hashed.
    ``parted`` says that the ledger does not lead back any further, and should.
    """

    def __init__(self, root: str, run_id: str, head: Head) -> None:
        self.head = head
        self.parted = False
        self._links = ledger_file.EntryLinks(root, run_id)
        self._number, self._hash = head
        self._lines: dict[tuple[str, str], bytes] = {}
        self._ids: list[tuple[str, int]] = []

    def find(self, kind: str, evidence_id: str) -> LedgerEntry | None:
        """The newest entry of this kind of a sidecar."""
        while (kind, evidence_id) not in self._lines and self._step():
            pass
        line = self._lines.get((kind, evidence_id))
        return ledger_file.parse(line) if line is not None else None

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
        evidence_id = _text(line, b"evidence_id")
        self._lines.setdefault((_text(line, b"kind"), evidence_id), line)
        self._ids.append((evidence_id, self._number))
        self._number, self._hash = self._number - 1, _text(line, b"prev")
        return True


def _text(line: bytes, key: bytes) -> str:
    """A plain text of a canonical line: no value can hold the quotes of a key."""
    return line.partition(b'"%b":"' % key)[2].partition(b'"')[0].decode("ascii")
