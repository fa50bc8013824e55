"""Drop old outputs (``flow gc``, SPEC 5), on the record, so that the chain still verifies.

For each output a ``dropped`` entry with its digest is appended to the run's chain and synced, then
the file is removed. A crash in between leaves an output that is known to be dropped; the next
``flow gc`` removes it.
"""

from __future__ import annotations

import os

from flow.adapters.chain import check as chain_check
from flow.adapters.chain import ledger_file
from flow.adapters.chain.files import OUTPUT
from flow.adapters.chain.lines import lines
from flow.adapters.fs import files, locks
from flow.adapters.fs.folders import scanned
from flow.adapters.ledger import evidence_store
from flow.core import layout
from flow.core.chain.entries import DROPPED, EVIDENCE, following
from flow.core.goal.lifecycle import TERMINAL
from flow.errors import FlowError, StorageError, in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from flow.adapters.chain.session_writes import RunWrites
    from flow.core.chain.entries import LedgerEntry
    from flow.core.goal.model import Goal

BATCH = 1000
"""Entries that are appended, and outputs that are removed, at once."""


class RunFiles(NamedTuple):
    """The files of a run that could be dropped, or archived."""

    run_id: str
    newest: str
    """The time of its newest entry."""
    goals: frozenset[str]
    """The goals its evidence is about."""
    files: int
    bytes: int


class RunRemoval(NamedTuple):
    """One run whose outputs are dropped."""

    run_id: str
    outputs: int
    bytes: int
    why: str
    """The reason, for the user."""


class RemovalPlan(NamedTuple):
    """What is dropped; the warnings name what stays although it might have been meant."""

    runs: tuple[RunRemoval, ...]
    warnings: tuple[str, ...] = ()

    def to_document(self, *, dry_run: bool) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return plan_document(self.runs, "outputs", self.warnings, dry_run=dry_run)


def plan_document(
    runs: Sequence[NamedTuple], counted: str, warnings: Sequence[str], *, dry_run: bool
) -> dict[str, Any]:
    """The runs of a plan as ``--json`` prints them, with the sums of ``counted`` and of bytes."""
    rows = [run._asdict() for run in runs]
    return {
        "dry_run": dry_run,
        "runs": rows,
        counted: sum(row[counted] for row in rows),
        "bytes": sum(row["bytes"] for row in rows),
        "warnings": list(warnings),
    }


def outputs_of(root: str, run_id: str) -> RunFiles:
    """The outputs of a run that could be dropped; a run without a ledger has none."""
    return recorded_files(root, run_id, lambda path: path.endswith(OUTPUT))


def recorded_files(root: str, run_id: str, chosen: Callable[[str], bool]) -> RunFiles:
    """The files in a run's evidence folder that its ledger speaks of and that are ``chosen``."""
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
    """Drop every output of a run; returns how many, and their bytes.

    Raises :class:`StateError` (``broken_chain``) where an output is not the one on record: a fault
    of a run must not be cleared away.
    """
    count = size = 0
    root, run_id = run.root, run.run_id
    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        last = evidence_store.settle(run)
        sizes = sizes_in(root, run_id)
        entries, dropped = _outputs(root, run_id, sizes)
        for entry in entries:  # all of them, before any goes
            _check(root, run_id, entry)
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            new: list[LedgerEntry] = []
            for entry in batch:
                if entry.evidence_id in dropped:  # recorded by a run of gc that was killed
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
    """The error for a run of which nothing is ``done``: its files are not as it was recorded."""
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


def choose(
    runs: Sequence[RunFiles],
    closed: Mapping[str, str],
    pinned: frozenset[str],
    oldest: str,
    keep: int,
) -> list[RunFiles]:
    """The runs to clear: of closed goals only, newest first, those after the first ``keep``.

    ``closed`` maps the goals that are closed to their status; ``pinned`` are runs of goals that are
    not. ``oldest`` is the time that a run's newest evidence must not be younger than.
    """
    closed_runs = [
        run for run in runs if run.goals and run.goals <= closed.keys() and run.run_id not in pinned
    ]
    closed_runs.sort(key=lambda run: (run.newest, run.run_id), reverse=True)
    return [run for run in closed_runs[keep:] if run.files and run.newest <= oldest]


def plan(root: str, goals: Iterable[Goal], oldest: str, keep: int) -> RemovalPlan:
    """The outputs that may go, where these are all the goals that there are.

    ``oldest`` and ``keep`` are as for :func:`choose`.
    """
    chosen, warnings = chosen_runs(root, goals, oldest, keep, outputs_of)
    removals = (RunRemoval(run.run_id, run.files, run.bytes, why) for run, why in chosen)
    return RemovalPlan(tuple(removals), tuple(warnings))


def chosen_runs(
    root: str,
    goals: Iterable[Goal],
    oldest: str,
    keep: int,
    files_of: Callable[[str, str], RunFiles],
) -> tuple[list[tuple[RunFiles, str]], list[str]]:
    """The runs that may be cleared, each with the reason for the user; and warnings.

    These are all the goals that there are; ``oldest`` and ``keep`` are as for :func:`choose`.
    """
    goals = tuple(goals)
    closed = {goal.id: goal.status for goal in goals if goal.status in TERMINAL}
    live = frozenset(_runs_of(goal for goal in goals if goal.status not in TERMINAL))
    runs, warnings = [], []
    for run_id in chain_check.run_ids(root):
        try:
            runs.append(files_of(root, run_id))
        except StorageError:
            raise  # what cannot be read now is not for that reason empty
        except FlowError as error:
            warnings += [str(fault) for fault in error.faults]
    chosen = choose(runs, closed, live, oldest, keep)
    return [(run, _why(sorted(run.goals), closed)) for run in chosen], warnings


def _runs_of(goals: Iterable[Goal]) -> Iterator[str]:
    """The runs that these goals write to, or whose evidence they name."""
    for goal in goals:
        if goal.run_id:
            yield goal.run_id
        for criterion in goal.criteria:
            ref = criterion.evidence_ref or ""
            if ref.startswith(f"{layout.RUNS}/"):
                yield ref.split("/")[2]


def _why(goals: Sequence[str], closed: Mapping[str, str]) -> str:
    return ", ".join(f"goal {goal} is {closed[goal]}" for goal in goals)
