"""Base runs (SPEC 10, red first): a goal's commands on its base commit."""

from __future__ import annotations

from functools import partial

from flow.adapters.attribution.command_checks import pipe_warnings
from flow.adapters.baseline import remembered
from flow.adapters.baseline import runs as baseline_runs
from flow.adapters.fs import clock, locks
from flow.adapters.ledger.loop_record import append_event
from flow.app.evaluation.baselines import record_base_runs
from flow.app.evaluation.values import BaseTools
from flow.app.transitions import base_runs
from flow.core import layout
from flow.startup.typing import TYPE_CHECKING, Any
from flow.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from flow.app.evaluation.values import Listener
    from flow.app.ports import RunChecks
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings
    from flow.wiring.context import Context

WAIT = 1.0
"""Seconds that `flow goal baseline` waits for another one of the same goal."""


def base_tools(context: Context, listener: Listener) -> BaseTools:
    """The tools for running commands on the base commit."""

    def checkout(
        goal: Goal, commit: str, left: Callable[[], float]
    ) -> AbstractContextManager[RunChecks]:
        return baseline_runs.open_base_runner(
            context.repo,
            commit,
            context.state_dir,
            environ=context.environ,
            output_limit=context.settings.settings.output_limit_bytes,
            cache_dir=context.cache("parsed"),
            seconds_left=left,
            links=context.tree.linked(goal),
        )

    place = remembered.ResultStore(context.cache("baselines"), context.repository, context.environ)
    return BaseTools(
        checkout=checkout,
        cached_run=partial(remembered.recall, place),
        cache_run=partial(remembered.remember, place),
        recorded_base_runs=lambda goal_id: context.base_runs(context.load(goal_id).goal),
        record_base_runs=lambda goal_id, rows: record_base_runs(
            context.notes("baselines"), goal_id, rows
        ),
        append_event=partial(append_event, context, sync=True),
        ledger=context.ledger,
        now=clock.now,
        version=__version__,
        listener=listener,
    )


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
        self.base_tools = partial(base_tools, context)
        self.pipe_warnings = pipe_warnings

    @property
    def settings(self) -> LoadedSettings:
        return self._context.settings

    def base_run_lock(self, goal_id: str) -> AbstractContextManager[None]:
        lock = layout.baseline_lock(goal_id)
        return locks.exclusive(self._context.top, lock, timeout=WAIT, quick=True)
