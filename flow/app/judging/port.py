"""A judge as the sequences see it: one question in, at most one answer out (SPEC 9.1).

No backend is known here. An answer is data: the caller checks it.
"""

from __future__ import annotations

from flow.errors import NoUsableAnswer, at_key
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.judging.common.question import NoAnswerKind, Question


class Usage(NamedTuple):
    """Resources used by a call. Tokens and cost (US dollars) are None if the backend gives none."""

    backend: str
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    duration_seconds: float = 0.0
    attempts: int = 1


class JudgeAnswer(NamedTuple):
    """One JSON object that fits the question's schema. Everything in it is still hostile."""

    value: Mapping[str, Any]
    usage: Usage


class NoAnswer(NamedTuple):
    """No usable reply, and why; neither a pass nor a fail."""

    kind: NoAnswerKind
    reason: str
    usage: Usage


class AskJudge(Protocol):
    """A backend with a model."""

    @property
    def name(self) -> str:
        """``claude``, ``openai:llama3``, ...; shown in evidence."""

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        """Ask. Never raises for anything the outside does; ``seconds`` bounds the whole call."""


class JudgePort(Protocol):
    """The judges of a caller."""

    def judge(self, backend: Any) -> AskJudge:
        """The judge that is asked; :class:`NoUsableAnswer` if there is none."""


def name_of(judge: AskJudge | NoAnswer) -> str:
    """A judge's name; of one that cannot be asked, its backend's."""
    return judge.usage.backend if isinstance(judge, NoAnswer) else judge.name


MOST_SAMPLES = 25
"""Most ballots of one judge, as in ``flow.goals.judge.samples``."""


def whole_number(value: object, key: str, least: int, most: int) -> int:
    """``value``, if it is a whole number in this range; raises :class:`InputError` if not."""
    if type(value) is int and least <= value <= most:
        return value
    raise at_key(key, value).invalid(
        f"{value!r:.40} is no number of {key}", f"a whole number from {least} to {most}"
    )


def sample_count(samples: object) -> int:
    """Number of ballots of a judge; raises :class:`InputError` for anything else."""
    return whole_number(samples, "samples", 1, MOST_SAMPLES)


def no_answer(answer: NoAnswer) -> NoUsableAnswer:
    """A :class:`NoAnswer` as an error."""
    if answer.kind == "not_configured":  # its reason says what to do
        return NoUsableAnswer(answer.reason, code=answer.kind)
    return NoUsableAnswer(
        f"the judge {answer.usage.backend} gave no usable answer: {answer.reason}",
        code=answer.kind,
        remedy="ask again, or let a person decide",
    )
