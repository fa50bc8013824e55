"""Auto mode with the real parts: settings, transcripts, a detached process, the user's memory."""

from __future__ import annotations

import os
import shlex
import time

from flow.adapters.fs.crash import report
from flow.adapters.process.detached import start_detached
from flow.adapters.transcripts import reader
from flow.adapters.user_state.auto_judge import Memory
from flow.adapters.user_state.settings import judge_config
from flow.app.judging import auto_mode
from flow.app.judging.scoring import ScoreRequest
from flow.errors import FlowError, InputError
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.judging.auto_mode import EndedRuns, Stop
    from flow.core.transcript.model import Transcript

MOST_SECONDS = 3600
"""After so long the process that scores is ended, whatever it waits for."""
STILL_SECONDS = 0.6
LONGEST_STILL = 6.0
"""The host writes the end of its transcript around the time when it calls the hook: it has to have
been still for so long, and no longer than this is waited."""


def on_stop(stop: Stop, *, cwd: str, environ: Mapping[str, str]) -> str:
    """What the user is to be told, "" for nothing; scoring goes on in a process of its own.

    Raises :class:`FlowError` where the folder is in no repository or the state folder is unusable.
    """
    return auto_mode.on_stop(AutoMode(Parts(cwd, environ)), stop)


class AutoMode:
    """A checkout as :class:`~flow.app.judging.auto_mode.AutoModePort` sees it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def enabled(self) -> tuple[bool, tuple[str, ...]]:
        """A file that cannot be read might have said no, so nothing is sent to anybody then."""
        wrong = list(self._parts.be_lenient())
        said = judge_config(self._parts.top)
        if isinstance(said, str):
            wrong.append(said)
        return self._parts.settings.settings.auto_judge and not wrong, tuple(wrong)

    def memory(self) -> Memory:
        return Memory(self._parts.state_dir, self._parts.top)

    def unique(self) -> str:
        return os.urandom(8).hex()

    def detached(self, work: Callable[[], None]) -> None:
        start_detached(work, seconds=MOST_SECONDS)

    def ended_runs(self, stop: Stop, settled: Callable[[str], int | None]) -> EndedRuns | None:
        """Of a session seen first those of the last turn.

        Where the host names no session it is the newest one in which a skill ran.
        """
        if stop.transcript is not None:
            _wait_until_still(stop.transcript)
        name = stop.transcript or stop.session
        cwd, home, environ = self._parts.top, self._parts.home, self._parts.environ
        if name is None:
            try:
                name = reader.newest(None, cwd=cwd, home=home, environ=environ).path
            except InputError:
                return None  # no skill ran here
        return reader.ended_runs(name, settled, cwd=cwd, home=home, environ=environ)

    def scored(self, transcript: Transcript) -> str:
        from flow.render import scorecard  # a stop that scores nothing needs neither
        from flow.wiring.judging import scorecards

        request = ScoreRequest(skill=transcript.skill, transcript=transcript, once=True)
        card = scorecards.score(request, cwd=self._parts.top, environ=self._parts.environ)
        document = card.document
        lines = scorecard.box(document, lambda _style, text: text)
        name = os.path.basename(card.file or "")
        show = f"flow judge history {shlex.quote(document['skill'])} --card {name}"
        tail = [f"stored as {card.file}", f"whole: {show}"]
        return "\n".join([f"scorecard of {document['skill']}", *lines, *tail])

    def crashed(self, error: BaseException) -> FlowError:
        return report(error, self._parts.environ)


def _wait_until_still(path: str) -> None:
    deadline = time.monotonic() + LONGEST_STILL
    before, since = -1, time.monotonic()
    while time.monotonic() < deadline:
        try:
            size = os.stat(path).st_size
        except (OSError, ValueError):
            return
        if size != before:
            before, since = size, time.monotonic()
        elif time.monotonic() - since >= STILL_SECONDS:
            return
        time.sleep(0.1)
