"""Evidence that still fits stands for a run; a quiet evaluation writes what it changed (SPEC 6)."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.evaluation.evaluate import examine
from flow.app.evaluation.reuse import still_decides
from flow.app.evaluation.values import Request
from flow.core.decision.verdict import Verdict
from flow.errors import StateError
from tests.app.fakes import World, changed, criterion, goal_document

FIRST = Request("issue-4", trigger="stop-hook", reuse={}, quiet=True)


def world(*criteria: dict[str, Any], **more: Any) -> World:
    return World(goal_document(*(criteria or (criterion("AC1"), criterion("AC2"))), **more))


def refs(verdict: Verdict) -> dict[str, str]:
    return {r.criterion_id: r.evidence_ref for r in verdict.criterion_results if r.evidence_ref}


def again(here: World, before: Verdict, **more: Any) -> Any:
    return examine(FIRST._replace(reuse=refs(before), **more), here.tools())


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_unchanged_work_is_not_run_again(outcome: str) -> None:
    here = world()
    here.outcomes["AC2"] = outcome
    first = examine(FIRST, here.tools()).verdict
    here.log.clear()
    second, found = again(here, first)
    assert [entry for entry in here.log if entry.startswith("run ")] == []
    assert found.measurement.reused == ("AC1", "AC2")
    assert (second.verdict, second.turns_evaluated) == (first.verdict, 2)
    assert refs(second) == refs(first)
    assert [r.outcome for r in second.criterion_results] == ["passed", outcome]
    assert [row.result for row in found.measurement.rows] == [
        "exit 0",
        f"exit {int(outcome == 'failed')}",
    ]
    assert len(here.turns) == 1


def test_the_goals_own_evidence_is_tried_where_the_caller_names_none() -> None:
    here = world()
    examine(FIRST, here.tools())
    assert examine(FIRST, here.tools()).evaluation.measurement.reused == ("AC1", "AC2")


def test_without_being_asked_to_everything_is_run() -> None:
    here = world()
    examine(FIRST, here.tools())
    here.log.clear()
    examine(Request("issue-4"), here.tools())
    assert "run AC1" in here.log


def test_an_inconclusive_run_is_tried_again() -> None:
    here = world()
    here.outcomes["AC2"] = "inconclusive"
    first = examine(FIRST, here.tools()).verdict
    found = again(here, first).evaluation
    assert found.measurement.reused == ("AC1",)


def test_altered_evidence_is_not_reused() -> None:
    here = world()
    first = examine(FIRST, here.tools()).verdict
    here.altered.update(refs(first).values())
    assert again(here, first).evaluation.measurement.reused == ()


def test_evidence_of_one_criterion_does_not_stand_for_another() -> None:
    here = world()
    here.outcomes["AC1"] = "failed"
    first = examine(FIRST, here.tools()).verdict
    swapped = {"AC1": refs(first)["AC2"], "AC2": refs(first)["AC1"]}
    here.document["objective"]["acceptance_criteria"][0].pop("evidence_ref", None)
    second = examine(FIRST._replace(reuse=swapped), here.tools())
    assert second.verdict.criterion_results[0].outcome == "failed"


CHANGES: dict[str, Any] = {
    "type": {"evidence": {"type": "test_result"}},
    "goal": {"metadata": {"goal": "other"}},
    "author": {"metadata": {"created_by": "somebody"}},
    "no author": {"metadata": {"created_by": None}},
    "outcome": {"evidence": {"outcome": "inconclusive"}},
    "wording": {"evidence": {"criterion_digest": "0" * 64}},
    "tree": {"subject": {"tree": "0" * 64}},
    "no tree": {"subject": {"tree": None}},
    "contract": {"subject": {"contract": "0" * 64}},
    "version": {"subject": {"flow_version": "999"}},
}


@pytest.mark.parametrize("what", [None, *CHANGES])
def test_what_fits(what: str | None) -> None:
    from flow.core.evidence.model import evidence_from_document

    here = world()
    verdict, found = examine(FIRST, here.tools())
    assert found is not None
    evidence = here.counted(refs(verdict)["AC1"])
    assert evidence is not None
    change = CHANGES[what] if what else {}
    old = evidence.document
    document = {
        **old,
        "metadata": {**old["metadata"], **change.get("metadata", {})},
        "evidence": {
            **old["evidence"],
            **change.get("evidence", {}),
            "subject": {**old["evidence"]["subject"], **change.get("subject", {})},
        },
    }
    wanted = found.facts.loaded.goal.criteria[0]
    assert still_decides(evidence_from_document(document), wanted, found.facts) is (what is None)


def test_a_criterion_that_is_not_hermetic_is_never_reused() -> None:
    here = world(criterion("AC1", hermetic=False))
    first = examine(FIRST, here.tools()).verdict
    assert again(here, first).evaluation.measurement.reused == ()


# --- quiet -----------------------------------------------------------------------------------


def test_an_unchanged_result_is_not_written_though_the_files_moved() -> None:
    here = world()
    here.outcomes["AC1"] = "failed"
    examine(FIRST, here.tools())
    here.head = "i" * 40
    second = examine(FIRST, here.tools()).verdict
    assert len(here.turns) == 1
    assert (second.turns_evaluated, second.lifecycle_to) == (2, "active")


def test_a_proposal_follows_the_files_while_the_goal_stays_as_it_is() -> None:
    here = world()
    first = examine(FIRST, here.tools()).verdict
    here.head = "i" * 40
    here.log.clear()
    again(here, first)
    assert "repropose" not in here.log  # the same files

    here.changes = (changed("src/new"),)
    second = again(here, first).verdict
    assert here.log.count("repropose") == 1
    assert len(here.turns) == 1
    assert here.live is not None
    assert second.proposed_transition is not None
    assert here.live["proposal_id"] == second.proposed_transition.proposal_id


@pytest.mark.parametrize("quiet", [True, False])
def test_a_changed_result_is_written(quiet: bool) -> None:
    here = world()
    here.outcomes["AC1"] = "failed"
    examine(FIRST, here.tools())
    here.outcomes["AC1"] = "passed"
    examine(FIRST._replace(quiet=quiet, reuse=None), here.tools())
    assert len(here.turns) == 2


def test_not_quiet_writes_an_unchanged_result_too() -> None:
    here = world()
    examine(FIRST, here.tools())
    examine(FIRST._replace(quiet=False), here.tools())
    assert len(here.turns) == 2


def blocked_by_paths() -> World:
    here = world(status="blocked")
    last = {"result": "blocked", "reason": "path_boundary_violation: x", "at": "y"}
    here.document["lifecycle"]["last_evaluation"] = last
    return here


def test_a_quiet_evaluation_resumes_only_what_it_changes() -> None:
    here = blocked_by_paths()
    examine(FIRST, here.tools())
    assert [move.to for move in here.moves] == ["active"]
    assert here.turns[0].status == "active"
    assert here.log.index("move active") < here.log.index("turn active")


def test_a_stop_resumes_no_goal_that_a_person_set_aside() -> None:
    here = world(status="waiting_for_user")
    with pytest.raises(StateError, match="cannot be evaluated"):
        examine(FIRST, here.tools())
    assert here.moves == here.turns == []
    examine(FIRST._replace(trigger="command"), here.tools())  # after an approval
    assert [move.to for move in here.moves] == ["active"]


def test_a_goal_that_moved_meanwhile_is_not_written() -> None:
    here = blocked_by_paths()

    def moved() -> None:
        here.document["objective"]["outcome"] = "something else"

    here.during["AC1"] = moved
    with pytest.raises(StateError):
        examine(FIRST, here.tools())
    assert here.turns == []


# --- time ------------------------------------------------------------------------------------


def test_what_does_not_fit_the_time_is_left_out_and_named() -> None:
    here = world(criterion("AC1"), criterion("AC2"), criterion("AC3"))
    tools = here.tools()._replace(seconds_left=lambda: 0.0 if "run AC2" in here.log else 9.0)
    verdict, found = examine(FIRST, tools)
    assert found is not None
    assert found.measurement.out_of_time == ("AC2", "AC3")
    assert [r.outcome for r in verdict.criterion_results] == ["passed", "not_run", "not_run"]
    assert "not reached" in verdict.reason
    assert verdict.verdict == "not_achieved"
    assert verdict.proposed_transition is None


def test_the_fast_ones_go_first_and_one_known_to_be_too_slow_is_not_begun() -> None:
    here = world(criterion("AC1"), criterion("AC2"), criterion("AC3"))
    examine(FIRST, here.tools())
    for number, seconds in (("AC1", 50.0), ("AC2", 1.0), ("AC3", 5.0)):
        for found in here.evidence.values():
            if number in found.proves:
                found.document["evidence"]["duration_seconds"] = seconds  # type: ignore[index]

    here.changes = (changed("src/new"),)
    here.log.clear()
    tools = here.tools()._replace(seconds_left=lambda: 20.0)
    found = examine(FIRST, tools).evaluation
    assert [entry for entry in here.log if entry.startswith("run ")] == ["run AC2", "run AC3"]
    assert found is not None
    assert found.measurement.out_of_time == ("AC1",)


def test_one_known_to_be_too_slow_keeps_no_time_from_those_behind_it() -> None:
    """Commands whose time is not known go last, but what does not fit is no reason to stop."""
    here = world(criterion("AC1"), criterion("AC2"))
    examine(FIRST._replace(only=frozenset({"AC1"})), here.tools())
    for found in here.evidence.values():
        found.document["evidence"]["duration_seconds"] = 50.0  # type: ignore[index]
    here.changes = (changed("src/new"),)
    here.log.clear()
    found = examine(FIRST, here.tools()._replace(seconds_left=lambda: 20.0)).evaluation
    assert [entry for entry in here.log if entry.startswith("run ")] == ["run AC2"]
    assert found is not None
    assert found.measurement.out_of_time == ("AC1",)


@pytest.mark.parametrize(
    ("left", "late"),
    [
        (2.1, {"AC1": [], "AC2": []}),
        (1.9, {"AC1": ["AC1"], "AC2": []}),
        (0.0, {"AC1": ["AC1", "AC2"], "AC2": ["AC2"]}),
    ],
)
@pytest.mark.parametrize("slow", ["AC1", "AC2"])
def test_a_command_leaves_a_fifth_of_the_time_to_those_behind_it(
    slow: str, left: float, late: dict[str, list[str]]
) -> None:
    """Of 10 s these are left while it runs. Where nobody waits, it may use all of them."""
    here = world(criterion("AC1"), criterion("AC2"))

    def seconds_left() -> float:
        return (
            left
            if (left == 0 and f"run {slow}" in here.log) or here.log[-1:] == [f"run {slow}"]
            else 10.0
        )

    verdict, found = examine(FIRST, here.tools()._replace(seconds_left=seconds_left))
    assert found is not None
    assert list(found.measurement.out_of_time) == late[slow]
    for criterion_id in late[slow]:
        assert f"{criterion_id} (not reached in the time that was left)" in verdict.reason


def test_before_a_command_runs_each_earlier_sidecar_of_it_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is looked at for the result on these files, and for the most tests that ran."""
    here = world(criterion("AC1"))
    asked: list[str] = []
    counted = here.counted

    def noted(reference: str, *more: Any, **named: Any) -> Any:
        if not any(entry.startswith("run ") for entry in here.log):
            asked.append(reference)
        return counted(reference, *more, **named)

    for number in range(4):
        here.changes = (changed(f"src/{number}"),)
        if number == 3:
            here.log.clear()
            monkeypatch.setattr(here, "counted", noted)
        examine(Request("issue-4"), here.tools())
    assert sorted(asked) == sorted(here.evidence)[:3]
