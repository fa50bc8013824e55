"""Runs of a goal's commands on its base commit (SPEC 10, red first).

A result there never decides: its sidecar proves nothing, and the verdict only says that a pass
shows nothing about the change. It runs for ``flow goal baseline``, and in an evaluation where the
contract says ``tdd_required``: before the commands, or after them where time is limited (the Stop
hook), as far as time allows.
"""

from __future__ import annotations

from flow.app.checks import CheckEvents
from flow.app.evaluation.command_runs import check_of, run_fields
from flow.core.evidence import red_first as core
from flow.core.evidence.model import BASELINE, Subject, evidence_document
from flow.core.evidence.red_first import ONLY_BASE, BaseRun
from flow.core.sandbox import sandbox_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.checks import Check, CheckResult
    from flow.app.evaluation.tools import BaseTools
    from flow.core.goal.model import Criterion, Goal


class BaseRequest(NamedTuple):
    """Commands to run on the base commit, and their limits."""

    goal: Goal
    contract: str
    run_id: str
    criteria: tuple[Criterion, ...]
    jobs: int
    timeout_seconds: float
    rerun: bool = False
    """Whether to run cached commands too."""
    seconds_left: Callable[[], float] | None = None


class BaseRows(NamedTuple):
    """Every known run on the base commit, and the criteria by how this call got theirs."""

    rows: dict[str, BaseRun]
    ran: tuple[str, ...]
    cached: tuple[str, ...]
    out_of_time: tuple[str, ...]


class _BaseOutOfTime(Exception):
    """The caller must answer now. Never leaves this module."""


def measure(request: BaseRequest, tools: BaseTools) -> BaseRows:
    """Run the commands without a known result, in clean checkouts of the goal's base commit.

    Raises :class:`GitError` if the commit cannot be checked out, and the errors of the runner.
    The results so far are recorded then, too.
    """
    goal = request.goal
    work = _BaseMeasurement(request, tools, dict(tools.recorded_base_runs(goal.id)))
    due = [c for c in request.criteria if not work.take_cached(c)]
    try:
        if due:
            work.run(due)
    finally:
        if work.ran or work.cached:
            tools.record_base_runs(goal.id, work.rows)
            tools.append_event(request.run_id, goal.id, work.event())
    late = tuple(c.id for c in due if c.id not in work.ran)
    documents = {name: run.to_document() for name, run in work.rows.items()}
    return BaseRows(core.current(goal, documents), tuple(work.ran), tuple(work.cached), late)


class _BaseMeasurement:
    """One call of :func:`measure`; ``rows`` is filled on the way."""

    def __init__(self, request: BaseRequest, tools: BaseTools, rows: dict[str, BaseRun]) -> None:
        self._request, self._tools, self.rows = request, tools, rows
        self._commit = request.goal.base_commit or ""
        # The checkout is thrown away, so all of it may be written to.
        self._sandbox = sandbox_of(request.goal.document, (), ())
        self.ran: list[str] = []
        self.cached: list[str] = []

    def take_cached(self, criterion: Criterion) -> bool:
        """Take an earlier run's result, where there is one that holds."""
        if self._request.rerun or not self._is_cacheable(criterion):
            return False
        cached = self._tools.cached_run(self._commit, criterion, self._sandbox)
        if cached is None:
            return False
        row = self.rows.get(criterion.id)
        if row is None or (row.key, row.outcome) != (cached.key, cached.outcome):
            body = {
                "outcome": cached.outcome,
                "result": cached.result,
                "reason": cached.reason or None,
            }
            limits = (f"Taken from a run on the same commit at {cached.at}; its output is there.",)
            evidence_id = self._record(criterion, body, limits, cached, cached_at=cached.at)
            self.rows[criterion.id] = cached._replace(evidence_id=evidence_id)
        self.cached.append(criterion.id)
        return True

    def _is_cacheable(self, criterion: Criterion) -> bool:
        """Whether the known conditions of a result are all that it depends on."""
        return criterion.hermetic and not self._request.goal.baseline_link

    def run(self, criteria: Sequence[Criterion]) -> None:
        """Run the commands; each one's sidecar is on disk before the next result is handled."""
        request, listener = self._request, self._tools.listener
        by_id = {c.id: c for c in criteria}
        plain = (check_of(c, request.timeout_seconds) for c in criteria)
        checks = [check._replace(sandbox=self._sandbox) for check in plain]

        def started(check: Check) -> None:
            self._in_time()
            listener.started(check)

        def ended(check: Check, result: CheckResult) -> None:
            self._ended(by_id[check.criterion_id], result)
            listener.ended(check, result)

        def ticked() -> None:
            listener.ticked()
            self._in_time()

        listener.planned(checks, "on the base")
        try:
            with self._tools.checkout(request.goal, self._commit, self._seconds_left) as run_checks:
                run_checks(checks, jobs=request.jobs, events=CheckEvents(started, ended, ticked))
        except _BaseOutOfTime:
            pass
        finally:
            listener.finished()

    def _seconds_left(self) -> float:
        seconds_left = self._request.seconds_left
        return seconds_left() if seconds_left is not None else 86400.0

    def _in_time(self) -> None:
        if self._seconds_left() <= 0:
            raise _BaseOutOfTime

    def _ended(self, criterion: Criterion, result: CheckResult) -> None:
        reason = "" if result.reason == result.result else result.reason
        run = BaseRun(
            core.base_run_key(self._commit, criterion, self._request.goal.baseline_link),
            result.outcome,
            result.result,
            reason,
            self._tools.now(),
            tests=str(result.tests_ran or ""),
        )
        body = {
            "exit_code": result.exit_code,
            "outcome": result.outcome,
            "result": result.result,
            "reason": reason or None,
            "attribution": result.attribution,
        }
        evidence_id = self._record(criterion, body, result.limitations, run, result=result)
        run = run._replace(evidence_id=evidence_id)
        self.rows[criterion.id] = run
        self.ran.append(criterion.id)
        if self._is_cacheable(criterion) and run.non_discriminating is not None:
            self._tools.cache_run(self._commit, criterion, self._sandbox, run)

    def _record(
        self,
        criterion: Criterion,
        body: Mapping[str, Any],
        limitations: Sequence[str],
        run: BaseRun,
        *,
        result: CheckResult | None = None,
        cached_at: str | None = None,
    ) -> str:
        """Publish the sidecar of a base run; it proves nothing."""
        request, tools = self._request, self._tools
        base = {
            "criterion": criterion.id,
            "commit": self._commit,
            core.NON_DISCRIMINATING: run.non_discriminating,
            "cached": cached_at,
        }
        subject = Subject(request.goal.base_commit or None, None, request.contract, tools.version)
        fields = (
            {"criterion_digest": criterion.digest, "subject": subject.to_document()}
            if result is None
            else run_fields(subject, criterion, result)
        )
        document = evidence_document(
            id=f"evidence-{criterion.id.lower()}-base",
            goal=request.goal.id,
            run_id=request.run_id,
            created_at=tools.now(),
            created_by=BASELINE,
            type="command_result",
            body={
                "command": criterion.verification_command,
                **body,
                "proves": [],
                "base": {name: value for name, value in base.items() if value is not None},
                "limitations": list(dict.fromkeys((*limitations, ONLY_BASE))),
                **fields,
            },
        )
        output = result.output if result is not None else None
        return tools.ledger.record_evidence(document, output, suffix=True)[0]

    def event(self) -> dict[str, Any]:
        """The event of these runs."""
        taken = [(name, self.rows[name]) for name in (*self.cached, *self.ran)]
        return {
            "type": "baseline",
            "base_commit": self._commit,
            "ran": list(self.ran),
            "cached": list(self.cached),
            core.NON_DISCRIMINATING: core.green_criteria(taken),
        }
