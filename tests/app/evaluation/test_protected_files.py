"""What an evaluation and a person make of changed protected files, over a world in memory."""

from __future__ import annotations

import pytest

from flow.app import overview
from flow.app.evaluation import observing, protected_files
from flow.app.evaluation.values import Drift
from flow.app.judging import gathering, reviewing
from flow.app.transitions.moves import approve
from flow.app.transitions.persons_word import PersonsWord
from flow.core.boundary.changes import ContentState, PathChange
from flow.errors import GitError, StateError
from tests.app.evaluation.test_observing import look, run
from tests.app.fakes import NOW, World, changed, criterion, goal_document

TEST = "src/tests/a"


@pytest.fixture
def world() -> World:
    made = World(goal_document(criterion("AC1"), protected_paths=["src/tests/**"]))
    made.base = made.base._replace(protected_patterns=("src/tests/**",))
    return made


def allow(world: World) -> str:
    return approve(world.desk(), "issue-4", "protected", PersonsWord("sam", None, "read"))


def test_changed_protected_files_wait_for_a_person_who_approves_them_as_they_are(
    world: World,
) -> None:
    assert run(world).verdict == "achieved"
    world.changes = (changed(TEST),)
    verdict = run(world)
    assert (verdict.verdict, verdict.blocker_type) == ("needs_human_review", "missing_approval")
    assert f"protected files changed since activation: {TEST}" in verdict.reason
    assert "flow goal approve issue-4 protected" in verdict.next_step_hint
    body = world.evidence[allow(world)].document["evidence"]
    assert (body["proves"], body["protected_changes"]["count"]) == ([], 1)
    assert "guards" not in body
    verdict = run(world)
    assert verdict.verdict == "achieved"
    assert any("approved as they are" in warning for warning in verdict.warnings)
    world.changes = (changed(TEST, "9"),)
    assert run(world).verdict == "needs_human_review"


def test_there_has_to_be_something_to_approve(world: World) -> None:
    with pytest.raises(StateError) as refused:
        allow(world)
    assert refused.value.code == "nothing_changed"


def test_nothing_else_becomes_milder(world: World) -> None:
    world.changes = (changed(TEST),)
    world.outcomes["AC1"] = "failed"
    assert run(world).verdict == "not_achieved"
    world.outcomes["AC1"] = "inconclusive"
    assert run(world).verdict == "not_achieved"
    world.problems = ("a merge is under way",)
    verdict = run(world)
    assert (verdict.verdict, verdict.blocker_type) == ("not_achieved", "none")


def test_an_approval_of_another_kind_is_none_of_this(world: World) -> None:
    world.changes = (changed(TEST),)
    world.guards = {"hooks/x": "d"}
    assert run(world).blocker_type == "missing_approval"
    approve(world.desk(), "issue-4", "guards", PersonsWord("sam", None, "ours"))
    verdict = run(world)
    assert verdict.blocker_type == "missing_approval"
    assert "approve issue-4 protected" in verdict.next_step_hint
    allow(world)
    assert run(world).verdict == "achieved"


def test_what_commands_write_counts_in_the_same_evaluation(world: World) -> None:
    new = PathChange("src/tests/new.log", None, None, None, ContentState("100644", "1"))
    world.during["AC1"] = lambda: setattr(world, "changes", (new,))
    verdict = run(world)
    assert verdict.verdict == "needs_human_review"
    assert (
        "protected, and written by the commands themselves: src/tests/new.log" in verdict.warnings
    )


def test_what_commands_write_and_could_steer_them_is_a_change(world: World) -> None:
    new = PathChange("src/tests/conftest.py", None, None, None, ContentState("100644", "1"))
    world.during["AC1"] = lambda: setattr(world, "changes", (new,))
    assert run(world).proposed_transition is None
    verdict = run(world)
    assert verdict.verdict == "needs_human_review"
    assert "src/tests/conftest.py" in " ".join(verdict.warnings)


def test_patterns_nothing_was_recorded_for_are_named(world: World) -> None:
    world.base = world.base._replace(protected_patterns=())
    facts = look(world)
    assert protected_files.late_patterns(facts) == ["src/tests/**"]
    report = observing.boundary(facts, Drift(), world.tools())
    assert "ignored files that they name are not compared: src/tests/**" in report.warnings[0]


def test_the_status_says_what_changed_and_what_to_do(world: World) -> None:
    world.changes = (changed(TEST),)
    run(world)
    loaded = world.goal("issue-4")
    said = overview.status_document(world.desk(), loaded, (True, "why"), False)
    assert said["protected_changes"]["approved"] is False
    assert said["protected_changes"]["sentence"] == f"{TEST} (added)"
    assert "approve issue-4 protected" in said["next"]
    allow(world)
    said = overview.status_document(world.desk(), world.goal("issue-4"), (True, "why"), False)
    assert said["protected_changes"]["approved"] is True
    assert "evaluate" in said["next"]

    def broken(*_: object) -> None:
        raise GitError("git cannot answer")

    desk = world.desk()._replace(snapshot=broken)  # type: ignore[arg-type]
    assert protected_files.protected_status(desk, loaded) is None


def test_a_judge_is_told_whether_a_person_approved_it(world: World) -> None:
    world.changes = (changed(TEST),)
    run(world)
    case = reviewing.review_case(world.desk(), world.goal("issue-4"), version="0", now=NOW)
    assert f"(a person has not approved that): {TEST} (added)" in gathering._boundary_text(case)
    allow(world)
    case = reviewing.review_case(world.desk(), world.goal("issue-4"), version="0", now=NOW)
    assert f"(approved): {TEST} (added)" in gathering._boundary_text(case)


def test_without_protected_paths_nothing_is_asked() -> None:
    world = World(goal_document(criterion("AC1")))
    world.changes = (changed(TEST),)
    assert look(world).protected_changes is None
    assert protected_files.current_difference(world.desk(), world.goal("issue-4")) is None
    assert run(world).verdict == "achieved"
