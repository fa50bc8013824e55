"""A document checked against its schema and its rules: every fault of it at once, in its order.

``jsonschema`` is loaded only if the document has a fault.
"""

from __future__ import annotations

from itertools import islice

from flow.adapters.contracts import check, rules
from flow.adapters.contracts.rules import Problem
from flow.adapters.contracts.text import MOST_FAULTS, dotted_path, one_line
from flow.core import layout
from flow.errors import ContractError, in_file
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.adapters.contracts.text import Path
    from flow.errors import Fault

WHAT = {"goal": "goal file", "evidence": "evidence file", "verdict": "verdict"}
"""Name of each kind of file in messages."""
MOST_WARNINGS = 100


def read_document(
    kind: str, data: bytes, file: str, expect_id: str | None
) -> tuple[Any, tuple[str, ...]]:
    """Read a goal or an evidence file from YAML, and check it: the document, and warnings."""
    from flow.adapters.contracts.strict_yaml import handed_on, read_yaml

    if len(data) > layout.GOAL_TEXT_LIMIT:
        from flow.adapters.contracts.large_files import read_large

        reading = read_large(kind, data, file=file, what=WHAT[kind])
    else:
        reading = handed_on(data) or read_yaml(data, file=file, what=WHAT[kind])
    warnings = check_document(
        kind,
        reading.document,
        file=file,
        expect_id=expect_id,
        before=reading.faults,
        broken=reading.broken,
    )
    return reading.document, warnings


def check_document(
    kind: str,
    document: Any,
    *,
    file: str,
    expect_id: str | None = None,
    before: Sequence[Fault] = (),
    broken: frozenset[Path] = frozenset(),
) -> tuple[str, ...]:
    """Check a document against its schema and rules; returns warnings.

    ``before`` are faults found while it was read, ``broken`` the places that could not be read.
    """
    _refuse_others(kind, document, file)
    fits, unknown = check.accepts(kind, document)
    problems: list[Problem] = []
    if not fits:
        from flow.adapters.contracts.faults import schema_faults

        problems = schema_faults(kind, document)
    problems += islice(rules.rule_faults(kind, document), MOST_FAULTS)
    if expect_id is not None:
        problems += _misnamed(document, expect_id)
    faults = [*before, *(_fault_of(p, file) for p in _in_order(problems, document, broken))]
    if not fits and not faults:
        raise AssertionError(f"{file}: the two checks of the schema {kind} disagree")
    if faults:
        raise ContractError(faults)
    remarks = list(islice(rules.remarks(kind, document), MOST_WARNINGS))
    if unknown:
        remarks += islice(_unknown(kind, document), MOST_WARNINGS)
    return tuple(str(_fault_of(remark, file)) for remark in _in_order(remarks, document))


def _refuse_others(kind: str, document: Any, file: str) -> None:
    """Raise for a document that is no mapping, and for the format of a newer Flow."""
    if not isinstance(document, dict):
        raise in_file(file).corrupt(
            f"not a {WHAT.get(kind, 'document of a run')}: it is no mapping",
            "it has to be one mapping of keys and values",
        )
    version = rules.newer_api_version(document)
    if version is not None:
        error = in_file(file, "apiVersion", version).corrupt(
            f"{version} was written for a newer Flow; this one reads flow.synapti.ai/v1 and leaves "
            "the file as it is",
            "update Flow",
        )
        error.code = "newer_version"
        raise error


def _misnamed(document: Any, expected: str) -> list[Problem]:
    goal_id = object_of(document.get("metadata")).get("id")
    if not isinstance(goal_id, str) or goal_id == expected:
        return []
    message = f"{one_line(goal_id)} is not the id in the file's name, {one_line(expected)}"
    remedy = "rename the file, or correct the id"
    return [Problem(("metadata", "id"), message, remedy, goal_id)]


def _unknown(kind: str, document: Any) -> Iterator[Problem]:
    schema, root = check.schema_of(kind)
    for path, known in check.unknown_keys(schema, root, document):
        from flow.core.text.near import nearest_or_all  # most documents have none

        yield Problem(
            path, "is not a known key; it is kept", nearest_or_all(str(path[-1]), known), None
        )


def _fault_of(problem: Problem, file: str) -> Fault:
    path, message, remedy, value = problem
    return in_file(file, dotted_path(path) or None, value).fault(message, remedy)


def _in_order(
    problems: list[Problem], document: Any, broken: frozenset[Path] = frozenset()
) -> list[Problem]:
    """Problems in the order of the text, without those of values that could not be read at all."""
    if len(problems) < 2 and not broken:
        return problems
    kept = [p for p in problems if not any(p.path[: len(path)] == path for path in broken)]
    places: dict[Path, dict[str, int]] = {}

    def order(problem: Problem) -> tuple[int, ...]:
        positions: list[int] = []
        value = document
        walked: Path = ()
        for step in problem.path:
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
