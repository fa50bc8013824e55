"""``flow goal inspect`` as people see it: the contract as YAML, and the evidence as everywhere."""

from __future__ import annotations

import time
from typing import Any

import pytest

from flow.adapters.contracts import formats
from flow.core import instant
from flow.render.goal.inspect import inspect_lines
from flow.render.records import evidence_list
from flow.render.screen import Screen, measure

NOW = instant.seconds("2026-11-20T14:20:00Z")
HOSTILE = "a\x1b[31mred\x07\u202eb\nsecond\tline\x9b2J"
MARKS = ("\x1b[31m", "\x07", "\u202e", "\n", "\t", "\x9b")
CONTRACT = {
    "metadata": {"id": "strict-dates"},
    "objective": {"outcome": "yes", "acceptance_criteria": [{"id": "AC1", "text": "a: b"}]},
    "lifecycle": {"status": "active"},
}
ACT = {"about": "AC2", "at": "2026-11-20T13:56:00Z", "by": "colleague", "said_from": "terminal"}


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def evidence(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"evidence-ac1-eval-{number}",
        "type": "command_result",
        "proves": ["AC1"],
        "outcome": "passed",
        "exit_code": 0,
        "created_at": f"2026-11-20T14:0{number}:00Z",
        "fresh": True,
        "why_stale": [],
        **more,
    }


def document(**more: Any) -> dict[str, Any]:
    return {
        "goal_id": "strict-dates",
        "file": ".flow/goals/strict-dates.goal.yaml",
        "contract": "0" * 64,
        "run": ".flow/runs/r-1",
        "document": CONTRACT,
        "proof": None,
        "evidence": [
            evidence(1, outcome="failed", exit_code=1),
            evidence(2, fresh=False, why_stale=["tree"]),
            evidence(3, type="path_boundary_check", proves=[], outcome=None, exit_code=None),
        ],
        "approvals": [],
        "closed": None,
        **more,
    }


def shown(columns: int | None = 80, **more: Any) -> list[str]:
    return inspect_lines(document(**more), Screen(columns, now=NOW))


def test_the_whole_screen() -> None:
    assert shown(approvals=[{**ACT, "note": "I read it."}]) == [
        "strict-dates  its contract, and 3 pieces of evidence",
        "file       .flow/goals/strict-dates.goal.yaml",
        f"contract   {'0' * 64}",
        "run        .flow/runs/r-1",
        "approved   AC2: colleague, 13:56, terminal",
        "           “I read it.”",
        "",
        "── the contract " + "─" * 63,
        "metadata:",
        "  id: strict-dates",
        "objective:",
        '  outcome: "yes"',
        "  acceptance_criteria:",
        "    - id: AC1",
        '      text: "a: b"',
        "lifecycle:",
        "  status: active",
        "",
        "── evidence " + "─" * 67,
        *rows(80),
    ]


def rows(columns: int | None) -> list[str]:
    """The rows of the same evidence in ``flow evidence list``: one language."""
    listed = evidence_list(
        {"run_id": "r", "evidence": document()["evidence"]}, Screen(columns, now=NOW)
    )
    return listed[2:-2]


@pytest.mark.parametrize("columns", [None, 60, 80, 160])
def test_evidence_is_told_as_everywhere(columns: int | None) -> None:
    lines = shown(columns)
    told = rows(columns)
    assert lines[-3:] == told
    assert [line[0] for line in told] == ["✗", "◐", "○"]
    assert "exit 1" in told[0]
    assert "command_result" not in "".join(told)
    assert columns is None or max(map(measure, lines[-3:])) < columns


def test_the_contract_reads_back() -> None:
    lines = shown(None)
    start = next(place for place, line in enumerate(lines) if "the contract" in line) + 1
    text = "\n".join(lines[start : lines.index("", start)])
    assert formats.parse_yaml(text.encode(), file="f") == CONTRACT


def test_what_is_not_there_has_no_line() -> None:
    lines = shown(run=None, evidence=[])
    assert lines[0] == "strict-dates  its contract, and 0 pieces of evidence"
    assert lines[-1] == "no evidence yet"
    assert not any(line.startswith(("run", "the proof", "closed", "approved")) for line in lines)


@pytest.mark.parametrize(("about", "label"), [("achieved", "confirmed"), ("failed", "closed")])
def test_a_closing_is_told(about: str, label: str) -> None:
    assert f"{label:<10} {about}: colleague, 13:56, terminal" in shown(
        closed={**ACT, "about": about}
    )
    assert "closed     by hand" in shown(closed_by_hand=True)


@pytest.mark.parametrize("columns", [None, 80])
def test_no_foreign_text_moves_the_terminal(columns: int | None) -> None:
    act = {"about": HOSTILE, "at": HOSTILE, "by": HOSTILE, "said_from": "agent", "note": HOSTILE}
    file = {"path": HOSTILE, "change": "new", "added": 1, "removed": 0, "keys": [HOSTILE]}
    lines = shown(
        columns,
        goal_id=HOSTILE,
        file=HOSTILE,
        contract=HOSTILE,
        run=HOSTILE,
        document={HOSTILE: HOSTILE},
        approvals=[act],
        closed=act,
        proof={"files": [file], "count": 1, "sentence": "1 file", "unknown": [HOSTILE]},
        evidence=[evidence(1, id=HOSTILE, type=HOSTILE, outcome=HOSTILE, created_at=HOSTILE)],
    )
    for line in lines:
        assert not [mark for mark in MARKS if mark in line], line
