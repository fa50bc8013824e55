"""The pages of ``flow report --all`` about what judges scored: scorecards and debates."""

from __future__ import annotations

from flow.adapters.debates.log import DebateLog
from flow.adapters.debates.stored import debates
from flow.adapters.rubrics import score_files
from flow.app.report.debates import reported_debate
from flow.app.report.scores import skill_scores
from flow.errors import FlowError
from flow.render.inbox import place
from flow.render.page.debates import debate_page, outcome
from flow.render.page.index import OpinionRow
from flow.render.page.scores import scores_page
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__
from flow.wiring.judging.debates import DebatingContext
from flow.wiring.judging.scorecards import Scoring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flow.app.judging.scoring import CardHistory
    from flow.core.report import ReportedDebate, ReportedScores
    from flow.core.standing.items import InboxItem

    Page = Callable[[str, str], str]
    """The page's text from the names of the page over it, and its own."""

MOST_TRIED = 5
"""The newest cards of a skill of which one must be whole."""


def stored_opinions(at: InboxItem) -> Iterator[tuple[OpinionRow, Page | None]]:
    """Scores by judges in a checkout, each with its page; the row alone if it has none."""
    try:
        yield from _scores(at)
    except (FlowError, OSError) as error:
        yield _unread(at, "scorecards", str(error)), None
    try:
        yield from _debates(at)
    except (FlowError, OSError) as error:
        yield _unread(at, "debate", str(error)), None


def _scores(at: InboxItem) -> Iterator[tuple[OpinionRow, Page | None]]:
    port = Scoring(at.path)
    folder = port.cards_folder()
    skills, left_out = score_files.skills(port.top, folder)
    for skill in skills:
        past = port.past_cards(folder, skill)
        scores = _skill(port, folder, skill, past, place(at))
        if scores is None:
            left_out.append(f"{skill}: no card of it can be read")
            continue
        newest = scores.cards[0]
        row = OpinionRow(
            "scorecards",
            skill,
            at.repository,
            at.path,
            at.branch or "",
            figure=f"{scores.opinion.figure}, {scores.grade}",
            told=scores.critical[0] if scores.critical else scores.meaning.lower(),
            at=newest.at,
            past=tuple(value for _, value in scores.opinion.past),
        )
        yield row, _page_of(scores)
    for why in left_out:
        yield _unread(at, "scorecards", why), None


def _debates(at: InboxItem) -> Iterator[tuple[OpinionRow, Page | None]]:
    context = DebatingContext(at.path).context
    log = DebateLog(context.state_dir, context.top, context.checkout, context.common_dir)
    for stored in debates(context.top, context.reports_dir.strip("/"), log):
        if stored.about is None:
            yield _unread(at, "debate", stored.notes[0]), None
            continue
        debate = reported_debate(
            place(at), stored.day, stored.about, stored.judges, stored.notes, spoilt=stored.spoilt
        )
        row = OpinionRow(
            "debate",
            stored.name,
            at.repository,
            at.path,
            at.branch or "",
            figure=f"{debate.overall:.2f} of 5",
            told=outcome(debate),
            at=stored.day,
        )
        yield row, _debate_page_of(debate)


def _debate_page_of(debate: ReportedDebate) -> Page:
    return lambda overview, name: debate_page(debate, __version__, overview=overview, origin=name)


def _page_of(scores: ReportedScores) -> Page:
    return lambda overview, name: scores_page(scores, __version__, overview=overview, origin=name)


def _skill(
    port: Scoring, folder: str, skill: str, past: CardHistory, where: str
) -> ReportedScores | None:
    """The skill's cards from the newest on that can be shown whole."""
    for number, card in enumerate(past.cards[:MOST_TRIED]):
        try:
            newest, _ = port.stored_card(folder, skill, card.file)
        except FlowError:
            continue
        unread = [f"{odd.file}: is not a whole scorecard" for odd in past.cards[:number]]
        rest = past._replace(cards=past.cards[number:], warnings=(*unread, *past.warnings))
        return skill_scores(where, folder, skill, rest, newest)
    return None


def _unread(at: InboxItem, kind: str, why: str) -> OpinionRow:
    return OpinionRow(kind, "left out", at.repository, at.path, at.branch or "", told=why)
