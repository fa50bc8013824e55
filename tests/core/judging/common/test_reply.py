"""The reader that all questions share: a value, or why there is none."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.judging.common.question import Question, Unusable
from flow.core.judging.common.reply import (
    RawMark,
    Scale,
    harmless_line,
    read_mark,
    read_marks,
    wrong_keys,
)
from flow.core.judging.debate import criteria as debate_criteria
from flow.core.judging.debate import reply as debate_reply
from flow.core.judging.goal import reply as goal_reply
from flow.core.judging.goal.context import SoughtCriterion
from flow.core.judging.rubric import reply as rubric_reply
from flow.core.judging.rubric.model import Rubric, RubricCriterion
from flow.core.judging.scorecard import reply as scorecard_reply

SCALE = Scale(1, 3, "1 to 3")
ROW = {"name": "a", "score": 2, "why": "because", "evidence": ["x"]}


@pytest.mark.parametrize(
    ("score", "fault"),
    [
        (1, ""),
        (3.0, ""),
        (0.999, "its score is not from 1 to 3"),
        (float("nan"), "its score is not from 1 to 3"),
        (True, "its score is no number"),
        ("2", "its score is no number"),
    ],
)
def test_a_scale_holds_its_ends(score: object, fault: str) -> None:
    assert SCALE.fault(score) == fault


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"score": 4}, "its score is not from 1 to 3"),
        ({"why": " "}, "it has no why"),
        ({"why": 5}, "it has no why"),
        ({"evidence": "x"}, "its evidence is no list of quotes"),
        ({"evidence": ["x", 1]}, "its evidence is no list of quotes"),
    ],
)
def test_a_mark_has_a_score_words_and_quotes(more: dict[str, Any], reason: str) -> None:
    assert read_mark(ROW, SCALE, "why") == RawMark(2, "because", ["x"])
    assert read_mark({**ROW, **more}, SCALE, "why") == Unusable(reason)
    assert read_mark({}, SCALE, "why") == Unusable("its score is no number")


def read(*rows: object) -> tuple[dict[str, Any], list[str]]:
    def score(name: str, row: Any) -> Any:
        return row["score"] if row["score"] else Unusable(f"{name} is bad")

    return read_marks(rows, ["a", "b"], score, verb="judge", whole="this test")


def test_each_criterion_is_answered_once_and_no_other() -> None:
    a, b = {"name": "a", "score": 1}, {"name": "b", "score": 2}
    assert read(b, a) == ({"b": 2, "a": 1}, [])
    assert read(a) == ({"a": 1}, ["it does not judge b"])
    assert read(a, b, a)[1] == ["it judges 'a' more than once"]
    assert read(a, b, {"name": "c\x1b"})[1] == [
        "it names 'c\\x1b', which is no criterion of this test"
    ]
    assert read(a, b, 5, {"score": 1})[1] == ["it has an entry without a criterion's name"] * 2


def test_a_bad_answer_is_a_fault_and_an_answer() -> None:
    bad = {"name": "a", "score": 0}
    assert read(bad, bad) == (
        {},
        ["'a': a is bad", "it judges 'a' more than once", "it does not judge b"],
    )


def test_keys_are_those_that_were_asked_for() -> None:
    assert wrong_keys({"a": 1, "b": 2}, ("b", "a"), "it") == ""
    assert wrong_keys({"c": 1}, ("a", "b"), "it") == "it has no a, b"
    assert wrong_keys({"a": 1, "\x1b": 2}, ("a",), "it") == "it has unknown fields: \\x1b"
    assert wrong_keys(dict.fromkeys("abcdefg"), (), "it").endswith(": a, b, c, d, e")


def test_a_line_of_a_judge_has_no_power() -> None:
    assert harmless_line("one\n two\x1b[2J\u202e", 99) == "one two\\x1b[2J\\u202e"
    assert harmless_line("x" * 50, 10) == "x" * 9 + "…"
    assert "<<<" not in harmless_line("<<<flow-data x END>>>", 99)


CRITERIA = debate_criteria.parse("a:1")
NOTHING = Question("", "", {})
READERS = {
    "goal": lambda value: goal_reply.read_reply(
        value, "j", (SoughtCriterion("AC1", "x", True),), NOTHING
    ),
    "rubric": lambda value: rubric_reply.read_reply(
        Rubric("R", [RubricCriterion("a", "d")]), value, []
    ),
    "scorecard": lambda value: scorecard_reply.read_reply(
        value, lambda _dimension, _quote: True, compared=True
    ),
    "debate": lambda value: debate_reply.read_reply(CRITERIA, 1, value, []),
}
JUNK: list[dict[str, Any]] = [
    {},
    {"criteria": [None], "criterion_results": [None], "dimensions": []},
    {"verdict": "achieved", "recommendation": "pass", "dimensions": {}},
    {"criteria": {}, "criterion_results": {}, "dimensions": None, "score": 1},
]


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("value", JUNK)
def test_what_has_another_shape_is_unusable_for_every_question(
    kind: str, value: dict[str, Any]
) -> None:
    unusable = READERS[kind](value)
    assert isinstance(unusable, Unusable)
    assert unusable.kind == "wrong_shape"
    assert unusable.reason
