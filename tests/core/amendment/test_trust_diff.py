"""The difference a person reads before trusting a contract."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.core.amendment.trust_diff import difference, quoted_if_misleading


def goal(**criterion: Any) -> dict[str, Any]:
    return {
        "metadata": {"id": "g"},
        "objective": {
            "outcome": "o",
            "acceptance_criteria": [
                {"id": "AC1", "text": "t", **criterion},
                {"id": "AC2", "text": "u"},
            ],
        },
    }


def test_equal_contracts_have_no_difference() -> None:
    assert difference(goal(), goal()) == []


def test_a_command_is_shown_in_full_on_both_sides() -> None:
    long = "pytest " + "x" * 5000
    assert difference(goal(verification_command=long), goal(verification_command="true")) == [
        "objective.acceptance_criteria[AC1].verification_command:",
        f"  - {long}",
        '  + "true"',
    ]


def test_a_command_of_several_lines_keeps_its_lines_behind_marks() -> None:
    fake = "a\nobjective.outcome:\n  + nothing to see\n"
    assert difference(goal(), goal(verification_command=fake)) == [
        "objective.acceptance_criteria[AC1].verification_command:",
        "  + | a",
        "  + | objective.outcome:",
        "  + |   + nothing to see",
        "  + |",
    ]


def test_criteria_are_compared_by_id() -> None:
    old = goal()
    new = goal()
    new["objective"]["acceptance_criteria"] = [
        {"id": "AC2", "text": "u", "must_pass": False},
        {"id": "AC3", "text": "v"},
    ]
    assert difference(old, new) == [
        "objective.acceptance_criteria[AC1].id:",
        "  - AC1",
        "objective.acceptance_criteria[AC1].text:",
        "  - t",
        "objective.acceptance_criteria[AC2].must_pass:",
        "  + false",
        "objective.acceptance_criteria[AC3].id:",
        "  + AC3",
        "objective.acceptance_criteria[AC3].text:",
        "  + v",
    ]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ({"a": 1}, {"a": 2}, ["a:", "  - 1", "  + 2"]),
        ({"a": 1}, {"a": True}, ["a:", "  - 1", "  + true"]),
        ({"a": 1}, {"a": 1.0}, ["a:", "  - 1", "  + 1.0"]),
        ({"a": 1}, {"a": "1"}, ["a:", "  - 1", '  + "1"']),
        ({"a": None}, {}, ["a:", "  - null"]),
        ({"a": {"b": 1}}, {"a": {}}, ["a.b:", "  - 1"]),
        ({"a": {"b": 1}}, {"a": []}, ["a:", '  - {"b": 1}', "  + []"]),
        ({"p": ["x", "y"]}, {"p": ["y", "z"]}, ["p:", "  - x", "  + z"]),
        ({"p": ["x", "x"]}, {"p": ["x"]}, ["p:", "  - x"]),
        (
            {"p": ["x", "y"]},
            {"p": ["y", "x"]},
            ["p: in another order", "  - x", "  - y", "  + y", "  + x"],
        ),
        ({}, {"p": []}, ["p:", "  + []"]),
        ({}, {"p": {}}, ["p:", "  + {}"]),
        ({}, {"p": ""}, ["p:", '  + ""']),
        ({"a": "x"}, {"a": "x "}, ["a:", "  - x", '  + "x "']),
        ({"a": "| b"}, {}, ["a:", '  - "| b"']),
        ({}, {"odd key\x1b": 1}, ['"odd key\\u001b":', "  + 1"]),
    ],
)
def test_each_kind_of_change(old: Any, new: Any, lines: list[str]) -> None:
    assert difference(old, new) == lines


def test_criteria_in_another_order_are_named() -> None:
    new = goal()
    new["objective"]["acceptance_criteria"].reverse()
    assert difference(goal(), new) == [
        "objective.acceptance_criteria: in another order",
        "  - AC1",
        "  - AC2",
        "  + AC2",
        "  + AC1",
    ]


def test_a_first_contract_is_shown_whole() -> None:
    lines = difference(None, goal(verification_command="make test"))
    assert "objective.acceptance_criteria[AC1].verification_command:" in lines
    assert "  + make test" in lines
    assert not any(line.startswith("  -") for line in lines)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pytest -q", "pytest -q"),
        ("grüße 漢", "grüße 漢"),
        ("a\u202eb", '"a\\u202eb"'),
        ("a\u2066b", '"a\\u2066b"'),
        ("a\x1b[31m", '"a\\x1b[31m"'),
        ("a\u200bb", '"a\\u200bb"'),
        ("a\u00a0b", '"a\\xa0b"'),
        ("a\rb", '"a\\rb"'),
        ("\ud800", '"\\ud800"'),
        ("\U000e0041", '"\\U000e0041"'),
        ('"quoted"', '"\\"quoted\\""'),
        ("back\\slash", "back\\slash"),
        ("back\\slash\x00", '"back\\\\slash\\x00"'),
        ("true", '"true"'),
        ("-5", '"-5"'),
    ],
)
def test_what_could_mislead_is_escaped(text: str, shown: str) -> None:
    assert quoted_if_misleading(text) == shown


@given(st.text(), st.text())
def test_no_two_texts_look_alike(one: str, other: str) -> None:
    lines = difference({"a": one}, {"a": other})
    assert (lines == []) == (one == other)
    assert all(line.isprintable() for line in lines)
    removed = [line[4:] for line in lines if line.startswith("  - ")]
    added = [line[4:] for line in lines if line.startswith("  + ")]
    assert not lines or removed != added


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    )
)
def test_any_value_gives_printable_lines(value: Any) -> None:
    assert all(line.isprintable() for line in difference({"a": 1}, {"b": value}))
