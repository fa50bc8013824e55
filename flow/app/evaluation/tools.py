"""Interfaces of an evaluation to the outside. Types only: nothing here is loaded at run time."""

from __future__ import annotations

from flow.app.ports import ClockPort, TrustingPort
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.app.checks import Check, CheckEvents
    from flow.app.evaluation.values import EvaluationLimits, JudgeCase, Listener, RecordedBaseline
    from flow.app.ports import ProofDisk, Records, RunChecks, TurnLedger, Watch
    from flow.core.boundary.changes import Baseline, DecidingFiles, Snapshot
    from flow.core.chain.walk import ChainFinding
    from flow.core.decision.after import EarlierGoal
    from flow.core.decision.decide import NoOpinion, Opinion
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Criterion, Goal
    from flow.core.sandbox import Sandbox


class RecordingTools(ClockPort, Protocol):
    """Access to the writing side of the ledger, for runs of commands."""

    @property
    def ledger(self) -> TurnLedger:
        """The writing side, without a way to a terminal status."""

    @property
    def version(self) -> str:
        """Flow's own version."""

    @property
    def listener(self) -> Listener:
        """Hears of the progress."""


class EvaluationTools(RecordingTools, TrustingPort, Protocol):
    """Everything an evaluation touches outside of values."""

    @property
    def records(self) -> Records:
        """The reading side of the ledger."""

    @property
    def limits(self) -> EvaluationLimits:
        """Limits from the settings."""

    @property
    def seconds_left(self) -> Callable[[], float] | None:
        """Seconds until the caller must have its answer; None: no such limit."""

    def earlier(self, goal_id: str) -> EarlierGoal | None:
        """A goal that has to be achieved first, as it stands; None if it is not here."""

    def recorded_elsewhere(self, run_id: str) -> bool:
        """Whether a run was recorded in another checkout, and not in this one."""

    def broken(self, run_id: str) -> Sequence[ChainFinding]:
        """Entries of a run's record that were altered or are gone."""

    # --- the files ---

    def baseline(self, goal: Goal, run_id: str) -> RecordedBaseline:
        """The run's baseline, restored as far as possible where none was recorded."""

    def write_baseline(self, goal_id: str, run_id: str, baseline: Baseline) -> None:
        """Write the baseline of a run."""

    def move_baseline(self, baseline: Baseline, base: str) -> tuple[Baseline, bool]:
        """The baseline moved to another base, and whether its range contains the pinned one."""

    def snapshot(
        self, baseline: Baseline, denied: Sequence[str], deciding: DecidingFiles | None
    ) -> Snapshot:
        """The change set now; see :class:`~flow.app.ports.TakeSnapshot`."""

    @property
    def proof(self) -> ProofDisk | None:
        """Reads the files that the goal's commands rest on; None if they are not compared."""

    # --- the commands ---

    def run_checks(self, checks: Sequence[Check], *, jobs: int, events: CheckEvents) -> None:
        """Run commands; see :class:`~flow.app.ports.RunChecks`."""

    def watch(self, goal: Goal, run_id: str, journal_dir: str) -> Watch:
        """Watches for changes that Flow did not make."""

    def mark_started(self, run_id: str, untracked: Sequence[str]) -> None:
        """Record the untracked paths at the start of an evaluation of a run."""

    def untracked_at_start(self, run_id: str) -> Collection[str] | None:
        """Those of an evaluation of the run that was killed; None if none was."""

    def mark_ended(self, run_id: str) -> None:
        """Forget them."""

    def base_runs(self, goal: Goal) -> Mapping[str, BaseRun]:
        """Recorded results of the goal's commands on its base commit (red first)."""

    def base_tools(self) -> BaseTools:
        """The tools to run them there."""

    # --- the judges ---

    @property
    def has_judge(self) -> bool:
        """Whether a judge is configured, or named by the caller."""

    def judge(self, case: JudgeCase) -> Opinion | NoOpinion:
        """Ask the judges."""

    def recorded_opinion(self, case: JudgeCase) -> Opinion | None:
        """A recorded opinion of the same files, for a caller that wants no new one."""


class BaseTools(RecordingTools, Protocol):
    """Access to checkouts and records of runs on a base commit."""

    def checkout(
        self, goal: Goal, commit: str, seconds_left: Callable[[], float]
    ) -> AbstractContextManager[RunChecks]:
        """Runs commands of the goal on the commit, and removes its checkouts after that."""

    def cached_run(
        self, commit: str, criterion: Criterion, sandbox: Sandbox | None
    ) -> BaseRun | None:
        """Result of the same command in an earlier run, under the same conditions."""

    def cache_run(
        self, commit: str, criterion: Criterion, sandbox: Sandbox | None, run: BaseRun
    ) -> None:
        """Keep a result for later runs."""

    def recorded_base_runs(self, goal_id: str) -> Mapping[str, BaseRun]:
        """The recorded runs of a goal."""

    def record_base_runs(self, goal_id: str, runs: Mapping[str, BaseRun]) -> None:
        """Record the runs of a goal."""

    def append_event(self, run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        """Append an event to a run."""
