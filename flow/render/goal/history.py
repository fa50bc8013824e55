"""``flow goal history``: a line for each turn and each act of people and agents. Pure."""

from __future__ import annotations

import time

from flow.core.stop.past import asked_by
from flow.core.stop.pause import ARRIVED, REASONS_OF_NOBODY, STOP_HOOK, WAITS, pause_of
from flow.core.stop.turns import has_turn
from flow.core.text.display import clip, visible
from flow.errors import MANY_ROWS, more_than
from flow.render.contract_change import CLASS_WORDS, recorded_change
from flow.render.goal.standing import words_of
from flow.render.screen import MEANING, Column, Screen, Styled, mark_of, moment_of
from flow.render.text import show
from flow.startup.json import items_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Document = Mapping[str, Any]
    Event = Mapping[str, Any]

TEXT = 400
"""Characters of a line's text without a terminal."""
_COLUMNS = (Column(), Column(), Column(cut=True), Column(right=True))
_LEFT_OUT = ("evidence", "evidence-discounted", "evidence-archived")
"""Types of events that are only about evidence."""
RESUMED = "resumed for evaluation"
"""Reason of a status change that the following turn implies."""
_IMPLIED = (RESUMED, "resumed: ", "resumed to be ")
"""Starts of the reasons that Flow gives for a change of status that the entry beside it implies."""


class Entry(NamedTuple):
    """One line of the history, with the words of its actor."""

    at: str
    meaning: str
    text: str
    right: str = ""
    note: str = ""
    turn: int = 0
    """Number of the turn; 0 for an entry that is no turn."""
    event: Mapping[str, Any] = {}
    """The newest event of the entry."""


def history_lines(document: Document, screen: Screen) -> list[str]:
    """The lines of ``flow goal history``, the newest last."""
    goal_id, events = visible(document["goal_id"]), document["events"]
    if not events:
        return [f"goal {goal_id} has no events yet"]
    notes = {act["evidence_id"]: act["note"] for act in document["approvals"]}
    entries = entries_of(events, notes)
    shown = entries[-MANY_ROWS:]
    turns = sum(1 for entry in entries if entry.turn)
    lines = [f"{screen.paint('bold', goal_id)}  {turns:,} turn{'s' * (turns != 1)}", ""]
    lines += [screen.plain(line) for line in _rows(shown, screen)]
    more = more_than(len(entries), f"flow goal history {goal_id} --json")
    tail = f"flow goal history {goal_id} --details"
    return [*lines, *more, "", screen.labelled("more", tail, "person", width=6)]


def _rows(entries: Sequence[Entry], screen: Screen) -> list[str]:
    """A line for each entry, quotes below it, and a head for each day if there are several."""
    at_terminal = screen.columns is not None
    days = [_day(entry.at) if at_terminal else "" for entry in entries]
    several = len(set(days)) > 1
    lines, before = [], ""
    for entry, day in zip(entries, days, strict=True):
        if several and day != before:
            lines.append(screen.rule(day))
            before = day
        row = (
            _clock(entry.at) if at_terminal else screen.at(entry.at),
            mark_of(entry.meaning) if entry.meaning else " ",
            clip(entry.text, TEXT),
            Styled(entry.right, "dim"),
        )
        lines += [*screen.table(_COLUMNS, [row]), *words_of({"note": entry.note}, screen)]
    return lines


def _clock(stamp: str) -> str:
    moment = moment_of(stamp)
    if moment is None:
        return visible(stamp)[:5]
    return time.strftime("%H:%M", time.localtime(moment))


def _day(stamp: str) -> str:
    moment = moment_of(stamp)
    if moment is None:
        return ""
    local = time.localtime(moment)
    return f"{local.tm_mday} {time.strftime('%b %Y', local)}"


def entries_of(events: Sequence[Event], notes: Mapping[str, str | None]) -> list[Entry]:
    """The entries for events of interest to people; a stop is part of its turn's entry.

    A turn comes before what its limit did.
    """
    entries: list[Entry] = []
    index_of: dict[object, int] = {}
    """By the number of the turn."""
    for event in events:
        kind = str(event.get("type"))
        if kind in _LEFT_OUT or _is_implied(event) or _is_start_alone(event):
            continue
        turn = event.get("turn") if has_turn(event) else None
        if kind == "stop" and turn in index_of:
            at = index_of[turn]
            entries[at] = entries[at]._replace(right=_answer(event), event=event)
            continue
        if turn is not None:
            limits = kind == "stop" and entries and _is_of_limit(entries[-1].event)
            index_of[turn] = len(entries) - 1 if limits else len(entries)
            entries.insert(index_of[turn], _turn(event)._replace(turn=event["turn"]))
            continue
        note = notes.get(str(event.get("evidence_id"))) or event.get("note")
        entry = _ENTRIES.get(kind, _other)(event)
        entries.append(entry._replace(note=entry.note or str(note or "")))
    return entries


def _is_implied(event: Event) -> bool:
    """Whether an evaluation, an approval, a pause or a closing made the goal active by the way."""
    return event.get("type") == "transition" and str(event.get("reason")).startswith(_IMPLIED)


def _is_of_limit(event: Event) -> bool:
    """Whether a limit of the loop moved the goal: the turn that reached it is recorded after it."""
    by_hook = str(event.get("how")).startswith("Stop hook")
    return event.get("type") == "transition" and bool(by_hook or event.get("proposal_id"))


def _is_start_alone(event: Event) -> bool:
    """Whether it only says that the state at the start was recorded: no command ran on the base."""
    return event.get("type") == "baseline" and "ran" not in event


def _turn(event: Event) -> Entry:
    verdict = str(event.get("verdict"))
    meaning = MEANING.get(verdict, "undecided")
    words = short_reason(show(event.get("reason")) if event.get("reason") else "")
    if verdict == "achieved":
        words = "; ".join(filter(None, ("proved", words)))
    if event.get("proposal_id"):
        words += "; a person confirms" if words else "a person confirms"
    return _entry(event, meaning, f"turn {event['turn']}   {words or visible(verdict)}".rstrip())


def short_reason(reason: str) -> str:
    """A verdict's reason without the parts that the mark and the numbers show already."""
    from flow.core.decision.explain import in_words, only_counts

    parts = in_words(reason).split("; ")
    return "; ".join(part for part in parts if part and not only_counts(part))


def _answer(event: Event) -> str:
    answers = {"continue": "the agent goes on", "let_go": "the agent may stop"}
    return answers.get(str(event.get("answer")), "")


def _entry(event: Event, meaning: str, text: str, note: object = "") -> Entry:
    kind = event.get("type")
    right = _answer(event) if kind == "stop" else _place(event)
    if kind == "evaluated":
        right = visible(asked_by(event))
    return Entry(str(event.get("at", "")), meaning, text, right, str(note or ""), event=event)


def _place(event: Event) -> str:
    """The origin of a person's or agent's words."""
    place = event.get("said_from")
    if place == "agent":
        return f"{visible(str(event.get('agent') or 'an agent'))}'s shell"
    return visible(str(place)) if place else ""


def _actor(event: Event) -> str:
    by = event.get("by") or event.get("how")
    if by:
        return visible(str(by))
    return "an agent" if event.get("said_from") == "agent" else "somebody"


def _moved(event: Event) -> Entry:
    """A change of the status outside an evaluation."""
    to, reason = str(event.get("to")), event.get("reason")
    pause = pause_of(event)
    if pause is not None:
        return _entry(event, "", f"{pause.who} paused it", pause.words)
    if event.get("proposal_id"):  # by a limit of the loop; ``to`` is the interim status
        return _entry(event, "", f"failed is proposed: {show(reason)}")
    if str(reason).startswith((WAITS, ARRIVED)):
        return _entry(event, "", f"it {reason}" if to == "waiting_for_ci" else str(reason))
    if reason in REASONS_OF_NOBODY or event.get("by") == STOP_HOOK:  # its turn says why
        reason = ""
    if to == "active" and event.get("from") != "draft":
        return _entry(event, "", f"{_actor(event)} resumed it", reason)
    words = {"cancelled": "cancelled it", "active": "activated it", "failed": "closed it as failed"}
    meaning = "" if to == "active" else MEANING.get(to, "undecided")
    done = words.get(to, f"moved it to {visible(to)}")
    return _entry(event, meaning, f"{_actor(event)} {done}", reason)


def _amended(event: Event) -> Entry:
    changes = map(show, items_of(event.get("changes")))
    text = "; ".join(str(recorded_change(change)) for change in changes)
    kind = str(event.get("class"))
    weaker = f", {CLASS_WORDS[kind]}" if kind in ("weakening", "incomparable") else ""
    amended = f"{_actor(event)} amended{weaker}: {text}"
    return _entry(event, "contract", amended, event.get("reason"))


def _approved(event: Event) -> Entry:
    kind = str(event.get("type")).removesuffix("approved").removesuffix("-")
    about = visible(str(event.get("criterion_id") or kind or "it"))
    words = {"protected": "the protected files", "guards": "the changed git settings"}
    return _entry(event, "proved", f"{_actor(event)} approved {words.get(about, about)}")


def _confirmed(event: Event) -> Entry:
    to = str(event.get("to"))
    meaning = MEANING.get(to, "undecided")
    return _entry(event, meaning, f"{_actor(event)} confirmed: {visible(to)}")


def _created(event: Event) -> Entry:
    draft = " as a draft" if event.get("to") == "draft" else ""
    who = f"{_actor(event)} created it" if event.get("by") else "created"
    base = event.get("base_commit")
    pinned = f"; base {show(base)[:12]}" if isinstance(base, str) else ""
    return _entry(event, "contract", f"{who}{draft}{pinned}")


def _rebased(event: Event) -> Entry:
    return _entry(event, "contract", f"{_actor(event)} moved the base", event.get("reason"))


def _claimed(event: Event) -> Entry:
    session = event.get("session")
    whose = f"session {show(session)}" if session else "the session that stops next"
    return _entry(event, "", f"{whose} works on it")


def _other(event: Event) -> Entry:
    reason = f": {show(event['reason'])}" if event.get("reason") else ""
    return _entry(event, "", f"{show(event.get('type'))}{reason}")


_ENTRIES: Mapping[str, Callable[[Event], Entry]] = {
    "created": _created,
    "transition": _moved,
    "contract-amended": _amended,
    "approved": _approved,
    "guards-approved": _approved,
    "protected-approved": _approved,
    "confirmed": _confirmed,
    "rebased": _rebased,
    "claimed": _claimed,
    "forgotten": lambda event: _entry(event, "", "forgotten by the Stop hook"),
    "baseline": lambda event: _entry(event, "", "its commands ran on the base commit"),
}
"""The entry for each type of event."""
