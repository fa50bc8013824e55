"""Auto mode: score the skill runs that ended before a stop, in a detached process (SPEC 9.3).

The stop does not wait: the next one reports the card. The judge is the user's own choice
(``flow.goals.judge.backend`` counts from no checkout), so a checkout that turns auto mode on can
cause a question to that judge, and nothing else (ADR 21).
"""

from __future__ import annotations

from flow.core.text.display import clip, names, visible
from flow.errors import FlowError, LockTimeout, NoUsableAnswer, StateError, more_than
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from flow.core.transcript.model import Transcript

WAIT_SECONDS = 1800.0
"""Seconds to wait for another process that scores in the same checkout."""
MOST_SCORED = 5
"""Runs that one stop scores; the others are named."""
MOST_NAMED = 20
MOST_SHOWN = 6
"""Pieces of news in one message."""
MOST_TOLD = 9_000
"""Characters of one message: hosts cut longer ones."""


class Stop(NamedTuple):
    """A stop of an agent. ``transcript`` is the path that the host tells."""

    session: str | None
    transcript: str | None
    subagents: bool = False
    """Subagents are at work in the background: there will be another stop."""


class EndedRuns(NamedTuple):
    """The ended runs of one session, oldest first.

    ``settled`` is the number of the session's first run that has not ended, or of its next run.
    """

    path: str
    runs: tuple[Transcript, ...]
    settled: int


class AutoModeMemory(Protocol):
    """Memory of a checkout: executions that were tried, and news for the user."""

    def scoring_lock(self, seconds: float) -> AbstractContextManager[None]:
        """Hold the lock of the one that scores; :class:`LockTimeout` after ``seconds``."""

    def tried(self, execution: str) -> bool:
        """Whether this execution was scored, or tried in vain, before."""

    def settled(self, session: str) -> int | None:
        """Number of finished runs of a session, counted from its first; None if unknown."""

    def settle(self, session: str, number: int) -> None:
        """The first so many runs of the session are done with."""

    def begin(self, execution: str, skill: str) -> None:
        """This execution is being scored now."""

    def end(self, execution: str, news: str | None, *, once: str | None = None) -> None:
        """It was scored, or cannot be; ``news`` is for the user, a fault named ``once``."""

    def tell(self, news: str, *, once: str) -> None:
        """Keep news for the next stop, unless news with the same ``once`` was kept before."""

    def take_news(self) -> list[str]:
        """Return the news for the user, and forget it."""

    def given_up(self) -> list[str]:
        """The skills of executions whose scoring began and never ended."""


class AutoModePort(Protocol):
    """Interface of auto mode to the checkout."""

    def faults(self) -> tuple[str, ...]:
        """Faults of the files that could turn auto mode on or off."""

    def setting(self) -> bool:
        """Whether the readable files turn it on."""

    def memory(self) -> AutoModeMemory:
        """The memory of this checkout."""

    def unique(self) -> str:
        """A name that was never used."""

    def detached(self, work: Callable[[], None]) -> None:
        """Do ``work`` in a process of its own. Raises :class:`OSError`."""

    def ended_runs(self, stop: Stop, settled: Callable[[str], int | None]) -> EndedRuns | None:
        """The runs that have ended since the last stop; None if no skill ran."""

    def scored(self, transcript: Transcript) -> str:
        """Score an execution; the text of its card. Raises :class:`FlowError`."""

    def crashed(self, error: BaseException) -> FlowError:
        """An unexpected error as one to tell, with the log's path."""


def on_stop(port: AutoModePort, stop: Stop) -> str:
    """Start scoring in a process of its own; return the news for the user, "" for none.

    Raises :class:`FlowError` if the state folder is unusable.
    """
    faults = port.faults()
    on = port.setting() and not faults  # a file that cannot be read might have said no
    if not on and not faults:
        return ""
    memory = port.memory()
    for text in faults:
        memory.tell(f"autoJudge: {text}", once=text)
    if on:
        _look_after(port, memory)
    news = memory.take_news()
    if on and not stop.subagents:
        _start(port, memory, stop)
    elif on and stop.transcript is not None and memory.settled(stop.transcript) is None:
        memory.settle(stop.transcript, 0)  # what ends in this turn is not lost at the next stop
    shown = news[-MOST_SHOWN:]
    while len(shown) > 1 and sum(map(len, shown)) > MOST_TOLD:
        del shown[0]
    rest = more_than(len(news), "flow judge history SKILL", len(shown))
    return "\n".join([*shown, *rest])


def _look_after(port: AutoModePort, memory: AutoModeMemory) -> None:
    """Tell of a process that was ended before it was done."""
    try:
        with memory.scoring_lock(0):
            for skill in memory.given_up():
                memory.tell(
                    f"the run of {skill} was not scored: the process that did it was ended; "
                    f"by hand: flow judge scorecard {skill}",
                    once=f"given up {port.unique()}",
                )
    except LockTimeout:
        pass  # one is at work


def _start(port: AutoModePort, memory: AutoModeMemory, stop: Stop) -> None:
    def work() -> None:
        try:
            _score(port, memory, stop)
        except BaseException as error:  # noqa: BLE001 - nobody else will ever hear of it
            fault = error if isinstance(error, FlowError) else port.crashed(error)
            memory.tell(f"a run could not be scored: {_line(fault)}", once=_line(fault))

    try:
        port.detached(work)
    except OSError as error:
        memory.tell(f"no process could be started to score a run: {error.strerror}", once="fork")


def _score(port: AutoModePort, memory: AutoModeMemory, stop: Stop) -> None:
    """Score what ended in the session since its last stop and was not tried before, oldest first.

    More than ``MOST_SCORED`` are named instead. A run that is still going on is left to a later
    stop, with all that came after it.
    """
    with memory.scoring_lock(WAIT_SECONDS):
        session = port.ended_runs(stop, memory.settled)
        if session is None:
            return
        ready = [run for run in session.runs if not memory.tried(run.execution)]
        for transcript in ready[:MOST_SCORED]:
            _score_one(port, memory, stop, transcript)
        _name_the_rest(memory, ready[MOST_SCORED:])
        memory.settle(session.path, session.settled)


def _score_one(
    port: AutoModePort, memory: AutoModeMemory, stop: Stop, transcript: Transcript
) -> None:
    skill = transcript.skill or "a skill"
    memory.begin(transcript.execution, skill)
    once: str | None = None
    news: str | None
    try:
        news = port.scored(transcript)
    except StateError as error:
        news = None if error.code == "already_scored" else _failure(skill, error)
    except FlowError as error:
        news = _failure(skill, error)
        if isinstance(error, NoUsableAnswer) and error.code == "not_configured":
            once = f"{stop.session}: {error.code}"
    except Exception as error:  # noqa: BLE001 - told like any other fault, with the log's path
        news = _failure(skill, port.crashed(error))
    memory.end(transcript.execution, news, once=once)


def _name_the_rest(memory: AutoModeMemory, rest: list[Transcript]) -> None:
    if not rest:
        return
    for transcript in rest:
        memory.end(transcript.execution, None)
    skills = names(list(dict.fromkeys(t.skill or "a skill" for t in rest)), MOST_NAMED)
    count = "1 more run was" if len(rest) == 1 else f"{len(rest)} more runs were"
    memory.tell(
        f"{count} not scored, since a stop scores {MOST_SCORED} at most: {skills}; "
        "by hand: flow judge scorecard SKILL",
        once=f"rest {rest[0].execution}",
    )


def _failure(skill: str, error: FlowError) -> str:
    return f"the run of {skill} was not scored: {_line(error)}"


def _line(error: FlowError) -> str:
    return clip(visible("; ".join(str(error).split("\n"))), 1000)
