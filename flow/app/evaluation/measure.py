"""Running a goal's commands and keeping what they printed (SPEC 3, step 2)."""

from __future__ import annotations

import math

from flow.app.evaluation import reuse
from flow.app.evaluation.values import Measurement, Measurements
from flow.app.ports import Check, CheckEvents
from flow.core.decision import explain
from flow.core.evidence.model import EVALUATOR, ONLY_EXIT, evidence_document
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.evaluation.values import EvaluationTools, Facts, Request
    from flow.app.ports import CheckResult
    from flow.core.evidence.model import Subject
    from flow.core.goal.model import Criterion, Goal


class _OutOfTime(Exception):
    """The caller must answer now. Never leaves this module."""


def wanted_criteria(goal: Goal, only: frozenset[str] | None) -> list[Criterion]:
    """The criteria whose commands this evaluation runs."""
    return [
        c
        for c in goal.criteria
        if not c.fuzzy and (c.must_pass or goal.require_all_pass) and (only is None or c.id in only)
    ]


def run(
    facts: Facts, request: Request, only: frozenset[str] | None, tools: EvaluationTools
) -> Measurements:
    """Run the commands; each one's evidence is on disk before the next result is looked at.

    With ``request.reuse`` only those whose evidence does not fit the files any more. With
    ``tools.seconds_left`` those known to be fast go first, and what does not fit is left out.
    """
    goal, run_id = facts.loaded.goal, facts.run_id
    rows = {c.id: _not_run(c) for c in goal.criteria}
    criteria, reused, seconds = _planned_runs(facts, request, only, tools)
    rows.update(reused)
    if not criteria:
        done = tuple(rows.values())
        return Measurements(done, ran=False, goal_touched=False, reused=tuple(reused))
    limit = request.timeout_seconds or tools.limits.timeout_seconds
    checks = [_check_of(criterion, limit) for criterion in criteria]
    from flow.app.evaluation.repeating import Repeats

    repeats = Repeats(facts, request, tools.records)
    watch = tools.watch(goal.id, run_id)
    running: dict[str, list[str]] = {}
    touched: set[str] = set()
    waiting = dict.fromkeys(check.criterion_id for check in checks)

    def started(check: Check) -> None:
        _in_time(tools, seconds.get(check.criterion_id, 0.0))
        running[check.criterion_id] = []
        tools.listener.started(check)

    def ended(check: Check, result: CheckResult) -> None:
        changes = watch.changed()
        touched.update(changes)
        for seen in running.values():  # whoever ran meanwhile may have done it
            seen.extend(change for change in changes if change not in seen)
        blamed = tuple(running.pop(check.criterion_id))
        row, document = _measurement_of(facts, check, result, blamed, tools.now())
        one = row
        row, last = repeats.fold(row, document, blamed=bool(blamed))
        row = row._replace(blamed=row.outcome == "failed" and repeats.blamed(check.criterion_id))
        evidence_id, path = _recorded_sidecar(request, tools, document, result)
        repeats.recorded(check.criterion_id, evidence_id or document["metadata"]["id"])
        watch.settle()
        if last:
            rows[check.criterion_id] = row._replace(evidence_id=evidence_id, evidence_ref=path)
            del waiting[check.criterion_id]
        if row.outcome != one.outcome:  # the runs disagree
            result = result._replace(outcome=row.outcome, reason=row.reason)
        tools.listener.ended(check, result)

    def ticked() -> None:
        tools.listener.ticked()
        _in_time(tools)

    _announce_runs(facts, request, tools)
    watch.settle()
    tools.listener.planned(repeats.planned(checks))
    try:
        while todo := repeats.left(checks):  # a command never runs beside itself
            tools.run_checks(
                todo,
                jobs=request.jobs or goal.jobs or tools.limits.jobs,
                events=CheckEvents(started, ended, ticked),
            )
    except _OutOfTime:
        for criterion_id in waiting:
            rows[criterion_id] = rows[criterion_id]._replace(reason=explain.NO_TIME)
    finally:
        tools.listener.finished()
    goal_touched = any(change.startswith("goal ") for change in touched)
    return Measurements(
        tuple(rows.values()),
        ran=True,
        goal_touched=goal_touched,
        reused=tuple(reused),
        out_of_time=tuple(waiting),
    )


def _announce_runs(facts: Facts, request: Request, tools: EvaluationTools) -> None:
    """Remember which files were there, so that what a killed evaluation leaves can be told."""
    if facts.before.problems or request.dry_run:  # nobody knows what was there; nothing is kept
        return
    tools.began(facts.run_id, [c.path for c in facts.before.changes if c.untracked])


def _recorded_sidecar(
    request: Request, tools: EvaluationTools, document: Mapping[str, Any], result: CheckResult
) -> tuple[str, str] | tuple[None, None]:
    """The sidecar's id and path, once it is recorded; a dry run records nothing."""
    if request.dry_run:
        return None, None
    return tools.ledger.record_evidence(document, result.output, suffix=True)


def _in_time(tools: EvaluationTools, needed: float = 0.0) -> None:
    """Raise :class:`_OutOfTime` where the caller has no more seconds left than that."""
    if tools.seconds_left is not None and tools.seconds_left() <= needed:
        raise _OutOfTime


def _planned_runs(
    facts: Facts, request: Request, only: frozenset[str] | None, tools: EvaluationTools
) -> tuple[list[Criterion], dict[str, Measurement], dict[str, float]]:
    """What to run, what need not be run, and how many seconds each command took last."""
    looks_only = request.dry_run and only is None
    criteria = [] if looks_only else wanted_criteria(facts.loaded.goal, only)
    seconds: dict[str, float] = {}
    if request.reuse is None:
        return criteria, {}, seconds
    reused = reuse.reusable_rows(
        facts, criteria, request.reuse, tools.records, seconds, tools.now()
    )
    criteria = [c for c in criteria if c.id not in reused]
    if tools.seconds_left is not None:
        criteria.sort(key=lambda c: seconds.get(c.id, math.inf))
    return criteria, reused, seconds


def _check_of(criterion: Criterion, limit: float) -> Check:
    """The command of a criterion; ``limit`` in seconds where it has none of its own."""
    return Check(
        criterion_id=criterion.id,
        command=criterion.verification_command or "",
        cwd=criterion.cwd or "",
        timeout_seconds=criterion.timeout_seconds or limit,
        serial=criterion.serial,
        report=criterion.report or "",
    )


def _not_run(criterion: Criterion) -> Measurement:
    reason = explain.FUZZY if criterion.fuzzy else ""
    return Measurement(
        criterion.id, "not_run", None, None, reason, criterion.limitations, None, None, None
    )


def _measurement_of(
    facts: Facts,
    check: Check,
    result: CheckResult,
    blamed: tuple[str, ...],
    at: str,
) -> tuple[Measurement, dict[str, Any]]:
    goal, run_id, turn = facts.loaded.goal, facts.run_id, facts.turn
    criterion = next(c for c in goal.criteria if c.id == check.criterion_id)
    outcome = result.outcome
    reason = "" if result.reason == result.result else result.reason
    if blamed:
        outcome = "failed"
        reason = f"it changed {display.names(blamed, 3)}, which only Flow or a person may change"
    known = (*_base_limitations(facts, check), *protected_difference(facts)[1])
    limitations = (*criterion.limitations, *result.limitations, *known, ONLY_EXIT)
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
            "proves": [criterion.id],
            "limitations": list(dict.fromkeys(limitations)),
            **run_fields(facts.subject, criterion, result),
            "protected_changes": protected_difference(facts)[0],
        },
    )
    row = Measurement(
        criterion.id,
        outcome,
        result.exit_code,
        result.result,
        reason,
        tuple(document["evidence"]["limitations"]),
        None,
        None,
        result.output.sha256 if result.output else None,
    )
    return row, document


def _base_limitations(facts: Facts, check: Check) -> tuple[str, ...]:
    """What a pass does not show, where the command passed on the base commit already."""
    known = facts.base_runs.get(check.criterion_id)
    if known is None or not known.non_discriminating:
        return ()
    from flow.core.evidence.red_first import limitation

    return (limitation(facts.loaded.goal.base_commit or ""),)


def run_fields(subject: Subject, criterion: Criterion, result: CheckResult) -> dict[str, Any]:
    """What a sidecar tells of every run, whatever it is for."""
    return {
        "duration_seconds": round(result.duration_seconds, 3),
        "output_bytes": result.output_bytes,
        "truncated": result.truncated_bytes > 0,
        "truncated_bytes": result.truncated_bytes or None,
        "masked": dict(result.masked) or None,
        "sandbox": result.sandbox,
        "environment_removed": list(result.environment_removed) or None,
        "criterion_digest": criterion.digest,
        "subject": subject.to_document(),
    }


def made_sidecars(measurement: Measurements) -> tuple[str, ...]:
    """The ids of the sidecars that this evaluation recorded for commands."""
    return tuple(
        row.evidence_id
        for row in measurement.rows
        if row.evidence_id is not None and row.criterion_id not in measurement.reused
    )


def discount(
    facts: Facts, ids: Sequence[str], moved: Sequence[str], tools: EvaluationTools
) -> None:
    """Make sure that these sidecars never count: files changed while they were measured.

    Their stamp is that of the files before; put back as they were, it would fit again.
    """
    for evidence_id in ids:
        tools.ledger.discount(facts.loaded.goal.id, facts.run_id, evidence_id, moved)


def protected_difference(facts: Facts) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """What evidence says of changed protected files: the difference, and a limitation."""
    if facts.locked is None:
        return None, ()
    said = f"Protected files changed since activation: {facts.locked.sentence()}."
    return facts.locked.to_document(), (said,)
