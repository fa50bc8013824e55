"""The time line on a goal's page: turns, moves, people's words, amendments. Pure."""

from __future__ import annotations

import re

from flow.core.stop.past import asked_by
from flow.core.text.display import clip, counted
from flow.errors import FEW_ROWS, cut_list, more_than
from flow.render.contract_change import CLASS_WORDS, difference_rows, recorded_change
from flow.render.goal.history import Entry, entries_of
from flow.render.page.frame import TEXT, clock, day, filters, mark, moment, section
from flow.render.page.html import Markup, anchor, join, tag
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.core.report import GoalReport

ENTRIES = 400
"""Entries of the time line, at most; the newest count."""
WORDS = 4_000
"""Characters of one text by a person, at most."""
LINES = 60
"""Lines of an amendment's difference, at most."""
_ANSWERS = {
    "continue": "The agent stopped; Flow asked it to go on.",
    "let_go": "The agent stopped; Flow let it stop.",
}
_DIFFERENCE = {"  - ": "del", "  + ": "ins"}
_TURN = re.compile(r"turn \d+\s*")
_WEAK = (CLASS_WORDS["weakening"], CLASS_WORDS["incomparable"])


def timeline(report: GoalReport) -> Markup | None:
    """All events, the newest first."""
    notes = {act["evidence_id"]: act["note"] for act in report.status.get("approvals") or ()}
    entries = entries_of(report.events, notes)[::-1]
    if not entries:
        return None
    days = [day(entry.at) for entry in entries]
    several = len(set(days)) > 1
    items: list[Markup] = []
    before = ""
    amended = {turn.number for turn in report.turns if turn.amended}
    for entry, of_day in zip(entries[:ENTRIES], days, strict=False):
        if several and of_day != before:
            items.append(tag("li", of_day, class_="day"))
            before = of_day
        items.append(_item(entry, report, amended))
    for more in more_than(len(entries), f"flow goal history {report.goal_id} --json", ENTRIES):
        turns = [entry.turn for entry in entries[ENTRIES:] if entry.turn]
        places = [tag("span", id=anchor("turn", turn)) for turn in turns]  # targets of links
        items.append(tag("li", more, *places, class_="day"))
    note = tag("p", "UTC, newest first" if several else f"{days[0]}, UTC, newest first")
    names = [("tl-all", "All"), ("tl-turns", "Turns"), ("tl-people", "People")]
    names += [("tl-agents", "Agents"), ("tl-contract", "Contract")]
    head = join(note, filters("What the time line shows", names))
    return section("time-line", "Time line", head, tag("ol", *items))


def _item(entry: Entry, report: GoalReport, amended: set[int]) -> Markup:
    event = entry.event
    kinds = [*_kinds(entry)]
    actor = "agent" if "ag" in kinds else "person" if "pe" in kinds else "event"
    meaning = entry.meaning or actor
    name = anchor("turn", entry.turn) if entry.turn else _amendment_place(event, report, amended)
    words = _TURN.sub("", entry.text, count=1) if entry.turn else entry.text
    lead: object = [tag("b", f"Turn {entry.turn}"), " "] if entry.turn else None
    changes = event.get("changes") if event.get("type") == "contract-amended" else None
    if isinstance(changes, list):
        words = f"{words.partition(' amended')[0]} amended the contract"
    body = [
        tag("div", lead, clip(words, 2 * TEXT)),
        tag("blockquote", clip(entry.note, WORDS)) if entry.note else None,
        _difference(event),
        _changes(changes, report.goal_id) if isinstance(changes, list) else None,
        tag("div", _aside(entry), class_="d") if _aside(entry) else None,
    ]
    return tag(
        "li",
        moment(entry.at, clock(entry.at)),
        mark(meaning, meaning if entry.turn else ""),
        tag("div", *body),
        class_=" ".join(["ev", *kinds]),
        id=name or None,
    )


def _kinds(entry: Entry) -> Iterator[str]:
    """The filters that show an entry: turn, people, agents, contract."""
    event = entry.event
    if entry.turn:
        yield "ve"
    if event.get("type") in ("created", "contract-amended", "rebased"):
        yield "co"
    if event.get("type") == "stop" or event.get("said_from") == "agent":
        yield "ag"
    elif event.get("type") not in ("evaluated", "baseline", "claimed", "forgotten"):
        yield "pe"


def _amendment_place(event: Mapping[str, Any], report: GoalReport, amended: set[int]) -> str:
    """The place of an amendment, by the turn after it."""
    if event.get("type") != "contract-amended":
        return ""
    after = event.get("turn")
    if not isinstance(after, int):
        return ""
    number = next((t.number for t in report.turns if t.number > after), 0)
    same = [
        e for e in report.events if e.get("type") == "contract-amended" and e.get("turn") == after
    ]
    return anchor("amended", number) if number in amended and same[-1] is event else ""


def _aside(entry: Entry) -> str:
    """The answer to the agent, or the origin of the words, as far as the line above lacks it."""
    event = entry.event
    parts = []
    if entry.turn:
        limit = str(event.get("limit") or "").replace("_", " ")
        parts.append(_ANSWERS.get(str(event.get("answer")), ""))
        parts.append(f"A limit was reached: {limit}." if limit else "")
        parts.append(f"Asked for by {asked_by(event)}." if asked_by(event) else "")
    elif entry.right:
        place = {"terminal": "at a terminal", "pipe": "from a pipe"}.get(entry.right)
        parts.append(f"Said {place or f'from {entry.right}'}.")
    if event.get("by_from") and not entry.turn:
        parts.append(f"The name is from: {event['by_from']}.")
    if event.get("evidence_id"):
        parts.append(str(event["evidence_id"]))
    if event.get("proposal_id") and entry.turn:
        parts.append(f"Proposal {str(event['proposal_id'])[:12]}.")
    return " ".join(part for part in parts if part)


def _difference(event: Mapping[str, Any]) -> Markup | None:
    """The lines that an amendment changed, if its event has them."""
    lines = event.get("difference")
    if not isinstance(lines, list) or not lines:
        return None
    lines = [clip(line, TEXT) for line in difference_rows([*map(str, lines)])]
    rows = [tag(_DIFFERENCE.get(line[:4], "span"), line) for line in lines[:LINES]]
    if len(lines) > LINES:
        rows.append(tag("span", f"… {counted(len(lines) - LINES, 'more line')}"))
    label = "Difference of the contract"
    return tag("pre", *rows, class_="diff", tabindex=0, role="group", aria_label=label)


def _changes(changes: Sequence[object], goal_id: str) -> Markup:
    """Each change of the contract, and whether it asks for more or for less."""
    items, every = [], f"flow goal history {goal_id} --json"
    for text in cut_list([str(change) for change in changes], every, 2 * FEW_ROWS):
        label, what, kind = recorded_change(text)
        if not kind:
            items.append(tag("li", clip(what, TEXT)))
            continue
        words = f"{clip(what, TEXT)}, "
        items.append(
            tag("li", tag("b", label) if label else None, f" {words}" if label else words,
                tag("span", kind, class_="undecided" if kind in _WEAK else "q"))
        )  # fmt: skip
    return tag("ul", *items, class_="changes")
