"""``status``, ``list``, ``history`` and ``inspect``: what they say of a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flow.app import goal_record, overview
from flow.app.evaluation.current_files import CurrentFiles
from flow.app.evaluation.values import Request
from flow.core.evidence.freshness import Freshness
from flow.core.goal.lifecycle import STATUSES, TERMINAL
from flow.core.goal.model import NO_BRANCH, Goal, goal_from_document
from flow.core.stop.past import PastTurn
from flow.errors import InputError, StateError
from tests.app.fakes import BASE, NOW, Reading, World, changed, criterion, evaluate, goal_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.evidence.model import Evidence


def goal(id: str, status: str, branch: str = "main", created: str = NOW) -> Goal:
    document = goal_document(status=status)
    document["metadata"] = {"id": id, "created_at": created}
    document["scope"]["branch"] = branch
    return goal_from_document(document)


# --- which goal is meant --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goals", "branch", "expected"),
    [
        ([goal("a", "active")], "main", "a"),
        ([goal("a", "active", "other"), goal("b", "active")], "main", "b"),
        ([goal("a", "blocked"), goal("b", "active")], "main", "b"),
        ([goal("a", "achieved"), goal("b", "blocked")], "main", "b"),
        ([goal("a", "draft", created="2027-01-01T00:00:00Z"), goal("b", "cancelled")], "main", "a"),
        ([goal("a", "active"), goal("b", "cancelled", "other")], None, "a"),
        ([goal("a", "active", NO_BRANCH), goal("b", "active", "other")], "main", "a"),
        (
            [
                goal("a", "achieved", created="2026-01-02T00:00:00Z"),
                goal("b", "failed", created="2026-01-03T00:00:00Z"),
                goal("c", "cancelled", created="2026-01-01T00:00:00Z"),
            ],
            "main",
            "b",
        ),
    ],
)
def test_the_goal_that_is_meant(goals: list[Goal], branch: str | None, expected: str) -> None:
    assert overview.choose_goal(goals, branch).id == expected


@pytest.mark.parametrize("status", ["active", "blocked", "draft"])
def test_several_open_goals_ask_for_a_name(status: str) -> None:
    with pytest.raises(StateError, match="several goals belong to branch main: a, b") as caught:
        overview.choose_goal([goal("a", status), goal("b", status)], "main")
    assert caught.value.to_dict()["key"] == "ID"


@pytest.mark.parametrize(
    ("goals", "branch", "label"),
    [
        ([], None, "this checkout"),
        ([], "main", "branch main"),
        ([goal("a", "active", "other")], "ma\x1bin", "branch ma\\x1bin"),
    ],
)
def test_no_goal_is_said(goals: list[Goal], branch: str | None, label: str) -> None:
    with pytest.raises(InputError) as caught:
        overview.choose_goal(goals, branch)
    error = caught.value.to_dict()
    assert (error["code"], error["key"]) == ("not_found", "ID")
    assert error["message"] == f"no goal belongs to {label}"


# --- status ---------------------------------------------------------------------------------------


def status(world: World, *, trusted: bool = True, pending: bool = False) -> dict[str, Any]:
    return overview.status_document(world.desk(), world.goal("issue-4"), (trusted, "why"), pending)


def test_everything_a_person_asks_about_a_goal() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2", None, must_pass=False)))
    world.document["scope"]["issue"] = 4
    world.warnings = ("unknown key",)
    evaluate(Request("issue-4"), world.tools())
    live = world.live or {}
    last = world.document["lifecycle"]["last_evaluation"]
    assert status(world, pending=True) == {
        "goal_id": "issue-4",
        "status": "active",
        "outcome": "it works",
        "branch": "main",
        "issue": 4,
        "run_id": "run-1",
        "base_commit": BASE,
        "turns_evaluated": 1,
        "last_evaluation": last,
        "criteria": [
            {
                "id": "AC1",
                "text": "AC1 holds",
                "status": "pass",
                "must_pass": True,
                "fuzzy": False,
                "last_result": "exit 0",
                "evidence_ref": ".flow/runs/run-1/evidence/evidence-ac1-eval-1.evidence.yaml",
                "last_evaluated_at": NOW,
                "fresh": True,
                "why_stale": [],
            },
            {
                "id": "AC2",
                "text": "AC2 holds",
                "status": "pending",
                "must_pass": False,
                "fuzzy": True,
                "last_result": None,
                "evidence_ref": None,
                "last_evaluated_at": None,
                "fresh": None,
                "why_stale": [],
            },
        ],
        "files": {"changed": [], "outside": [], "moved": None, "problems": []},
        "trusted": True,
        "trust": "why",
        "contract": world.goal("issue-4").contract,
        "proposal": {
            "proposal_id": live["proposal_id"],
            "to": "achieved",
            "reason": live["reason"],
            "live": True,
            "moved": [],
        },
        "protected_changes": None,
        "after": None,
        "budget": None,
        "unfinished_write": True,
        "warnings": ["unknown key"],
        "next": "a person confirms achieved: flow goal confirm issue-4",
    }


def test_a_goal_that_was_never_evaluated() -> None:
    said = status(World(goal_document()), trusted=False)
    assert said["last_evaluation"] is None
    assert said["proposal"] is None
    assert (said["trusted"], said["unfinished_write"]) == (False, False)
    assert said["next"] == "read the contract, then: flow trust record issue-4"


def test_a_stale_proposal_is_shown_as_such() -> None:
    world = World(goal_document())
    evaluate(Request("issue-4"), world.tools())
    world.changes = (changed("src/a.py"),)
    said = status(world)
    assert said["proposal"]["live"] is False
    assert said["proposal"]["moved"] == ["the files were changed since it was made"]
    assert said["next"] == "flow goal evaluate issue-4"


def test_a_proposal_on_another_branch_says_so_instead_of_failing() -> None:
    world = World(goal_document())
    evaluate(Request("issue-4"), world.tools())
    world.branch = "other"
    said = status(world)
    assert said["proposal"]["live"] is False
    assert "other" in said["proposal"]["moved"][0]


@pytest.mark.parametrize(("tree", "moved"), [(None, None), ("the same", False), ("another", True)])
def test_the_changed_files_and_whether_they_moved_since_the_last_turn(
    tree: str | None, moved: bool | None
) -> None:
    world = World(goal_document())
    world.changes = (changed("src/a.py"), changed("docs/b.md"))
    desk, loaded = world.desk(), world.goal("issue-4")
    if tree == "the same":
        tree = CurrentFiles(desk, loaded).subject.tree
    last = PastTurn(3, NOW, "not_achieved", tree=tree)
    said = overview.status_document(desk, loaded, (True, ""), pending=False, last_turn=last)
    assert said["files"] == {
        "changed": ["src/a.py", "docs/b.md"],
        "outside": ["docs/b.md"],
        "moved": moved,
        "problems": [],
    }


def test_files_that_git_cannot_tell_are_no_files_inside() -> None:
    world = World(goal_document())
    world.changes, world.problems = (changed("src/a.py"),), ("a merge is under way",)
    said = status(world)
    assert said["files"] == {
        "changed": [],
        "outside": [],
        "moved": None,
        "problems": ["a merge is under way"],
    }


@pytest.mark.parametrize("state", ["draft", *sorted(TERMINAL)])
def test_a_goal_that_is_not_under_way_has_no_changed_files(state: str) -> None:
    assert status(World(goal_document(status=state)))["files"] is None


@pytest.mark.parametrize("closed", sorted(TERMINAL))
def test_a_closed_goal_has_no_proposal(closed: str) -> None:
    world = World(goal_document())
    evaluate(Request("issue-4"), world.tools())
    world.document["lifecycle"]["status"] = closed
    assert status(world)["proposal"] is None


LIVE = {"live": True, "to": "achieved", "proposal_id": "p1"}
DEAD = {**LIVE, "live": False}


@pytest.mark.parametrize("proposal", [None, LIVE, DEAD])
@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("state", STATUSES)
def test_the_next_step_of_every_state(state: str, trusted: bool, proposal: Any) -> None:
    said = overview.next_step(goal("g", state), trusted, proposal)
    if state in TERMINAL:
        assert said == "closed; new work is a new goal: flow goal create NEW --from g"
    elif state == "draft":
        assert said == "flow goal activate g"
    elif not trusted:
        assert said == "read the contract, then: flow trust record g"
    elif proposal is LIVE:
        assert said == "a person confirms achieved: flow goal confirm g"
    else:
        assert said == "flow goal evaluate g"


@pytest.mark.parametrize(
    ("more", "step"),
    [
        ({"mending": "git checkout x", "guards": True}, "git checkout x"),
        (
            {"guards": True, "settling": "flow goal confirm first"},
            (
                "look at git's hooks and settings that changed, then: "
                "flow goal approve g guards --by NAME --note TEXT"
            ),
        ),
        ({"settling": "flow goal confirm first"}, "flow goal confirm first"),
    ],
)
def test_what_comes_before_the_next_evaluation(more: dict[str, Any], step: str) -> None:
    assert overview.next_step(goal("g", "waiting_for_user"), True, None, **more) == step


def test_the_budget_of_the_stops() -> None:
    world = World(goal_document())
    world.document["continuation"] = {"max_seconds": 60}
    del world.document["scope"]["run_id"]  # nothing was judged
    assert status(world)["budget"] == {"max_seconds": 60, "max_cost_usd": None, "cost_usd": 0.0}


# --- list, history, inspect -----------------------------------------------------------------------


def test_a_line_of_the_list() -> None:
    document = goal_document(
        criterion("AC1", status="pass"), criterion("AC2"), criterion("AC3", status="pass"), turns=5
    )
    assert overview.list_row(goal_from_document(document)) == {
        "goal_id": "issue-4",
        "status": "active",
        "branch": "main",
        "criteria": 3,
        "passing": 2,
        "turns_evaluated": 5,
        "last_result": None,
        "outcome": "it works",
    }
    document["lifecycle"]["last_evaluation"] = {"result": "fail", "reason": "", "at": NOW}
    assert overview.list_row(goal_from_document(document))["last_result"] == "fail"


def test_the_history_is_the_events_of_the_goals_run() -> None:
    def events(run_id: str, goal_id: str) -> tuple[list[dict[str, Any]], list[str]]:
        return [{"type": "x", "run": run_id, "goal": goal_id}], ["line 3 is torn"]

    world = World(goal_document())
    assert goal_record.events_of(world, events, "issue-4") == {  # type: ignore[arg-type]
        "goal_id": "issue-4",
        "run_id": "run-1",
        "events": [{"type": "x", "run": "run-1", "goal": "issue-4"}],
        "warnings": ["line 3 is torn"],
    }
    del world.document["scope"]["run_id"]
    assert goal_record.events_of(world, events, "issue-4") == {  # type: ignore[arg-type]
        "goal_id": "issue-4",
        "run_id": None,
        "events": [],
        "warnings": [],
    }


def stale(found: Sequence[Evidence]) -> dict[str, Freshness]:
    return {evidence.id: Freshness(("future",)) for evidence in found}


def test_inspect_shows_the_contract_and_the_evidence_of_this_goal() -> None:
    world = World(goal_document())
    world.warnings, world.unreadable = ("a",), ("b",)
    evaluate(Request("issue-4"), world.tools())
    other = next(iter(world.evidence.values()))
    world.evidence["elsewhere"] = other._replace(goal="issue-5")
    said = goal_record.contract_and_evidence(Reading(world), "issue-4", stale)  # type: ignore[arg-type]
    subject = other.document["evidence"]["subject"]
    assert said == {
        "goal_id": "issue-4",
        "file": "issue-4.goal.yaml",
        "contract": world.goal("issue-4").contract,
        "document": world.document,
        "run": ".flow/runs/run-1",
        "evidence": [
            {
                "id": "evidence-ac1-eval-1",
                "goal": "issue-4",
                "type": "command_result",
                "created_at": NOW,
                "command": "true",
                "outcome": "passed",
                "exit_code": 0,
                "proves": ["AC1"],
                "output_ref": None,
                "created_by": "flow-evaluator",
                "handed_in": False,
                "limitations": list(other.limitations),
                "tree": subject["tree"],
                "fresh": False,
                "why_stale": ["future"],
            }
        ],
        "warnings": ["a", "b"],
    }


def test_inspecting_a_goal_without_a_run_shows_no_evidence() -> None:
    world = World(goal_document())
    del world.document["scope"]["run_id"]
    world.unreadable = ("never asked",)
    said = goal_record.contract_and_evidence(Reading(world), "issue-4", stale)  # type: ignore[arg-type]
    assert (said["run"], said["evidence"], said["warnings"]) == (None, [], [])
