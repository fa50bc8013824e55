"""Red first (SPEC 10): what is known of a goal's commands on its base commit."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial

from flow.app.evaluation.values import BaseRequest
from flow.core import layout
from flow.core.goal import ids
from flow.errors import FlowError, PersonNeeded, StateError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.parts import version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from flow.adapters.baseline.links import BaseLinks
    from flow.app.evaluation.values import BaseRows, BaseTools, Listener
    from flow.app.ports import RunChecks
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Criterion, Goal
    from flow.core.sandbox import Sandbox
    from flow.wiring.evaluating import Evaluating

KIND = "base"
"""The kind of the entries that are remembered; they lie in ``cache/baselines``."""
REVISION = 2
"""To be raised when what a base run comes to changes without a change of Flow's version."""
CONDITIONS = (
    *("PATH", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"),
    *("NODE_PATH", "NODE_ENV", "GOFLAGS", "GOPATH", "JAVA_HOME", "RUSTFLAGS", "CARGO_HOME"),
)
"""Variables that decide which programs and libraries a command finds."""
WAIT = 1.0
"""Seconds that an evaluation waits for somebody else's base runs."""


def bench(parts: Evaluating, listener: Listener) -> BaseTools:
    """What running commands on the base commit works with."""
    from flow.adapters.chain import event_log
    from flow.adapters.fs import clock
    from flow.app.evaluation.values import BaseTools

    def note(run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        fields = dict(event)
        kind = fields.pop("type")
        event_log.append(parts.top, run_id, goal_id, kind, fields, at=clock.now())
        parts.run_record.commit(run_id)

    def keep(goal_id: str, rows: Mapping[str, BaseRun]) -> None:
        documents = {name: run.to_document() for name, run in rows.items()}
        parts._notes("baselines").write(goal_id, {"rows": documents})

    @contextmanager
    def opened(goal: Goal, commit: str, left: Callable[[], float]) -> Iterator[RunChecks]:
        from flow.adapters.baseline import runs as baseline_runs

        with baseline_runs.open_base_runner(
            parts.repo,
            commit,
            parts.state_dir,
            environ=parts.environ,
            output_limit=parts.settings.settings.output_limit_bytes,
            cache_dir=parts._cache("parsed"),
            left=left,
            links=_links(parts, goal),
        ) as run_checks:
            yield run_checks

    return BaseTools(
        opened=opened,
        remembered=partial(_remembered, parts),
        remember=partial(_remember, parts),
        kept=lambda goal_id: parts.base_runs(parts.load(goal_id).goal),
        keep=keep,
        note=note,
        ledger=parts.ledger,
        now=clock.now,
        version=version(),
        listener=listener,
    )


def _links(parts: Evaluating, goal: Goal) -> BaseLinks:
    """What is copied into each checkout; :class:`InputError` for what cannot be."""
    from flow.adapters.baseline import links as baseline_links

    paths = goal.baseline_link
    if not paths:
        return baseline_links.BaseLinks()
    known = parts._baseline(goal, goal.run_id or "").baseline
    baseline_links.refuse_unusable(parts.top, paths, known.ignore_rules, parts._cache("worktree"))
    now = baseline_links.digests(parts.top, [path for path in paths if path in known.linked])
    changed = tuple(path for path in now if now[path] != known.linked[path])
    return baseline_links.BaseLinks(paths, changed)


def baseline(
    parts: Evaluating,
    goal_id: str,
    listener: Listener,
    *,
    only: Sequence[str],
    jobs: int | None,
    timeout: float | None,
    again: bool,
) -> dict[str, Any]:
    """``flow goal baseline``: run a goal's commands on its base commit; what they came to.

    Raises :class:`PersonNeeded` for a contract that is not trusted, :class:`StateError` for a draft
    or closed goal, :class:`GitError` where the base commit is not here.
    """
    from flow.adapters.fs import locks
    from flow.app.evaluation import red_first
    from flow.app.evaluation.evaluate import chosen_criteria
    from flow.app.transitions.closing import refuse_closed

    parts.ledger.finish(ids.goal_id(goal_id))
    loaded = parts.load(goal_id)
    goal = loaded.goal
    parts.take_settings_of(goal.run_id)
    refuse_closed(goal, "running its commands on the base commit")
    if goal.run_id is None or goal.base_commit is None:
        raise StateError(
            f"goal {goal.id} has no pinned base commit",
            code="no_base",
            key="scope.base_commit",
            remedy=f"flow goal activate {goal.id}"
            if goal.status == "draft"
            else "make git work here; a goal is pinned when it is created or activated",
        )
    named = chosen_criteria(goal, only)
    trusted, why = parts.trusted(loaded)
    if not trusted:
        raise PersonNeeded(
            f"the goal's commands are not trusted here: {why}",
            code="not_trusted",
            remedy=f"read the contract, then: flow trust record {goal.id}",
        )
    settings = parts.settings.settings
    order = BaseRequest(
        goal,
        loaded.contract,
        goal.run_id,
        tuple(c for c in goal.criteria if not c.fuzzy and (named is None or c.id in named)),
        jobs or goal.jobs or settings.jobs,
        timeout or settings.command_timeout_seconds,
        again=again,
    )
    with locks.exclusive(parts.top, layout.baseline_lock(goal.id), timeout=WAIT, quick=True):
        found = red_first.measure(order, bench(parts, listener))
    return _document(goal, order.criteria, found, loaded.warnings)


def _document(
    goal: Goal, criteria: Sequence[Criterion], found: BaseRows, warnings: Sequence[str]
) -> dict[str, Any]:
    from flow.adapters.attribution.command_checks import pipe_warnings
    from flow.core.evidence import red_first

    rows = []
    for criterion in criteria:
        run = found.rows[criterion.id]
        reference = None
        if run.evidence_id is not None:
            reference = layout.evidence_file(goal.run_id or "", run.evidence_id)
        rows.append(
            {
                "criterion_id": criterion.id,
                **run.shown(),
                "reason": run.reason,
                "at": run.at,
                "cached": criterion.id in found.cached,
                "evidence_ref": reference,
            }
        )
    asked = {c.id: found.rows[c.id] for c in criteria}
    return {
        "goal_id": goal.id,
        "run_id": goal.run_id,
        "base_commit": goal.base_commit,
        "criteria": rows,
        red_first.NON_DISCRIMINATING: red_first.green_criteria(asked.items()),
        "warnings": [*warnings, *red_first.warnings(goal, asked), *pipe_warnings(goal)],
        "next": f"flow goal evaluate {goal.id}",
    }


def sweep(state: str) -> None:
    """Remove what killed calls have left; a folder that cannot be is left to ``flow doctor``."""
    from flow.adapters.baseline import work_folder

    try:
        work_folder.remove_abandoned(state)
    except FlowError:
        pass


def _conditions(
    parts: Evaluating, commit: str, criterion: Criterion, sandbox: Sandbox | None
) -> bytes:
    """All that a base run's result may depend on and that Flow knows of."""
    import json

    machine = os.uname()
    told = [
        REVISION,
        parts.repository,
        commit,
        criterion.verification_command,
        criterion.cwd or "",
        [machine.sysname, machine.machine, machine.nodename],
        {name: parts.environ.get(name) for name in CONDITIONS},
        sandbox,
    ]
    return json.dumps(told, sort_keys=True).encode("ascii")


def _remembered(
    parts: Evaluating, commit: str, criterion: Criterion, sandbox: Sandbox | None
) -> BaseRun | None:
    from flow.adapters.contracts import cache as contracts_cache
    from flow.core.evidence import red_first

    folder = parts._cache("baselines")
    if folder is None:
        return None
    entry = contracts_cache.load_checked(
        folder, _conditions(parts, commit, criterion, sandbox), KIND
    )
    return red_first.from_document(entry[0]) if entry is not None else None


def _remember(
    parts: Evaluating,
    commit: str,
    criterion: Criterion,
    sandbox: Sandbox | None,
    run: BaseRun,
) -> None:
    from flow.adapters.contracts import cache as contracts_cache

    folder = parts._cache("baselines")
    if folder is not None:
        document = run._replace(evidence_id=None).to_document()
        key = _conditions(parts, commit, criterion, sandbox)
        contracts_cache.store_checked(folder, key, document, [], KIND)
