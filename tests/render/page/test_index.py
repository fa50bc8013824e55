"""The page over many goals: whose turn it is, links, filters, and no text as markup."""

from __future__ import annotations

import re

import pytest

from flow.core.instant import seconds
from flow.core.standing.items import InboxItem
from flow.core.standing.table import Section
from flow.render.page.index import FILTERED, OverviewRow, index_page, overview_row
from tests.render.page.scenes import report, stamp
from tests.render.page.test_goal_page import EVIL, MIB, Tags, words_of


def item(section: Section, number: int = 1, text: str = "plain") -> InboxItem:
    """A row of the inbox, in a repository of its own."""
    return InboxItem(
        section,
        f"/repositories/{text}-{number}",
        f"/repositories/{text}-{number}",
        f"{text}: achieved is proposed",
        goal_id=f"goal-{number}",
        branch=text,
        since=stamp(number),
        command=f"flow goal confirm goal-{number}" if section == "waits" else "",
    )


SECTIONS: tuple[Section, ...] = ("waits", "blocked", "working", "closed", "broken")


def rows(text: str = "plain") -> list[OverviewRow]:
    """A row in each section, and one without a page."""
    given = report(3, 4, text)
    made = [
        overview_row(item(section, number, text), given, f"p-{number}.html")
        for number, section in enumerate(SECTIONS, 1)
    ]
    return [*made, OverviewRow(item("working", 9, text))]


def test_whose_turn_it_is_stands_first_with_the_line_to_type() -> None:
    text = words_of(index_page(rows(), "0.1.0"))
    assert "1 goal waits for you" in text
    assert "1 blocked 2 working 1 closed lately 6 repositories as of 2026-03-01 09:00" in text
    assert "goal-1 plain-1/plain" in text
    assert "flow goal confirm goal-1" in text
    assert "8 h 0 m 2026-03-01 01:00" in text  # ages count to the newest entry
    assert "Nothing waits for you" in words_of(index_page([], "0.1.0"))


@pytest.mark.parametrize("wrong", ["9999-12-31T23:59:59Z", "zzz", ""])
def test_what_is_dated_in_the_future_or_not_at_all_makes_nothing_else_old(wrong: str) -> None:
    made = rows()
    odd = OverviewRow(item("closed", 7)._replace(since=wrong))
    text = words_of(index_page([*made, odd], "0", now=seconds(stamp(12))))
    assert "as of 2026-03-01 09:00" in text
    assert "8 h 0 m 2026-03-01 01:00" in text
    late = index_page([odd._replace(item=odd.item._replace(since=stamp(12)))], "0", now=0.0)
    assert "as of 2026-03-01 12:00" in words_of(late)  # a clock that went back


def test_rows_lead_to_their_pages_and_tell_criteria_and_turns() -> None:
    text = index_page(rows(), "0.1.0")
    assert '<a href="p-1.html">goal-1</a>' in text
    assert 'aria-label="2 proved, 1 failed"' in text
    assert 'aria-label="4 turns, 0 of 3 proved"' in text
    assert "<b>goal-9</b>" in text


def test_every_filter_is_a_place_of_its_own_with_a_rule() -> None:
    text = index_page(rows(), "0.1.0")
    tags = Tags(text)
    for number in range(1, 7):
        assert f"r-{number}" in tags.ids
        assert f"body:has(#r-{number}:target) .row:not(.of-r-{number})" in text
    many = [OverviewRow(item("working", number)) for number in range(FILTERED + 1)]
    assert ":target) .row" not in index_page(many, "0.1.0")
    assert "Which repositories" not in index_page(many, "0.1.0")


def test_no_text_becomes_markup() -> None:
    plain, evil = Tags(index_page(rows(), "0")), Tags(index_page(rows(EVIL), "0"))
    assert evil.names == plain.names
    assert evil.attributes == plain.attributes
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", index_page(rows(EVIL), "0"))


def test_a_thousand_goals_are_one_page() -> None:
    given = report(10, 20)
    many = [overview_row(item("working", n % 50), given, f"p-{n}.html") for n in range(1000)]
    assert len(index_page(many, "0").encode()) < 2 * MIB
    assert index_page(many, "0") == index_page(many, "0")
