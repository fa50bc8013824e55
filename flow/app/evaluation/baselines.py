"""The baseline that a goal is compared with, and the results recorded on its base commit."""

from __future__ import annotations

from flow.app.evaluation.values import RecordedBaseline
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.app.ports import GoalNotes
    from flow.core.boundary.changes import Baseline
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings


class BaselinePort(Protocol):
    """Source of baselines."""

    def pinned(self, run_id: str, goal: Goal) -> Baseline | None:
        """The run's baseline as Flow left it for this goal; None if there is none."""

    def restored(self, goal: Goal) -> Baseline:
        """The baseline from the pinned commit alone: a fresh clone has the goal, not the run."""


class StoredBaselinePort(BaselinePort, Protocol):
    """Source and store of baselines."""

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        """Write the baseline of a run."""


class PinningPort(StoredBaselinePort, Protocol):
    """Source and store of baselines, and the settings that are pinned with one."""

    @property
    def settings(self) -> LoadedSettings:
        """The settings in force."""


def recorded_baseline(port: BaselinePort, goal: Goal, run_id: str) -> RecordedBaseline:
    """The run's baseline, else the goal's own run's, else what the pinned commit tells."""
    for name in dict.fromkeys((run_id, goal.run_id)):
        baseline = port.pinned(name, goal) if name else None
        if baseline is not None and baseline.base_commit == goal.base_commit:
            return RecordedBaseline(baseline, baseline.recorded)
    return RecordedBaseline(port.restored(goal), recorded=False)


def evaluated_baseline(
    port: PinningPort, goal: Goal, run_id: str, *, dry_run: bool, named: bool
) -> tuple[RecordedBaseline, str]:
    """The baseline of an evaluation, and a warning where settings were pinned only now.

    ``named``: a pipeline named the contract. It has the goal and no record of its start, which is
    no sign of tampering then. A goal that began when Flow pinned no settings gets them here.
    """
    recorded = recorded_baseline(port, goal, run_id)
    warning = ""
    if recorded.recorded and not recorded.baseline.settings and not dry_run:
        baseline = recorded.baseline._replace(settings=port.settings.pins)
        port.write_baseline(goal.id, run_id, baseline)
        recorded = recorded._replace(baseline=baseline)
        warning = (
            f"no settings of when goal {goal.id} began are on record here: from now on a "
            "change of this checkout's settings does not count for it, and what is denied now "
            "stays denied"
        )
    if named or port.settings.settings.execute_verification_commands:
        recorded = recorded._replace(recorded=True)
    return recorded, warning


def record_base_runs(notes: GoalNotes, goal_id: str, rows: Mapping[str, BaseRun]) -> None:
    """Write down the results of a goal's commands on its base commit."""
    notes.write(goal_id, {"rows": {name: run.to_document() for name, run in rows.items()}})


def recorded_base_runs(notes: Callable[[], GoalNotes], goal: Goal) -> Mapping[str, BaseRun]:
    """The commands on the base commit as the user's state folder has them, if they are the same."""
    if goal.base_commit is None:
        return {}
    try:
        rows = (notes().read(goal.id) or {}).get("rows")
    except FlowError:  # no state folder, or none that can be used
        return {}
    if not isinstance(rows, dict) or not rows:
        return {}
    from flow.core.evidence import red_first  # few goals have any

    return red_first.current(goal, rows)
