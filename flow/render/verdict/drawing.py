"""A verdict's screen: its state, a row for each criterion, reasons of failures, next step. Pure."""

from __future__ import annotations

from flow.core.decision.details import NO_DETAILS, VerdictDetails
from flow.core.text.display import clip, visible
from flow.errors import more_than
from flow.render.screen import Column, Screen, Styled, lines_of, mark_of, took
from flow.render.text import open_first, show
from flow.render.verdict.criterion_row import row_meaning, row_result
from flow.render.verdict.next_step import foot, outside
from flow.render.verdict.sheet import VerdictSheet
from flow.render.verdict.why import explanations
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.render.verdict.why import Shown

WIDE = 119
"""Least width, in columns, for commands in the table."""
_COMMAND = 48
"""Characters of a command in the table; a longer one would take the space of the others."""
_TEXT = 200
"""Characters of a criterion's text in the table."""
_WORDS = {
    "achieved": ("proved", "proved, nothing is proposed"),
    "not_achieved": ("failed", "not achieved"),
    "blocked": ("outside", "blocked"),
    "needs_human_review": ("undecided", "waits for you"),
}
"""A verdict's mark and words."""


def verdict(
    document: Mapping[str, Any],
    screen: Screen,
    details: VerdictDetails = NO_DETAILS,
    *,
    closed: str = "",
    named: bool = True,
    asked: bool = False,
    output: Shown = "failed",
) -> list[str]:
    """The verdict's lines, from the document that ``last-verdict.json`` holds, or a part of it.

    ``closed`` is the goal's later terminal status, or empty: with one, nothing is left to confirm.
    ``named``: the commands contain the goal's id; ``asked``: the question whether to confirm
    follows, so no step leads to it. ``output`` selects the criteria whose output is
    shown.
    """
    sheet = VerdictSheet(document, screen, details, closed, named, asked)
    top = [_head(sheet), *_handed_in(sheet)]
    return lines_of(top, _table(sheet), explanations(sheet, output), outside(sheet), foot(sheet))


def _head(sheet: VerdictSheet) -> str:
    document = sheet.document
    verdict = document.get("verdict")
    meaning, words = _WORDS.get(str(verdict), ("undecided", show(verdict)))
    if verdict == "achieved":
        words = "achieved, as proposed" if document.get("proposed_transition") else words
        words = sheet.closed or words
    lifecycle = document.get("lifecycle")
    turn = lifecycle.get("turns_evaluated") if isinstance(lifecycle, dict) else None
    parts = [f"turn {show(turn)}"] if turn else []
    nothing_ran = all(row.get("outcome") == "not_executed" for row in sheet.rows)
    if sheet.details.seconds is not None and not nothing_ran:
        parts.append(took(sheet.details.seconds))
    if sheet.details.at:
        parts.append(sheet.screen.at(sheet.details.at))
    name = clip(sheet.goal_id or "verdict", 80)
    return sheet.screen.head(meaning, name, words, ", ".join(parts))


def _handed_in(sheet: VerdictSheet) -> list[str]:
    """A remark if a verdict was handed in, and not recorded by Flow."""
    document = sheet.document
    if not document.get("handed_in"):
        return []
    source = f" as {show(document['source'])}" if document.get("source") else ""
    at = f"{show(document.get('recorded_at'))}{source}"
    return sheet.sentence(f"handed in {at}; Flow did not record it after a run")


def listed_criteria(document: Mapping[str, Any], screen: Screen) -> frozenset[str]:
    """The ids of the criteria that have a row in :func:`verdict`'s table."""
    rows = open_first(VerdictSheet(document, screen, NO_DETAILS).rows)
    return frozenset(str(row.get("criterion_id")) for row in rows)


def _table(sheet: VerdictSheet) -> list[str]:
    width = sheet.screen.width
    wide = width is not None and width >= WIDE
    columns = [Column(), Column(), Column(cut=True), Column(spare=True), Column()]
    columns.append(Column(right=True))
    waits = sheet.document.get("verdict") == "needs_human_review"
    rows: list[list[str | Styled]] = []
    for row in open_first(sheet.rows):
        details = sheet.of(row)
        command = visible(str(row.get("command") or details.way))
        rows.append(
            [
                mark_of(row_meaning(row)),
                visible(str(row.get("criterion_id"))),
                clip(visible(" ".join(str(row.get("text") or "").split())), _TEXT),
                command if wide and len(command) <= _COMMAND else "",
                row_result(row, details, waits=waits),
                Styled("" if details.seconds is None else took(details.seconds), "dim"),
            ]
        )
    return [*sheet.screen.table(columns, rows), *more_than(len(sheet.rows), sheet.every)]
