"""Scorecards and debates about a goal's criterion, with the real parts."""

from __future__ import annotations

import os

from flow.adapters.debates.reports import solution_name
from flow.adapters.fs import clock, files
from flow.adapters.judges import evidence_files
from flow.adapters.rubrics import scorecard_rubrics
from flow.adapters.transcripts import reader
from flow.app.judging.scoring import score_and_store
from flow.errors import InputError
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.judging.debates import DebatingContext
from flow.wiring.judging.scorecards import Scoring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.judging.changed_files import EvidenceFiles
    from flow.app.judging.debate_calls import DebatePlace
    from flow.app.judging.scoring import ScoredCard, ScoreRequest
    from flow.core.transcript.model import Transcript
    from flow.wiring.context import Context


class Delegation:
    """A checkout as :class:`~flow.app.judging.delegated.DelegationPort` sees it."""

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
        fd = files.open_regular(self._top, path)
        if fd is None:
            return None
        with os.fdopen(fd, "rb") as file:
            if os.fstat(file.fileno()).st_nlink > 1:
                why = "its transcript has several hard links, so it may be another file"
                raise InputError(why)
        return reader.read(os.path.join(self._top, path), skill)

    def score(self, request: ScoreRequest) -> ScoredCard:
        return score_and_store(Scoring(self._top, self._context.environ), request)

    def solution_files(self, patterns: Sequence[str], denied: Sequence[str]) -> EvidenceFiles:
        return evidence_files.collect(self._top, patterns, denied)

    def solution_name(self, paths: Sequence[str]) -> str:
        return solution_name([os.path.join(self._top, path) for path in paths], self._top)

    def debate_place(self, reports_dir: str, seconds: float) -> DebatePlace:
        place = DebatingContext(self._top, self._context.environ).place
        return place._replace(reports_dir=reports_dir, seconds=min(place.seconds, seconds))
