"""``flow gc``: which runs' outputs may go, and letting them go."""

from __future__ import annotations

from flow.adapters.chain import check as chain_check
from flow.adapters.fs import clock
from flow.adapters.ledger import gc
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL
from flow.errors import FlowError, StorageError
from flow.startup.typing import TYPE_CHECKING, Any
from flow.wiring.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flow.adapters.ledger.gc import RemovalPlan
    from flow.core.goal.model import Goal

BY = "gc"


class Collecting(Reading):
    """Letting old outputs go."""

    def plan_gc(self, older_than: int, keep: int) -> RemovalPlan:
        """What ``flow gc`` would drop; writes nothing. ``older_than`` is in days.

        Raises the error of a goal that cannot be read: it may be a live one of any run.
        """
        goals, broken = self.goals()
        if broken:
            raise broken[0]
        closed = {goal.id: goal.status for goal in goals if goal.status in TERMINAL}
        live = frozenset(_runs(goal for goal in goals if goal.status not in TERMINAL))
        found, warnings = [], []
        for run_id in chain_check.run_ids(self.top):
            try:
                found.append(gc.outputs_of(self.top, run_id))
            except StorageError:
                raise  # what cannot be read now is not for that reason empty
            except FlowError as error:
                warnings += [str(fault) for fault in error.faults]
        chosen = gc.choose(found, closed, live, clock.days_ago(older_than), keep)
        return gc.RemovalPlan(
            tuple(
                gc.RunRemoval(run.run_id, run.outputs, run.bytes, _why(sorted(run.goals), closed))
                for run in chosen
            ),
            tuple(warnings),
        )

    def do_gc(self, plan: RemovalPlan) -> RemovalPlan:
        """Drop what a person agreed to; returns what went.

        Raises :class:`StateError` (``broken_chain``) for a run that is not as it was recorded, with
        the runs before it done.
        """
        done = []
        for run in plan.runs:
            count, size = gc.drop(self.run_record.run(run.run_id), by=BY, now=clock.now())
            self.run_record.commit(run.run_id)
            done.append(run._replace(outputs=count, bytes=size))
        return gc.RemovalPlan(tuple(done))


def _runs(goals: Iterable[Goal]) -> Iterator[str]:
    """The runs that these goals write to, or whose evidence they name."""
    for goal in goals:
        if goal.run_id:
            yield goal.run_id
        for criterion in goal.criteria:
            ref = criterion.evidence_ref or ""
            if ref.startswith(f"{layout.RUNS}/"):
                yield ref.split("/")[2]


def _why(goals: Sequence[str], closed: dict[str, Any]) -> str:
    return ", ".join(f"goal {goal} is {closed[goal]}" for goal in goals)
