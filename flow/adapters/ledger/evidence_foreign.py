"""Evidence that a caller hands over: stored, shown, given to a judge, and never counted."""

from __future__ import annotations

import os

from flow.adapters.contracts import formats
from flow.adapters.fs import files, locks
from flow.adapters.ledger.evidence_store import (
    BY,
    CALLER,
    PublishedSidecar,
    checked_ids,
    finish_record,
    free_id,
    publish,
    renamed,
)
from flow.adapters.process.redaction import redacted_text, redactor
from flow.adapters.process.secret_values import secret_values
from flow.core import layout
from flow.core.goal import ids
from flow.core.text.display import visible
from flow.errors import in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.adapters.chain.run_record import RunRecord


def as_named_here(
    document: Mapping[str, Any], run_id: str
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The document with its id and its output as Flow names them, and a warning for each change.

    Capital letters of an id become small ones, and an output loses the run's own folder
    (``evidence/X``, ``.flow/runs/<run>/evidence/X``). Other faults stay, to be refused later.
    """
    metadata, body = document.get("metadata"), document.get("evidence")
    if not isinstance(metadata, dict) or not isinstance(body, dict):
        return document, ()
    warnings = []
    given, named = metadata.get("id"), body.get("output_ref")
    own = ids.folded_evidence_id(given)
    if own != given:
        metadata = {**metadata, "id": own}
        warnings.append(f"the evidence id {given} is kept as {own}")
    output = _without_folder(named, run_id)
    if isinstance(output, str) and own != given and output == f"{given}.txt":
        output = f"{own}.txt"
    if output != named:
        body = {**body, "output_ref": output}
        warnings.append(f"the output {visible(str(named))} is kept as {output}")
    return {**document, "metadata": metadata, "evidence": body}, tuple(warnings)


def _without_folder(named: Any, run_id: str) -> Any:
    if not isinstance(named, str):
        return named
    for folder in (f"{layout.evidence_dir(run_id)}/", "evidence/"):
        if named.startswith(folder):
            name = named.removeprefix(folder)
            return name if ids.OUTPUT_NAME.fits(name) else named
    return named


def check_foreign(
    document: Mapping[str, Any], raw_path: str | None, *, run_id: str, file: str
) -> None:
    """Refuse a record that only Flow may make: its name, another run, another output's name."""
    formats.check("evidence", document, file=file)
    _, own_run, evidence_id = checked_ids(document)
    created_by = document["metadata"].get("created_by")
    if created_by in BY:
        raise in_file(file, "metadata.created_by", created_by).invalid(
            f"{created_by} is the name of Flow's own sidecars",
            "name who really made it, or leave it out",
        )
    if own_run != run_id:
        raise in_file(file, "metadata.run_id", own_run).invalid(
            f"is not the run {run_id} it is recorded for", "record it with its own --run-id"
        )
    body, own = document["evidence"], f"{evidence_id}.txt"
    output = body.get("output_ref")
    if output not in (None, own):
        raise in_file(file, "evidence.output_ref", output).invalid(
            f"the output of {evidence_id} is kept as {own}",
            "leave output_ref out and give the file with --raw-output",
        )
    for key in ("output_ref", "output_sha256"):
        if body.get(key) is not None and raw_path is None:  # the ledger would miss the output
            raise in_file(file, f"evidence.{key}", body[key]).invalid(
                "names an output that is not handed over", "give the file with --raw-output"
            )


def record_foreign(
    run_record: RunRecord,
    document: Mapping[str, Any],
    raw_path: str | None,
    *,
    before: Callable[[dict[str, Any]], None],
    now: str,
    environ: Mapping[str, str],
) -> PublishedSidecar:
    """Publish evidence that a caller hands over; ``raw_path`` is copied and left alone.

    ``document`` has passed :func:`check_foreign`. ``before`` gets the fields of the event that the
    caller appends, once everything but the sidecar is on the disk. Secrets in the output, and those
    of ``environ`` in the document's texts, are redacted; warnings say so.
    """
    _, run_id, wanted = checked_ids(document)
    root, run = run_record.root, run_record.run(run_id)
    copied = renamed(document, wanted)
    body = copied["evidence"]
    warnings = _redact_texts(body, environ)

    def store_output(rel: str) -> tuple[str, int]:
        redaction, source = redactor(environ), os.path.abspath(raw_path or "")
        stored = files.copy_new(root, rel, source, limit=layout.OUTPUT_LIMIT, through=redaction)
        body.setdefault("output_bytes", redaction.bytes_fed)
        if redaction.counts:
            earlier = body.get("masked") or {}
            body["masked"] = {
                kind: earlier.get(kind, 0) + redaction.counts.get(kind, 0)
                for kind in sorted({*earlier, *redaction.counts})
            }
            warnings.append(f"redacted in the output: {_counted(redaction.counts)}")
        return stored

    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        last = finish_record(run)
        free_id(root, run_id, wanted, suffix=False)
        put = store_output if raw_path is not None else None
        published = publish(run, copied, put, last=last, now=now, before=before, by=CALLER)
    return published._replace(warnings=(*published.warnings, *warnings))


def _counted(counts: Mapping[str, int]) -> str:
    each = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()))
    total = sum(counts.values())
    return f"{total} secret{'' if total == 1 else 's'} ({each})"


def _redact_texts(body: dict[str, Any], environ: Mapping[str, str]) -> list[str]:
    """Redact known values in a document's explanations; its command stays unchanged."""
    values = [value.decode("utf-8", "surrogateescape") for value in secret_values(environ)]
    changed: list[str] = []

    def clean(key: str, text: Any) -> Any:
        if not isinstance(text, str) or not any(value in text for value in values):
            return text
        changed.append(key)
        return redacted_text(text, environ)

    for key in ("result", "reason", "note", "limitations", "negative_cases"):
        value = body.get(key)
        if isinstance(value, list):
            body[key] = [clean(key, text) for text in value]
        elif value is not None:
            body[key] = clean(key, value)
    return [f"redacted a known secret in evidence.{key}" for key in dict.fromkeys(changed)]
