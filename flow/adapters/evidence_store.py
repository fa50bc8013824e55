"""Recording evidence: output first, sidecar second, event last (SPEC section 1, FlowEvidence).

Everything happens under the run's lock. A sidecar is published only once the output it names is on
the disk, and a failure leaves neither. A crash between the two leaves an output without a sidecar;
it is no evidence, and the next record that wants the id takes its place. A crash before the event
leaves a sidecar of Flow's own that is shown and never counted.
"""

from __future__ import annotations

import os

from flow.adapters import contracts, events, files, locks, records
from flow.cheap_typing import TYPE_CHECKING, Any, NamedTuple
from flow.core import ids, layout
from flow.core.evidence import APPROVER, EVALUATOR
from flow.core.sha import sha256
from flow.errors import FlowError, InputError, RefusedError, StateError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.ports import RawOutput

SUFFIX_LIMIT = 100_000
"""How many records may want the same id."""

CALLER = "caller"
"""``by`` of evidence that counts for nothing but is kept and shown."""

_BY: Mapping[str, str] = {EVALUATOR: "evaluator", APPROVER: "approver"}


class Recorded(NamedTuple):
    """A sidecar that was just published. ``path`` is below the checkout."""

    id: str
    path: str
    warnings: tuple[str, ...]


def record(
    root: str,
    document: Mapping[str, Any],
    raw: RawOutput | None,
    *,
    suffix: bool,
    now: str,
    cache_dir: str | None = None,
) -> Recorded:
    """Record what Flow itself measured; the raw output's file is consumed.

    With ``suffix`` a taken id gets ``-2``, ``-3`` ...; without, :class:`RefusedError` (``exists``).
    ``cache_dir`` is where the next reader finds the parsed sidecar.
    """
    goal_id, run_id, wanted = _names(document)
    created_by = document["metadata"].get("created_by")
    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        evidence_id = _free_id(root, run_id, wanted, suffix=suffix)

        def put_output(rel: str) -> tuple[str, int]:
            assert raw is not None  # only called where there is one  # noqa: S101
            files.publish_file(root, rel, raw.path)
            return raw.sha256, raw.size

        def tell(fields: dict[str, Any]) -> None:
            # Not synced: the evaluation's own event follows in the same file, and a sidecar whose
            # event a power cut took is shown and not counted.
            kind = str(fields.pop("type"))
            events.append(root, run_id, goal_id, kind, fields, at=now, sync=False)

        done = _publish(
            root,
            _renamed(document, evidence_id),
            put_output if raw is not None else None,
            known=(raw.sha256, raw.size) if raw is not None else None,
            after=tell,
            by=_BY.get(created_by, CALLER),
            cache_dir=cache_dir,
        )
    if raw is not None:
        _drop(raw.path)
    return done


def check_foreign(
    document: Mapping[str, Any], raw_path: str | None, *, run_id: str, file: str
) -> None:
    """Refuse what others must not record: Flow's name, another run, another output's name."""
    contracts.check("evidence", document, file=file)
    _, own_run, evidence_id = _names(document)
    created_by = document["metadata"].get("created_by")
    if created_by in _BY:
        raise InputError(
            f"{created_by} is the name of Flow's own sidecars",
            file=file,
            key="metadata.created_by",
            value=created_by,
            remedy="name who really made it, or leave it out",
        )
    if own_run != run_id:
        raise InputError(
            f"is not the run {run_id} it is recorded for",
            file=file,
            key="metadata.run_id",
            value=own_run,
            remedy="record it with its own --run-id",
        )
    named = document["evidence"].get("output_ref")
    own = f"{evidence_id}.txt"
    if named is not None and named != own:
        raise InputError(
            f"the output of {evidence_id} is kept as {own}",
            file=file,
            key="evidence.output_ref",
            value=named,
            remedy="leave output_ref out and give the file with --raw-output",
        )
    if named is not None and raw_path is None:
        raise InputError(
            "names an output that is not handed over",
            file=file,
            key="evidence.output_ref",
            value=named,
            remedy="give the file with --raw-output",
        )


def record_foreign(
    root: str,
    document: Mapping[str, Any],
    raw_path: str | None,
    *,
    before: Callable[[dict[str, Any]], None],
    environ: Mapping[str, str],
) -> Recorded:
    """Publish what somebody else hands over; ``raw_path`` is copied and left alone.

    ``document`` has passed :func:`check_foreign`. ``before`` gets the fields of the event that the
    caller appends, once everything but the sidecar is on the disk. Secrets in the output, and the
    values of ``environ``'s in the document's texts, are masked on the way; a warning says how many.
    """
    _, run_id, wanted = _names(document)
    own = _renamed(document, wanted)
    warnings = _mask_texts(own["evidence"], environ)
    with locks.exclusive(root, layout.run_lock(run_id), quick=True):
        _free_id(root, run_id, wanted, suffix=False)

        def put_output(rel: str) -> tuple[str, int]:
            from flow.adapters.masking import masker

            masking, source = masker(environ), os.path.abspath(raw_path or "")
            stored = files.copy_new(root, rel, source, limit=records.OUTPUT_LIMIT, through=masking)
            own["evidence"].setdefault("output_bytes", masking.taken)
            if masking.counts:
                earlier = own["evidence"].get("masked") or {}
                own["evidence"]["masked"] = {
                    kind: earlier.get(kind, 0) + masking.counts.get(kind, 0)
                    for kind in sorted({*earlier, *masking.counts})
                }
                warnings.append(f"masked in the output: {_counted(masking.counts)}")
            return stored

        done = _publish(
            root,
            own,
            put_output if raw_path is not None else None,
            before=before,
            by=CALLER,
        )
    return done._replace(warnings=(*done.warnings, *warnings))


def _counted(counts: Mapping[str, int]) -> str:
    each = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()))
    total = sum(counts.values())
    return f"{total} secret{'' if total == 1 else 's'} ({each})"


def _mask_texts(body: dict[str, Any], environ: Mapping[str, str]) -> list[str]:
    """Mask known values where a document explains itself; its command stays as it is."""
    from flow.adapters.masking import known, masked_text

    values = [value.decode("utf-8", "surrogateescape") for value in known(environ)]
    changed: list[str] = []

    def clean(key: str, text: Any) -> Any:
        if not isinstance(text, str) or not any(value in text for value in values):
            return text
        changed.append(key)
        return masked_text(text, environ)

    for key in ("result", "reason", "note", "limitations", "negative_cases"):
        found = body.get(key)
        if isinstance(found, list):
            body[key] = [clean(key, text) for text in found]
        elif found is not None:
            body[key] = clean(key, found)
    return [f"masked a known secret in evidence.{key}" for key in dict.fromkeys(changed)]


def event_fields(document: Mapping[str, Any], sidecar_sha256: str, by: str) -> dict[str, Any]:
    """The ``evidence`` event: who recorded which bytes. ``Records.counted`` looks for it."""
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


def _publish(
    root: str,
    document: dict[str, Any],
    put_output: Callable[[str], tuple[str, int]] | None,
    *,
    known: tuple[str, int] | None = None,
    before: Callable[[dict[str, Any]], None] | None = None,
    after: Callable[[dict[str, Any]], None] | None = None,
    by: str,
    cache_dir: str | None = None,
) -> Recorded:
    """Publish output and sidecar in this order; a failure takes back what is there.

    ``before`` and ``after`` the sidecar get its event's fields. ``known`` is the digest and size
    of an output that was digested already.
    """
    _, run_id, evidence_id = _names(document)
    rel = layout.evidence_file(run_id, evidence_id)
    output = layout.output_file(run_id, evidence_id)
    if known is not None:
        _name_output(document, output, *known)
    warnings = contracts.check("evidence", document, file=rel)  # before anything is touched
    undo: list[str] = []
    begun = output
    try:
        # No sidecar has this id, so an output that does was left by a crash (see above).
        files.remove(root, output)
        if put_output is not None:
            digest, size = put_output(output)
            undo.append(output)
            if known is None:
                _name_output(document, output, digest, size)
                warnings = contracts.check("evidence", document, file=rel)
        data = contracts.dump_yaml(document).encode("utf-8")
        fields = event_fields(document, sha256(data).hexdigest(), by)
        if before is not None:
            before(fields)
        begun = rel
        files.publish_new(root, rel, data)
        undo.append(rel)
        if after is not None:
            after(fields)
    except BaseException as error:
        if not isinstance(error, FlowError):  # an interrupt may come when it is there already
            undo.append(begun)
        for path in reversed(undo):
            _take_back(root, path)
        raise
    if cache_dir is not None:
        from flow.adapters import contracts_cache

        bare = [text.removeprefix(f"{rel}: ") for text in warnings]
        contracts_cache.store(cache_dir, data, document, bare, "evidence")
    return Recorded(evidence_id, rel, warnings)


def _name_output(document: dict[str, Any], output: str, digest: str, size: int) -> None:
    body = document["evidence"]
    body["output_ref"] = os.path.basename(output)
    body["output_sha256"] = digest
    body.setdefault("output_bytes", size)


def _names(document: Mapping[str, Any]) -> tuple[str, str, str]:
    """(goal id, run id, evidence id), each one checked before any path is made of it."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        raise InputError("is not a FlowEvidence document", key="metadata", remedy="see flow schema")
    return (
        ids.goal_id(metadata.get("goal")),
        ids.run_id(metadata.get("run_id")),
        ids.evidence_id(metadata.get("id")),
    )


def _free_id(root: str, run_id: str, wanted: str, *, suffix: bool) -> str:
    """``wanted`` if no sidecar has it, else with a free suffix. Probes; never lists.

    The Stop hook may want the same id hundreds of times, so the number is doubled until one is
    free, and then halved in between.
    """

    def taken(number: int) -> bool:
        return files.exists(root, layout.evidence_file(run_id, _numbered(wanted, number)))

    if not taken(1):
        return wanted
    if not suffix:
        raise RefusedError(
            f"evidence {wanted} is recorded already",
            code="exists",
            file=layout.evidence_file(run_id, wanted),
            key="metadata.id",
            value=wanted,
            remedy="evidence is append-only; record a correction under a new id",
        )
    low, high = 1, 2
    while taken(high):
        low, high = high, high * 2
        if low > SUFFIX_LIMIT:
            raise StateError(f"no free id is left for evidence {wanted}", remedy="start a new run")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if taken(middle) else (low, middle)
    return _numbered(wanted, high)


def _numbered(wanted: str, number: int) -> str:
    """``wanted``, ``wanted-2``, ...; cut where the number would make it too long."""
    tail = f"-{number}" if number > 1 else ""
    return wanted[: 200 - len(tail)] + tail


def _renamed(document: Mapping[str, Any], evidence_id: str) -> dict[str, Any]:
    """A copy that can be completed without touching the caller's document."""
    return {
        **document,
        "metadata": {**document["metadata"], "id": evidence_id},
        "evidence": dict(document["evidence"]),
    }


def _take_back(root: str, rel: str) -> None:
    try:
        files.remove(root, rel)
    except FlowError:
        pass  # the first error is the one to tell; what is left is named by the readers


def _drop(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # the published name holds the bytes; the work folder is cleared by its owner
