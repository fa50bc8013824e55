"""Checking a judge's reply in a debate (SPEC 9.1): usable, or no answer."""

from __future__ import annotations

from functools import partial

from flow.core.judging.common.question import Unusable
from flow.core.judging.common.quotes import QuotableTexts, sort_quotes
from flow.core.judging.common.reply import Mark, are_texts, first_faults, read_mark, read_marks
from flow.core.judging.debate import points as debate_points
from flow.core.judging.debate.model import RECOMMENDATIONS, SCALE, Position
from flow.core.judging.debate.prompt import QUESTIONS, Others
from flow.core.text.display import clip, visible
from flow.startup.json import items_of, rows_of, texts_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
"""Characters that are kept of a supposed point's number."""
MOST_DISAGREEMENTS = 50


class Answered(NamedTuple):
    """A question that a judge asked itself, and its answer."""

    question: str
    answer: str


class Dispute(NamedTuple):
    """A judge's words about another judge's score."""

    judge: int
    criterion: str
    defense: str
    challenge: str


class DebateReply(NamedTuple):
    """A usable reply. Its texts are safe to show: one line each, capped."""

    position: Position
    verification: tuple[Answered, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    shares: tuple[Point, ...] = ()
    """Points of others that it shares."""
    unknown_points: tuple[str, ...] = ()
    """Numbers that it gave and that no other judge's point has."""
    agrees_with: tuple[int, ...] = ()


def read_reply(
    criteria: Sequence[DebateCriterion],
    judge: int,
    value: Mapping[str, Any],
    quotable: Sequence[str],
    others: Others = Others(),  # noqa: B008
    *,
    verified: bool = False,
) -> DebateReply | Unusable:
    """The reply of judge number ``judge``.

    ``quotable`` is the solution as the judge saw it: quotes that do not occur there are discounted.
    A usable reply scores each of ``criteria`` exactly once and no other, from 1 to 5, each with
    evidence and a justification; it has strengths, weaknesses, one of the recommendations and a
    plain yes or no to the consensus. If the judge had to check its draft (``verified``), it also
    has the required number of verification questions with answers.
    """
    wanted = [criterion.name for criterion in criteria]
    rows, faults = value.get("criteria"), ["it has no list of criteria"]
    marks: dict[str, Mark] = {}
    if isinstance(rows, list):
        read = partial(_mark, solution=QuotableTexts(quotable))
        marks, faults = read_marks(rows, wanted, read, verb="score", whole="this debate")
    answers = _verification(value.get("verification"))
    faults += _faults(value)
    if verified and len(answers) < QUESTIONS:
        faults.append(f"it answers {len(answers)} of {QUESTIONS} verification questions")
    if faults:
        return Unusable(first_faults(faults))
    position = Position(
        judge,
        tuple(marks[name] for name in wanted),
        _points(value["strengths"]),
        _points(value["weaknesses"]),
        value["recommendation"],
        value["accepts_consensus"],
    )
    shares, unknown = _shares(value.get("shares"), others.points)
    return DebateReply(
        position,
        answers,
        _disputes(value.get("disagreements"), judge, wanted),
        shares,
        unknown,
        _judges(value.get("agrees_with"), others.judges),
    )


def _faults(value: Mapping[str, Any]) -> Iterator[str]:
    """The faults of a reply outside its criteria and its verification."""
    for key in ("strengths", "weaknesses"):
        if not are_texts(value.get(key)):
            yield f"its {key} are no list of texts"
    if value.get("recommendation") not in RECOMMENDATIONS:
        yield f"its recommendation is none of {', '.join(RECOMMENDATIONS)}"
    if not isinstance(value.get("accepts_consensus"), bool):
        yield "its accepts_consensus is neither true nor false"


def one_line(text: str, most: int) -> str:
    """A judge's words on one line, capped, with all invisible characters escaped."""
    return clip(visible(" ".join(text[: most * 4].split())), most)


def _mark(name: str, row: Mapping[str, Any], solution: QuotableTexts) -> Mark | Unusable:
    raw = read_mark(row, SCALE, "justification")
    if isinstance(raw, Unusable):
        return raw
    given = [quote for quote in raw.quotes if quote.strip()][:MOST_QUOTES]
    quotes = sort_quotes(given, solution.contain)
    safe = (tuple(dict.fromkeys(one_line(text, QUOTE_LIMIT) for text in texts)) for texts in quotes)
    return Mark(name, raw.score, one_line(raw.words, TEXT_LIMIT), *safe)


def _points(texts: Sequence[str]) -> tuple[str, ...]:
    points = dict.fromkeys(one_line(text, POINT_LIMIT) for text in texts if text.strip())
    return tuple(points)[:MOST_POINTS]


def _verification(rows: object) -> tuple[Answered, ...]:
    """The judge's verification questions, each once with its first answer; () without a list."""
    answers: dict[str, Answered] = {}
    for row in rows_of(rows):
        if _filled(row.get("question"), row.get("answer")):
            asked, answer = (one_line(row[key], TEXT_LIMIT) for key in ("question", "answer"))
            answers.setdefault(asked.casefold(), Answered(asked, answer))
    return tuple(answers.values())[: 2 * QUESTIONS]


def _disputes(rows: object, judge: int, wanted: Sequence[str]) -> tuple[Dispute, ...]:
    disputes = []
    for row in rows_of(rows):
        if not _filled(row.get("defense"), row.get("challenge")):
            continue
        other, criterion = row.get("judge"), row.get("criterion")
        if type(other) is int and other != judge and other > 0 and criterion in wanted:
            texts = (one_line(row[key], TEXT_LIMIT) for key in ("defense", "challenge"))
            disputes.append(Dispute(other, str(criterion), *texts))
    return tuple(disputes[:MOST_DISAGREEMENTS])


def _shares(rows: object, points: Mapping[str, str]) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    shares, unknown = debate_points.shared(texts_of(rows), points)
    return shares, tuple(dict.fromkeys(one_line(name, NUMBER_LIMIT) for name in unknown))


def _judges(rows: object, others: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted({row for row in items_of(rows) if type(row) is int and row in others}))


def _filled(*values: object) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)
