"""Labelling judges by what people decide, with the real parts."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.adapters.user_state.judge_labels import LabelLog
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.working_tree import closing_context

if TYPE_CHECKING:
    from flow.app.evaluation.values import ClosingContext
    from flow.app.ports import Records
    from flow.core.goal.loaded import LoadedGoal
    from flow.wiring.context import Context


class Labelling:
    """A checkout as :class:`~flow.app.judging.labelling.LabellingPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def records(self) -> Records:
        return self._context.records

    def load(self, goal_id: str) -> LoadedGoal:
        return self._context.load(goal_id)

    def closing_context(self) -> ClosingContext:
        return closing_context(self._context)

    def label_book(self) -> LabelLog:
        return LabelLog(self._context.state_dir, self._context.top, self._context.repo.common_dir)

    def now(self) -> str:
        return clock.now()
