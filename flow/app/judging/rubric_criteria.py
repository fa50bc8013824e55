"""A goal's fuzzy criterion that names a rubric (SPEC 9.2): its pass must also hold by the rubric.

A ballot with ``pass`` for such a criterion is followed by a second question, by the rubric, about
the same evidence. A rubric can only lower: everything else in the ballot stays as it is.
"""

from __future__ import annotations

from functools import partial

from flow.app.judging.port import NoAnswer
from flow.core.decision.decide import JudgedCriterion, JudgedStatus
from flow.core.judging.common.quotes import founded
from flow.core.judging.rubric.model import JudgeResult, Rubric, result, why_not
from flow.core.judging.rubric.prompt import rubric_question
from flow.core.judging.rubric.reply import read_reply
from flow.core.text.display import names
from flow.core.text.numbers import exact
from flow.core.untrusted.fences import LIMIT, FencedPart
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.judging.asking import Asking
    from flow.core.decision.verdict import VerdictName
    from flow.core.goal.model import Goal
    from flow.core.judging.common.question import Question
    from flow.core.judging.goal.context import JudgeContext, SoughtCriterion
    from flow.core.judging.goal.reply import Ballot

    Rubrics = Mapping[str, Rubric | str]
    """By name: the rubric, or why it cannot be used."""


class Refined(NamedTuple):
    """A ballot after its rubrics, or the reason for having none if one got no usable answer.

    ``judgements`` are the rubrics' results, for the sidecar.
    """

    ballot: Ballot | NoAnswer
    judgements: tuple[Mapping[str, Any], ...] = ()


def unusable(goal: Goal, judge_context: JudgeContext, rubrics: Rubrics) -> str:
    """The reason that the goal's rubrics cannot be used; empty if they can. No judge is called."""
    asked = {sought.id for sought in judge_context.sought}
    reasons = []
    for criterion in goal.criteria:
        name = criterion.document.get("rubric")
        if name and criterion.fuzzy and criterion.id in asked:
            rubric = rubrics.get(name, f"there is no rubric {name!r:.80}")
            if isinstance(rubric, str):
                reasons.append(f"{criterion.id}: {rubric}")
    return "; ".join(reasons)


def refine_ballot(
    ballot: Ballot,
    goal: Goal,
    judge_context: JudgeContext,
    rubrics: Rubrics,
    *,
    asking: Asking,
    nonce: Callable[[], str],
    turn: int,
) -> Refined:
    """``ballot`` with every pass taken back that its criterion's rubric does not give.

    A rubric without a usable answer makes the whole ballot no answer.
    """
    judgements: list[Mapping[str, Any]] = []
    named = {c.id: c.document.get("rubric") for c in goal.criteria if c.fuzzy}
    for sought in judge_context.sought:
        name = named.get(sought.id)
        rubric = rubrics.get(name) if name else None
        if not isinstance(rubric, Rubric) or ballot.row(sought.id).status != "pass":
            continue
        question = _question(sought, rubric, judge_context, nonce(), turn)
        label = f"goal {judge_context.goal_id}, {sought.id} by the rubric {name}"
        read = partial(read_reply, rubric, quotable=question.quotable)
        marks = asking.ask(question._replace(label=label), read, prefix="")
        if isinstance(marks, NoAnswer):
            why = f"{sought.id}: the rubric {name} got no usable answer: {marks.reason}"
            return Refined(marks._replace(reason=why))
        judgement = result(rubric, [marks])
        judgements.append({"criterion_id": sought.id, "name": name, **judgement.to_document()})
        ballot = _applied(ballot, sought, str(name), rubric, judgement)
    return Refined(ballot, tuple(judgements))


def _question(
    sought: SoughtCriterion, rubric: Rubric, judge_context: JudgeContext, nonce: str, turn: int
) -> Question:
    parts = [
        item.part._replace(name=f"evidence of {sought.id}, {item.kind}")
        for item in judge_context.items
        if item.about(sought.id) and item.counts
    ]
    context = [FencedPart("criterion", sought.text)]
    return rubric_question(rubric, parts, nonce, context=context, part_limit=LIMIT, turn=turn)


def _applied(
    ballot: Ballot, sought: SoughtCriterion, name: str, rubric: Rubric, result: JudgeResult
) -> Ballot:
    remarks = (*ballot.remarks, *(f"{sought.id}: {remark}" for remark in result.remarks))
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
        JudgedCriterion(row.id, status, remark=why) if row.id == sought.id else row
        for row in ballot.rows
    )
    ballot = ballot._replace(rows=rows, remarks=remarks)
    if ballot.verdict != "achieved" or not sought.must_pass:
        return ballot
    return ballot.lower(verdict, f"it says achieved, but of {sought.id} {why}")


def _unsupported(rubric: Rubric, result: JudgeResult) -> list[str]:
    """The rubric's criteria without quotes to rest on, where these are more than half of it."""
    without = [row.name for row in result.criteria if not founded(row.evidence, row.discounted)]
    weights = {c.name: exact(c.weight) for c in rubric.criteria}
    lost, total = sum(weights[name] for name in without), sum(weights.values())
    return without if 2 * lost > total else []
