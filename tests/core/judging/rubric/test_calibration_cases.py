"""Cases that people have labelled: what is taken, and every fault with its place."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.judging.rubric.calibration_cases import MOST_CASES, Case, cases_of
from flow.errors import ContractError

FILE = "cases.yaml"
KNOWN_ROW = "known here: id, label, subject, file, rubric, instructions, by, note"
LIST = "give a list of {id, label, subject}"
TEXT = "write some text"
LABEL = "what a person decided: pass or fail"
ONE_OF = "give a subject, or a file below the folder of this one"


def row(id: Any = "a", **more: Any) -> dict[str, Any]:
    return {"id": id, "label": "pass", "subject": "s", **more}


def without(*keys: str, **more: Any) -> dict[str, Any]:
    return {key: value for key, value in row(**more).items() if key not in keys}


def faults(document: Any) -> list[tuple[str | None, str, str | None]]:
    with pytest.raises(ContractError) as caught:
        cases_of(document, FILE)
    assert {fault.file for fault in caught.value.faults} == {FILE}
    return [(fault.key, fault.message, fault.remedy) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ([row()], [Case("a", True, "s", None, None, None)]),
        ({"cases": [row()]}, [Case("a", True, "s", None, None, None)]),
        ([row(label="fail")], [Case("a", False, "s", None, None, None)]),
        ([without("subject", file="f.txt")], [Case("a", True, None, "f.txt", None, None)]),
        (
            [row(subject={"any": ["thing"]})],
            [Case("a", True, {"any": ["thing"]}, None, None, None)],
        ),
        ([row(subject=None)], [Case("a", True, None, None, None, None)]),
        (
            [row(instructions="look", by="a person", note="n")],
            [Case("a", True, "s", None, None, "look")],
        ),
        (
            {"rubric": "house", "cases": [row(), row("b", rubric="own")]},
            [
                Case("a", True, "s", None, "house", None),
                Case("b", True, "s", None, "own", None),
            ],
        ),
    ],
)
def test_what_is_taken(document: Any, found: list[Case]) -> None:
    assert cases_of(document, FILE) == tuple(found)


FAULTS: dict[str, tuple[Any, list[tuple[str, str, str]]]] = {
    "nothing": (None, [("cases", "has no cases", LIST)]),
    "a text": ("cases", [("cases", "has no cases", LIST)]),
    "an empty list": ([], [("cases", "has no cases", LIST)]),
    "an empty mapping": ({}, [("cases", "has no cases", LIST)]),
    "a mapping of cases": ({"cases": {"a": row()}}, [("cases", "has no cases", LIST)]),
    "no cases and an unknown key": (
        {"case": [row()]},
        [
            ("case", "is not a known key", "known here: rubric, cases"),
            ("cases", "has no cases", LIST),
        ],
    ),
    "too many": (
        [row()] * (MOST_CASES + 1),
        [("cases", "has 10001 cases, more than 10000", "split the file")],
    ),
    "an unknown key": (
        {"cases": [row()], "x" * 81: 1, 7: 1, "a\x1b": 1},
        [
            ("x" * 80, "is not a known key", "known here: rubric, cases"),
            ("7", "is not a known key", "known here: rubric, cases"),
            ("a\\x1b", "is not a known key", "known here: rubric, cases"),
        ],
    ),
    "a rubric that is no text": (
        {"cases": [row()], "rubric": ["house"]},
        [("rubric", "is not text", "write a rubric's name")],
    ),
    "a rubric that is nothing": (
        {"cases": [row()], "rubric": None},
        [("rubric", "is not text", "write a rubric's name")],
    ),
    "a case that is none": (
        [row(), "b", None],
        [
            ("cases[1]", "is no case", "write {id, label, subject}"),
            ("cases[2]", "is no case", "write {id, label, subject}"),
        ],
    ),
    "an unknown key of a case": (
        [row(**{"x" * 81: 1}), row("b", **{"a\x1b": 1}), {**row("c"), 7: 1}],
        [
            (f"cases[0].{'x' * 80}", "is not a known key", KNOWN_ROW),
            ("cases[1].a\\x1b", "is not a known key", KNOWN_ROW),
            ("cases[2].7", "is not a known key", KNOWN_ROW),
        ],
    ),
    "no id": ([without("id")], [("cases[0].id", "is missing", TEXT)]),
    "an id of blanks": ([row(" ")], [("cases[0].id", "is not text", TEXT)]),
    "ids that are no text": (
        [row(7), row(None), row(["a"])],
        [(f"cases[{n}].id", "is not text", TEXT) for n in range(3)],
    ),
    "an id again": (
        [row(), row("b"), row(), row()],
        [
            ("cases[2].id", "is cases[0]'s id too", "ids are unique"),
            ("cases[3].id", "is cases[0]'s id too", "ids are unique"),
        ],
    ),
    "no label": ([without("label")], [("cases[0].label", "is missing", LABEL)]),
    "another label": (
        [row(label="passed")],
        [("cases[0].label", "is 'passed'", LABEL)],
    ),
    "labels that are no text": (
        [row(label=True), row("b", label=None), row("c", label=["pass"])],
        [
            ("cases[0].label", "is True", LABEL),
            ("cases[1].label", "is None", LABEL),
            ("cases[2].label", "is ['pass']", LABEL),
        ],
    ),
    "a long label": ([row(label="x" * 50)], [("cases[0].label", f"is '{'x' * 39}", LABEL)]),
    "no subject": ([without("subject")], [("cases[0]", "has no subject", ONE_OF)]),
    "a subject and a file": (
        [row(file="f.txt")],
        [("cases[0]", "has both a subject and a file", ONE_OF)],
    ),
    "several at once": (
        {"more": 1, "cases": [without("id", "label"), without("subject", id="b")]},
        [
            ("more", "is not a known key", "known here: rubric, cases"),
            ("cases[0].id", "is missing", TEXT),
            ("cases[0].label", "is missing", LABEL),
            ("cases[1]", "has no subject", ONE_OF),
        ],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_named_with_its_place(name: str) -> None:
    document, expected = FAULTS[name]
    assert faults(document) == expected


@pytest.mark.parametrize("key", ["file", "rubric", "instructions", "by", "note"])
@pytest.mark.parametrize("value", [None, "", " \n", 7, ["x"], {}])
def test_what_is_given_must_be_text(key: str, value: Any) -> None:
    given = without("subject", file=value) if key == "file" else row(**{key: value})
    assert faults([given]) == [(f"cases[0].{key}", "is not text", TEXT)]


def test_as_many_cases_as_there_may_be() -> None:
    assert MOST_CASES == 10_000
    assert len(cases_of([row(str(number)) for number in range(MOST_CASES)], FILE)) == MOST_CASES
