"""Turns and results of a goal, put together from its events and its evidence."""

from __future__ import annotations

from typing import Any

from flow.app.report.results import turns_of
from flow.core.evidence.model import Evidence, evidence_from_document
from flow.core.goal.model import Criterion
from flow.render.verdict.criterion_row import row_meaning

CRITERIA = [
    Criterion("AC1", "it runs", verification_command="true"),
    Criterion("AC2", "it reads well"),
]


def evidence(name: str, about: str = "AC1", at: int = 1, **body: Any) -> Evidence:
    """A sidecar; of a command that passed, unless it says otherwise."""
    given = {"type": "command_result", "outcome": "passed", "exit_code": 0, "command": "true"}
    document = {
        "metadata": {
            "id": name,
            "goal": "g",
            "run_id": "r",
            "created_at": f"2026-03-01T10:00:{at:02d}Z",
            "created_by": body.pop("created_by", "flow-evaluator"),
        },
        "evidence": {**given, "proves": [about], "limitations": [], **body},
    }
    return evidence_from_document(document)


def turn(number: int, **more: Any) -> dict[str, Any]:
    return {"type": "evaluated", "turn": number, "at": f"2026-03-01T1{number}:00:00Z", **more}


def named(*names: str) -> list[dict[str, Any]]:
    return [{"type": "evidence", "evidence_id": name} for name in names]


def meanings(events: list[dict[str, Any]], sidecars: list[Evidence]) -> dict[str, list[str]]:
    _, results = turns_of(events, sidecars, CRITERIA)
    return {name: [row_meaning(result.row) for result in rows] for name, rows in results.items()}


def test_each_turn_has_the_evidence_that_came_before_it() -> None:
    sidecars = [
        evidence("evidence-ac1-eval-1", outcome="failed", exit_code=1),
        evidence("evidence-ac1-eval-2", at=2),
    ]
    events = [
        *named("evidence-ac1-eval-1"),
        turn(1, passing=[], verdict="not_achieved"),
        *named("evidence-ac1-eval-2"),
        turn(2, passing=["AC1"], verdict="achieved"),
    ]
    assert meanings(events, sidecars)["AC1"] == ["failed", "proved"]
    turns, results = turns_of(events, sidecars, CRITERIA)
    assert [each.number for each in turns] == [1, 2]
    assert [result.evidence_id for result in results["AC1"]] == [e.id for e in sidecars]
    assert meanings(events, sidecars)["AC2"] == ["unasked", "unasked"]


def test_what_was_not_measured_again_is_what_stood_for_it() -> None:
    sidecars = [evidence("evidence-ac1-eval-1")]
    events = [
        *named("evidence-ac1-eval-1"),
        turn(1, passing=["AC1"]),
        turn(2, passing=["AC1"], reused=["AC1"]),
        turn(3, passing=[]),
    ]
    assert meanings(events, sidecars)["AC1"] == ["proved", "proved", "unasked"]
    _, results = turns_of(events, sidecars, CRITERIA)
    assert results["AC1"][1].row["reused"] is True


def test_a_result_that_passed_and_does_not_count_is_undecided() -> None:
    sidecars = [evidence("evidence-ac1-eval-1")]
    events = [*named("evidence-ac1-eval-1"), turn(1, passing=[])]
    assert meanings(events, sidecars)["AC1"] == ["undecided"]


def test_runs_on_the_base_of_others_and_each_of_several_count_for_nothing() -> None:
    sidecars = [
        evidence("evidence-ac1-base", created_by="flow-baseline"),
        evidence("lint", imported={"format": "junit"}),
        evidence("evidence-ac1-eval-1-run-1"),
        evidence("evidence-ac1-eval-1", outcome="failed", exit_code=2, duration_seconds=3.0),
    ]
    events = [*named(*(e.id for e in sidecars)), turn(1, passing=[])]
    assert meanings(events, sidecars)["AC1"] == ["failed"]


def test_a_judge_and_a_person_are_told_apart() -> None:
    said = {"verdict": "achieved", "confidence": 0.9, "duration_seconds": 2.0}
    judged = evidence(
        "evidence-judge-eval-1",
        "AC2",
        type="llm_judge_report",
        proves=[],
        judgement={**said, "criteria": [{"id": "AC2", "status": "fail", "reason": "no"}]},
    )
    approved = evidence("evidence-ac2-approval", "AC2", 2, type="human_approval", approved_by="R.")
    events = [
        *named(judged.id),
        turn(1, passing=[]),
        {"type": "approved", "criterion_id": "AC2", "evidence_id": approved.id},
        turn(2, passing=["AC2"]),
    ]
    assert meanings(events, [judged, approved])["AC2"] == ["failed", "proved"]
    turns, results = turns_of(events, [judged, approved], CRITERIA)
    assert results["AC2"][0].details.seconds == 2.0
    assert results["AC2"][1].details.approved_by == "R."
    assert turns[0].seconds == 2.0


def test_files_outside_and_amendments_belong_to_their_turn() -> None:
    check = evidence(
        "evidence-boundary-eval-2",
        type="path_boundary_check",
        proves=[],
        violations=[{"path": "x"}, {"path": "y"}],
    )
    events = [
        turn(1, subject={"tree": "a"}),
        {"type": "contract-amended"},
        *named(check.id),
        turn(2, subject={"tree": "a"}),
        turn(3),
    ]
    turns, _ = turns_of(events, [check], CRITERIA)
    assert [each.outside for each in turns] == [(), ("x", "y"), ()]
    assert [each.amended for each in turns] == [False, True, False]
    assert [each.files_known for each in turns] == [True, True, False]
