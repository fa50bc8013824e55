"""The newest turn of a goal, from its events.

An evaluation at a stop does not write to the goal's file if the file has its result already, so
that a tracked file does not change with every turn. Its ``stop`` event has its number and results;
every display of the goal uses those, and the next write to the file includes them.
"""

from __future__ import annotations

from flow.startup.json import items_of, object_of, text_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.decision.verdict import CriterionResult
    from flow.core.goal.model import Criterion, Goal

CREDIBLE_TURNS = 10_000_000
"""An event that names a later turn is not believed: a forged one must not use up the numbers."""


class CriterionTurn(NamedTuple):
    """A turn's result for a criterion that it measured."""

    evidence_ref: str
    last_result: str | None


class RecordedTurn(NamedTuple):
    """A turn from its event; ``result`` is None if the goal's file has it, too."""

    turn: int
    verdict: str | None = None
    at: str = ""
    result: str | None = None
    reason: str = ""
    criteria: Mapping[str, CriterionTurn] = {}
    passing: Sequence[object] | None = None
    """The criteria that it proved; None if its event does not say."""

    @property
    def last_evaluation(self) -> dict[str, str] | None:
        """``lifecycle.last_evaluation``, if the file has an older one; else None."""
        if self.result is None:
            return None
        return {"result": self.result, "reason": self.reason, "at": self.at}


OWN_SOURCES = ("command", "evaluator-loop")
"""``source`` of the verdicts that Flow records itself."""


def is_handed_in(document: Mapping[str, Any], newest: RecordedTurn | None) -> bool:
    """Whether a recorded verdict was handed in: it is not the newest recorded turn's.

    Nor is one that says of a command that it passed where the turn's event does not. A verdict
    that ran nothing, because trust was missing, has no turn; its ``source`` decides.
    """
    if document.get("source") not in OWN_SOURCES:
        return True
    rows = items_of(document.get("criterion_results"))
    if rows and all(isinstance(r, dict) and r.get("outcome") == "not_executed" for r in rows):
        return False
    turn = object_of(document.get("lifecycle")).get("turns_evaluated")
    if newest is None or (turn, document.get("verdict")) != (newest.turn, newest.verdict):
        return True
    return newest.passing is not None and any(
        row.get("criterion_id") not in newest.passing
        for row in map(object_of, rows)
        if (row.get("status"), row.get("outcome")) == ("pass", "passed")
    )


def event_fields(
    goal: Goal,
    result: str,
    reason: str,
    rows: Sequence[CriterionResult],
    last_results: Mapping[str, str | None],
) -> dict[str, Any]:
    """The fields of a ``stop`` event for a turn that is not written to the goal's file.

    ``rows`` are the verdict's; ``last_results`` the commands' results by criterion. Criteria are
    left out if the file has their result already.
    """
    criteria = {}
    for row in rows:
        criterion, last = goal.criterion(row.criterion_id), last_results.get(row.criterion_id)
        if criterion is None or row.evidence_ref is None or last is None:
            continue
        if (criterion.evidence_ref, criterion.last_result) != (row.evidence_ref, last):
            criteria[row.criterion_id] = {"evidence_ref": row.evidence_ref, "last_result": last}
    return {"result": result, "reason": reason, "results": criteria}


def has_turn(event: Mapping[str, Any]) -> bool:
    """Whether an event has the number of an evaluation."""
    turn, is_evaluation = event.get("turn"), event.get("type") in ("stop", "evaluated")
    return is_evaluation and type(turn) is int and 0 < turn <= CREDIBLE_TURNS


def recorded_turn(event: Mapping[str, Any], *, written_since: bool) -> RecordedTurn:
    """The turn of an event that :func:`has_turn`; only its number if the file is newer."""
    number: int = event["turn"]
    result, verdict = event.get("result"), _text_or_none(event.get("verdict"))
    passing = items_of(event["passing"]) if "passing" in event else None
    if written_since or not isinstance(result, str):
        return RecordedTurn(number, verdict, passing=passing)
    criteria = {
        str(name): CriterionTurn(row["evidence_ref"], _text_or_none(row.get("last_result")))
        for name, row in object_of(event.get("results")).items()
        if isinstance(row, dict) and isinstance(row.get("evidence_ref"), str)
    }
    at, reason = text_of(event.get("at")), text_of(event.get("reason"))
    return RecordedTurn(number, verdict, at, result, reason, criteria, passing)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def with_turn(goal: Goal, recorded: RecordedTurn | None) -> Goal:
    """The goal as of its newest turn. Status and document remain those of the file."""
    if recorded is None or recorded.turn <= goal.turns_evaluated:
        return goal
    return goal._replace(
        turns_evaluated=recorded.turn,
        last_evaluation=recorded.last_evaluation or goal.last_evaluation,
        criteria=tuple(_criterion(criterion, recorded) for criterion in goal.criteria),
    )


def _criterion(criterion: Criterion, recorded: RecordedTurn) -> Criterion:
    row = recorded.criteria.get(criterion.id)
    if row is None:
        return criterion
    return criterion._replace(
        evidence_ref=row.evidence_ref, last_result=row.last_result, last_evaluated_at=recorded.at
    )
