"""Interfaces of a stop to the outside, and the limits of the agent's host."""

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
    """Limits of the agent's host: the size of a reason, and the continuations in a row."""

    command: str
    """Command with which a user of this host evaluates a goal."""
    limit: int
    size: Callable[[str], int]
    cap: int | None
    seconds: float = 300.0
    """The hook's time for one stop."""
    top: str = ""
    """The checkout's top level."""
    folder: str = ""
    """The agent's own folder."""
    began: float = float("inf")
    """Seconds since 1970 at which the hook was started; infinite if unknown."""


class Sight(NamedTuple):
    """The checkout's goals, and the state folder's memory of them."""

    goals: Sequence[Goal]
    """The branch's goals that are not closed."""
    broken: Mapping[str, FlowError] = {}
    """Faults of unreadable goals, by id."""
    left_open: Mapping[str, OpenGoal] = {}
    """The goals that Flow left open in this checkout, by id."""
    losses: Sequence[Loss] = ()
    """Those of them that cannot be judged any more."""
    contracts: Mapping[str, str] = {}
    """SHA-256 of the contracts of ``goals``, by id."""
    notes: SessionNotes = SessionNotes()
    """The hook's notes of this session."""
    paused: Mapping[str, Pause] = {}
    """Pauses by goal id: who set the goal aside, and why."""
    closings: Sequence[ClosedGoal] = ()
    """Goals of this branch or session that were closed, which no stop has told yet."""
    unfinished: Sequence[FlowError] = ()
    """Why changes that a killed call had decided could not be carried out."""


class Sessions(Protocol):
    """The session of each goal, and the hook's notes of a session."""

    def owner(self, goal_id: str) -> str | None:
        """The session a goal belongs to; None if it belongs to none, or that one is idle."""

    def own(self, goal_id: str, session: str) -> None:
        """Remember that a session works on a goal."""

    def has_stopped(self, session: str) -> bool:
        """Whether the session has ever stopped in this checkout."""

    def keep(self, session: str, notes: SessionNotes) -> None:
        """Remember what the hook did in a session."""

    def closings_told(self, goal_ids: Sequence[str]) -> None:
        """Remember that this checkout has reported these goals' closings."""


class LoopRecord(Protocol):
    """The counters and events of a goal's run."""

    def loop(self, goal_id: str, run_id: str) -> LoopCounters:
        """The counters; fresh ones where there are none."""

    def keep_loop(self, run_id: str, loop: LoopCounters) -> None:
        """Replace the counters."""

    def persist(self, verdict: Verdict, *, sync: bool) -> tuple[str, ...]:
        """Keep the verdict; returns warnings. Without ``sync`` the disk may get it later."""

    def note(self, run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        """Append an event to a run."""

    def redacted(self, message: str) -> str:
        """The agent's message as it may be kept: without secrets, and cut."""

    def output_end(self, evidence_ref: str) -> str:
        """The end of the output behind a sidecar's path."""

    def shown_before(self, run_id: str, criterion: Criterion) -> float | None:
        """Seconds that the criterion's command took when it last passed or failed.

        None if it did so at no earlier turn of the run.
        """

    def judge_cost(self, run_id: str) -> float:
        """Cost of a run's judges in US dollars, as far as they gave one."""


class GoalMoves(Protocol):
    """The changes of a goal that a stop may make."""

    def resume(self, goal_id: str, reason: str) -> None:
        """A waiting goal becomes active again."""

    def wait_for_person(self, goal_id: str, reason: str) -> None:
        """A goal waits for the user, and nothing is proposed."""

    def fail(self, evaluated: Evaluated, reason: str) -> None:
        """Close a goal as ``failed``."""

    def propose(self, evaluated: Evaluated, reason: str, waits: bool) -> Verdict:
        """Propose ``failed``; with ``waits`` the goal waits for the user meanwhile."""

    def note_open(self, goal: Goal, run_id: str, status: str, contract: str) -> None:
        """Remember a judged goal as left open: later stops notice if it is lost."""


class StopTools(NamedTuple):
    """Everything a stop touches outside of values."""

    mode: Mode
    fail_after: int
    propose_only: bool
    """``onStuck: propose``."""
    sight: Callable[[str | None], Sight]
    """Reads the checkout for a session."""
    load: Callable[[str], Goal]
    """Reads one goal as it is now; raises :class:`FlowError`."""
    sessions: Sessions
    record: LoopRecord
    moves: GoalMoves
    ready: Callable[[Goal], tuple[bool, str]]
    """Asks again what a ``waiting_for_ci`` goal waits for; whether it is there, and in words."""
    evaluate: Callable[[Request], Evaluated]
    stop_lock: Callable[[str], AbstractContextManager[None]]
    """One stop at a time is judged for a goal; the next one waits, and reuses what it found."""
    now: Callable[[], float]
    """Seconds since 1970."""
