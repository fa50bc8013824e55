"""The page over many goals: whose turn it is, and a link to each one's page. Pure."""

from __future__ import annotations

from flow.core.standing.items import InboxItem, short_names
from flow.core.text.display import clip, counted
from flow.render.goal.standing import criterion_meaning
from flow.render.inbox import HEADS, place
from flow.render.page.frame import (
    MARK_WORDS,
    TEXT,
    command,
    filters,
    legend,
    link,
    made_by,
    mark,
    moment,
    page,
    top_line,
)
from flow.render.page.html import Markup, heads, join, tag
from flow.render.screen import Screen, ago, moment_of
from flow.render.verdict.criterion_row import row_meaning
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.report import GoalReport
    from flow.core.standing.table import Section

MARKS = 40
"""Criteria of one goal with a mark each, at most."""
TURNS = 40
"""Turns in a line, at most; the newest count."""
FILTERED = 20
"""Repositories with a filter each, at most."""
_MEANINGS: Mapping[Section, str] = {
    "waits": "person",
    "blocked": "outside",
    "working": "agent",
    "closed": "proved",
    "broken": "undecided",
}
_SCREEN = Screen()


class OverviewRow(NamedTuple):
    """A goal in the overview: its row of the inbox, and the facts of its page for a row."""

    item: InboxItem
    page: str = ""
    """File name of its page in the same folder; empty if it has none."""
    meanings: tuple[str, ...] = ()
    """The meaning of each criterion's mark, in the contract's order."""
    proved: tuple[int, ...] = ()
    """Number of criteria that each turn proved, oldest first."""


class OpinionRow(NamedTuple):
    """A skill's scorecards, or a debate, in the overview."""

    kind: str
    """``scorecards`` or ``debate``."""
    name: str
    repository: str
    """The top level of its repository."""
    path: str
    """The top level of its checkout."""
    branch: str = ""
    page: str = ""
    """File name of its page in the same folder; empty if it has none."""
    figure: str = ""
    told: str = ""
    """The meaning of the figure, or the reason that there is none."""
    at: str = ""
    past: tuple[float, ...] = ()
    """Figures so far, oldest first, out of 10."""


def overview_row(item: InboxItem, report: GoalReport, name: str) -> OverviewRow:
    """The row of a goal whose page is ``name``."""
    counts = [
        sum(1 for c in report.criteria if row_meaning(c.results[at].row) == "proved")
        for at in range(len(report.turns))
    ]
    meanings = tuple(criterion_meaning(c.now) for c in report.criteria)
    return OverviewRow(item, name, meanings, tuple(counts))


def index_page(
    rows: Sequence[OverviewRow],
    version: str,
    opinions: Sequence[OpinionRow] = (),
    *,
    now: float = float("inf"),
) -> str:
    """The whole page: the goals, and below them the things that judges scored.

    Ages are relative to the newest entry that is not later than ``now`` (seconds since 1970).
    """
    paths = {*(row.item.repository for row in rows), *(o.repository for o in opinions)}
    names = {path: f"r-{number}" for number, path in enumerate(sorted(paths), 1)}
    newest = _newest([row.item.since or "" for row in rows], now)
    counts = {name: sum(row.item.section == name for row in rows) for name in HEADS}
    waits = counts["waits"]
    title = f"{waits:,} goal{'s wait' if waits != 1 else ' waits'} for you"
    title = title if waits else "Nothing waits for you"
    links = [link(name, words) for name, words in HEADS.items() if counts[name]]
    links += [link("judged", "Judges")] if opinions else []
    top = top_line("Goals", links)
    sections = [
        _section(name, [row for row in rows if row.item.section == name], names, newest)
        for name in HEADS
        if counts[name]
    ]
    main = tag(
        "main",
        tag("div", tag("h1", title), _counts(counts, names, newest), _pick(names), class_="sum"),
        *sections,
        judged(opinions, names) if opinions else None,
        _foot(version),
        id="main",
        class_="w",
    )
    number = counted(len(rows), "goal")
    told = f"{number}: what waits for a person, what is blocked, working, closed"
    return page(title, told, top, main, rules=_rules(names))


def _newest(stamps: Sequence[str], now: float) -> str:
    """The newest entry of any record up to ``now``: another machine may have written later ones."""
    moments = {stamp: at for stamp in stamps if (at := moment_of(stamp)) is not None}
    past = {stamp: moment for stamp, moment in moments.items() if moment <= now}
    return max(past or moments, key=moments.__getitem__, default="")


def judged(opinions: Sequence[OpinionRow], names: Mapping[str, str]) -> Markup:
    """Scorecards and debates, each with a link to its page."""
    called = short_names(names)
    columns = ("Judged", "Figure", "So far", "What it means", "At")
    rows = [_opinion(row, names, called[row.repository]) for row in opinions]
    table = _table("Scorecards and debates", columns, rows)
    title = tag("h2", "Scorecards and debates ", tag("small", len(opinions)), id="h-judged")
    note = tag("p", "judges’ opinions; they prove nothing")
    head = tag("div", title, note, class_="head")
    return tag("section", head, table, id="judged", class_="goals", aria_labelledby="h-judged")


def _opinion(row: OpinionRow, names: Mapping[str, str], called: str) -> Markup:
    shown = clip(row.name, 80)
    name = tag("a", shown, href=row.page) if row.page else tag("b", shown)
    where = place(
        InboxItem("working", row.repository, row.path, "", branch=row.branch, called=called)
    )
    return tag(
        "tr",
        tag("th", name, tag("small", clip(where, 120)), scope="row"),
        tag("td", row.figure),
        tag("td", _spark(row.past)),
        tag("td", tag("p", tag("span", f"{row.kind}: ", class_="q"), clip(row.told, TEXT))),
        tag("td", tag("small", row.at[:10])),
        class_=f"row of-{names[row.repository]}",
    )


def _spark(past: Sequence[float]) -> Markup | None:
    if len(past) < 2:
        return None
    step = 66 / (len(past) - 1)
    points = [(3 + at * step, 17 - 1.4 * min(max(value, 0), 10)) for at, value in enumerate(past)]
    return _curve(points, f"{len(past)} cards, the newest {past[-1]:.3g}")


def _curve(
    points: Sequence[tuple[float, float]], label: str, behind: Markup | None = None
) -> Markup:
    """A small line through ``points`` with a dot at its end; ``behind`` is drawn below it."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    x, y = points[-1]
    return tag(
        "svg",
        behind,
        tag("path", d=f"M{path}", class_="f-no-fill l-quiet", stroke_width=1.4),
        tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=2.2, class_="f-fg"),
        class_="spark",
        viewBox="0 0 72 20",
        role="img",
        aria_label=label,
    )


def _counts(counts: Mapping[Section, int], names: Mapping[str, str], newest: str) -> Markup:
    words: dict[Section, str] = {
        "blocked": "blocked",
        "working": "working",
        "closed": "closed lately",
    }
    items = [
        tag("li", tag("b", counts[name]), f" {word}")
        for name, word in words.items()
        if counts[name]
    ]
    many = "y" if len(names) == 1 else "ies"
    at = join(" as of ", moment(newest)) if newest else None
    items.append(tag("li", f"{len(names):,} repositor{many}", at, class_="q"))
    return tag("ul", *items)


def _pick(names: Mapping[str, str]) -> Markup | None:
    if not 1 < len(names) <= FILTERED:
        return None
    called = short_names(names)
    rows = [(name, clip(called[path], 40)) for path, name in names.items()]
    return filters("Which repositories are shown", [("all", "All"), *rows])


def _rules(names: Mapping[str, str]) -> str:
    """The style rules of the filters: each hides the rows of other repositories."""
    if len(names) > FILTERED:
        return ""
    return "".join(
        f"body:has(#{name}:target) .row:not(.of-{name}){{display:none}}\n"
        for name in names.values()
    )


def _table(caption: str, names: Sequence[str], rows: Sequence[Markup]) -> Markup:
    """A section's table; its caption has the number of rows."""
    columns = [tag("col", class_=f"k{number}") for number, _ in enumerate(names, 1)]
    return tag(
        "table",
        tag("caption", f"{caption}: {len(rows):,}", class_="vh"),
        tag("colgroup", *columns),
        tag("thead", heads(names), class_="vh"),
        tag("tbody", *rows),
        class_="gt",
    )


def _section(
    name: Section, rows: Sequence[OverviewRow], names: Mapping[str, str], newest: str
) -> Markup:
    columns = ("Goal", "Criteria", "Turns", "Why, and what to type", "Since")
    table = _table(HEADS[name], columns, [_row(row, names, newest) for row in rows])
    title = tag("h2", mark(_MEANINGS[name]), HEADS[name], tag("small", len(rows)), id=f"h-{name}")
    head = tag("div", title, class_="head")
    return tag("section", head, table, id=name, class_="goals", aria_labelledby=f"h-{name}")


def _row(row: OverviewRow, names: Mapping[str, str], newest: str) -> Markup:
    item = row.item
    goal = clip(item.goal_id or ("a checkout" if item.path else "a bundle"), 80)
    name = tag("a", goal, href=row.page) if row.page else tag("b", goal)
    where = tag("small", clip(place(item), 120))
    line = command(item.command) if item.command else None
    since = join()
    if item.since:
        since = join(_age(item.since, newest), tag("small", _SCREEN.at(item.since)[:16]))
    return tag(
        "tr",
        tag("th", name, where, scope="row"),
        tag("td", _marks(row.meanings)),
        tag("td", _line(row)),
        tag("td", tag("p", clip(item.why, TEXT)), line),
        tag("td", since),
        class_=f"row of-{names[item.repository]}",
    )


def _age(stamp: str, newest: str) -> str:
    """The time between a moment and the newest entry of any record; empty if unknown."""
    begun, ended = moment_of(stamp), moment_of(newest)
    return "" if begun is None or ended is None else ago(ended - begun)


def _marks(meanings: Sequence[str]) -> Markup | None:
    """A mark for each criterion."""
    if not meanings:
        return None
    counts = {word: meanings.count(meaning) for meaning, word in MARK_WORDS.items()}
    label = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    shown = [mark(meaning) for meaning in meanings[:MARKS]]
    more = f" +{len(meanings) - MARKS}" if len(meanings) > MARKS else None
    return tag("span", *shown, more, class_="marks", role="group", aria_label=label)


def _line(row: OverviewRow) -> Markup:
    """A line of the number of criteria that each turn proved; the dashes mark all of them."""
    counts, every = row.proved[-TURNS:], max(len(row.meanings), 1)
    if not counts:
        return tag("span", "no turn yet" if row.meanings else "", class_="q s")
    step = min(10.0, 66 / max(len(counts) - 1, 1))
    points = [(3 + at * step, 17 - 14 * count / every) for at, count in enumerate(counts)]
    all_proved = tag("path", d="M1 3h70", class_="l-line", stroke_dasharray="2 2")
    turns = counted(len(row.proved), "turn")
    return _curve(points, f"{turns}, {counts[-1]} of {every} proved", all_proved)


def _foot(version: str) -> Markup:
    told = (
        "A line shows how many criteria were proved after each turn; the dashes are all of them. "
        "Ages count to the newest entry of any record."
    )
    made = made_by("flow report --all", version)
    typed = tag("p", made, " Each command is typed in its checkout.")
    return tag("footer", legend(), tag("p", told), typed)
