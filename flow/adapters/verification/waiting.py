"""Conditions that goals wait for: stored in the user's state folder, checked by commands."""

from __future__ import annotations

from flow.app.checks import Check
from flow.startup.typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.checks import CheckResult
    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.ports import GoalNotes
    from flow.core.goal.lifecycle import NonTerminal
    from flow.core.goal.loaded import LoadedGoal

LEAST_SECONDS = 0.1


class WaitContext(Protocol):
    """The parts of a checkout's context that waiting needs."""

    top: str
    environ: Mapping[str, str]

    def load(self, goal_id: str) -> LoadedGoal:
        """A goal; :class:`InputError` if there is none."""

    def closing_context(self) -> ClosingContext:
        """The context in which a person's command is decided."""

    def notes(self, kind: Literal["waits"]) -> GoalNotes:
        """Notes about goals in the user's state folder."""


class Waiting:
    """A checkout as :class:`~flow.app.stop.waiting.WaitPort` sees it."""

    def __init__(
        self, context: WaitContext, closing_context: Callable[[], ClosingContext] | None = None
    ) -> None:
        self._context = context
        self._closing_context = closing_context or context.closing_context
        self.load = context.load

    @property
    def waits(self) -> GoalNotes:
        """Notes on the waits of goals, one note for each goal."""
        return self._context.notes("waits")

    def shift(self, goal_id: str, to: NonTerminal, reason: str) -> LoadedGoal:
        """Write a non-terminal status."""
        from flow.app.transitions.moves import shift_status  # few stops move a goal

        return shift_status(self._closing_context(), goal_id, to, reason)

    def attempt(self, command: str, seconds: float) -> CheckResult:
        """Run a command once, as a goal's are run."""
        from flow.adapters.verification.trial import run_alone  # few stops ask again

        check = Check("wait", command, "", max(seconds, LEAST_SECONDS))
        return run_alone(self._context.top, self._context.environ, [check])[0][1]
