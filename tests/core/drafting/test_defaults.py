"""What every new goal gets, as values."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.drafting.defaults import GoalDefaults, shape_faults, taken_over
from flow.errors import ContractError

TESTS = {"id": "AC2", "text": "the tests pass", "verification_command": "make"}
READS = {"id": "DOC1", "text": "it reads well"}
DEFAULTS = GoalDefaults((TESTS, READS), ("*.pem",), ("tests/**",))


def goal(*rows: dict[str, Any], **constraints: Any) -> dict[str, Any]:
    document: dict[str, Any] = {"objective": {"acceptance_criteria": list(rows)}}
    return {**document, "constraints": constraints} if constraints else document


OWN = {"id": "AC1", "text": "mine", "status": "pending"}
AT = ("objective", "acceptance_criteria")


def test_criteria_stand_behind_the_goals_own() -> None:
    assert taken_over(goal(OWN), DEFAULTS, "f") == [
        ((*AT, 1), {**TESTS, "status": "pending"}),
        ((*AT, 2), {**READS, "status": "pending"}),
        (("constraints", "denied_paths"), ["*.pem"]),
        (("constraints", "protected_paths"), ["tests/**"]),
    ]


def test_what_is_there_in_the_same_words_is_not_added() -> None:
    there = goal(OWN, {**TESTS, "status": "pass"}, denied_paths=["*.pem"], protected_paths=["a"])
    assert taken_over(there, DEFAULTS, "f") == [
        ((*AT, 2), {**READS, "status": "pending"}),
        (("constraints", "protected_paths"), ["a", "tests/**"]),
    ]


@pytest.mark.parametrize("constraints", [None, {"denied_paths": None, "protected_paths": None}])
def test_a_goal_without_constraints_gets_them(constraints: Any) -> None:
    changes = taken_over({**goal(OWN), "constraints": constraints}, DEFAULTS, "f")
    assert changes[2:] == [
        (("constraints", "denied_paths"), ["*.pem"]),
        (("constraints", "protected_paths"), ["tests/**"]),
    ]


def test_each_id_that_means_something_else_is_named_with_both_places() -> None:
    with pytest.raises(ContractError) as caught:
        taken_over(goal({**TESTS, "must_pass": False}, OWN, {**READS, "text": "x"}), DEFAULTS, "f")
    assert [(fault.file, fault.key) for fault in caught.value.faults] == [
        ("f", "objective.acceptance_criteria[0].id"),
        ("f", "objective.acceptance_criteria[2].id"),
    ]
    assert [fault.message for fault in caught.value.faults] == [
        f"{name} is the id of criteria[{place}] in .flow/defaults.goal.yaml too"
        for place, name in enumerate(("AC2", "DOC1"))
    ]


def test_the_digest_is_over_all_of_it() -> None:
    others = [
        DEFAULTS._replace(criteria=(TESTS,)),
        DEFAULTS._replace(criteria=(READS, TESTS)),
        DEFAULTS._replace(criteria=({**TESTS, "verification_command": "make -k"}, READS)),
        DEFAULTS._replace(denied_paths=()),
        DEFAULTS._replace(protected_paths=("test/**",)),
        GoalDefaults(denied_paths=("tests/**",), protected_paths=("*.pem",)),
    ]
    assert len({one.digest for one in (DEFAULTS, *others)}) == 7
    assert DEFAULTS.ids == ("AC2", "DOC1")
    assert DEFAULTS.fuzzy
    assert not DEFAULTS._replace(criteria=(TESTS,)).fuzzy


@pytest.mark.parametrize(
    ("document", "keys"),
    [
        ({}, []),
        ({"criteria": [TESTS], "denied_paths": [], "protected_paths": []}, []),
        ({"allowed_paths": [], "criteria": []}, ["allowed_paths"]),
        ({"criteria": [{**TESTS, "status": "pending"}]}, []),
        (
            {"criteria": [TESTS, {**READS, "status": "pass", "evidence_ref": "x"}]},
            ["criteria[1].status", "criteria[1].evidence_ref"],
        ),
        ({"criteria": "x"}, []),
        ({"criteria": ["x", None]}, []),
    ],
)
def test_what_the_file_may_not_hold(document: Any, keys: list[str]) -> None:
    assert [fault.key for fault in shape_faults(document)] == keys
