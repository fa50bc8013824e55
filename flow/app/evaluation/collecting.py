"""Running ``evidence_command``s: their output goes to the judge, and decides nothing (SPEC 1)."""

from __future__ import annotations

from flow.app.checks import Check, CheckEvents, CheckResult
from flow.app.evaluation.command_runs import protected_difference, run_fields, seconds_left
from flow.core.evidence.model import EVALUATOR, evidence_document
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from flow.app.evaluation.values import EvaluationTools, Facts, JudgeCase
    from flow.core.goal.model import Criterion

ONLY_FOR_JUDGES = "Collected for a judge; how the command exited decides nothing."


class CollectedEvidence(NamedTuple):
    """The result of evidence commands, beside their sidecars."""

    made: tuple[str, ...] = ()
    """The ids of the sidecars."""
    blamed: tuple[str, ...] = ()
    """Changes meanwhile of what only Flow or a person may change."""

    @property
    def goal_touched(self) -> bool:
        """Whether the goal file was changed."""
        return any(change.startswith("goal ") for change in self.blamed)


def collect(case: JudgeCase, tools: EvaluationTools) -> CollectedEvidence:
    """Run the evidence commands of open criteria; each output is recorded when it ends."""
    facts, request = case.facts, case.request
    asked = {
        c.id: c
        for c in facts.loaded.goal.criteria
        if c.fuzzy and c.evidence_command and c.id not in case.approved
    }
    if not asked:
        return CollectedEvidence()
    left = seconds_left(tools)
    checks = [
        Check(
            criterion_id=c.id,
            command=c.evidence_command or "",
            cwd=c.cwd or "",
            timeout_seconds=min(
                c.timeout_seconds or request.timeout_seconds or tools.limits.timeout_seconds,
                max(left, 1.0),
            ),
            serial=c.serial,
        )
        for c in asked.values()
    ]
    watch = tools.watch(facts.loaded.goal, facts.run_id, facts.baseline.journal_dir)
    blamed: dict[str, None] = {}
    made: list[str] = []

    def ended(check: Check, result: CheckResult) -> None:
        changes = (*watch.changed(), *watch.changed_elsewhere())
        blamed.update(dict.fromkeys(changes))
        document = _document(facts, asked[check.criterion_id], result, tools.now())
        made.append(tools.ledger.record_evidence(document, result.output, suffix=True)[0])
        watch.settle()
        tools.listener.ended(check, result)

    watch.settle()
    tools.listener.planned(checks, "for the judge")
    try:
        tools.run_checks(
            checks,
            jobs=request.jobs or facts.loaded.goal.jobs or tools.limits.jobs,
            events=CheckEvents(tools.listener.started, ended, tools.listener.ticked),
        )
    finally:
        tools.listener.finished()
    blamed.update(dict.fromkeys(watch.changed_elsewhere(last=True)))
    return CollectedEvidence(made=tuple(made), blamed=tuple(blamed))


def blame_reason(collected: CollectedEvidence) -> str:
    """Why no judge is asked after evidence commands that changed what they must not."""
    return f"an evidence command changed {display.names(collected.blamed, 3)}"


def _document(facts: Facts, criterion: Criterion, result: CheckResult, at: str) -> dict[str, Any]:
    goal = facts.loaded.goal
    limitations = (*criterion.limitations, *result.limitations, ONLY_FOR_JUDGES)
    return evidence_document(
        id=f"evidence-{criterion.id.lower()}-collected-{facts.turn}",
        goal=goal.id,
        run_id=facts.run_id,
        created_at=at,
        created_by=EVALUATOR,
        type="command_result",
        body={
            "command": criterion.evidence_command,
            "exit_code": result.exit_code,
            "result": result.result,
            "reason": result.reason if result.reason not in ("", result.result) else None,
            "proves": [],
            "about": [criterion.id],
            "limitations": list(dict.fromkeys(limitations)),
            **run_fields(facts.subject, criterion, result),
            "protected_changes": protected_difference(facts)[0],
        },
    )
