"""The page of a skill's scorecards: the newest card, and the scores before it. Pure."""

from __future__ import annotations

from flow.core.text.display import clip
from flow.render.page.frame import TEXT, facts, link, made_by, mark, moment, page, section, top_line
from flow.render.page.html import Markup, heads, join, tag
from flow.render.page.opinions import dimensions, history
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.core.report import ReportedScores

RULES = """
.top,h1,.hero,.head,.advice,.about,.notes{overflow-wrap:anywhere}.head>*{min-width:0}
.hero .chart{max-width:100%}.big{display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 12px;
margin-top:20px}
.big b{font-size:52px;line-height:1;font-weight:650;letter-spacing:-.035em}
.big strong{font-size:22px;font-weight:600}.big span{color:var(--quiet);font-size:15px}
.crit{background:var(--no2);border-radius:8px;padding:10px 14px;margin-top:20px;font-size:13px}
.crit li{display:grid;grid-template-columns:16px minmax(0,1fr);gap:10px;padding:2px 0}
.crit svg.m{margin-top:2px}.claim{color:var(--quiet);font-size:13px;margin-top:16px;max-width:60ch}
.advice li{display:grid;grid-template-columns:24px minmax(0,1fr);padding:7px 0;
border-bottom:1px solid var(--line)}.advice li:last-child{border:0}
.key{font-size:12.5px;color:var(--quiet);margin-top:10px}
.key svg{vertical-align:-3px;margin-right:5px}
.about div{display:grid;grid-template-columns:120px minmax(0,1fr);gap:12px;padding:7px 0;
border-bottom:1px solid var(--line);font-size:13px}.about dt{color:var(--quiet)}
.jt td,.jt th{white-space:nowrap}.jt td:last-child{white-space:normal;width:99%;
overflow-wrap:anywhere}
@media screen and (max-width:720px){.about div{grid-template-columns:92px minmax(0,1fr)}
.jt td:last-child{display:none}}
"""


def scores_page(scores: ReportedScores, version: str, *, overview: str, origin: str) -> str:
    """The whole page; ``overview`` and ``origin`` as for a goal's."""
    title = f"Scorecards of {scores.skill}: {scores.opinion.figure}, {scores.grade}"
    parts = (
        ("dimensions", "Dimensions", _dimensions(scores)),
        ("advice", "Advice", _advice(scores)),
        ("cards", "Cards", _cards(scores)),
        ("about", "About it", _about(scores)),
    )
    links = [link(name, words) for name, words, part in parts if part]
    top = top_line(clip(scores.skill, 80), links, overview)
    shown = [part for _, _, part in parts if part]
    main = tag("main", _hero(scores), *shown, _foot(version), id="main", class_="w")
    return page(title, title, top, main, rules=RULES, origin=origin)


def _hero(scores: ReportedScores) -> Markup:
    newest = scores.cards[0]
    place = join("The newest card in ", clip(scores.place, 120), ", ", moment(newest.at))
    figure = tag(
        "p",
        tag("b", scores.opinion.figure),
        tag("strong", scores.grade),
        tag("span", f"of 10, {scores.meaning.lower()}"),
        class_="big",
    )
    rows = [tag("li", mark("failed"), tag("span", clip(t, TEXT))) for t in scores.critical]
    critical = tag("ul", *rows, class_="crit", aria_label="Critical issues") if rows else None
    told = (
        "A card is a judge’s opinion of one execution: it proves nothing, and never stands in "
        "for a command."
    )
    left = tag(
        "div",
        tag("h1", clip(scores.skill, 200), tag("small", " scorecards")),
        tag("p", place),
        figure,
        critical,
        tag("p", told, class_="claim"),
    )
    return tag("div", left, history(scores.opinion), class_="hero")


def _dimensions(scores: ReportedScores) -> Markup | None:
    table = dimensions(scores.opinion)
    if table is None:
        return None
    key = None
    if scores.mean is not None:
        count, value = scores.mean
        cards = f"the {count} cards" if count > 1 else "the card"
        line = tag("rect", x=6, width=2, height=12, class_="f-fg")
        drawn = tag("svg", line, width=14, height=12, aria_hidden="true")
        told = f"mean of {cards} before it, and the difference to it; their composite: {value:.2f}"
        key = tag("p", drawn, told, class_="key")
    return section("dimensions", "Dimensions", "scored from 1 to 10", table, key)


def _advice(scores: ReportedScores) -> Markup | None:
    rows = [
        tag("li", tag("span", number, class_="q"), tag("span", clip(text, TEXT)))
        for number, text in enumerate(scores.advice, 1)
    ]
    return (
        section("advice", "What to do better", "", tag("ol", *rows, class_="advice"))
        if rows
        else None
    )


def _cards(scores: ReportedScores) -> Markup:
    rows = [
        tag(
            "tr",
            tag("td", moment(card.at)),
            tag("td", f"{card.composite:.2f}", class_="r"),
            tag("td", card.grade),
            tag("td", tag("code", clip(card.file, 200)), class_="q"),
        )
        for card in scores.cards
    ]
    head = heads(("At", "Composite", "Grade", "Card"), right=["Composite"])
    caption = tag("caption", f"Cards of {clip(scores.skill, 80)}, the newest first", class_="vh")
    table = tag("table", caption, tag("thead", head), tag("tbody", *rows), class_="jt")
    more = None
    if scores.older:
        more = tag("p", f"and {scores.older:,} older ones", class_="q s")
    return section(
        "cards", "Cards", f"the newest first, in {clip(scores.folder, 120)}", table, more
    )


def _about(scores: ReportedScores) -> Markup | None:
    rows = facts([(label, clip(value, TEXT)) for label, value in scores.facts], "about")
    notes = [tag("li", clip(note, TEXT)) for note in scores.notes]
    told = tag("ul", *notes, class_="notes") if notes else None
    if not scores.facts and not notes:
        return None
    return section("about", "About the newest card", "", rows if scores.facts else None, told)


def _foot(version: str) -> Markup:
    told = join(
        "The scores and words are the judge’s; Flow looked its quotes up and did the arithmetic. "
        "The cards in the checkout are what counts, ",
        tag("code", "flow judge history"),
        " shows them. ",
        made_by("flow report --all", version),
    )
    return tag("footer", tag("p", told))
