"""A goal's past as its events tell it."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.goal.lifecycle import TERMINAL
from flow.core.stop.past import PersonsAct, approvals, closing, past_turns

AT, LATER = "2026-11-20T09:08:00Z", "2026-11-20T09:08:05Z"


def evaluated(turn: int, verdict: str = "not_achieved", **more: Any) -> dict[str, Any]:
    return {"type": "evaluated", "turn": turn, "verdict": verdict, "at": AT, **more}


def stop(turn: int, answer: str = "continue", **more: Any) -> dict[str, Any]:
    return {"type": "stop", "turn": turn, "answer": answer, "at": LATER, **more}


def test_a_turn_and_the_stop_that_asked_for_it_are_one() -> None:
    events = [
        evaluated(1, subject={"tree": "t1"}),
        evaluated(2, "blocked", subject={"tree": "t2"}),
        stop(2, verdict="blocked", tree=None),
        stop(3, "let_go", verdict="achieved", tree="t3"),
    ]
    assert [tuple(turn) for turn in past_turns(events)] == [
        (1, AT, "not_achieved", "", "t1", ""),
        (2, AT, "blocked", "continue", "t2", ""),
        (3, LATER, "achieved", "let_go", "t3", ""),
    ]
    assert past_turns(events)[0].to_document() == {
        "turn": 1,
        "at": AT,
        "verdict": "not_achieved",
        "answer": None,
        "by": None,
    }


@pytest.mark.parametrize(
    ("event", "by"),
    [
        ({}, ""),
        ({"by": "repo owner", "said_from": "terminal"}, "repo owner"),
        ({"by": "runner", "by_from": "account", "said_from": "pipe"}, "runner (pipe)"),
        ({"said_from": "agent", "agent": "Codex", "agent_session": "s"}, "Codex's shell"),
        ({"said_from": "agent"}, "an agent's shell"),
        ({"said_from": "pipe"}, ""),
        ({"by": 7, "said_from": ["x"]}, ""),
    ],
)
def test_who_asked_for_a_turn(event: dict[str, Any], by: str) -> None:
    (turn,) = past_turns([evaluated(1, **event)])
    assert turn.by == by
    assert turn.to_document()["by"] == (by or None)
    (turn,) = past_turns([evaluated(1, **event), stop(1)])
    assert turn.by == "", "the stop asked for it"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "evaluated"},
        {"type": "evaluated", "turn": True},
        {"type": "evaluated", "turn": "1"},
        {"type": "evaluated", "turn": -1},
        {"type": "contract-amended", "turn": 1},
        {},
    ],
)
def test_what_is_no_turn_is_none(event: dict[str, Any]) -> None:
    assert past_turns([event]) == []


def test_a_forged_turn_shows_nothing_but_texts() -> None:
    forged = {"type": "stop", "turn": 1, "at": 5, "verdict": [], "answer": {}, "tree": 7}
    forged |= {"by": [], "agent": 3, "said_from": {}}
    assert past_turns([forged]) == [(1, "", "", "", None, "")]


def test_approvals_are_told_with_who_when_and_from_where() -> None:
    word = {"by": "colleague", "by_from": "git user.name", "said_from": "agent", "agent": "Codex"}
    events = [
        {"type": "approved", "criterion_id": "AC3", "at": AT, "evidence_id": "e", **word},
        {"type": "protected-approved", "criterion_id": None, "at": LATER, "note": "I read it."},
        {"type": "guards-approved", "at": LATER},
        {"type": "approved", "criterion_id": None, "at": AT},
        {"type": "disapproved", "at": AT},
        {"at": AT},
    ]
    assert approvals(events) == [
        PersonsAct("AC3", AT, "colleague", "git user.name", "agent", "Codex", "", "e"),
        PersonsAct("protected", LATER, "", note="I read it."),
        PersonsAct("guards", LATER, ""),
    ]


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_the_closing_is_the_newest_change_of_the_status(status: str) -> None:
    events = [
        {"type": "transition", "to": "active", "by": "first", "at": AT},
        {"type": "confirmed", "to": status, "by": "repo owner", "at": LATER, "note": "Well done."},
        {"type": "stop", "turn": 4},
    ]
    assert closing(events, status) == PersonsAct(status, LATER, "repo owner", note="Well done.")
    helper = [{"type": "transition", "to": status, "how": "flow-goal-record.sh", "at": AT}]
    assert closing(helper, status) == PersonsAct(status, AT, "flow-goal-record.sh")


def test_an_open_goal_or_one_that_no_event_closed_has_no_closing() -> None:
    events = [{"type": "transition", "to": "achieved", "at": AT}, {"to": "active", "at": LATER}]
    assert closing(events, "active") is None
    assert closing(events, "achieved") is None, "it was opened again"
    assert closing([], "achieved") is None
