"""The parts of every page: head, marks, heading and foot. Pure."""

from __future__ import annotations

import base64

from flow.render.page.html import Markup, document, join, tag
from flow.render.page.style import STYLE
from flow.render.screen import Screen, moment_of
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MARK_WORDS: Mapping[str, str] = {
    "proved": "proved",
    "failed": "failed",
    "undecided": "undecided",
    "outside": "outside its paths",
    "unasked": "not asked",
}
"""The marks of results, in the order of the legend."""
TEXT = 400
"""Characters of one text of the contract on a page."""
_GENERATOR = "flow report"
_SCREEN = Screen()


def mark(meaning: str, label: str = "") -> Markup:
    """A mark; without a ``label`` the text next to it must say the same."""
    use = tag("use", href=f"#m-{meaning}")
    if label:
        return tag("svg", use, class_="m", role="img", aria_label=label)
    return tag("svg", use, class_="m", aria_hidden="true")


def link(target: str, *children: object, **attributes: str) -> Markup:
    """A link to a place on the page."""
    return tag("a", *children, href=f"#{target}", **attributes)


def command(line: str) -> Markup:
    """A command in full, which one click selects."""
    return tag("code", line, class_="cmd")


def moment(stamp: str, shown: str = "") -> Markup:
    """A moment from a file, absolute and in UTC."""
    text = _SCREEN.at(stamp) if stamp else ""
    if moment_of(stamp) is None:
        return tag("span", text)
    return tag("time", shown or text, datetime=stamp)


def clock(stamp: str) -> str:
    """``14:16``: a moment whose day is shown elsewhere."""
    return _SCREEN.at(stamp)[11:16]


def day(stamp: str) -> str:
    """``2026-11-20``."""
    return _SCREEN.at(stamp)[:10]


def section(name: str, title: object, note: object, *children: object, **more: str) -> Markup:
    """A section with its heading; ``note`` is next to it."""
    aside = note if isinstance(note, Markup) else tag("p", note) if note else None
    head = tag("div", tag("h2", title, id=f"h-{name}"), aside, class_="head")
    return tag("section", head, *children, id=name, aria_labelledby=f"h-{name}", **more)


def filters(label: str, names: Sequence[tuple[str, str]]) -> Markup:
    """Links to themselves, by which the style filters a list. The first link shows everything."""
    links = [link(name, words, id=name) for name, words in names]
    return tag("nav", *links, class_="pick", aria_label=label)


def legend() -> Markup:
    """The meanings of the marks."""
    rows = [tag("li", mark(meaning), words) for meaning, words in MARK_WORDS.items()]
    return tag("ul", *rows, class_="legend", aria_label="What the marks mean")


def facts(rows: Sequence[tuple[str, object]], class_: str = "") -> Markup:
    """Labels and values; a row without a value is left out."""
    shown = [tag("div", tag("dt", name), tag("dd", value)) for name, value in rows if value]
    return tag("dl", *shown, class_=class_ or None)


def top_line(here: str, links: Iterable[Markup], overview: str = "") -> Markup:
    """A page's first line: its name, a link to the page ``overview``, and links to its parts."""
    place = [tag("b", here, aria_current="page")]
    if overview:
        place = [tag("a", "Goals", href=overview), tag("span", "/", class_="q"), *place]
    return tag(
        "div",
        tag("nav", *place, aria_label="Where this is"),
        tag("nav", *links, aria_label="On this page"),
        class_="w",
    )


def made_by(line: str, version: str) -> Markup:
    """The words of a page's foot about the command that made it."""
    return join("A rendering by ", tag("code", line), f", Flow {version}.")


def page(
    title: str, description: str, top: Markup, main: Markup, *, rules: str = "", origin: str = ""
) -> str:
    """The whole page. A browser accepts no style but its own.

    ``rules`` are added to the style: Flow's own words, and names that :func:`anchor` made.
    ``origin`` is the page's file name in a folder of pages (:func:`origin_tag`).
    """
    style = STYLE + rules
    digest = base64.b64encode(sha256(style.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    skip = link("main", "Skip to the content", class_="vh skip")
    body = tag("body", skip, _MARKS, tag("header", top, class_="top"), main)
    about = tag("meta", name="description", content=description)
    head = join(origin_tag(origin), about, tag("title", title))
    return document(head, body, style, policy)


def origin_tag(name: str = "") -> Markup:
    """The tag by which a later call recognises a page of Flow's, and its ``name`` in a folder."""
    told = f"{_GENERATOR} --all, as {name}" if name else _GENERATOR
    return tag("meta", name="generator", content=told)


def is_page(head: bytes) -> bool:
    """Whether a file with this beginning is a page of Flow's."""
    return f'<meta name="generator" content="{_GENERATOR}'.encode() in head


def _symbol(name: str, *shapes: Markup) -> Markup:
    return tag("symbol", *shapes, id=f"m-{name}", viewBox="0 0 16 16")


def _stroke(d: str, class_: str, width: float, **more: str) -> Markup:
    kind = f"f-no-fill {class_}"
    return tag("path", d=d, class_=kind, stroke_width=width, stroke_linecap="round", **more)


def _marks() -> Markup:
    """The marks, drawn once and used everywhere."""
    shapes = (
        _symbol(
            "proved",
            tag("circle", cx=8, cy=8, r=7.5, class_="f-ok2"),
            _stroke("M4.6 8.3l2.3 2.4 4.5-5", "l-ok", 1.8, stroke_linejoin="round"),
        ),
        _symbol(
            "failed",
            tag("rect", x=1, y=1, width=14, height=14, rx=3, class_="f-no"),
            _stroke("M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6", "l-bg", 1.8),
        ),
        _symbol(
            "undecided",
            tag("circle", cx=8, cy=8, r=6.4, class_="f-un2 l-half", stroke_width=1.7),
            tag("path", d="M8 1.6a6.4 6.4 0 000 12.8z", class_="f-half"),
        ),
        _symbol(
            "outside",
            tag("circle", cx=8, cy=8, r=6.4, class_="f-out2 l-out", stroke_width=1.9),
            _stroke("M3.6 12.4l8.8-8.8", "l-out", 1.9),
        ),
        _symbol(
            "unasked",
            tag("circle", cx=8, cy=8, r=4.4, class_="f-no-fill l-quiet", stroke_width=1.3),
        ),
        _symbol("running", tag("path", d="M5 3.2l7 4.8-7 4.8z", class_="f-bar")),
        _symbol(
            "person",
            tag("circle", cx=8, cy=5, r=3.2, class_="f-you"),
            tag("path", d="M1.8 14.6c.5-3.4 2.9-5 6.2-5s5.7 1.6 6.2 5z", class_="f-you"),
        ),
        _symbol(
            "agent",
            tag(
                "rect",
                x=2.2,
                y=4,
                width=11.6,
                height=9.4,
                rx=2.4,
                class_="f-no-fill l-quiet",
                stroke_width=1.5,
            ),
            _stroke("M8 1.4V4M5.7 7.6v1.9M10.3 7.6v1.9", "l-quiet", 1.5),
        ),
        _symbol("contract", _stroke("M5 5.6h6M8 2.6v6M5 13h6", "l-un", 1.8)),
        _symbol("event", tag("circle", cx=8, cy=8, r=3, class_="f-edge")),
    )
    return tag("svg", *shapes, class_="vh", width=0, height=0, aria_hidden="true")


_MARKS = _marks()
