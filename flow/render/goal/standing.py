"""The standing of a goal, in the words of every screen. Pure."""

from __future__ import annotations

from flow.core.standing.table import GoalFacts, Standing, standing_of
from flow.core.text.display import visible
from flow.render.screen import Screen, Styled, mark_of, measure
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.render.text import Document


def standing(document: Document) -> Standing:
    """The state of a goal, from its ``status`` document or a row of ``list``."""
    proposal, here = document.get("proposal") or {}, document.get("here") is not False
    facts = GoalFacts(
        goal_id=str(document["goal_id"]),
        status=str(document["status"]),
        here=here or document.get("checkout") is not None,
        by_hand=bool(document.get("closed_by_hand")),
        open_again=bool(document.get("open_again")),
        pause="paused" if document.get("paused") else "",
        proposal=str(proposal.get("to", "")),
        moved=() if proposal.get("live") else None,
        doubt="never" if here and document.get("trusted") is False else "",
        held=document.get("held_back") or "",
    )
    return standing_of(facts)


def criterion_mark(row: Document) -> Styled:
    """The mark of a criterion, from its row in a document."""
    return mark_of(criterion_meaning(row))


def criterion_meaning(row: Document) -> str:
    """The meaning of a criterion's mark; stale evidence proves nothing."""
    if row.get("fresh") is False:
        return "undecided"
    by_status = {"pass": "proved", "fail": "failed", "evidence_collected": "undecided"}
    return by_status.get(str(row["status"]), "unasked")


def since(screen: Screen, stamp: str) -> str:
    """The age of a moment at a terminal, the moment itself elsewhere."""
    return screen.at(stamp) if screen.columns is None else screen.age(stamp)


def who_when(act: Document, screen: Screen) -> str:
    """A person's name, the time and the origin: ``colleague, 13:56, terminal``."""
    place = act.get("said_from") or ""
    if place == "agent":
        place = f"an agent's shell ({visible(act.get('agent') or 'unknown')})"
    parts = [visible(act.get("by") or "somebody"), screen.at(str(act["at"])), visible(place)]
    return ", ".join(part for part in parts if part)


def words_of(act: Document, screen: Screen) -> list[str]:
    """A person's words in full and in quotes, below the act."""
    note = act.get("note")
    return screen.wrapped("", screen.quote(" ".join(str(note).split()))) if note else []


def paragraph(text: str, screen: Screen) -> list[str]:
    """Visible ``text`` broken at blanks to fit."""
    if screen.width is None or measure(text) <= screen.width:
        return [screen.plain(text)]
    from flow.render.columns import wrap

    return [screen.plain(line) for line in wrap(text, screen.width, 1_000)]
