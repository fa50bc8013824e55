"""What a refused move says, and moves of states nobody knows."""

from __future__ import annotations

import pytest

from flow.core.goal import lifecycle
from flow.core.goal.lifecycle import Lifecycle
from flow.errors import StateError
from tools import make_docs


@pytest.mark.parametrize(
    ("source", "target"),
    [("nowhere", "active"), ("nowhere", "nowhere"), ("active", "nowhere"), ("achieved", "nowhere")],
)
def test_a_state_that_is_not_in_the_table(source: str, target: str) -> None:
    assert lifecycle.allowed(source, target) is False
    with pytest.raises(StateError):
        lifecycle.check_move(source, target, goal="g")


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        ("draft", "from draft it can go to active, cancelled"),
        ("blocked", "from blocked it can go to active, failed, cancelled"),
        ("achieved", "a closed goal stays closed; start anew: flow goal create NEW --from g"),
    ],
)
def test_a_refusal_says_where_the_way_goes_on(source: str, remedy: str) -> None:
    with pytest.raises(StateError) as caught:
        lifecycle.check_move(source, "waiting_for_ci", goal="g")
    error = caught.value.to_dict()
    assert error["remedy"] == remedy
    assert (error["code"], error["key"]) == ("refused_transition", "lifecycle.status")
    assert (error["value"], error["message"]) == (
        "waiting_for_ci",
        f"goal g is {source} and cannot become waiting_for_ci",
    )


def test_the_machine_refuses_in_the_same_words() -> None:
    with pytest.raises(StateError) as caught:
        Lifecycle("g", "blocked").move("waiting_for_ci")
    assert caught.value.to_dict()["code"] == "refused_transition"
    assert "goal g is blocked" in str(caught.value)


def test_the_diagram() -> None:
    assert make_docs.lifecycle_diagram() == (
        "stateDiagram-v2\n"
        "    [*] --> draft\n"
        "    [*] --> active\n"
        "    draft --> active\n"
        "    draft --> cancelled\n"
        "    active --> waiting_for_user\n"
        "    active --> waiting_for_ci\n"
        "    active --> blocked\n"
        "    active --> achieved\n"
        "    active --> failed\n"
        "    active --> cancelled\n"
        "    waiting_for_user --> active\n"
        "    waiting_for_user --> cancelled\n"
        "    waiting_for_ci --> active\n"
        "    waiting_for_ci --> cancelled\n"
        "    blocked --> active\n"
        "    blocked --> failed\n"
        "    blocked --> cancelled\n"
        "    achieved --> [*]\n"
        "    failed --> [*]\n"
        "    cancelled --> [*]\n"
    )
