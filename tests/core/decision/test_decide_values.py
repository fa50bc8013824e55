"""Confidence and blocker of every decision, beside its status (SPEC 3, step 6)."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.decision.decide import CONFIDENCE_BAR, Decision, Measured, NoOpinion, Opinion, decide

PERSON = ("needs_human_review", "waiting_for_user", None, "needs_human_review")
CASES: list[tuple[dict[str, Any], Decision]] = [
    (
        {"found": "pass", "violation": True},
        Decision("blocked", "blocked", None, "blocked", 1.0, "scope_violation"),
    ),
    ({"found": "fail"}, Decision("not_achieved", "active", None, "fail", 1.0, "none")),
    ({"found": "incomplete"}, Decision("not_achieved", "active", None, "incomplete", 1.0, "none")),
    (
        {"found": "pass+fuzzy", "evaluator_type": "deterministic"},
        Decision(*PERSON, 0.0, "none"),  # type: ignore[arg-type]
    ),
    ({"found": "pass"}, Decision("achieved", "active", "achieved", "pass", 1.0, "none")),
    ({"found": "pass", "review": True}, Decision(*PERSON, 1.0, "missing_approval")),  # type: ignore[arg-type]
    ({"found": "pass+fuzzy"}, Decision(*PERSON, 0.0, "none")),  # type: ignore[arg-type]
    (
        {"found": "pass+fuzzy", "judge": NoOpinion("x")},
        Decision(*PERSON, 0.0, "none"),  # type: ignore[arg-type]
    ),
    (
        {"found": "pass+fuzzy", "judge": Opinion("achieved", 0.75)},
        Decision("achieved", "active", "achieved", "pass", 0.75, "none"),
    ),
    (
        {"found": "pass+fuzzy", "judge": Opinion("achieved", 0.75), "review": True},
        Decision(*PERSON, 0.75, "missing_approval"),  # type: ignore[arg-type]
    ),
    (
        {"found": "pass+fuzzy", "judge": Opinion("achieved", 0.25)},
        Decision(*PERSON, 0.25, "none"),  # type: ignore[arg-type]
    ),
    (
        {"found": "pass+fuzzy", "judge": Opinion("not_achieved", 0.75, blocker_type="missing_dep")},
        Decision("not_achieved", "active", None, "incomplete", 0.75, "none"),
    ),
    (
        {"found": "pass+fuzzy", "judge": Opinion("blocked", 0.75, blocker_type="missing_dep")},
        Decision("blocked", "blocked", None, "blocked", 0.75, "missing_dep"),
    ),
    (
        {"found": "pass+fuzzy", "judge": Opinion("blocked", 0.75)},
        Decision(*PERSON, 0.0, "none"),  # type: ignore[arg-type]
    ),
    (
        {
            "found": "pass+fuzzy",
            "judge": Opinion("needs_human_review", 0.75, blocker_type="ambiguous_requirement"),
        },
        Decision(*PERSON, 0.75, "ambiguous_requirement"),  # type: ignore[arg-type]
    ),
    (
        {"found": "pass+fuzzy", "judge": Opinion("unheard of", 0.75)},  # type: ignore[arg-type]
        Decision(*PERSON, 0.0, "none"),  # type: ignore[arg-type]
    ),
    (
        {
            "found": "pass+fuzzy",
            "judge": Opinion("unheard of", 0.75, blocker_type="missing_dep"),  # type: ignore[arg-type]
        },
        Decision(*PERSON, 0.0, "none"),  # type: ignore[arg-type]
    ),
    (
        {"found": "pass+fuzzy", "judge": Opinion("achieved", float("nan"))},
        None,  # type: ignore[list-item]
    ),
]


@pytest.mark.parametrize(("given", "expected"), CASES)
def test_every_value_of_a_decision(given: dict[str, Any], expected: Decision | None) -> None:
    full = {"violation": False, "evaluator_type": "hybrid", "trigger": "manual", **given}
    made = decide(full.pop("found"), **full)
    if expected is None:  # no number is no confidence
        assert made.proposed is None
        assert made.verdict == "needs_human_review"
    else:
        assert made == expected


def test_the_bar_and_the_defaults() -> None:
    assert CONFIDENCE_BAR == 0.6
    assert Opinion("achieved", 1.0) == Opinion("achieved", 1.0, "", "", "none")
    assert Measured("AC1", True, False, "passed") == Measured(
        "AC1", True, False, "passed", stale=False, approved=False
    )


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("stale", [True, False])
@pytest.mark.parametrize("fuzzy", [True, False])
@pytest.mark.parametrize("outcome", ["passed", "failed", "inconclusive", "not_run", "not_executed"])
def test_what_proves_disproves_and_decides(
    outcome: Any, fuzzy: bool, stale: bool, approved: bool
) -> None:
    fact = Measured("AC1", True, fuzzy, outcome, stale, approved)
    proved = approved if fuzzy else outcome == "passed" and not stale
    disproved = not fuzzy and outcome == "failed" and not stale
    assert (fact.passing, fact.failing) == (proved, disproved)
    assert fact.decided is (proved or disproved)
