"""The page of a debate: its judges side by side, from their first ballots to their last. Pure."""

from __future__ import annotations

from flow.core.text.display import clip, counted
from flow.render.page.frame import TEXT, link, made_by, mark, page, section, top_line
from flow.render.page.html import Markup, heads, join, tag
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.report import DebateVoice, ReportedDebate, ReportedRevision

WIDE = 4
"""Number of judges up to which each has a column of the table."""
_WORDS = {"pass": "Pass", "needs_revision": "Needs revision", "fail": "Fail"}
RULES = """
.top,h1,.sum,.head,.notes,.deb,.voices,.pts{overflow-wrap:anywhere}.head>*,.pts>*{min-width:0}
.sum h1 small{display:block;font-size:15px;line-height:22px;letter-spacing:0}
.res4{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:12px 24px;
margin-top:20px;padding:14px 16px;background:var(--tint);border-radius:10px}
.res4 dt{color:var(--quiet);font-size:12.5px}.res4 dd{font-size:18px;font-weight:650}
.res4 small{display:block;font-size:12.5px;font-weight:400;color:var(--quiet);line-height:18px}
.apart{margin-top:12px;font-size:13px}.apart li{display:flex;gap:8px;align-items:baseline}
.deb td,.deb th{padding-top:9px;padding-bottom:9px}.deb .jn{display:none}
.deb td svg{width:120px;height:18px;vertical-align:-4px;margin-right:8px}
.deb tfoot>tr>*{font-weight:600;border-bottom:0}
.deb.many thead{display:none}.deb.many tr{display:grid;gap:4px 24px;padding:9px 0;
grid-template-columns:repeat(auto-fill,minmax(250px,1fr));border-bottom:1px solid var(--line)}
.deb.many tr>*{border:0;padding:0}.deb.many th,.deb.many .r{grid-column:1/-1;text-align:left}
.deb.many .r::before{content:"Together "}.deb.many .jn{display:inline-block;width:66px}
.key{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:12.5px;color:var(--quiet);margin-top:10px}
.key svg{width:12px;height:12px;vertical-align:-2px;margin-right:6px}
.judges .voices li{display:grid;grid-template-columns:16px minmax(0,1fr);gap:8px;margin-top:8px}
.judges .voices{grid-template-columns:repeat(auto-fit,minmax(min(260px,100%),1fr))}
.judges .voices svg.m{margin-top:2px}.pts{display:grid;grid-template-columns:1fr 1fr;gap:16px 48px;
font-size:13px}.pts li{padding:6px 0;border-bottom:1px solid var(--line)}
@media screen and (max-width:720px){.pts{grid-template-columns:minmax(0,1fr)}
.deb thead{display:none}.deb tr{display:grid;gap:4px;padding:9px 0;
border-bottom:1px solid var(--line)}.deb tr>*{border:0;padding:0}
.deb .r{text-align:left}.deb .r::before{content:"Together "}
.deb .jn{display:inline-block;width:66px}}
"""


def debate_page(debate: ReportedDebate, version: str, *, overview: str, origin: str) -> str:
    """The whole page; ``overview`` and ``origin`` as for a goal's."""
    about = clip(", ".join(debate.solution) or "a solution", 120)
    title = f"Debate: {about}"
    parts = (
        ("ballots", "Ballots", _ballots(debate)),
        ("judges", "Judges", _judges(debate)),
        ("points", "Points", _points(debate)),
        ("files", "Files", _files(debate)),
    )
    links = [link(name, words) for name, words, part in parts if part]
    top = top_line(about, links, overview)
    task = tag("small", f"“{clip(debate.task, TEXT)}”") if debate.task else None
    hero = tag("div", tag("h1", title, task), _result(debate), _apart(debate), class_="sum")
    shown = [part for _, _, part in parts if part]
    main = tag("main", hero, *shown, _foot(version), id="main", class_="w")
    told = f"{title}, {counted(len(debate.voices), 'judge')}, {debate.day}"
    return page(title, told, top, main, rules=RULES, origin=origin)


def _result(debate: ReportedDebate) -> Markup:
    judges = counted(len(debate.voices), "judge")
    rounds = f"{counted(debate.rounds, 'round')} of debate"
    after = f"after {rounds}" if debate.rounds else "the ballots as each gave them alone"
    state = ("proved", "Consensus") if debate.consensus else ("undecided", "No consensus")
    result = _WORDS.get(debate.recommendation, "") if debate.consensus else "A person decides"
    median = "the median" if debate.consensus else f"median: {_word(debate.recommendation)}, which"
    median += f" of {judges}" if debate.consensus else " counts only in a vote"
    rows = (
        ("Result", result, median),
        ("Overall", f"{debate.overall:.2f} of 5", "mean of the last ballots"),
        ("Agreement", join(mark(state[0]), " ", state[1]), after),
        ("Spread", f"{debate.spread:.2f}", f"was {debate.spread_before:.2f} before any debate"),
    )
    cells = [
        tag("div", tag("dt", name), tag("dd", value, tag("small", told)))
        for name, value, told in rows
    ]
    place = tag("p", f"{judges} in {clip(debate.place, 120)}, {debate.day}", class_="q s")
    return join(place, tag("dl", *cells, class_="res4"))


def _apart(debate: ReportedDebate) -> Markup | None:
    rows = [tag("li", mark("undecided"), tag("span", clip(t, TEXT))) for t in debate.apart]
    return tag("ul", *rows, class_="apart", aria_label="What keeps them apart") if rows else None


def outcome(debate: ReportedDebate) -> str:
    """The result of a debate in a few words."""
    if debate.consensus:
        return f"consensus: {_word(debate.recommendation)}"
    return f"no consensus: {'; '.join(debate.apart)}"


def _word(recommendation: str) -> str:
    return _WORDS.get(recommendation, "").lower()


def _ballots(debate: ReportedDebate) -> Markup:
    """A row for each criterion, with the path of every judge's score from the first to the last."""
    judges = [f"Judge {voice.judge}" for voice in debate.voices]
    head = heads(["Criterion", *judges, "Together"], right=["Together"])
    rows = []
    for name, percent, final in debate.criteria:
        cells = [_moved(v, v.first.get(name, 0.0), v.last.get(name, 0.0)) for v in debate.voices]
        weight = tag("span", f" {percent} %", class_="q")
        together = tag("td", f"{final:.2f}", class_="r")
        rows.append(tag("tr", tag("th", clip(name, 80), weight, scope="row"), *cells, together))
    cells = [_moved(v, v.first_overall, v.overall) for v in debate.voices]
    total = tag("td", f"{debate.overall:.2f}", class_="r")
    last = tag("tr", tag("th", "Overall", scope="row"), *cells, total)
    caption = "Each judge’s scores before any debate and at the end, from 1 to 5"
    table = tag(
        "table",
        tag("caption", caption, class_="vh"),
        tag("thead", head),
        tag("tbody", *rows),
        tag("tfoot", last),
        class_="deb many" if len(debate.voices) > WIDE else "deb",
    )
    return section("ballots", "Ballots", "from 1 to 5, left to right", table, _key())


def _moved(voice: DebateVoice, first: float, last: float) -> Markup:
    """A judge's first score as a ring, and its last one as a dot, on a line from 1 to 5."""
    start, end = (8 + 26 * (min(max(score, 1.0), 5.0) - 1) for score in (first, last))
    ticks = "".join(f"M{8 + 26 * step} 6v6" for step in range(5))
    way = tag("path", d=f"M{start:.1f} 9H{end:.1f}", class_="l-quiet", stroke_width=1.5)
    ring = tag("circle", cx=f"{start:.1f}", cy=9, r=4, class_="f-bg l-quiet", stroke_width=1.5)
    drawn = tag(
        "svg",
        tag("path", d=f"M8 9h104{ticks}", class_="l-line"),
        *((way, ring) if first != last else ()),
        tag("circle", cx=f"{end:.1f}", cy=9, r=4.5, class_="f-fg"),
        viewBox="0 0 120 18",
        aria_hidden="true",
    )
    was = tag("span", f"{first:.3g} → ", class_="q") if first != last else None
    name = tag("span", f"Judge {voice.judge} ", class_="jn q")
    return tag("td", name, drawn, tag("span", was, tag("b", f"{last:.3g}"), class_="nw"))


def _key() -> Markup:
    ring = tag("circle", cx=6, cy=6, r=4, class_="f-bg l-quiet", stroke_width=1.5)
    dot = tag("circle", cx=6, cy=6, r=4.5, class_="f-fg")
    shapes = ((ring, "first ballot, alone"), (dot, "last ballot"))
    drawn = [
        tag("span", tag("svg", shape, viewBox="0 0 12 12", aria_hidden="true"), words)
        for shape, words in shapes
    ]
    return tag("p", *drawn, class_="key")


def _judges(debate: ReportedDebate) -> Markup:
    columns = [_voice(voice) for voice in debate.voices]
    note = "what each recommends, and what it changed"
    voices = tag("div", *columns, class_="voices")
    return section("judges", "Judges", note, voices, class_="judges")


def _voice(voice: DebateVoice) -> Markup:
    was = None
    if voice.first_recommendation != voice.recommendation:
        was = tag("span", f"{_WORDS.get(voice.first_recommendation, '')} → ", class_="q")
    changed = [_revision(revision) for revision in voice.revisions]
    return tag(
        "div",
        tag("h3", f"Judge {voice.judge}"),
        tag("p", was, tag("b", _WORDS.get(voice.recommendation, ""))),
        tag("ul", *changed) if changed else tag("p", "changed no score", class_="q"),
    )


def _revision(revision: ReportedRevision) -> Markup:
    by = "with a new quote" if revision.quotes else "without a new quote"
    quotes = [tag("div", tag("q", clip(quote, TEXT)), class_="q") for quote in revision.quotes[:2]]
    scores = f" {revision.before:.3g} → {revision.after:.3g}"
    alone = None if revision.quotes else join(tag("b", "conformity"), ": no new quote")
    return tag(
        "li",
        mark("proved" if revision.quotes else "undecided", by),
        tag(
            "div",
            tag("p", tag("b", clip(revision.criterion, 80)), scores),
            tag("p", clip(revision.reason, TEXT)),
            *quotes,
            tag("p", alone, class_="undecided") if alone else None,
        ),
    )


def _points(debate: ReportedDebate) -> Markup | None:
    if not debate.strengths and not debate.weaknesses:
        return None
    every = len(debate.voices)
    lists = []
    for title, points in (("Strengths", debate.strengths), ("Weaknesses", debate.weaknesses)):
        rows = [_point(text, judges, every) for text, judges in points]
        rows = rows or [tag("li", "none named", class_="q")]
        lists.append(tag("div", tag("h3", title), tag("ul", *rows)))
    note = "those of most judges first"
    return section("points", "What they agree on", note, tag("div", *lists, class_="pts"))


def _point(text: str, judges: Sequence[int], every: int) -> Markup:
    holders = "all judges" if len(judges) == every > 1 else ", ".join(f"Judge {n}" for n in judges)
    return tag("li", clip(text, TEXT), tag("span", f" {holders}", class_="q"))


def _files(debate: ReportedDebate) -> Markup:
    paths = [tag("li", tag("code", clip(v.file, TEXT))) for v in debate.voices]
    notes = [tag("li", clip(note, TEXT)) for note in debate.notes]
    odd = tag("ul", *notes, class_="notes") if notes else None
    return section("files", "What each judge wrote", "", tag("ul", *paths), odd)


def _foot(version: str) -> Markup:
    marks = join(
        mark("proved"), " with a new quote from the solution, ", mark("undecided"),
        " without one: debate is known to pull judges together.",
    )  # fmt: skip
    told = join(
        "The scores and words are the judges’; Flow looked their quotes up and did the arithmetic. "
        "A debate is an opinion: it proves nothing. The report files are what counts. ",
        made_by("flow report --all", version),
    )
    return tag("footer", tag("p", marks), tag("p", told))
