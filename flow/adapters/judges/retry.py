"""Asking again: exponential waits with jitter, ``Retry-After``, and a ceiling in tries and time.

Only failures that may pass by themselves are retried: a rate limit, a service that is down or
overloaded, a connection that broke. A time-out is not, since the time is gone, nor is a reply that
was wrong.
"""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

from flow.app.judging.asking import summed
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.core.judging.common.question import Question


class Retryable(NamedTuple):
    """No answer this time, but one may come. ``after``: seconds that the service asked to wait."""

    answer: NoAnswer
    after: float | None = None


class RetryPolicy(NamedTuple):
    """Number and spacing of tries. ``first`` and ``longest`` are seconds between two tries."""

    tries: int = 4
    first: float = 1.0
    longest: float = 30.0


class Clock(NamedTuple):
    """Time and chance, handed in so that tests need neither."""

    now: Callable[[], float]
    """Seconds of a clock that never steps back."""
    sleep: Callable[[float], None]
    chance: Callable[[], float]
    """Random number from 0 up to, but not including, 1."""


def real_clock() -> Clock:
    """The machine's own clock and chance."""
    return Clock(time.monotonic, time.sleep, random.random)


def retry(
    attempt: Callable[[Question, float], JudgeAnswer | NoAnswer | Retryable],
    question: Question,
    seconds: float,
    *,
    clock: Clock,
    policy: RetryPolicy = RetryPolicy(),  # noqa: B008  # an immutable value
) -> JudgeAnswer | NoAnswer:
    """Call ``attempt`` (with the remaining seconds) until its result is final.

    The usage in the result is that of all tries together.
    """
    began = clock.now()
    deadline = began + seconds
    spent: list[Usage] = []
    while True:
        left = deadline - clock.now()
        answer = attempt(question, max(left, 0.001))
        result = answer.answer if isinstance(answer, Retryable) else answer
        spent.append(result.usage)
        result = result._replace(usage=total(spent, clock.now() - began))
        if not isinstance(answer, Retryable) or not isinstance(result, NoAnswer):
            return result
        if len(spent) >= policy.tries:
            return result._replace(reason=f"{result.reason} ({len(spent)} tries)")
        wait = _pause(answer.after, len(spent), policy, clock)
        left = deadline - clock.now()
        if wait >= left:
            asked = "the service asks to wait" if answer.after is not None else "the next try waits"
            more = f"; {asked} {wait:.3g} s, and {max(left, 0):.3g} s were left"
            return result._replace(reason=result.reason + more)
        clock.sleep(wait)


def _pause(after: float | None, tries: int, policy: RetryPolicy, clock: Clock) -> float:
    wait = min(policy.first * 2.0 ** (tries - 1), policy.longest)
    wait *= 0.5 + 0.5 * clock.chance()  # so that refused callers do not all return at the same time
    return wait if after is None else max(after, 0.0)


def total(spent: list[Usage], seconds: float) -> Usage:
    """All tries as one; tokens and costs are None only if no try had any."""
    model = next((usage.model for usage in reversed(spent) if usage.model), None)
    return summed(spent)._replace(model=model, duration_seconds=seconds)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a ``Retry-After`` header asks for; None if it holds nothing usable.

    A date is taken relative to the answer's own ``Date``: this machine's clock is not used.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.replace(".", "", 1).isdigit() and len(value) <= 12:
        return float(value)
    try:
        then = parsedate_to_datetime(value[:100])
        now = parsedate_to_datetime(headers.get("date", "")[:100])
        return max((then - now).total_seconds(), 0.0)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
