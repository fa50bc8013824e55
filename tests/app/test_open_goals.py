"""Which goals are open, and of which branch."""

from __future__ import annotations

import pytest

from flow.app import open_goals
from flow.core.goal.lifecycle import STATUSES, UNDER_WAY
from flow.core.goal.model import NO_BRANCH, Goal, goal_from_document
from flow.errors import ContractError, FlowError, StateError, at_key
from tests.app.fakes import goal_document


def goal(status: str = "active", branch: str = "main") -> Goal:
    return goal_from_document(goal_document(status=status))._replace(branch=branch)


@pytest.mark.parametrize("status", STATUSES)
def test_only_active_goals_are_active_and_neither_drafts_nor_closed_ones_open(status: str) -> None:
    goals = [goal(status)]
    assert open_goals.active_goals(goals, "main", any_open=False) == (
        goals if status == "active" else []
    )
    assert open_goals.active_goals(goals, "main", any_open=True) == (
        goals if status in UNDER_WAY else []
    )


@pytest.mark.parametrize(
    ("branch", "wanted", "counts"),
    [
        ("main", "main", True),
        ("other", "main", False),
        (NO_BRANCH, "main", True),
        ("other", None, True),
    ],
)
def test_a_goal_is_of_its_branch_or_of_none(branch: str, wanted: str | None, counts: bool) -> None:
    goals = [goal(branch=branch)]
    assert open_goals.active_goals(goals, wanted, any_open=False) == (goals if counts else [])


def test_a_goal_that_cannot_be_read_is_named_beside_the_others() -> None:
    def read(goal_id: str) -> Goal:
        if goal_id == "bad":
            raise at_key("x").invalid("broken")
        return goal()

    goals, broken = open_goals.read_all(["good", "bad"], read)
    assert list(goals) == ["good"]
    assert isinstance(broken["bad"], FlowError)
    assert not isinstance(broken["bad"], ContractError)


def test_the_run_of_a_goal_that_has_begun() -> None:
    assert open_goals.run_of(goal()) == "run-1"


@pytest.mark.parametrize(
    ("status", "step"),
    [
        ("active", "flow goal evaluate"),
        ("draft", "activate it first"),
        ("cancelled", "flow goal create NEW --from"),
    ],
)
def test_a_goal_without_a_run_is_led_to_a_step_that_can_be_taken(status: str, step: str) -> None:
    with pytest.raises(StateError, match="has no run yet") as raised:
        open_goals.run_of(goal(status)._replace(run_id=None))
    assert step in str(raised.value.fault.remedy)


@pytest.mark.parametrize("count", [0, 2])
def test_the_only_open_goal_is_one(count: int) -> None:
    assert open_goals.only_open([goal()]) == goal()
    with pytest.raises(StateError, match=f"{count} goals are open"):
        open_goals.only_open([goal()] * count)
