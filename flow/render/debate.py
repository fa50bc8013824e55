"""Progress of a debate: one line for each event."""

from __future__ import annotations

from flow.core.judging.debate.model import OVERALL_LIMIT, Agreement
from flow.core.text.display import clip, names, visible
from flow.core.text.numbers import apart
from flow.render.progress import write
from flow.render.screen import Screen, took
from flow.startup.typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable


REASON = 200
"""Characters of a reason that a line shows."""


class Progress:
    """A :class:`flow.app.judging.debate.Watcher` that writes each line to ``stream`` at once."""

    def __init__(self, stream: TextIO, now: Callable[[], float], screen: Screen) -> None:
        """``now`` returns monotonic seconds; ``screen`` describes ``stream``."""
        self._stream, self._now, self._screen = stream, now, screen
        self._since: dict[int, float] = {}

    def asking(self, judge: int, name: str, what: str, seconds: float) -> None:
        """Show that a judge is being asked."""
        self._since.setdefault(judge, self._now())
        most = took(seconds)
        self._say(f"  judge {judge}  {what}: asks {visible(name)} (at most {most})")

    def wrote(self, judge: int, what: str, score: str) -> None:
        """Show a section of a judge's report that is on disk."""
        seconds = took(self._now() - self._since.pop(judge, self._now()))
        mark = self._screen.mark("proved")
        self._say(f"{mark} judge {judge}  {what}: {score}/5 ({seconds})")

    def silent(self, judge: int, what: str, why: str) -> None:
        """Show that a judge gave no usable answer."""
        self._since.pop(judge, None)
        reason = self._screen.plain(clip(visible(why), REASON))
        mark = self._screen.mark("undecided")
        self._say(f"{mark} judge {judge}  {what}: no usable answer: {reason}")

    def counted(self, rounds: int, agreement: Agreement) -> None:
        """Show the agreement after all judges have answered."""
        after = "before any debate" if rounds == 0 else f"after debate {rounds}"
        if agreement.reached:
            self._say(f"consensus {after}, {apart(agreement.overall, OVERALL_LIMIT)} apart")
            return
        why = [f"{apart(agreement.overall, OVERALL_LIMIT)} apart overall"]
        why += [f"apart on {names(agreement.apart)}"] if agreement.apart else []
        refusing = ", ".join(f"judge {number}" for number in agreement.refusing)
        why += [f"not accepted by {refusing}"] if refusing else []
        share = f"{int(agreement.support * 100)}%"
        why += [] if agreement.supported else [f"only {share} of the weight rests on true quotes"]
        self._say(f"no consensus {after}: {'; '.join(why)}")

    def _say(self, line: str) -> None:
        write(self._stream, line + "\n")
