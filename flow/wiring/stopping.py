"""The Stop hook with the real parts (SPEC 6)."""

from __future__ import annotations

import os
import time

from flow.adapters.fs import clock, locks
from flow.adapters.user_state import checkouts
from flow.adapters.user_state.checkouts import CheckoutNotes
from flow.app.stop import sight
from flow.app.stop.handle import handle_stop
from flow.app.stop.tools import StopTools
from flow.core import layout
from flow.core.stop import lost_goals
from flow.errors import FlowError
from flow.startup.contexts import contextmanager
from flow.startup.functools import partial
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flow.app.evaluation.values import Evaluated, Request
    from flow.app.open_goals import CheckoutGoals
    from flow.app.stop.tools import Host, Sight
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.model import Goal
    from flow.core.stop.hosts import StopAnswer, StopEvent

ASK_SECONDS = 30.0
"""The most that asking again what a goal waits for may take in the hook."""
LOOP = "Stop hook, evaluator-loop"
"""Command name in records of a goal that the loop moved without a person."""
MARGIN = 5.0
"""Seconds of the hook's time that are kept for writing down what was decided; of a short time half
of it, so that something can be run at all."""


def context_of(cwd: str | None, session: str | None = None) -> Context:
    """The checkout that an event is about; ``cwd`` is its folder, which may be gone.

    A checkout that Flow works for is found at its old place, even if nothing of it is left; if
    ``cwd`` is in none, the one in which ``session`` was kept working. Raises :class:`InputError`
    without a repository, a ``.flow`` and a checkout that Flow knows.
    """
    folder = cwd or os.getcwd()
    repo = checkouts.repository_around(folder, os.environ, session)
    while repo is not None and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return Context(folder, repo=repo)


class Stopping:
    """The stops of agents in one checkout."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._goals = Goals(context)
        self._goals_read: CheckoutGoals | None = None

    def left_behind(self, session: str | None) -> list[str]:
        """Messages about another checkout's goals that the session was kept working for."""
        context = self._context
        try:
            top = checkouts.worked_in(context.state_dir, session)
            if session is None or top is None or top == context.top:
                return []
            from flow.app.stop import unjudged

            there = CheckoutNotes(context.state_dir, top, None)
            return unjudged.left_behind(context.top, session, top, there)
        except FlowError:
            return []

    def switched_off(self, session: str | None, why: str) -> list[str]:
        """See :func:`flow.app.stop.unjudged.switched_off`."""
        from flow.app.stop import unjudged

        return unjudged.switched_off(lambda: self._context.checkout_notes, session, why)

    def take_settings_of_open_goals(self) -> tuple[str, ...]:
        """Use the settings that were in force when the branch's goals began, as far as readable.

        Returns what is wrong with the rest, and what is not obeyed.
        """
        try:
            self._goals_read = self._goals.read_here()
            here = (each.goal for each in self._goals_read.here.values())
            faults = self._context.be_lenient(*filter(lost_goals.is_acting, here))
        except FlowError:  # the stop itself tells that the goals cannot be read
            faults = self._context.be_lenient()
        return (*faults, *self._context.settings.ignored)

    def stop(self, event: StopEvent, host: Host, seconds_left: Callable[[], float]) -> StopAnswer:
        """Decide about one stop of an agent. Raises :class:`FlowError`."""
        from flow.adapters.ledger.loop_record import StopRecord  # a claim loads this module, too

        context = self._context
        context.speaker = None  # nobody speaks at a stop: `how` names the hook
        settings = context.settings.settings
        margin = min(MARGIN, host.seconds / 2)

        def left() -> float:
            return seconds_left() - margin

        tools = StopTools(
            mode=settings.stop_hook_enforcement,
            fail_after=settings.fail_after_stuck_turns,
            propose_only=settings.on_stuck == "propose",
            sight=self._sight,
            load=lambda goal_id: self._goals.load(goal_id).goal,
            sessions=sight.GoalSessions(context),
            record=StopRecord(context),
            moves=StopMoves(context),
            ready=lambda goal: self._ready(goal, min(ASK_SECONDS, left())),
            evaluate=partial(self._evaluate, left),
            stop_lock=partial(self._stop_lock, left),
            now=time.time,
        )
        return handle_stop(event, host, tools)

    def _sight(self, session: str | None) -> Sight:
        read, self._goals_read = self._goals_read, None  # a second look reads them again
        return sight.sight_of(self._goals, session, read=read)

    def _ready(self, goal: Goal, seconds: float) -> tuple[bool, str]:
        from flow.adapters.verification.waiting import Waiting
        from flow.app.stop import waiting

        return waiting.ask_again(Waiting(self._context), goal, seconds)

    def _evaluate(self, left: Callable[[], float], request: Request) -> Evaluated:
        from flow.wiring.evaluating import examine

        return examine(self._context, request, seconds_left=left)

    @contextmanager
    def _stop_lock(self, left: Callable[[], float], goal_id: str) -> Iterator[None]:
        from flow.wiring.evaluating import evaluation_lock

        lock = layout.stop_lock(goal_id)
        with (
            locks.exclusive(self._context.top, lock, timeout=max(left(), 0.1), quick=True),
            evaluation_lock(self._context, goal_id, left),
        ):
            yield


class StopMoves:
    """The changes of a goal that a stop may make (:class:`~flow.app.stop.tools.GoalMoves`)."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def resume(self, goal_id: str, reason: str) -> None:
        from flow.adapters.verification.waiting import Waiting
        from flow.app.stop import waiting

        waiting.go_on(Waiting(self._context), goal_id, reason)

    def wait_for_person(self, goal_id: str, reason: str) -> None:
        from flow.app.transitions.moves import shift_status

        closing_context = self._context.closing_context()
        shift_status(closing_context, goal_id, "waiting_for_user", reason, LOOP)

    def fail(self, evaluated: Evaluated, reason: str) -> None:
        from flow.app.transitions import closing

        closing.give_up(self._context.closing_context(), evaluated, reason, LOOP, clock.now())

    def propose(self, evaluated: Evaluated, reason: str, waits: bool) -> Verdict:
        from flow.app.transitions import closing

        ledger, records = self._context.ledger, self._context.records
        return closing.propose_failed(
            ledger, records, evaluated, reason, waits=waits, now=clock.now()
        )

    def note_open(self, goal: Goal, run_id: str, status: str, contract: str) -> None:
        self._context.remembered.after_change(goal, run_id, status, contract)
