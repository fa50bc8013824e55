"""Drop old outputs (``flow gc``, SPEC 5), on the record, so that the chain still verifies.

For each output a ``dropped`` entry with its digest is appended to the run's chain and synced, then
the file is removed. A crash in between leaves an output that is recorded as dropped; the next
``flow gc`` removes it.
"""

from __future__ import annotations

import os

from flow.adapters.chain import ledger_file
from flow.adapters.chain.evidence_folder import OUTPUT
from flow.adapters.chain.lines import lines
from flow.adapters.fs import files, locks
from flow.adapters.fs.folders import scanned
from flow.adapters.ledger import evidence_store
from flow.app.closed_runs import RunFiles
from flow.core import layout
from flow.core.chain.entries import DROPPED, EVIDENCE, following
from flow.errors import FlowError, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flow.adapters.chain.session_writes import RunWrites
    from flow.core.chain.entries import LedgerEntry

BATCH = 1000
"""Entries that are appended, and outputs that are removed, in one step."""


def outputs_of(root: str, run_id: str) -> RunFiles:
    """The outputs of a run that could be dropped; a run without a ledger has none."""
    return recorded_files(root, run_id, lambda path: path.endswith(OUTPUT))


def recorded_files(root: str, run_id: str, chosen: Callable[[str], bool]) -> RunFiles:
    """The files in a run's evidence folder that its ledger names and that are ``chosen``."""
    newest, goals = "", set()
    recorded: dict[str, None] = {}
    for line in lines(root, layout.ledger_file(run_id)):
        try:
            entry = ledger_file.parse(line.text or b"")
        except ValueError:
            continue
        newest = max(newest, entry.at)
        goals.add(entry.goal_id)
        if entry.kind == EVIDENCE:
            recorded.update(dict.fromkeys(path for path, _ in digests_of(run_id, entry)))
    sizes = sizes_in(root, run_id)
    names = (os.path.basename(path) for path in recorded if chosen(path))
    present = [sizes[name] for name in names if name in sizes]
    return RunFiles(run_id, newest, frozenset(goals), len(present), sum(present))


def digests_of(run_id: str, entry: LedgerEntry) -> Iterator[tuple[str, str]]:
    """The path and the digest of each file that an entry recorded."""
    yield layout.evidence_file(run_id, entry.evidence_id), entry.sidecar_sha256
    if entry.output_sha256 is not None:
        yield layout.output_file(run_id, entry.evidence_id), entry.output_sha256


def drop(run: RunWrites, *, by: str, now: str) -> tuple[int, int]:
    """Drop every output of a run; returns their number and bytes.

    Raises :class:`StateError` (``broken_chain``) if an output is not the one on record: a fault of
    a run must not be cleared away.
    """
    count = size = 0
    root, run_id = run.root, run.run_id
    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        last = evidence_store.finish_record(run)
        sizes = sizes_in(root, run_id)
        entries, dropped = _outputs(root, run_id, sizes)
        for entry in entries:  # all of them, before any goes
            _check(root, run_id, entry)
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            new: list[LedgerEntry] = []
            for entry in batch:
                if entry.evidence_id in dropped:  # recorded by a `flow gc` that was killed
                    continue
                head = new[-1].head if new else (last.head if last else None)
                new.append(following(head, run_id, _fields(entry, by, now)))
            if new:
                ledger_file.append(run, *new)
                last = new[-1]
            for entry in batch:
                rel = layout.output_file(run_id, entry.evidence_id)
                files.remove(root, rel, sync=entry is batch[-1])
                count += 1
                size += sizes[os.path.basename(rel)]
    return count, size


def _outputs(
    root: str, run_id: str, sizes: Mapping[str, int]
) -> tuple[list[LedgerEntry], frozenset[str]]:
    """The entries whose outputs are there, and the evidence ids that were dropped already."""
    outputs, dropped = [], set()
    for entry in recorded_entries(root, run_id, "dropped"):
        if entry.kind == DROPPED:
            dropped.add(entry.evidence_id)
        elif entry.output_sha256 is not None and f"{entry.evidence_id}.txt" in sizes:
            outputs.append(entry)
    return outputs, frozenset(dropped)


def _check(root: str, run_id: str, entry: LedgerEntry) -> None:
    rel = layout.output_file(run_id, entry.evidence_id)
    if files.digest(root, rel, limit=layout.OUTPUT_LIMIT) != entry.output_sha256:
        fault = f"it is not the output that entry {entry.seq} recorded"
        raise not_as_recorded(run_id, "dropped", rel, fault)


def recorded_entries(root: str, run_id: str, done: str) -> Iterator[LedgerEntry]:
    """The entries of a run's ledger; raises :func:`not_as_recorded` at a line that is none."""
    rel = layout.ledger_file(run_id)
    for line in lines(root, rel):
        try:
            yield ledger_file.parse(line.text or b"")
        except ValueError as error:
            raise not_as_recorded(run_id, done, rel, f"line {line.number} {error}") from None


def not_as_recorded(
    run_id: str, done: str, rel: str, fault: str, *, unreadable: bool = False
) -> FlowError:
    """The error for a run of which nothing is ``done``: its files differ from the record."""
    message = f"nothing of run {run_id} is {done}: {fault}"
    if unreadable:
        return in_file(rel).storage(message, "check the disk and the file, then run it again")
    return in_file(rel).wrong_state(
        message,
        f"see what is wrong with it: flow evidence verify {run_id}",
        code="broken_chain",
    )


def _fields(entry: LedgerEntry, by: str, now: str) -> Mapping[str, Any]:
    return {
        "at": now,
        "kind": DROPPED,
        "evidence_id": entry.evidence_id,
        "goal_id": entry.goal_id,
        "by": by,
        "sidecar_sha256": entry.sidecar_sha256,
        "output_sha256": entry.output_sha256,
    }


def sizes_in(root: str, run_id: str) -> dict[str, int]:
    """Regular files of the evidence folder with their sizes in bytes."""
    rel = layout.evidence_dir(run_id)
    sizes: dict[str, int] = {}
    with scanned(root, rel) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
    return sizes
