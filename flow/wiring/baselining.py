"""Red first (SPEC 10): a goal's commands on its base commit."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial

from flow.adapters.attribution.command_checks import pipe_warnings
from flow.adapters.baseline import links, remembered, work_folder
from flow.adapters.baseline import runs as baseline_runs
from flow.adapters.chain import event_log
from flow.adapters.fs import clock, locks
from flow.app.evaluation.values import BaseTools
from flow.app.transitions import base_runs
from flow.core import layout
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from flow.app.evaluation.values import Listener
    from flow.app.ports import RunChecks
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings
    from flow.wiring.context import Context

WAIT = 1.0
"""Seconds that an evaluation waits for somebody else's base runs."""


def base_tools(context: Context, listener: Listener) -> BaseTools:
    """The tools for running commands on the base commit."""

    def append_event(run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        fields = dict(event)
        kind = fields.pop("type")
        event_log.append(context.top, run_id, goal_id, kind, fields, at=clock.now())
        context.run_record.commit(run_id)

    def record_runs(goal_id: str, rows: Mapping[str, BaseRun]) -> None:
        documents = {name: run.to_document() for name, run in rows.items()}
        context.notes("baselines").write(goal_id, {"rows": documents})

    @contextmanager
    def checkout(goal: Goal, commit: str, left: Callable[[], float]) -> Iterator[RunChecks]:
        with baseline_runs.open_base_runner(
            context.repo,
            commit,
            context.state_dir,
            environ=context.environ,
            output_limit=context.settings.settings.output_limit_bytes,
            cache_dir=context.cache("parsed"),
            seconds_left=left,
            links=_links(context, goal),
        ) as run_checks:
            yield run_checks

    place = remembered.ResultStore(context.cache("baselines"), context.repository, context.environ)
    return BaseTools(
        checkout=checkout,
        cached_run=partial(remembered.recall, place),
        cache_run=partial(remembered.remember, place),
        recorded_runs=lambda goal_id: context.base_runs(context.load(goal_id).goal),
        record_runs=record_runs,
        append_event=append_event,
        ledger=context.ledger,
        now=clock.now,
        version=__version__,
        listener=listener,
    )


def _links(context: Context, goal: Goal) -> links.BaseLinks:
    """The files that are copied into each checkout; :class:`InputError` for what cannot be."""
    paths = goal.baseline_link
    if not paths:
        return links.BaseLinks()
    baseline = context.tree.baseline(goal, goal.run_id or "").baseline
    links.refuse_unusable(context.top, paths, baseline.ignore_rules, context.cache("worktree"))
    now = links.digests(context.top, [path for path in paths if path in baseline.linked])
    changed = tuple(path for path in now if now[path] != baseline.linked[path])
    return links.BaseLinks(paths, changed)


def run_baseline(context: Context, goal_id: str, listener: Listener, **how: Any) -> dict[str, Any]:
    """Run a goal's commands; see :func:`flow.app.transitions.base_runs.baseline`."""
    sweep(context)
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

    def alone(self, goal_id: str) -> AbstractContextManager[None]:
        lock = layout.baseline_lock(goal_id)
        return locks.exclusive(self._context.top, lock, timeout=WAIT, quick=True)


def sweep(context: Context) -> None:
    """Remove what killed calls have left; a folder that cannot be is left to ``flow doctor``."""
    with suppress(FlowError):
        work_folder.remove_abandoned(context.state_dir)
