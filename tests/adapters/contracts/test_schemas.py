"""The schema files: valid, described, found, and in step with the code that uses them."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from flow.adapters.contracts import check as contracts_check
from flow.adapters.contracts import faults as contracts_faults
from flow.adapters.contracts import schemas
from flow.core.decision import verdict
from flow.core.evidence import model as evidence_model
from flow.core.goal import ids, lifecycle
from flow.core.goal import model as goal_model
from flow.errors import InputError, StorageError
from flow.startup.typing import get_args

if TYPE_CHECKING:
    from collections.abc import Iterator

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def walk(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a schema file."""
    yield node
    for key, value in node.items():
        if key in ("properties", "$defs"):
            for inner in value.values():
                yield from walk(inner)
        elif key in ("items", "additionalProperties", "contains", "not", "if", "then"):
            if isinstance(value, dict):
                yield from walk(value)
        elif key in ("allOf", "anyOf"):
            for inner in value:
                yield from walk(inner)


@pytest.mark.parametrize("name", schemas.NAMES)
def test_each_schema_is_valid_2020_12_with_an_id(name: str) -> None:
    schema = json.loads(schemas.text(name))
    assert schema["$schema"] == DRAFT
    assert schema["$id"].endswith(f"/v1/{name}.schema.json")
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", schemas.NAMES)
def test_every_property_has_a_title_and_a_description_for_the_editor(name: str) -> None:
    root = schemas.load(name)
    # The parts of if, then and contains have no title: they only point at keys described elsewhere.
    bare = [
        key
        for schema in walk(root)
        for key, inner in schema.get("properties", {}).items()
        if "title" in schema
        and not {"title", "description"} <= contracts_check.resolve(inner, root).keys()
    ]
    assert bare == []


@pytest.mark.parametrize("name", schemas.NAMES)
def test_the_file_is_where_an_editor_can_be_pointed_at(name: str) -> None:
    assert os.path.isabs(schemas.path(name))
    with open(schemas.path(name), encoding="utf-8") as stream:
        assert stream.read() == schemas.text(name)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"rubric.*goal, evidence, run, verdict"):
        schemas.path("rubric")


def test_an_installation_without_its_schemas_says_so(monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setattr(schemas, "_FOLDERS", (str(tmp_path / "a"), str(tmp_path / "b")))
    with pytest.raises(StorageError, match="missing from this installation"):
        schemas.text("goal")


def test_the_packaged_schemas_win_over_a_folder_beside_the_package(
    monkeypatch: Any, tmp_path: Any
) -> None:
    packaged = tmp_path / "_data"
    packaged.mkdir()
    (packaged / "goal.schema.json").write_text("{}")
    monkeypatch.setattr(schemas, "_FOLDERS", (str(packaged), schemas._FOLDERS[1]))
    assert schemas.text("goal") == "{}"


def test_definitions_that_share_a_name_are_the_same_in_every_file() -> None:
    seen: dict[str, Any] = {}
    for name in schemas.NAMES:
        for key, definition in schemas.load(name)["$defs"].items():
            assert seen.setdefault(key, definition) == definition


@pytest.mark.parametrize("name", schemas.NAMES)
def test_patterns_end_where_the_text_ends_and_each_has_words(name: str) -> None:
    for schema in walk(schemas.load(name)):
        pattern = schema.get("pattern")
        if pattern is None:
            continue
        assert r"\$" not in pattern
        assert not re.search(r"\[[^\]]*\$", pattern)
        assert pattern in (r"\S", r"^[^\u0000]*$") or pattern in contracts_faults.SHAPES


@pytest.mark.parametrize("name", schemas.NAMES)
def test_every_reference_leads_somewhere(name: str) -> None:
    root = schemas.load(name)
    used = {schema["$ref"] for schema in walk(root) if "$ref" in schema}
    assert used == {f"#/$defs/{key}" for key in root["$defs"]}


@pytest.mark.parametrize(
    ("definition", "values"),
    [
        ("status", lifecycle.STATUSES),
        ("terminal", get_args(lifecycle.Terminal)),
        ("result", get_args(verdict.Result)),
        ("verdictName", get_args(verdict.VerdictName)),
        ("outcome", get_args(evidence_model.Outcome)),
    ],
)
def test_the_enums_are_those_of_the_code(definition: str, values: tuple[str, ...]) -> None:
    roots = [schemas.load(name)["$defs"] for name in schemas.NAMES]
    found = [root[definition]["enum"] for root in roots if definition in root]
    assert found
    assert all(sorted(enum) == sorted(values) for enum in found)


@pytest.mark.parametrize(
    ("definition", "shape"),
    [
        ("goalId", ids.GOAL_ID),
        ("evidenceId", ids.EVIDENCE_ID),
        ("criterionId", ids.CRITERION_ID),
    ],
)
def test_the_ids_are_those_of_the_code(definition: str, shape: ids.IdPattern) -> None:
    schema = schemas.load("evidence")["$defs"][definition]
    assert schema["pattern"] == f"^{shape.pattern}$"


@pytest.mark.parametrize(
    "text",
    ["r1", "a.b", "a..b", "..", ".", "a", "a" * 128, "a" * 129, "a..", "-a", "a\n", "a/b", "é"],
)
def test_the_run_id_is_that_of_the_code(text: str) -> None:
    search = contracts_check.pattern_search(schemas.load("evidence")["$defs"]["runId"]["pattern"])
    assert bool(search(text)) is ids.RUN_ID.fits(text)


def test_the_limits_of_the_verdict_are_those_of_the_code() -> None:
    properties = schemas.load("verdict")["properties"]
    assert properties["reason"]["maxLength"] == verdict.REASON_LIMIT
    assert properties["next_step_hint"]["maxLength"] == verdict.HINT_LIMIT
    assert properties["blocker_type"]["enum"] == list(get_args(verdict.BlockerType))
    assert properties["delta"]["enum"] == list(get_args(verdict.Delta))
    lists: tuple[tuple[()], ...] = ((), (), ())
    names = ("achieved", 1.0, "unchanged", "", "", "none")
    document = verdict.Verdict("g", "r", *names, *lists, None, "active", "active", 1).to_document()
    # Of a block; of a pause that ended, by the command line; as `flow verdict show` tells.
    seldom = {"outside", "resumed", "handed_in", "stale"}
    assert set(properties) == {*document, *seldom}


def test_the_result_fields_are_in_the_schema() -> None:
    known = schemas.load("goal")["$defs"]["criterion"]["properties"]
    assert set(goal_model.RESULT_FIELDS) <= set(known)
