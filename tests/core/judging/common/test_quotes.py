"""One rule says whether a quote is a true one, whatever is judged."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.judging.common.question import Unusable
from flow.core.judging.common.quotes import QuotableTexts, SortedQuotes, sort_quotes
from flow.core.judging.debate import criteria as debate_criteria
from flow.core.judging.debate import reply as debate_reply
from flow.core.judging.rubric import reply as rubric_reply
from flow.core.judging.rubric.model import Rubric, RubricBallot, RubricCriterion, result
from flow.core.judging.scorecard import reply as scorecard_reply
from flow.core.judging.scorecard.model import NAMES
from flow.core.untrusted.fences import FencedPart, fence
from tests.support import debate_judge
from tests.support.judges import rubric_replies, score_replies

TEXT = """\
def area(r):
    return 3.14 * r * r
x = 1
said \x1b[31m"red"\x1b[0m
}
========
"""
TRUE, INVENTED, SHORT = "true", "invented", "too short"
QUOTES = [
    ("def area(r):", TRUE),
    ("return 3.14\n *  r * r", TRUE),
    ("'def area(r):'", TRUE),
    ("…return 3.14 * r…", TRUE),
    ("“return 3.14 * r”.", TRUE),
    ("x = 1", TRUE),  # short, and a whole line
    ("'x = 1'", TRUE),
    ('said \\x1b[31m"red"', TRUE),  # as a fence shows it
    ('said \x1b[31m"red"', TRUE),
    ("return 42 * r * r", INVENTED),
    ("DEF AREA(R):", INVENTED),
    ("def area ... r * r", INVENTED),
    ("area(r)", SHORT),  # seven characters of a line
    ("x =", SHORT),
    ("}", SHORT),  # a whole line, and no word in it
    ("========", INVENTED),
    ("never", SHORT),
]
KINDS = ["rubric", "scorecard", "debate"]


def sorted_by(kind: str, quote: str) -> str:
    """What the reader of a reply about ``kind`` makes of a quote."""
    if kind == "rubric":
        one = Rubric("R", [RubricCriterion("a", "d")])
        value: Any = rubric_replies.reply({"a": 1}, quote)
        ballot = rubric_reply.read_reply(one, value, [TEXT])
        assert isinstance(ballot, RubricBallot)
        mark: Any = ballot.marks["a"]
    elif kind == "debate":
        criteria = debate_criteria.parse("a:1")
        found = debate_reply.read_reply(criteria, 1, debate_judge.reply({"a": 3}, quote), (TEXT,))
        assert isinstance(found, debate_reply.DebateReply)
        mark = found.position.marks[0]
    else:
        occurs = scorecard_reply.Quotes(TEXT).occurs
        card = scorecard_reply.read_reply(score_replies.reply(8, quote), occurs, compared=True)
        assert not isinstance(card, Unusable)
        mark = card.marks[NAMES[0]]
        if mark.fault == scorecard_reply.TOO_SHORT:
            return SHORT
    if mark.evidence:
        return TRUE
    return SHORT if getattr(mark, "too_short", ()) else INVENTED


@pytest.mark.parametrize(("quote", "state"), QUOTES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_quote_is_the_same_for_every_kind_of_question(kind: str, quote: str, state: str) -> None:
    assert sorted_by(kind, quote) == state


def test_no_quote_spans_what_was_left_out() -> None:
    data = fence(
        FencedPart("p", "the beginning " + "x" * 900 + " and the end"), "ab" * 16, limit=300
    ).data
    given = QuotableTexts([data])
    assert given.contain("the beginning xxxx")
    assert given.contain("xxxx and the end")
    head, tail = data.split("\n\0\n")
    for gap in (" ", "\n", "\0", " \0 ", "\\x00", " \\x00 "):
        assert not given.contain(f"{head[-9:]}{gap}{tail[:9]}")


def test_quotes_are_sorted_once_for_all() -> None:
    given = QuotableTexts([TEXT])
    found = sort_quotes(["x = 1", " ", "never said", "x =", "def area(r):"], given.contain)
    assert found == SortedQuotes(("x = 1", "def area(r):"), ("never said",), ("x =",))
    assert found.founded
    assert not sort_quotes(["x = 1", "never said", "nor this one"], given.contain).founded
    assert sort_quotes(["x = 1", "never said", "x =", "r)"], given.contain).founded
    assert not sort_quotes(["x ="], given.contain).founded


def test_a_short_quote_of_a_rubric_is_not_said_to_be_invented() -> None:
    one = Rubric("R", [RubricCriterion("a", "d")])
    value = rubric_replies.reply({"a": 1}, "x =", "r)", "never said")
    ballot = rubric_reply.read_reply(one, value, [TEXT])
    assert isinstance(ballot, RubricBallot)
    found = result(one, [ballot])
    assert found.criteria[0].discounted == ("never said",)
    assert found.remarks == (
        "a: a quote that does not occur in the subject counts for nothing: 'never said'",
        "a: 2 quotes of less than 8 characters that are no whole lines count for nothing: 'x ='",
    )
