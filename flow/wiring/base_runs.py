"""Base runs (SPEC 10, red first): a goal's commands on its base commit."""

from __future__ import annotations

from functools import partial

from flow.adapters.attribution.command_checks import pipe_warnings
from flow.adapters.baseline import remembered
from flow.adapters.baseline import runs as baseline_runs
from flow.adapters.fs import clock, locks
from flow.adapters.ledger.loop_record import append_event
from flow.app.evaluation.baselines import record_base_runs
from flow.app.transitions import base_runs
from flow.core import layout
from flow.startup.typing import TYPE_CHECKING, Any
from flow.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from flow.app.evaluation.values import Listener
    from flow.app.ports import RunChecks
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings
    from flow.wiring.context import Context

WAIT = 1.0
"""Seconds that `flow goal baseline` waits for another one of the same goal."""


class BaseCommands:
    """A checkout as :class:`~flow.app.evaluation.tools.BaseTools` sees it."""

    version = __version__
    now = staticmethod(clock.now)

    def __init__(self, context: Context, listener: Listener) -> None:
        self._context, self.listener, self.ledger = context, listener, context.ledger
        cache_dir = context.cache("baselines")
        results = remembered.ResultStore(cache_dir, context.repository, context.environ)
        self.cached_run = partial(remembered.recall, results)
        self.cache_run = partial(remembered.remember, results)
        self.append_event = partial(append_event, context, sync=True)

    def checkout(
        self, goal: Goal, commit: str, seconds_left: Callable[[], float]
    ) -> AbstractContextManager[RunChecks]:
        context = self._context
        return baseline_runs.open_base_runner(
            context.repo,
            commit,
            context.state_dir,
            environ=context.environ,
            output_limit=context.settings.settings.output_limit_bytes,
            cache_dir=context.cache("parsed"),
            seconds_left=seconds_left,
            links=context.tree.linked(goal),
        )

    def recorded_base_runs(self, goal_id: str) -> Mapping[str, BaseRun]:
        return self._context.base_runs(self._context.load(goal_id).goal)

    def record_base_runs(self, goal_id: str, runs: Mapping[str, BaseRun]) -> None:
        record_base_runs(self._context.notes("baselines"), goal_id, runs)


def run_on_base(context: Context, goal_id: str, listener: Listener, **how: Any) -> dict[str, Any]:
    """Run a goal's commands there; see :func:`flow.app.transitions.base_runs.baseline`."""
    context.tree.sweep()
    return base_runs.baseline(_BaseRuns(context), goal_id, listener, **how)


class _BaseRuns:
    """A checkout as :class:`~flow.app.transitions.base_runs.BaseRunsPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.load = context.load
        self.take_settings_of = context.take_settings_of
        self.trusted = context.trusted
        self.finish = context.finish
        self.base_tools = partial(BaseCommands, context)
        self.pipe_warnings = pipe_warnings

    @property
    def settings(self) -> LoadedSettings:
        return self._context.settings

    def base_run_lock(self, goal_id: str) -> AbstractContextManager[None]:
        lock = layout.baseline_lock(goal_id)
        return locks.exclusive(self._context.top, lock, timeout=WAIT, quick=True)
