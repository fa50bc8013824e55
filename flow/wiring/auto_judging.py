"""Auto mode: at a stop the skills' runs that ended are scored, in a process apart (SPEC 9.3).

The stop is not held up: the card is told at the next one. Which judge is asked is the user's own
choice (``flow.goals.judge.backend`` counts from no checkout), so a checkout that turns auto mode on
can cause a question to that judge, and nothing else (ADR 21).
"""

from __future__ import annotations

import os

from flow.core.text.display import names
from flow.errors import FlowError, InputError, LockTimeout, NoUsableAnswer, StateError
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.transcripts.reader import EndedRuns
    from flow.adapters.user_state.auto_judge import Memory
    from flow.core.transcript.model import Transcript
    from flow.wiring.parts import Parts

MOST_SECONDS = 3600
"""After so long the process that scores is ended, whatever it waits for."""
WAIT_SECONDS = 1800.0
"""How long it waits for another one that scores in the same checkout."""
STILL_SECONDS = 0.6
LONGEST_STILL = 6.0
"""The host writes the end of its transcript around the time when it calls the hook: it has to have
been still for so long, and no longer than this is waited."""
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


def on_stop(stop: Stop, *, cwd: str, environ: Mapping[str, str]) -> str:
    """What the user is to be told, "" for nothing; scoring goes on in a process of its own.

    Raises :class:`FlowError` where the folder is in no repository or the state folder is unusable.
    """
    from flow.adapters.user_state.auto_judge import Memory
    from flow.wiring.parts import Parts

    parts = Parts(cwd, environ)
    on, wrong = enabled(parts)
    if not on and not wrong:
        return ""
    memory = Memory(parts.state_dir, parts.top)
    for text in wrong:
        memory.tell(f"autoJudge: {text}", once=text)
    if on:
        _look_after(memory)
    news = memory.take()
    if on and not stop.subagents:
        _start(parts, memory, stop)
    elif on and stop.transcript is not None and memory.settled(stop.transcript) is None:
        memory.settle(stop.transcript, 0)  # what ends in this turn is not lost at the next stop
    shown = news[-MOST_SHOWN:]
    while len(shown) > 1 and sum(map(len, shown)) > MOST_TOLD:
        del shown[0]
    if len(news) > len(shown):
        shown.append(f"and {len(news) - len(shown)} more: flow judge history SKILL")
    return "\n".join(shown)


def enabled(parts: Parts) -> tuple[bool, tuple[str, ...]]:
    """Whether auto mode is on, and what is wrong with a file that could say so.

    A file that cannot be read might have said no, so nothing is sent to anybody then.
    """
    from flow.adapters.user_state.settings import judge_config

    wrong = list(parts.be_lenient())
    said = judge_config(parts.top)
    if isinstance(said, str):
        wrong.append(said)
    return parts.settings.settings.auto_judge and not wrong, tuple(wrong)


def _look_after(memory: Memory) -> None:
    """Tell of a process that was ended before it was done."""
    try:
        with memory.working(0):
            for skill in memory.given_up():
                memory.tell(
                    f"the run of {skill} was not scored: the process that did it was ended; "
                    f"by hand: flow judge scorecard {skill}",
                    once=f"given up {os.urandom(8).hex()}",
                )
    except LockTimeout:
        pass  # one is at work


def _start(parts: Parts, memory: Memory, stop: Stop) -> None:
    from flow.adapters.process.detached import start_detached

    def work() -> None:
        try:
            _score(parts, memory, stop)
        except BaseException as error:  # noqa: BLE001 - nobody else will ever hear of it
            from flow.adapters.fs.crash import report

            if not isinstance(error, FlowError):
                error = report(error, parts.environ)
            memory.tell(f"a run could not be scored: {_line(error)}", once=_line(error))

    try:
        start_detached(work, seconds=MOST_SECONDS)
    except OSError as error:
        memory.tell(f"no process could be started to score a run: {error.strerror}", once="fork")


def _score(parts: Parts, memory: Memory, stop: Stop) -> None:
    """Score what ended in the session since its last stop and was not tried before, oldest first.

    More than ``MOST_SCORED`` are named instead. A run that is still going on is left to a later
    stop, with all that came after it.
    """
    with memory.working(WAIT_SECONDS):
        session = _ended_runs(parts, memory, stop)
        if session is None:
            return
        ready = [run for run in session.runs if not memory.tried(run.execution)]
        for transcript in ready[:MOST_SCORED]:
            _score_one(parts, memory, stop, transcript)
        _name_the_rest(memory, ready[MOST_SCORED:])
        memory.settle(session.path, session.settled)


def _ended_runs(parts: Parts, memory: Memory, stop: Stop) -> EndedRuns | None:
    """The runs that have ended since the last stop; of a session seen first, the last turn's.

    Where the host names no session it is the newest one in which a skill ran.
    """
    from flow.adapters.transcripts import reader

    if stop.transcript is not None:
        _wait_until_still(stop.transcript)
    name = stop.transcript or stop.session
    cwd, home, environ = parts.top, parts.home, parts.environ
    if name is None:
        try:
            name = reader.newest(None, cwd=cwd, home=home, environ=environ).path
        except InputError:
            return None  # no skill ran here
    return reader.ended_runs(name, memory.settled, cwd=cwd, home=home, environ=environ)


def _score_one(parts: Parts, memory: Memory, stop: Stop, transcript: Transcript) -> None:
    skill = transcript.skill or "a skill"
    memory.begin(transcript.execution, skill)
    once: str | None = None
    news: str | None
    try:
        news = _card(parts, transcript)
    except StateError as error:
        news = None if error.code == "already_scored" else _failure(skill, error)
    except FlowError as error:
        news = _failure(skill, error)
        if isinstance(error, NoUsableAnswer) and error.code == "not_configured":
            once = f"{stop.session}: {error.code}"
    except Exception as error:  # noqa: BLE001 - told like any other fault, with the log's path
        from flow.adapters.fs.crash import report

        news = _failure(skill, report(error, parts.environ))
    memory.end(transcript.execution, news, once=once)


def _name_the_rest(memory: Memory, rest: list[Transcript]) -> None:
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


def _wait_until_still(path: str) -> None:
    import time

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


def _card(parts: Parts, transcript: Transcript) -> str:
    import shlex

    from flow.app.judging.scoring import ScoreRequest
    from flow.render import scorecard
    from flow.wiring import scorecards

    wish = ScoreRequest(skill=transcript.skill, transcript=transcript, once=True)
    card = scorecards.score(wish, cwd=parts.top, environ=parts.environ)
    document: Mapping[str, Any] = card.document
    lines = scorecard.box(document, _plain)
    name = os.path.basename(card.file or "")
    show = f"flow judge history {shlex.quote(document['skill'])} --card {name}"
    tail = [f"stored as {card.file}", f"whole: {show}"]
    return "\n".join([f"scorecard of {document['skill']}", *lines, *tail])


def _plain(_style: str, text: str) -> str:
    return text


def _failure(skill: str, error: FlowError) -> str:
    return f"the run of {skill} was not scored: {_line(error)}"


def _line(error: FlowError) -> str:
    from flow.core.text.display import clip, visible

    return clip(visible("; ".join(str(error).split("\n"))), 1000)
