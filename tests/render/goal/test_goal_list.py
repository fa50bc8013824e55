"""``flow goal list`` as people see it."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core import instant
from flow.errors import MANY_ROWS
from flow.render.goal.goal_list import MARKS, goal_list_lines, none_here, unreadable_lines
from flow.render.screen import Screen, measure

NOW = instant.seconds("2026-11-20T14:20:00Z")
HOSTILE = "a\x1b[31mred\x07\u202eb\nsecond\tline\x9b2J"


def results(marks: str) -> list[dict[str, Any]]:
    status = {"✓": "pass", "✗": "fail", "○": "pending", "◐": "evidence_collected"}
    return [{"id": "AC", "status": status[mark], "must_pass": True} for mark in marks]


def goal(goal_id: str = "strict-dates", marks: str = "✓✓✗✓✓", **more: object) -> dict[str, Any]:
    return {
        "goal_id": goal_id,
        "status": "active",
        "branch": goal_id,
        "here": False,
        "from_git": goal_id,
        "checkout": None,
        "turns_evaluated": 12,
        "outcome": f"what {goal_id} is for",
        "since": "2026-11-20T14:16:00Z",
        "results": results(marks),
        "proposal": None,
        "paused": None,
        "closed_by_hand": False,
        **more,
    }


def document(*goals: dict[str, Any], **more: object) -> dict[str, Any]:
    return {
        "branch": "main",
        "goals": list(goals),
        "unreadable": [],
        "branches": None,
        "other_branches": None,
        **more,
    }


LIVE = {"to": "achieved", "live": True}
SEEN = document(
    goal(here=True, from_git=None, proposal=LIVE),
    goal("tz-cache", "✓✓✓", status="blocked", turns_evaluated=4, since="2026-11-20T12:55:00Z"),
    goal("fuzzy-months", "✓✗○", turns_evaluated=2, since="2026-11-20T13:54:00Z"),
    goal("iso-docs", "○○", status="draft", turns_evaluated=0, since="2026-11-14T14:00:00Z"),
    goal("week-dates", "✓✓✓", status="achieved", turns_evaluated=3, since="2026-11-19T15:00:00Z"),
    branches=5,
)


def test_each_goal_has_a_row() -> None:
    lines = goal_list_lines(SEEN, Screen(80, now=NOW))
    assert [" ".join(line.split()) for line in lines] == [
        "goal branch criteria turns state age",
        "✓ strict-dates * here ✓✓✗✓✓ 12 waits for you 4 min",
        "⊘ tz-cache tz-cache ✓✓✓ 4 blocked 1 h 25 m",
        "▸ fuzzy-months fuzzy-months ✓✗○ 2 working 26 min",
        "○ iso-docs iso-docs ○○ 0 draft 6 d",
        "✓ week-dates week-dates ✓✓✓ 3 achieved 23 h 20 m",
        "",
        "5 goals on 5 branches; 4 were read from git, as last committed there.",
    ]
    assert {measure(line) for line in lines[:6]} == {79}


@pytest.mark.parametrize("columns", [60, 80, 109, 110, 120, 160])
def test_no_row_is_wider_than_the_terminal_and_outcomes_stand_where_there_is_room(
    columns: int,
) -> None:
    wide = document(goal(branch="b" * 90, outcome="word " * 60, marks="✓" * 40))
    lines = goal_list_lines(wide, Screen(columns, now=NOW))
    assert max(map(measure, lines)) < columns
    assert ("word" in lines[1]) is (columns >= 110)
    assert "strict-dates" in lines[1]


@pytest.mark.parametrize("columns", [80, 110, 160])
def test_a_long_name_of_a_goal_is_whole_and_wraps_no_row(columns: int) -> None:
    name = "a-name-of-a-goal-that-is-rather-long-xx"
    lines = goal_list_lines(document(goal(name), goal()), Screen(columns, now=NOW))
    assert max(map(measure, lines)) < columns
    assert name in lines[1]
    assert (
        lines[0].split()
        == {
            80: ["goal", "branch", "criteria", "turns", "state"],
            110: ["goal", "branch", "criteria", "turns", "state", "age"],
            160: ["goal", "branch", "criteria", "turns", "state", "outcome", "age"],
        }[columns]
    )


def test_off_a_terminal_times_are_whole() -> None:
    [_, row] = goal_list_lines(document(goal()), Screen(now=NOW))
    assert row.endswith("what strict-dates is for  2026-11-20 14:16:00 UTC")


def test_many_criteria_are_counted() -> None:
    few = goal_list_lines(document(goal(marks="✓" * MARKS)), Screen(now=NOW))
    assert "✓" * MARKS in few[1]
    many = goal_list_lines(document(goal(marks="✓✗" * 9 + "◐")), Screen(now=NOW))
    assert " 9✓ 9✗ 1◐ " in many[1]


def test_a_person_s_turn_is_cyan_and_a_paused_goal_says_why() -> None:
    pause = {"reason": "later", "by": "sam", "said_from": None, "at": "2026-11-20T14:16:00Z"}
    shown = document(
        goal(proposal=LIVE, here=True),
        goal("b", status="waiting_for_user", paused=pause, here=True),
        goal("c", status="achieved", closed_by_hand=True),
    )
    lines = goal_list_lines(shown, Screen(colour=True, now=NOW))
    assert "\x1b[36mwaits for you\x1b[0m" in lines[1]
    assert "  paused" in lines[2]
    assert 'paused by sam: "later"' in lines[2]
    assert "achieved, closed by hand" in lines[3]


def test_more_goals_than_fit_are_counted() -> None:
    goals = [goal(f"g{number}") for number in range(60)]
    lines = goal_list_lines(document(*goals), Screen(80, now=NOW))
    assert lines[-1] == f"and {60 - MANY_ROWS} more: flow goal list --json"
    lines = goal_list_lines(document(*goals, branches=60), Screen(80, now=NOW))
    assert f"and {60 - MANY_ROWS} more: flow goal list --all-branches --json" in lines


@pytest.mark.parametrize(
    ("goals", "other", "said"),
    [
        ((), None, "no goals yet; make one: flow goal create"),
        ((), {}, "no goals yet; make one: flow goal create"),
        (
            (),
            {"a": 1},
            "no goal on main; 1 goal on a: flow goal list --all-branches",
        ),
        (
            (goal(),),
            {"a": 2, "b": 1},
            "no goal on main; 3 goals on a, b: flow goal list --all-branches",
        ),
        (
            (),
            {f"b{number}": 1 for number in range(5)},
            "no goal on main; 5 goals on 5 other branches: flow goal list --all-branches",
        ),
        ((goal(),), {}, ""),
        ((goal(),), None, ""),
    ],
)
def test_where_goals_are_is_said_where_this_branch_has_none(
    goals: tuple[dict[str, Any], ...], other: dict[str, int] | None, said: str
) -> None:
    assert none_here(document(*goals, other_branches=other)) == said


def test_no_foreign_text_moves_the_terminal() -> None:
    pause = {"reason": HOSTILE, "by": HOSTILE, "said_from": None, "at": HOSTILE}
    shown = document(
        goal(branch=HOSTILE, outcome=HOSTILE, since=HOSTILE, status=HOSTILE),
        goal(branch=HOSTILE, paused=pause),
        branch=HOSTILE,
        other_branches={HOSTILE: 1},
    )
    lines = [
        *goal_list_lines(shown, Screen(now=NOW)),
        *goal_list_lines(shown, Screen(120, now=NOW)),
        none_here(shown),
        *unreadable_lines([{"file": HOSTILE, "message": HOSTILE}]),
    ]
    for line in lines:
        assert not [mark for mark in "\x1b\x07\u202e\n\t\x9b" if mark in line], line


def test_where_the_others_were_read_is_broken_at_blanks() -> None:
    goals = [goal("a", branch="a", from_git=None, checkout="/t")]
    goals += [goal(name, branch=name) for name in ("b", "c")]
    lines = goal_list_lines(document(*goals, branches=3), Screen(60, now=NOW))
    assert lines[-2:] == [
        "3 goals on 3 branches; 2 were read from git, as last",
        "committed there; 1 is in another working tree.",
    ]
