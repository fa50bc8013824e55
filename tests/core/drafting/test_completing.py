"""What a file that is handed in may lack."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from flow.core.drafting.completing import (
    SCHEMA_LINE,
    Surroundings,
    completion,
    with_schema_line,
)

HERE = Surroundings("demo", "work", "2026-11-21T12:00:00Z")
WHOLE: dict[str, Any] = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowGoal",
    "metadata": {"id": "greet", "created_at": HERE.now},
    "scope": {"repo": "demo", "branch": "work"},
    "objective": {
        "outcome": "o",
        "acceptance_criteria": [{"id": "AC1", "text": "t", "status": "pending"}],
    },
    "evaluator": {"type": "hybrid"},
    "lifecycle": {"status": "active", "turns_evaluated": 0},
}


def without(*path: str | int) -> dict[str, Any]:
    document = copy.deepcopy(WHOLE)
    part: Any = document
    for step in path[:-1]:
        part = part[step]
    del part[path[-1]]
    return document


CRITERION = ("objective", "acceptance_criteria", 0)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("apiVersion",), "flow.synapti.ai/v1", True),
        (("kind",), "FlowGoal", True),
        (("metadata", "created_at"), HERE.now, False),
        (("scope",), {"repo": "demo", "branch": "work"}, False),
        (("scope", "repo"), "demo", False),
        (("scope", "branch"), "work", False),
        ((*CRITERION, "id"), "AC1", False),
        ((*CRITERION, "status"), "pending", False),
        (("lifecycle",), {"status": "active", "turns_evaluated": 0}, False),
        (("lifecycle", "status"), "active", False),
    ],
)
def test_each_thing_that_flow_writes_is_added(path: Any, value: Any, told: bool) -> None:
    added = completion(without(*path), HERE)
    assert added.changes == ((path, value),)
    assert len(added.warnings) == told
    assert all(path[0] in warning and str(value) in warning for warning in added.warnings)


def test_a_whole_file_lacks_nothing() -> None:
    assert completion(WHOLE, HERE) == ((), ())


@pytest.mark.parametrize(
    "path", [("metadata",), ("metadata", "id"), ("evaluator",), ("objective",)]
)
def test_what_flow_cannot_know_is_not_made_up(path: Any) -> None:
    assert completion(without(*path), HERE).changes == ()


@pytest.mark.parametrize("value", [None, 3, "x", []])
@pytest.mark.parametrize("key", ["metadata", "scope", "objective", "lifecycle", "apiVersion"])
def test_what_is_there_stays_whatever_it_is(key: str, value: Any) -> None:
    assert completion({**WHOLE, key: value}, HERE).changes == ()


@pytest.mark.parametrize("document", [None, [], "x", 3])
def test_what_is_no_mapping_is_left_alone(document: Any) -> None:
    assert completion(document, HERE) == ((), ())


@pytest.mark.parametrize("row", [None, "x", 3, []])
def test_a_criterion_of_another_shape_is_left_alone(row: Any) -> None:
    document = copy.deepcopy(WHOLE)
    document["objective"]["acceptance_criteria"] = [row, {"text": "t", "status": "pending"}]
    path = ("objective", "acceptance_criteria", 1, "id")
    assert completion(document, HERE).changes == ((path, "AC1"),)


def test_a_detached_head_has_no_branch() -> None:
    added = completion(without("scope"), HERE._replace(branch=None))
    assert added.changes == ((("scope",), {"repo": "demo", "branch": "none"}),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n", f"{SCHEMA_LINE}\na: 1\n"),
        ("a: 1\r\nb: 2\r\n", f"{SCHEMA_LINE}\r\na: 1\r\nb: 2\r\n"),
        ("---\na: 1\n", f"{SCHEMA_LINE}\n---\na: 1\n"),
        (f"a: 1\n{SCHEMA_LINE}\n", f"{SCHEMA_LINE}\na: 1\n{SCHEMA_LINE}\n"),
        (f"{SCHEMA_LINE}\na: 1\n", None),
        (f"# mine\n\n{SCHEMA_LINE}\na: 1\n", None),
        ("# yaml-language-server: $schema=other.json\na: 1\n", None),
    ],
)
def test_the_line_for_editors_stands_on_top_once(text: str, expected: str | None) -> None:
    assert with_schema_line(text) == (expected or text)
