"""Criteria that are judged by a scorecard or a debate, and how that meets the ballots."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.decision.decide import JudgedCriterion
from flow.core.goal.model import Criterion, Goal, goal_from_document
from flow.core.judging.goal.ballots import Tally
from flow.core.judging.goal.context import SoughtCriterion
from flow.core.judging.goal.delegated import (
    DelegatedDebate,
    DelegatedOpinion,
    DelegatedScorecard,
    balloted,
    combined,
    delegated_criteria,
    delegated_judgements,
)


def criterion(**document: Any) -> Criterion:
    known = {"id": "AC1", "text": "the notes are good", "status": "pending", **document}
    paths = tuple(known.get("evidence_paths", ()))
    command = known.get("verification_command")
    return Criterion(
        "AC1",
        known["text"],
        verification_command=command,
        evidence_paths=paths,
        document=known,
    )


# --- what a contract asks for ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "order"),
    [
        (True, DelegatedScorecard(None)),
        ("notes", DelegatedScorecard("notes")),
        ({"skill": "notes"}, DelegatedScorecard("notes")),
        ({"skill": "notes", "min_grade": "A"}, DelegatedScorecard("notes", "A")),
        (
            {"skill": "n", "min_grade": "C-", "file": "run.jsonl", "rubric": "rubric-ops.md"},
            DelegatedScorecard("n", "C-", "run.jsonl", "rubric-ops.md"),
        ),
        (False, None),
        (None, None),
        ({}, DelegatedScorecard(None)),
        ({"min_grade": "D"}, DelegatedScorecard(None, "D")),
    ],
)
def test_a_scorecards_order(given: Any, order: DelegatedScorecard | None) -> None:
    assert delegated_judgements(criterion(scorecard=given)) == ((order,) if order else ())


@pytest.mark.parametrize(
    ("given", "order"),
    [
        (True, DelegatedDebate(("docs/**",), "the notes are good")),
        ({}, DelegatedDebate(("docs/**",), "the notes are good")),
        ("design", DelegatedDebate(("docs/**",), "the notes are good", kind="design")),
        (
            {"solution": "src/a.py", "task": "add"},
            DelegatedDebate(("src/a.py",), "add"),
        ),
        (
            {
                "solution": ["a", "b"],
                "criteria": "clarity:2",
                "judges": 2,
                "rounds": 1,
                "mode": "vote",
                "min_score": 3.5,
            },
            DelegatedDebate(
                ("a", "b"), "the notes are good", "clarity:2", "code", 2, 1, "vote", 3.5
            ),
        ),
        (False, None),
        (None, None),
    ],
)
def test_a_debates_order(given: Any, order: DelegatedDebate | None) -> None:
    found = delegated_judgements(criterion(debate=given, evidence_paths=["docs/**"]))
    assert found == ((order,) if order else ())


def test_a_command_is_never_replaced_by_one() -> None:
    assert (
        delegated_judgements(criterion(verification_command="true", scorecard=True, debate=True))
        == ()
    )


def goal(*documents: dict[str, Any]) -> Goal:
    rows = [
        {"id": f"AC{place}", "text": "t", "status": "pending", **document}
        for place, document in enumerate(documents, 1)
    ]
    return goal_from_document(
        {
            "metadata": {"id": "g", "created_at": "2026-01-01T00:00:00Z"},
            "scope": {"repo": "r", "branch": "main"},
            "objective": {"outcome": "o", "acceptance_criteria": rows},
            "evaluator": {"type": "hybrid"},
            "lifecycle": {"status": "active"},
        }
    )


def test_only_what_has_no_way_of_its_own_is_balloted() -> None:
    found = goal(
        {},
        {"scorecard": "notes"},
        {"debate": True},
        {"debate": True, "rubric": "clear"},
        {"scorecard": "notes"},
    )
    sought = tuple(SoughtCriterion(c.id, c.text, True) for c in found.criteria[:4])
    assert [c.id for c in delegated_criteria(found, sought)] == ["AC2", "AC3", "AC4"]
    assert [one.id for one in balloted(found, sought)] == ["AC1", "AC4"]


# --- ballots and what was heard -------------------------------------------------------------------

SOUGHT = (SoughtCriterion("AC1", "t", True), SoughtCriterion("AC2", "t", True))
BLOCKED = ("blocked", "missing_dep")


def ballots(verdict: str, blocker: str = "none", confidence: float = 0.9) -> Tally:
    status = "pass" if verdict == "achieved" else "fail"
    rows = (JudgedCriterion("AC1", status, "as I see it"),)  # type: ignore[arg-type]
    return Tally(
        verdict,  # type: ignore[arg-type]
        confidence,
        f"ballots: {verdict}",
        "the hint",
        blocker,  # type: ignore[arg-type]
        rows,
        1,
        1,
        1,
        0.0,
    )


def heard(status: Any, confidence: float = 0.8, id: str = "AC2") -> DelegatedOpinion:
    return DelegatedOpinion(id, "debate", status, f"it is {status}", confidence, "look at AC2")


@pytest.mark.parametrize(
    ("given", "said", "verdict", "confidence", "blocker"),
    [
        (ballots("achieved"), "pass", "achieved", 0.8, "none"),
        (ballots("achieved", confidence=0.7), "pass", "achieved", 0.7, "none"),
        (ballots("achieved"), "fail", "not_achieved", 0.8, "none"),
        (ballots("achieved"), None, "needs_human_review", 0.8, "none"),
        (ballots("not_achieved"), "pass", "not_achieved", 0.9, "none"),
        (ballots("not_achieved"), "fail", "not_achieved", 0.8, "none"),
        (ballots("not_achieved"), None, "not_achieved", 0.9, "none"),
        (ballots("needs_human_review"), "pass", "needs_human_review", 0.9, "none"),
        (ballots("needs_human_review"), "fail", "not_achieved", 0.8, "none"),
        (ballots("needs_human_review"), None, "needs_human_review", 0.8, "none"),
        (ballots(*BLOCKED), "pass", "blocked", 0.9, "missing_dep"),
        (ballots(*BLOCKED), "fail", "blocked", 0.9, "missing_dep"),
        (ballots(*BLOCKED), None, "blocked", 0.9, "missing_dep"),
        (None, "pass", "achieved", 0.8, "none"),
        (None, "fail", "not_achieved", 0.8, "none"),
        (None, None, "needs_human_review", 0.8, "none"),
    ],
)
def test_the_least_that_is_said_counts(
    given: Tally | None, said: Any, verdict: str, confidence: float, blocker: str
) -> None:
    sought = SOUGHT if given else SOUGHT[1:]
    found = combined(given, [heard(said)], sought)
    assert (found.verdict, found.confidence, found.blocker_type) == (verdict, confidence, blocker)
    row = found.criteria[-1]
    assert (row.id, row.status) == ("AC2", said or "incomplete")
    assert [one.id for one in found.criteria] == [one.id for one in sought]


def test_what_is_not_required_has_no_say() -> None:
    sought = (SOUGHT[0], SoughtCriterion("AC2", "t", must_pass=False))
    found = combined(ballots("achieved"), [heard("fail")], sought)
    assert (found.verdict, found.confidence) == ("achieved", 0.9)
    assert found.criteria[1].status == "fail"


def test_nothing_that_is_required_achieves_nothing() -> None:
    found = combined(None, [heard("pass")], (SoughtCriterion("AC2", "t", must_pass=False),))
    assert (found.verdict, found.confidence) == ("needs_human_review", 0.0)


@pytest.mark.parametrize(
    ("ballot", "said", "status"),
    [
        ("achieved", "pass", "pass"),
        ("achieved", "fail", "fail"),
        ("achieved", None, "incomplete"),
        ("not_achieved", "pass", "fail"),
    ],
)
def test_of_two_opinions_of_a_criterion_the_lower_is_its_status(
    ballot: str, said: Any, status: str
) -> None:
    found = combined(ballots(ballot), [heard(said, id="AC1")], SOUGHT[:1])
    assert found.criteria[0].status == status


def test_the_reasons_of_those_that_decide_are_told() -> None:
    two = [heard("fail"), heard("fail", id="AC1")]
    found = combined(ballots("achieved"), two, SOUGHT)
    assert found.reason == "AC2: it is fail; AC1: it is fail"
    assert found.next_step_hint == "look at AC2"
    assert combined(ballots("achieved"), [heard("pass")], SOUGHT).reason.startswith("ballots: ")
