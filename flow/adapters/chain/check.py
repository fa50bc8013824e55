"""Check a run against its hash chain (SPEC 10): every file of it, offline.

Each file is read once, in blocks; memory grows by a few hundred bytes an entry. The files that
change are read under the run's lock: ledger, events, the small files, and the names of the others.
Sidecars and outputs never change, so a run that is being written to is checked as it was.
"""

from __future__ import annotations

import os

from flow.adapters.chain import event_chain, event_log, ledger_file
from flow.adapters.chain.evidence_folder import (
    RunFindings,
    add_unaccounted,
    check_evidence,
    is_temporary,
    names_in,
)
from flow.adapters.chain.lines import lines
from flow.adapters.fs import files, lenient_json, locks
from flow.adapters.fs.folders import scanned
from flow.core import layout
from flow.core.chain.entries import head_of
from flow.core.chain.walk import ChainFinding, WitnessedHead, walk
from flow.core.goal import ids
from flow.errors import FlowError, LockTimeout, StorageError
from flow.startup.contexts import ExitStack, suppress
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.chain.pinned_heads import PinnedRun
    from flow.core.chain.entries import Head
    from flow.core.chain.walk import Kind, WalkedLedger

OWN = "your own state folder"
"""Witness name of a pinned head."""
UNVOUCHED = (
    f"{OWN} does not know it as Flow's. So it is with what was measured while files changed, or by "
    "a command that was killed; and with what anybody writes into the chain without Flow"
)
NOTED_LIMIT = 10
"""Most uncounted entries that are named; the others are counted."""

_VERDICT = "last-verdict.json"
_SMALL = ("proposal.json", _VERDICT, "loop.json")
"""Small files that are replaced, and pinned by their digests."""
_PASSING = ("measuring.json",)
"""Left by a killed evaluation: the untracked files when it began."""
_ARCHIVE = f"evidence{layout.ARCHIVE_SUFFIX}"
_OWN_NAMES = frozenset(
    {"evidence", _ARCHIVE, "events.jsonl", "ledger.jsonl", "baseline.json", *_SMALL}
)


class CheckedRun(NamedTuple):
    """A run that was checked. ``more`` counts the findings that are not named."""

    run_id: str
    head: Head | None
    entries: int
    findings: tuple[ChainFinding, ...]
    more: int = 0
    notes: tuple[str, ...] = ()
    seen: frozenset[Head] = frozenset()
    """The sought heads that are in its ledger."""


def check(
    root: str,
    run_id: str,
    pinned: PinnedRun | None,
    witnessed: Sequence[WitnessedHead] = (),
    sought: frozenset[Head] = frozenset(),
    *,
    notes: bool = True,
) -> CheckedRun:
    """Check every file of the run, also against the heads that others have written down for it.

    Without ``notes`` the entries that count for nothing are not named, since each is looked for.
    Raises :class:`LockTimeout` if another process does not release the run.
    """
    ids.run_id(run_id)
    return _RunCheck(root, run_id, pinned, notes=notes).run(witnessed, sought)


class _RunCheck:
    """The check of one run. ``pinned`` are its heads in the user's state folder."""

    def __init__(self, root: str, run_id: str, pinned: PinnedRun | None, *, notes: bool) -> None:
        self._root, self._run_id, self._pinned, self._notes = root, run_id, pinned, notes
        self._findings = RunFindings(run_id)

    def run(self, witnessed: Sequence[WitnessedHead], sought: frozenset[Head]) -> CheckedRun:
        """Read the files that change under the lock, then the evidence folder."""
        run_id, findings = self._run_id, self._findings
        head, entries = None, 0
        seen: frozenset[Head] = frozenset()
        try:
            with ExitStack() as held:
                lock = locks.exclusive(self._root, layout.run_lock(run_id), quick=True)
                with suppress(StorageError):  # not writable, so nothing writes
                    held.enter_context(lock)
                small = {name: self._small(name) for name in (*_SMALL, "baseline.json")}
                heads = self._known_heads(witnessed, small[_VERDICT])
                ledger = self._ledger(heads, sought)
                archived = self._compare_small(small)
                if archived is None and _has_archive(self._root, run_id):
                    _add_unrecorded_archive(findings)
                names = names_in(self._root, layout.evidence_dir(run_id))
                _add_strangers(self._root, findings)
                interrupted = self._interrupted(names)
            if ledger.head is None and not ledger.findings and not heads:
                self._add_unchained(names)
            else:
                check_evidence(self._root, ledger, names, interrupted, archived, findings)
            head, entries, seen = ledger.head, ledger.entries, ledger.seen
        except LockTimeout:
            raise
        except FlowError as error:
            findings.error(error, layout.run_dir(run_id))
        rows, notes = tuple(findings.rows), tuple(findings.notes)
        return CheckedRun(run_id, head, entries, rows, findings.more, notes, seen)

    def _known_heads(
        self, witnessed: Sequence[WitnessedHead], verdict: bytes | None
    ) -> list[WitnessedHead]:
        """The heads that the ledger must have: of the state folder, of others, of the verdict."""
        heads = [*witnessed]
        if self._pinned is not None and self._pinned.broken:
            self._findings.notes.append(f"what {OWN} keeps of run {self._run_id} cannot be read")
        if self._pinned is not None and self._pinned.ledger is not None:
            heads.insert(0, WitnessedHead(self._pinned.ledger, OWN))
        document = lenient_json.mapping(verdict) or {}
        named = head_of(document.get("ledger_head"))
        if named is not None:
            heads.append(WitnessedHead(named, _VERDICT))
        return heads

    def _ledger(self, heads: Sequence[WitnessedHead], sought: frozenset[Head]) -> WalkedLedger:
        root, run_id = self._root, self._run_id
        rel = layout.ledger_file(run_id)
        ledger = walk(run_id, rel, lines(root, rel), ledger_file.parse, heads, sought)
        self._findings.take(ledger.findings)
        if ledger.head is not None and self._notes:
            self._findings.notes += unvouched(root, run_id, self._pinned, ledger.head.number)
        return ledger

    def _interrupted(self, names: Mapping[str, bool]) -> str | None:
        """A sidecar that a killed process has left ready to be published."""
        entry = ledger_file.last(self._root, self._run_id)
        if entry is None:
            return None
        temporary_name = layout.TEMP_PREFIX + ledger_file.token(entry.sidecar_sha256)
        return entry.evidence_id if temporary_name in names else None

    def _small(self, name: str) -> bytes | None:
        rel = f"{layout.run_dir(self._run_id)}/{name}"
        try:
            return files.read_optional(self._root, rel, limit=layout.BASELINE_LIMIT)
        except FlowError as error:
            self._findings.error(error, rel)
            return None

    def _compare_small(self, small: Mapping[str, bytes | None]) -> str | None:
        """Check the events, and compare the small files with the digests recorded last.

        Returns the digest of the archive of the run's evidence, if one is on record.
        """
        run_id, pinned = self._run_id, self._pinned
        head = pinned.events if pinned is not None else None
        events = event_chain.check(self._root, run_id, head, self._findings.add)
        baseline: Sequence[str | None] = events.baseline
        if not baseline and pinned is not None and "baseline.json" in pinned.files:
            baseline = (pinned.files["baseline.json"],)  # the events about it are broken
        for digest in baseline[:1]:
            self._compare("baseline.json", small["baseline.json"], digest)
        if pinned is not None and events.newer:
            note = f"run {run_id} was written to since {OWN} last kept its head"
            self._findings.notes.append(note)
        elif pinned is not None:
            for name in _SMALL:
                if name in pinned.files:
                    self._compare(name, small[name], pinned.files[name])
        return events.archive

    def _compare(self, name: str, data: bytes | None, recorded: str | None) -> None:
        """Compare a small file with the digest recorded last, None for a removed one."""
        now = sha256(data).hexdigest() if data is not None else None
        if now == recorded:
            return
        rel = f"{layout.run_dir(self._run_id)}/{name}"
        kind: Kind = "altered"
        if now is None:
            kind, text = "missing", "is missing"
        elif recorded is None:
            kind, text = "restored", "is back, and Flow had removed it"
        elif name == "baseline.json":
            text = "was altered, or restored from an older copy"
        else:
            text = "is not as Flow left it: altered, or restored, or written by a killed command"
        self._findings.add(kind, rel, text)

    def _add_unchained(self, names: Mapping[str, bool]) -> None:
        """A run without a ledger: fine while it has no evidence either."""
        count = sum(name.endswith(layout.EVIDENCE_SUFFIX) for name in names)
        if count:
            text = (
                f"not chained: the run has {count} sidecar{'s' if count > 1 else ''} and no "
                "ledger. Either a version of Flow recorded them that had none, or the ledger was "
                "taken away"
            )
            self._findings.add("not_chained", layout.ledger_file(self._run_id), text)
        elif _has_archive(self._root, self._run_id):
            text = "not chained: there is no ledger that speaks of what is in it"
            self._findings.add("not_chained", layout.archive_file(self._run_id), text)
        elif names:
            add_unaccounted(dict.fromkeys(names, True), {}, self._findings)


def unvouched(root: str, run_id: str, pinned: PinnedRun | None, newest: int) -> list[str]:
    """Notes on the entries up to ``newest`` that the user's state folder does not vouch for.

    No finding: they count for nothing. A turn in which files changed leaves such entries, and so
    does a command that was killed.
    """
    if pinned is None or pinned.ledger is None:
        return [f"no entry of run {run_id} counts here: {OWN} keeps no head of it"]
    notes: list[str] = []
    more = 0
    for first, last in (*pinned.unvouched, (pinned.ledger.number + 1, newest)):
        named = max(0, min(last + 1 - first, NOTED_LIMIT - len(notes)))
        more += max(0, last + 1 - first - named)
        for number in range(first, first + named):
            entry = ledger_file.at(root, run_id, number)
            about = f" ({entry.evidence_id}, by {entry.by})" if entry is not None else ""
            notes.append(f"entry {number} of run {run_id}{about} counts for nothing: {UNVOUCHED}")
    if more:
        notes.append(f"the same holds for {more} more of run {run_id}")
    if newest > pinned.ledger.number:
        newer = newest - pinned.ledger.number
        notes.append(f"the last {newer} of run {run_id} are newer than the head kept in {OWN}")
    return notes


def check_ledger(root: str, run_id: str, pinned: PinnedRun | None) -> CheckedRun:
    """Check a run's ledger alone, against the pinned head, and for files that are not Flow's."""
    rel = layout.ledger_file(run_id)
    head = pinned.ledger if pinned is not None else None
    witnessed = [WitnessedHead(head, OWN)] if head is not None else []
    findings = RunFindings(run_id)
    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        walked = walk(run_id, rel, lines(root, rel), ledger_file.parse, witnessed)
        findings.take(walked.findings)
        _add_strangers(root, findings)
        if _has_archive(root, run_id) and event_log.archived(root, run_id) is None:
            _add_unrecorded_archive(findings)
        if walked.head is not None:
            names = names_in(root, layout.evidence_dir(run_id))
            add_unaccounted(names, walked.stored, findings)
    return CheckedRun(run_id, walked.head, walked.entries, tuple(findings.rows), findings.more)


def _has_archive(root: str, run_id: str) -> bool:
    return os.path.lexists(f"{root}/{layout.archive_file(run_id)}")


def _add_unrecorded_archive(findings: RunFindings) -> None:
    findings.add("unaccounted", layout.archive_file(findings.run_id), "no event speaks of it")


def run_ids(root: str) -> list[str]:
    """The runs that have a folder (or another entry in its place), sorted."""
    with scanned(root, layout.RUNS) as entries:  # also Flow's own folders, and files of others
        return sorted(entry.name for entry in entries if ids.RUN_ID.fits(entry.name))


def _add_strangers(root: str, findings: RunFindings) -> None:
    """Add a finding for each file in the run's folder that Flow does not write there."""
    rel = layout.run_dir(findings.run_id)
    for name in sorted(names_in(root, rel)):
        own = name in _OWN_NAMES or name in _PASSING or layout.events_number(name)
        if not own and not is_temporary(name):
            findings.add("unaccounted", f"{rel}/{name}", "is no file of a run")
