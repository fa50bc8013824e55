"""The verdict as one JSON object (SPEC 3)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from flow.core.decision.verdict import (
    HINT_LIMIT,
    REASON_LIMIT,
    Act,
    BlockerType,
    CriterionResult,
    ProposedTransition,
    Verdict,
    VerdictName,
    next_act,
)
from flow.core.goal.lifecycle import TERMINAL, UNDER_WAY
from flow.core.text.display import clip
from flow.startup.typing import get_args

PROPOSED = ProposedTransition("achieved", "why", 3, "p")
VERDICT = Verdict(
    goal_id="g",
    run_id="r",
    verdict="achieved",
    confidence=0.9,
    delta="made_progress",
    reason="because",
    next_step_hint="confirm",
    blocker_type="none",
    criterion_results=(
        CriterionResult(
            "AC1", "pass", "passed", 0, "ref", ("l",), "why", None, "it greets", "bin/greet"
        ),
    ),
    path_violations=("p",),
    warnings=("w",),
    proposed_transition=PROPOSED,
    lifecycle_from="blocked",
    lifecycle_to="active",
    turns_evaluated=3,
)


def test_the_document_has_every_field_of_the_specification() -> None:
    assert VERDICT.to_document() == {
        "goal_id": "g",
        "run_id": "r",
        "verdict": "achieved",
        "do": "ask_confirm",
        "confidence": 0.9,
        "delta": "made_progress",
        "reason": "because",
        "next_step_hint": "confirm",
        "blocker_type": "none",
        "criterion_results": [
            {
                "criterion_id": "AC1",
                "text": "it greets",
                "command": "bin/greet",
                "status": "pass",
                "outcome": "passed",
                "exit_code": 0,
                "evidence_ref": "ref",
                "limitations": ["l"],
                "reason": "why",
            }
        ],
        "path_violations": ["p"],
        "warnings": ["w"],
        "proposed_transition": {
            "to": "achieved",
            "reason": "why",
            "turns_evaluated": 3,
            "proposal_id": "p",
        },
        "proof": None,
        "lifecycle": {"from": "blocked", "to": "active", "turns_evaluated": 3},
        "ledger_head": None,
        "source": None,
        "recorded_at": None,
    }


def test_what_is_known_later_has_its_place() -> None:
    document = VERDICT._replace(
        proposed_transition=None, ledger_head="h", source="s", recorded_at="t"
    ).to_document()
    assert document["proposed_transition"] is None
    assert (document["ledger_head"], document["source"], document["recorded_at"]) == ("h", "s", "t")


def test_the_limits_of_the_specification() -> None:
    assert (REASON_LIMIT, HINT_LIMIT) == (2048, 500)
    document = VERDICT._replace(reason="r" * 3000, next_step_hint="h" * 3000).to_document()
    assert len(document["reason"]) == 2048
    assert len(document["next_step_hint"]) == 500


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("abc", 3, "abc"),
        ("abc", 4, "abc"),
        ("abcd", 3, "ab…"),
        ("", 3, ""),
        ("abc", 1, "…"),
    ],
)
def test_clip(text: str, limit: int, expected: str) -> None:
    assert clip(text, limit) == expected


def test_the_defaults_of_a_row() -> None:
    assert CriterionResult("AC1", "pending", "not_run").to_document() == {
        "criterion_id": "AC1",
        "text": "",
        "command": None,
        "status": "pending",
        "outcome": "not_run",
        "exit_code": None,
        "evidence_ref": None,
        "limitations": [],
        "reason": "",
    }


def test_the_document_of_a_row_is_in_the_order_in_which_it_is_read() -> None:
    row = CriterionResult("AC1", "pass", "passed", base={"outcome": "failed"}, reused=True)
    assert list(row.to_document()) == [
        "criterion_id",
        "text",
        "command",
        "status",
        "outcome",
        "exit_code",
        "evidence_ref",
        "limitations",
        "reason",
        "base",
        "reused",
    ]
    assert "reused" not in row._replace(reused=False).to_document()
    assert set(row.to_document()) == set(CriterionResult._fields)


def test_an_endless_text_or_command_does_not_fill_the_verdict() -> None:
    row = CriterionResult("AC1", "pass", "passed", text="t" * 9000, command="c" * 9000)
    document = row.to_document()
    assert (len(document["text"]), len(document["command"])) == (REASON_LIMIT, REASON_LIMIT)
    assert document["command"].endswith("…")


# --- what comes next ------------------------------------------------------------------------------

TABLE: tuple[tuple[dict[str, Any], Act], ...] = (
    ({"closed": True}, "done"),
    ({"proposed": True, "trust": True}, "ask_trust"),
    ({"proposed": True}, "ask_confirm"),
    ({"verdict": "achieved"}, "done"),
    ({"verdict": "not_achieved"}, "work_on"),
    ({"verdict": "blocked", "paths": True}, "put_back"),
    ({"verdict": "blocked"}, "person_looks"),
    ({"verdict": "needs_human_review", "paths": True}, "put_back"),
    ({"blocker": "missing_approval", "executed": False}, "ask_trust"),
    ({"blocker": "missing_approval", "trust": True}, "ask_trust"),
    ({"blocker": "missing_approval", "approve": True}, "ask_approve"),
    ({}, "person_looks"),
)
"""The first row whose keys fit says what comes next."""

CELLS = [
    dict(zip(("verdict", "blocker", *names), values, strict=True))
    for names in [("proposed", "paths", "executed", "approve", "closed", "trust")]
    for values in itertools.product(
        get_args(VerdictName), get_args(BlockerType), *([(True, False)] * 6)
    )
]


def expected(cell: dict[str, Any]) -> Act:
    return next(act for row, act in TABLE if row.items() <= cell.items())


def of_cell(cell: dict[str, Any]) -> Verdict:
    outcomes = ("passed", "not_executed") if cell["executed"] else ("not_executed",) * 2
    return VERDICT._replace(
        verdict=cell["verdict"],
        blocker_type=cell["blocker"],
        proposed_transition=PROPOSED if cell["proposed"] else None,
        path_violations=("p",) if cell["paths"] else (),
        criterion_results=tuple(CriterionResult("AC1", "pending", o) for o in outcomes),
        to_approve=("guards",) if cell["approve"] else (),
        to_trust=cell["trust"],
        lifecycle_to="failed" if cell["closed"] else "active",
    )


def test_every_verdict_says_what_comes_next() -> None:
    assert len(CELLS) == 4 * 6 * 2**6
    wrong = {
        tuple(cell.items()): (next_act(of_cell(cell)), expected(cell))
        for cell in CELLS
        if next_act(of_cell(cell)) != expected(cell)
    }
    assert wrong == {}
    assert {expected(cell) for cell in CELLS} == set(get_args(Act))
    assert {act for _, act in TABLE} == set(get_args(Act))


@pytest.mark.parametrize("status", sorted(TERMINAL | UNDER_WAY))
def test_a_closed_goal_has_nothing_left_to_do(status: str) -> None:
    found = next_act(VERDICT._replace(lifecycle_to=status))
    assert found == ("done" if status in TERMINAL else "ask_confirm")
