"""Scoring one execution of a skill (SPEC 9.3), as one list of steps.

*make the question → ask, as often as wanted → check the reply → send it back once where it rests on
nothing → compute.* A reply that is not usable is no ballot, and neither is one of which less than
half of the weight rests on true quotes; where no more than half of the ballots are usable, there is
no card.
"""

from __future__ import annotations

from functools import partial

from flow.app.judging.asking import Asking, Poll, summed
from flow.app.judging.port import AskJudge, NoAnswer, Usage
from flow.core.goal.model import canonical_digest
from flow.core.judging.common.prompt import Rejected
from flow.core.judging.common.question import Unusable
from flow.core.judging.common.reply import first_faults
from flow.core.judging.scorecard.history import mean_text
from flow.core.judging.scorecard.model import LEAST_SUPPORT, CardBallot, merged, neutral, supported
from flow.core.judging.scorecard.prompt import CardSubject, card_question
from flow.core.judging.scorecard.reply import Quotes, read_reply
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class ScorecardTools(NamedTuple):
    """The interfaces of scoring to the outside.

    ``nonce`` makes an unpredictable nonce, ``redact`` takes secrets out, ``progress`` gets a line
    about each step; ``seconds`` bounds one call of the judge.
    """

    ask: AskJudge
    nonce: Callable[[], str]
    redact: Callable[[str], str]
    progress: Callable[[str], None]
    seconds: float


class Scored(NamedTuple):
    """The result of the ballots. ``remarks`` are notes for readers of the card."""

    ballot: CardBallot
    asked: int
    usable: int
    usages: tuple[Usage, ...]
    remarks: tuple[str, ...]
    left_out: int
    prompts: tuple[str, ...]
    """SHA-256 of each question's two texts, in order, as they were before secrets were redacted."""


def score_execution(
    subject: CardSubject, transcript: str, samples: int, tools: ScorecardTools
) -> Scored | NoAnswer:
    """Ask ``samples`` times and compute; :class:`NoAnswer` if nothing can be computed.

    ``transcript`` is everything that a quote may come from.
    """
    scoring = _Scoring(subject, transcript, samples, tools)
    poll = Poll[CardBallot](samples)
    no_majority = poll.take(scoring.ballot)
    if no_majority is not None:
        return no_majority
    usages = scoring.asking.usages
    ballot = merged(poll.ballots)
    if supported(ballot.marks) < LEAST_SUPPORT:
        return NoAnswer("unsupported", _unsupported(ballot), usages[-1])
    return Scored(
        ballot,
        samples,
        len(poll.ballots),
        tuple(usages),
        tuple(dict.fromkeys((*scoring.remarks, *poll.missing()))),
        scoring.left_out,
        tuple(scoring.prompts),
    )


class _Scoring:
    """The questions about one execution, and what was noticed on the way."""

    def __init__(
        self, subject: CardSubject, transcript: str, samples: int, tools: ScorecardTools
    ) -> None:
        history = "" if subject.mean is None else mean_text(subject.mean)
        self._quotes = Quotes(tools.redact(transcript), history)
        self._subject, self._samples, self._tools = subject, samples, tools
        self.asking = Asking(partial(tools.ask, seconds=tools.seconds), redact=tools.redact)
        self.remarks: dict[str, None] = {}
        self.prompts: list[str] = []
        self.left_out = 0
        """The most bytes of the transcript that one question did not show."""

    def ballot(self, turn: int) -> CardBallot | NoAnswer:
        """One ballot: a reply that rests on nothing in places is sent back once."""
        several = f", ballot {turn + 1}" if self._samples > 1 else ""
        label = f"scorecard {self._subject.skill}{several}"
        ballot = self._reply(label, turn)
        if isinstance(ballot, NoAnswer):
            return ballot
        if ballot.faults:
            rejected = Rejected(ballot.value, ballot.faults)
            repaired = self._reply(f"{label}, sent back", turn, rejected)
            if isinstance(repaired, NoAnswer):
                remark = f"sent back, the judge gave no usable answer: {repaired.reason}"
                self.remarks[remark] = None
            else:
                ballot = repaired
        if supported(ballot.marks) < LEAST_SUPPORT:
            return NoAnswer("unsupported", _unsupported(ballot), self.asking.usages[-1])
        return ballot

    def _reply(
        self, label: str, turn: int, rejected: Rejected | None = None
    ) -> CardBallot | NoAnswer:
        question = card_question(self._subject, self._tools.nonce(), turn, rejected)
        self._tools.progress(f"{label}: asking {self._tools.ask.name}")
        self.left_out = max(self.left_out, question.bytes_left_out)
        self.prompts.append(canonical_digest([question.system, question.prompt]))
        reports = (f"given to the judge: {report}" for report in question.reports)
        self.remarks.update(dict.fromkeys(reports))
        return self.asking.ask(question._replace(label=label), self._read)

    def _read(self, value: Mapping[str, Any]) -> CardBallot | Unusable:
        """The reply; of a skill without earlier cards, as that counts."""
        compared = self._subject.mean is not None
        ballot = read_reply(value, self._quotes.occurs, compared=compared)
        return ballot if compared or isinstance(ballot, Unusable) else neutral(ballot)


def _unsupported(ballot: CardBallot) -> str:
    """Why so many scores without a ground are no card."""
    faults = [f"{name}: {fault}" for name, fault in ballot.faults.items()]
    return (
        "less than half of the weight rests on true quotes from the transcript "
        f"({supported(ballot.marks)} of 1), so there is no card; {first_faults(faults)}"
    )


def usage_document(name: str, scored: Scored) -> dict[str, Any]:
    """Usage of all calls together; None for figures that the backend does not give."""
    usages = scored.usages
    used = summed(usages)
    models = list(dict.fromkeys(u.model for u in usages if u.model is not None))
    return {
        "name": name,
        "model": models[0] if models else None,
        "calls": len(usages),
        "attempts": used.attempts,
        "ballots": scored.usable,
        "ballotsAsked": scored.asked,
        "inputTokens": used.input_tokens,
        "outputTokens": used.output_tokens,
        "costUsd": used.cost_usd,
        "durationSeconds": round(used.duration_seconds, 3),
        "promptSha256": list(scored.prompts),
    }
