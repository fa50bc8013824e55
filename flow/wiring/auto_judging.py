"""Auto mode: at a stop the newest run of a skill is scored, in a process of its own (SPEC 9.3).

The stop is not held up: the card is told at the next one. Which judge is asked is the user's own
choice (``flow.goals.judge.backend`` counts from no checkout), so a checkout that turns auto mode on
can cause a question to that judge, and nothing else (decision 21).
"""

from __future__ import annotations

import os

from flow.cheap_typing import TYPE_CHECKING, Any, NamedTuple
from flow.errors import FlowError, LockTimeout, NoUsableAnswer, StateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.auto_judge import Memory
    from flow.core.transcript import Transcript
    from flow.wiring.parts import Parts

MOST_SECONDS = 3600
"""After so long the process that scores is ended, whatever it waits for."""
WAIT_SECONDS = 1800.0
"""How long it waits for another one that scores in the same checkout."""
STILL_SECONDS = 0.6
LONGEST_STILL = 6.0
"""The host writes the end of its transcript around the time when it calls the hook: it has to have
been still for so long, and no longer than this is waited."""
MOST_SHOWN = 3
"""Pieces of news in one message."""


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
    from flow.adapters.auto_judge import Memory
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
    more = len(news) - MOST_SHOWN
    shown = news[-MOST_SHOWN:]
    if more > 0:
        shown.append(f"and {more} more: flow judge history SKILL")
    return "\n".join(shown)


def enabled(parts: Parts) -> tuple[bool, tuple[str, ...]]:
    """Whether auto mode is on, and what is wrong with a file that could say so.

    A file that cannot be read might have said no, so nothing is sent to anybody then.
    """
    from flow.adapters.settings import judge_config

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
    from flow.adapters.process_apart import apart

    def work() -> None:
        try:
            _score(parts, memory, stop)
        except BaseException as error:  # noqa: BLE001 - nobody else will ever hear of it
            from flow.adapters.crash import report

            if not isinstance(error, FlowError):
                error = report(error, parts.environ)
            memory.tell(f"a run could not be scored: {_line(error)}", once=_line(error))

    try:
        apart(work, seconds=MOST_SECONDS)
    except OSError as error:
        memory.tell(f"no process could be started to score a run: {error.strerror}", once="fork")


def _score(parts: Parts, memory: Memory, stop: Stop) -> None:
    """Score the newest run of the session, if it has come to its end and was not tried before."""
    with memory.working(WAIT_SECONDS):
        transcript = _newest(parts, stop)
        if transcript is None or memory.tried(transcript.execution):
            return
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
            from flow.adapters.crash import report

            news = _failure(skill, report(error, parts.environ))
        memory.end(transcript.execution, news, once=once)


def _newest(parts: Parts, stop: Stop) -> Transcript | None:
    from flow.adapters import transcripts
    from flow.core.transcript import ended
    from flow.errors import InputError

    if stop.transcript is not None:
        _wait_until_still(stop.transcript)
    try:
        found = transcripts.newest(
            None,
            cwd=parts.top,
            home=parts.home,
            environ=parts.environ,
            session=stop.transcript or stop.session,
        )
    except InputError:
        return None  # no skill ran in this session
    return found if ended(found) else None


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
    from flow.render import scorecard
    from flow.wiring import scorecards

    wish = scorecards.Wish(skill=transcript.skill, transcript=transcript, once=True)
    card = scorecards.score(wish, cwd=parts.top, environ=parts.environ)
    document: Mapping[str, Any] = card.document
    lines = scorecard.box(document, _plain)
    return "\n".join([f"scorecard of {document['skill']}", *lines, f"stored as {card.file}"])


def _plain(_style: str, text: str) -> str:
    return text


def _failure(skill: str, error: FlowError) -> str:
    return f"the run of {skill} was not scored: {_line(error)}"


def _line(error: FlowError) -> str:
    from flow.core.explain import visible
    from flow.core.verdict import clip

    return clip(visible("; ".join(str(error).split("\n"))), 1000)
