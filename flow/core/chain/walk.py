"""A walk over a whole chain, line by line, with a finding for each fault (SPEC 10).

The walk continues after a fault: intact entries still hold the digests of their files, so that one
altered byte is one finding. Every finding names the first place where record and chain differ.
"""

from __future__ import annotations

from flow.core.chain.entries import DROPPED, EVIDENCE, Head, LedgerEntry, genesis
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


Kind = Literal[
    "altered",
    "missing",
    "reordered",
    "cut",
    "restored",
    "unaccounted",
    "vanished",
    "not_chained",
    "unreadable",
]
_NAMED = 4
"""At most this many witnesses are listed in a finding."""

ASIDE = ("proposal.json", "last-verdict.json", "loop.json")
"""Files that a person's confirmation does not depend on: a proposal has its own digest."""


class ChainFinding(NamedTuple):
    """One fault. ``file`` is relative to the top level; ``entry`` is a ``seq``."""

    kind: Kind
    run_id: str
    file: str
    message: str
    entry: int | None = None

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"

    @property
    def aside(self) -> bool:
        """Whether no decision depends on the file."""
        return self.kind == "unaccounted" or self.file.endswith(ASIDE)


class Line(NamedTuple):
    """One line of a file. ``text`` is None if it is too long to read."""

    number: int
    text: bytes | None
    ended: bool
    """Whether a newline follows it."""


class WitnessedHead(NamedTuple):
    """A head recorded outside the ledger; ``where``: in which journal, commit or other place."""

    head: Head
    where: str


class RecordedDigests(NamedTuple):
    """The ledger's digests of a sidecar and its output."""

    seq: int
    sidecar_sha256: str
    output_sha256: str | None


class WalkedLedger(NamedTuple):
    """The result of a walk over a ledger."""

    head: Head | None
    entries: int
    stored: Mapping[str, RecordedDigests]
    """By evidence id."""
    dropped: frozenset[str]
    """Evidence ids whose output ``flow gc`` dropped."""
    findings: tuple[ChainFinding, ...]
    seen: frozenset[Head]
    """The sought heads that are in the ledger."""


def walk(
    run_id: str,
    file: str,
    lines: Iterable[Line],
    parse: Callable[[bytes], LedgerEntry],
    heads: Sequence[WitnessedHead],
    sought: frozenset[Head] = frozenset(),
) -> WalkedLedger:
    """Walk a run's ledger from its first entry to its last.

    A missing one of ``heads`` is a finding; a missing one of ``sought`` is only left out of the
    result.
    """
    walker = _Walker(run_id, file)
    witnessed = _merged(heads)
    hashes: dict[int, set[str]] = {each.head.number: set() for each in witnessed}
    seen = set()
    for line in lines:
        entry = walker.take(line, parse)
        if entry is None:
            continue
        if entry.seq in hashes:
            hashes[entry.seq].add(entry.hash)
        if entry.head in sought:
            seen.add(entry.head)
    findings = walker.finish()
    lost = [each for each in witnessed if each.head.hash not in hashes[each.head.number]]
    beyond = [each for each in lost if each.head.number > walker.highest]
    for each in lost:
        if each not in beyond[:-1]:  # of the heads that were cut off, the last one shows the extent
            replaced = bool(hashes[each.head.number])
            findings.append(_lost_head(run_id, file, each, walker.highest, replaced))
    return WalkedLedger(
        walker.head,
        walker.count,
        walker.stored,
        frozenset(walker.dropped),
        tuple(findings),
        frozenset(seen),
    )


def _merged(heads: Sequence[WitnessedHead]) -> list[WitnessedHead]:
    """Each head once, by number, with the names of its witnesses."""
    names: dict[Head, dict[str, None]] = {}
    for head, witness in heads:
        names.setdefault(head, {})[witness] = None
    return [WitnessedHead(head, ", ".join([*names[head]][:_NAMED])) for head in sorted(names)]


def _lost_head(
    run_id: str, file: str, witnessed: WitnessedHead, highest: int, replaced: bool
) -> ChainFinding:
    """The finding for a head that is not in the chain."""
    head, witness = witnessed
    number = head.number
    if not highest:
        text = f"is missing or empty; entry {number} ({head}) is known to {witness}"
        return ChainFinding("missing", run_id, file, text, 1)
    if number > highest:
        text = (
            f"was cut, or restored from an older copy: it ends at entry {highest}, "
            f"and entry {number} ({head}) is known to {witness}"
        )
        return ChainFinding("cut", run_id, file, text, highest + 1)
    relation = "is another one than" if replaced else "is not"
    text = f"entry {number} {relation} the one known to {witness} ({head})"
    return ChainFinding("restored", run_id, file, text, number)


class _Walker:
    def __init__(self, run_id: str, file: str) -> None:
        self._run_id, self._file = run_id, file
        self._expected, self._prev = 1, genesis(run_id)
        self._gaps: list[tuple[int, int]] = []
        """(first missing number, position among the findings)"""
        self._late: set[int] = set()
        self._findings: list[ChainFinding] = []
        self.head: Head | None = None
        self.highest = 0
        self.count = 0
        self.stored: dict[str, RecordedDigests] = {}
        self.dropped: set[str] = set()

    def take(self, line: Line, parse: Callable[[bytes], LedgerEntry]) -> LedgerEntry | None:
        if line.text is None:
            self._broken(line._replace(ended=True), "is far too long to be an entry")
            return None
        try:
            entry = parse(line.text)
        except ValueError as error:
            self._broken(line, str(error))
            return None
        if not line.ended:
            self._add("cut", f"entry {entry.seq} has lost the newline after it", entry.seq)
        self._link(entry)
        self._store(entry)
        return entry

    def _broken(self, line: Line, fault: str) -> None:
        expected = self._expected or None  # None after a broken line: its entry's number is unknown
        where = f"line {line.number}"
        if expected:
            where += f" (where entry {expected} should be)"
        if line.ended:
            self._add("altered", f"{where} {fault}", expected)
        else:
            self._add("cut", f"{where} is half an entry", expected)
        # Later entries are compared with each other: this fault has its finding already.
        self._expected, self._prev = 0, ""

    def _link(self, entry: LedgerEntry) -> None:
        if self._expected and entry.seq > self._expected:
            self._gaps.append((self._expected, len(self._findings)))
            text = f"entry {self._expected} is missing: entry {entry.seq} stands in its place"
            self._add("missing", text, self._expected)
        elif self._expected and entry.seq < self._expected:
            self._late.add(entry.seq)
            self._add("reordered", f"entry {entry.seq} comes after a later one", entry.seq)
        elif self._prev and entry.prev != self._prev:
            text = f"entry {entry.seq} does not follow the one before it: one of them was replaced"
            self._add("restored", text, entry.seq)
        self._expected, self._prev = entry.seq + 1, entry.hash
        self.head = entry.head
        self.highest = max(self.highest, entry.seq)
        self.count += 1

    def _store(self, entry: LedgerEntry) -> None:
        before = self.stored.get(entry.evidence_id)
        if entry.kind == EVIDENCE:
            if before is not None:
                text = f"entry {entry.seq} records {entry.evidence_id} again (first: {before.seq})"
                self._add("reordered", text, entry.seq)
                return
            self.stored[entry.evidence_id] = RecordedDigests(
                entry.seq, entry.sidecar_sha256, entry.output_sha256
            )
        elif entry.kind == DROPPED:
            digests = (entry.sidecar_sha256, entry.output_sha256)
            if before is not None and digests != (before.sidecar_sha256, before.output_sha256):
                text = f"entry {entry.seq} drops another output than {entry.evidence_id} has"
                self._add("altered", text, entry.seq)
                return
            self.dropped.add(entry.evidence_id)

    def finish(self) -> list[ChainFinding]:
        """Return the findings; a missing number that comes later was reordered."""
        for number, position in self._gaps:
            if number in self._late:
                was = self._findings[position]
                text = f"entry {number} is not in its place: it comes later"
                self._findings[position] = was._replace(kind="reordered", message=text)
        return self._findings

    def _add(self, kind: Kind, text: str, seq: int | None) -> None:
        self._findings.append(ChainFinding(kind, self._run_id, self._file, text, seq))
