"""The judges' opinions on a goal's page: dimensions as bars, history as a line, judges by column.

Pure.
"""

from __future__ import annotations

from flow.core.text.display import clip
from flow.core.text.numbers import as_written, beside
from flow.errors import more_than
from flow.render.page.frame import MARK_WORDS, TEXT, facts, link, mark, section
from flow.render.page.html import Markup, anchor, heads, join, tag
from flow.render.screen import MEANING
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.report import GoalReport, OpinionDimension, OpinionVoice, ReportedOpinion

SHOWN = 30
"""Opinions on one page, at most."""
_WAYS = {
    "ballots": "ballots",
    "rubric": "a rubric",
    "scorecard": "a scorecard",
    "debate": "a debate",
}


def opinions(report: GoalReport) -> Markup | None:
    """The newest opinion about each criterion that judges were asked about."""
    if not report.opinions:
        return None
    note = "a judge’s opinion is no measurement, and never stands in for a command"
    shown = [_opinion(report, opinion) for opinion in report.opinions[:SHOWN]]
    every = f"flow evidence list {report.goal_id}"
    shown += [
        tag("p", more, class_="q s") for more in more_than(len(report.opinions), every, SHOWN)
    ]
    return section("opinions", "What judges said", note, *shown)


def _opinion(report: GoalReport, opinion: ReportedOpinion) -> Markup:
    text = next((c.text for c in report.criteria if c.id == opinion.criterion_id), "")
    name = anchor("said", opinion.criterion_id)
    about = f" {opinion.about}" if opinion.about else ""
    head = tag(
        "header",
        tag("h3", tag("b", opinion.criterion_id), f" {clip(text, TEXT)}", id=name),
        tag(
            "p",
            f"by {_WAYS.get(opinion.way, 'a judge')}",
            clip(about, 80),
            ", at ",
            link(anchor("turn", opinion.turn), f"turn {opinion.turn}"),
        ),
    )
    figure = tag("p", tag("b", opinion.figure), class_="figure") if opinion.figure else None
    reason = tag("p", clip(opinion.reason, 4 * TEXT)) if opinion.reason else None
    left = tag("div", figure, reason, _notes(opinion), class_="told")
    top = tag("div", left, history(opinion), class_="dur")
    body = tag(
        "div",
        top,
        dimensions(opinion),
        _voices(opinion.voices),
        facts([("Evidence", tag("code", opinion.evidence_id))]),
        class_="in",
    )
    return tag("article", head, body, class_="open", aria_labelledby=name)


def _notes(opinion: ReportedOpinion) -> Markup | None:
    rows = [tag("li", clip(note, TEXT)) for note in opinion.notes]
    return tag("ul", *rows, class_="notes") if rows else None


def dimensions(opinion: ReportedOpinion) -> Markup | None:
    """A bar for each dimension; the line across it is its required value, else the mean so far."""
    if not opinion.dimensions:
        return None
    rows = [_dimension(row, opinion) for row in opinion.dimensions]
    names = ("Dimension", f"Of {opinion.highest:g}", "Score", "Why, in the judge’s words")
    head = heads(names, right=["Score"])
    of = opinion.criterion_id or clip(opinion.about, 80)
    caption = tag("caption", f"What was scored for {of}", class_="vh")
    return tag("table", caption, tag("thead", head), tag("tbody", *rows), class_="dims")


def _dimension(row: OpinionDimension, opinion: ReportedOpinion) -> Markup:
    share = min(max(row.score / opinion.highest, 0.0), 1.0)
    need, apart, line = None, None, row.mean if row.needed is None else row.needed
    if line is not None:
        at = f"{100 * min(max(line / opinion.highest, 0.0), 1.0):.1f}%"
        need = tag("rect", x=at, width=2, height=14, class_="f-fg")
    failed = row.passed is False
    bar = tag(
        "svg",
        tag("rect", y=2, width="100%", height=10, rx=2, class_="f-tag"),
        tag(
            "rect", y=2, width=f"{100 * share:.1f}%", height=10, rx=2,
            class_="f-no" if failed else "f-bar",
        ),
        need,
        width="100%",
        height=14,
        aria_hidden="true",
    )  # fmt: skip
    weight = tag("span", f" {100 * row.weight:g} %", class_="q") if row.weight else None
    score = f"{row.score:.3g}"
    if row.needed is not None:
        score = f"{beside(row.score, row.needed)}, needs {as_written(row.needed)}"
    if row.mean is not None:
        score = f"{row.score:.1f}"
        apart = tag("span", f" {_signed(row.score - row.mean)}", class_="q")
    quotes = [tag("div", tag("q", clip(quote, TEXT)), class_="q") for quote in row.quotes[:2]]
    name = join(mark("failed", "failed") if failed else None, " " if failed else None, row.name)
    return tag(
        "tr",
        tag("th", name, weight, scope="row"),
        tag("td", bar, class_="bc"),
        tag("td", tag("span", score, class_="failed" if failed else None), apart, class_="r nw"),
        tag("td", clip(row.why, TEXT), *quotes),
    )


def _signed(value: float) -> str:
    sign = "−" if value <= -0.05 else "+" if value >= 0.05 else "±"
    return f"{sign}{abs(value):.1f}"


def history(opinion: ReportedOpinion) -> Markup | None:
    """The figures over time as a line; the required value is dashed."""
    past = opinion.past
    if len(past) < 2:
        return None
    step = 348 / (len(past) - 1)
    points = [
        (12 + place * step, 88 - 76 * min(max(value / opinion.highest, 0.0), 1.0))
        for place, (_, value) in enumerate(past)
    ]
    shapes = [tag("path", d="M0 88.5h372M0 12.5h372", class_="l-line")]
    if opinion.needed is not None:
        y = 88 - 76 * opinion.needed / opinion.highest
        shapes.append(tag("path", d=f"M0 {y:.1f}h372", class_="l-quiet", stroke_dasharray="3 3"))
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    shapes.append(tag("path", d=f"M{path}", class_="f-no-fill l-quiet", stroke_width=1.5))
    for place, (x, y) in enumerate(points):
        last = place == len(points) - 1
        title = tag("title", f"{past[place][0]}: {past[place][1]:.3g}")
        kind = "f-fg" if last else "f-bg l-quiet"
        shapes.append(
            tag("circle", title, cx=f"{x:.1f}", cy=f"{y:.1f}", r=3 if last else 2.2, class_=kind)
        )
    first, last_label = past[0][0], past[-1][0]
    shapes += [
        tag("text", clip(first, 12), x=0, y=106),
        tag("text", clip(last_label, 12), x=372, y=106, text_anchor="end"),
    ]
    told = ", ".join(f"{label} {value:.3g}" for label, value in past)
    chart = tag(
        "svg", *shapes, viewBox="0 0 372 110", role="img", class_="chart",
        aria_label=f"Figures so far, of {opinion.highest:g}: {told}",
    )  # fmt: skip
    dashed = f"; dashed: {opinion.needed:.3g}, which it needs" if opinion.needed is not None else ""
    caption = f"{past[-1][1]:.3g} of {opinion.highest:g} at last{dashed}"
    return tag("figure", chart, tag("figcaption", caption, class_="q s"))


def _voices(voices: Sequence[OpinionVoice]) -> Markup | None:
    """Each judge in a column of their own."""
    if not voices:
        return None
    columns = []
    for number, voice in enumerate(voices, 1):
        meaning = MEANING.get(voice.verdict, "undecided")
        verdict = MARK_WORDS.get(meaning, "") if voice.verdict in MEANING else voice.verdict
        scores = [
            tag("li", tag("span", name), tag("b", f"{score:g}"))
            for name, score in voice.scores.items()
        ]
        columns.append(
            tag(
                "div",
                tag(
                    "p",
                    mark(meaning, meaning),
                    tag("b", f" Judge {number}"),
                    tag("span", f" {voice.judge}", class_="q"),
                ),
                tag("p", f"{verdict} {voice.figure}".strip(), class_="q"),
                tag("p", clip(voice.reason, TEXT)) if voice.reason else None,
                tag("ul", *scores) if scores else None,
            )
        )
    return tag("div", *columns, class_="voices")
