"""Commands that are run outside of an evaluation: before a goal begins, and while one waits."""

from __future__ import annotations

from flow.app.ports import Check, CheckEvents
from flow.core import layout
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.user_state.goal_notes import Notes
    from flow.app.ports import CheckResult
    from flow.core.goal.lifecycle import NonTerminal
    from flow.core.goal.loaded import LoadedGoal
    from flow.wiring.context import Context

OUTPUT_LIMIT = 1 << 16
"""Bytes of an output: nothing is kept of it."""
LEAST_SECONDS = 0.1


def run_checks(context: Context, checks: Sequence[Check]) -> list[tuple[Check, CheckResult]]:
    """Run commands one after the other, as a goal's are run, and keep nothing of them."""
    from flow.adapters.verification.runner import CommandRunner  # few stops ask again

    results: list[tuple[Check, CheckResult]] = []
    top, environ = context.top, context.environ
    runner = CommandRunner(top, layout.WORK, environ=environ, output_limit=OUTPUT_LIMIT)
    events = CheckEvents(lambda _: None, lambda check, result: results.append((check, result)))
    runner(checks, jobs=1, events=events)
    return results


class Waiting:
    """A checkout as :class:`~flow.app.stop.waiting.WaitPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.load = context.load

    @property
    def waits(self) -> Notes:
        return self._context.notes("waits")

    def shift(self, goal_id: str, to: NonTerminal, reason: str) -> LoadedGoal:
        from flow.wiring import moving

        return moving.shift(self._context, goal_id, to, reason)

    def attempt(self, command: str, seconds: float) -> CheckResult:
        check = Check("wait", command, "", max(seconds, LEAST_SECONDS))
        return run_checks(self._context, [check])[0][1]
