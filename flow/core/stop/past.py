"""A goal's past from its events: the turns, and the acts of people. Values only.

Events are in the checkout, where anyone can write them: they are shown, and decide nothing.
"""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL
from flow.core.stop.pause import WAITS, changes_status
from flow.core.stop.turns import has_turn
from flow.startup.json import text_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Event = Mapping[str, Any]

APPROVED = "approved"
"""Type of the event of a criterion's approval; of ``guards`` it is ``guards-approved``."""


class PastTurn(NamedTuple):
    """One evaluation that was counted."""

    turn: int
    at: str
    verdict: str
    answer: str = ""
    """The answer to the agent's stop, ``continue`` or ``let_go``; empty: no stop asked for the
    turn.
    """
    tree: str | None = None
    """The digest of the measured files; None if unknown."""
    by: str = ""
    """The caller of the evaluation, if known; empty at the stop of an agent."""

    def to_document(self) -> dict[str, Any]:
        """The value in ``status --json``."""
        return {
            "turn": self.turn,
            "at": self.at,
            "verdict": self.verdict,
            "answer": self.answer or None,
            "by": self.by or None,
        }


class PersonsAct(NamedTuple):
    """An approval or a closing, with the person's note."""

    about: str
    """The approved thing (a criterion's id, ``guards``, ``protected``), or the final status."""
    at: str
    by: str
    by_from: str | None = None
    said_from: str | None = None
    agent: str | None = None
    note: str = ""
    evidence_id: str | None = None


def past_turns(events: Iterable[Event]) -> list[PastTurn]:
    """The turns, oldest first; each is joined with the stop that asked for it."""
    turns: dict[int, PastTurn] = {}
    for event in events:
        if not has_turn(event):
            continue
        number: int = event["turn"]
        before = turns.pop(number, None)  # the newest one comes last
        subject = event.get("subject")
        tree = subject.get("tree") if isinstance(subject, dict) else event.get("tree")
        turns[number] = PastTurn(
            number,
            at=before.at if before is not None else text_of(event.get("at")),
            verdict=text_of(event.get("verdict")) or (before.verdict if before is not None else ""),
            answer=text_of(event.get("answer")),
            tree=tree if isinstance(tree, str) else before.tree if before is not None else None,
            by=asked_by(event),
        )
    return list(turns.values())


def asked_by(event: Event) -> str:
    """The caller of an event's evaluation: a name, an agent's shell, a script's account."""
    place = event.get("said_from")
    if place == "agent":
        return f"{text_of(event.get('agent')) or 'an agent'}'s shell"
    by = text_of(event.get("by"))
    return f"{by} (pipe)" if by and place == "pipe" else by


def approvals(events: Iterable[Event]) -> list[PersonsAct]:
    """The approvals by people, oldest first."""
    acts = []
    for event in events:
        kind, criterion = text_of(event.get("type")), event.get("criterion_id")
        if kind == APPROVED and isinstance(criterion, str):
            acts.append(_act(event, criterion))
        elif kind.endswith(f"-{APPROVED}"):
            acts.append(_act(event, kind.removesuffix(f"-{APPROVED}")))
    return acts


def closing(events: Sequence[Event], status: str) -> PersonsAct | None:
    """The closing with the final ``status``; None if the goal is open or has no such event."""
    if status not in TERMINAL:
        return None
    newest = next(filter(changes_status, reversed(events)), None)
    if newest is None or newest["to"] != status:
        return None
    return _act(newest, status)


def last_closing(events: Sequence[Event]) -> Event | None:
    """The newest event with a final status; later ones may have others."""
    closings = (
        event
        for event in reversed(events)
        if event.get("type") in ("confirmed", "transition") and text_of(event.get("to")) in TERMINAL
    )
    return next(closings, None)


def waits_for(events: Sequence[Event], status: str) -> str | None:
    """The command that a waiting goal waits for; None if it waits for none, or none is recorded."""
    if status != "waiting_for_ci":
        return None
    changes = (event for event in reversed(events) if event.get("to") == status)
    reason = text_of(next(changes, {}).get("reason"))
    return reason.removeprefix(WAITS) if reason.startswith(WAITS) else None


def _act(event: Event, about: str) -> PersonsAct:
    return PersonsAct(
        about,
        at=text_of(event.get("at")),
        by=text_of(event.get("by")) or text_of(event.get("how")),
        by_from=text_of(event.get("by_from")) or None,
        said_from=text_of(event.get("said_from")) or None,
        agent=text_of(event.get("agent")) or None,
        note=text_of(event.get("note")),
        evidence_id=text_of(event.get("evidence_id")) or None,
    )
