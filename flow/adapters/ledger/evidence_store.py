"""Recording evidence: output, ledger entry, sidecar, event (SPEC 1, FlowEvidence).

Everything happens under the run's lock. First the output gets its name, and the sidecar's bytes are
synced under a temporary one. Then its entry is appended to the run's hash chain and synced: from
then on the evidence is recorded. Then the sidecar gets its name, and the event is appended. A
failure leaves none of it. A crash before the entry leaves an output without a sidecar; it is no
evidence, and the next record that wants the id takes its place. After the entry the next record of
the run publishes the sidecar and appends the event (:func:`finish_record`). So there is no sidecar
of Flow's without its entry, and none without its output.
"""

from __future__ import annotations

import os

from flow.adapters.chain import event_log, ledger_file
from flow.adapters.contracts import formats
from flow.adapters.fs import files, locks
from flow.adapters.fs.folders import folders_kept_open
from flow.adapters.ledger.reader import DISCOUNTED, remember_sidecar
from flow.core import layout
from flow.core.chain.entries import EVIDENCE, following
from flow.core.evidence.model import APPROVER, BASELINE, EVALUATOR, evidence_from_document
from flow.core.goal import ids
from flow.core.text import display
from flow.errors import FlowError, StateError, at_key, in_file
from flow.startup.contexts import suppress
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.chain.session_writes import RunWrites
    from flow.app.checks import RawOutput
    from flow.core.chain.entries import LedgerEntry

    KeepParsed = Callable[[bytes, dict[str, Any], Sequence[str]], None]
    """Gets a sidecar's bytes, its document and the warnings about it, without the file's name."""

SUFFIX_LIMIT = 1 << 30
"""Most records that may want the same id."""

CALLER = "caller"
"""``by`` of evidence that counts for nothing but is kept and shown."""

BY: Mapping[str, str] = {EVALUATOR: "evaluator", APPROVER: "approver", BASELINE: "baseline"}
"""``by`` of Flow's own sidecars; ``reader.BY_FLOW`` lists those that count."""


class PublishedSidecar(NamedTuple):
    """A sidecar that was just published. ``path`` is below the checkout."""

    id: str
    path: str
    warnings: tuple[str, ...]


def record(
    run_record: RunRecord,
    document: Mapping[str, Any],
    raw: RawOutput | None,
    *,
    suffix: bool,
    now: str,
    keep_parsed: KeepParsed | None = None,
) -> PublishedSidecar:
    """Record evidence that Flow itself measured; the raw output's file is consumed.

    With ``suffix`` a taken id gets ``-2``, ``-3`` ...; without, :class:`RefusedError` (``exists``).
    ``keep_parsed`` gets the published sidecar, for the next process that reads it.
    """
    goal_id, run_id, wanted = checked_ids(document)
    created_by = document["metadata"].get("created_by")
    root, run = run_record.root, run_record.run(run_id)
    folders_of_run = (layout.run_dir(run_id), layout.evidence_dir(run_id))
    with (
        folders_kept_open(root, layout.RUNS),  # the lock's folder and the run's are below it
        locks.exclusive(root, layout.run_lock(run_id), quick=True),
        folders_kept_open(root, *folders_of_run),
    ):
        last = finish_record(run)  # first: what it publishes takes an id
        evidence_id = free_id(root, run_id, wanted, suffix=suffix)

        def store_output(rel: str) -> tuple[str, int]:
            assert raw is not None  # only called where there is one  # noqa: S101
            files.publish_file(root, rel, raw.path)  # the sidecar's first step syncs it
            return raw.sha256, raw.size

        published = publish(
            run,
            renamed(document, evidence_id),
            store_output if raw is not None else None,
            last=last,
            now=now,
            digested=(raw.sha256, raw.size) if raw is not None else None,
            # Not synced: the evaluation's own event follows in the same file, and a sidecar whose
            # event a power cut took is shown and not counted.
            after=lambda fields: _append_event(run, goal_id, fields, at=now, sync=False),
            by=BY.get(created_by, CALLER),
            keep_parsed=keep_parsed,
        )
    if raw is not None:
        with suppress(OSError):  # the published name holds the bytes
            os.unlink(raw.path)
    return published


def discount(
    run: RunWrites, goal_id: str, evidence_id: str, moved: Sequence[str], *, now: str
) -> None:
    """Record that evidence does not count: the files ``moved`` changed while it was measured.

    The sidecar stays, since evidence is append-only. The state folder does not vouch for it, and
    its newest event, synced, gives the reason. The caller commits the run afterwards.
    """
    run.discount(evidence_id)
    fields = {"evidence_id": evidence_id, "moved": display.names(moved, 5)}
    event_log.append(run.root, run.run_id, goal_id, DISCOUNTED, fields, at=now)


def event_fields(document: Mapping[str, Any], sidecar_sha256: str, by: str) -> dict[str, Any]:
    """Fields of the ``evidence`` event: who recorded which bytes."""
    body = document["evidence"]
    return {
        "type": "evidence",
        "evidence_id": document["metadata"]["id"],
        "by": by,
        "evidence_type": body["type"],
        "proves": list(body.get("proves") or ()),
        "sidecar_sha256": sidecar_sha256,
        "output_sha256": body.get("output_sha256"),
    }


def _append_event(
    run: RunWrites, goal_id: str, fields: dict[str, Any], *, at: str, sync: bool = True
) -> None:
    kind = str(fields.pop("type"))
    event_log.append(run.root, run.run_id, goal_id, kind, fields, at=at, sync=sync)


class _Undo:
    """Takes back the parts of a publication that are on the disk when it fails."""

    def __init__(self, run: RunWrites, first: str) -> None:
        self._run = run
        self.files: list[str] = []
        self.begun = first
        """The file that may be there already when an interrupt comes."""
        self.entry: LedgerEntry | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if not isinstance(error, FlowError):
            self.files.append(self.begun)
        with suppress(FlowError):  # the first error is reported
            if self.entry is not None:
                # First: an entry that stays keeps its files, and the next record finishes it.
                ledger_file.take_back(self._run, self.entry)
            for rel in reversed(self.files):
                with suppress(FlowError):  # readers name the rest
                    files.remove(self._run.root, rel)


def publish(
    run: RunWrites,
    document: dict[str, Any],
    store_output: Callable[[str], tuple[str, int]] | None,
    *,
    last: LedgerEntry | None,
    now: str,
    digested: tuple[str, int] | None = None,
    before: Callable[[dict[str, Any]], None] | None = None,
    after: Callable[[dict[str, Any]], None] | None = None,
    by: str,
    keep_parsed: KeepParsed | None = None,
) -> PublishedSidecar:
    """Publish output, entry and sidecar in this order; a failure takes back earlier ones.

    ``last`` is the run's newest entry, complete. ``digested``: SHA-256 and size of the output, if
    known. ``before`` the entry and ``after`` the sidecar get its event's fields.
    """
    goal_id, run_id, evidence_id = checked_ids(document)
    root, rel = run.root, layout.evidence_file(run_id, evidence_id)
    output = layout.output_file(run_id, evidence_id)
    if digested is not None:
        _name_output(document, output, *digested)
    warnings = formats.check("evidence", document, file=rel)  # before anything is touched
    with _Undo(run, output) as undo:
        # No sidecar has this id, so an output with it was left by a crash (see above).
        files.remove(root, output)
        if store_output is not None:
            stored = store_output(output)
            undo.files.append(output)
            if digested is None:
                _name_output(document, output, *stored)
                warnings = formats.check("evidence", document, file=rel)
        data = formats.dump_yaml(document).encode("utf-8")
        fields = event_fields(document, sha256(data).hexdigest(), by)
        if before is not None:
            before(fields)
        with files.prepared(root, rel, data, ledger_file.token(fields["sidecar_sha256"])) as put:
            undo.begun = rel
            undo.entry = entry = _entry(last, run_id, goal_id, fields, now)
            ledger_file.append(run, entry)
            put()
        undo.files.append(rel)
        if after is not None:
            after(fields)
    run.finished = entry.hash
    remember_sidecar(rel, entry.sidecar_sha256, evidence_from_document(document))
    if keep_parsed is not None:
        keep_parsed(data, document, [text.removeprefix(f"{rel}: ") for text in warnings])
    return PublishedSidecar(evidence_id, rel, warnings)


def _entry(
    last: LedgerEntry | None, run_id: str, goal_id: str, event: Mapping[str, Any], now: str
) -> LedgerEntry:
    """The ledger's entry of the sidecar that ``event`` records, after ``last``."""
    fields = {"at": now, "kind": EVIDENCE, "goal_id": goal_id}
    copied = ("evidence_id", "by", "sidecar_sha256", "output_sha256")
    fields |= {key: event[key] for key in copied}
    return following(last.head if last else None, run_id, fields)


def finish_record(run: RunWrites) -> LedgerEntry | None:
    """Finish the record that a killed process had decided; returns the run's newest entry.

    Under the run's lock. Its sidecar gets its name, and, if it is Flow's own, its event. Raises
    nothing if neither can be done: the sidecar is then missing, and readers name it.
    """
    root, run_id = run.root, run.run_id
    entry = ledger_file.last(root, run_id, run.tail)
    if entry is None or entry.kind != EVIDENCE or run.finished == entry.hash:
        return entry
    rel = layout.evidence_file(run_id, entry.evidence_id)
    if not files.exists(root, rel):
        files.complete(root, rel, ledger_file.token(entry.sidecar_sha256))
    if entry.by != CALLER and files.exists(root, rel) and not _has_event(run, entry):
        data = files.read_bytes(root, rel, limit=layout.SIDECAR_LIMIT)
        if sha256(data).hexdigest() == entry.sidecar_sha256:
            document = formats.parse_yaml(data, file=rel)
            fields = event_fields(document, entry.sidecar_sha256, entry.by)
            _append_event(run, entry.goal_id, fields, at=entry.at)
    run.finished = entry.hash
    return entry


def _has_event(run: RunWrites, entry: LedgerEntry) -> bool:
    def is_record(event: Mapping[str, Any]) -> bool:
        return event.get("type") == "evidence"

    field, value = "evidence_id", entry.evidence_id
    return event_log.newest(run.root, run.run_id, field, value, is_record) is not None


def _name_output(document: dict[str, Any], output: str, digest: str, size: int) -> None:
    body = document["evidence"]
    body["output_ref"] = os.path.basename(output)
    body["output_sha256"] = digest
    body.setdefault("output_bytes", size)


def checked_ids(document: Mapping[str, Any]) -> tuple[str, str, str]:
    """(goal id, run id, evidence id), each one checked before any path is made of it."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        raise at_key("metadata").invalid("is not a FlowEvidence document", "see flow schema")
    return (
        ids.goal_id(metadata.get("goal")),
        ids.run_id(metadata.get("run_id")),
        ids.evidence_id(metadata.get("id")),
    )


def free_id(root: str, run_id: str, wanted: str, *, suffix: bool) -> str:
    """``wanted`` if no sidecar has it, else with a free suffix. Probes; never lists."""

    def taken(number: int) -> bool:
        if number > SUFFIX_LIMIT:
            raise StateError(f"no free id is left for evidence {wanted}", remedy="start a new run")
        return files.exists(root, layout.evidence_file(run_id, _numbered(wanted, number)))

    if not suffix and taken(1):
        raise in_file(layout.evidence_file(run_id, wanted), "metadata.id", wanted).refused(
            f"evidence {wanted} is recorded already",
            "evidence is append-only; record a correction under a new id",
            code="exists",
        )
    return _numbered(wanted, files.first_free(taken))


def _numbered(wanted: str, number: int) -> str:
    """``wanted``, ``wanted-2``, ...; cut if the number would make it too long."""
    tail = f"-{number}" if number > 1 else ""
    return wanted[: 200 - len(tail)] + tail


def renamed(document: Mapping[str, Any], evidence_id: str) -> dict[str, Any]:
    """A copy that can be completed without touching the caller's document."""
    return {
        **document,
        "metadata": {**document["metadata"], "id": evidence_id},
        "evidence": dict(document["evidence"]),
    }
