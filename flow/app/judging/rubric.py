"""Judging a subject by a rubric (SPEC 9.2), as one list of steps.

*make the question → ask, as often as wanted → check each reply → compute.* A reply that is not
usable is no ballot; where no more than half of the ballots are usable, there is no answer.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from flow.app.judging.asking import Asking, Poll, total
from flow.core.judging.rubric import model as rubrics
from flow.core.judging.rubric.model import RubricBallot
from flow.core.judging.rubric.prompt import rubric_question, rubric_text
from flow.core.judging.rubric.reply import read_reply
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.judging.port import AskJudge, NoAnswer
    from flow.core.judging.common.question import Question
    from flow.core.judging.rubric.model import JudgeResult, Rubric
    from flow.core.untrusted.fences import FencedPart


class RubricRequest(NamedTuple):
    """The content to judge, and the rubric."""

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


def judge_by_rubric(
    request: RubricRequest, judge: AskJudge, nonce: Callable[[str], str], *, seconds: float
) -> Judged | NoAnswer:
    """Ask ``request.samples`` times and compute the judgement; :class:`NoAnswer` if none can be.

    ``nonce`` makes a nonce for a text that is going to be fenced; ``seconds`` bound one ballot.
    """
    rubric, reports = request.rubric, dict[str, None]()
    asking = Asking(partial(judge, seconds=seconds))

    def ask(turn: int) -> RubricBallot | NoAnswer:
        label = f"rubric {rubric.name}, ballot {turn + 1}"
        written = ballot_question(request, nonce, turn)._replace(label=label)
        reports.update(dict.fromkeys(written.reports))
        return asking.ask(written, partial(read_reply, rubric, quotable=written.quotable))

    poll = Poll[RubricBallot](request.samples)
    no_majority = poll.take(ask)
    if no_majority is not None:
        return no_majority
    result = rubrics.result(rubric, poll.ballots)
    return Judged(
        replace(
            result,
            judge=judge.name,
            remarks=(*reports, *result.remarks, *poll.missing()),
            cost_usd=total(usage.cost_usd for usage in asking.usages),
        ),
        rubrics.spokesman(rubric, poll.ballots).value,
    )


def ballot_question(request: RubricRequest, nonce: Callable[[str], str], turn: int = 0) -> Question:
    """The question of one ballot, as the judge would see it."""
    material = "\0".join(
        [
            rubric_text(request.rubric),
            request.instructions or "",
            *(repr(tuple(part)) for part in (*request.context, *request.subject)),
        ]
    )
    return rubric_question(
        request.rubric,
        request.subject,
        nonce(material),
        instructions=request.instructions,
        context=request.context,
        result_schema=request.result_schema,
        turn=turn,
    )
