"""Putting questions to a judge and reading its replies; several ballots about one question.

Every judgement (of a goal, by a rubric, a scorecard, a debate) asks through :class:`Asking`; what
its replies add up to is its own arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.core.judging.common.question import Question, Unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    AnswerQuestion = Callable[[Question], JudgeAnswer | NoAnswer]

Reply = TypeVar("Reply")
REPLY_DEPTH = 5
"""No reply that is asked for is nested deeper."""


class Asking:
    """The questions that are put to one judge, and what they used."""

    def __init__(
        self, judge: AnswerQuestion, *, redact: Callable[[str], str] | None = None
    ) -> None:
        """``redact`` takes secrets out of a text of a reply."""
        self._judge, self._redact = judge, redact
        self.usages: list[Usage] = []
        self.values: list[Mapping[str, Any]] = []
        """Every reply as it came, usable or not."""

    def ask(
        self,
        question: Question,
        read: Callable[[Mapping[str, Any]], Reply | Unusable],
        prefix: str = "its reply is not usable: ",
    ) -> Reply | NoAnswer:
        """Ask once; the reply as ``read`` understands it.

        ``prefix`` goes before the reason why it is not usable.
        """
        answer = self._judge(question)
        self.usages.append(answer.usage)
        if isinstance(answer, NoAnswer):
            return answer
        self.values.append(answer.value)
        reply = read(answer.value if self._redact is None else redacted(answer.value, self._redact))
        if isinstance(reply, Unusable):
            return NoAnswer(reply.kind, f"{prefix}{reply.reason}", answer.usage)
        return reply


class Poll(Generic[Reply]):
    """Several ballots about one question; more than half of them have to be usable."""

    def __init__(self, samples: int) -> None:
        self._samples = samples
        self.ballots: list[Reply] = []
        self.failures: list[NoAnswer] = []

    def take(self, ask: Callable[[int], Reply | NoAnswer]) -> NoAnswer | None:
        """Ask for one ballot after the other, while a majority is possible.

        Returns why there is no majority of usable ballots, None if there is one.
        """
        for turn in range(self._samples):
            ballot = ask(turn)
            if isinstance(ballot, NoAnswer):
                self.failures.append(ballot)
            else:
                self.ballots.append(ballot)
            if 2 * len(self.failures) >= self._samples:
                break
        if 2 * len(self.ballots) > self._samples:
            return None
        first = self.failures[0]
        if self._samples == 1:
            return first
        count, asked = len(self.failures), len(self.ballots) + len(self.failures)
        reason = f"{count} of {asked} answers are not usable; the first: {first.reason}"
        return first._replace(reason=reason)

    def missing(self) -> list[str]:
        """A remark on the ballots that gave no usable answer."""
        if not self.failures:
            return []
        counts = f"{len(self.failures)} of {self._samples}"
        return [f"{counts} ballots gave no usable answer: {self.failures[0].reason}"]


def redacted(value: Any, redact: Callable[[str], str], depth: int = REPLY_DEPTH) -> Any:
    """``value`` with secrets redacted in every text, since a judge may quote one.

    A part nested deeper than ``depth`` becomes None.
    """
    if isinstance(value, str):
        return redact(value)
    if not depth:
        return None
    if isinstance(value, list | tuple):
        return [redacted(item, redact, depth - 1) for item in value]
    if hasattr(value, "items"):
        return {str(key): redacted(item, redact, depth - 1) for key, item in value.items()}
    return value


def total(values: Iterable[Any]) -> Any:
    """The sum of the numbers that are known; None if none is."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def summed(usages: Sequence[Usage]) -> Usage:
    """Total usage of several calls; backend and model are those of the first."""
    return usages[0]._replace(
        input_tokens=total(usage.input_tokens for usage in usages),
        output_tokens=total(usage.output_tokens for usage in usages),
        cost_usd=total(usage.cost_usd for usage in usages),
        duration_seconds=sum(usage.duration_seconds for usage in usages),
        attempts=sum(usage.attempts for usage in usages),
    )
