"""The verdict as one JSON object (SPEC section 3)."""

from __future__ import annotations

import pytest

from flow.core.verdict import (
    HINT_LIMIT,
    REASON_LIMIT,
    CriterionResult,
    ProposedTransition,
    Verdict,
    clip,
)

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
    criterion_results=(CriterionResult("AC1", "pass", "passed", 0, "ref", ("l",), "why"),),
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
        "confidence": 0.9,
        "delta": "made_progress",
        "reason": "because",
        "next_step_hint": "confirm",
        "blocker_type": "none",
        "criterion_results": [
            {
                "criterion_id": "AC1",
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
        "status": "pending",
        "outcome": "not_run",
        "exit_code": None,
        "evidence_ref": None,
        "limitations": [],
        "reason": "",
    }
