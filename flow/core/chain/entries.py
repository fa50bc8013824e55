"""The hash chain over a run's evidence (SPEC 10): its entries, and their order.

An entry is a JSON object whose values are text, whole numbers or null. Its *canonical text* is JSON
with sorted keys, no spaces and only ASCII characters. ``hash`` is the SHA-256 of the canonical text
of the entry without ``hash``; a line of ``ledger.jsonl`` is the canonical text of the whole entry.
``prev`` is the ``hash`` of the entry before; for the first one :func:`genesis` of the run's id, so
that a run's ledger cannot stand for another run's.
"""

from __future__ import annotations

from flow.core.goal.model import canonical_digest
from flow.startup.json import canonical
from flow.startup.sha import is_digest, sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EVIDENCE = "evidence"
"""``kind`` of the entry of a sidecar."""
DROPPED = "dropped"
"""``kind`` of the entry about a dropped output (``flow gc``)."""
ARCHIVED = "evidence-archived"
"""Type of the event about the archive of a run's evidence (``flow gc --archive``)."""
TRAILER = "Flow-Ledger"
"""The commit trailer that holds a head."""


class Head(NamedTuple):
    """The end of a chain: the number of its entries, and the hash of the last one."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"


class LedgerEntry(NamedTuple):
    """One line of ``ledger.jsonl``."""

    seq: int
    """1 for the first entry; each one is higher by 1 than the one before."""
    at: str
    kind: str
    evidence_id: str
    goal_id: str
    by: str
    """``evaluator`` and ``approver`` are Flow's own; only such evidence can count."""
    sidecar_sha256: str
    output_sha256: str | None
    """None if the sidecar has no output; in a ``dropped`` entry the former output's."""
    prev: str
    hash: str

    @property
    def head(self) -> Head:
        """The chain's head once this entry is in it."""
        return Head(self.seq, self.hash)


_FIELDS = frozenset(LedgerEntry._fields)


def genesis(run_id: str) -> str:
    """The value of ``prev`` in a run's first entry."""
    return sha256(f"flow.synapti.ai/v1 ledger {run_id}".encode()).hexdigest()


def events_genesis(run_id: str) -> str:
    """The value of ``prev`` in the first line of a run's ``events.jsonl``."""
    return sha256(f"flow.synapti.ai/v1 events {run_id}".encode()).hexdigest()


def following(last: Head | None, run_id: str, fields: Mapping[str, Any]) -> LedgerEntry:
    """The entry after ``last`` (None: the first), with ``fields`` for all but its place."""
    number, prev = last if last is not None else (0, genesis(run_id))
    document = {**fields, "seq": number + 1, "prev": prev}
    return LedgerEntry(**document, hash=canonical_digest(document))


def line(entry: LedgerEntry) -> bytes:
    """The entry's line in ``ledger.jsonl``, without the newline."""
    return canonical(entry._asdict())


def read(document: object, text: bytes, *, hashed: bool = False) -> LedgerEntry:
    """The entry whose line is ``text`` and whose JSON is ``document``.

    ``hashed``: the caller has just found the line by a hash that it trusts and that covers all of
    it. Raises ValueError with the fault if Flow would not write the line so, or it was changed.
    """
    if not isinstance(document, dict) or document.keys() != _FIELDS:
        raise ValueError("is no entry")
    entry = LedgerEntry(*map(document.__getitem__, LedgerEntry._fields))
    if not _well_formed(entry):
        raise ValueError("is no entry")
    if hashed:
        return entry
    if canonical(document) != text:
        raise ValueError("is not written as Flow writes it")
    # A text value cannot look like this member: a quote in it would be escaped.
    bare = text.replace(b'"hash":"%b",' % entry.hash.encode(), b"", 1)
    if sha256(bare).hexdigest() != entry.hash:
        raise ValueError("was altered: its hash is not that of what it says")
    return entry


def _well_formed(entry: LedgerEntry) -> bool:
    texts = (entry.at, entry.evidence_id, entry.goal_id, entry.by)
    if not all(isinstance(text, str) for text in texts) or type(entry.seq) is not int:
        return False
    if entry.kind not in (EVIDENCE, DROPPED) or entry.seq < 1:
        return False
    if entry.kind == DROPPED and entry.output_sha256 is None:
        return False
    needed = (entry.sidecar_sha256, entry.prev, entry.hash)
    return all(is_digest(value) for value in needed) and (
        entry.output_sha256 is None or is_digest(entry.output_sha256)
    )


def head_of(text: object) -> Head | None:
    """The head from ``<n>:<hash>``; None for anything else."""
    number, colon, digest = text.partition(":") if isinstance(text, str) else ("", "", "")
    plain = number.isascii() and number.isdigit() and len(number) <= 16 and number[0] != "0"
    return Head(int(number), digest) if colon and plain and is_digest(digest) else None


def beginnings(evidence_id: str) -> Iterator[str]:
    """The beginnings of an id that end in a hyphen, as ``evidence-ac1-eval-``, for searches."""
    end = evidence_id.find("-") + 1
    while end:
        yield evidence_id[:end]
        end = evidence_id.find("-", end) + 1
