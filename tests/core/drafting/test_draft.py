"""New goals from words, and what a new goal must not claim."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from flow.core.drafting.completing import own_fields
from flow.core.drafting.draft import (
    CreateRequest,
    new_document,
    starting_changes,
    starting_faults,
)
from flow.errors import InputError
from tests.core.goal.test_model import FULL

# --- a document from words ------------------------------------------------------------------------

WORDS = CreateRequest(outcome="it works", criteria=("AC1: holds :: make",))


def new(
    words: CreateRequest, old: dict[str, Any] | None = None, branch: str | None = "work"
) -> Any:
    return new_document(
        "new-goal",
        words,
        here=own_fields("demo", branch, "2026-11-21T12:00:00Z"),
        author="sam",
        old=old,
    )


def test_a_goal_from_few_words() -> None:
    assert new(WORDS) == {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowGoal",
        "metadata": {
            "id": "new-goal",
            "created_at": "2026-11-21T12:00:00Z",
            "created_by": "sam",
        },
        "scope": {"repo": "demo", "branch": "work"},
        "objective": {
            "outcome": "it works",
            "acceptance_criteria": [
                {
                    "id": "AC1",
                    "text": "holds",
                    "verification_command": "make",
                    "must_pass": True,
                    "status": "pending",
                }
            ],
        },
        "evaluator": {"type": "deterministic"},
        "lifecycle": {"status": "draft", "turns_evaluated": 0},
    }


def test_a_goal_from_all_words() -> None:
    made = new(
        CreateRequest(
            outcome="o",
            criteria=("AC1: a :: x", "AC2: b :: y"),
            fuzzy=("AC3: c",),
            allow=("src/**", "docs/**"),
            deny=("*.pem",),
            issue=4,
        ),
        branch=None,
    )
    assert made["scope"] == {"repo": "demo", "branch": "none", "issue": 4}
    assert [c["id"] for c in made["objective"]["acceptance_criteria"]] == ["AC1", "AC2", "AC3"]
    assert made["constraints"] == {
        "allowed_paths": ["src/**", "docs/**"],
        "denied_paths": ["*.pem"],
    }
    assert made["evaluator"] == {"type": "hybrid"}


def test_what_has_no_id_gets_the_first_that_is_free() -> None:
    words = CreateRequest(
        "o", ("a :: x", "AC2: b :: y"), ("c",), ({"text": "d"},), evidence=("AC3: docs/**",)
    )
    rows = new(words)["objective"]["acceptance_criteria"]
    assert [(row["id"], row["text"]) for row in rows] == [
        ("AC1", "a"), ("AC2", "b"), ("AC3", "c"), ("AC4", "d"),
    ]  # fmt: skip
    assert rows[2]["evidence_paths"] == ["docs/**"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (WORDS._replace(allow=("a",)), {"allowed_paths": ["a"]}),
        (WORDS._replace(deny=("a",)), {"denied_paths": ["a"]}),
    ],
)
def test_only_the_paths_that_were_named(words: CreateRequest, expected: Any) -> None:
    assert new(words)["constraints"] == expected


@pytest.mark.parametrize(
    "words",
    [
        CreateRequest(),
        CreateRequest(outcome="o"),
        CreateRequest(criteria=("AC1: a :: x",)),
        CreateRequest(fuzzy=("AC1: a",)),
    ],
)
def test_a_goal_needs_an_outcome_and_a_criterion(words: CreateRequest) -> None:
    with pytest.raises(InputError, match="needs an outcome") as caught:
        new(words)
    assert caught.value.fault.key == "--outcome, --criterion"
    assert "--criterion 'AC1: what must hold :: command that proves it'" in (
        caught.value.fault.remedy or ""
    )


def old() -> dict[str, Any]:
    document = copy.deepcopy(FULL)
    document["specification"] = {"non_goals": ["x"]}
    document["continuation"] = {"max_iterations": 3}
    return document


def test_a_goal_from_an_old_one_starts_anew() -> None:
    before = old()
    made = new(CreateRequest(), before)
    assert made["metadata"]["id"] == "new-goal"
    assert made["scope"] == {
        "repo": "demo",
        "branch": "work",
        "base": "origin/main",
        "issue": 4,
        "pr": 5,
        "journal": ".decisions/plan.md",
    }
    assert made["objective"]["outcome"] == "it works"
    assert made["objective"]["source"] == "goal issue-4"
    rows = made["objective"]["acceptance_criteria"]
    assert rows[0] == {
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
        "status": "pending",
    }
    assert [row["status"] for row in rows] == ["pending"] * 3
    for key in ("constraints", "evaluator", "specification", "continuation"):
        assert made[key] == before[key]
    assert made["lifecycle"] == {"status": "draft", "turns_evaluated": 0}
    assert before == old()  # the old document is as it was


def test_words_go_over_the_old_goals() -> None:
    made = new(
        CreateRequest("new outcome", ("AC9: n :: x",), allow=("a",), deny=("b",), issue=9), old()
    )
    assert made["objective"]["outcome"] == "new outcome"
    assert [c["id"] for c in made["objective"]["acceptance_criteria"]] == ["AC9"]
    assert made["scope"]["issue"] == 9
    assert made["constraints"] == {
        "allowed_paths": ["a"],
        "denied_paths": ["*.pem", "b"],
        "protected_paths": ["tests/**"],
        "require_all_pass": False,
    }
    assert made["evaluator"] == {"type": "hybrid", "jobs": 3}


@pytest.mark.parametrize(
    ("journal", "kept"), [(".decisions/plan.md", True), (".decisions/issue-4.md", False)]
)
def test_another_issue_has_a_journal_of_its_own(journal: str, kept: bool) -> None:
    before = old()
    before["scope"]["journal"] = journal
    assert ("journal" in new(CreateRequest(issue=9), before)["scope"]) == kept
    assert new(CreateRequest(), before)["scope"]["journal"] == journal


def test_an_issue_of_zero_is_said_too() -> None:
    """The schema refuses it by name; leaving it out in silence would not."""
    assert new(WORDS._replace(issue=0))["scope"]["issue"] == 0


# --- how a new goal starts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "run_id", "base", "expected"),
    [
        ("blocked", "run-1", "b" * 40, []),
        ("active", "run-1", "b" * 40, [(("lifecycle", "status"), "active")]),
        ("blocked", "run-2", "b" * 40, [(("scope", "run_id"), "run-2")]),
        ("blocked", "run-1", "c" * 40, [(("scope", "base_commit"), "c" * 40)]),
        ("blocked", None, None, []),
        (
            "active",
            "r",
            "c",
            [
                (("lifecycle", "status"), "active"),
                (("scope", "run_id"), "r"),
                (("scope", "base_commit"), "c"),
            ],
        ),
    ],
)
def test_only_what_differs_is_edited(status: str, run_id: Any, base: Any, expected: Any) -> None:
    assert starting_changes(FULL, status=status, run_id=run_id, base_commit=base) == expected


def test_a_goal_that_names_no_run_and_no_base_gets_both() -> None:
    found = starting_changes(new(WORDS), status="draft", run_id="r", base_commit="b")
    assert found == [(("scope", "run_id"), "r"), (("scope", "base_commit"), "b")]


@pytest.mark.parametrize(
    ("lifecycle", "rows", "keys"),
    [
        ({"status": "draft"}, {}, []),
        ({"status": "active", "turns_evaluated": 0, "last_evaluation": None}, {}, []),
        ({"status": "blocked"}, {}, ["lifecycle.status"]),
        ({"status": "achieved"}, {}, ["lifecycle.status"]),
        ({"status": "draft", "turns_evaluated": 1}, {}, ["lifecycle.turns_evaluated"]),
        (
            {"status": "draft", "last_evaluation": {"result": "pass"}},
            {},
            ["lifecycle.last_evaluation"],
        ),
        (
            {"status": "draft"},
            {"status": "pass"},
            ["objective.acceptance_criteria[1].status"],
        ),
        (
            {"status": "draft"},
            {"evidence_ref": "x"},
            ["objective.acceptance_criteria[1].evidence_ref"],
        ),
        (
            {"status": "draft"},
            {"last_evaluated_at": "2026-03-01T10:15:00Z", "last_result": "exit 0"},
            [
                "objective.acceptance_criteria[1].last_evaluated_at",
                "objective.acceptance_criteria[1].last_result",
            ],
        ),
        (
            {"status": "failed", "turns_evaluated": 1, "last_evaluation": {"result": "fail"}},
            {"status": "fail"},
            [
                "lifecycle.status",
                "lifecycle.turns_evaluated",
                "lifecycle.last_evaluation",
                "objective.acceptance_criteria[1].status",
            ],
        ),
    ],
)
def test_what_a_new_goal_must_not_claim(lifecycle: Any, rows: Any, keys: list[str]) -> None:
    document = new(CreateRequest("o", ("AC1: a :: x", "AC2: b :: y")))
    document["lifecycle"] = lifecycle
    document["objective"]["acceptance_criteria"][1].update(rows)
    faults = starting_faults(document)
    assert [key for key, _, _ in faults] == keys
    claimed = [*lifecycle.values(), *rows.values()]
    assert all(value in claimed for _, value, _ in faults)
    assert all(why.startswith("a new goal") for _, _, why in faults)
