"""Judging a subject by a rubric (SPEC 9.2), as one list of steps.

*make the question → ask, as often as wanted → check each reply → compute.* A reply that is not
usable is no ballot; where no more than half of the ballots are usable, there is no answer.
"""

from __future__ import annotations

from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage, unusable
from flow.core.judging.common.question import Unusable
from flow.core.judging.rubric import model as rubrics
from flow.core.judging.rubric.prompt import rubric_question, rubric_text
from flow.core.judging.rubric.reply import read_reply
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.judging.port import AskJudge
    from flow.core.judging.common.question import Question
    from flow.core.judging.rubric.model import JudgeResult, Rubric, RubricBallot
    from flow.core.untrusted.fences import FencedPart


class RubricRequest(NamedTuple):
    """What is to be judged, and by what."""

    rubric: Rubric
    subject: tuple[FencedPart, ...]
    instructions: str | None = None
    context: tuple[FencedPart, ...] = ()
    """Shown for orientation, never evidence: what a goal's criterion says."""
    result_schema: Mapping[str, Any] | None = None
    samples: int = 1


class Judged(NamedTuple):
    """A judgement. ``value`` is the reply whose words it took."""

    result: JudgeResult
    value: Mapping[str, Any]
    usages: tuple[Usage, ...]


class _RubricPoll(NamedTuple):
    """The ballots so far, the replies they were read from, and why others gave none."""

    ballots: list[RubricBallot]
    values: list[Mapping[str, Any]]
    failures: list[NoAnswer]
    reports: dict[str, None]
    usages: list[Usage]


def judge_by_rubric(
    asked: RubricRequest, ask: AskJudge, nonce: Callable[[str], str], *, seconds: float
) -> Judged | NoAnswer:
    """Ask ``asked.samples`` times and compute the judgement; :class:`NoAnswer` where none can be.

    ``nonce`` makes a nonce for a text that is going to be fenced; ``seconds`` bound one ballot.
    """
    poll = _RubricPoll([], [], [], {}, [])
    for turn in range(asked.samples):
        _ask_once(asked, ask, nonce, seconds, turn, poll)
        if 2 * len(poll.failures) >= asked.samples:
            break  # no majority is possible any more
    if 2 * len(poll.ballots) <= asked.samples:
        return _no_answer(asked, poll)
    result = rubrics.result(asked.rubric, poll.ballots)
    place = rubrics.spokesman(asked.rubric, poll.ballots)
    costs = [usage.cost_usd for usage in poll.usages if usage.cost_usd is not None]
    remarks = (*poll.reports, *result.remarks, *_missing(asked, poll))
    return Judged(
        _with_notes(
            result, judge=ask.name, remarks=remarks, cost_usd=sum(costs) if costs else None
        ),
        poll.values[place],
        tuple(poll.usages),
    )


def question(asked: RubricRequest, nonce: Callable[[str], str], turn: int = 0) -> Question:
    """The question of one ballot, as the judge would see it."""
    material = "\0".join(
        [
            rubric_text(asked.rubric),
            asked.instructions or "",
            *(repr(tuple(part)) for part in (*asked.context, *asked.subject)),
        ]
    )
    return rubric_question(
        asked.rubric,
        asked.subject,
        nonce(material),
        instructions=asked.instructions,
        context=asked.context,
        result_schema=asked.result_schema,
        turn=turn,
    )


def _ask_once(
    asked: RubricRequest,
    ask: AskJudge,
    nonce: Callable[[str], str],
    seconds: float,
    turn: int,
    poll: _RubricPoll,
) -> None:
    put = question(asked, nonce, turn)
    label = f"rubric {asked.rubric.name}, ballot {turn + 1}"
    answer = ask(put._replace(label=label), seconds=seconds)
    poll.reports.update(dict.fromkeys(put.reports))
    poll.usages.append(answer.usage)
    if isinstance(answer, JudgeAnswer):
        ballot = read_reply(asked.rubric, answer.value, put.quotable)
        if not isinstance(ballot, Unusable):
            poll.ballots.append(ballot)
            poll.values.append(answer.value)
            return
        answer = unusable(ballot, answer.usage)
    poll.failures.append(answer)


def _no_answer(asked: RubricRequest, poll: _RubricPoll) -> NoAnswer:
    first = poll.failures[0]
    if asked.samples == 1:
        return first
    asked_for = len(poll.ballots) + len(poll.failures)
    reason = f"{len(poll.failures)} of {asked_for} answers are not usable; the first: "
    return first._replace(reason=reason + first.reason)


def _missing(asked: RubricRequest, poll: _RubricPoll) -> list[str]:
    if not poll.failures:
        return []
    what = f"{len(poll.failures)} of {asked.samples} ballots gave no usable answer"
    return [f"{what}: {poll.failures[0].reason}"]


def _with_notes(result: JudgeResult, **more: Any) -> JudgeResult:
    from dataclasses import replace

    return replace(result, **more)
