"""What the steps of an evaluation, and the moves after it, hand to each other."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.app.ports import (
        Check,
        CheckResult,
        ClosingLedger,
        LoadedGoal,
        ProofDisk,
        Records,
        RunChecks,
        TakeSnapshot,
        Trigger,
        TurnLedger,
        Watch,
    )
    from flow.core.boundary.rules import Baseline, BoundaryReport, Snapshot
    from flow.core.decision.decide import Candidate, Decision, Measured, NoOpinion, Opinion
    from flow.core.decision.verdict import Verdict
    from flow.core.evidence.model import Outcome, Subject
    from flow.core.evidence.proof import ProofFile
    from flow.core.evidence.protected_files import Difference
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.model import Criterion, Goal
    from flow.core.sandbox import Sandbox
    from flow.core.tool_calls.speaker import Speaker


class ProofLook(NamedTuple):
    """The files that differ, before the commands ran or after."""

    before: tuple[ProofFile, ...] = ()
    after: tuple[ProofFile, ...] = ()


class Request(NamedTuple):
    """What a caller asks for. ``timeout_seconds`` and ``jobs`` override goal and settings."""

    goal_id: str
    trigger: Trigger = "manual"
    run_id: str | None = None
    base: str | None = None
    only: tuple[str, ...] = ()
    jobs: int | None = None
    timeout_seconds: float | None = None
    repeat: int | None = None
    """How often each command runs, over the goal's ``evaluator.repeat``."""
    no_judge: bool = False
    dry_run: bool = False
    reuse: Mapping[str, str] | None = None
    """Criterion id to a sidecar's path, newest first to be tried: evidence of the evaluator's own
    that still fits the working tree stands for a run. None runs everything."""
    quiet: bool = False
    """An unchanged result is not written to the goal (SPEC 3, step 7, the hook)."""
    judge_backend: str | None = None
    """``BACKEND[:MODEL]``: ask this judge instead of what settings and goal name."""
    recall: bool = False
    """Whether a judge's opinion of the same files that is on record will do."""
    no_proposal: str = ""
    """Why nothing may be proposed, whatever is found; empty where it may."""


class EvaluationLimits(NamedTuple):
    """What the settings say about evaluating."""

    jobs: int
    timeout_seconds: float
    denied_paths: tuple[str, ...]


class RecordedBaseline(NamedTuple):
    """A baseline, and whether it was recorded here.

    One that had to be restored from the pinned commit cannot tell what was done to hooks and
    ignored files since.
    """

    baseline: Baseline
    recorded: bool


class Facts(NamedTuple):
    """What is known before any command runs."""

    loaded: LoadedGoal
    run_id: str
    turn: int
    baseline: Baseline
    recorded: bool
    before: Snapshot
    subject: Subject
    proposable: bool
    """Whether the range that is looked at contains the pinned one (``--base``)."""
    base_runs: Mapping[str, BaseRun] = {}
    """What the commands came to on the base commit (SPEC 10, red first)."""
    base_problem: str = ""
    """Why something of that is not known which the contract asks for."""
    base_ran: bool = False
    """Whether commands ran there in this evaluation."""
    locked: Difference | None = None
    """The protected files that are not as they were at activation (SPEC 10)."""
    edited: tuple[str, ...] = ()
    """By-products that somebody wrote to: older evidence is about other content."""

    @property
    def goal_so_far(self) -> Goal:
        """The goal with the number of the turn before this one, whose verdict is the previous."""
        return self.loaded.goal._replace(turns_evaluated=self.turn - 1)


class Drift(NamedTuple):
    """What the look after the commands found."""

    left: tuple[str, ...] = ()
    """By-products that they left behind."""
    moved: tuple[str, ...] = ()
    """What makes this evaluation stale."""
    rewritten: tuple[str, ...] = ()
    """Files that were written to and are as they were.

    A command that makes a file anew and compares it does that, too: whoever confirms is told.
    """
    after: Snapshot | None = None
    """The files after the commands; None where nothing ran."""
    baseline: Baseline | None = None
    """The baseline with what they left behind."""
    guards: tuple[Mapping[str, str], ...] = ()
    """Git's hooks and settings as each look after commands found them."""


class Listener(Protocol):
    """Shows progress to whoever waits."""

    def planned(self, checks: Sequence[Check]) -> None:
        """All that is going to run, in the goal's order."""

    def started(self, check: Check) -> None:
        """One command has started."""

    def ticked(self) -> None:
        """Some time has passed while commands run."""

    def ended(self, check: Check, result: CheckResult) -> None:
        """One command has ended, and its evidence is recorded."""

    def finished(self) -> None:
        """Nothing more will run, whatever the reason."""

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """A judge is being asked, for at most that long; nothing is told until it has answered."""


class Quiet:
    """A listener that shows nothing."""

    def planned(self, checks: Sequence[Check]) -> None:
        """Ignore the plan."""

    def started(self, check: Check) -> None:
        """Ignore a start."""

    def ticked(self) -> None:
        """Ignore the time."""

    def ended(self, check: Check, result: CheckResult) -> None:
        """Ignore an end."""

    def finished(self) -> None:
        """Ignore the end of it all."""

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """Ignore a question."""


class Measurement(NamedTuple):
    """One criterion's run in this evaluation."""

    criterion_id: str
    outcome: Outcome
    exit_code: int | None
    result: str | None
    reason: str
    limitations: tuple[str, ...]
    evidence_id: str | None
    evidence_ref: str | None
    output_sha256: str | None
    blamed: bool = False
    """It changed what only Flow or a person may change: a failure whatever the files are now."""


class Measurements(NamedTuple):
    """Every criterion of the goal, in its order."""

    rows: tuple[Measurement, ...]
    ran: bool
    goal_touched: bool
    reused: tuple[str, ...] = ()
    """Criteria whose evidence still fits the files, so that nothing was run for them."""
    out_of_time: tuple[str, ...] = ()
    """Criteria that the caller's time did not suffice for."""


class BaseRequest(NamedTuple):
    """What is to be run, and within which limits."""

    goal: Goal
    contract: str
    run_id: str
    criteria: tuple[Criterion, ...]
    jobs: int
    timeout_seconds: float
    again: bool = False
    """Whether to run what is remembered too."""
    seconds_left: Callable[[], float] | None = None


class BaseTools(NamedTuple):
    """What running on a base commit needs."""

    opened: Callable[[Goal, str, Callable[[], float]], AbstractContextManager[RunChecks]]
    """Runs commands of (goal) on (commit), as long as (seconds left) says; removes its checkouts.
    """
    remembered: Callable[[str, Criterion, Sandbox | None], BaseRun | None]
    """What the same command came to on (commit) in an earlier run, under the same conditions."""
    remember: Callable[[str, Criterion, Sandbox | None, BaseRun], None]
    kept: Callable[[str], Mapping[str, BaseRun]]
    """What is on record for (goal)."""
    keep: Callable[[str, Mapping[str, BaseRun]], None]
    """Puts (goal's) rows on record."""
    note: Callable[[str, str, Mapping[str, Any]], None]
    """Appends an event to (run id, goal id)."""
    ledger: TurnLedger
    now: Callable[[], str]
    version: str
    listener: Listener


class BaseRows(NamedTuple):
    """What came of it: every row that is known now, and how it came to be."""

    rows: dict[str, BaseRun]
    ran: tuple[str, ...]
    cached: tuple[str, ...]
    out_of_time: tuple[str, ...]


class JudgeCase(NamedTuple):
    """What is handed over when a judge is to be asked: values only."""

    facts: Facts
    measurement: Measurements
    measured: tuple[Measured, ...]
    report: BoundaryReport
    candidate: Candidate
    request: Request
    seconds: float | None = None
    """What is left for all of it; None: only each call's own limit counts."""


class EvaluationTools(NamedTuple):
    """Everything an evaluation touches outside of values."""

    records: Records
    ledger: TurnLedger
    trusted: Callable[[LoadedGoal], tuple[bool, str]]
    """Whether the contract may run here, and why or why not."""
    baseline: Callable[[Goal, str], RecordedBaseline]
    """The baseline of (goal, run id); what can be known of it where none was recorded."""
    snapshot: TakeSnapshot
    widen: Callable[[Baseline, str], tuple[Baseline, bool]]
    """The baseline moved to another base, and whether its range contains the pinned one."""
    run_checks: RunChecks
    watch: Callable[[str, str], Watch]
    """Watches (goal id, run id) for changes that Flow did not make."""
    keep_baseline: Callable[[str, str, Baseline], None]
    """Writes the baseline of (goal id, run id)."""
    unfinished: Callable[[str], Collection[str] | None]
    """The untracked paths at the start of an evaluation of this run that was killed, or None."""
    began: Callable[[str, Sequence[str]], None]
    """Remembers the untracked paths at the start of an evaluation of a run."""
    ended: Callable[[str], None]
    """Forgets them."""
    now: Callable[[], str]
    limits: EvaluationLimits
    version: str
    listener: Listener
    seconds_left: Callable[[], float] | None = None
    """Seconds until the caller must have its answer; None: no such limit."""
    judge: Callable[[JudgeCase], Opinion | NoOpinion] | None = None
    """Asks the judges; None where none is configured."""
    base_runs: Callable[[Goal], Mapping[str, BaseRun]] = lambda _goal: {}
    """What is on record about the goal's commands on its base commit (red first)."""
    bench: Callable[[], BaseTools] | None = None
    """What running them there needs; None where that cannot be."""
    elsewhere: Callable[[str], bool] = lambda _run: False
    """Whether a run was recorded in another checkout, and not in this one."""
    recall: Callable[[JudgeCase], Opinion | None] | None = None
    """What the judges said of the same files before, for a caller that wants no new opinion."""
    proof: ProofDisk | None = None
    """The files that the goal's commands rest on; None where nobody looks at them."""


class EvaluationFacts(NamedTuple):
    """All that an evaluation has found out when it is time to say so."""

    facts: Facts
    measurement: Measurements
    measured: tuple[Measured, ...]
    stale: tuple[str, ...]
    """Paths that moved while the commands ran."""
    report: BoundaryReport
    candidate: Candidate
    opinion: Opinion | NoOpinion | None
    decision: Decision
    proof: ProofLook | None = None
    """The files that the commands rest on and that changed."""
    last_look: Snapshot | None = None
    """The files as the evaluation left them; None where it looked from another base."""
    written: bool = False
    """Whether the goal's file has it; else whoever asked for a quiet turn puts it on record."""


class Evaluated(NamedTuple):
    """An evaluation's verdict, and what it rests on (None where nothing was looked at)."""

    verdict: Verdict
    found: EvaluationFacts | None


class ClosingContext(NamedTuple):
    """What a door needs: both sides of the ledger, and eyes on the working tree."""

    records: Records
    ledger: ClosingLedger
    baseline: Callable[[Goal, str], RecordedBaseline]
    snapshot: TakeSnapshot
    keep_baseline: Callable[[str, str, Baseline], None]
    denied_paths: tuple[str, ...]
    who: str
    """Who answered, for the journal (a user name, never a promise)."""
    version: str
    """Flow's own."""
    now: Callable[[], str]
    speaker: Speaker | None = None
    """From where the command came; None at the stop of an agent."""
    proof: ProofDisk | None = None
    """The files that the goal's commands rest on; None where nobody looks at them."""
    trusted: Callable[[LoadedGoal], tuple[bool, str]] = lambda _loaded: (True, "")
    """Whether the contract may run here, and why or why not."""
