"""Where a goal stands, in the words of every screen. Pure."""

from __future__ import annotations

from flow.core.text.display import visible
from flow.render.screen import Styled, mark_of, measure
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.render.screen import Screen

    Document = Mapping[str, Any]


class Standing(NamedTuple):
    """A goal's state for people. ``meaning`` is its mark's; ``waits``: it is a person's turn."""

    meaning: str
    words: str
    waits: bool = False


_BY_STATUS = {
    "draft": Standing("unasked", "draft"),
    "active": Standing("running", "working"),
    "waiting_for_user": Standing("undecided", "waits for you", waits=True),
    "waiting_for_ci": Standing("undecided", "waits for a command"),
    "blocked": Standing("outside", "blocked", waits=True),
    "achieved": Standing("proved", "achieved"),
    "failed": Standing("failed", "failed"),
    "cancelled": Standing("unasked", "cancelled"),
}


def standing(document: Document) -> Standing:
    """The state of a goal, from its ``status`` document or a row of ``list``."""
    proposal = document.get("proposal")
    if document.get("paused"):
        return Standing("undecided", "paused", waits=True)
    if proposal and proposal["live"]:
        meaning = "proved" if proposal["to"] == "achieved" else "failed"
        return Standing(meaning, "waits for you", waits=True)
    status = str(document["status"])
    stands = _BY_STATUS.get(status, Standing("unasked", visible(status)))
    if document.get("closed_by_hand"):
        return stands._replace(words=f"{stands.words}, closed by hand")
    return stands


def criterion_mark(row: Document) -> Styled:
    """The mark of a criterion, from its row in a document."""
    return mark_of(criterion_meaning(row))


def criterion_meaning(row: Document) -> str:
    """What a criterion's mark means: stale evidence proves nothing any more."""
    if row.get("fresh") is False:
        return "undecided"
    by_status = {"pass": "proved", "fail": "failed", "evidence_collected": "undecided"}
    return by_status.get(str(row["status"]), "unasked")


def since(screen: Screen, stamp: str) -> str:
    """How long ago at a terminal, and when elsewhere."""
    return screen.at(stamp) if screen.columns is None else screen.age(stamp)


def who_when(act: Document, screen: Screen) -> str:
    """Who said something, when, and from where: ``colleague, 13:56, terminal``."""
    place = act.get("said_from") or ""
    if place == "agent":
        place = f"an agent's shell ({visible(act.get('agent') or 'unknown')})"
    parts = [visible(act.get("by") or "somebody"), screen.at(str(act["at"])), visible(place)]
    return ", ".join(part for part in parts if part)


def words_of(act: Document, screen: Screen) -> list[str]:
    """A person's words, whole and in quotes, below what they did."""
    note = act.get("note")
    return screen.wrapped("", screen.quote(" ".join(str(note).split()))) if note else []


def paragraph(text: str, screen: Screen) -> list[str]:
    """Visible ``text`` broken at blanks to fit."""
    if screen.width is None or measure(text) <= screen.width:
        return [screen.plain(text)]
    from flow.render.columns import wrap

    return [screen.plain(line) for line in wrap(text, screen.width, 1_000)]
