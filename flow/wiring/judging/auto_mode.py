"""Auto mode with the real parts: settings, transcripts, a detached process, the user's memory."""

from __future__ import annotations

import os

from flow.adapters.fs.crash import report
from flow.adapters.process.detached import start_detached
from flow.adapters.transcripts import reader
from flow.adapters.transcripts.settling import wait_until_still
from flow.adapters.user_state.auto_judge import AutoJudgeMemory
from flow.adapters.user_state.settings import judge_config
from flow.app.judging import auto_mode
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.judging.auto_mode import EndedRuns, Stop
    from flow.core.transcript.model import Transcript
    from flow.errors import FlowError

MOST_SECONDS = 3600
"""Seconds after which the process that scores is ended in any case."""


def on_stop(stop: Stop, *, cwd: str, environ: Mapping[str, str]) -> str:
    """Start scoring in a process of its own; return the news for the user, "" for none.

    Raises :class:`FlowError` if the folder is in no repository or the state folder is unusable.
    """
    return auto_mode.on_stop(AutoMode(Context(cwd, environ)), stop)


class AutoMode:
    """A checkout as :class:`~flow.app.judging.auto_mode.AutoModePort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def faults(self) -> tuple[str, ...]:
        legacy = judge_config(self._context.top)
        return (*self._context.be_lenient(), *([legacy] if isinstance(legacy, str) else ()))

    def setting(self) -> bool:
        return self._context.settings.settings.auto_judge

    def memory(self) -> AutoJudgeMemory:
        return AutoJudgeMemory(self._context.state_dir, self._context.top)

    def unique(self) -> str:
        return os.urandom(8).hex()

    def detached(self, work: Callable[[], None]) -> None:
        start_detached(work, seconds=MOST_SECONDS)

    def ended_runs(self, stop: Stop, settled: Callable[[str], int | None]) -> EndedRuns | None:
        """Of a session seen first those of the last turn."""
        if stop.transcript is not None:
            wait_until_still(stop.transcript)
        name = stop.transcript or stop.session
        cwd, home, environ = self._context.top, self._context.home, self._context.environ
        return reader.ended_runs(name, settled, cwd=cwd, home=home, environ=environ)

    def scored(self, transcript: Transcript) -> str:
        from flow.app.judging.scoring import ScoreRequest, score_and_store
        from flow.render import scorecard  # a stop that scores nothing needs none of them
        from flow.wiring.judging.scorecards import Scoring

        request = ScoreRequest(skill=transcript.skill, transcript=transcript, once=True)
        card = score_and_store(Scoring(self._context.top, self._context.environ), request)
        return scorecard.stored_news(card.document, card.file or "")

    def crashed(self, error: BaseException) -> FlowError:
        return report(error, self._context.environ)
