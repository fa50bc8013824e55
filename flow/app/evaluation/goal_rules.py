"""A goal's rules, applied to a change set or to its commands."""

from __future__ import annotations

from flow.core.boundary import rules as bounds
from flow.core.boundary.changes import DecidingFiles
from flow.core.boundary.globs import literal_name
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.checks import Check
    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.evaluation.tools import EvaluationTools
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.boundary.rules import BoundaryReport, OwnFiles
    from flow.core.evidence.protected_files import Difference
    from flow.core.goal.model import Goal


def protected_changes(goal: Goal, snapshot: Snapshot, baseline: Baseline) -> Difference | None:
    """The protected files that changed since activation; None if none did."""
    if not goal.protected_paths:
        return None
    from flow.core.evidence import protected_files

    return protected_files.difference(
        snapshot, baseline, goal.protected_paths, own_files(goal, baseline)
    )


def own_files(goal: Goal, baseline: Baseline) -> OwnFiles:
    """The predicate of the paths that Flow wrote itself in this checkout."""
    return bounds.OwnFiles(
        baseline,
        goal.journal,
        issue=goal.issue,
        goal_id=goal.id,
        denied=goal.denied_paths,
        allowed=goal.allowed_paths,
    )


def goal_boundary(
    goal: Goal,
    snapshot: Snapshot,
    baseline: Baseline,
    denied: Sequence[str],
    *,
    inside: bool = True,
) -> BoundaryReport:
    """The change set against the goal's paths; ``denied`` are the patterns of goal and settings.

    ``inside``: whether it lists the allowed paths.
    """
    return bounds.boundary_report(
        snapshot,
        baseline,
        allowed=goal.allowed_paths,
        denied=denied,
        own_files=own_files(goal, baseline),
        began=goal.created_at,
        inside=inside,
    )


def deciding_snapshot(context: ClosingContext, goal: Goal, baseline: Baseline) -> Snapshot:
    """The change set now, for a decision about ``goal``."""
    return context.snapshot(baseline, context.denied(goal), deciding(goal, baseline))


def denied_patterns(goal: Goal, tools: EvaluationTools) -> tuple[str, ...]:
    """Denied patterns of goal and settings together."""
    return (*goal.denied_paths, *tools.limits.denied_paths)


def deciding(goal: Goal, baseline: Baseline) -> DecidingFiles:
    """The files that a decision about ``goal`` rests on, beside changed and protected ones.

    They are the files that a judge is shown, and those that the commands name. Every snapshot that
    decides hashes them anew.
    """
    shown = [p for criterion in goal.criteria for p in criterion.judged_paths]
    patterns = tuple(dict.fromkeys(shown))
    if not baseline.proof_named:
        return DecidingFiles(patterns)
    named = filter(None, map(literal_name, baseline.proof_named))
    return DecidingFiles(patterns, frozenset(named))


def confined(checks: list[Check], goal: Goal, tools: EvaluationTools) -> list[Check]:
    """The commands of ``goal``, each to be run in its sandbox where it asks for one."""
    if not goal.document["evaluator"].get("sandbox"):
        return checks
    from flow.core.sandbox import sandbox_of

    sandbox = sandbox_of(goal.document, goal.allowed_paths, denied_patterns(goal, tools))
    return [check._replace(sandbox=sandbox) for check in checks]
