"""Asking judges about a goal with the real parts: backends, files, people's labels, delegation."""

from __future__ import annotations

import os
from functools import partial

from flow.adapters.debates.reports import solution_name
from flow.adapters.fs import clock
from flow.adapters.judges import evidence_files
from flow.adapters.judges.given_judge import JudgeChoice, random_nonce
from flow.adapters.process.redaction import redacted_text
from flow.adapters.rubrics import scorecard_rubrics
from flow.adapters.rubrics.rubric_files import RubricFolder
from flow.adapters.transcripts import reader
from flow.app.evaluation.values import Listener
from flow.app.judging import goal as judging_goal
from flow.app.judging import labelling
from flow.app.judging.delegated import Delegate
from flow.app.judging.gathering import ContextSources, journals
from flow.app.judging.panel import backends, ballots_each, criterion_rubrics
from flow.app.judging.records import OpinionRecorder
from flow.app.judging.reviewing import first_ballot, review_case
from flow.app.judging.scoring import score_and_store
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__
from flow.wiring.judging.debates import DebatingContext
from flow.wiring.judging.scorecards import Scoring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.values import JudgeCase
    from flow.app.judging.changed_files import EvidenceFiles
    from flow.app.judging.debate_calls import DebateContextPort
    from flow.app.judging.reviewing import FirstBallot
    from flow.app.judging.scoring import ScoredCard, ScoreRequest
    from flow.core.decision.decide import NoOpinion, Opinion
    from flow.core.transcript.model import Transcript
    from flow.wiring.context import Context


def ask(
    context: Context,
    case: JudgeCase,
    listener: Listener,
    *,
    record: bool = True,
    samples: int | None = None,
) -> Opinion | NoOpinion:
    """Ask the judges that caller, goal and settings name; ``record`` keeps what they say."""
    return judging_goal.judge_goal(
        case, _tools(context, case, listener, record=record, samples=samples)
    )


def recall(context: Context, case: JudgeCase) -> Opinion | None:
    """The earlier opinion of these judges on the same files; no judge is called."""
    return judging_goal.recall_opinion(case, _tools(context, case, Listener(), record=False))


def shown(context: Context, case: JudgeCase) -> FirstBallot:
    """The prompt of the first ballot; no judge is called."""
    redact = partial(redacted_text, environ=context.environ)
    return first_ballot(case, _sources(context, case), random_nonce(), redact)


def review(context: Context, goal_id: str, judge_backend: str | None = None) -> JudgeCase:
    """A goal as a judge would find it now: the case of the next evaluation; nothing is run."""
    loaded, now = context.load(ids.goal_id(goal_id)), clock.now()
    case = review_case(context.closing_context(), loaded, version=__version__, now=now)
    facts = case.facts._replace(base_runs=context.base_runs(loaded.goal))
    request = case.request._replace(judge_backend=judge_backend)
    return case._replace(facts=facts, request=request)


def _tools(
    context: Context,
    case: JudgeCase,
    listener: Listener,
    *,
    record: bool,
    samples: int | None = None,
) -> judging_goal.JudgeTools:
    settings = context.settings.settings.judge
    goal, backend = case.facts.loaded.goal, case.request.judge_backend
    judges = JudgeChoice(settings, context.environ).panel(backends(goal, backend))
    panel = tuple(judges) * (samples or ballots_each(goal, backend, settings.samples))
    return judging_goal.JudgeTools(
        panel=panel,
        sources=_sources(context, case),
        recorder=OpinionRecorder(
            context.ledger, partial(evidence_files.stashed, context.top), clock.now
        )
        if record
        else None,
        nonce=random_nonce,
        monotonic=clock.monotonic,
        trusted=partial(labelling.may_propose, context, least=settings.min_kappa),
        settings=settings,
        listener=listener,
        rubrics=criterion_rubrics(goal, RubricFolder(context.top)),
        delegate=Delegate(Delegation(context), panel, listener, record),
    )


def _sources(context: Context, case: JudgeCase) -> ContextSources:
    settings = context.settings.settings
    return ContextSources(
        records=context.records,
        output=partial(evidence_files.output_ends, context.top, case.facts.run_id),
        files=partial(evidence_files.collect, context.top),
        journals=journals(case, settings.journal_dir),
        now=clock.now(),
        changed=partial(evidence_files.changed, context.top)
        if settings.judge.changed_files
        else None,
    )


class Delegation:
    """A checkout as :class:`~flow.app.judging.delegated.DelegationPort` sees it.

    And so as its bases, :class:`~flow.app.judging.delegated_scorecard.ScorecardPort` and
    :class:`~flow.app.judging.delegated_debate.DebatePort`.
    """

    monotonic = staticmethod(clock.monotonic)

    def __init__(self, context: Context) -> None:
        self._context = context
        self._top = context.top

    @property
    def journal_dir(self) -> str:
        return self._context.settings.settings.journal_dir

    def rubric_source(self, name: str) -> str:
        return scorecard_rubrics.choose(None, name, self._top).source

    def newest_execution(self, skill: str | None) -> Transcript:
        home, environ = self._context.home, self._context.environ
        return reader.newest(skill, cwd=self._top, home=home, environ=environ)

    def saved_execution(self, path: str, skill: str | None) -> Transcript | None:
        return reader.read_below(self._top, path, skill)

    def score(self, request: ScoreRequest) -> ScoredCard:
        return score_and_store(Scoring(self._top, self._context.environ), request)

    def solution_files(self, patterns: Sequence[str], denied: Sequence[str]) -> EvidenceFiles:
        return evidence_files.collect(self._top, patterns, denied)

    def solution_name(self, paths: Sequence[str]) -> str:
        return solution_name([os.path.join(self._top, path) for path in paths], self._top)

    def debate_context(self, reports_dir: str, seconds: float) -> DebateContextPort:
        context = DebatingContext(self._top, self._context.environ).context
        return context._replace(reports_dir=reports_dir, seconds=min(context.seconds, seconds))
