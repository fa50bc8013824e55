"""Labelling judges by what people decide, with the real parts."""

from __future__ import annotations

from functools import partial

from flow.adapters.fs import clock
from flow.adapters.user_state.judge_labels import LabelLog
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.working_tree import closing_context

if TYPE_CHECKING:
    from flow.wiring.context import Context


class Labelling:
    """A checkout as :class:`~flow.app.judging.labelling.LabellingPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.records = context.records
        self.load = context.load
        self.closing_context = partial(closing_context, context)

    def label_book(self) -> LabelLog:
        return LabelLog(self._context.state_dir, self._context.top, self._context.repo.common_dir)

    now = staticmethod(clock.now)
