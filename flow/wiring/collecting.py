"""``flow gc``: letting old outputs go."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.adapters.ledger import gc
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    from flow.adapters.ledger.gc import RemovalPlan
    from flow.wiring.context import Context

BY = "gc"


def plan_gc(context: Context, older_than: int, keep: int) -> RemovalPlan:
    """The outputs that ``flow gc`` would drop; writes nothing. ``older_than`` is in days.

    Raises the error of a goal that cannot be read: it may be a live one of any run.
    """
    goals, broken = Goals(context).goals()
    if broken:
        raise broken[0]
    return gc.plan(context.top, goals, clock.days_ago(older_than), keep)


def do_gc(context: Context, plan: RemovalPlan) -> RemovalPlan:
    """Drop what a person agreed to; returns what went.

    Raises :class:`StateError` (``broken_chain``) for a run that is not as it was recorded, with
    the runs before it done.
    """
    done = []
    for run in plan.runs:
        count, size = gc.drop(context.run_record.run(run.run_id), by=BY, now=clock.now())
        context.run_record.commit(run.run_id)
        done.append(run._replace(outputs=count, bytes=size))
    return gc.RemovalPlan(tuple(done))
