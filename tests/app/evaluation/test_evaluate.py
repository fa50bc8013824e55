"""The list of steps, with everything outside faked (SPEC 3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.app.evaluation.values import Request
from flow.core.decision.decide import NoOpinion, Opinion
from flow.core.decision.verdict import Verdict
from flow.core.goal.lifecycle import TERMINAL
from flow.errors import InputError, StateError
from tests.app.fakes import World, changed, criterion, evaluate, goal_document


def run(world: World, **request: Any) -> Verdict:
    return evaluate(Request("issue-4", **request), world.tools())


def test_the_steps_happen_in_the_order_of_the_spec() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    run(world)
    assert world.log == [
        "finish",
        "snapshot",
        "run AC1",
        "evidence evidence-ac1-eval-1",
        "run AC2",
        "evidence evidence-ac2-eval-1",
        "snapshot",
        "turn active",
    ]


def test_all_passed_is_proposed_and_not_written() -> None:
    world = World(goal_document())
    verdict = run(world)
    assert verdict.verdict == "achieved"
    assert verdict.proposed_transition is not None
    assert verdict.proposed_transition.to == "achieved"
    assert world.document["lifecycle"]["status"] == "active"
    assert world.document["lifecycle"]["last_evaluation"]["result"] == "pass"
    assert world.live is not None
    assert world.live["proposal_id"] == verdict.proposed_transition.proposal_id
    assert (verdict.lifecycle_from, verdict.lifecycle_to) == ("active", "active")


@pytest.mark.parametrize(
    ("outcome", "status", "result"),
    [
        ("passed", "pass", "pass"),
        ("failed", "fail", "fail"),
        ("inconclusive", "evidence_collected", "incomplete"),
    ],
)
def test_what_an_outcome_writes(outcome: str, status: str, result: str) -> None:
    world = World(goal_document())
    world.outcomes["AC1"] = outcome
    verdict = run(world)
    row = world.document["objective"]["acceptance_criteria"][0]
    assert row["status"] == status
    assert row["evidence_ref"] == ".flow/runs/run-1/evidence/evidence-ac1-eval-1.evidence.yaml"
    assert world.document["lifecycle"]["last_evaluation"]["result"] == result
    assert (verdict.proposed_transition is not None) is (outcome == "passed")
    assert verdict.criterion_results[0].outcome == outcome


@pytest.mark.parametrize("status", ["draft", "achieved", "failed", "cancelled"])
def test_a_goal_that_cannot_be_evaluated_is_refused_by_name(status: str) -> None:
    world = World(goal_document(status=status))
    with pytest.raises(StateError, match="issue-4"):
        run(world)
    assert "run AC1" not in world.log


@pytest.mark.parametrize("status", ["waiting_for_user", "waiting_for_ci", "blocked"])
def test_a_waiting_or_blocked_goal_is_resumed_on_the_record(status: str) -> None:
    world = World(goal_document(status=status))
    verdict = run(world)
    assert [move.to for move in world.moves] == ["active"]
    assert world.moves[0].artifact.fields["from"] == status
    assert verdict.lifecycle_from == "active"
    assert verdict.verdict == "achieved"


def test_an_untrusted_goal_runs_and_writes_nothing() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2", None)))
    world.trust = (False, "never recorded")
    verdict = run(world)
    assert world.log == ["finish"]
    assert verdict.verdict == "needs_human_review"
    assert verdict.blocker_type == "missing_approval"
    assert {r.outcome for r in verdict.criterion_results} == {"not_executed"}
    assert verdict.proposed_transition is None


def test_a_violation_blocks_and_names_every_file() -> None:
    world = World(goal_document())
    world.changes = (changed("src/a.py"), changed("evil/b.py"), changed("c.py"))
    verdict = run(world)
    assert verdict.verdict == "blocked"
    assert verdict.blocker_type == "scope_violation"
    assert verdict.path_violations == ("evil/b.py", "c.py")
    assert "path_boundary_violation" in verdict.reason
    assert world.document["lifecycle"]["status"] == "blocked"
    sidecar = next(e for e in world.evidence.values() if e.type == "path_boundary_check")
    assert sidecar.proves == ()
    named = [v["path"] for v in sidecar.document["evidence"]["violations"]]
    assert named == ["evil/b.py", "c.py"]


def test_git_that_cannot_answer_proposes_nothing() -> None:
    world = World(goal_document())
    world.problems = ("a merge is under way",)
    verdict = run(world)
    assert verdict.verdict == "not_achieved"
    assert verdict.proposed_transition is None
    assert "a merge is under way" in verdict.reason
    assert world.document["lifecycle"]["last_evaluation"]["result"] == "incomplete"


def test_a_change_while_commands_run_makes_it_stale() -> None:
    world = World(goal_document())
    world.changes = (changed("src/a.py", "old", untracked=False),)

    def edit() -> None:
        world.changes = (changed("src/a.py", "newer", untracked=False),)

    world.during["AC1"] = edit
    verdict = run(world)
    assert verdict.verdict == "not_achieved"
    assert verdict.proposed_transition is None
    assert verdict.criterion_results[0].status == "evidence_collected"
    assert "src/a.py" in verdict.reason


def test_a_file_the_command_leaves_behind_is_a_by_product() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: setattr(world, "changes", (changed("out.log"),))
    verdict = run(world)
    assert verdict.verdict == "achieved"
    assert "out.log" in world.base.by_products
    again = run(world)
    assert again.verdict == "achieved"
    assert any("out.log" in warning for warning in again.warnings)


def test_a_by_product_that_somebody_edits_counts() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: setattr(world, "changes", (changed("out.log"),))
    run(world)
    world.during.clear()
    world.changes = (changed("out.log", "edited by hand"),)
    assert run(world).verdict == "blocked"


def test_a_by_product_that_is_staged_counts() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: setattr(world, "changes", (changed("out.log"),))
    run(world)
    world.during.clear()
    world.changes = (changed("out.log", untracked=False),)
    assert run(world).verdict == "blocked"


@pytest.mark.parametrize(
    ("path", "unfinished", "verdict"),
    [
        ("lib/__pycache__/a.pyc", frozenset(), "achieved"),
        ("lib/__pycache__/a.pyc", frozenset({"lib/__pycache__/a.pyc"}), "blocked"),
        ("lib/__pycache__/a.pyc", None, "blocked"),
        ("lib/evil.py", frozenset(), "blocked"),
    ],
)
def test_caches_of_a_killed_evaluation_are_by_products(path, unfinished, verdict) -> None:  # type: ignore[no-untyped-def]
    world = World(goal_document())
    world.changes = (changed(path),)
    world.unfinished = unfinished
    assert run(world).verdict == verdict


def test_a_lost_record_of_the_start_waits_for_a_person() -> None:
    world = World(goal_document())
    world.recorded = False
    verdict = run(world)
    assert verdict.verdict == "needs_human_review"
    assert "baseline.json" in verdict.reason


def test_a_command_that_changes_flows_files_has_failed() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: setattr(world, "blame", ("goal issue-4",))
    verdict = run(world)
    assert verdict.criterion_results[0].outcome == "failed"
    assert verdict.verdict == "not_achieved"
    assert "goal issue-4" in verdict.criterion_results[0].reason


def test_only_leaves_the_rest_as_it_was_and_proposes_nothing() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    verdict = run(world, only=("AC2",))
    assert "run AC1" not in world.log
    assert verdict.proposed_transition is None
    assert [r.outcome for r in verdict.criterion_results] == ["not_run", "passed"]
    assert world.document["objective"]["acceptance_criteria"][0]["status"] == "pending"


def test_only_of_every_criterion_still_proposes_nothing() -> None:
    verdict = run(World(goal_document()), only=("AC1",))
    assert verdict.proposed_transition is None
    assert "--only" in verdict.reason


def test_only_names_an_unknown_criterion() -> None:
    with pytest.raises(InputError, match="AC9"):
        run(World(goal_document()), only=("AC9",))


def test_a_dry_run_runs_and_writes_nothing() -> None:
    world = World(goal_document(status="blocked"))
    before = repr(world.document)
    verdict = run(world, dry_run=True)
    assert world.log == ["snapshot"]
    assert repr(world.document) == before
    assert verdict.proposed_transition is None
    assert verdict.criterion_results[0].outcome == "not_run"


def test_another_base_proposes_only_if_it_contains_the_pinned_one() -> None:
    world = World(goal_document())
    assert run(world, base="main").proposed_transition is not None
    world.contains_pinned = False
    verdict = run(world, base="main")
    assert verdict.proposed_transition is None
    assert "pinned base" in verdict.reason


@pytest.mark.parametrize(("branch", "fine"), [("main", True), (None, True), ("other", False)])
def test_evaluating_on_another_branch_is_refused_naming_both(
    branch: str | None, fine: bool
) -> None:
    world = World(goal_document())
    world.branch = branch
    if fine:
        assert run(world).verdict == "achieved"
    else:
        with pytest.raises(StateError, match=r"main.*other"):
            run(world)


def test_a_newer_evaluation_with_the_same_result_leaves_the_proposal_live() -> None:
    world = World(goal_document())
    first, second = run(world), run(world)
    assert first.proposed_transition is not None
    assert second.proposed_transition is not None
    assert first.proposed_transition.proposal_id == second.proposed_transition.proposal_id
    assert second.turns_evaluated == 2


def test_a_newer_evaluation_of_other_files_makes_a_new_proposal() -> None:
    world = World(goal_document())
    first = run(world)
    world.changes = (changed("src/a.py"),)
    second = run(world)
    assert first.proposed_transition is not None
    assert second.proposed_transition is not None
    assert first.proposed_transition.proposal_id != second.proposed_transition.proposal_id


def test_a_failing_evaluation_withdraws_the_proposal() -> None:
    world = World(goal_document())
    run(world)
    world.outcomes["AC1"] = "failed"
    run(world)
    assert world.live is None


def test_a_goal_paused_while_commands_ran_is_not_overwritten() -> None:
    world = World(goal_document())
    world.during["AC1"] = lambda: world.document["lifecycle"].update(status="waiting_for_user")
    with pytest.raises(StateError):
        run(world)
    assert world.document["lifecycle"]["status"] == "waiting_for_user"
    assert any("ac1" in name for name in world.evidence)  # what was measured is kept


def test_optional_commands_run_and_their_failure_is_a_warning() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2", must_pass=False)))
    world.outcomes["AC2"] = "failed"
    verdict = run(world)
    assert verdict.verdict == "achieved"
    assert any("AC2" in warning for warning in verdict.warnings)
    assert verdict.criterion_results[1].status == "fail"


def test_without_require_all_pass_optional_commands_do_not_run() -> None:
    document = goal_document(
        criterion("AC1"), criterion("AC2", must_pass=False), require_all_pass=False
    )
    world = World(document)
    run(world)
    assert "run AC2" not in world.log


FUZZY = [
    ("deterministic", None, "needs_human_review", "waiting_for_user"),
    ("hybrid", None, "needs_human_review", "waiting_for_user"),
    ("flow_verdict_judge", None, "needs_human_review", "waiting_for_user"),
    ("hybrid", NoOpinion("none configured"), "needs_human_review", "waiting_for_user"),
    ("hybrid", Opinion("achieved", 0.9), "achieved", "active"),
    ("hybrid", Opinion("achieved", 0.5), "needs_human_review", "waiting_for_user"),
    ("hybrid", Opinion("not_achieved", 0.9), "not_achieved", "active"),
    ("hybrid", Opinion("blocked", 0.9, blocker_type="missing_dep"), "blocked", "blocked"),
    ("flow_verdict_judge", Opinion("achieved", 0.9), "achieved", "active"),
]


@pytest.mark.parametrize(("kind", "answer", "verdict", "status"), FUZZY)
def test_what_a_fuzzy_criterion_leads_to(kind, answer, verdict, status) -> None:  # type: ignore[no-untyped-def]
    world = World(goal_document(criterion("AC1"), criterion("AC2", None), kind=kind))
    if answer is not None:
        world.judge = lambda *_: answer
    made = run(world)
    assert (made.verdict, world.document["lifecycle"]["status"]) == (verdict, status)


def test_no_judge_is_asked_where_the_caller_says_so() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2", None), kind="hybrid"))
    world.judge = lambda *_: pytest.fail("asked")
    made = run(world, no_judge=True)
    assert made.verdict == "needs_human_review"
    assert made.confidence == 0.0


def test_no_judge_is_asked_about_what_a_command_failed() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2", None), kind="hybrid"))
    world.judge = lambda *_: pytest.fail("asked")
    world.outcomes["AC1"] = "failed"
    assert run(world).verdict == "not_achieved"


OUTCOME = st.sampled_from(["passed", "failed", "inconclusive"])


@given(
    outcomes=st.lists(OUTCOME, min_size=1, max_size=4),
    fuzzy=st.booleans(),
    kind=st.sampled_from(["deterministic", "hybrid", "flow_verdict_judge"]),
    trigger=st.sampled_from(["manual", "command", "stop-hook"]),
    status=st.sampled_from(["active", "waiting_for_user", "waiting_for_ci", "blocked"]),
    outside=st.booleans(),
    opinion=st.sampled_from([None, Opinion("achieved", 1.0), Opinion("not_achieved", 1.0)]),
)
def test_whatever_happens_no_evaluation_writes_a_terminal_status(  # type: ignore[no-untyped-def]
    outcomes, fuzzy, kind, trigger, status, outside, opinion
) -> None:
    rows = [criterion(f"AC{n}") for n in range(1, len(outcomes) + 1)]
    rows += [criterion("FZ1", None)] if fuzzy else []
    world = World(goal_document(*rows, kind=kind, status=status))
    world.outcomes = {f"AC{n}": o for n, o in enumerate(outcomes, 1)}
    world.changes = (changed("evil.py"),) if outside else ()
    world.judge = (lambda *_: opinion) if opinion else None
    verdict = run(world, trigger=trigger)
    written = [turn.status for turn in world.turns] + [move.to for move in world.moves]
    assert not TERMINAL & set(written)
    if verdict.proposed_transition is not None:
        assert set(outcomes) == {"passed"}
        assert not outside
        assert not fuzzy or opinion is not None


PASSED = {"criterion_id": "AC1", "status": "pass"}


@pytest.mark.parametrize(
    ("previous", "expected"),
    [
        (None, "unchanged"),
        ({"criterion_results": [PASSED]}, "unchanged"),
        ({"criterion_results": []}, "made_progress"),
        ({"criterion_results": [{"status": "pass"}]}, "made_progress"),
        ({"criterion_results": [PASSED, {"criterion_id": "AC9", "status": "pass"}]}, "unchanged"),
        ({"criterion_results": "AC1"}, "unchanged"),
        ({"criterion_results": ["AC1"]}, "unchanged"),
        ({}, "unchanged"),
    ],
)
def test_delta_compares_with_the_last_verdict_or_else_with_the_goal(previous, expected) -> None:  # type: ignore[no-untyped-def]
    row = criterion("AC1", status="pass", evidence_ref="x")
    world = World(goal_document(row, turns=3))
    world.verdict = previous
    assert run(world).delta == expected
