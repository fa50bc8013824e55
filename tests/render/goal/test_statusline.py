"""One line for an agent's status bar: one for each state, never wider than 60 columns."""

from __future__ import annotations

from typing import Any

import pytest

from flow.render.goal.statusline import WIDTH, statusline
from flow.render.screen import measure

HOSTILE = "a\x1b[31mred\x07\u202eb\nsecond\tline\x9b2J"


def rows(marks: str) -> list[dict[str, Any]]:
    status = {"+": "pass", "x": "fail", ".": "pending", "?": "evidence_collected"}
    return [
        {"id": f"AC{number}", "status": status[mark], "fuzzy": mark == "."}
        for number, mark in enumerate(marks, 1)
    ]


def goal(marks: str = "++++", **more: object) -> dict[str, Any]:
    stand = {
        "status": "active",
        "turns_evaluated": 3,
        "required": rows(marks),
        "paused": None,
        "trusted": True,
        "proposal": None,
        "held_back": None,
        "outside": 0,
        "moved": None,
        **more,
    }
    return {"goals": ["strict-dates"], "unreadable": 0, "goal": stand}


def pause(reason: str) -> dict[str, Any]:
    return {"reason": reason, "by": "sam", "said_from": None, "at": "2026-11-20T14:16:00Z"}


LONG = pause("The fix belongs into that test, and tests/ is protected. " * 3)
LINES = [
    (goal("x..x"), "◎ strict-dates 0/4 · AC1 failed, and AC4 · turn 3"),
    (goal("x++++"), "◎ strict-dates 4/5 · AC1 failed · turn 3"),
    (goal("xxxx"), "◎ strict-dates 0/4 · AC1 failed, and 3 more · turn 3"),
    (
        goal("++..", status="blocked", outside=2),
        "◎ strict-dates 2/4 · blocked, 2 files outside its paths",
    ),
    (
        goal("++..", status="blocked", outside=1),
        "◎ strict-dates 2/4 · blocked, 1 file outside its paths",
    ),
    (goal("++..", status="blocked"), "◎ strict-dates 2/4 · blocked"),
    (goal(proposal="achieved"), "◎ strict-dates 4/4 · waits for you: confirm"),
    (goal("+++.", status="waiting_for_user"), "◎ strict-dates 3/4 · AC4 waits for you"),
    (goal("++..", status="waiting_for_user"), "◎ strict-dates 2/4 · AC3 and AC4 wait for you"),
    (goal("+...", status="waiting_for_user"), "◎ strict-dates 1/4 · AC2 and 2 more wait for you"),
    (goal(status="waiting_for_user"), "◎ strict-dates 4/4 · waits for you"),
    (
        goal(status="waiting_for_user", held_back="goal iso comes first and is failed"),
        "◎ strict-dates 4/4 · blocked, goal iso comes first and is f…",
    ),
    (goal(status="waiting_for_ci"), "◎ strict-dates 4/4 · waits for a command"),
    (goal("x+++", status="waiting_for_ci"), "◎ strict-dates 3/4 · waits for a command"),
    (goal(status="waiting_for_ci", moved=2), "◎ strict-dates 4/4 · waits for a command"),
    (goal(paused=pause("Later.")), "◎ strict-dates paused · “Later.”"),
    (goal(paused=LONG), "◎ strict-dates paused · “The fix belongs into that test, a…”"),
    (goal(moved=1, turns_evaluated=12), "◎ strict-dates 4/4 · 1 file moved since turn 12"),
    (goal(moved=2), "◎ strict-dates 4/4 · 2 files moved since turn 3"),
    (goal(moved=0), "◎ strict-dates 4/4 · files moved since turn 3"),
    (goal("x+++", moved=2), "◎ strict-dates 3/4 · AC1 failed · turn 3"),
    (goal("+?++"), "◎ strict-dates 3/4 · AC2 undecided · turn 3"),
    (goal("....", turns_evaluated=0), "◎ strict-dates 0/4 · not evaluated yet"),
    (goal("....", status="draft"), "◎ strict-dates 0/4 · draft"),
    (goal(trusted=False), "◎ strict-dates 4/4 · not trusted here"),
    (goal(), "◎ strict-dates 4/4 · turn 3"),
    (
        {"goals": ["strict-dates", "iso-docs"], "unreadable": 0, "goal": None},
        "◎ 2 goals: strict-dates, iso-docs",
    ),
    ({"goals": [], "unreadable": 0, "goal": None}, "◎ no goal"),
    ({"goals": [], "unreadable": 1, "goal": None}, "◎ 1 goal cannot be read: flow goal list"),
    ({"goals": [], "unreadable": 2, "goal": None}, "◎ 2 goals cannot be read: flow goal list"),
]


@pytest.mark.parametrize(("document", "line"), LINES, ids=[line for _, line in LINES])
def test_each_state_has_its_line(document: dict[str, Any], line: str) -> None:
    assert statusline(document, unicode=True) == line
    assert measure(line) <= WIDTH


def test_where_marks_are_missing_commas_stand_for_dots() -> None:
    line = statusline(goal("x..x"), unicode=False)
    assert line == "(o) strict-dates 0/4, AC1 failed, and AC4, turn 3"
    for document, _ in LINES:
        line = statusline(document, unicode=False)
        assert line.isascii()
        assert len(line) <= WIDTH


@pytest.mark.parametrize("unicode", [True, False])
def test_it_is_one_line_whatever_is_in_it(unicode: bool) -> None:
    many = {"goals": [HOSTILE, "b" * 300], "unreadable": 0, "goal": None}
    long = {**goal(), "goals": ["g" * 100]}
    hostile = {**goal(paused=pause(HOSTILE * 9)), "goals": [HOSTILE * 9]}
    for document in (many, long, hostile, goal(paused=pause("漢" * 90))):
        line = statusline(document, unicode=unicode)
        assert measure(line) <= WIDTH
        assert not [mark for mark in "\x1b\x07\u202e\n\t\x9b" if mark in line]
