"""The inbox's screen at a terminal's width, without a terminal."""

from __future__ import annotations

import pytest

from flow.core.standing.items import InboxItem
from flow.render.inbox import inbox_lines
from flow.render.screen import Screen, measure

ROW = InboxItem(
    "waits",
    "/r/day",
    "/r/day",
    "achieved is proposed",
    goal_id="greet",
    branch="main",
    command="flow goal confirm greet",
)


@pytest.mark.parametrize("columns", [60, 80, 120, 160])
def test_a_long_name_of_a_branch_takes_no_other_row_s_room(columns: int) -> None:
    rows = [ROW, ROW._replace(goal_id="other", branch="feature/" + "x" * 200)]
    lines = inbox_lines(rows, Screen(columns))
    assert all(measure(line) < columns for line in lines)
    assert "achieved is" in lines[1]
    assert "day/feature/xxx" in "\n".join(lines)
    assert "x" * 200 in "\n".join(inbox_lines(rows, Screen()))  # off a terminal nothing is cut


@pytest.mark.parametrize("columns", [80, 120, 160])
def test_a_long_name_of_a_goal_leaves_room_for_the_reasons(columns: int) -> None:
    name = "a-name-of-a-goal-that-is-rather-long-xx"
    rows = [ROW, ROW._replace(goal_id=name, branch=f"topic/{name}", command="")]
    lines = inbox_lines(rows, Screen(columns))
    assert all(measure(line) < columns for line in lines)
    (row,) = [line for line in lines if name in line]
    assert "achieved is" in row
    assert "day/topic/a" in row


def test_every_section_counts_alike() -> None:
    rows = [ROW, ROW._replace(section="working", goal_id="months"), ROW._replace(section="closed")]
    text = "\n".join(inbox_lines(rows, Screen(80)))
    for head in ("Waits for you  1\n", "Working  1        months\n", "Closed lately  1  greet"):
        assert head in text, text


def test_without_a_branch_there_is_the_repository_alone() -> None:
    (_, line) = inbox_lines([ROW._replace(branch="")], Screen())
    assert line.split()[:2] == ["greet", "day"]
