"""What judges said, read from the evidence that holds it, whatever shape that has."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.report.opinions import NoCards, opinions_of
from flow.core.report import ReportedOpinion, ReportedResult
from tests.app.report.test_results import CRITERIA, evidence


class Cards:
    """One scorecard, and two older ones."""

    def card(self, path: str, skill: str) -> dict[str, Any]:
        assert (path, skill) == (".flow/scores/docs-1.json", "docs")
        row = {"score": 4.5, "weight": 0.15, "justification": "left out", "evidence": ["a quote"]}
        return {"dimensions": {"adherence": row}, "recommendations": ["ask first"]}

    def composites(self, skill: str) -> list[tuple[str, float]]:
        assert skill == "docs"
        return [("2026-03-01", 6.0), ("2026-03-02", 7.5)]


def opinion(*judgements: dict[str, Any], cards: Any = None) -> ReportedOpinion:
    """The opinion about AC2 after these judgements, a turn each."""
    sidecars = [
        evidence(f"evidence-judge-eval-{n}", "AC2", type="llm_judge_report", judgement=judgement)
        for n, judgement in enumerate(judgements, 1)
    ]
    rows = [ReportedResult(n, {}, evidence_id=e.id) for n, e in enumerate(sidecars, 1)]
    results = {"AC1": [], "AC2": rows}
    (made,) = opinions_of(CRITERIA, results, sidecars, cards or NoCards())
    return made


RUBRIC = {
    "criterion_id": "AC2",
    "rubric": "Usage page",
    "score": 0.4,
    "passing_threshold": 0.7,
    "criteria": [
        {"name": "complete", "score": 0.3, "threshold": 0.6, "passed": False, "evidence": ["q"]}
    ],
    "suggestions": ["say more"],
}


def test_a_rubric_has_its_dimensions_and_its_past() -> None:
    first = {"rubrics": [RUBRIC], "reason": "no"}
    made = opinion(first, {"rubrics": [{**RUBRIC, "score": 0.8}], "reason": "yes"})
    assert (made.way, made.about, made.needed) == ("rubric", "Usage page", 0.7)
    assert made.past == (("turn 1", 0.4), ("turn 2", 0.8))
    (row,) = made.dimensions
    assert (row.name, row.score, row.needed, row.passed) == ("complete", 0.3, 0.6, False)
    assert made.notes == ("say more",)


def test_a_scorecard_is_read_from_its_card_and_compared_with_the_skills_others() -> None:
    apart = {"criterion_id": "AC2", "way": "scorecard", "skill": "docs", "composite": 7.5,
             "card": ".flow/scores/docs-1.json", "critical_issues": ["adherence"]}  # fmt: skip
    made = opinion({"apart": [apart]}, cards=Cards())
    assert (made.way, made.highest) == ("scorecard", 10.0)
    assert [(row.name, row.passed) for row in made.dimensions] == [("adherence", False)]
    assert made.past == (("2026-03-01", 6.0), ("2026-03-02", 7.5))
    assert made.notes == ("adherence", "ask first")


def test_a_debate_has_its_scores_and_names_its_reports() -> None:
    apart = {"criterion_id": "AC2", "way": "debate", "scores": {"clear": 4.0}, "overall": 4.0,
             "rounds": 2, "consensus": True, "reports": ["a.1.md"]}  # fmt: skip
    made = opinion({"apart": [apart]})
    assert (made.about, opinion({"apart": [{**apart, "mode": "vote"}]}).about) == ("", "vote")
    assert [(row.name, row.score) for row in made.dimensions] == [("clear", 4.0)]
    assert "all judges accept it" in made.notes
    assert "what each judge wrote: a.1.md" in made.notes


@pytest.mark.parametrize(
    "judgement",
    [
        {"verdict": 7},
        {"rubrics": {"criterion_id": "AC2"}},
        {"rubrics": [{"criterion_id": "AC2", "criteria": "x", "score": "high"}]},
        {"apart": [{"criterion_id": "AC2", "way": "scorecard", "card": 3}]},
        {"apart": [{"criterion_id": "AC2", "way": "debate", "scores": [1], "reports": 4}]},
        {"ballots": {"sidecars": "x"}, "criteria": 1},
        {"ballots": {"sidecars": [None, "evidence-judge-eval-1.evidence.yaml"]}},
    ],
)
def test_whatever_a_judgement_holds_there_is_an_opinion(judgement: dict[str, Any]) -> None:
    assert opinion(judgement).criterion_id == "AC2"
