"""Checking a judge's reply in a debate (SPEC 9.1): usable, or no answer."""

from __future__ import annotations

from flow.core.judging.common.numbers import within
from flow.core.judging.common.quotes import QuotableTexts, sort_quotes
from flow.core.judging.common.shapes import are_texts, first_faults
from flow.core.judging.debate import points as debate_points
from flow.core.judging.debate.model import HIGHEST, LOWEST, RECOMMENDATIONS, DebateMark, Position
from flow.core.judging.debate.prompt import QUESTIONS
from flow.core.text.display import names, visible
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.judging.debate.criteria import DebateCriterion
    from flow.core.judging.debate.points import Point

TEXT_LIMIT = 2_000
"""Characters that are kept of a justification, an answer, a defense."""
QUOTE_LIMIT = 600
POINT_LIMIT = 400
"""Characters that are kept of a strength or a weakness."""
MOST_QUOTES = 10
MOST_POINTS = 10
NUMBER_LIMIT = 40
"""Characters that are kept of what poses as a point's number."""
MOST_DISAGREEMENTS = 50


class Answered(NamedTuple):
    """A question that a judge asked itself, and its answer."""

    question: str
    answer: str


class Dispute(NamedTuple):
    """What a judge says about a score of another's."""

    judge: int
    criterion: str
    defense: str
    challenge: str


class Reply(NamedTuple):
    """A usable reply. Its texts are safe to show: one line each, capped."""

    position: Position
    verification: tuple[Answered, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    shares: tuple[Point, ...] = ()
    """Points of others that it holds too."""
    unknown_points: tuple[str, ...] = ()
    """Numbers that it named and that no other judge's point has."""
    agrees_with: tuple[int, ...] = ()


class Others(NamedTuple):
    """What a judge could read of the others: their numbers, and their points by number."""

    judges: Sequence[int] = ()
    points: Mapping[str, str] = {}


def read_reply(
    criteria: Sequence[DebateCriterion],
    judge: int,
    value: Mapping[str, Any],
    given: Sequence[str],
    others: Others = Others(),  # noqa: B008
    *,
    verified: bool = False,
) -> Reply | str:
    """What judge number ``judge`` replied; where it is not usable, why not.

    ``given`` is the solution as the judge saw it: quotes that do not occur there are discounted.
    Usable is a reply that scores each of ``criteria`` exactly once and no other, from 1 to 5, each
    with evidence and a justification, and that has strengths, weaknesses, a known recommendation
    and a plain yes or no to the consensus; where it was asked to check its draft (``verified``),
    also one that asked itself and answered as many questions as it was asked for.
    """
    faults: list[str] = []
    marks = _marks(criteria, value.get("criteria"), QuotableTexts(given), faults)
    lists = ("strengths", "weaknesses")
    faults += [f"its {key} are no list of texts" for key in lists if not are_texts(value.get(key))]
    recommendation = value.get("recommendation")
    if not isinstance(recommendation, str) or recommendation not in RECOMMENDATIONS:
        faults.append(f"its recommendation is none of {', '.join(RECOMMENDATIONS)}")
    accepts = value.get("accepts_consensus")
    if not isinstance(accepts, bool):
        faults.append("its accepts_consensus is neither true nor false")
    answers = _verification(value.get("verification"))
    if verified and len(answers) < QUESTIONS:
        faults.append(f"it answers {len(answers)} of {QUESTIONS} verification questions")
    if faults:
        return first_faults(faults)
    position = Position(
        judge,
        tuple(marks[criterion.name] for criterion in criteria),
        _points(value["strengths"]),
        _points(value["weaknesses"]),
        value["recommendation"],
        value["accepts_consensus"],
    )
    known = [criterion.name for criterion in criteria]
    shares, unknown = _shares(value.get("shares"), others.points)
    return Reply(
        position,
        answers,
        _disputes(value.get("disagreements"), judge, known),
        shares,
        unknown,
        _judges(value.get("agrees_with"), others.judges),
    )


def one_line(text: str) -> str:
    """``text`` with each run of white space as one space."""
    return " ".join(text.split())


def safe_words(text: str, most: int) -> str:
    """A judge's words on one line, capped, with everything escaped that a reader would not see."""
    shown = visible(one_line(text[: most * 4]))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _marks(
    criteria: Sequence[DebateCriterion],
    rows: object,
    solution: QuotableTexts,
    faults: list[str],
) -> dict[str, DebateMark]:
    known = {criterion.name for criterion in criteria}
    marks: dict[str, DebateMark] = {}
    if not isinstance(rows, list):
        faults.append("it has no list of criteria")
        return marks
    for row in rows:
        name = row.get("name") if isinstance(row, dict) else None
        if not isinstance(name, str):
            faults.append("it has an entry without a criterion's name")
        elif name not in known:
            faults.append(f"it names {_short(name)}, which is no criterion of this debate")
        elif name in marks:
            faults.append(f"it scores {_short(name)} more than once")
        else:
            mark = _mark(name, row, solution)
            marks[name] = mark if isinstance(mark, DebateMark) else DebateMark(name, 0, "")
            if isinstance(mark, str):
                faults.append(f"{_short(name)}: {mark}")
    missing = [criterion.name for criterion in criteria if criterion.name not in marks]
    if missing:
        faults.append(f"it does not score {names(missing)}")
    return marks


def _mark(name: str, row: Mapping[str, Any], solution: QuotableTexts) -> DebateMark | str:
    score, why, evidence = row.get("score"), row.get("justification"), row.get("evidence")
    if not isinstance(score, int | float) or isinstance(score, bool):
        return "its score is no number"
    if not within(score, LOWEST, HIGHEST):
        return f"its score is not from {LOWEST} to {HIGHEST}"
    if not isinstance(why, str) or not why.strip():
        return "it has no justification"
    if not are_texts(evidence):
        return "its evidence is no list of quotes"
    given = [quote for quote in evidence if quote.strip()][:MOST_QUOTES]
    quotes = sort_quotes(given, solution.contain)
    safe = (
        tuple(dict.fromkeys(safe_words(text, QUOTE_LIMIT) for text in texts)) for texts in quotes
    )
    return DebateMark(name, score, safe_words(why, TEXT_LIMIT), *safe)


def _points(texts: Sequence[str]) -> tuple[str, ...]:
    points = dict.fromkeys(safe_words(text, POINT_LIMIT) for text in texts if text.strip())
    return tuple(points)[:MOST_POINTS]


def _verification(rows: object) -> tuple[Answered, ...]:
    """What it gave of the questions it was asked for; nothing where it gave something else."""
    answers = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and _filled(row.get("question"), row.get("answer")):
            texts = (safe_words(row[key], TEXT_LIMIT) for key in ("question", "answer"))
            answers.append(Answered(*texts))
    return tuple(answers[: 2 * QUESTIONS])


def _disputes(rows: object, judge: int, known: Sequence[str]) -> tuple[Dispute, ...]:
    disputes = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict) or not _filled(row.get("defense"), row.get("challenge")):
            continue
        other, criterion = row.get("judge"), row.get("criterion")
        if type(other) is int and other != judge and other > 0 and criterion in known:
            texts = (safe_words(row[key], TEXT_LIMIT) for key in ("defense", "challenge"))
            disputes.append(Dispute(other, str(criterion), *texts))
    return tuple(disputes[:MOST_DISAGREEMENTS])


def _shares(rows: object, points: Mapping[str, str]) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    texts = [row for row in rows if isinstance(row, str)] if isinstance(rows, list) else []
    shares, unknown = debate_points.shared(texts, points)
    return shares, tuple(dict.fromkeys(safe_words(name, NUMBER_LIMIT) for name in unknown))


def _judges(rows: object, others: Sequence[int]) -> tuple[int, ...]:
    named = [row for row in rows if type(row) is int] if isinstance(rows, list) else []
    return tuple(sorted({number for number in named if number in others}))


def _filled(*values: object) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)


def _short(name: str) -> str:
    return f"'{visible(name)[:60]}'"
