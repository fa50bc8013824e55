"""The format of Flow's files: strict reading, checking, writing and editing (SPEC 1).

The one owner of YAML and JSON Schema. Everything heavy is loaded where it is used: importing this
module costs next to nothing, writing a new file needs no YAML library, and a valid document no
``jsonschema``. Every fault of a file leaves as one :class:`ContractError`.
"""

from __future__ import annotations

from flow.errors import ContractError, Fault, in_file
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.adapters.contracts.rules import Problem
    from flow.adapters.contracts.text import Path
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Goal

WHAT = {"goal": "goal file", "evidence": "evidence file", "verdict": "verdict"}
"""What a message calls a file of this kind."""
MOST_FAULTS = 1000
"""Faults of each kind that are listed of one file: a flood of them must not take minutes."""
MOST_WARNINGS = 100


def parse_yaml(data: bytes, *, file: str, what: str = "YAML file") -> Any:
    """Read a YAML file that holds one mapping of YAML 1.2 core types, strictly.

    ``what`` is what messages call the file. Raises :class:`ContractError` naming every fault, for
    any bytes.
    """
    from flow.adapters.contracts.strict_yaml import read_yaml

    reading = read_yaml(data, file=file, what=what)
    if reading.faults:
        raise ContractError(reading.faults)
    return reading.document


def parse_json(
    data: bytes,
    *,
    file: str,
    what: str = "JSON file",
    limit: int = 1 << 20,
    file_names: bool = False,
) -> Any:
    """Read a JSON file as strictly; the document may be of any JSON type.

    ``limit`` is in bytes. ``file_names`` lets those lone surrogates through that stand for
    undecodable bytes of file names (``baseline.json``). Raises :class:`ContractError` naming every
    fault.
    """
    from flow.adapters.contracts.strict_json import read_json

    return read_json(data, file=file, what=what, limit=limit, file_names=file_names)


def check(kind: str, document: Any, *, file: str) -> tuple[str, ...]:
    """Check a document against its schema and rules; returns warnings.

    ``kind`` is ``goal``, ``evidence``, ``verdict``, ``run``, or one of the documents of a run:
    ``event``, ``baseline``, ``proposal``, ``loop``. Raises :class:`ContractError` naming every
    fault.
    """
    return _checked(kind, document, file=file)


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

    Raises :class:`InputError` for what the format cannot hold (NaN, lone surrogates, other types
    ...).
    """
    from flow.adapters.contracts.dump import dump

    return dump(document)


def edit(text: str, changes: Sequence[tuple[Path, Any]], *, file: str) -> str:
    """Change values in a YAML text and nothing else: comments, order, quoting and line ends stay.

    Each change is a path and the value to stand there; :data:`DELETE` takes a key out. A mapping
    given as value is what is there afterwards: keys it lacks go, others are changed one by one. A
    place one past a list's end appends. Raises :class:`ContractError` where ``text`` is not a valid
    YAML file, :class:`InputError` for a path that leads through something else than mappings and
    lists, and :class:`RefusedError` where the edited text would not read as intended.
    """
    from flow.adapters.contracts.edit import edited

    return edited(text, changes, file=file)


def _read_cached(
    kind: str, data: bytes, file: str, expect_id: str | None, cache_dir: str | None
) -> tuple[Any, tuple[str, ...]]:
    """:func:`_read_checked`, or what the folder ``cache_dir`` knows of the same text."""
    if cache_dir is None:
        return _read_checked(kind, data, file, expect_id)
    from flow.adapters.contracts import cache as contracts_cache

    entry = contracts_cache.load_checked(cache_dir, data, kind)
    if entry is not None and expect_id in (None, entry[0]["metadata"]["id"]):
        return entry[0], tuple(f"{file}: {text}" for text in entry[1])
    document, warnings = _read_checked(kind, data, file, expect_id)
    bare = [text.removeprefix(f"{file}: ") for text in warnings]
    contracts_cache.store_checked(cache_dir, data, document, bare, kind)
    return document, warnings


def _read_checked(
    kind: str, data: bytes, file: str, expect_id: str | None
) -> tuple[Any, tuple[str, ...]]:
    from flow.adapters.contracts.strict_yaml import read_yaml

    reading = read_yaml(data, file=file, what=WHAT[kind])
    warnings = _checked(
        kind,
        reading.document,
        file=file,
        expect_id=expect_id,
        before=reading.faults,
        broken=reading.broken,
    )
    return reading.document, warnings


def _checked(
    kind: str,
    document: Any,
    *,
    file: str,
    expect_id: str | None = None,
    before: Sequence[Fault] = (),
    broken: frozenset[Path] = frozenset(),
) -> tuple[str, ...]:
    from itertools import islice

    from flow.adapters.contracts import check as contracts_check
    from flow.adapters.contracts import rules as contracts_rules

    _refuse_others(kind, document, file)
    fits, unknown = contracts_check.accepts(kind, document)
    problems: list[Problem] = []
    if not fits:
        from flow.adapters.contracts.faults import schema_faults

        problems = schema_faults(kind, document)
    problems += islice(contracts_rules.rule_faults(kind, document), MOST_FAULTS)
    if expect_id is not None:
        problems += _misnamed(document, expect_id)
    faults = [*before, *(_fault_of(p, file) for p in _in_order(problems, document, broken))]
    if not fits and not faults:
        raise AssertionError(f"{file}: the two checks of the schema {kind} disagree")
    if faults:
        raise ContractError(faults)
    remarks = list(islice(contracts_rules.remarks(kind, document), MOST_WARNINGS))
    if unknown:
        remarks += islice(_unknown(kind, document), MOST_WARNINGS)
    return tuple(str(_fault_of(remark, file)) for remark in _in_order(remarks, document))


def _refuse_others(kind: str, document: Any, file: str) -> None:
    """Raise for what is no mapping at all, and for the format of a newer Flow."""
    from flow.adapters.contracts.rules import newer_api_version

    if not isinstance(document, dict):
        raise in_file(file).corrupt(
            f"not a {WHAT.get(kind, 'document of a run')}: it is no mapping",
            "it has to be one mapping of keys and values",
        )
    version = newer_api_version(document)
    if version is not None:
        error = in_file(file, "apiVersion", version).corrupt(
            f"{version} was written for a newer Flow; this one reads flow.synapti.ai/v1 and leaves "
            "the file as it is",
            "update Flow",
        )
        error.code = "newer_version"
        raise error


def _misnamed(document: Any, expected: str) -> list[Problem]:
    metadata = document.get("metadata")
    goal_id = metadata.get("id") if isinstance(metadata, dict) else None
    if not isinstance(goal_id, str) or goal_id == expected:
        return []
    from flow.adapters.contracts.text import one_line

    message = f"{one_line(goal_id)} is not the id in the file's name, {one_line(expected)}"
    return [(("metadata", "id"), message, "rename the file, or correct the id", goal_id)]


def _unknown(kind: str, document: Any) -> Iterator[Problem]:
    from flow.adapters.contracts import check as contracts_check
    from flow.adapters.contracts.faults import nearest_name

    schema, root = contracts_check.schema_of(kind)
    for path, known in contracts_check.unknown_keys(schema, root, document):
        yield path, "is not a known key; it is kept", nearest_name(str(path[-1]), known), None


def _fault_of(problem: Problem, file: str) -> Fault:
    from flow.adapters.contracts.text import dotted_path

    path, message, remedy, value = problem
    return in_file(file, dotted_path(path) or None, value).fault(message, remedy)


def _in_order(
    problems: list[Problem], document: Any, broken: frozenset[Path] = frozenset()
) -> list[Problem]:
    """Problems in the order of the text, without those of values that could not be read at all."""
    if len(problems) < 2 and not broken:
        return problems
    kept = [p for p in problems if not any(p[0][: len(path)] == path for path in broken)]
    places: dict[Path, dict[str, int]] = {}

    def order(problem: Problem) -> tuple[int, ...]:
        positions: list[int] = []
        value = document
        walked: Path = ()
        for step in problem[0]:
            if isinstance(value, dict):
                if walked not in places:
                    places[walked] = {name: place for place, name in enumerate(value)}
                names = places[walked]
                positions.append(names.get(str(step), len(names)))
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int):
                positions.append(step)
                value = value[step] if step < len(value) else None
            walked = (*walked, step)
        return tuple(positions)

    return sorted(kept, key=order)
