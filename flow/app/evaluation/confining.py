"""Commands of a goal that asks for a sandbox are run in one (``evaluator.sandbox``)."""

from __future__ import annotations

from flow.app.evaluation import goal_rules
from flow.core.sandbox import sandbox_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.values import EvaluationTools
    from flow.app.ports import Check
    from flow.core.goal.model import Goal


def confined(tools: EvaluationTools, goal: Goal) -> EvaluationTools:
    """``tools`` that run every command of ``goal``, whatever it is for, in the goal's sandbox."""
    sandbox = sandbox_of(goal.document, goal.allowed_paths, goal_rules.denied_patterns(goal, tools))
    if sandbox is None:
        return tools
    run = tools.run_checks

    def run_checks(checks: Sequence[Check], **how: Any) -> None:
        run([check._replace(sandbox=sandbox) for check in checks], **how)

    return tools._replace(run_checks=run_checks)
