"""A debate's arithmetic: scores, consensus, medians, conformity (SPEC 9.4).

Judges score criteria and say whether they accept the consensus; everything else is computed here,
exactly, from the numbers as written. All limits are inclusive.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from statistics import mean, median

from flow.core.judging.common.quotes import LEAST_QUOTE, founded
from flow.core.judging.common.reply import Mark, Scale
from flow.core.text.numbers import exact, shown
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.core.judging.debate.criteria import DebateCriterion

SCALE = Scale(1, 5, "1 to 5")
OVERALL_LIMIT = Fraction(1, 2)
"""Largest difference of the judges' overall scores in a consensus."""
CRITERION_LIMIT = Fraction(1)
"""Largest difference of their scores of one criterion; more is a disagreement."""
LEAST_SUPPORT = Fraction(1, 2)
"""Least share of the judges' weight that true quotes must support."""

Recommendation = Literal["pass", "needs_revision", "fail"]
RECOMMENDATIONS: tuple[Recommendation, ...] = get_args(Recommendation)
"""From the best to the worst."""


class Position(NamedTuple):
    """One judge's position: a mark for every criterion, in the criteria's order."""

    judge: int
    """From 1 on."""
    marks: tuple[Mark, ...]
    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    recommendation: Recommendation
    accepts: bool
    """Whether it accepts the judges' common result; asked from the first debate on."""

    def score(self, name: str) -> float:
        """The judge's score of one criterion, as written."""
        return next(mark.score for mark in self.marks if mark.name == name)


class Agreement(NamedTuple):
    """The differences between the judges' positions. True if they are a consensus."""

    overall: Fraction
    """The highest less the lowest overall score."""
    criteria: Mapping[str, Fraction]
    refusing: tuple[int, ...]
    """The judges that do not accept it, if that is asked."""
    support: Fraction = Fraction(1)
    """The share computed by :func:`support`."""

    @property
    def apart(self) -> tuple[str, ...]:
        """The criteria whose scores are too far apart."""
        return tuple(name for name, gap in self.criteria.items() if gap > CRITERION_LIMIT)

    @property
    def reached(self) -> bool:
        """Whether it is a consensus."""
        near = self.overall <= OVERALL_LIMIT and not self.apart
        return near and not self.refusing and self.supported

    @property
    def supported(self) -> bool:
        """Whether true quotes support enough of the scores' weight."""
        return self.support >= LEAST_SUPPORT


def overall(criteria: Sequence[DebateCriterion], position: Position) -> Fraction:
    """The weighted mean of a judge's scores."""
    return sum((exact(position.score(c.name)) * c.share for c in criteria), Fraction(0))


def support(
    criteria: Sequence[DebateCriterion], histories: Sequence[Sequence[Position]]
) -> Fraction:
    """The share of the judges' weight that true quotes support, from 0 to 1.

    ``histories`` are each judge's positions, the newest last. A score is supported by the quotes
    that its judge gave from the solution since it gave that score.
    """
    shares = {criterion.name: criterion.share for criterion in criteria}
    resting = (shares[n] for positions in histories for n in shares if _founded(n, positions))
    return sum(resting, Fraction(0)) / max(len(histories), 1)


def since_scored(name: str, positions: Sequence[Position]) -> tuple[Mark, ...]:
    """A judge's marks of a criterion since it gave its present score, the oldest first."""
    marks = [mark for position in positions for mark in position.marks if mark.name == name]
    start = len(marks)
    while start and exact(marks[start - 1].score) == exact(marks[-1].score):
        start -= 1
    return tuple(marks[start:])


def _founded(name: str, positions: Sequence[Position]) -> bool:
    marks = since_scored(name, positions)
    return any(founded(mark.evidence, mark.discounted) for mark in marks)


def agreement(
    criteria: Sequence[DebateCriterion],
    positions: Sequence[Position],
    *,
    debated: bool,
    support: Fraction = Fraction(1),
) -> Agreement:
    """The agreement of these positions; ``debated``: after a debate, so all must accept it."""
    return Agreement(
        _spread([overall(criteria, p) for p in positions]),
        {c.name: _spread([exact(p.score(c.name)) for p in positions]) for c in criteria},
        tuple(p.judge for p in positions if not p.accepts) if debated else (),
        support,
    )


class Scores(NamedTuple):
    """The judges' combined scores."""

    overall: Fraction
    criteria: Mapping[str, Fraction]


def means(criteria: Sequence[DebateCriterion], positions: Sequence[Position]) -> Scores:
    """The mean of each criterion's scores, and the weighted mean of those."""
    return _combined(mean, criteria, positions)


def medians(criteria: Sequence[DebateCriterion], positions: Sequence[Position]) -> Scores:
    """The median of each criterion's scores, and the weighted mean of those.

    For an even number the mean of the two in the middle.
    """
    return _combined(median, criteria, positions)


def _combined(
    average: Callable[[list[Fraction]], Fraction],
    criteria: Sequence[DebateCriterion],
    positions: Sequence[Position],
) -> Scores:
    by_name = {c.name: average([exact(p.score(c.name)) for p in positions]) for c in criteria}
    return Scores(sum((by_name[c.name] * c.share for c in criteria), Fraction(0)), by_name)


def recommended(positions: Sequence[Position]) -> Recommendation:
    """The median recommendation; of two in the middle the worse one."""
    order = sorted(RECOMMENDATIONS.index(p.recommendation) for p in positions)
    return RECOMMENDATIONS[order[len(order) // 2]]


class Gap(NamedTuple):
    """Two judges that disagree on a criterion, seen from one of them."""

    judge: int
    """The other one."""
    criterion: str
    mine: float
    theirs: float


def gaps(own: Position, others: Sequence[Position]) -> tuple[Gap, ...]:
    """Others' scores that differ by more than one point from a judge's own."""
    return tuple(
        Gap(other.judge, mark.name, mark.score, other.score(mark.name))
        for mark in own.marks
        for other in others
        if abs(exact(mark.score) - exact(other.score(mark.name))) > CRITERION_LIMIT
    )


class Revision(NamedTuple):
    """A score that a judge changed in a debate."""

    judge: int
    round: int
    criterion: str
    before: float
    after: float
    reason: str
    new_evidence: tuple[str, ...]
    """Quotes from the solution that this judge had not given for this criterion before."""

    @property
    def conformity(self) -> bool:
        """Whether no new quote from the solution supports the change."""
        return not self.new_evidence


def revisions(history: Sequence[Position]) -> tuple[Revision, ...]:
    """One judge's changes since its position before any debate, which is the first."""
    revised = []
    for number, (before, after) in enumerate(pairwise(history), 1):
        for place, (old, new) in enumerate(zip(before.marks, after.marks, strict=True)):
            if exact(old.score) == exact(new.score):
                continue
            earlier = [q for position in history[:number] for q in position.marks[place].evidence]
            fresh = tuple(quote for quote in new.evidence if not _was_given(quote, earlier))
            revised.append(
                Revision(
                    after.judge, number, new.name, old.score, new.score, new.justification, fresh
                )
            )
    return tuple(revised)


def _was_given(quote: str, earlier: Sequence[str]) -> bool:
    """Whether the quote is one of these, a part of one, or one with a few characters more."""
    plain = _plain(quote)
    for other in map(_plain, earlier):
        if plain in other or (other in plain and len(plain) - len(other) < LEAST_QUOTE):
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(text.split())


def shown_mean(number: Fraction) -> str:
    """A mean for people: like :func:`shown`, with at least one decimal: ``4.0``, ``4.33``."""
    text = shown(number)
    return text if "." in text else f"{text}.0"


def plain_number(value: object) -> Any:
    """A score as JSON writes it: 4, not 4.0."""
    number = float(value)  # type: ignore[arg-type]
    return int(number) if number.is_integer() else number


def _spread(values: Sequence[Fraction]) -> Fraction:
    return max(values) - min(values)
