"""Compares the evidence in a bundle with the ledger in it (SPEC 10, *Chain*, *Export*).

The bundle has the whole ledger, so altering a sidecar means altering its entry too, and every entry
after it; and the journal and the commits of the repository know the chain.
"""

from __future__ import annotations

from flow.core.chain import entries as chain_entries
from flow.core.chain.walk import Line, walk
from flow.core.evidence.attestation import LEDGER_FILE, AttestedSidecar, Record
from flow.core.evidence.model import APPROVER, EVALUATOR
from flow.core.text.display import visible
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from flow.core.chain.entries import LedgerEntry

BY: Mapping[str, str] = {EVALUATOR: "evaluator", APPROVER: "approver"}
"""``created_by`` of a deciding sidecar → ``by`` of its entry."""


def ledger_faults(record: Record, json: Callable[[bytes, str], Any]) -> list[str]:
    """Differences between evidence and ledger, and faults of the ledger."""
    content = next((file.content for file in record.files if file.name == LEDGER_FILE), None)
    if content is None:
        return [f"record: {LEDGER_FILE} is not in it, so nothing says that this was recorded"]
    entries: dict[str, LedgerEntry] = {}

    def parse(line: bytes) -> LedgerEntry:
        try:
            document = json(line, LEDGER_FILE)
        except FlowError:
            raise ValueError("is no entry") from None
        entry = chain_entries.read(document, line)
        if entry.kind == chain_entries.EVIDENCE:
            entries.setdefault(entry.evidence_id, entry)
        return entry

    walked = walk(record.run_id, f"record: {LEDGER_FILE}", _ledger_lines(content), parse, ())
    faults = [visible(str(finding)) for finding in walked.findings]
    digests = {file.name: file.sha256 for file in record.files}
    for item in record.items:
        why = _differs(item, entries.get(item.evidence.id), digests)
        if why:
            faults.append(f"record: {visible(item.file)[:80]}: {why}")
    return faults


def _ledger_lines(content: bytes) -> Iterator[Line]:
    parts = content.split(b"\n")
    last = parts.pop()
    for number, text in enumerate(parts, 1):
        yield Line(number, text, ended=True)
    if last:
        yield Line(len(parts) + 1, last, ended=False)


def _differs(item: AttestedSidecar, entry: LedgerEntry | None, digests: Mapping[str, str]) -> str:
    """The first difference between a sidecar and its entry; empty if they agree."""
    evidence = item.evidence
    if entry is None:
        return f"no entry of {LEDGER_FILE} records it"
    if entry.sidecar_sha256 != digests[item.file]:
        return f"is not the sidecar that entry {entry.seq} of {LEDGER_FILE} recorded"
    if entry.output_sha256 != evidence.body.get("output_sha256"):
        return f"names another output than entry {entry.seq} of {LEDGER_FILE}"
    if entry.goal_id != evidence.goal:
        return f"entry {entry.seq} of {LEDGER_FILE} is about goal {visible(entry.goal_id)[:80]}"
    by = BY.get(str(evidence.made_by))
    if item.criterion is not None and entry.by != by:
        return f"decides, and entry {entry.seq} of {LEDGER_FILE} is by {visible(entry.by)[:40]}"
    return ""
