"""Writing ``last-verdict.json`` (SPEC 3, step 8, and ``flow-record-verdict.sh``).

The one piece of code that writes it, for all callers. The next evaluation compares with the file
and people look at it; it is never a source of truth: if it is missing or torn, the goal has the
last result.
"""

from __future__ import annotations

from flow.adapters.contracts import formats, schemas
from flow.adapters.fs import clock, inputs
from flow.core import layout
from flow.core.goal import ids
from flow.core.text.display import clip
from flow.errors import in_file
from flow.startup import json
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.chain.session_writes import RunWrites

INLINE = "verdict"
"""Name in messages of a document that comes from no file."""


def write_verdict(
    run: RunWrites, document: Mapping[str, Any], *, now: str, sync: bool = True, file: str = INLINE
) -> tuple[str, tuple[str, ...]]:
    """Replace the run's ``last-verdict.json``; returns its path below the checkout, and warnings.

    ``now`` becomes ``recorded_at``, ``file`` is the document's name in messages. Over-long texts
    are cut with a warning. Without ``sync`` a power cut may leave the old one, an empty one or
    none. Raises :class:`ContractError` with every fault at once, :class:`InputError` for the run
    id, :class:`RefusedError` if the path is a symlink, :class:`StorageError`.
    """
    run_id = ids.run_id(run.run_id)
    _refuse_unwritable(document, file)
    stored, warnings = checked(document, run_id=run_id, file=file)
    stored["recorded_at"] = now
    text = json.dumps(stored, indent=2, ensure_ascii=True) + "\n"
    if len(text) > layout.VERDICT_LIMIT:
        raise in_file(file).corrupt(f"is larger than {layout.VERDICT_LIMIT} bytes", "shorten it")
    rel = layout.verdict_file(run_id)
    data = text.encode("ascii")
    run.replace(rel, data, sync=sync)
    return rel, warnings


def read_verdict(file: str) -> Any:
    """The JSON value in the file that ``--verdict-file`` names."""
    data = inputs.read(file, "--verdict-file", limit=layout.VERDICT_LIMIT)
    return formats.parse_json(data, file=file, limit=layout.VERDICT_LIMIT)


def record_verdict(
    run_record: RunRecord,
    document: Mapping[str, Any],
    run_id: str,
    source: str | None,
    file: str = INLINE,
) -> tuple[str, tuple[str, ...], str]:
    """Write a run's verdict and commit the run; returns its path, warnings, and time."""
    if source is not None:
        document = {**document, "source": source}
    now = clock.now()
    written = write_verdict(run_record.run(run_id), document, now=now, file=file)
    run_record.commit(run_id)
    return (*written, now)


def checked(
    document: Mapping[str, Any], *, run_id: str, file: str = INLINE
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The verdict as it is stored, and warnings; :class:`ContractError` names every fault."""
    if not isinstance(document, dict):
        formats.check("verdict", document, file=file)  # raises with the reason
    stored = dict(document)
    cuts = []
    for key, limit in _caps().items():
        text = stored.get(key)
        if isinstance(text, str) and len(text) > limit:
            stored[key] = clip(text, limit)
            cuts.append(f"{file}: {key}: is cut from {len(text)} to {limit} characters")
    warnings = formats.check("verdict", stored, file=file)
    if stored.get("run_id", run_id) not in (run_id, ""):
        raise in_file(file, "run_id", stored["run_id"]).corrupt(
            f"is not the run {run_id} it is recorded for", "record it with its own --run-id"
        )
    return stored, (*cuts, *warnings)


def _refuse_unwritable(document: object, file: str) -> None:
    """Refuse values of a Python caller that no JSON file can hold (NaN, a set ...)."""
    try:
        json.dumps(document, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise in_file(file).corrupt(
            f"is no JSON value: {error!s:.200}", "use plain JSON types"
        ) from None


def _caps() -> dict[str, int]:
    """Field → the most characters it may have, from the schema."""
    fields = schemas.load("verdict")["properties"]
    return {key: rule["maxLength"] for key, rule in fields.items() if "maxLength" in rule}
