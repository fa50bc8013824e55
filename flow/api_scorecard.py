"""``scorecard`` and its values (SPEC 9.3): how well an execution of a skill or agent went.

>>> from flow import scorecard
>>> card = scorecard("commit", file="session.jsonl")
>>> card.composite, card.grade
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flow.app.judging import scoring
from flow.app.judging.scoring import ScoreRequest
from flow.core.judging.scorecard.card import unsupported
from flow.wiring.judging.scorecards import Scoring

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.judges.given_judge import Backend

__all__ = ["Scorecard", "ScoredDimension", "ascorecard", "scorecard", "scorecards"]


@dataclass(frozen=True)
class ScoredDimension:
    """One dimension: ``score`` from 1.0 to 10.0 in tenths, ``weight`` its share of the composite.

    ``evidence`` are the judge's quotes that occur in the transcript, ``discounted`` those that do
    not; ``unsupported`` is true if the justification rests on nothing there.
    """

    name: str
    score: float
    weight: float
    justification: str
    evidence: tuple[str, ...] = ()
    discounted: tuple[str, ...] = ()
    unsupported: bool = False


@dataclass(frozen=True)
class Scorecard:
    """Scores of one execution. ``file`` is the path of the stored card, None if it is not stored.

    ``composite`` is rounded half up to two decimals; ``grade`` is that of the exact composite,
    rounded half up to a tenth. ``warnings`` are about settings and stored cards.
    """

    skill: str
    timestamp: str
    dimensions: tuple[ScoredDimension, ...]
    composite: float
    grade: str
    critical_issues: tuple[str, ...]
    recommendations: tuple[str, ...]
    rubric: str
    transcript: str
    notes: tuple[str, ...]
    file: str | None
    warnings: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def unsupported(self) -> tuple[str, ...]:
        """The dimensions whose justifications rest on nothing in the transcript."""
        return tuple(unsupported(self.document))

    def to_document(self) -> dict[str, Any]:
        """The card as it is stored (``flow schema scorecard``)."""
        return dict(self.document)


def scorecard(
    skill: str | None = None,
    *,
    file: str | os.PathLike[str] | None = None,
    rubric: str | None = None,
    backend: Backend | None = None,
    samples: int | None = None,
    store: bool = True,
    cwd: str | None = None,
) -> Scorecard:
    """Score how well an execution of ``skill`` went, and store the card.

    ``file`` is its transcript (a session's JSONL, plain text, Markdown); without one, the newest
    run of the skill in the sessions of the folder ``cwd``. Without ``skill`` the transcript names
    it. ``rubric`` is a name or a path; without one, the skill decides. ``backend`` is
    ``BACKEND[:MODEL]``, a function from prompt to mapping, or an object like those of
    :mod:`flow.adapters.judges`; without one, the user's settings decide. ``samples`` (1 to 25)
    opinions become one by the median of each dimension.

    Raises :class:`~flow.errors.InputError` without a transcript, and :class:`NoUsableAnswer` if
    no judge is configured or no usable answer came: nothing is stored then.
    """
    return _score(ScoreRequest(skill, _path(file), rubric, backend, samples, store=store), cwd)


async def ascorecard(
    skill: str | None = None,
    *,
    file: str | os.PathLike[str] | None = None,
    rubric: str | None = None,
    backend: Backend | None = None,
    samples: int | None = None,
    store: bool = True,
    cwd: str | None = None,
) -> Scorecard:
    """:func:`scorecard` for asynchronous code; a coroutine function as backend runs on its loop.

    Cancelling stops the waiting; a question that is out already is ended by its time limit.
    """
    request = ScoreRequest(skill, _path(file), rubric, backend, samples, store=store)
    loop = asyncio.get_running_loop()
    return await asyncio.to_thread(_score, request, cwd, loop)


def scorecards(skill: str, *, cwd: str | None = None) -> dict[str, Any]:
    """The stored cards of ``skill``, oldest first, with the change of each dimension.

    As ``flow judge history SKILL --json`` prints it.
    """
    return scoring.skill_history(Scoring(cwd), skill)


def _path(file: str | os.PathLike[str] | None) -> str | None:
    return None if file is None else os.fsdecode(file)


def _score(
    request: ScoreRequest, cwd: str | None, loop: asyncio.AbstractEventLoop | None = None
) -> Scorecard:
    card = scoring.score_and_store(Scoring(cwd, loop=loop), request)
    scored = card.document
    dimensions = tuple(
        ScoredDimension(
            name,
            row["score"],
            row["weight"],
            row["justification"],
            tuple(row["evidence"]),
            tuple(row.get("discounted", ())),
            bool(row.get("unsupported")),
        )
        for name, row in scored["dimensions"].items()
    )
    return Scorecard(
        skill=scored["skill"],
        timestamp=scored["timestamp"],
        dimensions=dimensions,
        composite=scored["composite"],
        grade=scored["grade"],
        critical_issues=tuple(scored["criticalIssues"]),
        recommendations=tuple(scored["recommendations"]),
        rubric=scored["rubricUsed"],
        transcript=scored["transcriptPath"],
        notes=tuple(scored["notes"]),
        file=card.file,
        warnings=card.warnings,
        document=scored,
    )
