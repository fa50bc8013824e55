"""The first screen of a goal's page: its state, and the reasons. Pure."""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL
from flow.core.text.display import clip, names
from flow.errors import FEW_ROWS, more_than
from flow.render.goal.standing import criterion_meaning, standing
from flow.render.goal.status import files_words
from flow.render.page.frame import TEXT, link, mark
from flow.render.page.grid import meaning_colour, proof_of
from flow.render.page.html import Markup, anchor, tag
from flow.render.page.to_do import is_outside, sheet_of, to_do
from flow.render.verdict.next_step import advised_files, change_words, remedy_words
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flow.core.report import GoalReport, ReportedCriterion


class Headline(NamedTuple):
    """A goal's state: its mark, the word, and an addition to it."""

    meaning: str
    word: str
    rest: str = ""

    @property
    def words(self) -> str:
        """Word and addition as one text."""
        return f"{self.word}{self.rest}"


def headline(report: GoalReport) -> Headline:
    """The goal's headline, by the one table of states."""
    status = report.status
    if report.chain.faults:
        return Headline("failed", "record damaged")
    state, proposal = standing(status), status.get("proposal")
    if report.bundle:
        return Headline(state.meaning, state.words, ", as its bundle says")
    if status.get("paused"):
        return Headline(state.meaning, state.words)
    if proposal and proposal["live"]:
        return Headline(state.meaning, str(proposal["to"]), ", as proposed")
    last = (status.get("last_evaluation") or {}).get("result")
    if status["status"] == "active" and not report.turns:
        return Headline("unasked", "not evaluated")
    if status["status"] == "active" and last == "fail":
        return Headline("failed", "not achieved")
    if status["status"] == "waiting_for_user" and state.waits and _all_proved(report):
        return Headline("undecided", "proved", ", waits for a look")
    return Headline(state.meaning, state.words)


def _all_proved(report: GoalReport) -> bool:
    required = [c for c in report.criteria if c.required]
    return bool(required) and all(criterion_meaning(c.now) == "proved" for c in required)


def hero(report: GoalReport) -> Markup:
    """Title, outcome, reasons, and the next step."""
    head = headline(report)
    title = tag(
        "h1",
        mark(head.meaning),
        f"{report.goal_id} ",
        tag("span", head.word, class_=meaning_colour(head.meaning)),
        tag("small", head.rest) if head.rest else None,
    )
    words = tag(
        "div",
        title,
        tag("p", clip(str(report.status["outcome"]), 4 * TEXT)),
        tag("p", *_why(report), class_="why"),
        _outside_list(report),
    )
    return tag("div", words, to_do(report), class_="hero")


def _why(report: GoalReport) -> Iterator[object]:
    """The grounds of the title, with links."""
    if report.chain.faults:
        yield f"{clip(report.chain.faults[0], TEXT)}. What stands below was read as it is."
        return
    required = [c for c in report.criteria if c.required]
    proved = [c for c in required if criterion_meaning(c.now) == "proved"]
    if not report.turns:
        yield "Nothing was run yet: no criterion is proved. "
    else:
        verb = "were" if report.status["status"] in TERMINAL else "are"
        yield f"{len(proved)} of {len(required)} required criteria {verb} proved"
        yield f": {_by_whom(proved)}. " if proved else ". "
    for meaning, word in (("failed", "failed"), ("undecided", "undecided")):
        rows = [c for c in report.criteria if criterion_meaning(c.now) == meaning]
        if rows:
            yield from _linked(rows)
            verb = (
                word if word == "failed" else "is undecided" if len(rows) == 1 else "are undecided"
            )
            optional = not any(c.required for c in rows)
            which = ", which is not required," if len(rows) == 1 else ", which are not required,"
            yield f"{which if optional else ''} {verb}. "
    files = report.status.get("files")
    if files:
        yield "Files: "
        yield link("files", files_words(files))
        yield "."
    hold = report.status.get("after")
    if hold:
        yield f" It comes after {names([str(row['goal_id']) for row in hold])}."


def _by_whom(proved: Sequence[ReportedCriterion]) -> str:
    """``3 by their commands, 1 by a judge``."""
    counts = {"by their commands": 0, "by a judge": 0, "by a person’s word": 0}
    for criterion in proved:
        counts[proof_of(criterion)] += 1
    if counts["by their commands"] == 1:
        counts = {"by its command": 1, **counts, "by their commands": 0}
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count)


def _linked(criteria: Sequence[ReportedCriterion]) -> Iterator[object]:
    """``AC1, AC2 and 3 more``, each a link."""
    for place, criterion in enumerate(criteria[:FEW_ROWS]):
        yield ", " if place else None
        yield link(anchor("c", criterion.id), criterion.id)
    if len(criteria) > FEW_ROWS:
        yield f" and {len(criteria) - FEW_ROWS} more"


def _outside_list(report: GoalReport) -> Markup | None:
    """The files outside the goal's paths, each with its remedy."""
    files = advised_files(sheet_of(report)) if is_outside(report) else []
    if not files:
        return None
    rows = [
        tag(
            "li",
            mark("outside"),
            tag("code", str(file.get("path"))),
            tag("span", ", ".join(filter(None, (change_words(file), remedy_words(file))))),
        )
        for file in files[:FEW_ROWS]
    ]
    more = more_than(len(files), f"flow verdict show {report.goal_id} --json", FEW_ROWS)
    return tag("ul", *rows, *(tag("li", line) for line in more), class_="mend")
