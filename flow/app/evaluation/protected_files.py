"""Protected files in an evaluation: their changes, a person's approval, the warnings."""

from __future__ import annotations

from flow.app.evaluation import goal_rules
from flow.core.evidence import protected_files
from flow.core.text import display
from flow.errors import FlowError, at_key
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.evaluation.values import Facts
    from flow.app.ports import Records
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.boundary.rules import BoundaryReport
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal

PROTECTED = "protected"
"""Stands in for a criterion's id where changed protected files are approved."""

APPROVED = "protected-approved"
"""The event of such an approval."""


def report_with_protected(
    base_report: BoundaryReport, facts: Facts, left: Sequence[str], records: Records
) -> BoundaryReport:
    """The boundary's report with the changed protected files that are not approved.

    ``left`` are the paths that the commands have just created: a protected one among them did not
    exist when the evaluation took its first snapshot, and the results may rest on it.
    """
    goal, difference = facts.loaded.goal, facts.protected_changes
    new = protected_files.matching(left, goal.protected_paths)
    late = late_patterns(facts)
    warnings = []
    if late:
        names = display.names(late)
        warnings.append(
            f"protected since activation, so ignored files that they name are not compared: {names}"
        )
    if difference is not None and not new and approved(goal, facts.run_id, difference, records):
        warnings.append(
            "protected files changed since activation, approved as they are: "
            + difference.sentence()
        )
        return base_report._replace(warnings=(*base_report.warnings, *warnings))
    paths = (*(difference.paths if difference else ()), *new)
    if difference is not None:
        warnings.append(f"protected files changed since activation: {difference.sentence()}")
    if new:
        warnings.append(f"protected, and written by the commands themselves: {display.names(new)}")
    changed = tuple(dict.fromkeys(paths)) if not base_report.problems else ()
    return base_report._replace(
        protected_changed=changed, warnings=(*base_report.warnings, *warnings)
    )


def late_patterns(facts: Facts) -> list[str]:
    """The protected patterns that nothing was recorded for."""
    recorded = facts.baseline.protected_patterns
    return [pattern for pattern in facts.loaded.goal.protected_paths if pattern not in recorded]


def approved(
    goal: Goal, run_id: str, difference: protected_files.Difference, records: Records
) -> bool:
    """Whether a person approved exactly this difference. A further change ends it."""
    evidence = records.counted_last(run_id, APPROVED)
    if evidence is None or evidence.goal != goal.id:
        return False
    approved_changes = evidence.body.get("protected_changes") or {}
    return bool(approved_changes.get("digest") == difference.digest)


def approvable_difference(
    goal: Goal, snapshot: Snapshot, baseline: Baseline
) -> protected_files.Difference:
    """The difference that a person approves; :class:`StateError` if there is none."""
    difference = goal_rules.protected_changes(goal, snapshot, baseline)
    if difference is None:
        raise at_key("AC", PROTECTED).wrong_state(
            f"no protected file of goal {goal.id} is different from what it was at activation",
            f"nothing needs this approval: flow goal evaluate {goal.id}",
            code="nothing_changed",
        )
    return difference


def current_difference(
    context: ClosingContext, loaded: LoadedGoal
) -> protected_files.Difference | None:
    """The present difference of the protected files; None if they are as at activation."""
    goal = loaded.goal
    if not goal.protected_paths or goal.run_id is None:
        return None
    baseline = context.baseline(goal, goal.run_id).baseline
    snapshot = goal_rules.deciding_snapshot(context, goal, baseline)
    return goal_rules.protected_changes(goal, snapshot, baseline)


def protected_status(context: ClosingContext, loaded: LoadedGoal) -> dict[str, Any] | None:
    """The protected files in ``flow goal status``; None if none changed."""
    try:
        difference = current_difference(context, loaded)
    except FlowError:
        return None  # an evaluation names the fault
    if difference is None:
        return None
    goal = loaded.goal
    given = approved(goal, goal.run_id or "", difference, context.records)
    return {**difference.to_document(), "approved": given, "sentence": difference.sentence()}
