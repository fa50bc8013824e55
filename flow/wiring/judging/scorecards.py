"""Scoring an execution with the real parts: transcript, rubric, judge, stored cards."""

from __future__ import annotations

import os

from flow.adapters.fs import clock, locks
from flow.adapters.judges.given_judge import JudgeChoice, random_nonce
from flow.adapters.process.redaction import redacted_text
from flow.adapters.rubrics import score_files, scorecard_rubrics
from flow.adapters.transcripts import reader as transcripts
from flow.app.judging.scorecard import ScorecardTools
from flow.app.judging.scoring import MOST_CARDS
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.context import Context

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from flow.app.judging.port import AskJudge
    from flow.app.judging.scoring import CardHistory, ChosenRubric, ScoreRequest
    from flow.core.settings import LoadedSettings
    from flow.core.transcript.model import Transcript


class Scoring:
    """A checkout as :class:`~flow.app.judging.scoring.ScoringPort` sees it."""

    now = staticmethod(clock.now)

    def __init__(
        self,
        cwd: str | None = None,
        environ: Mapping[str, str] | None = None,
        loop: AbstractEventLoop | None = None,
    ) -> None:
        self._context = Context(cwd, environ)
        self._cwd = cwd
        self._loop = loop
        self.top = self._context.top

    @property
    def settings(self) -> LoadedSettings:
        return self._context.settings

    def cards_folder(self) -> str:
        return score_files.folder(self.top, self.settings)

    def transcript(self, request: ScoreRequest, skill: str | None) -> Transcript:
        if request.file is not None:
            return transcripts.read(request.file, skill)
        return transcripts.newest(
            skill,
            cwd=os.path.abspath(self._cwd or os.getcwd()),
            home=self._context.home,
            environ=self._context.environ,
            session=request.session,
        )

    def raw_text(self, transcript: Transcript) -> str:
        return transcripts.saved_text(transcript.path)

    def rubric(self, skill: str | None, named: str | None, *, own: bool) -> ChosenRubric:
        return scorecard_rubrics.choose(skill, named, self.top if own else None)

    def past_cards(
        self, folder: str, skill: str, *, most: int = MOST_CARDS, without: str | None = None
    ) -> CardHistory:
        return score_files.history(self.top, folder, skill, most=most, without=without)

    def stored_card(
        self, folder: str, skill: str, name: str
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        return score_files.stored_card(self.top, folder, skill, name)

    def judge(self, backend: Any) -> AskJudge:
        settings = self.settings.settings.judge
        return JudgeChoice(settings, self._context.environ, self._loop).judge(backend)

    def tools(self, ask: AskJudge, progress: Callable[[str], None]) -> ScorecardTools:
        return ScorecardTools(
            ask=ask,
            nonce=random_nonce,
            redact=lambda text: redacted_text(text, self._context.environ),
            progress=progress,
            seconds=self.settings.settings.judge.timeout_seconds,
        )

    def publish(self, folder: str, card: Mapping[str, Any]) -> Mapping[str, Any]:
        return score_files.publish(self.top, folder, card, self._context.own_record.file)

    def scoring_lock(self) -> AbstractContextManager[None]:
        return locks.exclusive(self.top, score_files.LOCK)
