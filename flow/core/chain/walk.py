"""Reading a whole chain, line by line, and naming what is wrong with it (SPEC 10).

The walk goes on after a fault: entries that are whole in themselves still say what their files must
be, so that one altered byte is one finding. Every finding names the first place where the record
and the chain part.
"""

from __future__ import annotations

from flow.core.chain.entries import DROPPED, EVIDENCE, Head, genesis
from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flow.core.chain.entries import LedgerEntry

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
"""Of those who know a head, how many are named."""

ASIDE = ("proposal.json", "last-verdict.json", "loop.json")
"""Files that a person's confirmation does not rest on: a proposal says itself that it is whole."""


class ChainFinding(NamedTuple):
    """One thing that is wrong. ``file`` is below the top level; ``entry`` is a ``seq``."""

    kind: Kind
    run_id: str
    file: str
    message: str
    entry: int | None = None

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"

    @property
    def aside(self) -> bool:
        """Whether nothing that is decided rests on it."""
        return self.kind == "unaccounted" or self.file.endswith(ASIDE)


class Line(NamedTuple):
    """One line of a file. ``text`` is None where it is too long to be read."""

    number: int
    text: bytes | None
    ended: bool
    """Whether a newline follows it."""


class WitnessedHead(NamedTuple):
    """A head that somebody wrote down: ``who`` says where."""

    head: Head
    who: str


class RecordedDigests(NamedTuple):
    """What the ledger says of a sidecar and its output."""

    seq: int
    sidecar_sha256: str
    output_sha256: str | None


class WalkedLedger(NamedTuple):
    """A ledger that was walked through."""

    head: Head | None
    entries: int
    stored: Mapping[str, RecordedDigests]
    """By evidence id."""
    dropped: frozenset[str]
    """Evidence ids whose output ``flow gc`` dropped."""
    findings: tuple[ChainFinding, ...]
    seen: frozenset[Head]
    """Those of the heads asked for that are in it."""


def walk(
    run_id: str,
    file: str,
    lines: Iterable[Line],
    parse: Callable[[bytes], LedgerEntry],
    heads: Sequence[WitnessedHead],
    sought: frozenset[Head] = frozenset(),
) -> WalkedLedger:
    """Follow a run's ledger from its first entry to its last.

    ``heads`` are heads that must be in it; of ``sought`` only is told which are.
    """
    walker = _Walker(run_id, file)
    told = _merged(heads)
    met: dict[int, set[str]] = {one.head.number: set() for one in told}
    seen = set()
    for line in lines:
        entry = walker.take(line, parse)
        if entry is None:
            continue
        if entry.seq in met:
            met[entry.seq].add(entry.hash)
        if entry.head in sought:
            seen.add(entry.head)
    findings = walker.finish()
    lost = [one for one in told if one.head.hash not in met[one.head.number]]
    beyond = [one for one in lost if one.head.number > walker.highest]
    for one in lost:
        if one not in beyond[:-1]:  # of what was cut off, the last one tells how much
            other = bool(met[one.head.number])
            findings.append(_parted(run_id, file, one, walker.highest, other))
    return WalkedLedger(
        walker.head,
        walker.count,
        walker.stored,
        frozenset(walker.dropped),
        tuple(findings),
        frozenset(seen),
    )


def _merged(heads: Sequence[WitnessedHead]) -> list[WitnessedHead]:
    """Each head once, by number, with everybody who knows it."""
    who: dict[Head, list[str]] = {}
    for one in heads:
        names = who.setdefault(one.head, [])
        if one.who not in names:
            names.append(one.who)
    return [WitnessedHead(head, ", ".join(who[head][:_NAMED])) for head in sorted(who)]


def _parted(run_id: str, file: str, head: WitnessedHead, highest: int, other: bool) -> ChainFinding:
    """What to say of a head that is not in the chain."""
    number = head.head.number
    if not highest:
        text = f"is missing or empty; entry {number} ({head.head}) is known to {head.who}"
        return ChainFinding("missing", run_id, file, text, 1)
    if number > highest:
        text = (
            f"was cut, or restored from an older copy: it ends at entry {highest}, "
            f"and entry {number} ({head.head}) is known to {head.who}"
        )
        return ChainFinding("cut", run_id, file, text, highest + 1)
    how = "is another one than" if other else "is not"
    text = f"entry {number} {how} the one known to {head.who} ({head.head})"
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
            self._say("cut", f"entry {entry.seq} has lost the newline after it", entry.seq)
        self._link(entry)
        self._store(entry)
        return entry

    def _broken(self, line: Line, why: str) -> None:
        where = f"line {line.number} (where entry {self._expected} should be)"
        if line.ended:
            self._say("altered", f"{where} {why}", self._expected)
        else:
            self._say("cut", f"{where} is half an entry", self._expected)
        # What follows is compared with itself: the fault has its name already.
        self._expected, self._prev = 0, ""

    def _link(self, entry: LedgerEntry) -> None:
        if self._expected and entry.seq > self._expected:
            self._gaps.append((self._expected, len(self._findings)))
            what = f"entry {self._expected} is missing: entry {entry.seq} stands in its place"
            self._say("missing", what, self._expected)
        elif self._expected and entry.seq < self._expected:
            self._late.add(entry.seq)
            self._say("reordered", f"entry {entry.seq} comes after a later one", entry.seq)
        elif self._prev and entry.prev != self._prev:
            text = f"entry {entry.seq} does not follow the one before it: one of them was replaced"
            self._say("restored", text, entry.seq)
        self._expected, self._prev = entry.seq + 1, entry.hash
        self.head = entry.head
        self.highest = max(self.highest, entry.seq)
        self.count += 1

    def _store(self, entry: LedgerEntry) -> None:
        before = self.stored.get(entry.evidence_id)
        if entry.kind == EVIDENCE:
            if before is not None:
                text = f"entry {entry.seq} records {entry.evidence_id} again (first: {before.seq})"
                self._say("reordered", text, entry.seq)
                return
            self.stored[entry.evidence_id] = RecordedDigests(
                entry.seq, entry.sidecar_sha256, entry.output_sha256
            )
        elif entry.kind == DROPPED:
            of_it = (entry.sidecar_sha256, entry.output_sha256)
            if before is not None and of_it != (before.sidecar_sha256, before.output_sha256):
                text = f"entry {entry.seq} drops another output than {entry.evidence_id} has"
                self._say("altered", text, entry.seq)
                return
            self.dropped.add(entry.evidence_id)

    def finish(self) -> list[ChainFinding]:
        """The findings; a number that is missing here and turns up later was reordered."""
        for number, position in self._gaps:
            if number in self._late:
                was = self._findings[position]
                text = f"entry {number} is not in its place: it comes later"
                self._findings[position] = was._replace(kind="reordered", message=text)
        return self._findings

    def _say(self, kind: Kind, text: str, seq: int | None) -> None:
        self._findings.append(ChainFinding(kind, self._run_id, self._file, text, seq))
