"""Scoring an execution with the real parts: transcript, rubric, judge, stored cards."""

from __future__ import annotations

import os
import time

from flow.adapters.fs import clock, inputs, locks
from flow.adapters.process.redaction import redacted_text
from flow.adapters.rubrics import score_files, scorecard_rubrics
from flow.adapters.transcripts import reader as transcripts
from flow.app.judging import scoring
from flow.app.judging.scorecard import ScorecardTools
from flow.app.judging.scoring import ScoredCard, ScoreRequest
from flow.core.judging.scorecard.history import skill_name
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.judging.context import JudgeChoice, random_nonce
from flow.wiring.parts import Parts

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from flow.app.judging.port import AskJudge
    from flow.app.judging.scoring import CardHistory, ChosenRubric
    from flow.core.settings import LoadedSettings
    from flow.core.transcript.model import Transcript

_DAY = 86_400
_RAW = 64 << 20
"""Bytes of a saved text."""


def score(
    request: ScoreRequest,
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    told: Callable[[str], None] = lambda _: None,
    made: Callable[[Mapping[str, Any]], None] = lambda _: None,
    loop: AbstractEventLoop | None = None,
) -> ScoredCard:
    """:func:`flow.app.judging.scoring.score`; ``loop`` is where a coroutine as judge runs."""
    return scoring.score_and_store(Scoring(cwd, environ, loop), request, told=told, made=made)


def scored(
    execution: str,
    skill: str | None,
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> str | None:
    """The file of the newest card of ``skill`` that speaks of this execution; None: not scored."""
    port = Scoring(cwd, environ)
    name = None if skill is None else skill_name(skill)
    return scoring.card_of(port, port.cards_folder(), name, execution)


def history(
    skill: str, *, cwd: str | None = None, environ: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The stored cards of a skill, oldest first, and the trend; as ``flow judge history`` does."""
    port = Scoring(cwd, environ)
    name, folder = skill_name(skill), port.cards_folder()
    cards = port.past_cards(folder, name, most=score_files.WHOLE)
    return scoring.history_document(name, folder, cards, port.settings.warnings)


def stored(
    skill: str, name: str, *, cwd: str | None = None, environ: Mapping[str, str] | None = None
) -> ScoredCard:
    """One stored card of ``skill``, whole; ``name`` is its file's, with ``.json`` or without.

    Raises :class:`InputError` where there is no such card of the skill.
    """
    port = Scoring(cwd, environ)
    folder = port.cards_folder()
    document, remarks = score_files.stored_card(port.top, folder, skill_name(skill), name)
    file = f"{folder}/{os.path.basename(name).removesuffix('.json')}.json"
    return ScoredCard(document, file, (*port.settings.warnings, *remarks))


class Scoring:
    """A checkout as :class:`~flow.app.judging.scoring.ScoringPort` sees it."""

    def __init__(
        self,
        cwd: str | None,
        environ: Mapping[str, str] | None,
        loop: AbstractEventLoop | None = None,
    ) -> None:
        self._parts = Parts(cwd, environ)
        self._cwd = cwd
        self._loop = loop
        self.top = self._parts.top

    @property
    def settings(self) -> LoadedSettings:
        return self._parts.settings

    def cards_folder(self) -> str:
        return score_files.folder(self.top, self.settings)

    def transcript(self, request: ScoreRequest, skill: str | None) -> Transcript:
        if request.file is not None:
            return transcripts.read(request.file, skill)
        return transcripts.newest(
            skill,
            cwd=os.path.abspath(self._cwd or os.getcwd()),
            home=self._parts.home,
            environ=self._parts.environ,
            session=request.session,
        )

    def raw_text(self, transcript: Transcript) -> str:
        try:
            data = inputs.read(transcript.path, "--file", limit=_RAW)
        except FlowError:
            return ""
        return data.decode("utf-8", "replace")

    def rubric(self, skill: str | None, asked: str | None, *, own: bool) -> ChosenRubric:
        return scorecard_rubrics.choose(skill, asked, self.top if own else None)

    def past_cards(
        self, folder: str, skill: str, *, most: int | None = None, without: str | None = None
    ) -> CardHistory:
        """A card from the future counts for a day: clocks are set back at times."""
        latest = time.strftime("%Y%m%d-%H%M%S", time.gmtime(time.time() + _DAY))
        return score_files.history(
            self.top,
            folder,
            skill,
            latest=latest,
            most=score_files.MOST_CARDS if most is None else most,
            without=without,
        )

    def judge(self, backend: Any) -> AskJudge:
        settings = self.settings.settings.judge
        return JudgeChoice(settings, self._parts.environ, self._loop).judge(backend)

    def tools(self, ask: AskJudge, told: Callable[[str], None]) -> ScorecardTools:
        return ScorecardTools(
            ask=ask,
            nonce=random_nonce,
            mask=lambda text: redacted_text(text, self._parts.environ),
            told=told,
            seconds=self.settings.settings.judge.timeout_seconds,
        )

    def publish(self, folder: str, card: Mapping[str, Any]) -> Mapping[str, Any]:
        return score_files.publish(self.top, folder, card, self._parts.own_record.file)

    def alone(self) -> AbstractContextManager[None]:
        return locks.exclusive(self.top, score_files.LOCK)

    def now(self) -> str:
        return clock.now()
