"""Checks an exported bundle away from its repository (SPEC 10, *Export*).

A bundle proves nothing about the files it names; it shows that its Statements are those of its
evidence, that no part was altered since it was signed, and who signed it. All of it is hostile:
nothing in it is run, and no name in it becomes a path.
"""

from __future__ import annotations

from flow.app.exchange.bundle_ledger import ledger_faults
from flow.app.exchange.envelopes import Envelope, Signature, SignatureCheck, signers_of
from flow.core.evidence import attestation
from flow.core.evidence.attestation import (
    PAYLOAD_TYPE,
    RECORD,
    STATEMENT,
    AttestedFile,
    AttestedSidecar,
    Record,
)
from flow.core.goal import ids
from flow.core.layout import EVIDENCE_SUFFIX
from flow.core.text.display import counted, visible
from flow.errors import FlowError, cut_list
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Goal

MOST_FINDINGS = 100
MOST_ITEMS = 2_000
"""Rows of a record; an export has at most one for each criterion, and 500 of others."""


class Readers(NamedTuple):
    """Readers of a bundle's parts; each raises :class:`FlowError` for content that it refuses."""

    json: Callable[[bytes, str], Any]
    base64: Callable[[str, str], bytes]
    goal: Callable[[bytes, str], Goal]
    evidence: Callable[[bytes, str], Evidence]


class BundleReport(NamedTuple):
    """Result of checking a bundle. Without findings it is consistent."""

    findings: tuple[str, ...]
    notes: tuple[str, ...]
    signers: tuple[str, ...]
    signed: bool
    """Whether every envelope has a signature that fits, by any signer."""
    record: Record | None
    statements: tuple[Mapping[str, Any], ...]


def check_bundle(
    envelopes: Sequence[Envelope],
    readers: Readers,
    signature: Callable[[bytes, Signature], SignatureCheck],
    *,
    strict: bool,
) -> BundleReport:
    """Check signatures and content.

    ``signature`` is given what is signed, and one signature. ``strict`` demands for every envelope
    one that the caller's list of keys knows.
    """
    findings: list[str] = []
    notes: list[str] = []
    signers = signers_of(envelopes, signature, strict, findings, notes)
    statements: list[tuple[Envelope, dict[str, Any]]] = []
    for envelope in envelopes:
        try:
            statements.append((envelope, _statement(envelope, readers)))
        except FlowError as error:
            findings += [visible(str(fault)) for fault in error.faults]
        except _FaultyPart as wrong:
            findings.append(f"{envelope.place}: {wrong}")
    record = None
    try:
        record = _read_record([s for _, s in statements if s["predicateType"] == RECORD], readers)
        findings += [*ledger_faults(record, readers.json), *_compare(record, statements)]
        notes += _record_notes(record)
    except FlowError as error:
        findings += [visible(str(fault)) for fault in error.faults]
    except _FaultyPart as wrong:
        findings.append(str(wrong))
    return BundleReport(
        tuple(cut_list(findings, "", MOST_FINDINGS)),
        tuple(notes),
        tuple(signers),
        bool(signers),
        record,
        tuple(statement for _, statement in statements),
    )


class _FaultyPart(Exception):
    """A fault of one part."""


def _statement(envelope: Envelope, readers: Readers) -> dict[str, Any]:
    """The Statement in an envelope."""
    if envelope.payload_type != PAYLOAD_TYPE:
        raise _FaultyPart(
            f"payloadType is {visible(envelope.payload_type)[:80]}, not {PAYLOAD_TYPE}"
        )
    statement = readers.json(envelope.payload, f"{envelope.place}: payload")
    if not isinstance(statement, dict) or statement.get("_type") != STATEMENT:
        raise _FaultyPart(f"its payload is no {STATEMENT}")
    subject, kind = statement.get("subject"), statement.get("predicateType")
    if not isinstance(kind, str) or not isinstance(statement.get("predicate"), dict):
        raise _FaultyPart("its Statement has no predicate")
    if not isinstance(subject, list) or not subject:
        raise _FaultyPart("its Statement names no subject")
    return statement


def _read_record(statements: Sequence[Mapping[str, Any]], readers: Readers) -> Record:
    """The one Statement that carries what the others are made from, read."""
    if len(statements) != 1:
        raise _FaultyPart(
            f"it holds {len(statements)} records of evidence ({RECORD}); it must be one"
        )
    predicate = _Object(statements[0]["predicate"], "record")
    files = _attested_files(statements[0]["subject"], predicate, readers)
    contents = {f.name: f.content for f in files if f.content is not None}
    name = attestation.goal_name(ids.goal_id(predicate.text("goalId")))
    if name not in contents:
        raise _FaultyPart(f"record: the goal's file {name} is not in it")
    goal = readers.goal(contents[name], name)
    rubrics = predicate.texts("rubrics")
    rows = predicate.list("evidence")
    if len(rows) > MOST_ITEMS:
        raise _FaultyPart(f"record: more than {MOST_ITEMS} rows of evidence")
    read: dict[str, Evidence] = {}
    items = tuple(
        _attested_sidecar(_Object(row, f"record: evidence[{place}]"), contents, readers, read)
        for place, row in enumerate(rows)
    )
    record = Record(
        goal=goal,
        contract=goal.digest(rubrics),
        run_id=ids.run_id(predicate.text("runId")),
        flow_version=predicate.text("flowVersion"),
        resource_uri=predicate.text("resourceUri"),
        closed_at=predicate.text("closedAt", optional=True),
        rubrics=rubrics,
        left_out=predicate.numbers("leftOut"),
        items=items,
        files=files,
    )
    if predicate.text("contract") != record.contract:
        raise _FaultyPart("record: contract is not the digest of the goal in it")
    _check_files(record)
    return record


def _attested_files(
    subject: Sequence[Any], predicate: _Object, readers: Readers
) -> tuple[AttestedFile, ...]:
    """The record's files: each subject is one, and its content must have its digest."""
    contents = predicate.texts("files")
    by_name: dict[str, AttestedFile] = {}
    for place, row in enumerate(subject):
        one = _Object(row, f"record: subject[{place}]")
        name, digest = one.text("name"), one.texts("digest")
        if name in by_name or set(digest) != {"sha256"}:
            raise _FaultyPart(f"record: subject[{place}] is named twice, or has no sha256 digest")
        content = None
        if name in contents:
            content = readers.base64(contents[name], f"record: files.{visible(name)[:80]}")
            if sha256(content).hexdigest() != digest["sha256"]:
                raise _FaultyPart(
                    f"record: {visible(name)[:80]} is not the file that its digest names"
                )
        by_name[name] = AttestedFile(name, digest["sha256"], content)
    unknown = [name for name in contents if name not in by_name]
    if unknown:
        raise _FaultyPart(f"record: {visible(unknown[0])[:80]} has no digest")
    return tuple(by_name.values())


def _attested_sidecar(
    row: _Object, contents: Mapping[str, bytes], readers: Readers, read: dict[str, Evidence]
) -> AttestedSidecar:
    """A row of the record; ``read`` has the sidecars that were read for earlier ones."""
    file = row.text("file")
    if file not in contents or not file.endswith(EVIDENCE_SUFFIX):
        raise _FaultyPart(f"{row.place}: the sidecar {visible(file)[:80]} is not in it")
    evidence = read.get(file) or readers.evidence(contents[file], file)
    read[file] = evidence
    if file != attestation.sidecar_name(evidence.id):
        raise _FaultyPart(f"{row.place}: {visible(file)[:80]} is not the name of {evidence.id}")
    criterion = row.text("criterion", optional=True)
    if row.value.get("counted") is not (criterion is not None):
        raise _FaultyPart(f"{row.place}: counted is not whether it decides a criterion")
    return AttestedSidecar(file, evidence, criterion, row.text("commit", optional=True))


def _check_files(record: Record) -> None:
    """Every sidecar is listed, and every other file is the goal, an output or the ledger."""
    digests = {file.name: file.sha256 for file in record.files}
    known = {attestation.goal_name(record.goal.id), attestation.LEDGER_FILE}
    for item in record.items:
        known.add(item.file)
        output = item.evidence.output_ref
        if output is None:
            continue
        known.add(output)
        if digests.get(output) != item.evidence.body.get("output_sha256"):
            raise _FaultyPart(
                f"record: the output {visible(output)[:80]} is not the one that "
                f"{item.evidence.id} was recorded with"
            )
    strangers = [name for name in digests if name not in known]
    if strangers:
        raise _FaultyPart(f"record: {visible(strangers[0])[:80]} belongs to none of its evidence")


def _compare(record: Record, statements: Sequence[tuple[Envelope, dict[str, Any]]]) -> list[str]:
    """Differences between the Statements and those that the record makes."""
    findings = [f"record: {visible(why)}" for why in attestation.record_faults(record)]
    if findings:
        return findings
    expected = {attestation.payload(one): one for one in attestation.statements(record)}
    others = []
    for envelope, statement in statements:
        if expected.pop(envelope.payload, None) is None:
            others.append((envelope, statement))
    waiting = list(expected.values())
    for envelope, statement in others:
        kind = statement["predicateType"]
        pair = next((one for one in waiting if one["predicateType"] == kind), None)
        if pair is None:
            findings.append(
                f"{envelope.place}: nothing in the record makes this {visible(kind)[:80]}"
            )
            continue
        waiting.remove(pair)
        where = _difference(pair, statement)
        findings.append(f"{envelope.place}: is not what the evidence in this bundle says: {where}")
    findings += [f"a Statement is missing: {one['predicateType']}" for one in waiting]
    return findings


def _difference(made: Any, stated: Any, path: str = "") -> str:
    """The first place where two documents differ."""
    if isinstance(made, dict) and isinstance(stated, dict):
        for key in [*made, *(key for key in stated if key not in made)]:
            if made.get(key) != stated.get(key) or (key in made) != (key in stated):
                step = visible(str(key))[:80]
                return _difference(made.get(key), stated.get(key), f"{path}.{step}".lstrip("."))
    if isinstance(made, list) and isinstance(stated, list) and len(made) == len(stated):
        for place, (one, other) in enumerate(zip(made, stated, strict=True)):
            if one != other:
                return _difference(one, other, f"{path}[{place}]")
    if made == stated:
        return "its JSON is written in another way"
    return f"{path} is {visible(repr(stated))[:80]}, and should be {visible(repr(made))[:80]}"


def _record_notes(record: Record) -> list[str]:
    """Notes for a reader that are no findings."""
    notes = []
    missing = [
        i.evidence.output_ref
        for i in record.items
        if i.evidence.output_ref is not None
        and not any(f.name == i.evidence.output_ref and f.content is not None for f in record.files)
    ]
    if missing:
        outputs = counted(len(missing), "output")
        notes.append(
            f"here by digest only: {outputs} (--with-outputs adds what flow gc has not dropped)"
        )
    others = [item for item in record.items if item.criterion is None]
    if others:
        notes.append(f"of others, and deciding nothing: {counted(len(others), 'sidecar')}")
    notes += [f"left out: {count} {visible(what)}" for what, count in record.left_out.items()]
    if any(item.criterion is not None and item.commit is None for item in record.items):
        notes.append("the files that were measured are no commit: only their digest names them")
    return notes


class _Object:
    """A JSON object that must have what is asked for."""

    def __init__(self, value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise _FaultyPart(f"{place} is no object")
        self.value: dict[str, Any] = value
        self.place = place

    def text(self, key: str, *, optional: bool = False) -> Any:
        value = self.value.get(key)
        if optional and value is None:
            return None
        if not isinstance(value, str) or not 0 < len(value) <= 4096:
            raise _FaultyPart(f"{self.place}: {key} is no text")
        return value

    def list(self, key: str) -> list[Any]:
        value = self.value.get(key)
        if not isinstance(value, list):
            raise _FaultyPart(f"{self.place}: {key} is no list")
        return value

    def texts(self, key: str) -> dict[str, str]:
        value = self.value.get(key)
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise _FaultyPart(f"{self.place}: {key} is no object of texts")
        return value

    def numbers(self, key: str) -> dict[str, int]:
        value = self.value.get(key)
        if not isinstance(value, dict) or not all(type(v) is int for v in value.values()):
            raise _FaultyPart(f"{self.place}: {key} is no object of whole numbers")
        return value
