"""What a crowd was told, compared with what is on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.faults.view import disagreements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.view import View

RACED = 8
"""Evidence ids that everybody wants."""
OUTSIDE = ("locked", "storage", "outside", "git")
"""Codes of errors after which an operation may have happened or not."""
ELSEWHERE = ("race", "pause", "resume", "verdict")
"""Kinds that need not leave a trace of their own; they are looked at by themselves."""


class Operation(NamedTuple):
    """One call. ``answer`` is None where none came."""

    worker: int
    number: int
    kind: str
    token: str
    given: dict[str, Any]
    called: float
    answered: float | None
    answer: dict[str, Any] | None

    @property
    def done(self) -> bool:
        """Whether it was acknowledged."""
        return self.answer is not None and self.answer["ok"]

    @property
    def refused(self) -> bool:
        """Whether it was told that nothing happened."""
        return self.answer is not None and not self.done and self.code not in OUTSIDE

    @property
    def ended(self) -> float:
        """From when on it has certainly happened; never, where that is not known.

        What ended with an error from outside may have been decided and be completed by others.
        """
        return self.answered if self.done and self.answered is not None else float("inf")

    @property
    def code(self) -> str:
        """The code of its error; empty where it has none."""
        return str((self.answer or {}).get("code", ""))

    def __str__(self) -> str:
        return f"{self.token} {self.kind} {self.given} -> {self.answer}"


def check(operations: Sequence[Operation], view: View) -> list[str]:
    """Compare what was answered with what is on disk."""
    problems = [*view.broken, *disagreements(view)]
    problems += [f"crashed: {op}" for op in operations if op.code == "crashed"]
    if view.status in ("achieved", "failed", "cancelled"):
        problems.append(f"the goal is {view.status}, and nobody closed it")
    places: dict[str, int] = {}
    for op in operations:
        seqs, times = _traces(op, view)
        if len(set(times)) > 1:
            problems.append(f"happened in some places only ({times}): {op}")
        if max(times) > 1:
            problems.append(f"happened {times} times: {op}")
        if op.refused and max(times):
            problems.append(f"refused, and happened: {op}")
        if op.done and not max(times) and op.kind not in ELSEWHERE:
            problems.append(f"acknowledged, and did not happen: {op}")
        if seqs:
            places[op.token] = seqs[0]
    problems += _races(operations, view)
    problems += _order(operations, places)
    problems += _idle(operations, places, view)
    problems += _turns(operations, view)
    problems += _last_verdict(operations, view)
    return problems


def _traces(op: Operation, view: View) -> tuple[list[int], list[int]]:
    """The ``seq`` of the operation's events, and how often each of its traces is there."""

    def events(**fields: Any) -> list[int]:
        return [e["seq"] for e in view.events if all(e.get(k) == v for k, v in fields.items())]

    def artifacts(**fields: Any) -> int:
        return sum(all(a.get(k) == v for k, v in fields.items()) for a in view.artifacts)

    if op.kind == "evidence":
        seqs = events(type="evidence", evidence_id=op.token)
        captured = artifacts(type="evidence-captured", evidence_id=op.token)
        return seqs, [len(seqs), captured, view.evidence.count(op.token)]
    if op.kind in ("pause", "resume", "lifecycle"):
        seqs = events(type="transition", reason=op.token)
        return seqs, [len(seqs), artifacts(type="goal-evaluation", reason=op.token)]
    if op.kind == "approve":
        seqs = events(type="approved", by=op.token)
        return seqs, [len(seqs), artifacts(type="evidence-captured", approved_by=op.token)]
    if op.kind == "journal":
        return [], [artifacts(type="note", topic=op.token)]
    if op.kind == "evaluate" and op.done and op.answer is not None:
        seqs = events(type="evaluated", turn=op.answer["turn"], to=op.answer["to"])
        return seqs, [len(seqs)]
    return [], [0]


def _races(operations: Sequence[Operation], view: View) -> list[str]:
    """An id that many want goes to one of them."""
    problems = []
    for number in range(RACED):
        name = f"race-{number}"
        wanted = [op for op in operations if op.given.get("id") == name]
        won = [op for op in wanted if op.done]
        there = view.evidence.count(name)
        told = sum(e["type"] == "evidence" and e["evidence_id"] == name for e in view.events)
        if len(won) > 1 or there > 1 or there != told or (won and not there):
            problems.append(f"{name}: {len(won)} were told they won, {there} there, {told} told of")
        if there and all(op.refused for op in wanted):
            problems.append(f"{name} is there, and everybody was refused")
    return problems


def _order(operations: Sequence[Operation], places: dict[str, int]) -> list[str]:
    """What was answered before another was called comes before it."""
    placed = sorted((places[op.token], op) for op in operations if op.token in places)
    problems = []
    latest = float("-inf")
    for _, op in placed:  # by seq: none may have been answered before one ahead of it was called
        if op.ended < latest:
            problems.append(f"stands behind what was called after its answer: {op}")
        latest = max(latest, op.called)
    return problems


def _idle(operations: Sequence[Operation], places: dict[str, int], view: View) -> list[str]:
    """A pause of a goal that waits already writes nothing: it must have been waiting then."""
    states: dict[int, str] = {}
    status = ""
    for event in view.events:
        status = str(event.get("to") or status)
        states[event["seq"]] = status
    problems = []
    for op in operations:
        if op.kind not in ("pause", "resume") or not op.done or op.token in places:
            continue
        wanted = "waiting_for_user" if op.kind == "pause" else "active"
        before = [
            places[other.token]
            for other in operations
            if other.token in places and other.ended < op.called
        ]
        first = max(before, default=1)
        after = [
            places[other.token]
            for other in operations
            if other.token in places and other.called > op.ended
        ]
        last = min(after, default=len(states) + 1)
        if wanted not in {states[seq] for seq in range(first, last) if seq in states}:
            problems.append(f"said it was {wanted}, which it was not: {op}")
    return problems


def _turns(operations: Sequence[Operation], view: View) -> list[str]:
    problems = []
    turns = 0
    ours = {op.token for op in operations if op.kind == "lifecycle"}
    for event in view.events:
        if event["type"] == "evaluated":
            if event["turn"] != turns + 1:
                problems.append(f"turn {event['turn']} follows {turns}")
            turns = event["turn"]
        elif event["type"] == "transition" and event.get("reason") in ours:
            turns += 1
    if turns != view.turns:
        problems.append(f"the events count {turns} turns, the goal {view.turns}")
    found = sum(event["type"] == "evaluated" for event in view.events) - 1  # ours, afterwards
    asked = [op for op in operations if op.kind == "evaluate"]
    sure = sum(op.done for op in asked)
    unsure = sum(not op.done and not op.refused for op in asked)
    if not sure <= found <= sure + unsure:
        problems.append(f"{found} evaluations, {sure} acknowledged and {unsure} unanswered")
    return problems


def _last_verdict(operations: Sequence[Operation], view: View) -> list[str]:
    """The verdict on disk is one that nobody replaced afterwards."""
    wrote = {op.token: op for op in operations if op.kind == "verdict"}
    there = wrote.get(str((view.verdict or {}).get("reason")))
    if there is None:  # our evaluation afterwards has recorded its own
        return [] if view.verdict is not None and "goal_id" in view.verdict else ["no verdict"]
    ended = there.answered if there.answered is not None else float("inf")
    return [
        f"the verdict of {there.token} is older than {op.token}"
        for op in wrote.values()
        if op.done and op.called > ended
    ]
