"""Fuzzy criteria that are judged in a way of their own: by a scorecard, or by a debate.

The judges' ballots are about the others. What each way came to is put together with the ballots
here, and it can only lower them: the least that any of them says is what the opinion says.
"""

from __future__ import annotations

from flow.core.decision.decide import JudgedCriterion
from flow.core.judging.goal.ballots import Tally
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.decision.verdict import BlockerType, VerdictName
    from flow.core.goal.model import Criterion, Goal
    from flow.core.judging.goal.bundle import Sought

Way = Literal["scorecard", "debate", "person"]
"""``person``: nothing is there that a judge could rest a pass on."""

LOWEST_GRADE = "B-"
"""The grade that passes where a criterion names none: 7.0, satisfactory."""


class ScorecardOrder(NamedTuple):
    """A criterion's ``scorecard``."""

    skill: str | None
    """None: whatever skill ran last."""
    min_grade: str = LOWEST_GRADE
    file: str | None = None
    rubric: str | None = None

    @property
    def way(self) -> Way:
        """The contract's key."""
        return "scorecard"


class DebateOrder(NamedTuple):
    """A criterion's ``debate``, with its defaults."""

    solution: tuple[str, ...]
    task: str
    criteria: str | None = None
    kind: str = "code"
    judges: int = 3
    rounds: int = 3
    mode: Literal["debate", "vote"] = "debate"
    min_score: float | None = None

    @property
    def way(self) -> Way:
        """The contract's key."""
        return "debate"


Order = ScorecardOrder | DebateOrder


class Heard(NamedTuple):
    """What one way came to about one criterion. ``status`` is None where a person must look."""

    id: str
    way: Way
    status: Literal["pass", "fail"] | None
    reason: str
    confidence: float = 0.0
    hint: str = ""
    document: Mapping[str, Any] = {}
    """What is recorded of it."""
    remarks: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


def undecided(criterion: Criterion, request: Order, why: str) -> Heard:
    """No result, so a person must look; ``why`` says what kept it from one."""
    return Heard(criterion.id, request.way, None, f"{request.way}: {why}")


def orders(criterion: Criterion) -> tuple[Order, ...]:
    """How a fuzzy criterion is judged apart from the ballots; nothing where it is not."""
    if not criterion.fuzzy:
        return ()
    requests: list[Order] = []
    card = criterion.document.get("scorecard")
    if card or card == {}:
        given = card if isinstance(card, dict) else {}
        skill = card if isinstance(card, str) else given.get("skill")
        requests.append(
            ScorecardOrder(
                skill,
                given.get("min_grade", LOWEST_GRADE),
                given.get("file"),
                given.get("rubric"),
            )
        )
    debate = criterion.document.get("debate")
    if debate or debate == {}:
        requests.append(_debate(criterion, debate))
    return tuple(requests)


def _debate(criterion: Criterion, debate: object) -> DebateOrder:
    given = debate if isinstance(debate, dict) else {}
    solution = given.get("solution") or criterion.evidence_paths
    return DebateOrder(
        solution=(solution,) if isinstance(solution, str) else tuple(solution),
        task=given.get("task") or criterion.text,
        criteria=given.get("criteria"),
        kind=debate if isinstance(debate, str) else given.get("kind", "code"),
        judges=given.get("judges", 3),
        rounds=given.get("rounds", 3),
        mode=given.get("mode", "debate"),
        min_score=given.get("min_score"),
    )


def apart(goal: Goal, sought: Sequence[Sought]) -> tuple[Criterion, ...]:
    """The criteria, of those that are asked about, that are judged apart."""
    asked = {one.id for one in sought}
    return tuple(c for c in goal.criteria if c.id in asked and orders(c))


def balloted(goal: Goal, sought: Sequence[Sought]) -> tuple[Sought, ...]:
    """Those that the ballots are about: all but what is judged apart and has no rubric."""
    left_out = {c.id for c in apart(goal, sought) if not c.document.get("rubric")}
    return tuple(one for one in sought if one.id not in left_out)


_SEVERITY: tuple[VerdictName, ...] = ("blocked", "not_achieved", "needs_human_review", "achieved")
"""The first of these that anybody says is what the opinion says."""


class _Voice(NamedTuple):
    """One that has a say: the ballots together, or what was heard of a required criterion."""

    verdict: VerdictName
    confidence: float
    reason: str
    hint: str
    blocker: BlockerType = "none"


def together(counted: Tally | None, heard: Sequence[Heard], sought: Sequence[Sought]) -> Tally:
    """The opinion of the ballots (None: there were none to cast) and of what was heard apart."""
    required = {one.id for one in sought if one.must_pass}
    voices = [_heard(one) for one in heard if one.id in required]
    if counted is not None:
        voices.insert(0, _ballots(counted))
    verdict = min((voice.verdict for voice in voices), key=_SEVERITY.index, default=_SEVERITY[2])
    deciding = [voice for voice in voices if voice.verdict == verdict]
    base = counted or Tally(verdict, 0.0, "", "", "none", (), 0, 0, 0, 0.0)
    return base._replace(
        verdict=verdict,
        confidence=min((voice.confidence for voice in deciding), default=0.0),
        reason="; ".join(dict.fromkeys(voice.reason for voice in deciding if voice.reason)),
        next_step_hint=next((voice.hint for voice in deciding if voice.hint), ""),
        blocker_type=next((v.blocker for v in deciding if v.blocker != "none"), "none"),
        criteria=tuple(_row(one, counted, heard) for one in sought),
    )


def _ballots(counted: Tally) -> _Voice:
    return _Voice(
        counted.verdict,
        counted.confidence,
        counted.reason,
        counted.next_step_hint,
        counted.blocker_type,
    )


def _heard(one: Heard) -> _Voice:
    says: dict[str | None, VerdictName] = {"pass": "achieved", "fail": "not_achieved"}
    verdict = says.get(one.status, "needs_human_review")
    return _Voice(verdict, one.confidence, f"{one.id}: {one.reason}", one.hint)


def _row(one: Sought, counted: Tally | None, heard: Sequence[Heard]) -> JudgedCriterion:
    """The least that is said of a criterion."""
    rows = [row for row in (counted.criteria if counted else ()) if row.id == one.id]
    rows += [
        JudgedCriterion(h.id, h.status or "incomplete", remark=h.reason)
        for h in heard
        if h.id == one.id
    ]
    return min(rows, key=lambda row: ("fail", "incomplete", "pass").index(row.status))
