"""What a goal's rules say of a change set, with what its baseline pinned."""

from __future__ import annotations

from flow.core.boundary import rules as bounds
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.app.evaluation.values import EvaluationTools
    from flow.core.boundary.rules import Baseline, OwnFiles, Snapshot
    from flow.core.evidence.protected_files import Difference
    from flow.core.goal.model import Goal


def difference(goal: Goal, snapshot: Snapshot, baseline: Baseline) -> Difference | None:
    """The protected files that are not as they were; nothing is asked where none is protected."""
    if not goal.protected_paths:
        return None
    from flow.core.evidence import protected_files

    return protected_files.difference(
        snapshot, baseline, goal.protected_paths, own_files(goal, baseline)
    )


def own_files(goal: Goal, baseline: Baseline) -> OwnFiles:
    """Which changed paths are files that Flow wrote itself in this checkout."""
    return bounds.own_files(
        baseline,
        goal.journal,
        goal.denied_paths,
        issue=goal.issue,
        allowed=goal.allowed_paths,
    )


def denied_patterns(goal: Goal, tools: EvaluationTools) -> tuple[str, ...]:
    """Denied patterns of goal and settings together."""
    return (*goal.denied_paths, *tools.limits.denied_paths)


def deciding(goal: Goal, baseline: Baseline) -> bounds.Deciding:
    """The files that a decision about ``goal`` rests on, beside changed and protected ones.

    Those that a judge is shown, and those that the commands name. Every look that decides hashes
    them anew.
    """
    shown = [p for criterion in goal.criteria for p in criterion.judged_paths]
    patterns = tuple(dict.fromkeys(shown))
    if not baseline.proof_named:
        return bounds.Deciding(patterns)
    from flow.core.evidence.proof import literal_name

    named = filter(None, map(literal_name, baseline.proof_named))
    return bounds.Deciding(patterns, frozenset(named))
