"""Rubrics, judges' answers about them, and the arithmetic between the two (SPEC 9.2).

The judge only gives a score to each criterion: the composite, the passes, medians and spreads are
computed here, exactly, from the numbers as written (a score of 0.7 reaches a threshold of 0.7). All
limits are inclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from flow.core.judging.common.quotes import LEAST_QUOTE
from flow.core.judging.rubric.rules import problems
from flow.core.text.display import names
from flow.core.text.numbers import as_written, at_most, beside, exact
from flow.errors import ContractError
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.judging.common.reply import Mark


@dataclass(frozen=True)
class RubricCriterion:
    """One thing to score. ``weight`` is relative to the others', ``threshold`` its own least score.

    Checked by the :class:`Rubric` that holds it.
    """

    name: str
    description: str
    weight: float = 1
    threshold: float | None = None

    def to_document(self) -> dict[str, Any]:
        """The criterion as a rubric file holds it."""
        own = {} if self.threshold is None else {"threshold": self.threshold}
        head = {"name": self.name, "description": self.description, "weight": self.weight}
        return {**head, **own}


@dataclass(frozen=True)
class Rubric:
    """The criteria by which a judge scores a subject.

    Weights are above 0, scores and thresholds from 0 to 1. Raises :class:`ContractError` naming
    every fault at once.
    """

    name: str
    criteria: Sequence[RubricCriterion]
    passing_threshold: float = 0.7

    def __post_init__(self) -> None:
        if isinstance(self.criteria, list):
            object.__setattr__(self, "criteria", tuple(self.criteria))
        faults = problems(self.to_document())
        if faults:
            raise ContractError(faults)

    def to_document(self) -> dict[str, Any]:
        """The rubric as a rubric file holds it."""
        criteria: Any = self.criteria  # until the rules are checked, of any type
        if isinstance(criteria, tuple):
            criteria = [c.to_document() if isinstance(c, RubricCriterion) else c for c in criteria]
        document = {"name": self.name, "criteria": criteria}
        return {**document, "passing_threshold": self.passing_threshold}


@dataclass(frozen=True)
class CriterionResult:
    """The result of one criterion.

    ``evidence`` are the judge's quotes that occur in the subject, ``discounted`` those that do not.
    ``scores`` holds each ballot's score, in order. ``threshold`` is the criterion's own; with None
    it cannot fail the rubric by itself.
    """

    name: str
    score: float
    reasoning: str
    passed: bool
    evidence: tuple[str, ...] = ()
    discounted: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    threshold: float | None = None

    @property
    def spread(self) -> float:
        """The highest less the lowest score among the ballots."""
        return _spread([exact(score) for score in self.scores])

    def to_document(self) -> dict[str, Any]:
        """The result as ``--json`` prints it."""
        own = {} if self.threshold is None else {"threshold": self.threshold}
        return {
            "name": self.name,
            "score": self.score,
            "passed": self.passed,
            "reasoning": self.reasoning,
            "evidence": list(self.evidence),
            "discounted": list(self.discounted),
            "scores": list(self.scores),
            "spread": self.spread,
            **own,
        }


@dataclass(frozen=True)
class JudgeResult:
    """The result of a judgement; true if it passed.

    ``score`` is the weighted mean of the criteria's scores, from 0 to 1. ``samples`` is the number
    of counted ballots, ``method`` the way they were combined, ``spread`` the highest less the
    lowest of their composites. ``remarks`` inform the reader of quotes that do not occur, text made
    harmless, omissions, and ballots without an answer.
    """

    passed: bool
    score: float
    criteria: tuple[CriterionResult, ...]
    reasoning: str
    suggestions: tuple[str, ...] = ()
    rubric: str = ""
    passing_threshold: float = 0.7
    samples: int = 1
    method: str = "one answer"
    spread: float = 0.0
    remarks: tuple[str, ...] = ()
    judge: str = ""
    cost_usd: float | None = None

    def __bool__(self) -> bool:
        return self.passed

    def to_document(self) -> dict[str, Any]:
        """The result as ``--json`` prints it."""
        return {
            "passed": self.passed,
            "score": self.score,
            "passing_threshold": self.passing_threshold,
            "rubric": self.rubric,
            "criteria": [criterion.to_document() for criterion in self.criteria],
            "reasoning": self.reasoning,
            "suggestions": list(self.suggestions),
            "samples": self.samples,
            "method": self.method,
            "spread": self.spread,
            "remarks": list(self.remarks),
            "judge": self.judge,
            "cost_usd": self.cost_usd,
        }


class RubricBallot(NamedTuple):
    """One usable reply: a mark for every criterion of the rubric, by name."""

    marks: Mapping[str, Mark]
    reasoning: str
    suggestions: tuple[str, ...] = ()
    value: Mapping[str, Any] = {}
    """The reply as it came."""


def result(rubric: Rubric, ballots: Sequence[RubricBallot]) -> JudgeResult:
    """The judgement by one or more ballots.

    Several are combined by the median of each criterion (for an even number, the mean of the two in
    the middle), with the words of the ballot nearest to that median.
    """
    if not ballots:
        raise ValueError("no ballot, no result")
    medians = _medians(rubric, ballots)
    composite = _composite(rubric, medians)
    spoken = spokesman(rubric, ballots)
    bar = exact(rubric.passing_threshold)
    threshold: Any = rubric.passing_threshold  # may be an int
    below = [
        c.name
        for c in rubric.criteria
        if c.threshold is not None and medians[c.name] < exact(c.threshold)
    ]
    return JudgeResult(
        passed=composite >= bar and not below,
        score=at_most(composite),
        criteria=tuple(_criterion(rubric, c, medians[c.name], ballots) for c in rubric.criteria),
        reasoning=spoken.reasoning,
        suggestions=spoken.suggestions,
        rubric=rubric.name,
        passing_threshold=threshold if isinstance(threshold, float) else float(threshold),
        samples=len(ballots),
        method="one answer" if len(ballots) == 1 else f"median of {len(ballots)} answers",
        spread=_spread([_ballot_composite(rubric, ballot) for ballot in ballots]),
        remarks=tuple(_discounted(rubric, ballots)),
    )


def why_not(result: JudgeResult) -> str:
    """Reason that a judgement did not pass, in one sentence.

    It names only the causes: the whole, and the criteria that miss their own threshold.
    """
    score, bar = result.score, result.passing_threshold
    below = " is below" if exact(score) < exact(bar) else ", passing at"
    what = f"{result.rubric}: {beside(score, bar)}{below} {as_written(bar)}"
    missed = missed_thresholds([criterion.to_document() for criterion in result.criteria])
    whose = "its own threshold" if len(missed) == 1 else "their own thresholds"
    return f"{what}; below {whose}: {names(missed)}" if missed else what


def spokesman(rubric: Rubric, ballots: Sequence[RubricBallot]) -> RubricBallot:
    """The ballot whose words :func:`result` uses."""
    composites = [_ballot_composite(rubric, ballot) for ballot in ballots]
    return ballots[nearest(composites, _composite(rubric, _medians(rubric, ballots)))]


def _medians(rubric: Rubric, ballots: Sequence[RubricBallot]) -> dict[str, Fraction]:
    return {c.name: median([_score(b, c.name) for b in ballots]) for c in rubric.criteria}


def nearest(values: Sequence[Fraction], to: Fraction) -> int:
    """The index of the first value that is nearest to ``to``."""
    return min(range(len(values)), key=lambda place: abs(values[place] - to))


def _criterion(
    rubric: Rubric, criterion: RubricCriterion, median: Fraction, ballots: Sequence[RubricBallot]
) -> CriterionResult:
    marks = [ballot.marks[criterion.name] for ballot in ballots]
    spoken = marks[nearest([exact(mark.score) for mark in marks], median)]
    own = criterion.threshold
    bar = exact(rubric.passing_threshold if own is None else own)
    return CriterionResult(
        name=criterion.name,
        score=at_most(median),
        reasoning=spoken.justification,
        passed=median >= bar,
        evidence=spoken.evidence,
        discounted=spoken.discounted,
        scores=tuple(float(mark.score) for mark in marks),
        threshold=own,
    )


def missed_thresholds(criteria: Sequence[Mapping[str, Any]]) -> list[str]:
    """``security 0.8 (needs 0.9)`` for each criterion (a document) below its own threshold."""
    return [
        f"{row['name']} {beside(row['score'], row['threshold'])} "
        f"(needs {as_written(row['threshold'])})"
        for row in criteria
        if row.get("threshold") is not None and not row["passed"]
    ]


def _discounted(rubric: Rubric, ballots: Sequence[RubricBallot]) -> list[str]:
    remarks = []
    for criterion in rubric.criteria:
        marks = [ballot.marks[criterion.name] for ballot in ballots]
        for quotes, singular, plural in (
            (
                [q for mark in marks for q in mark.discounted],
                "a quote that does not occur in the subject counts",
                "quotes that do not occur in the subject count",
            ),
            (
                [q for mark in marks for q in mark.too_short],
                f"a quote of less than {LEAST_QUOTE} characters that is no whole line counts",
                f"quotes of less than {LEAST_QUOTE} characters that are no whole lines count",
            ),
        ):
            if quotes:
                what = singular if len(quotes) == 1 else f"{len(quotes)} {plural}"
                remarks.append(f"{criterion.name}: {what} for nothing: '{quotes[0][:80]}'")
    return remarks


def _score(ballot: RubricBallot, name: str) -> Fraction:
    return exact(ballot.marks[name].score)


def _ballot_composite(rubric: Rubric, ballot: RubricBallot) -> Fraction:
    return _composite(rubric, {c.name: _score(ballot, c.name) for c in rubric.criteria})


def _composite(rubric: Rubric, scores: Mapping[str, Fraction]) -> Fraction:
    """``Σ(score·weight)/Σ weight`` (SPEC 9.2)."""
    weights = [exact(c.weight) for c in rubric.criteria]
    total = sum((scores[c.name] * w for c, w in zip(rubric.criteria, weights, strict=True)), _ZERO)
    return total / sum(weights, _ZERO)


_ZERO = Fraction(0)


def _spread(values: Sequence[Fraction]) -> float:
    return float(max(values) - min(values)) if values else 0.0
