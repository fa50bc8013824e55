"""The output of ``flow goal baseline``. Pure."""

from __future__ import annotations

from flow.core.text.display import visible
from flow.errors import MANY_ROWS, more_than
from flow.render.screen import Column, Screen, Styled, lines_of, mark_of
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.render.text import Document

_SAYS = {
    True: ("undecided", "green before the change: it cannot tell it"),
    False: ("proved", "red first: it can tell the change"),
    None: ("unasked", "shows nothing"),
}
"""Mark and words of ``non_discriminating``."""
_COLUMNS = (Column(), Column(), Column(), Column(cut=True), Column(right=True))


def baseline(document: Document, screen: Screen) -> list[str]:
    """A row for each command, with the meaning of its result for the change."""
    criteria = document["criteria"]
    able = sum(1 for row in criteria if row.get("non_discriminating") is False)
    verdict = f"{able} of {len(criteria)} can tell the change"
    meaning = "proved" if able == len(criteria) else "undecided"
    if not criteria:
        meaning, verdict = "unasked", "no criterion has a command"
    base = f"base {visible(document['base_commit'])[:12]}"
    every = f"flow goal baseline {visible(document['goal_id'])} --json"
    run = f".flow/runs/{visible(document['run_id'])}/evidence/"
    rows = [_row(row, screen) for row in criteria[:MANY_ROWS]]
    return lines_of(
        [screen.head(meaning, document["goal_id"], verdict, base)],
        [*screen.table(_COLUMNS, rows), *more_than(len(criteria), every)],
        [
            *([screen.labelled("evidence", run)] if criteria else []),
            screen.labelled("next", visible(document["next"]), "person"),
        ],
    )


def _row(row: Document, screen: Screen) -> list[str | Styled]:
    meaning, says = _SAYS[row.get("non_discriminating")]
    at = f"as at {screen.at(str(row['at']))}" if row["cached"] else ""
    return [
        mark_of(meaning),
        visible(row["criterion_id"]),
        visible(row["result"]),
        says,
        Styled(at, "dim"),
    ]
