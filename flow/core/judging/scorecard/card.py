"""The card as a document: the seed's keys, and Flow's own (``flow schema scorecard``)."""

from __future__ import annotations

from flow.core.judging.scorecard.model import (
    COMPARED,
    DIMENSIONS,
    composite,
    critical,
    grade,
    recommendations,
    stored,
)
from flow.core.text.display import clip, names, visible
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.judging.scorecard.history import Mean
    from flow.core.judging.scorecard.model import CardBallot, CardMark

NOTES_SHOWN = 30
FOREIGN_LIMIT = 500
"""Characters of a text that is not the judge's: a path, a model's name, an execution."""


class CardFacts(NamedTuple):
    """The facts of a card besides the judge's scores."""

    skill: str
    timestamp: str
    rubric: str
    rubric_why: str
    rubric_source: str
    recognised: bool
    transcript_path: str
    execution: str
    started_at: str | None
    judge: Mapping[str, Any]
    """Name, model, tokens, cost and time, as far as the backend reports them."""
    mean: Mean | None
    left_out: int
    notes: Sequence[str]


def document(about: CardFacts, ballot: CardBallot) -> dict[str, Any]:
    """The card of ``ballot``."""
    marks = ballot.marks
    exact = composite({name: mark.score for name, mark in marks.items()})
    mean = about.mean
    return {
        "skill": about.skill,
        "timestamp": about.timestamp,
        "dimensions": {d.name: _dimension(marks[d.name], float(d.weight)) for d in DIMENSIONS},
        "composite": float(stored(exact)),
        "grade": grade(exact),
        "criticalIssues": list(critical(marks)),
        "recommendations": list(recommendations(ballot.recommendations, marks)),
        "rubricUsed": safe(about.rubric),
        "transcriptPath": visible(about.transcript_path),
        "rubricWhy": safe(about.rubric_why),
        "rubricSource": about.rubric_source,
        "skillRecognised": about.recognised,
        "execution": safe(about.execution),
        "startedAt": None if about.started_at is None else safe(about.started_at),
        "history": {
            "cards": 0 if mean is None else mean.cards,
            "meanComposite": None if mean is None else float(mean.composite),
        },
        "judge": {k: safe(v) if isinstance(v, str) else v for k, v in about.judge.items()},
        "transcriptBytesLeftOut": about.left_out,
        "notes": _notes(about, marks),
    }


def safe(text: str) -> str:
    """A foreign text for a card: one printable line, cut."""
    return clip(visible(text), FOREIGN_LIMIT)


def unsupported(card: Mapping[str, Any]) -> list[str]:
    """The dimensions of a card whose justifications have no support in the transcript."""
    return [name for name, row in card["dimensions"].items() if row.get("unsupported")]


def _dimension(mark: CardMark, weight: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "score": float(mark.score),
        "weight": weight,
        "justification": mark.justification,
        "evidence": list(mark.evidence),
    }
    if mark.discounted:
        row["discounted"] = list(mark.discounted)
    if mark.fault:
        row["unsupported"] = True
        row["unsupportedWhy"] = mark.fault
    return row


def _notes(about: CardFacts, marks: Mapping[str, CardMark]) -> list[str]:
    """Notes for the reader of this card, the most important first."""
    notes = []
    if not about.recognised:
        notes.append(f"Skill not recognised: {about.rubric} is used.")
    faults = [name for name, mark in marks.items() if mark.fault]
    if faults:
        notes.append(f"Not borne out by the transcript, after asking twice: {names(faults)}.")
    if about.mean is not None and about.mean.cards < COMPARED:
        count = about.mean.cards
        notes.append(f"Consistency is compared with {count} earlier card{'s' * (count > 1)} only.")
    if about.left_out:
        notes.append(f"{about.left_out} bytes of the transcript were not shown to the judge.")
    shown_notes = list(dict.fromkeys((*notes, *(safe(note) for note in about.notes))))
    more = len(shown_notes) - NOTES_SHOWN
    return shown_notes if more <= 0 else [*shown_notes[:NOTES_SHOWN], f"and {more} more notes"]
