"""One section of a judge's report: its values, and the block of JSON that holds them."""

from __future__ import annotations

from flow.core.judging.common.reply import Mark
from flow.core.judging.debate.model import (
    RECOMMENDATIONS,
    Position,
    overall,
    plain_number,
    shown_mean,
)
from flow.core.judging.debate.points import Point
from flow.core.judging.debate.reply import Answered
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.judging.debate.criteria import DebateCriterion

FORMAT = "flow-debate/2"


class Disagreement(NamedTuple):
    """A gap of more than one point before a debate, and the judge's words about it."""

    judge: int
    criterion: str
    mine: float
    theirs: float
    defense: str = ""
    challenge: str = ""


class Section(NamedTuple):
    """One judge's report of one turn. ``round`` 0 is the assessment."""

    round: int
    position: Position
    before: tuple[float, ...]
    """Scores before, in the criteria's order: those of the draft, or of the previous turn."""
    verification: tuple[Answered, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    conformity: tuple[str, ...] = ()
    """Criteria whose score it changed without a new quote from the solution."""
    shares: tuple[Point, ...] = ()
    """Others' points that it shares."""
    unknown_points: tuple[str, ...] = ()
    """Numbers that it gave as shared and that no other judge's point has."""
    agrees_with: tuple[int, ...] = ()
    """The judges that it says it agrees with."""


class DebateSubject(NamedTuple):
    """The common subject of all reports of one debate."""

    digest: str
    """Of the task, the solution, the criteria and the judges: it tells one debate from another."""
    task: str
    solution: tuple[str, ...]
    """The files' names."""
    criteria: tuple[DebateCriterion, ...]


class Altered(ValueError):
    """A report differs from Flow's own text; the message says where."""


def document(about: DebateSubject, section: Section) -> dict[str, Any]:
    """The section as its block of JSON."""
    position = section.position
    return {
        "format": FORMAT,
        "debate": about.digest,
        "judge": position.judge,
        "round": section.round,
        "criteria": [
            {**mark._asdict(), "score": plain_number(mark.score)} for mark in position.marks
        ],
        "overall": shown_mean(overall(about.criteria, position)),
        "strengths": list(position.strengths),
        "weaknesses": list(position.weaknesses),
        "recommendation": position.recommendation,
        "accepts_consensus": position.accepts,
        "scores_before": [plain_number(score) for score in section.before],
        "verification": [one._asdict() for one in section.verification],
        "disagreements": [one._asdict() for one in section.disagreements],
        "conformity": list(section.conformity),
        "shares": [point._asdict() for point in section.shares],
        "unknown_points": list(section.unknown_points),
        "agrees_with": list(section.agrees_with),
    }


def from_document(document: Mapping[str, Any]) -> Section:
    """The section in such a block; raises ValueError, KeyError or TypeError if it is none."""
    marks = tuple(
        Mark(
            row["name"],
            row["score"],
            row["justification"],
            tuple(row["evidence"]),
            tuple(row["discounted"]),
            tuple(row["too_short"]),
        )
        for row in document["criteria"]
    )
    if document["recommendation"] not in RECOMMENDATIONS:
        raise ValueError("no recommendation")
    if type(document["accepts_consensus"]) is not bool or type(document["round"]) is not int:
        raise ValueError("no yes or no")
    if not all(type(mark.score) in (int, float) and 1 <= mark.score <= 5 for mark in marks):
        raise ValueError("no score")
    position = Position(
        document["judge"],
        marks,
        tuple(document["strengths"]),
        tuple(document["weaknesses"]),
        document["recommendation"],
        document["accepts_consensus"],
    )
    return Section(
        document["round"],
        position,
        tuple(document["scores_before"]),
        tuple(Answered(**row) for row in document["verification"]),
        tuple(Disagreement(**row) for row in document["disagreements"]),
        tuple(document["conformity"]),
        tuple(Point(**row) for row in document["shares"]),
        tuple(document["unknown_points"]),
        tuple(document["agrees_with"]),
    )
