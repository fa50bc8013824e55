"""From several ballots to one opinion (SPEC 9.1 and 3, step 5). Arithmetic is Flow's.

A verdict needs more than half of the requested ballots: a missing answer is no vote for anything. A
tie, a spread of confidence above the limit, and judges that agree on a verdict but not on the
criteria behind it go to a person.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from flow.core.decision.decide import JudgedCriterion, JudgedStatus
from flow.core.text.numbers import apart, at_most, exact
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.decision.verdict import BlockerType, VerdictName
    from flow.core.judging.goal.context import SoughtCriterion
    from flow.core.judging.goal.reply import Ballot

SPREAD_LIMIT = Fraction(4, 10)
"""Largest difference of confidence between ballots that agree, inclusive."""


class Tally(NamedTuple):
    """The combined result of the ballots."""

    verdict: VerdictName
    confidence: float
    reason: str
    next_step_hint: str
    blocker_type: BlockerType
    criteria: tuple[JudgedCriterion, ...]
    asked: int
    usable: int
    agreeing: int
    spread: float
    """The largest minus the smallest confidence of the ballots that agree."""


def tally(ballots: Sequence[Ballot], asked: int, sought: Sequence[SoughtCriterion]) -> Tally | None:
    """The opinion of ``ballots``, of which ``asked`` were requested; None if there are none."""
    if not ballots:
        return None
    counts = Counter(ballot.verdict for ballot in ballots)
    leading = max(counts, key=lambda name: counts[name])  # of equal ones the first that was given
    agreeing = [ballot for ballot in ballots if ballot.verdict == leading]
    confidences = [exact(ballot.confidence) for ballot in agreeing]
    spread = max(confidences) - min(confidences)
    criteria = tuple(_criterion(criterion, ballots, asked) for criterion in sought)
    verdict, objection = leading, ""
    if 2 * len(agreeing) <= asked:
        verdict, objection = "needs_human_review", f"no majority: {_shares(counts, asked)}"
    elif spread > SPREAD_LIMIT:
        verdict = "needs_human_review"
        objection = f"the confidences lie {apart(spread, SPREAD_LIMIT)} apart, more than 0.4"
    elif not _backed(verdict, criteria, sought):
        verdict = "needs_human_review"
        objection = f"a majority says {leading}, but not of the same criteria"
    # Their mean times their share of the requested ballots.
    confidence = sum(confidences, Fraction(0)) / asked
    spokesman = agreeing[0]
    named = asked > 1 or (leading == "needs_human_review" and not spokesman.lowered)
    words = f'{leading}: "{spokesman.reason}"' if named else f'"{spokesman.reason}"'
    parts = [objection, _summary(agreeing, asked) if asked > 1 else "", spokesman.lowered, words]
    return Tally(
        verdict=verdict,
        confidence=at_most(confidence),  # rounded up, it could reach a limit that it misses
        reason="; ".join(filter(None, parts)),
        next_step_hint=spokesman.next_step_hint,
        blocker_type=spokesman.blocker_type,
        criteria=criteria,
        asked=asked,
        usable=len(ballots),
        agreeing=len(agreeing),
        spread=float(spread),
    )


def _criterion(
    criterion: SoughtCriterion, ballots: Sequence[Ballot], asked: int
) -> JudgedCriterion:
    """The status that more than half of the requested ballots give; else incomplete."""
    rows = [ballot.row(criterion.id) for ballot in ballots]
    statuses: tuple[JudgedStatus, ...] = ("pass", "fail", "incomplete")
    counts = {status: sum(1 for row in rows if row.status == status) for status in statuses}
    for status in statuses:
        if 2 * counts[status] > asked:
            row = next(row for row in rows if row.status == status)
            agreed = f"{counts[status]} of {asked} ballots" if asked > 1 else ""
            return row._replace(remark=": ".join(filter(None, (agreed, row.remark))))
    shares = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    remark = f"no majority of {asked} ballots: {shares}"
    return JudgedCriterion(criterion.id, "incomplete", remark=remark)


def _backed(
    verdict: VerdictName, criteria: Sequence[JudgedCriterion], sought: Sequence[SoughtCriterion]
) -> bool:
    """Whether the criteria, each by its own majority, agree with the verdict.

    They agree with ``achieved``: each ballot with that verdict passes every required criterion.
    """
    status = {row.id: row.status for row in criteria}
    required = [status[one.id] for one in sought if one.must_pass]
    if verdict in ("not_achieved", "blocked") and required:
        return any(each != "pass" for each in required)
    return True


def _shares(counts: Mapping[VerdictName, int], asked: int) -> str:
    """Each verdict's number of ballots, in words."""
    silent = asked - sum(counts.values())
    shares = [f"{count} {verdict}" for verdict, count in counts.items()]
    return ", ".join([*shares, *([f"{silent} without an answer"] if silent else [])])


def _summary(agreeing: Sequence[Ballot], asked: int) -> str:
    low, high = min(b.confidence for b in agreeing), max(b.confidence for b in agreeing)
    spread = (
        f"confidences {low:g} throughout" if low == high else f"confidences {low:g} to {high:g}"
    )
    return f"{len(agreeing)} of {asked} ballots agree, {spread}"
