"""What a file that is handed in may lack."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from flow.core.drafting.completing import (
    SCHEMA_LINE,
    completion,
    current_fields,
    own_fields,
    with_schema_line,
)

HERE = own_fields("demo", "work", "2026-11-21T12:00:00Z")
WHOLE: dict[str, Any] = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowGoal",
    "metadata": {"id": "greet", "created_at": HERE.created_at},
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
        (("metadata", "created_at"), HERE.created_at, False),
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


LIVE = {
    **WHOLE,
    "metadata": {"id": "greet", "created_at": "2026-01-01T00:00:00Z"},
    "scope": {"repo": "live", "branch": "its-own", "issue": 7, "base_commit": "a" * 40},
    "objective": {
        "outcome": "o",
        "acceptance_criteria": [
            {"id": "AC2", "text": "t", "status": "pass"},
            {"id": "AC1", "text": "other", "status": "pass"},
            {"id": "AC5", "text": "t", "status": "pass"},
        ],
    },
    "lifecycle": {"status": "blocked", "turns_evaluated": 3},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("apiVersion",), "flow.synapti.ai/v1"),
        (("kind",), "FlowGoal"),
        (("metadata", "created_at"), "2026-01-01T00:00:00Z"),
        (("scope",), LIVE["scope"]),
        (("scope", "repo"), "live"),
        (("scope", "branch"), "its-own"),
        ((*CRITERION, "id"), "AC2"),
        ((*CRITERION, "status"), "pending"),
        (("lifecycle",), LIVE["lifecycle"]),
        (("lifecycle", "status"), "blocked"),
    ],
)
def test_a_live_goals_file_is_completed_from_it(path: Any, value: Any) -> None:
    assert completion(without(*path), current_fields(LIVE)).changes == ((path, value),)


@pytest.mark.parametrize(
    ("rows", "ids"),
    [
        ([("", "t"), ("", "other")], ["AC2", "AC1"]),
        ([("", "t"), ("", "t")], ["AC2", "AC3"]),
        ([("AC2", "t"), ("", "t")], ["AC3"]),
        ([("", "new"), ("", "other")], ["AC3", "AC1"]),
        ([("AC1", "x"), ("", "other"), ("", "t")], ["AC3", "AC2"]),
    ],
)
def test_a_criterion_gets_the_id_of_its_text_and_never_another_ones(
    rows: list[tuple[str, str]], ids: list[str]
) -> None:
    document = copy.deepcopy(WHOLE)
    document["objective"]["acceptance_criteria"] = [
        {**({"id": name} if name else {}), "text": text, "status": "pending"} for name, text in rows
    ]
    added = completion(document, current_fields(LIVE)).changes
    assert [value for path, value in added if path[-1] == "id"] == ids


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
    added = completion(without("scope"), own_fields("demo", None, HERE.created_at))
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
