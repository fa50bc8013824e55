"""The caller's own form of a judgement: JSON Schemas and typed models, and what Flow writes in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NotRequired, TypedDict

import msgspec
import pydantic
import pytest

from flow.adapters.contracts.shapes import misfits, self_contained
from flow.adapters.judges.result_formats import result_format
from flow.errors import InputError, NoUsableAnswer


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Issue:
    text: str
    level: Level = Level.LOW


@dataclass
class Data:
    passed: bool
    score: float
    security: float
    issues: list[Issue]
    kind: Literal["a", "b"] = "a"
    note: str | None = None
    pair: tuple[int, ...] = ()
    more: dict[str, int] = field(default_factory=dict)


class TypedIssue(TypedDict):
    text: str


class Typed(TypedDict):
    passed: bool
    score: float
    security: float
    issues: list[TypedIssue]
    note: NotRequired[str]


class ModelIssue(pydantic.BaseModel):
    text: str


class Model(pydantic.BaseModel):
    passed: bool
    score: float
    security: float = pydantic.Field(ge=0, le=10)
    issues: list[ModelIssue]


class StructIssue(msgspec.Struct):
    text: str


class Struct(msgspec.Struct):
    passed: bool
    score: float
    security: float
    issues: list[StructIssue]


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"issue": {"type": "object", "properties": {"text": {"type": "string"}}}},
    "properties": {
        "passed": {"type": "boolean"},
        "score": {"type": "number"},
        "security": {"type": "number"},
        "issues": {"type": "array", "items": {"$ref": "#/$defs/issue"}},
    },
    "required": ["security", "issues"],
}
SAID = {"passed": True, "score": 10, "security": 4, "issues": [{"text": "open"}]}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (SCHEMA, {"passed": False, "score": 0.25, "security": 4, "issues": [{"text": "open"}]}),
        (Data, Data(False, 0.25, 4.0, [Issue("open")])),
        (Typed, {"passed": False, "score": 0.25, "security": 4.0, "issues": [{"text": "open"}]}),
        (Model, Model(passed=False, score=0.25, security=4, issues=[ModelIssue(text="open")])),
        (Struct, Struct(False, 0.25, 4.0, [StructIssue("open")])),
    ],
    ids=["JSON Schema", "dataclass", "TypedDict", "pydantic", "msgspec"],
)
def test_every_form_is_returned_with_flows_score_and_passed_in_it(form: Any, expected: Any) -> None:
    made = result_format(form)
    found = made.result(SAID, score=0.25, passed=False)
    assert found == expected
    assert type(found) is type(expected)
    bare = {key: SAID[key] for key in ("security", "issues")}
    assert made.result(bare, score=0.25, passed=False) == expected


@pytest.mark.parametrize("form", [SCHEMA, Data, Typed, Model, Struct])
def test_the_schema_stands_on_its_own(form: Any) -> None:
    import json

    text = json.dumps(result_format(form).schema)
    assert "$ref" not in text
    assert "$defs" not in text
    assert '"text"' in text  # the inner type is there all the same


def test_a_form_without_score_or_passed_gets_none() -> None:
    @dataclass
    class Notes:
        notes: list[str]

    assert result_format(Notes).result({"notes": ["x"]}, score=0.5, passed=True) == Notes(["x"])


def test_a_score_that_a_judge_slips_in_is_flows_too() -> None:
    form = result_format({"type": "object"})
    found = form.result({"score": 99, "passed": True}, score=0.1, passed=False)
    assert found == {"score": 0.1, "passed": False}


def test_nested_types_become_values_of_their_own() -> None:
    said = {
        **SAID,
        "issues": [{"text": "x", "level": "high"}],
        "kind": "b",
        "note": None,
        "pair": [1, 2],
        "more": {"k": 1},
    }
    found = result_format(Data).result(said, score=1.0, passed=True)
    expected = Data(True, 1.0, 4.0, [Issue("x", Level.HIGH)], "b", None, (1, 2), {"k": 1})
    assert found == expected


UNFIT: list[tuple[Any, Any]] = [
    (Data, None),
    (Data, []),
    (Data, "text"),
    (Data, {}),
    (Data, {**SAID, "security": "much"}),
    (Data, {**SAID, "issues": ["open"]}),
    (Data, {**SAID, "kind": "c"}),
    (Data, {**SAID, "pair": ["x"]}),
    (Typed, {**SAID, "issues": [{}]}),
    (Model, {**SAID, "security": 11}),
    (Struct, {**SAID, "security": None}),
    (SCHEMA, {**SAID, "issues": [{"text": 3}]}),
]


@pytest.mark.parametrize(("form", "said"), UNFIT)
def test_a_reply_that_does_not_fit_is_no_answer(form: Any, said: Any) -> None:
    with pytest.raises(NoUsableAnswer, match="does not fit the result format") as caught:
        result_format(form).result(said, score=0.5, passed=True)
    assert caught.value.code == "wrong_shape"


def test_what_a_models_own_check_raises_is_no_answer() -> None:
    class Odd(pydantic.BaseModel):
        n: int

        @pydantic.field_validator("n")
        @classmethod
        def odd(cls, n: int) -> int:
            if n % 2 == 0:
                raise ValueError("even")
            return n

    form = result_format(Odd)
    assert form.result({"n": 3}, score=0.5, passed=True).n == 3
    with pytest.raises(NoUsableAnswer, match="even"):
        form.result({"n": 4}, score=0.5, passed=True)


@dataclass
class Endless:
    inner: list[Endless]


@dataclass
class Odd:
    inner: object
    what: complex


@dataclass
class Unknown:
    inner: Nowhere  # type: ignore[name-defined]  # noqa: F821


@dataclass
class Tenths:
    score: int


@dataclass
class Grade:
    passed: str


REFUSED: list[tuple[Any, str]] = [
    (3, "neither a JSON Schema nor a typed model"),
    ("name", "neither a JSON Schema nor a typed model"),
    (int, "no dataclass"),
    (Data(True, 1.0, 1.0, []), "neither a JSON Schema nor a typed model"),
    (Endless, "nest too deeply"),
    (Odd, "has no JSON Schema"),
    (Unknown, "cannot be read"),
    (Tenths, "'score' has no room for 0.5"),
    (Grade, "'passed' has no room for True"),
    ({"type": "array"}, "has to describe an object"),
    ({"type": "nonsense"}, "not a JSON Schema"),
    ({"type": "object", "properties": {"score": {"maximum": 0.5}}}, "no room for 1.0"),
    ({"$ref": "https://example.org/schema"}, "not in the schema itself"),
    ({"$ref": "file:///etc/passwd"}, "not in the schema itself"),
    ({"$ref": "#/$defs/x"}, "leads nowhere"),
    ({"$ref": "#"}, "leads back to itself"),
]


@pytest.mark.parametrize(("form", "why"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_is_no_form_is_refused_before_a_judge_is_asked(form: Any, why: str) -> None:
    with pytest.raises(InputError) as caught:
        result_format(form)
    assert why in str(caught.value)


def test_references_to_references_are_put_in() -> None:
    schema = {
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "integer"}},
        "properties": {"x": {"$ref": "#/$defs/a", "description": "kept"}},
    }
    found = self_contained(schema)
    assert found == {"properties": {"x": {"type": "integer", "description": "kept"}}}
    assert misfits(found, {"x": "no"})
    assert not misfits(found, {"x": 3})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"status": "maybe"}, "status: 'maybe' is none of 'pass', 'fail'"),
        ({"status": 1}, "status: 1 is none of 'pass', 'fail'"),
        ({"extra": 1, "b\x1b": 2}, "it: it may not hold 'extra', 'b\\x1b'"),
        ({"x-note": 1, "extra": 2}, "it: it may not hold 'extra'"),
        ({"rows": [3]}, "rows: has 1 entries, and needs at least 2"),
        ({"rows": [3, 4, 5, 6]}, "rows: has 4 entries, and needs at most 3"),
        ({"rows": [3, "x"]}, "rows[1]: 'x' does not fit type: 'integer'"),
        ([], "it: a list does not fit type: 'object'"),
    ],
)
def test_a_misfit_names_what_is_there_and_what_may_be(value: Any, sentence: str) -> None:
    rows = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}
    schema = {
        "type": "object",
        "properties": {"status": {"enum": ["pass", "fail"]}, "rows": rows},
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    assert misfits(schema, value) == [sentence]


def test_a_schema_that_grows_without_end_is_refused() -> None:
    defs: dict[str, Any] = {"d0": {"type": "string"}}
    for n in range(1, 20):
        below = {"$ref": f"#/$defs/d{n - 1}"}
        defs[f"d{n}"] = {"properties": {"l": below, "r": below}}
    with pytest.raises(InputError, match="more than"):
        self_contained({"$defs": defs, "properties": {"x": {"$ref": "#/$defs/d19"}}})


def test_a_property_may_be_named_like_a_keyword() -> None:
    schema = {"properties": {"$defs": {"type": "string"}, "enum": {"type": "integer"}}}
    assert self_contained(schema) == schema
