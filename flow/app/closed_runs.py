"""Selects the runs of closed goals that ``flow gc`` may remove or archive."""

from __future__ import annotations

from flow.app.ports import GoalPort
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL
from flow.errors import FlowError, StorageError
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal

MEMBERS_LIMIT = 400_000
"""Files that are put into one archive at most: their list stays below the limit of readers."""


class RunFiles(NamedTuple):
    """The files of a run that could be dropped, or archived."""

    run_id: str
    newest: str
    """The time of its newest entry."""
    goals: frozenset[str]
    """The goals its evidence is about."""
    files: int
    bytes: int


class RunRemoval(NamedTuple):
    """One run whose outputs are dropped."""

    run_id: str
    outputs: int
    bytes: int
    why: str
    """The reason, for the user."""


class RemovalPlan(NamedTuple):
    """The runs to remove; the warnings name runs that stay although they might have been meant."""

    runs: tuple[RunRemoval, ...]
    warnings: tuple[str, ...] = ()

    def to_document(self, *, dry_run: bool) -> dict[str, Any]:
        """The document that ``--json`` prints."""
        return _plan_document(self.runs, "outputs", self.warnings, dry_run=dry_run)


class RunArchival(NamedTuple):
    """One run whose evidence goes into an archive."""

    run_id: str
    goals: tuple[str, ...]
    """The goals its evidence is about."""
    files: int
    bytes: int
    """Of the files, before they were packed."""
    why: str
    """The reason, for the user."""


class ArchivePlan(NamedTuple):
    """The runs to archive; the warnings name runs that stay although they might have been meant."""

    runs: tuple[RunArchival, ...]
    warnings: tuple[str, ...] = ()

    def to_document(self, *, dry_run: bool) -> dict[str, Any]:
        """The document that ``--json`` prints."""
        return _plan_document(self.runs, "files", self.warnings, dry_run=dry_run)


def _plan_document(
    runs: Sequence[NamedTuple], counted: str, warnings: Sequence[str], *, dry_run: bool
) -> dict[str, Any]:
    """The runs of a plan as ``--json`` prints them, with the sums of ``counted`` and of bytes."""
    rows = [run._asdict() for run in runs]
    return {
        "dry_run": dry_run,
        "runs": rows,
        counted: sum(row[counted] for row in rows),
        "bytes": sum(row["bytes"] for row in rows),
        "warnings": list(warnings),
    }


class ClosedRunsPort(GoalPort, Protocol):
    """The runs of a checkout, to be cleared or archived."""

    @property
    def read_error(self) -> FlowError | None:
        """Why the disk gave no answer about what the state folder knows."""

    def every_goal(self) -> Sequence[Goal]:
        """The goals of all files; raises the error of one that cannot be read: it may be open."""

    def run_ids(self) -> Sequence[str]:
        """The runs that are here."""

    def outputs_of(self, run_id: str) -> RunFiles:
        """The outputs of a run that could be dropped."""

    def files_to_archive(self, run_id: str) -> RunFiles:
        """The files of a run that could go into its archive."""

    def tracked_runs(self) -> frozenset[str]:
        """The runs of which git tracks files: what is removed there would be a change."""

    def proposed_goal(self, run_id: str) -> str | None:
        """The goal that something is proposed for in a run."""

    def is_pending(self, goal_id: str) -> bool:
        """Whether a change of the goal was decided and not carried out."""

    def has_closing(self, run_id: str, loaded: LoadedGoal) -> bool:
        """Whether the user's state folder knows how the goal got its final status."""

    def locked(self, goal_ids: Iterable[str]) -> AbstractContextManager[object]:
        """Holds the locks of the goals."""

    def refuse_broken(self, run_id: str) -> None:
        """Raise :class:`StateError` (``broken_chain``) for a run that is not as recorded."""

    def drop(self, run_id: str) -> tuple[int, int]:
        """Drop every output of a run; how many, and their bytes."""

    def archive(self, run_id: str) -> tuple[int, int]:
        """Put a run's evidence into its archive; how many files went into it, and their bytes."""


def plan_removals(port: ClosedRunsPort, oldest: str, keep: int) -> RemovalPlan:
    """The outputs that may go; writes nothing.

    ``oldest`` and ``keep`` are as for :func:`runs_to_clear`. Raises the error of a goal that cannot
    be read: any run may be that goal's.
    """
    chosen, warnings = _chosen_runs(port, oldest, keep, port.outputs_of)
    removals = (RunRemoval(run.run_id, run.files, run.bytes, why) for run, why in chosen)
    return RemovalPlan(tuple(removals), tuple(warnings))


def remove(port: ClosedRunsPort, plan: RemovalPlan) -> RemovalPlan:
    """Drop what a person agreed to; returns what went.

    Raises :class:`StateError` (``broken_chain``) for a run that is not as it was recorded, with
    the runs before it done.
    """
    done = []
    for run in plan.runs:
        count, size = port.drop(run.run_id)
        done.append(run._replace(outputs=count, bytes=size))
    return RemovalPlan(tuple(done))


def plan_archives(port: ClosedRunsPort, oldest: str, keep: int) -> ArchivePlan:
    """The runs that may be archived; as :func:`plan_removals`."""
    chosen, warnings = _chosen_runs(port, oldest, keep, port.files_to_archive)
    runs = []
    tracked = port.tracked_runs() if chosen else frozenset()
    for run, why in chosen:
        archival = RunArchival(run.run_id, tuple(sorted(run.goals)), run.files, run.bytes, why)
        kept = _why_kept(port, archival, tracked)
        if kept is None:
            runs.append(archival)
        else:
            warnings.append(f"run {run.run_id} is left as it is: {kept}")
    return ArchivePlan(tuple(runs), tuple(warnings))


def archive(port: ClosedRunsPort, plan: ArchivePlan) -> ArchivePlan:
    """Archive what a person agreed to; returns what was done. Raises as :func:`remove` does."""
    done, warnings = [], []
    for run in plan.runs:
        with port.locked(run.goals):
            kept = _why_kept(port, run, port.tracked_runs())
            if kept is not None:  # since the person was asked
                warnings.append(f"run {run.run_id} is left as it is: {kept}")
                continue
            port.refuse_broken(run.run_id)
            count, size = port.archive(run.run_id)
        if count:  # else another process was faster
            done.append(run._replace(files=count, bytes=size))
    return ArchivePlan(tuple(done), tuple(warnings))


def _why_kept(port: ClosedRunsPort, run: RunArchival, tracked: frozenset[str]) -> str | None:
    """Why a run of closed goals is not to be archived; None if it may be."""
    if run.run_id in tracked:
        return "git tracks files of it (git rm -r --cached .flow/runs, then commit)"
    if run.files > MEMBERS_LIMIT:
        return f"it has more than {MEMBERS_LIMIT:,} files"
    if run.bytes > layout.ARCHIVE_LIMIT:
        return f"it has more than {layout.ARCHIVE_LIMIT >> 30} GiB"
    if port.proposed_goal(run.run_id) is not None:
        return "something is proposed in it"
    for goal_id in run.goals:
        loaded = port.load(goal_id)
        if port.is_pending(goal_id):
            return f"a change of goal {goal_id} is not finished yet (flow doctor --fix)"
        if loaded.goal.status not in TERMINAL:
            return f"goal {goal_id} is {loaded.goal.status}"
        if not port.has_closing(loaded.goal.run_id or run.run_id, loaded):
            if port.read_error is not None:
                raise port.read_error
            return f"your own state folder does not know how goal {goal_id} was closed"
    return None


def runs_to_clear(
    runs: Sequence[RunFiles],
    closed: Mapping[str, str],
    pinned: frozenset[str],
    oldest: str,
    keep: int,
) -> list[RunFiles]:
    """The runs to clear: of closed goals only, newest first, those after the first ``keep``.

    ``closed`` maps the goals that are closed to their status; ``pinned`` are runs of goals that are
    not. ``oldest`` is the time that a run's newest evidence must not be younger than.
    """
    closed_runs = [
        run for run in runs if run.goals and run.goals <= closed.keys() and run.run_id not in pinned
    ]
    closed_runs.sort(key=lambda run: (run.newest, run.run_id), reverse=True)
    return [run for run in closed_runs[keep:] if run.files and run.newest <= oldest]


def _chosen_runs(
    port: ClosedRunsPort, oldest: str, keep: int, files_of: Callable[[str], RunFiles]
) -> tuple[list[tuple[RunFiles, str]], list[str]]:
    """The runs that may be cleared, each with the reason for the user; and warnings."""
    goals = port.every_goal()
    closed = {goal.id: goal.status for goal in goals if goal.status in TERMINAL}
    open_runs = frozenset(_runs_of(goal for goal in goals if goal.status not in TERMINAL))
    runs, warnings = [], []
    for run_id in port.run_ids():
        try:
            runs.append(files_of(run_id))
        except StorageError:
            raise  # what cannot be read now is not for that reason empty
        except FlowError as error:
            warnings += [str(fault) for fault in error.faults]
    chosen = runs_to_clear(runs, closed, open_runs, oldest, keep)
    return [(run, _why(sorted(run.goals), closed)) for run in chosen], warnings


def _runs_of(goals: Iterable[Goal]) -> Iterator[str]:
    """The runs that these goals write to, or whose evidence they name."""
    for goal in goals:
        if goal.run_id:
            yield goal.run_id
        for criterion in goal.criteria:
            ref = criterion.evidence_ref or ""
            if ref.startswith(f"{layout.RUNS}/"):
                yield ref.split("/")[2]


def _why(goals: Sequence[str], closed: Mapping[str, str]) -> str:
    return ", ".join(f"goal {goal} is {closed[goal]}" for goal in goals)
