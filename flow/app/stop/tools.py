"""What a stop of an agent is decided with: the host, and everything outside of values."""

from __future__ import annotations

from flow.core.stop.lost_goals import Loss, OpenGoal, SessionNotes
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.app.evaluation.values import Evaluated, Request
    from flow.core.chain.closing_record import ClosedGoal
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.model import Criterion, Goal
    from flow.core.stop.pause import Pause
    from flow.core.stop.policy import LoopCounters, Mode
    from flow.errors import FlowError


class Host(NamedTuple):
    """What the host takes: the size of a reason, and how many continuations in a row."""

    command: str
    """How a user of this host evaluates a goal."""
    limit: int
    size: Callable[[str], int]
    cap: int | None
    seconds: float = 300.0
    """The hook's time for one stop."""


class Sight(NamedTuple):
    """What can be seen of the checkout's goals, and what the state folder remembers of them."""

    goals: Sequence[Goal]
    """The branch's goals that are not closed."""
    broken: Mapping[str, FlowError] = {}
    """What is wrong with those that cannot be read, by id, and with changes, by their files."""
    known: Mapping[str, OpenGoal] = {}
    """The goals that Flow left open in this checkout, by id."""
    losses: Sequence[Loss] = ()
    """Those of them that cannot be judged any more."""
    contracts: Mapping[str, str] = {}
    """SHA-256 of the contracts of ``goals``, by id."""
    notes: SessionNotes = SessionNotes()
    """What the hook did in this session."""
    paused: Mapping[str, Pause] = {}
    """Of the goals that somebody has set aside: who and why, by id."""
    closings: Sequence[ClosedGoal] = ()
    """Goals of this branch or session that were closed, which no stop has told yet."""


class Sessions(Protocol):
    """Whose a goal is, and what the hook did in a session."""

    def owner(self, goal_id: str) -> str | None:
        """The session a goal belongs to; None where it belongs to none, or that one is idle."""

    def own(self, goal_id: str, session: str) -> None:
        """Remember that a session works on a goal."""

    def has_stopped(self, session: str) -> bool:
        """Whether the session has ever stopped in this checkout."""

    def keep(self, session: str, notes: SessionNotes) -> None:
        """Remember what the hook did in a session."""

    def closings_told(self, goal_ids: Sequence[str]) -> None:
        """Remember that these goals' closings were told in this checkout."""


class LoopRecord(Protocol):
    """The counters and events of a goal's run."""

    def loop(self, goal_id: str, run_id: str) -> LoopCounters:
        """The counters; fresh ones where there are none."""

    def keep_loop(self, run_id: str, loop: LoopCounters) -> None:
        """Replace the counters."""

    def persist(self, verdict: Verdict) -> tuple[str, ...]:
        """Keep the verdict; returns warnings."""

    def note(self, run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        """Append an event to a run."""

    def redacted(self, message: str) -> str:
        """The agent's message as it may be kept: without secrets, and cut."""

    def output_end(self, evidence_ref: str) -> str:
        """The end of the output behind a sidecar's path."""

    def shown_before(self, run_id: str, criterion: Criterion) -> float | None:
        """How many seconds the criterion's command took when it last passed or failed.

        None where it did so at no earlier turn of the run.
        """

    def judge_cost(self, run_id: str) -> float:
        """What judges have cost in a run, in US dollars, as far as they told."""


class GoalMoves(Protocol):
    """What a stop may change of a goal."""

    def resume(self, goal_id: str, reason: str) -> None:
        """A waiting goal becomes active again."""

    def wait_for_person(self, goal_id: str, reason: str) -> None:
        """A goal waits for the user, and nothing is proposed."""

    def fail(self, evaluated: Evaluated, reason: str) -> None:
        """Close a goal as ``failed``."""

    def propose(self, evaluated: Evaluated, reason: str, waits: bool) -> Verdict:
        """Propose ``failed``; with ``waits`` the goal waits for the user meanwhile."""

    def missed(self, goal: Goal, run_id: str, status: str, contract: str) -> None:
        """Remember a goal that was judged: from now on it is missed."""


class StopTools(NamedTuple):
    """Everything a stop touches outside of values."""

    mode: Mode
    fail_after: int
    propose_only: bool
    """``onStuck: propose``."""
    sight: Callable[[str | None], Sight]
    """What is there for a session."""
    sessions: Sessions
    record: LoopRecord
    moves: GoalMoves
    ready: Callable[[Goal], tuple[bool, str]]
    """Asks again what a ``waiting_for_ci`` goal waits for; whether it is there, and in words."""
    evaluate: Callable[[Request], Evaluated]
    alone: Callable[[str], AbstractContextManager[None]]
    """One stop at a time is judged for a goal; the next one waits, and reuses what it found."""
    now: Callable[[], float]
    """Seconds since 1970."""
