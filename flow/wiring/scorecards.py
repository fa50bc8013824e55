"""Scoring an execution with the real parts: transcript, rubric, judge, stored cards."""

from __future__ import annotations

import os

from flow.errors import InputError, StateError
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping

    from flow.adapters.rubrics.score_files import History
    from flow.adapters.rubrics.scorecard_rubrics import ChosenRubric
    from flow.app.judging.port import AskJudge
    from flow.app.judging.scorecard import Tools
    from flow.core.judging.scorecard.history import Mean
    from flow.core.judging.scorecard.prompt import Matter
    from flow.core.settings import JudgeSettings
    from flow.core.transcript.model import Transcript
    from flow.wiring.parts import Parts
    from flow.wiring.rubrics import Backend

_DAY = 86_400
_RAW = 64 << 20
"""Bytes of a saved text."""


class Card(NamedTuple):
    """A card as it is stored, and where: ``file`` is below the top level, None where it is not."""

    document: Mapping[str, Any]
    file: str | None
    warnings: tuple[str, ...] = ()


class Wish(NamedTuple):
    """What is to be scored, and how.

    Without ``file`` the newest run of ``skill`` in this folder's sessions is meant (``session``: in
    that one); without ``skill`` the one that the transcript names. ``transcript`` is one that was
    read already. ``rubric`` is a name or a path. ``backend`` is ``BACKEND[:MODEL]``, a function
    from prompt to mapping, or a backend object. With ``once`` an execution that a card of its skill
    speaks of already is refused (``already_scored``). ``folder`` is below the top level, in place
    of the settings'. ``own_rubrics`` False leaves a project's own rubrics out.
    """

    skill: str | None = None
    file: str | None = None
    rubric: str | None = None
    backend: Backend | None = None
    samples: int | None = None
    session: str | None = None
    transcript: Transcript | None = None
    store: bool = True
    once: bool = False
    folder: str | None = None
    own_rubrics: bool = True


def score(
    wish: Wish,
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    told: Callable[[str], None] = lambda _: None,
    made: Callable[[Mapping[str, Any]], None] = lambda _: None,
    loop: AbstractEventLoop | None = None,
) -> Card:
    """Score one execution and store its card.

    ``told`` hears what is going on; ``made`` gets the card before it is stored, so that what a
    judge was paid for can be seen though the disk is full; ``loop`` is where a coroutine function
    as judge runs.
    Raises :class:`InputError` where there is no transcript (before any judge is asked),
    :class:`~flow.errors.NoUsableAnswer` where no card follows from what the judge said: then
    nothing is stored.
    """
    from flow.adapters.rubrics import score_files
    from flow.app.judging import scorecard
    from flow.app.judging.port import NoAnswer
    from flow.core.judging.scorecard import card as scorecard_card
    from flow.wiring.parts import Parts
    from flow.wiring.rubrics import no_answer

    parts = Parts(cwd, environ)
    judge = parts.settings.settings.judge
    samples = _samples(wish.samples, judge)
    skill = _skill(wish.skill)
    transcript = wish.transcript or _transcript(parts, wish, skill, cwd)
    skill = skill or _skill(_named(transcript))
    rubric = _rubric(skill, wish.rubric, parts.top if wish.own_rubrics else None)
    where = wish.folder or score_files.folder(parts.top, parts.settings)
    if wish.once:
        _refuse_again(parts, where, skill, transcript.execution)
    past = _past(parts, where, skill, transcript)
    matter = _matter(transcript, skill, rubric, past)
    tools = _tools(parts, _judge(parts, wish, loop), judge, told)
    scored = scorecard.score(matter, _words(transcript), samples, tools)
    if isinstance(scored, NoAnswer):
        raise no_answer(scored) from getattr(tools.ask, "raised", None)
    from flow.adapters.fs import clock
    from flow.core.judging.scorecard.history import UNKNOWN

    warnings = (*parts.settings.warnings, *past.warnings)
    notes = (*rubric.notes, *transcript.warnings, *past.warnings, *scored.remarks)
    about = scorecard_card.About(
        skill=skill or UNKNOWN,
        timestamp=clock.now(),
        rubric=rubric.name,
        rubric_why=rubric.why,
        rubric_source=rubric.source,
        recognised=rubric.recognised,
        transcript_path=tools.mask(transcript.path),
        execution=transcript.execution,
        started_at=transcript.started_at,
        judge=scorecard.usage_document(tools.ask.name, scored),
        mean=matter.mean,
        left_out=scored.left_out,
        notes=[tools.mask(note) for note in notes],
    )
    card = scorecard_card.document(about, scored.ballot)
    made(card)
    if not wish.store:
        return Card(card, None, warnings)
    stored = _store(parts, where, card, once=wish.once)
    return Card(stored, str(stored["file"]), warnings)


def scored(
    execution: str,
    skill: str | None,
    *,
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> str | None:
    """The file of the newest card of ``skill`` that speaks of this execution; None: not scored."""
    from flow.adapters.rubrics import score_files
    from flow.wiring.parts import Parts

    parts = Parts(cwd, environ)
    where = score_files.folder(parts.top, parts.settings)
    return _card_of(parts, where, _skill(skill), execution)


def history(
    skill: str, *, cwd: str | None = None, environ: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The stored cards of a skill, oldest first, and the trend; as ``flow judge history`` does."""
    from flow.adapters.rubrics import score_files
    from flow.core.judging.scorecard import history as scorecard_history
    from flow.wiring.parts import Parts

    parts = Parts(cwd, environ)
    name = scorecard_history.skill_name(skill)
    where = score_files.folder(parts.top, parts.settings)
    found = score_files.history(parts.top, where, name, latest=_latest(), most=score_files.WHOLE)
    older = [f"{found.older} older cards are not in this history"] if found.older else []
    mean = scorecard_history.mean(found.cards)
    return {
        "skill": name,
        "folder": where,
        "cards": [card.to_document() for card in reversed(found.cards)],
        "mean_of_last": None
        if mean is None
        else {"cards": mean.cards, "composite": float(mean.composite)},
        "change": scorecard_history.trend(found.cards),
        "warnings": [*parts.settings.warnings, *older, *found.warnings],
    }


def stored(
    skill: str, name: str, *, cwd: str | None = None, environ: Mapping[str, str] | None = None
) -> Card:
    """One stored card of ``skill``, whole; ``name`` is its file's, with ``.json`` or without.

    Raises :class:`InputError` where there is no such card of the skill.
    """
    from flow.adapters.rubrics import score_files
    from flow.core.judging.scorecard.history import skill_name
    from flow.wiring.parts import Parts

    parts = Parts(cwd, environ)
    where = score_files.folder(parts.top, parts.settings)
    document, remarks = score_files.one(parts.top, where, skill_name(skill), name)
    file = f"{where}/{os.path.basename(name).removesuffix('.json')}.json"
    return Card(document, file, (*parts.settings.warnings, *remarks))


def _named(transcript: Transcript) -> str | None:
    """The skill that the transcript names."""
    from flow.core.judging.scorecard.history import commanded

    if transcript.skill is not None or transcript.form == "claude":
        return transcript.skill
    return commanded([entry.text for entry in transcript.entries if entry.kind == "prompt"])


def _skill(name: str | None) -> str | None:
    from flow.core.judging.scorecard.history import skill_name

    return None if name is None else skill_name(name)


def _samples(wanted: int | None, judge: JudgeSettings) -> int:
    from flow.wiring.rubrics import MOST_SAMPLES

    if wanted is None:
        return judge.samples
    if type(wanted) is not int or not 1 <= wanted <= MOST_SAMPLES:
        raise InputError(
            f"{wanted!r:.40} is no number of samples",
            key="samples",
            value=wanted,
            remedy=f"a whole number from 1 to {MOST_SAMPLES}",
        )
    return wanted


def _transcript(parts: Parts, wish: Wish, skill: str | None, cwd: str | None) -> Transcript:
    from flow.adapters.transcripts import reader as transcripts

    if wish.file is not None:
        return transcripts.read(wish.file, skill)
    return transcripts.newest(
        skill,
        cwd=os.path.abspath(cwd or os.getcwd()),
        home=parts.home,
        environ=parts.environ,
        session=wish.session,
    )


def _words(transcript: Transcript) -> str:
    """Everything that a quote may come from: of a saved text also its marks and who spoke."""
    from flow.adapters.fs import inputs
    from flow.core.transcript.model import plain
    from flow.errors import FlowError

    words = plain(transcript)
    if transcript.form != "claude" and transcript.path != "-":
        try:
            raw = inputs.read(transcript.path, "--file", limit=_RAW)
        except FlowError:
            return words  # gone since it was read
        words += "\n" + raw.decode("utf-8", "replace")
    return words


def _rubric(skill: str | None, asked: str | None, top: str | None) -> ChosenRubric:
    from flow.adapters.rubrics import scorecard_rubrics

    return scorecard_rubrics.choose(skill, asked, top)


def _past(parts: Parts, where: str, skill: str | None, transcript: Transcript) -> History:
    """The cards to compare with: of earlier executions, not of this one.

    An execution that names no skill is compared with none.
    """
    from flow.adapters.rubrics import score_files
    from flow.core.judging.scorecard.card import safe
    from flow.core.judging.scorecard.model import COMPARED

    if skill is None:
        return score_files.History((), ())
    own = safe(transcript.execution)
    return score_files.history(
        parts.top, where, skill, latest=_latest(), most=COMPARED, without=own
    )


def _matter(
    transcript: Transcript, skill: str | None, rubric: ChosenRubric, past: History
) -> Matter:
    from flow.core.judging.scorecard import history as scorecard_history
    from flow.core.judging.scorecard.prompt import Matter
    from flow.core.transcript import model as transcripts

    mean: Mean | None = scorecard_history.mean(past.cards)
    return Matter(
        skill or scorecard_history.UNKNOWN,
        rubric.name,
        rubric.text,
        lambda limit: transcripts.lay_out(transcript, limit=limit),
        mean,
    )


def _judge(parts: Parts, wish: Wish, loop: AbstractEventLoop | None) -> AskJudge:
    from flow.wiring.rubrics import Place, choose

    loaded = parts.settings
    place = Place(parts.top, loaded.settings.judge, loaded.warnings, parts.environ)
    return choose(wish.backend, place, loop)


def _tools(parts: Parts, ask: AskJudge, judge: JudgeSettings, told: Callable[[str], None]) -> Tools:
    from secrets import token_hex

    from flow.adapters.process.redaction import masked_text
    from flow.app.judging.scorecard import Tools

    return Tools(
        ask=ask,
        nonce=lambda: token_hex(16),
        mask=lambda text: masked_text(text, parts.environ),
        told=told,
        seconds=judge.timeout_seconds,
    )


def _store(parts: Parts, where: str, card: Mapping[str, Any], *, once: bool) -> dict[str, Any]:
    from flow.adapters.fs import locks
    from flow.adapters.rubrics import score_files

    if not once:
        return score_files.publish(parts.top, where, card, parts.own_record.file)
    with locks.exclusive(parts.top, score_files.LOCK):
        _refuse_again(parts, where, str(card["skill"]), str(card["execution"]))
        return score_files.publish(parts.top, where, card, parts.own_record.file)


def _refuse_again(parts: Parts, where: str, skill: str | None, execution: str) -> None:
    file = _card_of(parts, where, skill, execution)
    if file is not None:
        raise StateError(
            "this execution was scored already",
            code="already_scored",
            file=file,
            remedy="flow judge scorecard scores it once more",
        )


def _card_of(parts: Parts, where: str, skill: str | None, execution: str) -> str | None:
    from flow.adapters.rubrics import score_files
    from flow.core.judging.scorecard.card import safe
    from flow.core.judging.scorecard.history import UNKNOWN

    wanted = safe(execution)
    found = score_files.history(parts.top, where, skill or UNKNOWN, latest=_latest())
    return next((f"{where}/{c.file}" for c in found.cards if c.execution == wanted), None)


def _latest() -> str:
    """The last stamp of a card that counts: a day from now, since clocks are set back at times."""
    import time

    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(time.time() + _DAY))
