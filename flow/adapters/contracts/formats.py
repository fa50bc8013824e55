"""The format of Flow's files: strict reading, checking, writing and editing (SPEC 1).

The one owner of YAML and JSON Schema. Heavy modules are loaded only when used: importing this
module costs next to nothing, writing a new file needs no YAML library, and a valid document no
``jsonschema``. Every fault of a file leaves as one :class:`ContractError`.
"""

from __future__ import annotations

from flow.errors import ContractError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.contracts.text import Path
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Goal


def parse_yaml(data: bytes, *, file: str, what: str = "YAML file") -> Any:
    """Read a YAML file that holds one mapping of YAML 1.2 core types, strictly.

    ``what`` is the file's name in messages. Raises :class:`ContractError` naming every fault, for
    any bytes.
    """
    from flow.adapters.contracts.strict_yaml import read_yaml, with_whole_characters

    reading = read_yaml(with_whole_characters(data), file=file, what=what)
    if reading.faults:
        raise ContractError(reading.faults)
    return reading.document


def parse_json(data: bytes, *, file: str, what: str = "JSON file", limit: int = 1 << 20) -> Any:
    """Read a JSON file as strictly; the document may be of any JSON type.

    ``limit`` is in bytes. Raises :class:`ContractError` naming every fault.
    """
    from flow.adapters.contracts.strict_json import read_json

    return read_json(data, file=file, what=what, limit=limit)


def check(kind: str, document: Any, *, file: str) -> tuple[str, ...]:
    """Check a document against its schema and rules; returns warnings.

    ``kind`` is ``goal``, ``evidence``, ``verdict``, ``run``, or one of the documents of a run:
    ``event``, ``baseline``, ``proposal``, ``loop``. Raises :class:`ContractError` naming every
    fault.
    """
    from flow.adapters.contracts.validate import check_document

    return check_document(kind, document, file=file)


def read_goal(
    data: bytes, *, file: str, expect_id: str | None = None, cache_dir: str | None = None
) -> tuple[Goal, tuple[str, ...]]:
    """Read a goal file: the goal, and warnings.

    ``expect_id`` is the id that the file's name says. ``cache_dir`` is a folder of the user's own
    (mode 0700) for parsed goals; one that others could write to is not used. Raises
    :class:`ContractError`.
    """
    from flow.core.goal.model import goal_from_document

    document, warnings = _read_cached("goal", data, file, expect_id, cache_dir)
    return goal_from_document(document), warnings


def read_evidence(
    data: bytes, *, file: str, expect_id: str | None = None, cache_dir: str | None = None
) -> tuple[Evidence, tuple[str, ...]]:
    """Read an evidence sidecar: the evidence, and warnings; ``cache_dir`` as for :func:`read_goal`.

    Raises :class:`ContractError`.
    """
    from flow.core.evidence.model import evidence_from_document

    document, warnings = _read_cached("evidence", data, file, expect_id, cache_dir)
    return evidence_from_document(document), warnings


def dump_yaml(document: Any) -> str:
    """The text of a new YAML file; :func:`parse_yaml` reads exactly ``document`` from it.

    Raises :class:`InputError` for values that the format cannot hold (NaN, lone surrogates, other
    types ...).
    """
    from flow.adapters.contracts.dump import dump

    return dump(document)


def edit(text: str, changes: Sequence[tuple[Path, Any]], *, file: str, document: Any = None) -> str:
    """Change values in a YAML text and nothing else: comments, order, quoting and line ends stay.

    Each change is a path and its new value; :data:`DELETE` takes a key out. A mapping given as
    value replaces the old one: keys it lacks are removed, others are changed one by one. A place
    one past a list's end appends. ``document`` is the content of ``text``, if the caller has read
    it; it is not changed. Raises :class:`ContractError` if ``text`` is not a valid YAML file,
    :class:`InputError` for a path that leads through something else than mappings and lists, and
    :class:`RefusedError` if the edited text would not read as intended.
    """
    from flow.adapters.contracts.edit import edited

    return edited(text, changes, file=file, document=document)


def _read_cached(
    kind: str, data: bytes, file: str, expect_id: str | None, cache_dir: str | None
) -> tuple[Any, tuple[str, ...]]:
    """The checked document, from the folder ``cache_dir`` if that has the same text."""
    if cache_dir is not None:
        from flow.adapters.contracts import cache

        entry = cache.load_checked(cache_dir, data, kind)
        if entry is not None and expect_id in (None, entry[0]["metadata"]["id"]):
            return entry[0], tuple(f"{file}: {text}" for text in entry[1])
    from flow.adapters.contracts.validate import read_document

    document, warnings = read_document(kind, data, file, expect_id)
    if cache_dir is not None:
        bare = [text.removeprefix(f"{file}: ") for text in warnings]
        cache.store_checked(cache_dir, data, document, bare, kind)
    return document, warnings
