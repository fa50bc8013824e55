"""Results on the base commit in an evaluation and its verdict (SPEC 10, red first)."""

from __future__ import annotations

from flow.app.evaluation.measure import wanted_criteria
from flow.app.evaluation.red_first import BaseRequest, measure
from flow.core.evidence import red_first as core
from flow.core.text.display import names
from flow.errors import FlowError, Interrupted
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.app.evaluation.tools import EvaluationTools
    from flow.app.evaluation.values import Facts, Request
    from flow.core.decision.verdict import CriterionResult


NO_TIME = "no time was left to run its command on the base commit"


def look_up_base(
    facts: Facts, request: Request, only: frozenset[str] | None, tools: EvaluationTools
) -> Facts:
    """The facts with the base's results; missing ones are run where the contract asks for them."""
    goal = facts.loaded.goal
    rows = tools.base_runs(goal)
    facts = facts._replace(base_runs=rows)
    runs_nothing = request.dry_run or request.only_fresh
    if not goal.tdd_required or runs_nothing:
        return facts
    missing = tuple(c for c in wanted_criteria(goal, only) if c.id not in rows)
    if not missing:
        return facts
    if not goal.base_commit:
        return facts._replace(base_problem="the goal has no pinned base commit")
    limits = tools.limits.for_call(request, goal)
    base_request = BaseRequest(
        goal,
        facts.loaded.contract,
        facts.run_id,
        missing,
        limits.jobs,
        limits.timeout_seconds,
        seconds_left=_share(tools.seconds_left),
    )
    try:
        measured = measure(base_request, tools.base_tools())
    except Interrupted:
        raise
    except FlowError as error:  # it decides nothing, so the evaluation goes on
        return facts._replace(base_runs=tools.base_runs(goal), base_problem=error.fault.message)
    late = f"{names(measured.out_of_time)}: {NO_TIME}" if measured.out_of_time else ""
    return facts._replace(base_runs=measured.rows, base_problem=late, base_ran=bool(measured.ran))


def _share(seconds_left: Callable[[], float] | None) -> Callable[[], float] | None:
    """Half of the caller's time: a judge may have to be asked, too."""
    if seconds_left is None:
        return None
    reserved = seconds_left() / 2
    return lambda: seconds_left() - reserved


def with_base_runs(
    facts: Facts, results: tuple[CriterionResult, ...]
) -> tuple[tuple[CriterionResult, ...], tuple[str, ...]]:
    """The verdict's rows with their results on the base, and the warnings about those."""
    goal, runs = facts.loaded.goal, facts.base_runs
    limit = core.limitation(goal.base_commit or "")
    rows = []
    for row in results:
        run = runs.get(row.criterion_id)
        more = (limit,) if run is not None and run.non_discriminating else ()
        limitations = tuple(dict.fromkeys((*row.limitations, *more)))
        base = run.shown() if run is not None else None
        rows.append(row._replace(base=base, limitations=limitations))
    problem = (f"red first: {facts.base_problem}",) if facts.base_problem else ()
    return tuple(rows), (*core.warnings(goal, runs), *problem)
