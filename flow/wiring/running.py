"""What a goal waits for, with the real parts."""

from __future__ import annotations

from flow.app.ports import Check
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.user_state.goal_notes import Notes
    from flow.app.ports import CheckResult
    from flow.core.goal.lifecycle import NonTerminal
    from flow.core.goal.loaded import LoadedGoal
    from flow.wiring.context import Context

LEAST_SECONDS = 0.1


class Waiting:
    """A checkout as :class:`~flow.app.stop.waiting.WaitPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.load = context.load

    @property
    def waits(self) -> Notes:
        return self._context.notes("waits")

    def shift(self, goal_id: str, to: NonTerminal, reason: str) -> LoadedGoal:
        from flow.app.transitions.moves import shift_status

        return shift_status(self._context.closing_context(), goal_id, to, reason)

    def attempt(self, command: str, seconds: float) -> CheckResult:
        from flow.adapters.verification.trial import run_alone  # few stops ask again

        check = Check("wait", command, "", max(seconds, LEAST_SECONDS))
        return run_alone(self._context.top, self._context.environ, [check])[0][1]
