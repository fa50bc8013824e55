"""The pages of scorecards and debates: what stands on them, and no text as markup."""

from __future__ import annotations

from flow.render.page.debates import debate_page
from flow.render.page.index import OpinionRow, index_page
from flow.render.page.scores import scores_page
from tests.render.page.scenes import debate, scores
from tests.render.page.test_goal_page import EVIL, Tags, words_of


def judged_pages(text: str) -> list[str]:
    """A page of each kind, with ``text`` wherever somebody's text stands, and the index."""
    rows = [
        OpinionRow("scorecards", text, f"/a/{text}", f"/a/{text}", text, "s.html", "7.73, B", text,
                   "2026-03-01T00:00:00Z", (5, 7, 9)),
        OpinionRow("debate", text, "/b", "/b", told=text),
    ]  # fmt: skip
    at = {"overview": "index.html", "origin": "d.html"}
    return [
        scores_page(scores(text), "0.1.0", overview="index.html", origin="s.html"),
        scores_page(scores(text, cards=1), "0.1.0", overview="index.html", origin="s.html"),
        debate_page(debate(text), "0.1.0", **at),
        debate_page(debate(text, judges=12, agree=False), "0.1.0", **at),
        index_page([], "0.1.0", rows),
    ]


def test_no_text_becomes_markup() -> None:
    for plain, evil in zip(judged_pages("plain"), judged_pages(EVIL), strict=True):
        assert Tags(evil).names == Tags(plain).names
        assert Tags(evil).attributes == Tags(plain).attributes


def test_the_first_card_of_a_skill_has_nothing_to_be_compared_with() -> None:
    first, only, *_ = judged_pages("commit")
    assert "mean of the 5 cards before it" in words_of(first)
    assert "Figures so far" in first
    assert "mean of" not in words_of(only)
    assert "Figures so far" not in only
    assert "judge’s opinion" in words_of(only)


def test_a_debate_shows_its_judges_side_by_side_from_first_to_last() -> None:
    held, apart = judged_pages("Short")[2:4]
    text = words_of(held)
    assert "Debate: Short" in text
    assert "Result Needs revision the median of 3 judges" in text
    assert "Consensus after 1 round of debate" in text
    assert "Spread 0.00 was 0.80 before any debate" in text
    assert "Judge 2 Pass → Needs revision" in text
    assert "conformity : no new quote" in text
    assert "Short all judges" in text
    assert "Short Judge 1" in text
    assert "No consensus" in words_of(apart)
    assert "A person decides" in words_of(apart)


def test_what_judges_scored_stands_below_the_goals_quietly() -> None:
    index = judged_pages("commit")[-1]
    assert "Nothing waits for you" in words_of(index)
    assert '<a href="s.html">commit</a>' in index
    assert "judges’ opinions; they prove nothing" in words_of(index)
