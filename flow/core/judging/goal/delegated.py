"""Fuzzy criteria whose judgement is delegated to a scorecard or a debate.

The judges' ballots are about the other criteria. Here each delegated result is combined with the
ballots, and can only lower them: the opinion is the least of all results.
"""

from __future__ import annotations

from flow.core.decision.decide import JudgedCriterion
from flow.core.judging.goal.ballots import Tally
from flow.startup.json import object_of
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.decision.verdict import BlockerType, VerdictName
    from flow.core.goal.model import Criterion, Goal
    from flow.core.judging.goal.context import SoughtCriterion

Way = Literal["scorecard", "debate", "person"]
"""``person``: there is no evidence that could support a judge's pass."""

LOWEST_GRADE = "B-"
"""The grade that passes if a criterion names none: 7.0, satisfactory."""


class DelegatedScorecard(NamedTuple):
    """A criterion's ``scorecard``."""

    skill: str | None
    """None: the skill that ran last."""
    min_grade: str = LOWEST_GRADE
    file: str | None = None
    rubric: str | None = None

    @property
    def way(self) -> Way:
        """The contract's key."""
        return "scorecard"


class DelegatedDebate(NamedTuple):
    """A criterion's ``debate``, with its defaults."""

    solution: tuple[str, ...]
    task: str
    criteria: str | None = None
    kind: str = "code"
    judges: int = 3
    rounds: int = 3
    mode: Literal["debate", "vote"] = "debate"
    min_score: float | None = None

    @property
    def way(self) -> Way:
        """The contract's key."""
        return "debate"


Delegated = DelegatedScorecard | DelegatedDebate


class DelegatedOpinion(NamedTuple):
    """The result of one way for one criterion. ``status`` is None if a person must decide."""

    id: str
    way: Way
    status: Literal["pass", "fail"] | None
    reason: str
    confidence: float = 0.0
    hint: str = ""
    document: Mapping[str, Any] = {}
    """The part that is recorded."""
    remarks: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


def undecided(criterion: Criterion, request: Delegated, reason: str) -> DelegatedOpinion:
    """An opinion without a result, so that a person must decide; ``reason`` says why."""
    return DelegatedOpinion(criterion.id, request.way, None, f"{request.way}: {reason}")


def delegated_judgements(criterion: Criterion) -> tuple[Delegated, ...]:
    """The delegated judgements of a fuzzy criterion; empty if it has none."""
    if not criterion.fuzzy:
        return ()
    delegated: list[Delegated] = []
    card, debate = (criterion.document.get(key) for key in ("scorecard", "debate"))
    if card or card == {}:
        given = object_of(card)
        skill = card if isinstance(card, str) else given.get("skill")
        grade = given.get("min_grade", LOWEST_GRADE)
        delegated.append(DelegatedScorecard(skill, grade, given.get("file"), given.get("rubric")))
    if debate or debate == {}:
        delegated.append(_debate(criterion, debate))
    return tuple(delegated)


def _debate(criterion: Criterion, debate: object) -> DelegatedDebate:
    given = object_of(debate)
    solution = given.get("solution") or criterion.evidence_paths
    return DelegatedDebate(
        solution=(solution,) if isinstance(solution, str) else tuple(solution),
        task=given.get("task") or criterion.text,
        criteria=given.get("criteria"),
        kind=debate if isinstance(debate, str) else given.get("kind", "code"),
        judges=given.get("judges", 3),
        rounds=given.get("rounds", 3),
        mode=given.get("mode", "debate"),
        min_score=given.get("min_score"),
    )


def delegated_criteria(goal: Goal, sought: Sequence[SoughtCriterion]) -> tuple[Criterion, ...]:
    """The sought criteria whose judgement is delegated."""
    asked = {criterion.id for criterion in sought}
    return tuple(c for c in goal.criteria if c.id in asked and delegated_judgements(c))


def balloted(goal: Goal, sought: Sequence[SoughtCriterion]) -> tuple[SoughtCriterion, ...]:
    """The sought criteria that the ballots are about: all but delegated ones without a rubric."""
    left_out = {c.id for c in delegated_criteria(goal, sought) if not c.document.get("rubric")}
    return tuple(criterion for criterion in sought if criterion.id not in left_out)


_SEVERITY: tuple[VerdictName, ...] = ("blocked", "not_achieved", "needs_human_review", "achieved")
"""The opinion is the first of these that any vote gives."""
_VERDICTS: dict[str | None, VerdictName] = {
    "pass": "achieved",
    "fail": "not_achieved",
    None: "needs_human_review",
}


_NO_BALLOTS = Tally("needs_human_review", 0.0, "", "", "none", (), 0, 0, 0, 0.0)


class _Vote(NamedTuple):
    """The ballots together, or the opinion about a required criterion."""

    verdict: VerdictName
    confidence: float
    reason: str
    hint: str
    blocker: BlockerType = "none"


def combined(
    counted: Tally | None, opinions: Sequence[DelegatedOpinion], sought: Sequence[SoughtCriterion]
) -> Tally:
    """The opinion of the ballots (None: there were none to cast) and of the delegated judges."""
    required = {criterion.id for criterion in sought if criterion.must_pass}
    votes = [
        _Vote(_VERDICTS[o.status], o.confidence, f"{o.id}: {o.reason}", o.hint)
        for o in opinions
        if o.id in required
    ]
    if counted is not None:
        ballots = _Vote(
            counted.verdict,
            counted.confidence,
            counted.reason,
            counted.next_step_hint,
            counted.blocker_type,
        )
        votes.insert(0, ballots)
    verdict = min((vote.verdict for vote in votes), key=_SEVERITY.index, default=_SEVERITY[2])
    deciding = [vote for vote in votes if vote.verdict == verdict]
    return (counted or _NO_BALLOTS)._replace(
        verdict=verdict,
        confidence=min((vote.confidence for vote in deciding), default=0.0),
        reason="; ".join(dict.fromkeys(vote.reason for vote in deciding if vote.reason)),
        next_step_hint=next((vote.hint for vote in deciding if vote.hint), ""),
        blocker_type=next((v.blocker for v in deciding if v.blocker != "none"), "none"),
        criteria=tuple(_least(criterion.id, counted, opinions) for criterion in sought),
    )


def _least(
    criterion_id: str, counted: Tally | None, opinions: Sequence[DelegatedOpinion]
) -> JudgedCriterion:
    """The lowest status that any of them gives a criterion."""
    rows = [row for row in (counted.criteria if counted else ()) if row.id == criterion_id]
    rows += [
        JudgedCriterion(opinion.id, opinion.status or "incomplete", remark=opinion.reason)
        for opinion in opinions
        if opinion.id == criterion_id
    ]
    return min(rows, key=lambda row: ("fail", "incomplete", "pass").index(row.status))
