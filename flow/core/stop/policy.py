"""The policy for a stop of the agent (SPEC 6): the table, and the limits of the loop.

Values only: the caller brings the evaluation, the counters (``loop.json``) and the time.
"""

from __future__ import annotations

from flow.core.decision.decide import Candidate, Decision, Measured, NoOpinion, Opinion
from flow.core.evidence.model import FLAKY
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


Mode = Literal["off", "warn", "block", "evaluator-loop"]
Row = Literal[
    "failed",
    "violation",
    "proof_lost",
    "inconclusive",
    "judge_not_achieved",
    "undecided",
    "proved",
    "untrusted",
]
"""The result of an evaluation, as a row of SPEC 6's table. ``proof_lost``: nothing failed, and a
criterion that passed or failed before shows nothing any more. ``undecided``: fuzzy criteria are
open, or a person must decide.
"""

CONTINUE: Mapping[Row, frozenset[Mode]] = {
    "failed": frozenset(("block", "evaluator-loop")),
    "violation": frozenset(("block", "evaluator-loop")),
    "proof_lost": frozenset(("block", "evaluator-loop")),
    "judge_not_achieved": frozenset(("evaluator-loop",)),
}
"""The modes in which a row keeps the agent working. Every other cell lets it go."""

THROTTLE_COUNT = 3
THROTTLE_SECONDS = 300
"""Seconds. This many continuations within them that left the subject as it was: let go."""
SET_BACK = 3600
"""Seconds. A continuation that is later than now by more tells nothing of the last minutes."""

NEAR = 3
"""The budget is shown when this many of its stops, or fewer, remain."""

LimitName = Literal["", "stuck", "budget", "time", "cost", "throttle", "cap"]
"""The limit that let the agent go; empty: none did. ``time`` and ``cost`` are the goal's own
(``max_seconds``, ``max_cost_usd``).
"""


class Continuation(NamedTuple):
    """One continuation: its time (seconds since 1970) and the digest of the files then."""

    at: float
    tree: str | None


class LoopCounters(NamedTuple):
    """The hook's counters for a goal's run (``loop.json``).

    They start at the user's last prompt, and cover the stops that answer a continuation.
    """

    goal_id: str
    session: str | None = None
    prompt: str | None = None
    """The host's id of the user's prompt at which the counters start; None if it sends none."""
    continuing: bool = False
    """Whether the newest stop of that session was answered by a continuation."""
    continuations: int = 0
    in_row: int = 0
    """Continuations since the files last changed: the host counts those without a tool call."""
    stuck_turns: int = 0
    passing_sha256: str | None = None
    began: float | None = None
    """The moment of the first of these continuations (epoch seconds); None: none yet."""
    recent: tuple[Continuation, ...] = ()
    evidence: Mapping[str, str] = {}
    """Criterion id → the hook's newest sidecar, for work that has not changed since."""

    def to_document(self) -> dict[str, Any]:
        """The content of ``loop.json``."""
        return {
            **self._asdict(),
            "recent": [recent._asdict() for recent in self.recent],
            "evidence": dict(self.evidence),
        }


class LoopLimits(NamedTuple):
    """The limits of the loop. ``cap`` is the host's; None: it has none."""

    stuck: int
    budget: int
    cap: int | None
    seconds: float | None = None
    """Seconds that the goal allows after the first continuation; None: no limit."""
    cost: float | None = None
    """US dollars that the goal's judges may cost; None: no limit."""
    spent: float = 0.0
    """US dollars that they have cost so far."""


class LoopLimit(NamedTuple):
    """A limit, and the number of the stop at which it lets the agent go: 1 is the next one."""

    limit: LimitName
    stops: int


class StopStep(NamedTuple):
    """The action at this stop, and the counters after it."""

    action: Literal["continue", "let_go"]
    limit: LimitName
    loop: LoopCounters
    endings: tuple[LoopLimit, ...] = ()
    """The first limit that stops without progress reach; then the budget, if it is near."""
    last_of_host: bool = False
    """Whether the host may refuse a further continuation."""


def stop_row(
    candidate: Candidate,
    decision: Decision,
    opinion: Opinion | NoOpinion | None,
    proof_lost: Sequence[str] = (),
) -> Row:
    """The table's row for an evaluation; ``proof_lost`` names criteria that lost their proof."""
    if decision.blocker_type == "scope_violation" and opinion is None:  # else a judge's word
        return "violation"
    if candidate == "fail":
        return "failed"
    if candidate == "incomplete":
        return "proof_lost" if proof_lost else "inconclusive"
    if decision.verdict == "achieved":
        return "proved"
    if isinstance(opinion, Opinion) and decision.verdict == "not_achieved":
        return "judge_not_achieved"
    return "undecided"


def may_have_lost_its_proof(outcome: str, reason: str) -> bool:
    """Whether an inconclusive result can mean that a command stopped showing anything.

    Runs that disagree still show something: they are repeated instead (flaky).
    """
    return outcome == "inconclusive" and not reason.startswith(FLAKY)


def ended_by_signal(result: str | None) -> bool:
    """Whether ``last_result`` names a signal, which proves nothing in either direction."""
    return result is not None and result.startswith("signal ")


def disproved(candidate: Candidate, measured: Iterable[Measured]) -> bool:
    """Whether a command that has not passed, or a judge's ``fail``, keeps the goal open.

    A judge that finds the rest ``incomplete`` has seen no fault.
    """
    return candidate in ("fail", "incomplete") or any(m.must_pass and m.failing for m in measured)


def passing_set(measured: Iterable[Measured]) -> str:
    """SHA-256 over the ids of the criteria that pass."""
    text = "\n".join(sorted(m.criterion_id for m in measured if m.passing))
    return sha256(text.encode("utf-8")).hexdigest()


def answers_continuation(
    loop: LoopCounters, session: str | None, prompt: str | None, continued: bool
) -> bool:
    """Whether a stop answers one of the hook's continuations, and not a prompt of the user.

    ``continued`` is the host's own flag. It can be False in a turn that answers one, so the id of
    the prompt decides if the host sends one.
    """
    if not loop.continuing or loop.session != session:
        return False
    if prompt is not None and loop.prompt is not None:
        return prompt == loop.prompt
    return continued


def answered_meanwhile(
    loop: LoopCounters, session: str | None, prompt: str | None, began: float
) -> bool:
    """Whether this stop was answered by a continuation after its hook was started.

    An agent stops again only after its hooks have ended. So the host runs the hook twice, and the
    other run has counted the stop. ``began`` is the start in seconds since 1970.
    """
    same = session is not None and (session, prompt) == (loop.session, loop.prompt)
    return same and loop.continuing and bool(loop.recent) and loop.recent[-1].at >= began


def count_stop(
    loop: LoopCounters,
    *,
    session: str | None,
    prompt: str | None,
    continued: bool,
    passing: str | None,
) -> LoopCounters:
    """Count this stop. ``passing`` is None if nothing was decided."""
    if not answers_continuation(loop, session, prompt, continued):
        started = LoopCounters(loop.goal_id, session, prompt)
        loop = started._replace(recent=loop.recent, evidence=loop.evidence)
    loop = loop._replace(continuing=False)
    if passing is None:
        return loop
    same = passing == loop.passing_sha256
    return loop._replace(stuck_turns=loop.stuck_turns + 1 if same else 0, passing_sha256=passing)


def stop_step(
    row: Row,
    mode: Mode,
    loop: LoopCounters,
    limits: LoopLimits,
    *,
    tree: str | None,
    at: float,
    again: bool = False,
) -> StopStep:
    """The table, then the limits in their order: stuck, budget, time, cost, throttle, host's cap.

    ``loop`` includes this stop; ``tree`` is the subject, ``at`` the time in seconds since 1970.
    ``again``: the stop was :func:`answered_meanwhile`, so ``loop`` has the continuation, too.
    """
    if mode not in CONTINUE.get(row, ()):
        return StopStep("let_go", "", loop)
    if not again:
        same = bool(loop.recent) and tree is not None and loop.recent[-1].tree == tree
        after = loop._replace(
            continuing=True,
            continuations=loop.continuations + 1,
            in_row=loop.in_row + 1 if same else 1,
            began=at if limits.seconds is not None and loop.began is None else loop.began,
            recent=(*loop.recent, Continuation(at, tree))[-THROTTLE_COUNT:],
        )
        limit = _limit_reached(loop, after.in_row, mode, limits, tree, at)
        if limit:
            return StopStep("let_go", limit, loop)
        loop = after
    endings = _endings(loop, mode, limits, tree)
    return StopStep("continue", "", loop, endings, limits.cap in (loop.in_row, loop.continuations))


def _limit_reached(
    loop: LoopCounters, in_row: int, mode: Mode, limits: LoopLimits, tree: str | None, at: float
) -> LimitName:
    """The first limit that is reached, or empty. ``in_row`` counts the next continuation, too."""
    if mode == "evaluator-loop":
        if loop.stuck_turns >= limits.stuck:
            return "stuck"
        if loop.continuations >= limits.budget:
            return "budget"
    own = _spent_budget(loop, limits, at)
    if own:
        return own
    if _throttled(loop, tree, at):
        return "throttle"
    return "cap" if limits.cap is not None and in_row > limits.cap else ""


def _spent_budget(loop: LoopCounters, limits: LoopLimits, at: float) -> LimitName:
    """The goal's own limit that is reached, or empty. It applies in every mode that continues."""
    began = at if loop.began is None else loop.began
    if limits.seconds is not None and at - began >= limits.seconds:
        return "time"
    return "cost" if limits.cost is not None and limits.spent >= limits.cost else ""


def _endings(
    after: LoopCounters, mode: Mode, limits: LoopLimits, tree: str | None
) -> tuple[LoopLimit, ...]:
    """The stops at which the limits end the loop, if nothing changes from now on."""
    idle = []
    if mode == "evaluator-loop":  # the first stop that decides something only starts the count
        equal = after.stuck_turns if after.passing_sha256 is not None else -1
        idle.append(LoopLimit("stuck", limits.stuck - equal))
    if tree is not None:
        newest = [recent.tree == tree for recent in reversed(after.recent)]
        same = newest.index(False) if False in newest else len(newest)
        idle.append(LoopLimit("throttle", THROTTLE_COUNT - same + 1))
    if limits.cap is not None:
        idle.append(LoopLimit("cap", limits.cap - after.in_row + 1))
    first = min(idle, key=lambda ending: ending.stops, default=None)
    endings = [first] if first is not None else []
    budget = LoopLimit("budget", limits.budget - after.continuations + 1)
    near = first is None or budget.stops <= max(first.stops, NEAR)
    return (*endings, budget) if mode == "evaluator-loop" and near else tuple(endings)


def _throttled(loop: LoopCounters, tree: str | None, at: float) -> bool:
    """Whether the last three continuations were within five minutes, all on the present files.

    A time later than now (the clock was set back) counts as now, but not one that is much later:
    else each stop would be let go until the clock is there again.
    """
    newest = loop.recent[-THROTTLE_COUNT:]
    return (
        len(newest) == THROTTLE_COUNT
        and tree is not None
        and all(r.tree == tree and -SET_BACK <= at - r.at <= THROTTLE_SECONDS for r in newest)
    )


def loop_from_document(document: Mapping[str, Any], goal_id: str) -> LoopCounters | None:
    """The counters from ``loop.json``; None for another goal's, or an invalid document."""
    texts = ("session", "prompt", "passing_sha256")
    counts = ("continuations", "in_row", "stuck_turns")
    recent, evidence = document.get("recent", []), document.get("evidence", {})
    if (
        document.get("goal_id") != goal_id
        or not all(isinstance(document.get(key), str | None) for key in texts)
        or not all(type(n := document.get(key, 0)) is int and n >= 0 for key in counts)
        or not isinstance(document.get("continuing", False), bool)
        or type(document.get("began")) not in (int, float, type(None))
        or not isinstance(recent, list)
        or not all(_is_recent(item) for item in recent)
        or not isinstance(evidence, dict)
        or not all(isinstance(path, str) for path in evidence.values())
    ):
        return None
    keys = (*texts, *counts, "continuing", "began")
    newest = [Continuation(item["at"], item.get("tree")) for item in recent[-THROTTLE_COUNT:]]
    return LoopCounters(
        **{key: document[key] for key in keys if key in document},
        goal_id=goal_id,
        recent=tuple(newest),
        evidence=evidence,
    )


def _is_recent(item: object) -> bool:
    return (
        isinstance(item, dict)
        and type(item.get("at")) in (int, float)
        and isinstance(item.get("tree"), str | None)
    )
