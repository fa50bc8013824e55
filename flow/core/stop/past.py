"""A goal's past as its events tell it: the turns, and what people said. Values only.

Events lie in the checkout, where anyone can write them: they are shown, and decide nothing.
"""

from __future__ import annotations

from flow.core.goal.lifecycle import TERMINAL
from flow.core.stop.turns import has_turn
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
    """What the stop of an agent came to, ``continue`` or ``let_go``; empty: no stop asked for it.
    """
    tree: str | None = None
    """The digest of the files that it measured."""
    by: str = ""
    """Who asked for it, as far as known; empty at the stop of an agent."""

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
    """An approval or a closing, and the words that it was done with."""

    about: str
    """What was approved (a criterion's id, ``guards``, ``protected``), or the final status."""
    at: str
    by: str
    by_from: str | None = None
    said_from: str | None = None
    agent: str | None = None
    note: str = ""
    evidence_id: str | None = None


def past_turns(events: Iterable[Event]) -> list[PastTurn]:
    """The turns, oldest first; the stop that asked for one is joined to it."""
    turns: dict[int, PastTurn] = {}
    for event in events:
        if not has_turn(event):
            continue
        number: int = event["turn"]
        before = turns.pop(number, None)  # the newest stands last
        subject = event.get("subject")
        tree = subject.get("tree") if isinstance(subject, dict) else event.get("tree")
        turns[number] = PastTurn(
            number,
            before.at if before is not None else _text(event, "at"),
            _text(event, "verdict") or (before.verdict if before is not None else ""),
            _text(event, "answer"),
            tree if isinstance(tree, str) else before.tree if before is not None else None,
            asked_by(event),
        )
    return list(turns.values())


def asked_by(event: Event) -> str:
    """Who asked for the evaluation of an event: a name, an agent's shell, a script's account."""
    place = event.get("said_from")
    if place == "agent":
        return f"{_text(event, 'agent') or 'an agent'}'s shell"
    by = _text(event, "by")
    return f"{by} (pipe)" if by and place == "pipe" else by


def approvals(events: Iterable[Event]) -> list[PersonsAct]:
    """What people approved, oldest first."""
    acts = []
    for event in events:
        kind, criterion = _text(event, "type"), event.get("criterion_id")
        if kind == APPROVED and isinstance(criterion, str):
            acts.append(_act(event, criterion))
        elif kind.endswith(f"-{APPROVED}"):
            acts.append(_act(event, kind.removesuffix(f"-{APPROVED}")))
    return acts


def closing(events: Sequence[Event], status: str) -> PersonsAct | None:
    """How the goal got its final ``status``; None while it is open, or where no event says so."""
    if status not in TERMINAL:
        return None
    changes = (event for event in reversed(events) if isinstance(event.get("to"), str))
    newest = next(changes, None)
    if newest is None or newest["to"] != status:
        return None
    return _act(newest, status)


def _act(event: Event, about: str) -> PersonsAct:
    return PersonsAct(
        about,
        _text(event, "at"),
        _text(event, "by") or _text(event, "how"),
        _text(event, "by_from") or None,
        _text(event, "said_from") or None,
        _text(event, "agent") or None,
        _text(event, "note"),
        _text(event, "evidence_id") or None,
    )


def _text(event: Event, key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""
