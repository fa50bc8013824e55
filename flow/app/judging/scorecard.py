"""Scoring one execution of a skill (SPEC 9.3), as one list of steps.

*make the question → ask, as often as wanted → check the reply → send it back once where it rests on
nothing → compute.* A reply that is not usable is no ballot, and neither is one of which less than
half of the weight rests on true quotes; where no more than half of the ballots are usable, there is
no card.
"""

from __future__ import annotations

from flow.app.judging.port import NoAnswer, Usage, unusable
from flow.core.goal.model import canonical_digest
from flow.core.judging.common.prompt import Rejected
from flow.core.judging.common.question import Unusable
from flow.core.judging.common.reply import first_faults
from flow.core.judging.scorecard.history import mean_text
from flow.core.judging.scorecard.model import LEAST_SUPPORT, merged, neutral, supported
from flow.core.judging.scorecard.prompt import card_question
from flow.core.judging.scorecard.reply import Quotes, read_reply
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.judging.port import AskJudge
    from flow.core.judging.scorecard.model import CardBallot
    from flow.core.judging.scorecard.prompt import CardSubject


class ScorecardTools(NamedTuple):
    """What scoring needs of the outside.

    ``nonce`` makes a nonce that nobody could know beforehand, ``mask`` takes secrets out of a text,
    ``told`` hears what is going on; ``seconds`` bound one call of the judge.
    """

    ask: AskJudge
    nonce: Callable[[], str]
    mask: Callable[[str], str]
    told: Callable[[str], None]
    seconds: float


class Scored(NamedTuple):
    """What the ballots came to. ``remarks`` say what a reader of the card should know."""

    ballot: CardBallot
    asked: int
    usable: int
    usages: tuple[Usage, ...]
    remarks: tuple[str, ...]
    left_out: int
    prompts: tuple[str, ...]
    """SHA-256 of each question's two texts, in order, as they were before secrets were masked."""


class _CardPoll(NamedTuple):
    """The ballots so far, why others are none, and what was noticed on the way."""

    ballots: list[CardBallot]
    failures: list[NoAnswer]
    usages: list[Usage]
    remarks: dict[str, None]
    left_out: list[int]
    prompts: list[str]


def score_execution(
    question: CardSubject, transcript: str, samples: int, tools: ScorecardTools
) -> Scored | NoAnswer:
    """Ask ``samples`` times and compute; :class:`NoAnswer` where nothing can be computed.

    ``transcript`` is everything that a quote may come from.
    """
    history = "" if question.mean is None else mean_text(question.mean)
    quotes = Quotes(tools.mask(transcript), history)
    poll = _CardPoll([], [], [], {}, [0], [])
    for turn in range(samples):
        _ask_once(question, quotes, turn, samples, tools, poll)
        if 2 * len(poll.failures) >= samples:
            break  # no majority is possible any more
    if 2 * len(poll.ballots) <= samples:
        return _no_answer(samples, poll)
    if poll.failures:
        what = f"{len(poll.failures)} of {samples} ballots gave no usable answer"
        poll.remarks[f"{what}: {poll.failures[0].reason}"] = None
    ballot = merged(poll.ballots)
    if supported(ballot.marks) < LEAST_SUPPORT:
        return NoAnswer("unsupported", _unsupported(ballot), poll.usages[-1])
    return Scored(
        ballot,
        samples,
        len(poll.ballots),
        tuple(poll.usages),
        tuple(poll.remarks),
        max(poll.left_out),
        tuple(poll.prompts),
    )


def _ask_once(
    question: CardSubject,
    quotes: Quotes,
    turn: int,
    samples: int,
    tools: ScorecardTools,
    poll: _CardPoll,
) -> None:
    """One ballot: a reply that rests on nothing in places is sent back once."""
    label = f"scorecard {question.skill}" + (f", ballot {turn + 1}" if samples > 1 else "")
    first = _asked_ballot(question, quotes, tools, poll, label, turn)
    if isinstance(first, NoAnswer):
        poll.failures.append(first)
        return
    ballot, value = first
    if ballot.faults:
        back = Rejected(value, ballot.faults)
        again = _asked_ballot(question, quotes, tools, poll, f"{label}, sent back", turn, back)
        if isinstance(again, NoAnswer):
            poll.remarks[f"sent back, the judge gave no usable answer: {again.reason}"] = None
        else:
            ballot = again[0]
    if supported(ballot.marks) < LEAST_SUPPORT:
        poll.failures.append(NoAnswer("unsupported", _unsupported(ballot), poll.usages[-1]))
    else:
        poll.ballots.append(ballot)


def _unsupported(ballot: CardBallot) -> str:
    """Why so many scores without a ground are no card."""
    faults = [f"{name}: {fault}" for name, fault in ballot.faults.items()]
    return (
        "less than half of the weight rests on true quotes from the transcript "
        f"({supported(ballot.marks)} of 1), so there is no card; {first_faults(faults)}"
    )


def _asked_ballot(
    question: CardSubject,
    quotes: Quotes,
    tools: ScorecardTools,
    poll: _CardPoll,
    label: str,
    turn: int,
    back: Rejected | None = None,
) -> tuple[CardBallot, Mapping[str, Any]] | NoAnswer:
    """Ask one question and read the reply; of a skill without earlier cards, as that counts."""
    made = card_question(question, tools.nonce(), turn, back)
    tools.told(f"{label}: asking {tools.ask.name}")
    answer = tools.ask(made._replace(label=label), seconds=tools.seconds)
    poll.usages.append(answer.usage)
    poll.left_out.append(made.bytes_left_out)
    poll.prompts.append(canonical_digest([made.system, made.prompt]))
    poll.remarks.update(dict.fromkeys(f"given to the judge: {note}" for note in made.reports))
    if isinstance(answer, NoAnswer):
        return answer
    value = _redacted(answer.value, tools.mask)
    ballot = read_reply(value, quotes.occurs, compared=question.mean is not None)
    if isinstance(ballot, Unusable):
        return unusable(ballot, answer.usage)
    return (ballot if question.mean is not None else neutral(ballot)), value


def _redacted(value: Any, mask: Callable[[str], str], depth: int = 5) -> Any:
    """``value`` without secrets in its texts, before any of them is cut; no deeper than a reply."""
    if isinstance(value, str):
        return mask(value)
    if not depth:
        return None
    if isinstance(value, list | tuple):
        return [_redacted(item, mask, depth - 1) for item in value]
    if hasattr(value, "items"):
        return {str(key): _redacted(item, mask, depth - 1) for key, item in value.items()}
    return value


def _no_answer(samples: int, poll: _CardPoll) -> NoAnswer:
    first = poll.failures[0]
    if samples == 1:
        return first
    asked = len(poll.ballots) + len(poll.failures)
    reason = f"{len(poll.failures)} of {asked} answers are not usable; the first: {first.reason}"
    return first._replace(reason=reason)


def usage_document(name: str, scored: Scored) -> dict[str, Any]:
    """What asking came to, all calls together; None where the backend is silent."""

    def total(values: list[Any]) -> Any:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    usages = scored.usages
    models = list(dict.fromkeys(u.model for u in usages if u.model is not None))
    return {
        "name": name,
        "model": models[0] if models else None,
        "calls": len(usages),
        "attempts": sum(usage.attempts for usage in usages),
        "ballots": scored.usable,
        "ballotsAsked": scored.asked,
        "inputTokens": total([usage.input_tokens for usage in usages]),
        "outputTokens": total([usage.output_tokens for usage in usages]),
        "costUsd": total([usage.cost_usd for usage in usages]),
        "durationSeconds": round(sum(usage.duration_seconds for usage in usages), 3),
        "promptSha256": list(scored.prompts),
    }
