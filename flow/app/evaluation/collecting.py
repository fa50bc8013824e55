"""Running ``evidence_command``s: their output goes to the judge, and decides nothing (SPEC 1)."""

from __future__ import annotations

from flow.app.checks import Check, CheckEvents, CheckResult
from flow.app.evaluation.command_runs import protected_difference, run_fields, seconds_left
from flow.app.evaluation.goal_rules import confined
from flow.core.evidence.model import EVALUATOR, evidence_document
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.tools import EvaluationTools
    from flow.app.evaluation.values import Facts, JudgeCase
    from flow.core.goal.model import Criterion

ONLY_FOR_JUDGES = "Collected for a judge; how the command exited decides nothing."


class CollectedEvidence(NamedTuple):
    """The result of evidence commands, beside their sidecars."""

    sidecar_ids: tuple[str, ...] = ()
    blamed: tuple[str, ...] = ()
    """Changes meanwhile of what only Flow or a person may change."""

    @property
    def goal_touched(self) -> bool:
        """Whether the goal file was changed."""
        return any(change.startswith("goal ") for change in self.blamed)


def collect(case: JudgeCase, tools: EvaluationTools) -> CollectedEvidence:
    """Run the evidence commands of open criteria; each output is recorded when it ends."""
    criteria = [
        c
        for c in case.facts.loaded.goal.criteria
        if c.fuzzy and c.evidence_command and c.id not in case.approved
    ]
    return _Collection(case, tools, criteria).run() if criteria else CollectedEvidence()


class _Collection:
    """The evidence commands of one evaluation while they run, and their evidence."""

    def __init__(
        self, case: JudgeCase, tools: EvaluationTools, criteria: Sequence[Criterion]
    ) -> None:
        self._facts, self._tools = case.facts, tools
        self._criteria = {c.id: c for c in criteria}
        goal, facts = case.facts.loaded.goal, case.facts
        self._limits = tools.limits.for_call(case.request, goal)
        self._watch = tools.watch(goal, facts.run_id, facts.baseline.journal_dir)
        self._blamed: dict[str, None] = {}
        self._sidecar_ids: list[str] = []

    def run(self) -> CollectedEvidence:
        """Run them all."""
        goal, tools, limits = self._facts.loaded.goal, self._tools, self._limits
        left = seconds_left(tools)
        checks = confined([self._check(c, left) for c in self._criteria.values()], goal, tools)
        self._watch.settle()
        tools.listener.planned(checks, "for the judge")
        try:
            tools.run_checks(
                checks,
                jobs=limits.jobs,
                events=CheckEvents(tools.listener.started, self._ended, tools.listener.ticked),
            )
        finally:
            tools.listener.finished()
        self._blamed.update(dict.fromkeys(self._watch.changed_elsewhere(last=True)))
        return CollectedEvidence(tuple(self._sidecar_ids), tuple(self._blamed))

    def _check(self, criterion: Criterion, left: float) -> Check:
        """Its evidence command, with at most the ``left`` seconds."""
        limit = criterion.timeout_seconds or self._limits.timeout_seconds
        return Check(
            criterion_id=criterion.id,
            command=criterion.evidence_command or "",
            cwd=criterion.cwd or "",
            timeout_seconds=min(limit, max(left, 1.0)),
            serial=criterion.serial,
        )

    def _ended(self, check: Check, result: CheckResult) -> None:
        tools, criterion = self._tools, self._criteria[check.criterion_id]
        changes = (*self._watch.changed(), *self._watch.changed_elsewhere())
        self._blamed.update(dict.fromkeys(changes))
        document = _document(self._facts, criterion, result, tools.now())
        evidence_id, _ = tools.ledger.record_evidence(document, result.output, suffix=True)
        self._sidecar_ids.append(evidence_id)
        self._watch.settle()
        tools.listener.ended(check, result)


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
