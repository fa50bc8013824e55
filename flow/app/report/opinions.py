"""Judges' opinions on a goal's criteria, from the goal's evidence. Values only.

Scores and words are the judges'; those of a scorecard are in a file of the checkout beside the
record.
"""

from __future__ import annotations

from flow.app.verdict_details import number_of
from flow.core.decision.decide import CONFIDENCE_BAR
from flow.core.decision.details import judged_figures
from flow.core.report import OpinionDimension, OpinionVoice, ReportedOpinion, ReportedResult
from flow.startup.json import items_of, object_of, rows_of
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Criterion

    Document = Mapping[str, Any]

MOST = 12
"""Dimensions, judges or quotes of one opinion."""
PAST = 20
"""Figures of one history; the newest."""


class CardPort(Protocol):
    """The files of scorecards beside the record."""

    def card(self, path: str, skill: str) -> Document:
        """A scorecard; empty if it is not there, or is none."""

    def composites(self, skill: str) -> Sequence[tuple[str, float]]:
        """(when, composite) of a skill's cards, oldest first."""


class NoCards:
    """Source of cards without a checkout: it has none."""

    def card(self, path: str, skill: str) -> Document:  # noqa: ARG002 - as the port has it
        """Nothing."""
        return {}

    def composites(self, skill: str) -> Sequence[tuple[str, float]]:  # noqa: ARG002 - as above
        """Nothing."""
        return ()


def opinions_of(
    criteria: Sequence[Criterion],
    results: Mapping[str, Sequence[ReportedResult]],
    evidence: Sequence[Evidence],
    cards: CardPort,
) -> Iterator[ReportedOpinion]:
    """The newest opinion about each criterion that judges were asked about."""
    by_id = {e.id: e for e in evidence}
    for criterion in criteria:
        told = [
            (result, by_id[result.evidence_id])
            for result in results[criterion.id]
            if result.evidence_id in by_id and by_id[result.evidence_id].judgement
        ]
        if told:
            figures = [_past(criterion.id, result, e) for result, e in told]
            past = [(label, value) for label, value in figures if value is not None]
            newest, newest_evidence = told[-1]
            opinion = _opinion(criterion.id, newest, newest_evidence, by_id, cards)
            if not opinion.past and len(past) > 1:
                opinion = opinion._replace(past=tuple(past[-PAST:]))
            yield opinion


def _own(judgement: Document, key: str, criterion_id: str) -> Document:
    """The row of a criterion in one of the lists of a judgement."""
    rows = rows_of(judgement.get(key))
    own = (row for row in rows if criterion_id in (row.get("id"), row.get("criterion_id")))
    return next(own, {})


def _past(criterion_id: str, result: ReportedResult, e: Evidence) -> tuple[str, float | None]:
    """The figure of one turn: a rubric's score, a debate's, else the judge's confidence."""
    judgement = e.judgement
    rubric = _own(judgement, "rubrics", criterion_id)
    apart = _own(judgement, "apart", criterion_id)
    values = (rubric.get("score"), apart.get("composite"), apart.get("overall"))
    value = next((number for number in map(number_of, values) if number is not None), None)
    if value is None and not apart:
        value = number_of(judgement.get("confidence"))
    return f"turn {result.turn}", value


def _opinion(
    criterion_id: str,
    result: ReportedResult,
    evidence: Evidence,
    by_id: Mapping[str, Evidence],
    cards: CardPort,
) -> ReportedOpinion:
    judgement = evidence.judgement
    apart = _own(judgement, "apart", criterion_id)
    rubric = _own(judgement, "rubrics", criterion_id)
    voices = tuple(_ballots(judgement, criterion_id, by_id))[:MOST]
    if not rubric:
        rubric = next(
            (row for voice in _ballot_documents(judgement, by_id)
             if (row := _own(voice, "rubrics", criterion_id))),
            {},
        )  # fmt: skip
    plain = ReportedOpinion(
        criterion_id,
        result.turn,
        "ballots",
        "",
        judged_figures(criterion_id, judgement) or result.details.judged,
        1.0,
        CONFIDENCE_BAR,
        str(judgement.get("reason") or ""),
        evidence.id,
        voices=voices if len(voices) > 1 else (),
        notes=_texts(judgement.get("remarks")),
    )
    if apart.get("way") == "scorecard":
        return _scorecard(plain, apart, cards)
    if apart.get("way") == "debate":
        return _debate(plain, apart)
    if rubric:
        return _rubric(plain, rubric)
    return plain


def _rubric(plain: ReportedOpinion, rubric: Document) -> ReportedOpinion:
    dimensions = tuple(
        OpinionDimension(
            str(row.get("name")),
            number_of(row.get("score")) or 0.0,
            number_of(row.get("threshold")),
            row.get("passed") if isinstance(row.get("passed"), bool) else None,
            why=str(row.get("reasoning") or ""),
            quotes=_texts(row.get("evidence")),
        )
        for row in rows_of(rubric.get("criteria"))[:MOST]
    )
    return plain._replace(
        way="rubric",
        about=str(rubric.get("rubric") or rubric.get("name") or ""),
        needed=number_of(rubric.get("passing_threshold")),
        reason=str(rubric.get("reasoning") or plain.reason),
        dimensions=dimensions,
        notes=_texts(rubric.get("suggestions")),
    )


def _scorecard(plain: ReportedOpinion, apart: Document, cards: CardPort) -> ReportedOpinion:
    path, skill = str(apart.get("card") or ""), str(apart.get("skill") or "")
    card = cards.card(path, skill)
    return plain._replace(
        way="scorecard",
        about=skill,
        highest=10.0,
        needed=None,
        reason=str(apart.get("reason") or plain.reason),
        dimensions=card_dimensions(card, {}),
        past=tuple(cards.composites(skill))[-PAST:] if skill else (),
        notes=_texts(apart.get("critical_issues")) + _texts(card.get("recommendations")),
    )


CRITICAL = 5.0
"""Below this score a dimension is a critical issue (SPEC 9.3)."""


def card_dimensions(card: Document, means: Mapping[str, float]) -> tuple[OpinionDimension, ...]:
    """The dimensions of a scorecard; ``means`` are those of the cards before it, by name."""
    listed = [
        OpinionDimension(
            str(name),
            number_of(row.get("score")) or 0.0,
            passed=None if (number_of(row.get("score")) or 0.0) >= CRITICAL else False,
            weight=number_of(row.get("weight")),
            mean=means.get(name),
            why=str(row.get("justification") or ""),
            quotes=_texts(row.get("evidence")),
        )
        for name, row in object_of(card.get("dimensions")).items()
        if isinstance(row, dict)
    ]
    return tuple(listed[:MOST])


def _debate(plain: ReportedOpinion, apart: Document) -> ReportedOpinion:
    dimensions = tuple(
        OpinionDimension(str(name), number)
        for name, score in object_of(apart.get("scores")).items()
        if (number := number_of(score)) is not None
    )
    rounds, reports = apart.get("rounds"), _texts(apart.get("reports"))
    notes = [f"after {rounds} rounds"] if isinstance(rounds, int) and rounds else []
    notes += ["all judges accept it"] if apart.get("consensus") is True else []
    notes += [f"what each judge wrote: {path}" for path in reports]
    return plain._replace(
        way="debate",
        about=str(apart.get("mode") or ""),
        highest=5.0,
        needed=None,
        reason=str(apart.get("reason") or plain.reason),
        dimensions=dimensions[:MOST],
        notes=tuple(notes) + _texts(apart.get("remarks")),
    )


def _ballot_documents(judgement: Document, by_id: Mapping[str, Evidence]) -> Iterator[Document]:
    """The judgements in the sidecars of the ballots."""
    for path in items_of(object_of(judgement.get("ballots")).get("sidecars")):
        evidence = by_id.get(str(path).rpartition("/")[2].partition(".")[0])
        if evidence is not None:
            yield evidence.judgement


def _ballots(
    judgement: Document, criterion_id: str, by_id: Mapping[str, Evidence]
) -> Iterator[OpinionVoice]:
    for ballot in _ballot_documents(judgement, by_id):
        own = _own(ballot, "criteria", criterion_id)
        rubric = _own(ballot, "rubrics", criterion_id)
        none = ballot.get("no_answer")
        verdict = str(own.get("status") or ballot.get("verdict") or "")
        confidence = number_of(ballot.get("confidence"))
        yield OpinionVoice(
            str(ballot.get("judge") or ""),
            "no answer" if isinstance(none, dict) else verdict,
            "" if confidence is None else f"{confidence:g}",
            str((none if isinstance(none, dict) else ballot).get("reason") or ""),
            {
                str(row.get("name")): number
                for row in rows_of(rubric.get("criteria"))
                if (number := number_of(row.get("score"))) is not None
            },
        )


def _texts(value: object) -> tuple[str, ...]:
    """The texts of a list; nothing if it is none."""
    return tuple(map(str, items_of(value)[:MOST]))
