"""Scoring an execution: from the request to the stored card (SPEC 9.3)."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from flow.app.judging import scorecard
from flow.app.judging.port import JudgePort, NoAnswer, no_answer, sample_count
from flow.app.ports import ClockPort, SettingsPort
from flow.core.judging.scorecard import card as scorecard_card
from flow.core.judging.scorecard import history as scorecard_history
from flow.core.judging.scorecard.card import safe
from flow.core.judging.scorecard.history import UNKNOWN, PastCard, commanded_skill, skill_name
from flow.core.judging.scorecard.model import COMPARED
from flow.core.judging.scorecard.prompt import CardSubject
from flow.core.transcript import model as transcripts
from flow.core.transcript.layout import lay_out
from flow.errors import in_file
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.judging.port import AskJudge
    from flow.app.judging.scorecard import ScorecardTools
    from flow.core.transcript.model import Transcript


MOST_CARDS = 100
"""Cards of one skill that are read back, where no more is asked for."""
WHOLE = 1_000
"""Cards of one skill that its history shows."""


class ChosenRubric(NamedTuple):
    """A rubric for scorecards. ``name`` is its file's (``rubric-code.md``), ``why`` a sentence.

    ``text`` is without the front matter. ``recognised`` is False if no rubric names the skill
    and the default one stands in. ``source`` is ``project``, ``flow`` or ``file``. ``notes`` say
    what a reader should know of the choice.
    """

    name: str
    text: str
    why: str
    recognised: bool
    source: str
    notes: tuple[str, ...] = ()


class CardHistory(NamedTuple):
    """The cards of one skill, newest first, and what was left out."""

    cards: tuple[PastCard, ...]
    warnings: tuple[str, ...]
    older: int = 0
    """Files of older cards that were not looked into."""


class ScoredCard(NamedTuple):
    """A card as it is stored, and where: ``file`` is below the top level, None if it is not."""

    document: Mapping[str, Any]
    file: str | None
    warnings: tuple[str, ...] = ()


class ScoreRequest(NamedTuple):
    """The execution to score, and the options.

    Without ``file`` it is the newest run of ``skill`` in this folder's sessions (``session``: in
    that one); without ``skill`` the one that the transcript names. ``transcript`` was read before.
    ``rubric`` is a name or a path. With ``once`` an execution that a card of its skill names
    already is refused (``already_scored``). ``folder`` is below the top level and replaces the
    settings'. ``own_rubrics`` False leaves out a project's own rubrics.
    """

    skill: str | None = None
    file: str | None = None
    rubric: str | None = None
    backend: Any = None
    """``BACKEND[:MODEL]``, a function from prompt to mapping, or a backend object."""
    samples: int | None = None
    session: str | None = None
    transcript: Transcript | None = None
    store: bool = True
    once: bool = False
    folder: str | None = None
    own_rubrics: bool = True


class ScoringPort(SettingsPort, JudgePort, ClockPort, Protocol):
    """Interface of scoring to the checkout."""

    def cards_folder(self) -> str:
        """The folder of the cards, below the top level."""

    def transcript(self, request: ScoreRequest, skill: str | None) -> Transcript:
        """The execution that is meant; :class:`InputError` if there is none."""

    def raw_text(self, transcript: Transcript) -> str:
        """The text of a saved transcript's file; empty if it is gone since it was read."""

    def rubric(self, skill: str | None, named: str | None, *, own: bool) -> ChosenRubric:
        """The rubric for the skill; with ``own`` a project's own count, too."""

    def past_cards(
        self, folder: str, skill: str, *, most: int = MOST_CARDS, without: str | None = None
    ) -> CardHistory:
        """The newest cards of a skill, but for those of the execution ``without``."""

    def stored_card(
        self, folder: str, skill: str, name: str
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A stored card of the skill and what is odd about it; :class:`InputError` without one."""

    def tools(self, ask: AskJudge, progress: Callable[[str], None]) -> ScorecardTools:
        """The tools for asking the judge."""

    def publish(self, folder: str, card: Mapping[str, Any]) -> Mapping[str, Any]:
        """Write a card under the next free name; the card with ``file``, that name."""

    def scoring_lock(self) -> AbstractContextManager[None]:
        """Lock the cards of this checkout against other processes."""


def score_and_store(
    port: ScoringPort,
    request: ScoreRequest,
    *,
    progress: Callable[[str], None] = lambda _: None,
    scored: Callable[[Mapping[str, Any]], None] = lambda _: None,
) -> ScoredCard:
    """Score one execution and store its card.

    ``progress`` gets what is going on in words; ``scored`` gets the card before it is stored, so
    that what a judge was paid for can be seen though the disk is full.
    Raises :class:`InputError` if there is no transcript (before any judge is asked),
    :class:`~flow.errors.NoUsableAnswer` where no card follows from what the judge said: then
    nothing is stored.
    """
    settings = port.settings
    setting = settings.settings.judge.samples
    samples = setting if request.samples is None else sample_count(request.samples)
    skill = _skill_name(request.skill)
    transcript = request.transcript or port.transcript(request, skill)
    skill = skill or _skill_name(named_skill(transcript))
    rubric = port.rubric(skill, request.rubric, own=request.own_rubrics)
    folder = request.folder or port.cards_folder()
    if request.once:
        _refuse_again(port, folder, skill, transcript.execution)
    past = _past_cards(port, folder, skill, transcript)
    subject = _card_subject(transcript, skill, rubric, past)
    tools = port.tools(port.judge(request.backend), progress)
    merged = scorecard.score_execution(subject, _quotable_words(port, transcript), samples, tools)
    if isinstance(merged, NoAnswer):
        raise no_answer(merged) from getattr(tools.ask, "raised", None)
    notes = (*rubric.notes, *transcript.warnings, *past.warnings, *merged.remarks)
    about = scorecard_card.CardFacts(
        skill=skill or UNKNOWN,
        timestamp=port.now(),
        rubric=rubric.name,
        rubric_why=rubric.why,
        rubric_source=rubric.source,
        recognised=rubric.recognised,
        transcript_path=tools.redact(transcript.path),
        execution=transcript.execution,
        started_at=transcript.started_at,
        judge=scorecard.usage_document(tools.ask.name, merged),
        mean=subject.mean,
        left_out=merged.left_out,
        notes=[tools.redact(note) for note in notes],
    )
    card = scorecard_card.document(about, merged.ballot)
    scored(card)
    return _stored(port, request, folder, card, (*settings.warnings, *past.warnings))


def card_of(port: ScoringPort, folder: str, skill: str | None, execution: str) -> str | None:
    """The file of the newest card of ``skill`` that speaks of this execution; None: not scored."""
    wanted = safe(execution)
    past = port.past_cards(folder, skill or UNKNOWN)
    return next((f"{folder}/{c.file}" for c in past.cards if c.execution == wanted), None)


def skill_history(port: ScoringPort, skill: str) -> dict[str, Any]:
    """The cards of a skill, oldest first, and the trend; as ``flow judge history`` prints it."""
    name, folder = skill_name(skill), port.cards_folder()
    past = port.past_cards(folder, name, most=WHOLE)
    older = [f"{past.older} older cards are not in this history"] if past.older else []
    mean = scorecard_history.mean(past.cards)
    return {
        "skill": name,
        "folder": folder,
        "cards": [card.to_document() for card in reversed(past.cards)],
        "mean_of_last": None
        if mean is None
        else {"cards": mean.cards, "composite": float(mean.composite)},
        "change": scorecard_history.trend(past.cards),
        "warnings": [*port.settings.warnings, *older, *past.warnings],
    }


def stored_card(port: ScoringPort, skill: str, name: str) -> ScoredCard:
    """One stored card of ``skill``, whole; ``name`` is its file's, with ``.json`` or without.

    Raises :class:`InputError` if there is no such card of the skill.
    """
    folder = port.cards_folder()
    document, remarks = port.stored_card(folder, skill_name(skill), name)
    file = f"{folder}/{name.rpartition('/')[2].removesuffix('.json')}.json"
    return ScoredCard(document, file, (*port.settings.warnings, *remarks))


def named_skill(transcript: Transcript) -> str | None:
    """The skill that the transcript names."""
    if transcript.skill is not None or transcript.form == "claude":
        return transcript.skill
    return commanded_skill([entry.text for entry in transcript.entries if entry.kind == "prompt"])


def _skill_name(name: str | None) -> str | None:
    return None if name is None else skill_name(name)


def _quotable_words(port: ScoringPort, transcript: Transcript) -> str:
    """Everything that a quote may come from: of a saved text also its marks and who spoke."""
    words = transcripts.quotable_text(transcript)
    if transcript.form != "claude" and transcript.path != "-":
        raw = port.raw_text(transcript)
        words += f"\n{raw}" if raw else ""
    return words


def _past_cards(
    port: ScoringPort, folder: str, skill: str | None, transcript: Transcript
) -> CardHistory:
    """The cards to compare with: of earlier executions, not of this one.

    An execution that names no skill is compared with none.
    """
    if skill is None:
        return CardHistory((), ())
    own = safe(transcript.execution)
    return port.past_cards(folder, skill, most=COMPARED, without=own)


def _card_subject(
    transcript: Transcript, skill: str | None, rubric: ChosenRubric, past: CardHistory
) -> CardSubject:
    return CardSubject(
        skill or UNKNOWN,
        rubric.name,
        rubric.text,
        lambda limit: lay_out(transcript, limit=limit),
        scorecard_history.mean(past.cards),
    )


def _stored(
    port: ScoringPort,
    request: ScoreRequest,
    folder: str,
    card: Mapping[str, Any],
    warnings: tuple[str, ...],
) -> ScoredCard:
    if not request.store:
        return ScoredCard(card, None, warnings)
    with port.scoring_lock() if request.once else nullcontext():
        if request.once:
            _refuse_again(port, folder, str(card["skill"]), str(card["execution"]))
        card = port.publish(folder, card)
    return ScoredCard(card, str(card["file"]), warnings)


def _refuse_again(port: ScoringPort, folder: str, skill: str | None, execution: str) -> None:
    file = card_of(port, folder, skill, execution)
    if file is not None:
        raise in_file(file).wrong_state(
            "this execution was scored already",
            "flow judge scorecard scores it once more",
            code="already_scored",
        )
