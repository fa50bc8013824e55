"""Differences where one side has another shape: beside ``test_trust_diff.py``."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.amendment.trust_diff import difference, quoted_if_misleading

ROWS = [{"id": "AC1", "t": 1}, {"id": "AC2", "t": 1}]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        # another kind of value
        ([1], {"b": 1}, ["a:", "  - 1", '  + {"b": 1}']),
        ({"b": 1}, [1], ["a:", '  - {"b": 1}', "  + 1"]),
        (1, {"b": 1}, ["a:", "  - 1", '  + {"b": 1}']),
        ("x", ["x"], ["a:", "  - x", "  + x"]),
        (["x"], "x", ["a:", "  - x", "  + x"]),
        (["x"], 1, ["a:", "  - x", "  + 1"]),
        # entries with and without an id of their own
        (ROWS[:1], ["x"], ["a:", '  - {"id": "AC1", "t": 1}', "  + x"]),
        (["x"], ROWS[:1], ["a:", "  - x", '  + {"id": "AC1", "t": 1}']),
        (ROWS[:1], [ROWS[0], {"t": 2}], ["a:", '  + {"t": 2}']),
        (ROWS[:1], [ROWS[0], ROWS[0]], ["a:", '  + {"id": "AC1", "t": 1}']),
        (ROWS[:1], [ROWS[0], {"id": 2}], ["a:", '  + {"id": 2}']),
        (ROWS[:1], [{"id": "AC1", "t": 2}], ["a[AC1].t:", "  - 1", "  + 2"]),
        (ROWS, ROWS[:1], ["a[AC2].id:", "  - AC2", "a[AC2].t:", "  - 1"]),
        ([], ROWS[:1], ["a[AC1].id:", "  + AC1", "a[AC1].t:", "  + 1"]),
        ([{"id": "o\x1b"}], [], ['a["o\\x1b"].id:', '  - "o\\x1b"']),
        # entries counted
        (["x", "y", "x"], ["x"], ["a:", "  - y", "  - x"]),
        (["x"], ["x", "x", "y"], ["a:", "  + x", "  + y"]),
        (
            ["x", "x", "y"],
            ["y", "x", "x"],
            ["a: in another order", "  - x", "  - x", "  - y", "  + y", "  + x", "  + x"],
        ),
        (["x", 1], ["x", 1.0], ["a:", "  - 1", "  + 1.0"]),
        ([[1], {"b": 2}], [{"b": 2}], ["a:", "  - 1"]),
        ([[], "x"], ["x"], ["a:", "  - []"]),
        (
            ["x", "y", "z"],
            ["z", "y", "x"],
            ["a: in another order", "  - x", "  - y", "  - z", "  + z", "  + y", "  + x"],
        ),
        # values that are equal to Python and different to YAML
        (1, True, ["a:", "  - 1", "  + true"]),
        (0.0, False, ["a:", "  - 0.0", "  + false"]),
        ([1], [True], ["a:", "  - 1", "  + true"]),
        ({"b": 1}, {"b": 1}, []),
        # lines
        ("x", "p\n\nq", ["a:", "  - x", "  + | p", "  + |", "  + | q"]),
        ("x", 'p\n"q', ["a:", "  - x", "  + | p", '  + | "\\"q"']),
        ("x", "p\nq ", ["a:", "  - x", "  + | p", '  + | "q "']),
        ("x", "p\nq\x1b", ["a:", "  - x", "  + | p", '  + | "q\\x1b"']),
        ("x", 'p\nq"', ["a:", "  - x", "  + | p", '  + | q"']),
        (["m\nn"], [], ["a:", "  - | m", "  - | n"]),
        (["a", {"k": "v"}], [], ["a:", "  - a", '  - {"k": "v"}']),
        ({"z": 1, "y": [{"q": 1}]}, None, ["a:", '  - {"y": [{"q": 1}], "z": 1}', "  + null"]),
        ("\u00e9", "e", ["a:", "  - \u00e9", "  + e"]),
        ({"b": "\u00e9"}, 1, ["a:", '  - {"b": "\u00e9"}', "  + 1"]),
        ({"b": "\u202e"}, 1, ["a:", '  - {"b": "\\u202e"}', "  + 1"]),
    ],
)
def test_each_change_of_shape(old: Any, new: Any, lines: list[str]) -> None:
    assert difference({"a": old}, {"a": new}) == lines


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("plain", "plain"),
        ("_x-1", "_x-1"),
        ("1x", '"1x"'),
        ("a.b", '"a.b"'),
        ("", '""'),
        (1, "1"),
        (None, "null"),
        (True, "true"),
    ],
)
def test_keys_that_could_be_taken_for_others_are_quoted(key: Any, shown: str) -> None:
    assert difference({}, {key: 1}) == [f"{shown}:", "  + 1"]
    assert difference({}, {"a": {key: 1}}) == [f"a.{shown}:", "  + 1"]


def test_keys_come_in_the_order_of_the_files() -> None:
    old, new = {"b": 1, "a": 1, "c": 1}, {"z": 1, "a": 2, "b": 1, "y": 1}
    assert [line for line in difference(old, new) if line.endswith(":")] == ["a:", "c:", "z:", "y:"]


def test_criteria_that_moved_and_changed() -> None:
    old = {"a": [{"id": "A"}, {"id": "B"}, {"id": "C"}]}
    new = {"a": [{"id": "C"}, {"id": "D"}, {"id": "A"}]}
    assert difference(old, new) == [
        "a[B].id:",
        "  - B",
        "a[D].id:",
        "  + D",
        "a: in another order",
        "  - A",
        "  - B",
        "  - C",
        "  + C",
        "  + D",
        "  + A",
    ]
    assert difference(old, {"a": [{"id": "A"}, {"id": "C"}]}) == ["a[B].id:", "  - B"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("null", '"null"'),
        ("false", '"false"'),
        ("nullx", "nullx"),
        ("[]", '"[]"'),
        ("{}", '"{}"'),
        ("[a]", "[a]"),
        ("", '""'),
        ("7", '"7"'),
        ("7 days", '"7 days"'),
        ("-x", "-x"),
        ("| x", '"| x"'),
        ("x |", "x |"),
        (" x", '" x"'),
        ("x ", '"x "'),
        ("a b", "a b"),
        ("\t", '"\\t"'),
        ("a\nb", '"a\\nb"'),
        ("\x00\xff\u0100\uffff\U00010000", '"\\x00\u00ff\u0100\\uffff\U00010000"'),
        ("\x80\U000e0001", '"\\x80\\U000e0001"'),
    ],
)
def test_texts_that_could_be_taken_for_others_are_quoted(text: str, shown: str) -> None:
    assert quoted_if_misleading(text) == shown
