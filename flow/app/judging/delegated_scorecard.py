"""A goal's criterion that is judged by a scorecard (SPEC 9.3)."""

from __future__ import annotations

from decimal import Decimal
from posixpath import normpath

from flow.app.judging.gathering import denied_context, journals
from flow.app.judging.port import AskJudge, NoAnswer
from flow.app.judging.scoring import ScoredCard, ScoreRequest
from flow.core import instant
from flow.core.boundary.globs import Globs, path_bytes
from flow.core.goal import ids
from flow.core.judging.goal.delegated import DelegatedOpinion, DelegatedScorecard, undecided
from flow.core.judging.scorecard import model as scorecard_model
from flow.core.judging.scorecard.card import unsupported
from flow.core.judging.scorecard.history import skill_name
from flow.errors import InputError
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.values import JudgeCase
    from flow.core.goal.model import Criterion
    from flow.core.transcript.model import Transcript


class ScorecardPort(Protocol):
    """Interface of a judgement by a scorecard to the checkout."""

    @property
    def journal_dir(self) -> str:
        """The folder of the decision journal, by the settings."""

    def rubric_source(self, name: str) -> str:
        """Origin of the rubric of this name: ``project``, ``flow`` or ``file``."""

    def newest_execution(self, skill: str | None) -> Transcript:
        """The newest run of the skill in this folder's sessions."""

    def saved_execution(self, path: str, skill: str | None) -> Transcript | None:
        """The transcript at a path below the top level, reached through no link; None: no file."""

    def score(self, request: ScoreRequest) -> ScoredCard:
        """Score an execution and store its card."""


def judge_by_scorecard(
    port: ScorecardPort,
    judge: AskJudge | NoAnswer,
    case: JudgeCase,
    criterion: Criterion,
    request: DelegatedScorecard,
) -> DelegatedOpinion:
    """The opinion that the card of the execution gives of the criterion; the card is stored."""
    if isinstance(judge, NoAnswer):
        why = f"{judge.usage.backend} cannot be asked: {judge.reason}"
        return undecided(criterion, request, why)
    refusal = _refusal(port, case, request)
    if refusal:
        return undecided(criterion, request, refusal)
    transcript = _transcript(port, request)
    why = _why_older(case, request, transcript)
    if why:
        return undecided(criterion, request, why)
    score_request = ScoreRequest(
        skill=request.skill,
        transcript=transcript,
        rubric=request.rubric,
        backend=judge,
        folder=case.facts.baseline.scores_dir.strip("/") or None,
        own_rubrics=request.rubric is not None,
    )
    card = port.score(score_request)
    return _graded_card(criterion, request, card, unsupported(card.document), judge.name)


def _graded_card(
    criterion: Criterion,
    request: DelegatedScorecard,
    card: ScoredCard,
    doubted: Sequence[str],
    judge: str,
) -> DelegatedOpinion:
    document = card.document
    grade = str(document["grade"])
    names = [name for name, _, _ in scorecard_model.GRADES]
    passed = names.index(grade) <= names.index(request.min_grade)
    weights = {name: str(row["weight"]) for name, row in document["dimensions"].items()}
    graded = f"grade {grade} ({document['composite']:.2f}) of {document['skill']}"
    reason = f"scorecard: {graded}, {'at least' if passed else 'below'} {request.min_grade}"
    if doubted:
        reason += f"; {', '.join(doubted)} without evidence in the transcript"
    return DelegatedOpinion(
        criterion.id,
        "scorecard",
        "pass" if passed else "fail",
        reason,
        confidence=_grounded_weight(weights, doubted) if passed else 1.0,
        hint="" if passed else "; ".join(document["recommendations"]),
        document={
            "card": card.file,
            "skill": document["skill"],
            "grade": grade,
            "min_grade": request.min_grade,
            "composite": document["composite"],
            "rubric": document["rubricUsed"],
            "critical_issues": list(document["criticalIssues"]),
            "cost_usd": document["judge"]["costUsd"],
        },
        remarks=card.warnings,
        judges=(judge,),
    )


def _refusal(port: ScorecardPort, case: JudgeCase, request: DelegatedScorecard) -> str:
    """Why a contract may not ask for this."""
    if request.rubric is not None:
        if not ids.RUBRIC_NAME.fits(request.rubric):
            return "a contract names a rubric of scorecards by its name, not by a path"
        if port.rubric_source(request.rubric) == "file":
            return f"{request.rubric} is neither the project's rubric nor one of Flow's"
    if request.file is None:
        return ""
    denied, _ = denied_context(case.facts.loaded.goal)
    name = normpath(request.file)
    withheld = Globs((*denied, *journals(case, port.journal_dir)), anchored=False)
    if withheld.first(path_bytes(name)) is not None:
        return "denied_context keeps its transcript from judges"
    if name.partition("/")[0] in (".flow", ".git"):
        return "its transcript lies in a folder of Flow's or git's own"
    return ""


def _transcript(port: ScorecardPort, request: DelegatedScorecard) -> Transcript:
    """The execution; a file is read without following symlinks out of what the contract names."""
    skill = None if request.skill is None else skill_name(request.skill)
    if request.file is None:
        return port.newest_execution(skill)
    transcript = port.saved_execution(normpath(request.file), skill)
    if transcript is None:
        raise InputError("its transcript is not there", remedy=f"write {request.file}")
    return transcript


def _why_older(case: JudgeCase, request: DelegatedScorecard, transcript: Transcript) -> str:
    """Why the execution says nothing about this goal: it is from before it."""
    if request.file is not None:
        return ""
    created = case.facts.loaded.goal.created_at
    began = transcript.started_at
    if began is None:
        return "when the newest run began is not known, so it may be from before the goal"
    try:
        before = instant.seconds(began) + instant.SKEW < instant.seconds(created)
    except (ValueError, IndexError):
        return "when the newest run began cannot be told, so it may be from before the goal"
    if before:
        return f"the newest run began at {began}, before the goal was made; run the skill again"
    return ""


def _grounded_weight(weights: Mapping[str, str], without: Sequence[str]) -> float:
    """The weight of the dimensions that rest on evidence."""
    total = sum((Decimal(weight) for weight in weights.values()), Decimal(0))
    lost = sum((Decimal(weights[name]) for name in without), Decimal(0))
    return float((total - lost) / total)
