"""Selects the commands to run, and turns runs and reused evidence into results (SPEC 3, step 2)."""

from __future__ import annotations

from flow.app.evaluation import reuse
from flow.app.evaluation.values import Facts, Measurement, Measurements, Request
from flow.core.decision import explain
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.tools import EvaluationTools
    from flow.core.goal.model import Criterion, Goal


def wanted_criteria(goal: Goal, only: frozenset[str] | None) -> list[Criterion]:
    """The criteria whose commands this evaluation runs."""
    return [
        c
        for c in goal.criteria
        if not c.fuzzy and (c.must_pass or goal.require_all_pass) and (only is None or c.id in only)
    ]


def run(
    facts: Facts, request: Request, only: frozenset[str] | None, tools: EvaluationTools
) -> Measurements:
    """Run the commands; each one's evidence is on disk before the next result is handled.

    With ``request.reuse`` only those whose evidence does not fit the files any more, with
    ``request.only_fresh`` none. With ``tools.seconds_left`` those known to be fast go first, and
    what does not fit is left out.
    """
    criteria, reused, seconds = _planned_runs(facts, request, only, tools)
    not_run = {
        c.id: Measurement.not_run(c, explain.FUZZY if c.fuzzy else "")
        for c in facts.loaded.goal.criteria
    }
    rows = not_run | reused
    not_fresh: tuple[str, ...] = ()
    if request.only_fresh:
        not_fresh, criteria = tuple(criterion.id for criterion in criteria), []
    if not criteria:
        kept = tuple(rows.values())
        return Measurements(kept, False, False, reused=tuple(reused), not_fresh=not_fresh)
    from flow.app.evaluation.command_runs import CommandRuns  # where evidence stands, none runs

    runs = CommandRuns(facts, request, tools, rows, seconds)
    runs.run(criteria)
    return Measurements(
        tuple(runs.rows.values()),
        ran=True,
        goal_touched=any(change.startswith("goal ") for change in runs.touched),
        reused=tuple(reused),
        out_of_time=tuple(runs.waiting),
    )


def _planned_runs(
    facts: Facts, request: Request, only: frozenset[str] | None, tools: EvaluationTools
) -> tuple[list[Criterion], dict[str, Measurement], dict[str, float]]:
    """The criteria to run, the reused rows, and the seconds that each command took last."""
    runs_nothing = request.dry_run and only is None
    criteria = [] if runs_nothing else wanted_criteria(facts.loaded.goal, only)
    seconds: dict[str, float] = {}
    if request.reuse is None:
        return criteria, {}, seconds
    with tools.records.together(facts.run_id):
        reused = reuse.reusable_rows(
            facts, criteria, request.reuse, tools.records, seconds, tools.now()
        )
    criteria = [c for c in criteria if c.id not in reused]
    if tools.seconds_left is not None:
        criteria.sort(key=lambda c: seconds.get(c.id, float("inf")))
    return criteria, reused, seconds


def made_sidecars(measurement: Measurements) -> tuple[str, ...]:
    """The ids of the sidecars that this evaluation recorded for commands."""
    return tuple(
        row.evidence_id
        for row in measurement.rows
        if row.evidence_id is not None and row.criterion_id not in measurement.reused
    )


def discount(
    facts: Facts, ids: Sequence[str], moved: Sequence[str], tools: EvaluationTools
) -> None:
    """Record that these sidecars count for nothing: files changed while they were measured.

    They carry the stamp from before the commands, which would fit again if the files were put
    back. From then on :meth:`~flow.adapters.ledger.reader.FileRecords.counted` refuses them.
    """
    for evidence_id in ids:
        tools.ledger.discount(facts.loaded.goal.id, facts.run_id, evidence_id, moved)
