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


def test_without_a_branch_there_is_the_repository_alone() -> None:
    (_, line) = inbox_lines([ROW._replace(branch="")], Screen())
    assert line.split()[:2] == ["greet", "day"]
