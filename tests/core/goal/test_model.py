"""A goal as Flow reads it, and what its contract is."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import pytest

from flow.core.goal import model as goals
from flow.core.goal.model import Criterion, Goal, canonical_digest, contract, goal_from_document

FULL: dict[str, Any] = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowGoal",
    "metadata": {"id": "issue-4", "created_at": "2026-11-21T12:00:00Z"},
    "scope": {
        "repo": "demo",
        "branch": "main",
        "run_id": "run-1",
        "base": "origin/main",
        "base_commit": "b" * 40,
        "issue": 4,
        "pr": 5,
        "journal": ".decisions/plan.md",
    },
    "objective": {
        "outcome": "it works",
        "source": "issue 4",
        "acceptance_criteria": [
            {
                "id": "AC1",
                "text": "it holds",
                "status": "pass",
                "verification_command": "make",
                "must_pass": False,
                "timeout_seconds": 7,
                "cwd": "sub",
                "serial": True,
                "hermetic": False,
                "limitations": ["l"],
                "evidence_ref": "ref",
                "last_evaluated_at": "2026-11-21T12:00:00Z",
                "last_result": "exit 0",
                "rubric": "zeta",
            },
            {
                "id": "AC2",
                "text": "it reads well",
                "status": "pending",
                "evidence_command": "cat x",
                "evidence_paths": ["docs/**"],
                "rubric": "alpha",
            },
            {"id": "AC3", "text": "t", "status": "pending", "rubric": "alpha"},
        ],
    },
    "constraints": {
        "allowed_paths": ["src/**"],
        "denied_paths": ["*.pem"],
        "protected_paths": ["tests/**"],
        "require_all_pass": False,
    },
    "evaluator": {"type": "hybrid", "jobs": 3},
    "lifecycle": {
        "status": "blocked",
        "turns_evaluated": 2,
        "last_evaluation": {"result": "fail", "reason": "r", "at": "t"},
    },
}
LEAST: dict[str, Any] = {
    "apiVersion": "flow.synapti.ai/v1",
    "kind": "FlowGoal",
    "metadata": {"id": "g", "created_at": "t"},
    "scope": {"repo": "demo", "branch": "main"},
    "objective": {
        "outcome": "o",
        "acceptance_criteria": [{"id": "AC1", "text": "t", "status": "pending"}],
    },
    "evaluator": {"type": "deterministic"},
    "lifecycle": {"status": "draft"},
}


def test_every_key_is_read() -> None:
    rows = FULL["objective"]["acceptance_criteria"]
    goal = goal_from_document(FULL)
    assert goal == Goal(
        id="issue-4",
        status="blocked",
        outcome="it works",
        criteria=goal.criteria,
        created_at="2026-11-21T12:00:00Z",
        repo="demo",
        branch="main",
        run_id="run-1",
        base="origin/main",
        base_commit="b" * 40,
        issue=4,
        journal=".decisions/plan.md",
        allowed_paths=("src/**",),
        denied_paths=("*.pem",),
        protected_paths=("tests/**",),
        require_all_pass=False,
        evaluator_type="hybrid",
        jobs=3,
        turns_evaluated=2,
        last_evaluation={"result": "fail", "reason": "r", "at": "t"},
        source="issue 4",
        rubrics=("alpha", "zeta"),
        document=FULL,
    )
    assert goal.criteria[0] == Criterion(
        id="AC1",
        text="it holds",
        status="pass",
        verification_command="make",
        must_pass=False,
        timeout_seconds=7,
        cwd="sub",
        serial=True,
        hermetic=False,
        limitations=("l",),
        evidence_ref="ref",
        last_evaluated_at="2026-11-21T12:00:00Z",
        last_result="exit 0",
        evidence_command=None,
        evidence_paths=(),
        document=rows[0],
    )
    assert goal.criteria[1].evidence_command == "cat x"
    assert goal.criteria[1].evidence_paths == ("docs/**",)


def test_the_defaults_of_what_is_not_said() -> None:
    goal = goal_from_document(LEAST)
    assert goal == Goal(
        id="g",
        status="draft",
        outcome="o",
        criteria=goal.criteria,
        created_at="t",
        repo="demo",
        branch="main",
        run_id=None,
        base=None,
        base_commit=None,
        issue=None,
        journal=None,
        allowed_paths=(),
        denied_paths=(),
        protected_paths=(),
        require_all_pass=True,
        evaluator_type="deterministic",
        jobs=None,
        turns_evaluated=0,
        last_evaluation=None,
        source=None,
        rubrics=(),
        document=LEAST,
    )
    row = LEAST["objective"]["acceptance_criteria"][0]
    assert goal.criteria == (Criterion("AC1", "t", document=row),)
    assert Criterion("AC1", "t") == Criterion(
        id="AC1",
        text="t",
        status="pending",
        verification_command=None,
        must_pass=True,
        timeout_seconds=None,
        cwd=None,
        serial=False,
        hermetic=True,
        limitations=(),
        evidence_ref=None,
        last_evaluated_at=None,
        last_result=None,
        evidence_command=None,
        evidence_paths=(),
        document={},
    )


@pytest.mark.parametrize(
    ("part", "key", "field", "empty"),
    [
        ("constraints", "allowed_paths", "allowed_paths", ()),
        ("constraints", "denied_paths", "denied_paths", ()),
        ("constraints", "protected_paths", "protected_paths", ()),
        ("lifecycle", "turns_evaluated", "turns_evaluated", 0),
        ("lifecycle", "last_evaluation", "last_evaluation", None),
        ("scope", "issue", "issue", None),
    ],
)
def test_null_stands_for_nothing(part: str, key: str, field: str, empty: object) -> None:
    document = copy.deepcopy(FULL)
    document[part][key] = None
    assert getattr(goal_from_document(document), field) == empty


def test_null_constraints_are_none() -> None:
    assert goal_from_document({**LEAST, "constraints": None}).allowed_paths == ()


@pytest.mark.parametrize(("id", "fuzzy"), [("AC1", False), ("AC2", True), ("AC3", True)])
def test_what_is_fuzzy(id: str, fuzzy: bool) -> None:
    found = goal_from_document(FULL).criterion(id)
    assert found is not None
    assert (found.id, found.fuzzy) == (id, fuzzy)


def test_a_criterion_that_is_not_there() -> None:
    assert goal_from_document(FULL).criterion("AC9") is None


# --- digests --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ("\u00e9", '"\\u00e9"'),
        ([1, "x"], '[1,"x"]'),
    ],
)
def test_a_digest_is_over_json_in_one_form(value: object, text: str) -> None:
    assert canonical_digest(value) == hashlib.sha256(text.encode()).hexdigest()


def test_the_contract_is_the_goal_without_its_results() -> None:
    found = contract(FULL)
    assert "lifecycle" not in found
    assert found["scope"] == {k: v for k, v in FULL["scope"].items() if k != "run_id"}
    row = found["objective"]["acceptance_criteria"][0]
    assert row == {
        "id": "AC1",
        "text": "it holds",
        "verification_command": "make",
        "must_pass": False,
        "timeout_seconds": 7,
        "cwd": "sub",
        "serial": True,
        "hermetic": False,
        "limitations": ["l"],
        "rubric": "zeta",
    }
    same = ("apiVersion", "kind", "metadata", "constraints", "evaluator")
    assert {key: found[key] for key in same} == {key: FULL[key] for key in same}
    assert found["objective"]["outcome"] == "it works"


def changes() -> list[tuple[tuple[Any, ...], Any, bool]]:
    """(path, value, whether the contract changes)."""
    row = ("objective", "acceptance_criteria", 0)
    return [
        (("lifecycle", "status"), "active", False),
        (("lifecycle", "turns_evaluated"), 9, False),
        (("scope", "run_id"), "run-2", False),
        *(((*row, key), "x", False) for key in goals.RESULT_FIELDS),
        (("scope", "base_commit"), "c" * 40, True),
        (("scope", "branch"), "other", True),
        ((*row, "text"), "easier", True),
        ((*row, "verification_command"), "true", True),
        ((*row, "must_pass"), True, True),
        (("objective", "outcome"), "x", True),
        (("constraints", "allowed_paths"), ["**"], True),
        (("evaluator", "type"), "deterministic", True),
        (("metadata", "owner"), "x", True),
        (("unknown",), 1, True),
    ]


@pytest.mark.parametrize(("path", "value", "matters"), changes())
def test_what_the_contracts_digest_covers(path: Any, value: Any, matters: bool) -> None:
    document = copy.deepcopy(FULL)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    same = goal_from_document(document).digest() == goal_from_document(FULL).digest()
    assert same is not matters


def test_the_digest_covers_the_rubrics_a_goal_names() -> None:
    goal = goal_from_document(FULL)
    assert goal.digest({"alpha": "1"}) != goal.digest({"alpha": "2"})
    assert goal.digest({}) == goal.digest() == goal.digest(None)
    assert goal.digest() == canonical_digest({"contract": contract(FULL), "rubrics": {}})


@pytest.mark.parametrize(
    ("key", "matters"),
    [("text", True), ("verification_command", True), *((k, False) for k in goals.RESULT_FIELDS)],
)
def test_what_a_criterions_digest_covers(key: str, matters: bool) -> None:
    document = copy.deepcopy(FULL)
    document["objective"]["acceptance_criteria"][0][key] = "other"
    before, after = goal_from_document(FULL), goal_from_document(document)
    assert (before.criteria[0].digest != after.criteria[0].digest) is matters
    assert before.criteria[1].digest == after.criteria[1].digest
