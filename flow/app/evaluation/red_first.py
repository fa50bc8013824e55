"""Running a goal's commands on its base commit (SPEC 10, red first).

What a command came to there never decides: its sidecar proves nothing, and the verdict only says
that a pass shows nothing about the change. It runs for ``flow goal baseline``, and in an evaluation
where the contract says ``tdd_required``: before the commands, or after them where somebody waits
(the Stop hook), as far as time allows.
"""

from __future__ import annotations

from flow.app.evaluation.measure import run_fields
from flow.app.evaluation.values import BaseRows
from flow.app.ports import Check, CheckEvents
from flow.core.evidence import red_first as core
from flow.core.evidence.model import BASELINE, Subject, evidence_document
from flow.core.evidence.red_first import ONLY_BASE, BaseRun
from flow.core.sandbox import sandbox_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.values import BaseRequest, BaseTools
    from flow.app.ports import CheckResult
    from flow.core.goal.model import Criterion


class _BaseOutOfTime(Exception):
    """The caller must answer now. Never leaves this module."""


def measure(request: BaseRequest, bench: BaseTools) -> BaseRows:
    """Run what is not known, in clean checkouts of the goal's base commit.

    Raises :class:`GitError` where the commit cannot be checked out, and whatever a runner of
    commands raises. What is known by then is on record.
    """
    goal, commit = request.goal, request.goal.base_commit or ""
    rows = dict(bench.kept(goal.id))
    work = _Work(request, bench, commit, rows)
    todo = [c for c in request.criteria if not work.recalled(c)]
    try:
        if todo:
            work.run(todo)
    finally:
        if work.ran or work.cached:
            bench.keep(goal.id, rows)
            bench.note(request.run_id, goal.id, work.event())
    late = tuple(c.id for c in todo if c.id not in work.ran)
    return BaseRows(core.current(goal, _documents(rows)), tuple(work.ran), tuple(work.cached), late)


class _Work:
    """One call of :func:`measure`; ``rows`` is filled on the way."""

    def __init__(
        self, request: BaseRequest, bench: BaseTools, commit: str, rows: dict[str, BaseRun]
    ) -> None:
        self.order, self.bench, self.commit, self.rows = request, bench, commit, rows
        # The checkout is thrown away, so all of it may be written to.
        self.sandbox = sandbox_of(request.goal.document, (), ())
        self.ran: list[str] = []
        self.cached: list[str] = []

    def recalled(self, criterion: Criterion) -> bool:
        """Whether an earlier run's result will do."""
        if self.order.again or not self._lasts(criterion):
            return False
        known = self.bench.remembered(self.commit, criterion, self.sandbox)
        if known is None:
            return False
        have = self.rows.get(criterion.id)
        if have is None or (have.key, have.outcome) != (known.key, known.outcome):
            body = {
                "outcome": known.outcome,
                "result": known.result,
                "reason": known.reason or None,
            }
            limits = (f"Taken from a run on the same commit at {known.at}; its output is there.",)
            evidence_id = self._record(criterion, body, limits, known, cached=known.at)
            self.rows[criterion.id] = known._replace(evidence_id=evidence_id)
        self.cached.append(criterion.id)
        return True

    def _lasts(self, criterion: Criterion) -> bool:
        """Whether a result holds as long as what is known of its conditions does."""
        return criterion.hermetic and not self.order.goal.baseline_link

    def run(self, todo: Sequence[Criterion]) -> None:
        """Run the commands; each one's sidecar is on disk before the next result is looked at."""
        request, bench = self.order, self.bench
        by_id = {c.id: c for c in todo}
        checks = [
            Check(
                c.id,
                c.verification_command or "",
                c.cwd or "",
                c.timeout_seconds or request.timeout_seconds,
                c.serial,
                sandbox=self.sandbox,
                report=c.report or "",
            )
            for c in todo
        ]

        def started(check: Check) -> None:
            self._in_time()
            bench.listener.started(check)

        def ended(check: Check, result: CheckResult) -> None:
            self._ended(by_id[check.criterion_id], result)
            bench.listener.ended(check, result)

        def ticked() -> None:
            bench.listener.ticked()
            self._in_time()

        bench.listener.planned(checks)
        try:
            with bench.opened(request.goal, self.commit, self._left) as run_checks:
                run_checks(checks, jobs=request.jobs, events=CheckEvents(started, ended, ticked))
        except _BaseOutOfTime:
            pass
        finally:
            bench.listener.finished()

    def _left(self) -> float:
        return self.order.seconds_left() if self.order.seconds_left is not None else 86400.0

    def _in_time(self) -> None:
        if self._left() <= 0:
            raise _BaseOutOfTime

    def _ended(self, criterion: Criterion, result: CheckResult) -> None:
        reason = "" if result.reason == result.result else result.reason
        run = BaseRun(
            core.base_run_key(self.commit, criterion, self.order.goal.baseline_link),
            result.outcome,
            result.result,
            reason,
            self.bench.now(),
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
        if self._lasts(criterion) and run.non_discriminating is not None:
            self.bench.remember(self.commit, criterion, self.sandbox, run)

    def _record(
        self,
        criterion: Criterion,
        body: Mapping[str, Any],
        limitations: Sequence[str],
        run: BaseRun,
        *,
        result: CheckResult | None = None,
        cached: str | None = None,
    ) -> str:
        """Publish the sidecar of a base run; it proves nothing."""
        request = self.order
        base = {
            "criterion": criterion.id,
            "commit": self.commit,
            core.NON_DISCRIMINATING: run.non_discriminating,
            "cached": cached,
        }
        head = self.commit if request.goal.base_commit else None
        subject = Subject(head, None, request.contract, self.bench.version)
        fields = (
            run_fields(subject, criterion, result)
            if result is not None
            else {
                "criterion_digest": criterion.digest,
                "subject": subject.to_document(),
            }
        )
        document = evidence_document(
            id=f"evidence-{criterion.id.lower()}-base",
            goal=request.goal.id,
            run_id=request.run_id,
            created_at=self.bench.now(),
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
        return self.bench.ledger.record_evidence(document, output, suffix=True)[0]

    def event(self) -> dict[str, Any]:
        """What the run's events say of it."""
        told = [(name, self.rows[name]) for name in (*self.cached, *self.ran)]
        return {
            "type": "baseline",
            "base_commit": self.commit,
            "ran": list(self.ran),
            "cached": list(self.cached),
            core.NON_DISCRIMINATING: core.green_criteria(told),
        }


def _documents(rows: Mapping[str, BaseRun]) -> dict[str, dict[str, Any]]:
    return {name: run.to_document() for name, run in rows.items()}
