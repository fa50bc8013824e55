"""The scorecards of a skill as one value, from its history and its newest card."""

from __future__ import annotations

from flow.app.report.opinions import PAST, card_dimensions
from flow.core.judging.scorecard import history
from flow.core.judging.scorecard.model import grade_name
from flow.core.report import ReportedCard, ReportedOpinion, ReportedScores
from flow.startup.json import items_of, object_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.judging.scoring import CardHistory

SHOWN = 30
"""The newest cards that a page lists."""


def skill_scores(
    place: str, folder: str, skill: str, past: CardHistory, newest: Mapping[str, Any]
) -> ReportedScores:
    """A skill's scores as a report shows them; ``newest`` is the first card of ``past``, whole."""
    first = past.cards[0]
    mean = history.mean(past.cards[1:])
    means = {} if mean is None else {name: float(score) for name, score in mean.scores.items()}
    dimensions = [
        row._replace(name=row.name.capitalize()) for row in card_dimensions(newest, means)
    ]
    line = [(card.timestamp[:10], float(card.composite)) for card in reversed(past.cards[:PAST])]
    cards = [
        ReportedCard(card.file, card.timestamp, float(card.composite), card.grade)
        for card in past.cards[:SHOWN]
    ]
    return ReportedScores(
        skill,
        place,
        folder,
        ReportedOpinion(
            "",
            0,
            "scorecard",
            skill,
            f"{first.composite}",
            10.0,
            None,
            "",
            "",
            tuple(dimensions),
            past=tuple(line),
        ),
        tuple(cards),
        grade=first.grade,
        meaning=grade_name(first.grade),
        mean=None if mean is None else (mean.cards, float(mean.composite)),
        critical=_texts(newest.get("criticalIssues")),
        advice=_texts(newest.get("recommendations")),
        facts=tuple(_facts(newest)),
        notes=(*_texts(newest.get("notes")), *past.warnings),
        older=past.older + max(len(past.cards) - SHOWN, 0),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, items_of(value)[:SHOWN]))


def _facts(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Judge, model, rubric and source of the card, as far as the card names them."""
    told = object_of(card.get("judge"))
    name, model = told.get("name"), told.get("model")
    who = f"{name}, {model}" if name and model and model not in str(name) else name or model
    usable, asked = told.get("ballots"), told.get("ballotsAsked")
    ballots = f"{usable} of {asked} asked; each score is their median" if usable and asked else ""
    rows = (
        ("Scored at", card.get("timestamp")),
        ("Judge", who),
        ("Ballots", ballots),
        ("Rubric", card.get("rubricUsed")),
        ("Why that one", card.get("rubricWhy")),
        ("Transcript", card.get("transcriptPath")),
        ("Execution", card.get("execution")),
    )
    return [(label, str(value)) for label, value in rows if value]
