"""Every cell of state × state, in the table and in the machine (SPEC 2)."""

from __future__ import annotations

import doctest

import pytest

from flow.core.goal import lifecycle
from flow.core.goal.lifecycle import STATUSES, TABLE, TERMINAL, Lifecycle
from flow.errors import StateError
from tools import make_docs

# Written out again on purpose: the code's table is not its own witness.
SPEC = {
    "draft": {"active", "cancelled"},
    "active": {
        "waiting_for_user",
        "waiting_for_ci",
        "blocked",
        "achieved",
        "failed",
        "cancelled",
    },
    "waiting_for_user": {"active", "cancelled"},
    "waiting_for_ci": {"active", "cancelled"},
    "blocked": {"active", "failed", "cancelled"},
    "achieved": set(),
    "failed": set(),
    "cancelled": set(),
}
CELLS = [(source, target) for source in STATUSES for target in STATUSES]


def may(source: str, target: str) -> bool:
    if source == target:
        return source not in ("achieved", "failed", "cancelled")
    return target in SPEC[source]


def test_the_example_is_what_happens() -> None:
    assert doctest.testmod(lifecycle) == (0, 3)


def test_the_states_are_those_of_the_spec() -> None:
    assert set(STATUSES) == set(SPEC) == set(TABLE)


def test_the_table_allows_what_the_spec_allows() -> None:
    assert [
        (source, target)
        for source, target in CELLS
        if lifecycle.allowed(source, target) is not may(source, target)
    ] == []


@pytest.mark.parametrize(("source", "target"), CELLS)
def test_the_machine_moves_where_the_table_does(source, target) -> None:  # type: ignore[no-untyped-def]
    machine = Lifecycle("issue-4", source)
    if may(source, target):
        machine.move(target)
        assert machine.status == target
    else:
        with pytest.raises(StateError) as caught:
            machine.move(target)
        assert machine.status == source
        assert source in str(caught.value)
        assert target in str(caught.value)


@pytest.mark.parametrize(("source", "target"), [c for c in CELLS if not may(*c)])
def test_a_refusal_names_the_goal_both_states_and_a_remedy(source: str, target: str) -> None:
    with pytest.raises(StateError) as caught:
        lifecycle.check_move(source, target, goal="issue-4")
    error = caught.value.to_dict()
    assert error["code"] == "refused_transition"
    assert error["value"] == target
    assert "issue-4" in str(error["message"])
    assert error["remedy"]


def test_the_machine_has_no_shortcuts_around_the_table() -> None:
    machine = Lifecycle("issue-4", "active")
    assert not [name for name in dir(machine) if name.startswith("to_")]


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_nothing_leaves_a_terminal_state(status: str) -> None:
    assert not TABLE[status]  # type: ignore[index]


def test_the_diagram_has_every_move_once() -> None:
    lines = make_docs.lifecycle_diagram().splitlines()
    for source, targets in SPEC.items():
        for target in targets:
            assert lines.count(f"    {source} --> {target}") == 1
