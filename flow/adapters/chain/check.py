"""Checking a run against its hash chain (SPEC 10): every file of it, offline.

Each file is read once, in blocks; what is held in memory grows by a few hundred bytes an entry.
Under the run's lock is read what changes: ledger, events, the small files and the names of the
others. Sidecars and outputs never change, so a run that is being written to is checked as it was.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from flow.adapters.chain import event_chain, ledger_file
from flow.adapters.chain.files import RunFindings, evidence, names_in, temporary, unaccounted
from flow.adapters.chain.lines import lines
from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.folders import open_folder, reported, split
from flow.core import layout
from flow.core.chain.entries import head_of
from flow.core.chain.walk import ChainFinding, WitnessedHead, walk
from flow.core.goal import ids
from flow.core.layout import BASELINE_LIMIT
from flow.errors import FlowError, LockTimeout, StorageError
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.chain.pinned_heads import PinnedRun
    from flow.core.chain.entries import Head
    from flow.core.chain.walk import WalkedLedger

OWN = "your own state folder"
"""Who knows a head that is kept there."""
UNVOUCHED = (
    f"{OWN} does not know it as Flow's. A command that was killed leaves such an entry; "
    "so does whoever writes into the ledger without Flow"
)
NOTED_LIMIT = 10
"""Entries that count for nothing and are named; the others are counted."""

_VERDICT = "last-verdict.json"
_SMALL = ("proposal.json", _VERDICT, "loop.json")
_PASSING = ("measuring.json",)
"""Says nothing lasting: what was untracked when an evaluation began that was killed."""
_KNOWN = frozenset({"evidence", "events.jsonl", "ledger.jsonl", "baseline.json", *_SMALL})


class CheckedRun(NamedTuple):
    """A run that was checked. ``more`` counts the findings that are not named."""

    run_id: str
    head: Head | None
    entries: int
    findings: tuple[ChainFinding, ...]
    more: int = 0
    notes: tuple[str, ...] = ()
    seen: frozenset[Head] = frozenset()
    """Those of the heads sought that are in its ledger."""


class _Snapshot(NamedTuple):
    """What was read of a run under its lock."""

    ledger: WalkedLedger
    said: tuple[WitnessedHead, ...]
    names: Mapping[str, bool]
    """What is in the evidence folder, and whether it is a regular file."""
    interrupted: str | None
    """A sidecar that a killed process has left ready to be published."""


def check(
    root: str,
    run_id: str,
    kept: PinnedRun | None,
    said: Sequence[WitnessedHead] = (),
    sought: frozenset[Head] = frozenset(),
) -> CheckedRun:
    """Check every file of the run. ``said`` are heads that others wrote down for it.

    Raises :class:`LockTimeout` where another process does not let go of the run.
    """
    ids.run_id(run_id)
    found = RunFindings(run_id)
    try:
        with ExitStack() as held:
            try:
                held.enter_context(locks.exclusive(root, layout.run_lock(run_id), quick=True))
            except StorageError:
                pass  # nothing can be written here: then nobody does
            seen = _look(root, run_id, kept, said, sought, found)
        ledger = seen.ledger
        if ledger.head is None and not ledger.findings and not seen.said:
            _unchained(run_id, seen.names, found)
        else:
            evidence(root, run_id, ledger, seen.names, seen.interrupted, found)
    except LockTimeout:
        raise
    except FlowError as error:
        found.error(error, layout.run_dir(run_id))
        return CheckedRun(run_id, None, 0, tuple(found.rows), found.more, tuple(found.notes))
    rows, notes = tuple(found.rows), tuple(found.notes)
    return CheckedRun(run_id, ledger.head, ledger.entries, rows, found.more, notes, ledger.seen)


def unvouched(root: str, run_id: str, kept: PinnedRun | None, newest: int) -> list[str]:
    """The entries up to ``newest`` that your own state folder does not vouch for, as sentences.

    No finding: a command that was killed leaves such an entry, and it counts for nothing.
    """
    if kept is None or kept.ledger is None:
        return [f"no entry of run {run_id} counts here: {OWN} keeps no head of it"]
    notes: list[str] = []
    more = 0
    for first, last in (*kept.unvouched, (kept.ledger.number + 1, newest)):
        named = max(0, min(last + 1 - first, NOTED_LIMIT - len(notes)))
        more += max(0, last + 1 - first - named)
        for number in range(first, first + named):
            entry = ledger_file.at(root, run_id, number)
            what = f" ({entry.evidence_id}, by {entry.by})" if entry is not None else ""
            notes.append(f"entry {number} of run {run_id}{what} counts for nothing: {UNVOUCHED}")
    if more:
        notes.append(f"the same holds for {more} more of run {run_id}")
    if newest > kept.ledger.number:
        newer = newest - kept.ledger.number
        notes.append(f"the last {newer} of run {run_id} are newer than the head kept in {OWN}")
    return notes


def ledger(root: str, run_id: str, kept: PinnedRun | None) -> tuple[WalkedLedger, tuple[str, ...]]:
    """A run's ledger alone, against the head that is kept; none of the files it speaks of is read.

    Also the files that lie in the run and are not Flow's.
    """
    rel = layout.ledger_file(run_id)
    said = [WitnessedHead(kept.ledger, OWN)] if kept is not None and kept.ledger is not None else []
    strays = RunFindings(run_id)
    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        found = walk(run_id, rel, lines(root, rel), ledger_file.parse, said)
        _strangers(root, run_id, strays)
        if found.head is not None:
            unaccounted(run_id, names_in(root, layout.evidence_dir(run_id)), found.stored, strays)
    return found, tuple(row.file for row in strays.rows)


def run_ids(root: str) -> list[str]:
    """The runs that have a folder (or something in its place), sorted."""
    found: list[str] = []
    with reported("list", layout.RUNS):
        folder = open_folder(root, split(layout.RUNS))
        if folder is None:
            return found
        try:
            for name in os.listdir(folder):
                try:
                    found.append(ids.run_id(name))
                except FlowError:
                    continue  # no run: Flow's own folders, and what others put there
        finally:
            os.close(folder)
    return sorted(found)


def _look(
    root: str,
    run_id: str,
    kept: PinnedRun | None,
    said: Sequence[WitnessedHead],
    sought: frozenset[Head],
    found: RunFindings,
) -> _Snapshot:
    small = {name: _small(root, run_id, name, found) for name in (*_SMALL, "baseline.json")}
    heads = [*said]
    if kept is not None and kept.broken:
        found.notes.append(f"what {OWN} keeps of run {run_id} cannot be read")
    if kept is not None and kept.ledger is not None:
        heads.insert(0, WitnessedHead(kept.ledger, OWN))
    named = _named(small[_VERDICT])
    if named is not None:
        heads.append(WitnessedHead(named, _VERDICT))
    rel = layout.ledger_file(run_id)
    ledger = walk(run_id, rel, lines(root, rel), ledger_file.parse, heads, sought)
    found.take(ledger.findings)
    if ledger.head is not None:
        found.notes += unvouched(root, run_id, kept, ledger.head.number)
    told_of = event_chain.check(root, run_id, kept.events if kept else None, found.say)
    baseline: Sequence[str | None] = told_of.baseline
    if not baseline and kept is not None and "baseline.json" in kept.files:
        baseline = (kept.files["baseline.json"],)  # the events that told of it are broken
    _compare(run_id, "baseline.json", small["baseline.json"], baseline, found)
    if kept is not None and told_of.newer:
        found.notes.append(f"run {run_id} was written to since {OWN} last kept its head")
    elif kept is not None:
        for name in _SMALL:
            if name in kept.files:
                _compare(run_id, name, small[name], (kept.files[name],), found)
    names = names_in(root, layout.evidence_dir(run_id))
    _strangers(root, run_id, found)
    entry = ledger_file.last(root, run_id)
    ready = None
    if entry is not None and layout.TEMP_PREFIX + ledger_file.token(entry.sidecar_sha256) in names:
        ready = entry.evidence_id
    return _Snapshot(ledger, tuple(heads), names, ready)


def _small(root: str, run_id: str, name: str, found: RunFindings) -> bytes | None:
    rel = f"{layout.run_dir(run_id)}/{name}"
    try:
        return files.read_optional(root, rel, limit=BASELINE_LIMIT)
    except FlowError as error:
        found.error(error, rel)
        return None


def _named(verdict: bytes | None) -> Head | None:
    """The head that ``last-verdict.json`` names."""
    document = lenient_json.mapping(verdict)
    return head_of(document.get("ledger_head")) if document is not None else None


def _compare(
    run_id: str,
    name: str,
    data: bytes | None,
    recorded: Sequence[str | None],
    found: RunFindings,
) -> None:
    """Compare a small file with what was recorded of it last; empty: nothing was."""
    from hashlib import sha256

    if not recorded:
        return
    now = sha256(data).hexdigest() if data is not None else None
    if now == recorded[0]:
        return
    rel = f"{layout.run_dir(run_id)}/{name}"
    if now is None:
        found.say("missing", rel, "is missing")
    elif recorded[0] is None:
        found.say("restored", rel, "is back, and Flow had removed it")
    elif name == "baseline.json":
        found.say("altered", rel, "was altered, or restored from an older copy")
    else:
        text = "is not as Flow left it: altered, or restored, or written by a killed command"
        found.say("altered", rel, text)


def _strangers(root: str, run_id: str, found: RunFindings) -> None:
    """Files in the run's folder that Flow does not write there."""
    rel = layout.run_dir(run_id)
    for name in sorted(names_in(root, rel)):
        if name not in _KNOWN and name not in _PASSING and not temporary(name):
            found.say("unaccounted", f"{rel}/{name}", "is no file of a run")


def _unchained(run_id: str, names: Mapping[str, bool], found: RunFindings) -> None:
    """A run without a ledger: fine while it has no evidence either."""
    count = sum(name.endswith(layout.EVIDENCE_SUFFIX) for name in names)
    if count:
        rel = layout.ledger_file(run_id)
        text = (
            f"not chained: the run has {count} sidecar{'s' if count > 1 else ''} and no ledger. "
            "Either a version of Flow recorded them that had none, or the ledger was taken away"
        )
        found.say("not_chained", rel, text)
    elif names:
        unaccounted(run_id, dict.fromkeys(names, True), {}, found)
