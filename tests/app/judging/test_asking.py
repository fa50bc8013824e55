"""Putting questions to a judge, and several ballots about one question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from flow.app.judging.asking import Asking, Poll, redacted, summed, total
from flow.app.judging.port import NoAnswer, Usage
from flow.core.judging.common.question import Question, Unusable
from tests.support.judges.rubric_replies import Scripted

QUESTION = Question("system", "prompt", {})


def read(value: Mapping[str, Any]) -> str | Unusable:
    return value.get("word") or Unusable("it has no word", "empty")


def silent(reason: str = "too slow") -> NoAnswer:
    return NoAnswer("timeout", reason, Usage("fake"))


def test_every_call_is_counted_and_every_reply_kept_as_it_came() -> None:
    judge = Scripted({"word": "yes hunter2"}, {}, "too slow", cost=0.5)
    asking = Asking(partial(judge, seconds=1), redact=lambda text: text.replace("hunter2", "***"))
    assert asking.ask(QUESTION, read) == "yes ***"
    unusable, slow = asking.ask(QUESTION, read), asking.ask(QUESTION, read)
    assert unusable == NoAnswer("empty", "its reply is not usable: it has no word", unusable.usage)  # type: ignore[union-attr]
    assert isinstance(slow, NoAnswer)
    assert slow.kind == "timeout"
    assert asking.values == [{"word": "yes hunter2"}, {}]
    assert len(asking.usages) == 3


@pytest.mark.parametrize(
    ("answers", "asked", "reason"),
    [
        ("+", 1, None),
        ("-", 1, "no 0"),
        ("+-+", 3, None),
        ("--+", 2, "2 of 2 answers are not usable; the first: no 0"),
        ("+--", 3, "2 of 3 answers are not usable; the first: no 1"),
        ("++--", 4, "2 of 4 answers are not usable; the first: no 2"),
        ("+++-", 4, None),
    ],
)
def test_more_than_half_of_the_ballots_have_to_be_usable(
    answers: str, asked: int, reason: str | None
) -> None:
    turns: list[int] = []

    def ask(turn: int) -> int | NoAnswer:
        turns.append(turn)
        return turn if answers[turn] == "+" else silent(f"no {turn}")

    poll = Poll[int](len(answers))
    no_majority = poll.take(ask)
    assert turns == list(range(asked))
    assert (None if no_majority is None else no_majority.reason) == reason
    failed = answers[:asked].count("-")
    assert len(poll.failures) == failed
    expected = f"{failed} of {len(answers)} ballots gave no usable answer: "
    assert all(remark.startswith(expected) for remark in poll.missing())
    assert len(poll.missing()) == min(failed, 1)


def test_texts_are_masked_at_every_depth_that_a_reply_has() -> None:
    deep: Any = "secret"
    for _ in range(9):
        deep = [deep]
    value = {"a": ["secret", {"b": "secret"}, 1, None], "deep": deep}
    expected = {"a": ["x", {"b": "x"}, 1, None], "deep": [[[[None]]]]}
    assert redacted(value, lambda _: "x") == expected


def test_usages_are_added_up() -> None:
    first = Usage("b", "m", 10, None, 0.5, 1.0, 1)
    both = summed([first, Usage("b", "m", 5, 7, None, 2.0, 3)])
    assert both == Usage("b", "m", 15, 7, 0.5, 3.0, 4)
    assert total([None, None]) is None
