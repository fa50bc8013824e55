"""A goal's whole record as one value, for the renderers."""

from __future__ import annotations

from flow.core.decision.details import RowDetails
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    Document = Mapping[str, Any]


class ReportedResult(NamedTuple):
    """One criterion's result at one turn. ``row`` is as in a verdict's ``criterion_results``."""

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
    """The kind of proof without a command; empty if a command proves it."""
    now: Document
    """The criterion's row in ``flow goal status --json``."""
    results: tuple[ReportedResult, ...] = ()


class ReportedTurn(NamedTuple):
    """One evaluation that was counted."""

    number: int
    at: str
    verdict: str
    answer: str = ""
    """The answer to the agent's stop; empty if no stop asked for the evaluation."""
    outside: tuple[str, ...] = ()
    """The files outside the goal's paths."""
    seconds: float | None = None
    """Seconds that its commands and judges took together; None if unknown."""
    files_known: bool = True
    """Whether git could list the changed files."""
    amended: bool = False
    """The contract was amended since the turn before."""


class RecordChain(NamedTuple):
    """State of a run's hash chain: head, number of entries, faults."""

    head: str = ""
    entries: int = 0
    faults: tuple[str, ...] = ()
    """Findings that break the chain, in words."""
    signers: tuple[str, ...] = ()
    """Names of the signers; only an exported bundle is signed."""


class OpinionDimension(NamedTuple):
    """A part of the text that a judge scored, with its reason."""

    name: str
    score: float
    needed: float | None = None
    passed: bool | None = None
    weight: float | None = None
    mean: float | None = None
    """The mean of earlier ones; None if there are none."""
    why: str = ""
    quotes: tuple[str, ...] = ()


class OpinionVoice(NamedTuple):
    """The opinion of one of several judges. ``scores`` are by the name of the scored part."""

    judge: str
    verdict: str
    figure: str = ""
    reason: str = ""
    scores: Mapping[str, float] = {}


class ReportedOpinion(NamedTuple):
    """The newest opinion of judges about a criterion, and its origin."""

    criterion_id: str
    turn: int
    way: str
    """``ballots``, ``rubric``, ``scorecard`` or ``debate``."""
    about: str
    """The rubric, the skill or the kind; empty if there is none."""
    figure: str
    highest: float
    """The best figure there could be: 1, 5 or 10."""
    needed: float | None
    reason: str
    evidence_id: str
    dimensions: tuple[OpinionDimension, ...] = ()
    voices: tuple[OpinionVoice, ...] = ()
    past: tuple[tuple[str, float], ...] = ()
    """(Time or turn, figure) of each opinion, oldest first."""
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
    """Name of the checkout in the overview."""
    folder: str
    """Folder of the cards, relative to the checkout's top level."""
    opinion: ReportedOpinion
    """The newest card; ``past`` are the composites of all that its line shows."""
    cards: tuple[ReportedCard, ...]
    """The newest first."""
    grade: str
    meaning: str
    """The grade in words."""
    mean: tuple[int, float] | None
    """Number of cards before the newest, five at most, and the mean of their composites."""
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
    """A debate as its judges' report files show it."""

    place: str
    """Name of the checkout in the overview."""
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
    """Findings that prevent a consensus; empty if there is one."""
    voices: tuple[DebateVoice, ...]
    strengths: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Each with the judges that hold it."""
    weaknesses: tuple[tuple[str, tuple[int, ...]], ...] = ()
    notes: tuple[str, ...] = ()


class GoalReport(NamedTuple):
    """The record of one goal, as a report shows it."""

    status: Document
    """The document that ``flow goal status --json`` prints."""
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
    """The version of Flow that wrote the report."""
    bundle: str = ""
    """Name of the exported file that was read; empty for a repository."""

    @property
    def goal_id(self) -> str:
        """The goal's id."""
        return str(self.status["goal_id"])
