"""What ``flow inbox --watch`` tells as a change, and what a notification says."""

from __future__ import annotations

from flow.core.standing.items import InboxItem, changes
from flow.render.inbox import change_line, notice
from flow.render.screen import Screen

WORKING = InboxItem("working", "/r/day", "/r/day", "1 of 2 proved", "greet", "main")
WAITS = WORKING._replace(
    section="waits", why="achieved is proposed", command="flow goal confirm greet"
)


def test_only_what_a_person_sees_is_a_change() -> None:
    assert changes([WORKING], [WORKING._replace(since="later", turns=3)]) == []
    (change,) = changes([WORKING], [WAITS])
    assert change == ("changed", WAITS, True)
    assert change_line(change, Screen()) == (
        "day/main greet: waits for you, achieved is proposed  flow goal confirm greet"
    )
    assert changes([], [WAITS]) == [("added", WAITS, True)]
    assert changes([WAITS], [WAITS._replace(why="failed is proposed")])[0].into_waits is False
    (gone,) = changes([WAITS], [])
    assert gone[0] == "removed"
    assert change_line(gone, Screen()) == "day/main greet: gone from the inbox"


def test_goals_of_one_name_are_told_apart() -> None:
    other = WORKING._replace(branch="side")
    assert changes([WORKING, other], [WORKING, WAITS._replace(branch="side")]) == [
        ("changed", WAITS._replace(branch="side"), True)
    ]


def test_what_cannot_be_read_in_two_places_is_two_rows() -> None:
    here = WORKING._replace(section="broken", why="a", branch=None, since=None)
    there = here._replace(path="/r/side", why="b")
    assert [change.item for change in changes([], [here, there])] == [here, there]
    worse = there._replace(why="c")
    assert changes([here, there], [here, worse]) == [("changed", worse, False)]
    lost = WORKING._replace(section="broken", why="the ledger of trust cannot be used")
    assert changes([WORKING], [lost]) == [("changed", lost, False)]  # it stands so itself


def test_a_hostile_text_cannot_reach_terminal_or_desktop() -> None:
    item = WAITS._replace(
        repository="/r/4;1;50\x1b]0;x\x07",
        branch="\u202ekcap",
        why="a\x07\x1b[31m;\x9d" + "x" * 500,
    )
    for text in (*notice(item), change_line(changes([], [item])[0], Screen())):
        assert not {"\x1b", "\x07", "\x9d", "\u202e", "\n"} & set(text)
    assert all(";" not in text and len(text) <= 120 for text in notice(item))
    assert notice(WAITS) == ("day/main greet", "achieved is proposed")
