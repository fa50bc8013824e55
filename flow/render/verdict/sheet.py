"""The values from which every part of a verdict's screen is drawn."""

from __future__ import annotations

from flow.core.decision.details import RowDetails, VerdictDetails
from flow.core.text.display import visible
from flow.render.text import show
from flow.render.verdict.criterion_row import row_meaning
from flow.startup.json import items_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.render.screen import Screen
    from flow.render.text import Document

MOST_LINES = 12
"""Most lines of one text."""


class VerdictSheet(NamedTuple):
    """A verdict's document, the record's facts about it, and the screen that shows it.

    ``closed`` is the goal's later terminal status, or empty; ``named``: the commands contain the
    goal's id; ``asked``: the question whether to confirm follows on the screen.
    """

    document: Mapping[str, Any]
    screen: Screen
    details: VerdictDetails
    closed: str = ""
    named: bool = True
    asked: bool = False

    @property
    def goal_id(self) -> str:
        """The goal's id; empty if the document is only a part of a verdict."""
        return str(self.document.get("goal_id") or "")

    @property
    def name(self) -> str:
        """The id for the end of a command, after a blank; empty if it is left out."""
        return f" {visible(self.goal_id)}" if self.named and self.goal_id else ""

    def evidence_of(self, criterion_id: object) -> str:
        """The command that shows the newest evidence of a criterion."""
        goal = f" --goal{self.name}" if self.name else ""
        return f"flow evidence show {visible(str(criterion_id))}{goal}"

    @property
    def every(self) -> str:
        """The command that shows the full verdict."""
        return f"flow verdict show{self.name} --json"

    @property
    def rows(self) -> list[Document]:
        """The criteria's rows; empty if one of them is no row."""
        rows = items_of(self.document.get("criterion_results"))
        return rows if all(isinstance(row, dict) for row in rows) else []

    @property
    def worst_first(self) -> list[Document]:
        """The rows that failed, then the undecided ones, then the rest."""
        order = ("failed", "undecided")
        return sorted(self.rows, key=lambda row: (*order, row_meaning(row)).index(row_meaning(row)))

    @property
    def paths(self) -> list[str]:
        """The paths outside, made visible."""
        return [show(path) for path in items_of(self.document.get("path_violations"))]

    def of(self, row: Document) -> RowDetails:
        """The record's facts about a row."""
        return self.details.rows.get(str(row.get("criterion_id")), RowDetails())

    def required(self) -> Sequence[Document]:
        """The rows that the verdict depends on."""
        return [row for row in self.rows if self.of(row).required]

    def person(self, line: str) -> str:
        """A line that a person types, in the colour for that."""
        return self.screen.paint("person", line)

    def sentence(self, text: str) -> list[str]:
        """A text as wide as the screen, broken at blanks."""
        text = self.screen.plain(text)
        if self.screen.width is None:
            return [text]
        from flow.render.columns import wrap

        return wrap(text, self.screen.width, MOST_LINES, self.screen.plain("…"))
