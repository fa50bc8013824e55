"""A goal's record as one page without external parts: ``flow report``. Pure."""

from __future__ import annotations

from flow.core.text.display import clip
from flow.render.page.first_screen import headline, hero
from flow.render.page.frame import link, made_by, page, top_line
from flow.render.page.grid import fact_line, grid, not_proved
from flow.render.page.html import Markup, join, tag
from flow.render.page.lower_half import durations, files, limitations, record
from flow.render.page.opinions import opinions
from flow.render.page.results import every_result, failures
from flow.render.page.timeline import timeline
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.core.report import GoalReport

SECTIONS = (
    ("failed", "Failed"),
    ("opinions", "Judges"),
    ("results", "Results"),
    ("time-line", "Time line"),
    ("files", "Files"),
    ("durations", "Durations"),
    ("record", "Record"),
)
WIDE = 12
"""Rows or columns up to which the grid has a neighbour."""


def goal_page(report: GoalReport, *, overview: str = "", origin: str = "") -> str:
    """The whole page. ``overview`` is the file name of the page that lists the goals.

    ``origin`` is the page's own file name in that folder, by which a later call may remove it.
    """
    parts = {
        "failed": failures(report),
        "opinions": opinions(report),
        "results": every_result(report),
        "time-line": timeline(report),
        "files": files(report),
        "durations": durations(report),
        "record": record(report),
    }
    title = f"{report.goal_id}: {headline(report).words}"
    links = [link(name, words) for name, words in SECTIONS if parts[name]]
    top = top_line(clip(report.goal_id, 80), links, overview)
    main = tag(
        "main",
        hero(report),
        fact_line(report),
        _criteria(report),
        *parts.values(),
        limitations(report),
        _foot(report),
        id="main",
        class_="w",
    )
    return page(title, f"Record of the goal {title}", top, main, origin=origin)


def _criteria(report: GoalReport) -> Markup:
    """The grid, and the unproved criteria: above it if the grid is long or wide."""
    if max(len(report.criteria), len(report.turns)) > WIDE:
        return tag("div", not_proved(report), grid(report), class_="two tall")
    return tag("div", grid(report), not_proved(report), class_="two")


def _foot(report: GoalReport) -> Markup:
    told = join(
        "A record shows what was run and said. It cannot show that the criteria ask for the right "
        "thing. ",
        made_by(f"flow report {report.goal_id}", report.version),
    )
    return tag("footer", tag("p", told))
