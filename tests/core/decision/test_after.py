"""Goals that come first: what each of their states holds back."""

from __future__ import annotations

import pytest

from flow.core.decision.after import EarlierGoal, held_by, holds, next_line, sentences, warnings
from flow.core.goal.lifecycle import STATUSES

BY_STATUS = {
    "achieved": "",
    "failed": "person",
    "cancelled": "person",
    "draft": "open",
    "active": "open",
    "waiting_for_user": "open",
    "waiting_for_ci": "open",
    "blocked": "open",
}


def held(goals: dict[str, EarlierGoal], *after: str) -> str:
    """What the goal ``me`` waits for."""
    return held_by(holds("me", after, goals.get))


def test_every_status_is_told() -> None:
    assert set(BY_STATUS) == set(STATUSES)


@pytest.mark.parametrize(("status", "by"), BY_STATUS.items())
def test_each_status(status: str, by: str) -> None:
    assert held({"a": EarlierGoal(status)}, "a") == by
    assert held({"a": EarlierGoal(status), "b": EarlierGoal("achieved")}, "b", "a", "b") == by


def test_the_worst_of_several_decides_and_each_is_named() -> None:
    goals = {"a": EarlierGoal("active"), "b": EarlierGoal("failed"), "c": EarlierGoal("achieved")}
    waiting = holds("me", ("a", "b", "c", "gone"), goals.get)
    assert held_by(waiting) == "person"
    assert [hold.goal_id for hold in waiting] == ["a", "b", "gone"]
    assert sentences(waiting)[:2] == [
        "goal a comes first and is active",
        "goal b comes first and is failed, so it will never be achieved",
    ]
    assert "not in this checkout" in sentences(waiting)[2]
    assert next_line("me", waiting) == (
        "a person settles what comes first (b, gone), or takes it out: flow goal amend me --edit"
    )
    assert next_line("me", waiting[:1]) == (
        "first: flow goal status a; then: flow goal evaluate me"
    )


@pytest.mark.parametrize(
    ("goals", "by"),
    [
        ({"a": EarlierGoal("active", ("me",))}, "person"),
        ({"a": EarlierGoal("active", ("b",)), "b": EarlierGoal("active", ("me",))}, "person"),
        ({"a": EarlierGoal("active", ("b",)), "b": EarlierGoal("active", ("a",))}, "open"),
        ({"a": EarlierGoal("active", ("b",)), "b": EarlierGoal("achieved", ("me",))}, "open"),
        ({"a": EarlierGoal("achieved", ("me",))}, ""),
        ({"a": EarlierGoal("active", ("b",))}, "open"),
    ],
)
def test_circles(goals: dict[str, EarlierGoal], by: str) -> None:
    assert held(goals, "a") == by


def test_a_goal_after_itself_is_a_circle() -> None:
    assert held({"me": EarlierGoal("active", ("me",))}, "me") == "person"


def test_a_long_chain_ends() -> None:
    chain = {f"g{n}": EarlierGoal("active", (f"g{n + 1}",)) for n in range(5000)}
    assert held(chain, "g0") == "open"


def test_what_cannot_be_read_or_is_not_on_record_holds() -> None:
    goals = {"a": EarlierGoal("achieved", problem="says achieved, and nobody knows")}
    assert held(goals, "a") == "person"
    assert "nobody knows" in sentences(holds("me", ("a",), goals.get))[0]


@pytest.mark.parametrize("status", BY_STATUS)
def test_a_goal_that_can_never_be_achieved_is_warned_of(status: str) -> None:
    told = warnings("me", ("a",), {"a": EarlierGoal(status)}.get, ["a", "me"])
    assert len(told) == (BY_STATUS[status] == "person")
    assert all(status in text and "flow goal amend me --edit" in text for text in told)
    assert not any("did you mean" in text for text in told)


def test_a_goal_that_is_not_there_is_warned_of_with_the_one_that_may_be_meant() -> None:
    (told,) = warnings("me", ("greet",), {}.get, ["greets", "me"])
    assert "is not in this checkout" in told
    assert "did you mean greets? Until" in told
    (told,) = warnings("men", ("me",), {}.get, ["men"])
    assert "did you mean" not in told, "not the goal itself"


def test_nothing_comes_first() -> None:
    assert holds("me", (), {}.get) == ()
    assert held_by(()) == ""
