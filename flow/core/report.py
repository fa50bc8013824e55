"""A goal's whole record as one value, for whatever renders it."""

from __future__ import annotations

from flow.core.decision.details import RowDetails
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    Document = Mapping[str, Any]


class ReportedResult(NamedTuple):
    """What a criterion came to at one turn. ``row`` is as in a verdict's ``criterion_results``."""

    turn: int
    row: Document
    details: RowDetails = RowDetails()
    evidence_id: str = ""
    at: str = ""


class ReportedCriterion(NamedTuple):
    """A criterion of the contract as it is now, and all its results, oldest first."""

    id: str
    text: str
    required: bool
    command: str
    way: str
    """How it is proved without a command; empty where a command proves it."""
    now: Document
    """Its row in ``status``."""
    results: tuple[ReportedResult, ...] = ()


class ReportedTurn(NamedTuple):
    """One evaluation that was counted."""

    number: int
    at: str
    verdict: str
    answer: str = ""
    """What the stop of an agent came to; empty where no stop asked for it."""
    outside: tuple[str, ...] = ()
    """The files outside the goal's paths."""
    seconds: float | None = None
    """How long its commands and judges took together; None where nothing says so."""
    looked: bool = True
    """Whether git could say what is changed."""
    amended: bool = False
    """The contract was amended since the turn before."""


class RecordChain(NamedTuple):
    """How a run's record stands to its hash chain."""

    head: str = ""
    entries: int = 0
    faults: tuple[str, ...] = ()
    """What breaks it, in words."""
    signers: tuple[str, ...] = ()
    """Who signed it; only an exported bundle is signed."""


class OpinionDimension(NamedTuple):
    """A part of what a judge scored, and why."""

    name: str
    score: float
    needed: float | None = None
    passed: bool | None = None
    weight: float | None = None
    mean: float | None = None
    """The mean of earlier ones; None where there are none."""
    why: str = ""
    quotes: tuple[str, ...] = ()


class OpinionVoice(NamedTuple):
    """What one of several judges said. ``scores`` are by the name of what was scored."""

    judge: str
    verdict: str
    figure: str = ""
    reason: str = ""
    scores: Mapping[str, float] = {}


class ReportedOpinion(NamedTuple):
    """The newest opinion of judges about a criterion, and how it came there."""

    criterion_id: str
    turn: int
    way: str
    """``ballots``, ``rubric``, ``scorecard`` or ``debate``."""
    about: str
    """The rubric, the skill or the kind; empty where there is none."""
    figure: str
    highest: float
    """The best figure there could be: 1, 5 or 10."""
    needed: float | None
    reason: str
    evidence_id: str
    dimensions: tuple[OpinionDimension, ...] = ()
    voices: tuple[OpinionVoice, ...] = ()
    past: tuple[tuple[str, float], ...] = ()
    """When or at which turn, and the figure; oldest first."""
    notes: tuple[str, ...] = ()


class ReportedCard(NamedTuple):
    """One stored scorecard in the list of its skill's."""

    file: str
    at: str
    composite: float
    grade: str


class ReportedScores(NamedTuple):
    """The scorecards of one skill in one checkout."""

    skill: str
    place: str
    """The checkout, as the overview calls it."""
    folder: str
    """Where the cards lie, below the checkout's top level."""
    opinion: ReportedOpinion
    """The newest card; ``past`` are the composites of all that its line shows."""
    cards: tuple[ReportedCard, ...]
    """The newest first."""
    grade: str
    meaning: str
    """What the grade is called."""
    mean: tuple[int, float] | None
    """How many cards were before the newest, five at most, and the mean of their composites."""
    critical: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    older: int = 0
    """Cards that are not in the list."""


class ReportedRevision(NamedTuple):
    """A score that a judge changed in a debate. Without ``quotes`` it is conformity."""

    criterion: str
    before: float
    after: float
    reason: str
    quotes: tuple[str, ...]


class DebateVoice(NamedTuple):
    """One judge of a debate, from its first ballot, given alone, to its last one."""

    judge: int
    file: str
    first: Mapping[str, float]
    last: Mapping[str, float]
    first_overall: float
    overall: float
    first_recommendation: str
    recommendation: str
    revisions: tuple[ReportedRevision, ...] = ()


class ReportedDebate(NamedTuple):
    """A debate as its judges' report files have it."""

    place: str
    """The checkout, as the overview calls it."""
    day: str
    task: str
    solution: tuple[str, ...]
    criteria: tuple[tuple[str, str, float], ...]
    """Name, weight in per cent, and the mean of the last scores."""
    overall: float
    """The mean of the judges' last overall scores, from 1 to 5."""
    consensus: bool
    recommendation: str
    """The median of the judges'."""
    rounds: int
    spread_before: float
    spread: float
    apart: tuple[str, ...]
    """What keeps them from a consensus; empty where there is one."""
    voices: tuple[DebateVoice, ...]
    strengths: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Each with the judges that hold it."""
    weaknesses: tuple[tuple[str, tuple[int, ...]], ...] = ()
    notes: tuple[str, ...] = ()


class GoalReport(NamedTuple):
    """What the record of one goal shows."""

    status: Document
    """As ``flow goal status --json`` prints it."""
    contract: Document
    """The goal's file as read."""
    verdict: Document | None
    criteria: tuple[ReportedCriterion, ...]
    turns: tuple[ReportedTurn, ...]
    events: tuple[Document, ...]
    evidence: tuple[Document, ...]
    chain: RecordChain
    warnings: tuple[str, ...]
    opinions: tuple[ReportedOpinion, ...]
    version: str
    """The Flow that wrote the report."""
    bundle: str = ""
    """The name of the exported file that it was read from; empty for a repository."""

    @property
    def goal_id(self) -> str:
        """The goal's id."""
        return str(self.status["goal_id"])
