"""The commands of one evaluation while they run, and their evidence (SPEC 3, step 2)."""

from __future__ import annotations

from flow.app.checks import Check, CheckEvents, CheckResult
from flow.app.evaluation.goal_rules import confined
from flow.app.evaluation.repeating import Repeats
from flow.app.evaluation.values import Facts, Measurement, Request
from flow.core.decision import explain
from flow.core.evidence.model import EVALUATOR, ONLY_EXIT, Subject, evidence_document
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.tools import EvaluationTools
    from flow.core.goal.model import Criterion


KEPT = 0.2
"""The part of the time left that a command leaves to those that wait behind it."""


class _OutOfTime(Exception):
    """No time is left for the commands that run. Never leaves this module."""


class CommandRuns:
    """The commands of one evaluation while they run."""

    def __init__(
        self,
        facts: Facts,
        request: Request,
        tools: EvaluationTools,
        rows: Mapping[str, Measurement],
        seconds: Mapping[str, float],
    ) -> None:
        self._facts, self._request, self._tools, self._seconds = facts, request, tools, seconds
        self._criteria = {c.id: c for c in facts.loaded.goal.criteria}
        self._running: dict[str, list[str]] = {}
        """Criterion id → foreign changes since its command started."""
        self._kept_seconds: dict[str, float] = {}
        """Criterion id → seconds that its command leaves to those that wait behind it."""
        self._left_out: set[str] = set()
        """Criteria that this time is not enough for."""
        self._seconds_run: dict[str, float] = {}
        """Criterion id → how long its runs took so far."""
        self._ended_ids: list[str] = []
        """The criterion of each command that ended, in that order."""
        self._blamed_later: dict[str, tuple[str, ...]] = {}
        """Criterion id → changes that were seen when its evidence was recorded already."""
        self.rows = dict(rows)
        self.waiting: dict[str, None] = {}
        """Criteria without a final row."""
        self.touched: set[str] = set()
        """Changes of what only Flow or a person may change."""

    def run(self, criteria: Sequence[Criterion]) -> None:
        """Run them until every row is final or the caller's time is used up."""
        facts, request, tools = self._facts, self._request, self._tools
        goal = facts.loaded.goal
        limits = tools.limits.for_call(request, goal)
        checks = [check_of(each, limits.timeout_seconds) for each in criteria]
        checks = confined(checks, goal, tools)
        self.waiting = dict.fromkeys(check.criterion_id for check in checks)
        self._repeats = Repeats(facts, request, tools.records)
        self._repeats.look_back(criteria)  # at what no command can have altered yet
        self._watch = tools.watch(goal, facts.run_id, facts.baseline.journal_dir)
        _announce_runs(facts, request, tools)
        self._watch.settle()
        tools.listener.planned(checks)
        events = CheckEvents(self._started, self._ended, self._ticked, self._fits)
        try:
            while due := self._due(checks):  # a command never runs beside itself
                try:
                    tools.run_checks(due, jobs=limits.jobs, events=events)
                except _OutOfTime:
                    self._left_out.update(self._running)
                    self._running.clear()
        finally:
            tools.listener.finished()
        for criterion_id in self.waiting:
            self.rows[criterion_id] = self.rows[criterion_id]._replace(reason=explain.NO_TIME)
        for change, commands in self._watch.changed_elsewhere(last=True).items():
            self._found_later(change, self._ended_ids[len(self._ended_ids) - commands :])
        for criterion_id, changes in self._blamed_later.items():
            self._blame_later(criterion_id, changes)

    def _due(self, checks: Sequence[Check]) -> list[Check]:
        remaining = self._repeats.remaining(checks)
        return [check for check in remaining if check.criterion_id not in self._left_out]

    def _fits(self, check: Check) -> bool:
        """Whether there is more time left than its command took last."""
        fits = seconds_left(self._tools) > self._seconds.get(check.criterion_id, 0.0)
        if not fits:
            self._left_out.add(check.criterion_id)
        return fits

    def _started(self, check: Check) -> None:
        left, last = seconds_left(self._tools), self._seconds.get(check.criterion_id, 0.0)
        self._kept_seconds[check.criterion_id] = max(0.0, min(KEPT * left, left - 2 * last))
        self._running[check.criterion_id] = []
        self._tools.listener.started(check)

    def _ended(self, check: Check, result: CheckResult) -> Callable[[], None]:
        """Look at what the command changed, before another may start.

        Returns the function that records its evidence.
        """
        elsewhere = self._watch.changed_elsewhere()
        # `commands` counts this command, which is not in `_ended_ids` yet: hence + 1.
        for change, commands in elsewhere.items():
            self._found_later(change, self._ended_ids[len(self._ended_ids) - commands + 1 :])
        self._ended_ids.append(check.criterion_id)
        self._blame_running((*self._watch.changed(), *elsewhere))
        blamed = tuple(self._running.pop(check.criterion_id))
        return lambda: self._record(check, result, blamed)

    def _blame_running(self, changes: Sequence[str]) -> None:
        """Any command that ran meanwhile may have done it."""
        self.touched.update(changes)
        for blamed in self._running.values():
            blamed.extend(change for change in changes if change not in blamed)

    def _record(self, check: Check, result: CheckResult, blamed: Sequence[str]) -> None:
        """Record a run that is to blame for these changes, and go on with the state after that."""
        facts, tools, repeats = self._facts, self._tools, self._repeats
        criterion = self._criteria[check.criterion_id]
        own_row, document = _measurement_of(facts, criterion, check, result, blamed, tools.now())
        row, final = repeats.fold(own_row, document, blamed=bool(blamed))
        row = row._replace(blamed=row.outcome == "failed" and repeats.blamed(check.criterion_id))
        evidence_id, path = _recorded_sidecar(self._request, tools, document, result)
        repeats.recorded(check.criterion_id, evidence_id or document["metadata"]["id"])
        unsettled = self._watch.settle()
        if self._running:  # between the commands nobody is to blame
            self._blame_running(unsettled)
        if final:
            self.rows[row.criterion_id] = row._replace(evidence_id=evidence_id, evidence_ref=path)
            del self.waiting[check.criterion_id]
        if row.outcome != result.outcome:  # it is to blame for a change, or the runs disagree
            result = result._replace(outcome=row.outcome, reason=row.reason)
        took = self._seconds_run.get(check.criterion_id, 0.0) + result.duration_seconds
        self._seconds_run[check.criterion_id] = took
        tell = tools.listener.ended if final else tools.listener.repeats
        tell(check, result._replace(duration_seconds=took))

    def _found_later(self, change: str, criterion_ids: Sequence[str]) -> None:
        """A change that any of their commands may have made, though their evidence is recorded."""
        self.touched.add(change)
        for criterion_id in criterion_ids:
            earlier = self._blamed_later.get(criterion_id, ())
            self._blamed_later[criterion_id] = tuple(dict.fromkeys((*earlier, change)))

    def _blame_later(self, criterion_id: str, changes: tuple[str, ...]) -> None:
        """Fail a criterion whose evidence was recorded before the changes were seen."""
        if criterion_id in self.waiting:
            return
        row = self.rows[criterion_id]
        if row.evidence_id is not None:
            facts = self._facts
            goal_id = facts.loaded.goal.id
            self._tools.ledger.discount(goal_id, facts.run_id, row.evidence_id, changes)
        reason = f"it, or a command beside it, {_blame(changes)}"
        self.rows[criterion_id] = row._replace(outcome="failed", reason=reason, blamed=True)

    def _ticked(self) -> None:
        """End what runs once no time is left, or only what is kept for those that wait.

        Else one that hangs, or whose time is not known yet, would be all that a stop ever tries.
        """
        self._tools.listener.ticked()
        left = seconds_left(self._tools)
        wait = self.waiting.keys() - self._running.keys() - self._left_out
        if left <= 0 or (wait and all(left < self._kept_seconds[id] for id in self._running)):
            raise _OutOfTime


def _announce_runs(facts: Facts, request: Request, tools: EvaluationTools) -> None:
    """Record the untracked files, so that by-products of a killed evaluation can be recognised."""
    if request.quiet and not request.dry_run:
        # The others looked before anything else. Of this one the journal may get to know nothing.
        tools.ledger.check_room(facts.loaded.goal, None)
    if facts.before.problems or request.dry_run:  # unknown files; a dry run records nothing
        return
    tools.mark_started(facts.run_id, [c.path for c in facts.before.changes if c.untracked])


def _recorded_sidecar(
    request: Request, tools: EvaluationTools, document: Mapping[str, Any], result: CheckResult
) -> tuple[str, str] | tuple[None, None]:
    """Record the sidecar; its id and path, which a dry run has not."""
    if request.dry_run:
        return None, None
    return tools.ledger.record_evidence(document, result.output, suffix=True)


def seconds_left(tools: EvaluationTools) -> float:
    """The caller's time, without end where it has no limit."""
    return tools.seconds_left() if tools.seconds_left is not None else float("inf")


def check_of(criterion: Criterion, limit: float) -> Check:
    """The command of a criterion; ``limit`` in seconds where it has none of its own."""
    return Check(
        criterion_id=criterion.id,
        command=criterion.verification_command or "",
        cwd=criterion.cwd or "",
        timeout_seconds=criterion.timeout_seconds or limit,
        serial=criterion.serial,
        report=criterion.report or "",
    )


def _measurement_of(
    facts: Facts,
    criterion: Criterion,
    check: Check,
    result: CheckResult,
    blamed: Sequence[str],
    at: str,
) -> tuple[Measurement, dict[str, Any]]:
    goal, run_id, turn = facts.loaded.goal, facts.run_id, facts.turn
    outcome = result.outcome
    reason = "" if result.reason == result.result else result.reason
    if blamed:
        outcome = "failed"
        reason = f"it {_blame(blamed)}"
    protected_document, protected_limitations = protected_difference(facts)
    all_limitations = (
        *criterion.limitations,
        *result.limitations,
        *_base_limitations(facts, criterion),
        *protected_limitations,
        ONLY_EXIT,
    )
    limitations = tuple(dict.fromkeys(all_limitations))
    document = evidence_document(
        id=f"evidence-{criterion.id.lower()}-eval-{turn}",
        goal=goal.id,
        run_id=run_id,
        created_at=at,
        created_by=EVALUATOR,
        type="command_result",
        body={
            "command": check.command,
            "exit_code": result.exit_code,
            "outcome": outcome,
            "result": result.result,
            "reason": reason or None,
            "attribution": result.attribution,
            "tests": {"ran": result.tests_ran} if result.tests_ran else None,
            "proves": [criterion.id],
            "limitations": list(limitations),
            **run_fields(facts.subject, criterion, result),
            "protected_changes": protected_document,
        },
    )
    row = Measurement(criterion.id, outcome, result.exit_code, result.result, reason, limitations)
    digest = result.output.sha256 if result.output else None
    return row._replace(output_sha256=digest), document


def _base_limitations(facts: Facts, criterion: Criterion) -> tuple[str, ...]:
    """The limitation that the command's run on the base commit shows, if any."""
    base_run = facts.base_runs.get(criterion.id)
    if base_run is None:
        return ()
    limitation = base_run.limitation(facts.loaded.goal.base_commit or "")
    return (limitation,) if limitation else ()


def _blame(changes: Sequence[str]) -> str:
    return f"changed {display.names(changes, 3)}, which only Flow or a person may change"


def run_fields(subject: Subject, criterion: Criterion, result: CheckResult) -> dict[str, Any]:
    """The fields of a sidecar for any run of a command."""
    return {
        "duration_seconds": round(result.duration_seconds, 3),
        "output_bytes": result.output_bytes,
        "truncated": result.truncated_bytes > 0,
        "truncated_bytes": result.truncated_bytes or None,
        "masked": dict(result.redacted) or None,
        "sandbox": result.sandbox,
        "environment_removed": list(result.environment_removed) or None,
        "criterion_digest": criterion.digest,
        "subject": subject.to_document(),
    }


def protected_difference(facts: Facts) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The difference of changed protected files, for evidence, and its limitation."""
    if facts.protected_changes is None:
        return None, ()
    limitation = f"Protected files changed since activation: {facts.protected_changes.sentence()}."
    return facts.protected_changes.to_document(), (limitation,)
