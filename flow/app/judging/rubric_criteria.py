"""A goal's fuzzy criterion that names a rubric (SPEC 9.2): its pass must stand by it.

The ballot that says ``pass`` of such a criterion is asked once more, by the rubric, about the same
evidence. A rubric can only lower: whatever else the ballot says of the criterion stays as it is.
"""

from __future__ import annotations

from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.core.decision.decide import JudgedCriterion
from flow.core.judging.common.numbers import exact
from flow.core.judging.common.question import Question, Unusable
from flow.core.judging.common.quotes import founded
from flow.core.judging.rubric.model import Rubric, result, why_not
from flow.core.judging.rubric.prompt import rubric_question
from flow.core.judging.rubric.reply import read_reply
from flow.core.text.display import names
from flow.core.untrusted.fences import LIMIT, FencedPart
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.core.decision.decide import JudgedStatus
    from flow.core.decision.verdict import VerdictName
    from flow.core.goal.model import Goal
    from flow.core.judging.goal.bundle import Bundle, Sought
    from flow.core.judging.goal.reply import Ballot
    from flow.core.judging.rubric.model import JudgeResult

    Rubrics = Mapping[str, Rubric | str]
    """By name: the rubric, or why it cannot be used."""
    Ask = Callable[[Question], JudgeAnswer | NoAnswer]


class Refined(NamedTuple):
    """A ballot after its rubrics. ``answer`` is why there is none any more.

    ``judgements`` are what the rubrics came to, for the sidecar.
    """

    ballot: Ballot | None
    answer: NoAnswer | None
    usages: tuple[Usage, ...] = ()
    judgements: tuple[Mapping[str, Any], ...] = ()


def unusable(goal: Goal, bundle: Bundle, rubrics: Rubrics) -> str:
    """Why the goal's rubrics cannot be used; empty where they can. Nobody is asked then."""
    asked = {one.id for one in bundle.sought}
    said = []
    for criterion in goal.criteria:
        name = criterion.document.get("rubric")
        if name and criterion.fuzzy and criterion.id in asked:
            rubric = rubrics.get(name, f"there is no rubric {name!r:.80}")
            if isinstance(rubric, str):
                said.append(f"{criterion.id}: {rubric}")
    return "; ".join(said)


def refine_ballot(
    ballot: Ballot,
    goal: Goal,
    bundle: Bundle,
    rubrics: Rubrics,
    *,
    ask: Ask,
    nonce: Callable[[], str],
    turn: int,
) -> Refined:
    """``ballot`` with every pass taken back that its criterion's rubric does not give.

    A rubric without a usable answer makes the whole ballot no answer.
    """
    usages: list[Usage] = []
    judgements: list[Mapping[str, Any]] = []
    named = {c.id: c.document.get("rubric") for c in goal.criteria if c.fuzzy}
    for one in bundle.sought:
        name = named.get(one.id)
        rubric = rubrics.get(name) if name else None
        if not isinstance(rubric, Rubric) or ballot.row(one.id).status != "pass":
            continue
        judged = _judge_criterion(one, str(name), rubric, bundle, ask, nonce(), turn)
        usages.append(judged.usage)
        if judged.result is None:
            why = f"{one.id}: the rubric {name} got no usable answer: {judged.why}"
            return Refined(None, NoAnswer(judged.kind, why, judged.usage), tuple(usages))
        judgements.append({"criterion_id": one.id, "name": name, **judged.result.to_document()})
        ballot = _applied(ballot, one, str(name), rubric, judged.result)
    return Refined(ballot, None, tuple(usages), tuple(judgements))


class _Answered(NamedTuple):
    result: JudgeResult | None
    usage: Usage
    kind: Any = "wrong_shape"
    why: str = ""


def _judge_criterion(
    one: Sought,
    name: str,
    rubric: Rubric,
    bundle: Bundle,
    ask: Ask,
    nonce: str,
    turn: int,
) -> _Answered:
    parts = [
        item.part._replace(name=f"evidence of {one.id}, {item.what}")
        for item in bundle.items
        if item.about(one.id) and item.counts
    ]
    put = rubric_question(
        rubric,
        parts,
        nonce,
        context=[FencedPart("criterion", one.text)],
        part_limit=LIMIT,
        turn=turn,
    )
    what = f"goal {bundle.goal_id}, {one.id} by the rubric {name}"
    answer = ask(put._replace(label=what))
    if isinstance(answer, NoAnswer):
        return _Answered(None, answer.usage, answer.kind, answer.reason)
    marks = read_reply(rubric, answer.value, put.quotable)
    if isinstance(marks, Unusable):
        return _Answered(None, answer.usage, why=marks.reason)
    return _Answered(result(rubric, [marks]), answer.usage)


def _applied(ballot: Ballot, one: Sought, name: str, rubric: Rubric, result: JudgeResult) -> Ballot:
    remarks = (*ballot.remarks, *(f"{one.id}: {remark}" for remark in result.remarks))
    unsupported = _unsupported(rubric, result)
    status: JudgedStatus
    verdict: VerdictName
    if not result.passed:
        status, verdict = "fail", "not_achieved"
        why = f"the rubric {name} is not passed: {why_not(result)}"
    elif unsupported:
        status, verdict = "incomplete", "needs_human_review"
        why = f"the rubric {name} is passed without true quotes for {names(unsupported)}"
    else:
        return ballot._replace(remarks=remarks)
    rows = tuple(
        JudgedCriterion(row.id, status, remark=why) if row.id == one.id else row
        for row in ballot.rows
    )
    ballot = ballot._replace(rows=rows, remarks=remarks)
    if ballot.verdict != "achieved" or not one.must_pass:
        return ballot
    return ballot.lower(verdict, f"it says achieved, but of {one.id} {why}")


def _unsupported(rubric: Rubric, result: JudgeResult) -> list[str]:
    """The rubric's criteria without quotes to rest on, where these are more than half of it."""
    without = [row.name for row in result.criteria if not founded(row.evidence, row.discounted)]
    weights = {c.name: exact(c.weight) for c in rubric.criteria}
    lost, total = sum(weights[name] for name in without), sum(weights.values())
    return without if 2 * lost > total else []


def together(first: Usage, more: tuple[Usage, ...]) -> Usage:
    """What a ballot and its rubrics took."""

    def added(values: list[Any]) -> Any:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    every = [first, *more]
    return first._replace(
        input_tokens=added([usage.input_tokens for usage in every]),
        output_tokens=added([usage.output_tokens for usage in every]),
        cost_usd=added([usage.cost_usd for usage in every]),
        duration_seconds=sum(usage.duration_seconds for usage in every),
        attempts=sum(usage.attempts for usage in every),
    )
