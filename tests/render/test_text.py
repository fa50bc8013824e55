"""Terminal text is made from values only, and no foreign text can move a terminal."""

from __future__ import annotations

import pytest

from flow.render import records, text
from flow.render.evidence import evidence_show
from flow.render.screen import Screen
from flow.render.setup import doctor

HOSTILE = "a\x1b[31mred\x07\u202eb\nsecond\tline\x9b2J"
MARKS = ("\x1b", "\x07", "\u202e", "\n", "\t", "\x9b")


def plain(style: str, word: str) -> str:
    return word


@pytest.mark.parametrize(
    "lines",
    [
        text.history(
            {
                "goal_id": "g",
                "events": [
                    {
                        "at": HOSTILE,
                        "type": HOSTILE,
                        "to": HOSTILE,
                        "reason": HOSTILE,
                        HOSTILE: [HOSTILE],
                    }
                ],
            }
        ),
        text.outline({HOSTILE: [HOSTILE, {"k": HOSTILE}]}),
        evidence_show({"id": HOSTILE, "output": HOSTILE, "output_left_out": 3}, Screen()),
        records.evidence_list(
            {
                "run_id": "r",
                "evidence": [
                    {
                        "id": HOSTILE,
                        "type": HOSTILE,
                        "proves": [HOSTILE],
                        "outcome": HOSTILE,
                        "exit_code": 0,
                        "created_at": HOSTILE,
                    }
                ],
            },
            Screen(),
        ),
        records.journal(
            {
                "file": HOSTILE,
                "front": {HOSTILE: HOSTILE},
                "artifacts": [{"type": HOSTILE, "captured_at": HOSTILE, "reason": HOSTILE}],
                "body": HOSTILE,
            },
            Screen(),
        ),
        records.trust_list(
            [{"goal_id": HOSTILE, "digest": HOSTILE, "at": HOSTILE, "how": HOSTILE}], Screen()
        ),
        text.settings([{"key": "k", "value": [HOSTILE], "origin": HOSTILE}]),
        doctor(
            {
                "facts": [{"what": "git", "value": HOSTILE}],
                "findings": [{"what": HOSTILE, "why": HOSTILE, "do": HOSTILE}],
                "fixed": [HOSTILE],
            },
            Screen(),
            verbose=True,
        ),
    ],
)
def test_no_foreign_text_moves_the_terminal(lines: list[str]) -> None:
    for line in lines:
        assert not [mark for mark in MARKS if mark in line], line


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        ("", "-"),
        ([], "-"),
        (0, "0"),
        (False, "false"),
        (["a", "b"], "a, b"),
        ({"a": 1}, '{"a": 1}'),
    ],
)
def test_values_in_one_line(value: object, shown: str) -> None:
    assert text.show(value) == shown


def test_the_outline_keeps_empty_and_nested_values() -> None:
    assert text.outline({"a": {"b": [1, {"c": None}]}, "d": [], "e": {}}) == [
        "a:",
        "  b:",
        "    - 1",
        "    -",
        "      c: -",
        "d: []",
        "e: {}",
    ]


@pytest.mark.parametrize(
    ("count", "end"), [(0, "nothing is wrong"), (1, "1 finding"), (2, "2 findings")]
)
def test_doctor_counts_its_findings(count: int, end: str) -> None:
    finding = {"what": "w", "why": "y", "do": "d"}
    document = {"facts": [{"what": "f", "value": "v"}], "findings": [finding] * count, "fixed": []}
    assert doctor(document, Screen())[-1] == end


def test_output_lines_end_at_newlines_only() -> None:
    shown = {"id": "e", "output": "a\x0cb\r\nc\n", "output_left_out": 0}
    assert evidence_show(shown, Screen(), "flow more")[3:5] == ["a\\x0cb", "c"]


def test_the_history_leaves_out_what_is_for_programs() -> None:
    event = {"at": "t", "seq": 1, "type": "evaluated", "goal_id": "g", "turn": 1}
    chained = {**event, "ledger_head": "2:" + "a" * 64, "prev": "b" * 64, "hash": "c" * 64}
    assert text.history({"goal_id": "g", "events": [chained]}) == ["   1  t  evaluated  turn=1"]


def test_the_same_warning_about_several_criteria_is_one() -> None:
    found = ["AC1: masked: a", "x: y", "AC2: green", "AC10: masked: a", "all: AC1: b", "x: y"]
    assert text.grouped_warnings(found) == [
        "AC1, AC10: masked: a",
        "x: y",
        "AC2: green",
        "all: AC1: b",
    ]
