"""What a stop of the agent leads to (SPEC 6): the table, and the limits of the loop.

Values only. Whoever calls brings the evaluation, the counters (``loop.json``) and the time.
"""

from __future__ import annotations

from flow.core.decision.decide import Opinion
from flow.core.evidence.repeat import FLAKY
from flow.startup.sha import sha256
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flow.core.decision.decide import Candidate, Decision, Measured, NoOpinion

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
"""What an evaluation came to, as the rows of SPEC 6's table name it. ``proof_lost``:
nothing failed, and a criterion that passed or failed before shows nothing any more. ``undecided``:
fuzzy criteria are left, or a person has to look."""

CONTINUE: Mapping[Row, frozenset[Mode]] = {
    "failed": frozenset(("block", "evaluator-loop")),
    "violation": frozenset(("block", "evaluator-loop")),
    "proof_lost": frozenset(("block", "evaluator-loop")),
    "judge_not_achieved": frozenset(("evaluator-loop",)),
}
"""In which modes a row keeps the agent working. Every other cell lets it go."""

THROTTLE_COUNT = 3
THROTTLE_SECONDS = 300
"""So many continuations in so many seconds that left the subject as it was: let go."""

NEAR = 3
"""The budget is told when so many stops, or fewer, are left of it."""

Why = Literal["", "stuck", "budget", "throttle", "cap"]
"""Which limit let the agent go; empty: none did."""


class Recent(NamedTuple):
    """One continuation: when (seconds since 1970) and on which state of the files."""

    at: float
    tree: str | None


class LoopCounters(NamedTuple):
    """The hook's counters for a goal's run (``loop.json``).

    They count from the user's last prompt on, over stops that answer a continuation.
    """

    goal_id: str
    session: str | None = None
    prompt: str | None = None
    """The host's id of the user's prompt that the counters belong to, where it tells one."""
    continuing: bool = False
    """Whether the newest stop of that session was answered by a continuation."""
    continuations: int = 0
    in_row: int = 0
    """Continuations since the files last changed: the host counts those without a tool call."""
    stuck_turns: int = 0
    passing_sha256: str | None = None
    recent: tuple[Recent, ...] = ()
    evidence: Mapping[str, str] = {}
    """Criterion id to the newest sidecar of the hook's, for work that has not changed since."""

    def to_document(self) -> dict[str, Any]:
        """As ``loop.json`` holds it."""
        return {
            **self._asdict(),
            "recent": [recent._asdict() for recent in self.recent],
            "evidence": dict(self.evidence),
        }


class LoopLimits(NamedTuple):
    """What ends the loop. ``cap`` is the host's; None: it has none."""

    stuck: int
    budget: int
    cap: int | None


class LoopLimit(NamedTuple):
    """A limit, and at which stop from now on it lets the agent go: 1 is the next one."""

    why: Why
    stops: int


class StopStep(NamedTuple):
    """What to do at this stop, and the counters after it."""

    action: Literal["continue", "let_go"]
    why: Why
    loop: LoopCounters
    endings: tuple[LoopLimit, ...] = ()
    """The limit that stops without progress reach first; then the budget, where that is near."""
    last_of_host: bool = False
    """Whether the host may take no further one."""


def stop_row(
    candidate: Candidate,
    decision: Decision,
    opinion: Opinion | NoOpinion | None,
    proof_lost: Sequence[str] = (),
) -> Row:
    """The table's row for an evaluation; ``proof_lost`` names the criteria that lost theirs."""
    if decision.blocker_type == "scope_violation":
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
    """Whether ``last_result`` names a signal: that says nothing, whatever the runs before said."""
    return result is not None and result.startswith("signal ")


def disproved(candidate: Candidate, measured: Iterable[Measured]) -> bool:
    """Whether a command, or a judge's ``fail``, is what keeps the goal open.

    A judge that says ``incomplete`` of all that is left has seen nothing that is wrong.
    """
    return candidate in ("fail", "incomplete") or any(m.must_pass and m.failing for m in measured)


def passing_set(measured: Iterable[Measured]) -> str:
    """SHA-256 over the ids of the criteria that pass."""
    text = "\n".join(sorted(m.criterion_id for m in measured if m.passing))
    return sha256(text.encode("utf-8")).hexdigest()


def answers(loop: LoopCounters, session: str | None, prompt: str | None, continued: bool) -> bool:
    """Whether a stop answers one of the hook's continuations; a prompt of the user's does not.

    ``continued`` is the host's own flag. It can be False in a turn that answers one, so the id of
    the prompt decides where the host tells it.
    """
    if not loop.continuing or loop.session != session:
        return False
    if prompt is not None and loop.prompt is not None:
        return prompt == loop.prompt
    return continued


def counted(
    loop: LoopCounters,
    *,
    session: str | None,
    prompt: str | None,
    continued: bool,
    passing: str | None,
) -> LoopCounters:
    """The counters with this stop in them. ``passing`` is None where nothing was decided."""
    if not answers(loop, session, prompt, continued):
        loop = loop._replace(
            session=session,
            prompt=prompt,
            continuations=0,
            in_row=0,
            stuck_turns=0,
            passing_sha256=None,
        )
    loop = loop._replace(continuing=False)
    if passing is None:
        return loop
    same = passing == loop.passing_sha256
    return loop._replace(stuck_turns=loop.stuck_turns + 1 if same else 0, passing_sha256=passing)


def stop_step(
    row: Row, mode: Mode, loop: LoopCounters, limits: LoopLimits, *, tree: str | None, at: float
) -> StopStep:
    """The table, then the limits in their order: stuck, budget, throttle, the host's cap.

    ``loop`` has this stop counted already; ``tree`` is the subject, ``at`` the time in seconds
    since 1970.
    """
    if mode not in CONTINUE.get(row, ()):
        return StopStep("let_go", "", loop)
    if mode == "evaluator-loop":
        if loop.stuck_turns >= limits.stuck:
            return StopStep("let_go", "stuck", loop)
        if loop.continuations >= limits.budget:
            return StopStep("let_go", "budget", loop)
    if _throttled(loop, tree, at):
        return StopStep("let_go", "throttle", loop)
    same = bool(loop.recent) and tree is not None and loop.recent[-1].tree == tree
    in_row = loop.in_row + 1 if same else 1
    if limits.cap is not None and in_row > limits.cap:
        return StopStep("let_go", "cap", loop)
    used = loop.continuations + 1
    after = loop._replace(
        continuing=True,
        continuations=used,
        in_row=in_row,
        recent=(*loop.recent, Recent(at, tree))[-THROTTLE_COUNT:],
    )
    endings = _endings(after, mode, limits, tree)
    return StopStep("continue", "", after, endings, limits.cap in (in_row, used))


def _endings(
    after: LoopCounters, mode: Mode, limits: LoopLimits, tree: str | None
) -> tuple[LoopLimit, ...]:
    """When the limits end this, if nothing changes from here on."""
    idle = []
    if mode == "evaluator-loop":  # the first stop that decides something only starts to count
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
    """Three continuations in five minutes, all on the files as they still are.

    A clock that was set back makes a time look later than now: that counts as just now.
    """
    newest = loop.recent[-THROTTLE_COUNT:]
    return (
        len(newest) == THROTTLE_COUNT
        and tree is not None
        and all(r.tree == tree and at - r.at <= THROTTLE_SECONDS for r in newest)
    )


def loop_from_document(document: Mapping[str, Any], goal_id: str) -> LoopCounters | None:
    """The counters as read back; None where they are another goal's, or not what Flow writes."""
    texts = ("session", "prompt", "passing_sha256")
    counts = ("continuations", "in_row", "stuck_turns")
    recent, evidence = document.get("recent", []), document.get("evidence", {})
    if (
        document.get("goal_id") != goal_id
        or not all(isinstance(document.get(key), str | None) for key in texts)
        or not all(type(document.get(key, 0)) is int for key in counts)
        or not all(document.get(key, 0) >= 0 for key in counts)
        or not isinstance(document.get("continuing", False), bool)
        or not isinstance(recent, list)
        or not all(_is_recent(item) for item in recent)
        or not isinstance(evidence, dict)
        or not all(isinstance(path, str) for path in evidence.values())
    ):
        return None
    return LoopCounters(
        goal_id,
        session=document.get("session"),
        prompt=document.get("prompt"),
        continuing=document.get("continuing", False),
        continuations=document.get("continuations", 0),
        in_row=document.get("in_row", 0),
        stuck_turns=document.get("stuck_turns", 0),
        passing_sha256=document.get("passing_sha256"),
        recent=tuple(Recent(item["at"], item.get("tree")) for item in recent[-THROTTLE_COUNT:]),
        evidence=evidence,
    )


def _is_recent(item: object) -> bool:
    return (
        isinstance(item, dict)
        and type(item.get("at")) in (int, float)
        and isinstance(item.get("tree"), str | None)
    )
