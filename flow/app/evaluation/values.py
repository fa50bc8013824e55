"""The values that the steps of an evaluation, and the moves after it, hand to each other."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.checks import Check, CheckResult
    from flow.app.ports import Trigger
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.boundary.rules import BoundaryReport
    from flow.core.decision.after import Hold
    from flow.core.decision.decide import Candidate, Decision, Measured, NoOpinion, Opinion
    from flow.core.decision.verdict import Verdict
    from flow.core.evidence.model import Evidence, Outcome, Subject
    from flow.core.evidence.proof import ProofFile
    from flow.core.evidence.protected_files import Difference
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Criterion, Goal


class ProofObservation(NamedTuple):
    """The changed files of the proof, before the commands ran and after."""

    before: tuple[ProofFile, ...] = ()
    after: tuple[ProofFile, ...] = ()


class Request(NamedTuple):
    """One call of an evaluation. ``timeout_seconds`` and ``jobs`` override goal and settings."""

    goal_id: str
    trigger: Trigger = "manual"
    run_id: str | None = None
    base: str | None = None
    only: tuple[str, ...] = ()
    jobs: int | None = None
    timeout_seconds: float | None = None
    repeat: int | None = None
    """Runs of each command, in place of the goal's ``evaluator.repeat`` if larger."""
    no_judge: bool = False
    dry_run: bool = False
    reuse: Mapping[str, str] | None = None
    """Criterion id → path of a sidecar to try first: evidence of the evaluator's own that
    still fits the working tree stands for a run. None runs everything."""
    quiet: bool = False
    """Leave the goal's file alone where the result is unchanged (SPEC 3, step 7, the hook)."""
    judge_backend: str | None = None
    """``BACKEND[:MODEL]``: ask this judge instead of what settings and goal name."""
    judge_named_by: str = ""
    """The agent in whose shell ``judge_backend`` was named; empty where that was none."""
    use_recorded_opinion: bool = False
    """Whether a recorded opinion of the same files stands for a new one."""
    only_fresh: bool = False
    """Run nothing: a criterion without fresh evidence stays open, and nothing is written but a
    proposal. With ``reuse``."""
    no_proposal: str = ""
    """The reason that no transition may be proposed, for any result; empty without one."""
    only_named: bool = False
    """Whether the contract was named by ``--trust-digest``, and this user does not trust it."""


class EvaluationLimits(NamedTuple):
    """Limits from the settings."""

    jobs: int
    timeout_seconds: float
    denied_paths: tuple[str, ...]

    def for_call(self, request: Request, goal: Goal) -> EvaluationLimits:
        """The limits of one call: the request's, else the goal's, else these."""
        return self._replace(
            jobs=request.jobs or goal.jobs or self.jobs,
            timeout_seconds=request.timeout_seconds or self.timeout_seconds,
        )


class RecordedBaseline(NamedTuple):
    """A baseline, and whether it was recorded here.

    One that had to be restored from the pinned commit cannot tell what was done to hooks and
    ignored files since.
    """

    baseline: Baseline
    recorded: bool


class Facts(NamedTuple):
    """The state of goal and files before any command runs."""

    loaded: LoadedGoal
    run_id: str
    turn: int
    baseline: Baseline
    baseline_recorded: bool
    before: Snapshot
    subject: Subject
    proposable: bool
    """Whether the range that is looked at contains the pinned one (``--base``)."""
    base_runs: Mapping[str, BaseRun] = {}
    """Results of the commands on the base commit (SPEC 10, red first)."""
    base_problem: str = ""
    """Why a result is missing that the contract asks for."""
    base_ran: bool = False
    """Whether commands ran there in this evaluation."""
    protected_changes: Difference | None = None
    """The protected files that are not as they were at activation (SPEC 10)."""
    edited_by_products: tuple[str, ...] = ()
    """By-products that were written to since: older evidence is about other content."""

    @property
    def goal_so_far(self) -> Goal:
        """The goal with the number of the turn before this one, whose verdict is the previous."""
        return self.loaded.goal._replace(turns_evaluated=self.turn - 1)


class Drift(NamedTuple):
    """Changes during the run of the commands."""

    left_behind: tuple[str, ...] = ()
    """By-products of the commands."""
    moved: tuple[str, ...] = ()
    """Paths that make this evaluation stale."""
    rewritten: tuple[str, ...] = ()
    """Files that were written to and are as they were.

    A command that makes a file anew and compares it does that, too: the confirmation names them.
    """
    after: Snapshot | None = None
    """The files after the commands; None if nothing ran."""
    baseline: Baseline | None = None
    """The baseline with the by-products."""
    guards: tuple[Mapping[str, str], ...] = ()
    """Git's hooks and settings in each snapshot after commands."""


class Listener:
    """Progress of an evaluation; each method does nothing unless it is overridden."""

    def planned(self, checks: Sequence[Check], where: str = "") -> None:
        """All that is going to run, in the goal's order; what ran before is counted no more.

        ``where`` says what it is for, where that is not to prove a criterion: ``on the base``.
        """

    def started(self, check: Check) -> None:
        """One command has started."""

    def ticked(self) -> None:
        """Some time has passed while commands run."""

    def ended(self, check: Check, result: CheckResult) -> None:
        """One command has ended for good, all its runs, and its evidence is recorded."""

    def repeats(self, check: Check, result: CheckResult) -> None:
        """One run of a command has ended that runs again."""

    def finished(self) -> None:
        """No more commands will run, for any reason."""

    def asking(self, judge: str, what: str, seconds: float) -> None:
        """A judge is being asked, for at most so many seconds; no call comes meanwhile."""


class Measurement(NamedTuple):
    """One criterion's run in this evaluation."""

    criterion_id: str
    outcome: Outcome
    exit_code: int | None
    result: str | None
    reason: str
    limitations: tuple[str, ...]
    evidence_id: str | None = None
    evidence_ref: str | None = None
    output_sha256: str | None = None
    blamed: bool = False
    """Whether it changed what only Flow or a person may change: a failure in any case."""

    @classmethod
    def not_run(cls, criterion: Criterion, reason: str) -> Measurement:
        """Of a criterion whose command did not run, and why."""
        return cls(criterion.id, "not_run", None, None, reason, criterion.limitations)

    @classmethod
    def recorded(cls, criterion_id: str, evidence: Evidence, path: str) -> Measurement:
        """Of a criterion whose ``evidence``, at ``path``, stands for a run: it has an outcome."""
        return cls(
            criterion_id,
            cast("Outcome", evidence.outcome),
            evidence.exit_code,
            evidence.body.get("result"),
            evidence.body.get("reason") or "",
            evidence.limitations,
            evidence.id,
            path,
            evidence.body.get("output_sha256"),
        )


class Measurements(NamedTuple):
    """Every criterion of the goal, in its order."""

    rows: tuple[Measurement, ...]
    ran: bool
    goal_touched: bool
    reused: tuple[str, ...] = ()
    """Criteria whose evidence still fits the files, so that nothing was run for them."""
    out_of_time: tuple[str, ...] = ()
    """Criteria that the caller's time was too short for."""
    not_fresh: tuple[str, ...] = ()
    """Criteria that would have to run, and did not: only fresh evidence was asked for."""


class JudgeCase(NamedTuple):
    """The case that judges are asked about: values only."""

    facts: Facts
    measurement: Measurements
    measured: tuple[Measured, ...]
    report: BoundaryReport
    candidate: Candidate
    request: Request
    seconds: float | None = None
    """Seconds left for all of it; None: only each call's own limit counts."""

    @property
    def approved(self) -> frozenset[str]:
        """The criteria that a person has approved on these files."""
        return frozenset(m.criterion_id for m in self.measured if m.approved)


class EvaluationFacts(NamedTuple):
    """The results of every step before the verdict."""

    facts: Facts
    measurement: Measurements
    measured: tuple[Measured, ...]
    stale: tuple[str, ...]
    """Paths that moved while the commands ran."""
    report: BoundaryReport
    candidate: Candidate
    opinion: Opinion | NoOpinion | None
    decision: Decision
    proof: ProofObservation | None = None
    """The changed files that the commands rest on."""
    holds: tuple[Hold, ...] = ()
    """The goals that come first and are not achieved."""
    last_snapshot: Snapshot | None = None
    """The files as the evaluation left them; None if it compared with another base."""
    counted: Callable[[str], Evidence | None] | None = None
    """Lookup of sidecars after the last command, each read once."""
    broken: str = ""
    """Fault of the run's record that holds back an achieved verdict; empty: none."""
    written: bool = False
    """Whether the goal's file has it; a quiet turn is recorded by its caller."""


class Evaluated(NamedTuple):
    """An evaluation's verdict and its grounds (None if nothing was evaluated)."""

    verdict: Verdict
    evaluation: EvaluationFacts | None
