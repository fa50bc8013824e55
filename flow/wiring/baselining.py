"""Red first (SPEC 10): what is known of a goal's commands on its base commit."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial

from flow.adapters.baseline import links as baseline_links
from flow.adapters.baseline import remembered, work_folder
from flow.adapters.baseline import runs as baseline_runs
from flow.adapters.chain import event_log
from flow.adapters.fs import clock, locks
from flow.app.evaluation.values import BaseTools
from flow.app.transitions import base_runs
from flow.core import layout
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.parts import version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from flow.adapters.baseline.links import BaseLinks
    from flow.app.evaluation.values import Listener
    from flow.app.ports import RunChecks
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings
    from flow.wiring.parts import Parts

WAIT = 1.0
"""Seconds that an evaluation waits for somebody else's base runs."""


def bench(parts: Parts, listener: Listener) -> BaseTools:
    """What running commands on the base commit works with."""

    def append_event(run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        fields = dict(event)
        kind = fields.pop("type")
        event_log.append(parts.top, run_id, goal_id, kind, fields, at=clock.now())
        parts.run_record.commit(run_id)

    def record_runs(goal_id: str, rows: Mapping[str, BaseRun]) -> None:
        documents = {name: run.to_document() for name, run in rows.items()}
        parts._notes("baselines").write(goal_id, {"rows": documents})

    @contextmanager
    def checkout(goal: Goal, commit: str, left: Callable[[], float]) -> Iterator[RunChecks]:
        with baseline_runs.open_base_runner(
            parts.repo,
            commit,
            parts.state_dir,
            environ=parts.environ,
            output_limit=parts.settings.settings.output_limit_bytes,
            cache_dir=parts._cache("parsed"),
            seconds_left=left,
            links=_links(parts, goal),
        ) as run_checks:
            yield run_checks

    place = remembered.ResultStore(parts._cache("baselines"), parts.repository, parts.environ)
    return BaseTools(
        checkout=checkout,
        cached_run=partial(remembered.recall, place),
        cache_run=partial(remembered.remember, place),
        recorded_runs=lambda goal_id: parts.base_runs(parts.load(goal_id).goal),
        record_runs=record_runs,
        append_event=append_event,
        ledger=parts.ledger,
        now=clock.now,
        version=version(),
        listener=listener,
    )


def _links(parts: Parts, goal: Goal) -> BaseLinks:
    """What is copied into each checkout; :class:`InputError` for what cannot be."""
    paths = goal.baseline_link
    if not paths:
        return baseline_links.BaseLinks()
    known = parts._baseline(goal, goal.run_id or "").baseline
    baseline_links.refuse_unusable(parts.top, paths, known.ignore_rules, parts._cache("worktree"))
    now = baseline_links.digests(parts.top, [path for path in paths if path in known.linked])
    changed = tuple(path for path in now if now[path] != known.linked[path])
    return baseline_links.BaseLinks(paths, changed)


def baseline(parts: Parts, goal_id: str, listener: Listener, **how: Any) -> dict[str, Any]:
    """See :func:`flow.app.transitions.base_runs.baseline`."""
    return base_runs.baseline(_BaseRuns(parts), goal_id, listener, **how)


class _BaseRuns:
    """A checkout as :class:`~flow.app.transitions.base_runs.BaseRunsPort` sees it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.load = parts.load
        self.take_settings_of = parts.take_settings_of
        self.trusted = parts.trusted

    @property
    def settings(self) -> LoadedSettings:
        return self._parts.settings

    def finish(self, goal_id: str) -> None:
        self._parts.ledger.finish(goal_id)

    def alone(self, goal_id: str) -> AbstractContextManager[None]:
        lock = layout.baseline_lock(goal_id)
        return locks.exclusive(self._parts.top, lock, timeout=WAIT, quick=True)

    def bench(self, listener: Listener) -> BaseTools:
        return bench(self._parts, listener)

    def pipe_warnings(self, goal: Goal) -> list[str]:
        from flow.adapters.attribution.command_checks import pipe_warnings  # parses shell

        return pipe_warnings(goal)


def sweep(state: str) -> None:
    """Remove what killed calls have left; a folder that cannot be is left to ``flow doctor``."""
    try:
        work_folder.remove_abandoned(state)
    except FlowError:
        pass
