"""Activate, pause, resume and approve: what each writes, and what each refuses."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from flow.app.evaluation.values import Request
from flow.app.ports import Approval, Artifact, CriterionUpdate, Move
from flow.app.transitions import moves
from flow.app.transitions.persons_word import PersonsWord
from flow.core.boundary.changes import Baseline
from flow.core.drafting.defaults import GoalDefaults
from flow.core.drafting.draft import NO_DEFAULTS
from flow.core.goal.lifecycle import STATUSES, TERMINAL
from flow.core.goal.loaded import LoadedGoal
from flow.core.goal.model import Goal
from flow.errors import GitError, InputError, StateError
from tests.app.fakes import NOW, World, changed, criterion, evaluate, goal_document, sidecar

NEW_BASE = "c" * 40


# --- activate -------------------------------------------------------------------------------------


def activate(world: World) -> LoadedGoal:
    world.pinned = Baseline(NEW_BASE, {}, {}, {}, {}, {})  # type: ignore[attr-defined]

    def pin(goal: Any) -> Baseline:
        world.log.append(f"pin {goal.id}")
        return world.pinned  # type: ignore[attr-defined,no-any-return]

    def trust(goal: Goal, how: str) -> None:
        world.log.append("trust")
        world.trusted_as.append((goal.digest(), how))

    return moves.activate(world.desk(), "issue-4", pin, trust, None)


def test_activating_pins_moves_and_trusts_what_was_written() -> None:
    world = World(goal_document(status="draft"))
    loaded = activate(world)
    assert world.log == ["finish", "pin issue-4", "move active", "trust"]
    assert loaded == world.goal("issue-4")
    assert loaded.goal.status == "active"
    assert loaded.goal.base_commit == NEW_BASE
    assert world.kept == [("issue-4", "run-1", world.pinned)]  # type: ignore[attr-defined]
    assert world.trusted_as == [(loaded.contract, "flow goal activate")]
    (move,) = world.moves
    assert move == Move(
        to="active",
        reason="activated",
        artifact=move.artifact,
        event={
            "type": "transition",
            "from": "draft",
            "to": "active",
            "reason": "activated",
            "by": "sam",
        },
        scope={"run_id": "run-1", "base_commit": NEW_BASE},
    )
    assert move.artifact == Artifact(
        "goal-evaluation",
        {
            "goal_id": "issue-4",
            "result": "incomplete",
            "from": "draft",
            "to": "active",
            "reason": "activated",
            "evidence_bundle": ".flow/runs/run-1",
            "failures": ["AC1"],
            "by": "sam",
        },
    )


def test_what_changes_while_a_draft_is_started_is_not_trusted() -> None:
    world = World(goal_document(status="draft"))
    world.edit_after_move()
    loaded = activate(world)
    assert loaded.goal.outcome == "another"
    assert world.trusted_as != [(loaded.contract, "flow goal activate")]


def test_a_draft_without_a_run_gets_one() -> None:
    world = World(goal_document(status="draft"))
    del world.document["scope"]["run_id"]
    assert activate(world).goal.run_id == "2026-11-21T120000Z-issue-4"
    assert world.kept[0][1] == "2026-11-21T120000Z-issue-4"
    assert world.journal[0].fields["evidence_bundle"] == (".flow/runs/2026-11-21T120000Z-issue-4")


@pytest.mark.parametrize("status", [s for s in STATUSES if s != "draft"])
def test_only_a_draft_is_activated(status: str) -> None:
    world = World(goal_document(status=status))
    with pytest.raises(StateError, match=f"issue-4 is {status}, not a draft") as caught:
        activate(world)
    assert caught.value.to_dict()["key"] == "lifecycle.status"
    assert caught.value.to_dict()["value"] == status
    assert world.log == ["finish"]
    assert world.kept == []


class Starting:
    """The checkout that a draft is started in."""

    speaker = None

    def __init__(self, world: World, *, trusts_defaults: bool, trusts_goal: bool = True) -> None:
        self.world = world
        self.persons_context = world.desk
        self.trusts_defaults, self.trusts_goal = trusts_defaults, trusts_goal
        self.trust_ledger = self
        self.known: Any = None

    def branch(self) -> str | None:
        return None

    def recorded_contract(self, _goal_id: str) -> Any:
        return self.known

    def knows_defaults(self, digest: str) -> bool:
        return self.trusts_defaults

    def trusted(self, loaded: LoadedGoal) -> tuple[bool, str]:
        return self.trusts_goal, "why"

    def record_trust(self, goal: Goal, how: str) -> None:
        self.world.trusted_as.append((goal.id, how))


TAKEN_OVER = GoalDefaults((criterion("AC1"),))
OTHERS = GoalDefaults((criterion("AC1", "./other"),))


@pytest.mark.parametrize(
    ("defaults", "trusts", "is_recorded"),
    [
        (TAKEN_OVER, False, False),
        (TAKEN_OVER, True, True),
        (OTHERS, False, True),
        (NO_DEFAULTS, False, True),
    ],
    ids=["unknown defaults", "trusted defaults", "others' defaults", "no defaults"],
)
def test_starting_trusts_no_defaults_that_the_user_does_not_know(
    defaults: GoalDefaults, trusts: bool, is_recorded: bool
) -> None:
    world = World(goal_document(status="draft"))
    digest = world.goal("issue-4").goal.criteria[0].digest
    assert (digest in TAKEN_OVER.digests, digest in OTHERS.digests) == (True, False)
    port: Any = Starting(world, trusts_defaults=trusts)
    base = Baseline(NEW_BASE, {}, {}, {}, {}, {})
    assert moves.begin(port, "issue-4", lambda _goal: base, defaults).goal.status == "active"
    assert world.trusted_as == ([("issue-4", "flow goal activate")] if is_recorded else [])


@pytest.mark.parametrize("outcome", [None, "another"])
def test_starting_trusts_no_change_of_a_contract_that_was_trusted(outcome: str | None) -> None:
    world = World(goal_document(status="draft"))
    port: Any = Starting(world, trusts_defaults=True)
    port.known = deepcopy(world.goal("issue-4").goal.contract_document)  # with another base
    port.known["objective"]["outcome"] = outcome or port.known["objective"]["outcome"]
    base = Baseline(NEW_BASE, {}, {}, {}, {}, {})
    moves.begin(port, "issue-4", lambda _goal: base, NO_DEFAULTS)
    assert world.trusted_as == ([] if outcome else [("issue-4", "flow goal activate")])


def test_a_started_goal_that_may_not_run_says_so() -> None:
    world = World(goal_document(status="active"))
    loaded = world.goal("issue-4")
    for trusted in (True, False):
        port: Any = Starting(world, trusts_defaults=True, trusts_goal=trusted)
        told = moves.with_warnings(port, loaded, ["AC1: no such program"]).warnings
        assert told[: len(loaded.warnings)] == loaded.warnings
        assert "AC1: no such program" in told
        assert any("is not trusted" in warning for warning in told) == (not trusted)


# --- pause and resume -----------------------------------------------------------------------------

OPEN = ("active", "waiting_for_user", "waiting_for_ci", "blocked")
MAY = {
    "active": OPEN,
    "waiting_for_user": ("active", "waiting_for_user"),
    "waiting_for_ci": ("active", "waiting_for_ci"),
    "blocked": ("active", "blocked"),
}


@pytest.mark.parametrize("to", OPEN)
@pytest.mark.parametrize("status", STATUSES)
def test_every_shift(status: str, to: Any) -> None:
    world = World(goal_document(status=status))
    if to not in MAY.get(status, ()):
        with pytest.raises(StateError) as caught:
            moves.shift_status(world.desk(), "issue-4", to, "a break")
        key = caught.value.to_dict()["key"]
        assert key == "lifecycle.status"
        assert str(caught.value).count("goal issue-4 is ") == 1
        assert world.moves == []
        return
    loaded = moves.shift_status(world.desk(), "issue-4", to, "a break")
    assert loaded.goal.status == to == world.document["lifecycle"]["status"]
    assert world.log[0] == "finish"
    if status == to:
        assert world.moves == []  # nothing moved, nothing to journal
        return
    (move,) = world.moves
    assert (move.to, move.reason, move.scope) == (to, "a break", {})
    assert move.event == {
        "type": "transition",
        "from": status,
        "to": to,
        "reason": "a break",
        "by": "sam",
    }
    assert move.artifact.fields["by"] == "sam"
    assert move.artifact.fields["to"] == to
    assert move.artifact.fields["evidence_bundle"] == ".flow/runs/run-1"
    assert world.events[0]["run_id"] == "run-1"


def test_a_draft_is_told_to_activate() -> None:
    world = World(goal_document(status="draft"))
    with pytest.raises(StateError, match="is a draft") as caught:
        moves.shift_status(world.desk(), "issue-4", "active", "x")
    error = caught.value.to_dict()
    assert (error["key"], error["value"]) == ("lifecycle.status", "draft")


def test_a_goal_without_a_run_can_be_paused() -> None:
    world = World(goal_document())
    del world.document["scope"]["run_id"]
    moves.shift_status(world.desk(), "issue-4", "waiting_for_ci", "x")
    assert world.events[0]["run_id"] == ""
    assert world.journal[0].fields["evidence_bundle"] == ".flow/runs/"


# --- approve --------------------------------------------------------------------------------------


def fuzzy_world(**document: Any) -> World:
    return World(
        goal_document(criterion("AC1"), criterion("AC2", None), criterion("AC3", None), **document)
    )


def approve(world: World, what: str = "AC2", by: str = "sam", note: str = "read it") -> str:
    return moves.approve(world.desk(), "issue-4", what, PersonsWord(by, None, note))


def test_an_approval_is_evidence_about_one_criterion_and_these_files() -> None:
    world = fuzzy_world(turns=3)
    path = approve(world, by="sam\x1b", note="read it")
    assert path == sidecar("run-1", "evidence-ac2-approval-3")
    evidence = world.evidence[path]
    goal = world.goal("issue-4").goal
    wanted = goal.criterion("AC2")
    assert wanted is not None
    tree = evidence.subject["tree"]
    assert isinstance(tree, str)
    assert len(tree) == 64
    assert evidence.document["metadata"] == {
        "id": "evidence-ac2-approval-3",
        "goal": "issue-4",
        "run_id": "run-1",
        "created_at": NOW,
        "created_by": "flow-approve",
    }
    assert evidence.document["evidence"] == {
        "type": "human_approval",
        "proves": ["AC2"],
        "approved_by": "sam\x1b",
        "note": "read it",
        "criterion_digest": wanted.digest,
        "limitations": ["One person's word, for these files and this wording only."],
        "subject": {
            "head": "h" * 40,
            "tree": tree,
            "contract": world.goal("issue-4").contract,
            "flow_version": "0",
        },
    }
    assert world.approvals == [
        Approval(
            criterion=CriterionUpdate("AC2", "pass", path, NOW, "approved by sam\\x1b"),
            artifact=Artifact(
                "evidence-captured",
                {
                    "evidence_id": "evidence-ac2-approval-3",
                    "goal_id": "issue-4",
                    "proves": ["AC2"],
                    "approved_by": "sam\x1b",
                    "note": "read it",
                },
            ),
            event={
                "type": "approved",
                "criterion_id": "AC2",
                "evidence_id": "evidence-ac2-approval-3",
                "by": "sam\x1b",
                "note": "read it",
            },
        )
    ]
    assert world.log == ["finish", "snapshot", "evidence evidence-ac2-approval-3", "approve"]
    assert world.kept == []


def test_a_second_approval_is_a_second_sidecar() -> None:
    world = fuzzy_world()
    assert approve(world) != approve(world)
    assert world.approvals[1].artifact.fields["evidence_id"] == "evidence-ac2-approval-0-2"


def test_an_approved_criterion_counts_until_the_files_move() -> None:
    world = fuzzy_world(kind="hybrid")
    approve(world, "AC2")
    approve(world, "AC3")
    assert evaluate(Request("issue-4"), world.tools()).verdict == "achieved"
    world.changes = (changed("src/a.py"),)
    assert evaluate(Request("issue-4"), world.tools()).verdict == "needs_human_review"


def test_guards_are_approved_as_they_are() -> None:
    world = fuzzy_world()
    world.guards = {"hooks/pre-commit": "d1"}
    path = approve(world, "guards")
    assert path == sidecar("run-1", "evidence-guards-approval-0")
    body = world.evidence[path].document["evidence"]
    assert body["guards"] == {"hooks/pre-commit": "d1"}
    assert body["proves"] == []
    assert "criterion_digest" not in body
    (approval,) = world.approvals
    assert approval.criterion is None
    assert approval.event == {
        "type": "guards-approved",
        "criterion_id": None,
        "evidence_id": "evidence-guards-approval-0",
        "by": "sam",
        "note": "read it",
    }
    assert approval.artifact.fields["proves"] == "none"
    assert world.kept == []  # it was recorded, and stays as it was


@pytest.mark.parametrize(("what", "kept"), [("guards", 1), ("AC2", 0)])
def test_approving_guards_records_a_baseline_that_was_lost(what: str, kept: int) -> None:
    world = fuzzy_world()
    world.recorded = False
    approve(world, what)
    assert [row[:2] for row in world.kept] == [("issue-4", "run-1")] * kept


@pytest.mark.parametrize(("key", "by", "note"), [("--by", " ", "x"), ("--note", "x", "\t")])
def test_nobody_approves_without_a_name_and_a_reason(key: str, by: str, note: str) -> None:
    world = fuzzy_world()
    with pytest.raises(InputError) as caught:
        approve(world, by=by, note=note)
    assert caught.value.to_dict()["key"] == key
    assert (world.log, world.evidence) == (["finish"], {})


def test_a_criterion_with_a_command_is_never_approved() -> None:
    world = fuzzy_world()
    with pytest.raises(StateError, match="only its exit code") as caught:
        approve(world, "AC1")
    assert (caught.value.to_dict()["key"], caught.value.to_dict()["value"]) == ("AC", "AC1")
    assert world.evidence == {}


@pytest.mark.parametrize(
    ("world", "choices"),
    [(fuzzy_world(), "AC2, AC3"), (World(goal_document()), "none")],
)
def test_an_unknown_criterion_is_refused_with_the_fuzzy_ones(world: World, choices: str) -> None:
    with pytest.raises(InputError, match="no criterion 'AC9'") as caught:
        approve(world, "AC9")
    error = caught.value.to_dict()
    assert (error["key"], error["value"]) == ("AC", "AC9")
    assert str(error["remedy"]).endswith(choices)


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_a_closed_goal_takes_no_approval(status: str) -> None:
    world = fuzzy_world(status=status)
    with pytest.raises(StateError, match="approving"):
        approve(world)
    assert world.evidence == {}


def test_an_approval_needs_git_to_tell_the_files_apart() -> None:
    world = fuzzy_world()
    world.problems = ("a", "b", "c", "d")
    with pytest.raises(GitError, match="a, b, c and 1 more"):
        approve(world)
    assert world.evidence == {}


def test_an_approval_on_another_branch_is_refused() -> None:
    world = fuzzy_world()
    world.branch = "other"
    with pytest.raises(StateError) as caught:
        approve(world)
    assert caught.value.code == "wrong_branch"


@pytest.mark.parametrize(
    ("before", "after"),
    [("waiting_for_user", "active"), ("active", "active"), ("blocked", "blocked")],
)
def test_an_approval_resumes_a_goal_that_waited_for_a_person(before: str, after: str) -> None:
    world = fuzzy_world(status=before)
    approve(world)
    assert world.goal("issue-4").goal.status == after
    resumed = [move.reason for move in world.moves]
    assert resumed == (["resumed: AC2 was approved"] if before == "waiting_for_user" else [])


def test_an_approval_looks_at_denied_files_too() -> None:
    world = fuzzy_world(denied_paths=["*.pem"])
    moves.approve(world.desk(("*.env",)), "issue-4", "AC2", PersonsWord("sam", None, "ok"))
    assert world.denied_seen == [("*.pem", "*.env")]


def test_an_approval_of_a_goal_without_a_run_makes_one() -> None:
    world = fuzzy_world()
    del world.document["scope"]["run_id"]
    run = "2026-11-21T120000Z-issue-4"
    assert approve(world) == sidecar(run, "evidence-ac2-approval-0")
    assert world.events[0]["run_id"] == run


def test_a_goal_that_moved_meanwhile_is_not_approved() -> None:
    world = fuzzy_world()
    desk = world.desk()

    def snapshot(baseline: Any, denied: Any, deciding: Any) -> Any:
        world.document["lifecycle"]["turns_evaluated"] = 7
        return world.snapshot(baseline, denied)

    with pytest.raises(StateError):
        moves.approve(
            desk._replace(snapshot=snapshot), "issue-4", "AC2", PersonsWord("sam", None, "ok")
        )
    assert world.approvals == []
