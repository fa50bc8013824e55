"""Replies, good and bad (HAZARD G84, G85, G87): one object of the shape asked for, or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flow.adapters.judges.reply_json import LIMIT, closed, read_reply, words
from flow.core.judging.common.question import Unusable
from tests.adapters.judges.scene import ANSWER, SCHEMA

GOOD = json.dumps(ANSWER)


@pytest.mark.parametrize(
    "text", [GOOD, f"\n  {GOOD}\n", GOOD.encode(), json.dumps(ANSWER, indent=2)]
)
def test_a_good_reply_is_its_value(text: str | bytes) -> None:
    assert read_reply(text, SCHEMA) == ANSWER


def with_value(key: str, text: str) -> str:
    """The good reply with one value as written."""
    return GOOD.replace(json.dumps(ANSWER[key]), text)


BAD = [
    # not JSON
    ("", "empty"),
    (" \n\t", "empty"),
    (":", "not_json"),
    ("Thought process:", "not_json"),
    (f"Here it is: {GOOD}", "not_json"),
    (f"{GOOD}\nI hope this helps.", "not_json"),
    (f"```json\n{GOOD}\n```", "not_json"),
    (f"{GOOD}{GOOD}", "not_json"),
    (f"{GOOD}\n{GOOD}", "not_json"),
    (GOOD[:-1], "not_json"),
    (GOOD[: len(GOOD) // 2], "not_json"),
    (GOOD.replace('"verdict"', "verdict"), "not_json"),
    (GOOD.replace("}", ",}"), "not_json"),
    (GOOD.replace('{"', '{"verdict": "not_achieved", "', 1), "not_json"),
    (with_value("confidence", "NaN"), "not_json"),
    (with_value("confidence", "Infinity"), "not_json"),
    (with_value("confidence", "1e999"), "not_json"),
    (with_value("quotes", '["\\u0000"]'), "not_json"),
    (with_value("quotes", '["\\ud800"]'), "not_json"),
    (with_value("quotes", '["\ud800"]'), "not_json"),
    (with_value("quotes", "[" * 40 + "]" * 40), "not_json"),
    (b"\xff" + GOOD.encode(), "not_json"),
    (b"\xef\xbb\xbf" + GOOD.encode(), "not_json"),
    (GOOD.encode("utf-16"), "not_json"),
    ("x" * (LIMIT + 1), "not_json"),
    # JSON of another shape
    ("null", "wrong_shape"),
    ("true", "wrong_shape"),
    ('"achieved"', "wrong_shape"),
    (f"[{GOOD}]", "wrong_shape"),
    ("{}", "wrong_shape"),
    (with_value("verdict", '"Achieved"'), "wrong_shape"),
    (with_value("verdict", "true"), "wrong_shape"),
    (with_value("confidence", "1.01"), "wrong_shape"),
    (with_value("confidence", "-0.1"), "wrong_shape"),
    (with_value("confidence", '"0.8"'), "wrong_shape"),
    (with_value("confidence", "true"), "wrong_shape"),
    (with_value("confidence", "null"), "wrong_shape"),
    (with_value("quotes", '"a"'), "wrong_shape"),
    (with_value("quotes", "[1]"), "wrong_shape"),
    (GOOD.replace('{"', '{"override": true, "', 1), "wrong_shape"),
    (json.dumps({"answer": ANSWER}), "wrong_shape"),
]


@pytest.mark.parametrize(("text", "kind"), BAD, ids=[f"{n}-{row[1]}" for n, row in enumerate(BAD)])
def test_a_bad_reply_is_no_answer(text: str | bytes, kind: str) -> None:
    found = read_reply(text, SCHEMA)
    assert isinstance(found, Unusable)
    assert found.kind == kind
    assert len(found.reason) <= 300
    assert found.reason.isprintable()


def test_only_what_is_named_may_be_in_any_object() -> None:
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": SCHEMA}}}
    assert read_reply(json.dumps({"rows": [ANSWER]}), schema) == {"rows": [ANSWER]}
    found = read_reply(json.dumps({"rows": [{**ANSWER, "more": 1}]}), schema)
    assert isinstance(found, Unusable)


def test_closing_a_schema_changes_nothing_else() -> None:
    schema: dict[str, Any] = {
        "title": "T",
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 3},
            "open": {"type": "object", "properties": {}, "additionalProperties": True},
            "map": {"type": "object"},
            "enum": {"enum": [{"properties": {"a": 1}}]},
        },
    }
    found = closed(schema, without=frozenset(("title", "maxLength")))
    assert found == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "open": {"type": "object", "properties": {}, "additionalProperties": True},
            "map": {"type": "object"},
            "enum": {"enum": [{"properties": {"a": 1}}]},
        },
        "additionalProperties": False,
    }
    assert schema["title"] == "T"


def test_words_from_outside_are_one_line_without_keys() -> None:
    text = b"\x1b[31mred\x1b[0m\nkey sk-secret-1 \xff\xe2\x80\xae end  "
    assert words(text, ("sk-secret-1",)) == ("\\x1b[31mred\\x1b[0m\\nkey (key) \\xff\\u202e end")
    assert len(words("x" * 1000)) == 300


def test_a_fault_of_the_whole_reply_is_said_once() -> None:
    unusable = read_reply("{}", SCHEMA)
    assert isinstance(unusable, Unusable)
    assert unusable.reason.startswith("the reply: ")
    assert "it: " not in unusable.reason
