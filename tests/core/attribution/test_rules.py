"""``.flow/runners.yaml``: strict, literal, and able to hold back only."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.attribution.attribute import CommandReading, vacuous
from flow.core.attribution.rules import Rule, applies, matches_whole, read_rules

GOOD = {
    "name": "nextest",
    "command": ["cargo nextest"],
    "nothing_ran": ["Summary * 0 tests run: *"],
    "tests_ran": ["Summary * tests run: * passed*"],
}


def faults(*entries: Any) -> list[str]:
    return [str(fault) for fault in read_rules({"runners": list(entries)})[1]]


def test_a_good_rule_is_read() -> None:
    rules, found = read_rules({"runners": [{**GOOD, "report": ["out/r.xml"]}]})
    assert not found
    assert rules == (
        Rule(
            "nextest", (("cargo", "nextest"),), ("Summary * 0 tests run: *",),
            ("Summary * tests run: * passed*",), ("out/r.xml",),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": None}, "runners[0].name"),
        ({"name": "x" * 61}, "runners[0].name"),
        ({"name": "a\x1b[31m"}, "runners[0].name"),
        ({"command": []}, "runners[0].command"),
        ({"command": "cargo"}, "runners[0].command"),
        ({"command": [7]}, "runners[0].command[0]"),
        ({"nothing_ran": ["*"]}, "not a pattern that says something"),
        ({"nothing_ran": ["a*b*c*d*e*f*g"]}, "at most 5 times"),
        ({"nothing_ran": ["x" * 201]}, "nothing_ran[0]"),
        ({"nothing_ran": ["x"] * 21}, "at most 20"),
        ({"nothing_ran": []}, "could never say anything"),
        ({"nothing_ran": [], "report": ["/etc/x.xml"]}, "below the top level"),
        ({"report": ["a/../../x.xml"]}, "below the top level"),
        ({"regex": "(a+)+$"}, "'regex' is not a known key"),
        ({"outcome": "passed"}, "'outcome' is not a known key"),
    ],
)
def test_each_fault_names_its_place(change: dict[str, Any], words: str) -> None:
    assert any(words in fault for fault in faults({**GOOD, **change}))


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"runners": {}}, {"runners": []}, {"runners": [1]}, {"runners": [GOOD] * 51},
     {"runners": [GOOD], "more": 1}],
)  # fmt: skip
def test_another_shape_is_refused(document: Any) -> None:
    assert read_rules(document)[1]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("a", "a", True), ("a", "ab", False), ("a*", "ab", True), ("*b", "ab", True),
        ("a*b", "ab", True), ("a*b", "a", False), ("ab*ba", "aba", False), ("a*b*c", "a-b-c", True),
        ("a*b*c", "a-c-b", False), ("*0 tests*", "ran 0 tests now", True), ("a.c", "abc", False),
        ("(a+)+$", "aaaa", False), ("a**b", "ab", True),
    ],
)  # fmt: skip
def test_a_star_stands_for_any_characters_and_nothing_else_does(
    pattern: str, text: str, expected: bool
) -> None:
    assert matches_whole(pattern, text) is expected


def test_the_worst_pattern_is_cheap() -> None:
    assert not matches_whole("a*a*a*a*a*b", "a" * 500)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("cargo", "nextest", "run"), True),
        (("/usr/bin/cargo", "nextest"), True),
        (("cargo", "test"), False),
        (("echo", "cargo nextest"), False),
        (("nextest",), False),
        ((), False),
    ],
)
def test_a_rule_is_for_commands_with_its_words(command: tuple[str, ...], expected: bool) -> None:
    assert applies(Rule("n", (("cargo", "nextest"),)), [command]) is expected


RULES = read_rules({"runners": [GOOD]})[0]
READING = CommandReading(commands=(("cargo", "nextest", "run"),))


def test_a_rule_holds_a_pass_back() -> None:
    found = vacuous(READING, ["Summary [ 0.0s] 0 tests run: 0 skipped"], whole=True, rules=RULES)
    assert found is not None
    assert (found.runner, found.source) == ("nextest", "runners.yaml")
    assert "0 tests run" in found.why


def test_a_rule_says_nothing_of_other_commands_or_where_tests_ran() -> None:
    nothing = ["Summary [ 0.0s] 0 tests run: 0 skipped"]
    other = CommandReading(commands=(("make",),))
    assert vacuous(other, nothing, whole=True, rules=RULES) is None
    ran = [*nothing, "Summary [ 0.0s] 5 tests run: 5 passed"]
    assert vacuous(READING, ran, whole=True, rules=RULES) is None


def test_a_rule_cannot_undo_what_flow_itself_finds() -> None:
    """``tests_ran`` speaks for its own rule only."""
    rule = Rule("p", (("pytest",),), ("never",), ("*2 skipped*",))
    reading = CommandReading(only_runner="pytest", commands=(("pytest",),))
    assert vacuous(reading, ["=== 2 skipped in 0.01s ==="], whole=True, rules=(rule,)) is not None
