"""Asking again: what waits how long, and where it ends. No test here waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flow.adapters.judges.retry import Retryable, RetryPolicy, retry, retry_after
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from tests.adapters.judges.scene import QUESTION, Sleeper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.judging.common.question import NoAnswerKind, Question

TOLD = Usage("b", "m", 10, 2, 0.25)
DONE = JudgeAnswer({"yes": 1}, TOLD)


def no(kind: NoAnswerKind = "unavailable", usage: Usage = TOLD) -> NoAnswer:
    return NoAnswer(kind, "down", usage)


class Script:
    """Gives its results one after another, each of which takes some seconds of the clock."""

    def __init__(
        self, sleeper: Sleeper, *results: JudgeAnswer | NoAnswer | Retryable, takes: float
    ) -> None:
        self.sleeper, self.results, self.takes = sleeper, list(results), takes
        self.seconds: list[float] = []

    def __call__(self, question: Question, seconds: float) -> JudgeAnswer | NoAnswer | Retryable:
        assert question is QUESTION
        self.seconds.append(seconds)
        self.sleeper.seconds += self.takes
        return self.results.pop(0)


def run(
    *results: JudgeAnswer | NoAnswer | Retryable,
    seconds: float = 100.0,
    takes: float = 1.0,
    chance: float = 1.0,
    policy: RetryPolicy = RetryPolicy(),  # noqa: B008
) -> tuple[JudgeAnswer | NoAnswer, Script, list[float]]:
    sleeper = Sleeper(chance)
    script = Script(sleeper, *results, takes=takes)
    found = retry(script, QUESTION, seconds, clock=sleeper.clock, policy=policy)
    return found, script, sleeper.waits


def test_an_answer_at_once_waits_for_nothing() -> None:
    found, script, waits = run(DONE)
    assert found == JudgeAnswer({"yes": 1}, TOLD._replace(duration_seconds=1.0))
    assert (script.seconds, waits) == ([100.0], [])


def test_what_is_final_is_not_asked_again() -> None:
    found, _, waits = run(no("wrong_shape"), DONE)
    assert isinstance(found, NoAnswer)
    assert (found.kind, waits) == ("wrong_shape", [])


@pytest.mark.parametrize(
    ("chance", "expected"),
    [(1.0, [1, 2, 4, 5, 5]), (0.0, [0.5, 1, 2, 2.5, 2.5]), (0.5, [0.75, 1.5, 3, 3.75, 3.75])],
)
def test_waits_double_up_to_a_ceiling_and_are_scattered(
    chance: float, expected: Sequence[float]
) -> None:
    again = [Retryable(no())] * 5
    found, script, waits = run(*again, DONE, chance=chance, policy=RetryPolicy(6, 1, 5))
    assert isinstance(found, JudgeAnswer)
    assert waits == expected
    assert found.usage.attempts == 6
    assert found.usage.duration_seconds == 6 + sum(expected)
    assert script.seconds[1] == 100 - 1 - expected[0]


def test_tokens_and_costs_of_all_tries_are_summed() -> None:
    silent = Usage("b")
    found, _, _ = run(Retryable(no(usage=silent)), Retryable(no()), DONE)
    assert found.usage[:6] == ("b", "m", 20, 4, 0.5, 3 + 1 + 2)
    silent_found, _, _ = run(NoAnswer("error", "x", silent))
    assert silent_found.usage[2:5] == (None, None, None)


def test_tries_have_a_ceiling() -> None:
    found, script, waits = run(*[Retryable(no())] * 4, DONE)
    assert isinstance(found, NoAnswer)
    assert (found.kind, found.reason) == ("unavailable", "down (4 tries)")
    assert (len(script.seconds), waits) == (4, [1, 2, 4])


def test_what_the_service_asks_for_is_waited_exactly() -> None:
    found, _, waits = run(
        Retryable(no("rate_limited"), 17.0), Retryable(no(), 0.0), DONE, chance=0.1
    )
    assert isinstance(found, JudgeAnswer)
    assert waits == [17.0, 0.0]


@pytest.mark.parametrize(
    ("after", "words"),
    [(120.0, "the service asks to wait 120 s, and 99 s were left"), (None, "the next try waits")],
)
def test_no_wait_goes_past_the_calls_seconds(after: float | None, words: str) -> None:
    seconds = 100.0 if after else 2.0
    found, _, waits = run(Retryable(no("rate_limited"), after), DONE, seconds=seconds)
    assert isinstance(found, NoAnswer)
    assert (found.kind, waits) == ("rate_limited", [])
    assert words in found.reason


def test_each_try_gets_what_is_left() -> None:
    _, script, _ = run(Retryable(no(), 3.0), Retryable(no(), 0.0), no(), seconds=7.0, takes=2.0)
    assert script.seconds == [7.0, 2.0]


DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("7", "", 7.0),
        (" 1.5 ", "", 1.5),
        ("0", "", 0.0),
        ("Wed, 21 Oct 2026 07:28:30 GMT", DATE, 30.0),
        ("Wed, 21 Oct 2026 07:27:30 GMT", DATE, 0.0),
        ("Wed, 21 Oct 2026 07:28:30 GMT", "", None),
        ("Wed, 21 Oct 2026 07:28:30", DATE, None),
        ("", "", None),
        ("-1", "", None),
        ("nan", "", None),
        ("inf", "", None),
        ("1e9", "", None),
        ("٣", "", None),
        ("9" * 400, "", None),
        ("Wed, 99 Oct 99999 99:99:99 GMT", DATE, None),
        ("soon", DATE, None),
    ],
)
def test_retry_after_is_seconds_or_a_date_beside_the_answers_own(
    value: str, date: str, seconds: float | None
) -> None:
    assert retry_after({"retry-after": value, "date": date}) == seconds


def test_no_header_is_no_wish() -> None:
    assert retry_after({}) is None
