"""Flow makes "done" provable for work done by coding agents and people.

>>> from flow import load_goal, evaluate
>>> verdict = evaluate("issue-4")
>>> verdict.verdict, verdict.proposed_transition
>>> from flow import judge
>>> judge("text, a value, or a path object", rubric="documentation").passed

The names below are loaded when they are first used, so that ``import flow`` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flow.api import Checkout as Checkout
    from flow.api import Evidence as Evidence
    from flow.api import FlowError as FlowError
    from flow.api import Goal as Goal
    from flow.api import Verdict as Verdict
    from flow.api import evaluate as evaluate
    from flow.api import load_goal as load_goal
    from flow.api_judge import CriterionResult as CriterionResult
    from flow.api_judge import JudgeResult as JudgeResult
    from flow.api_judge import NotPassed as NotPassed
    from flow.api_judge import NoUsableAnswer as NoUsableAnswer
    from flow.api_judge import Rubric as Rubric
    from flow.api_judge import RubricCriterion as RubricCriterion
    from flow.api_judge import ajudge as ajudge
    from flow.api_judge import judge as judge
    from flow.cheap_typing import Any

__version__ = "0.1.0"
_OF_API = ("Checkout", "Evidence", "FlowError", "Goal", "Verdict", "evaluate", "load_goal")
__all__ = [
    "Checkout",
    "CriterionResult",
    "Evidence",
    "FlowError",
    "Goal",
    "JudgeResult",
    "NoUsableAnswer",
    "NotPassed",
    "Rubric",
    "RubricCriterion",
    "Verdict",
    "ajudge",
    "evaluate",
    "judge",
    "load_goal",
]


def __getattr__(name: str) -> Any:
    if name in _OF_API:
        from flow import api

        return getattr(api, name)
    if name in __all__:
        from flow import api_judge

        return getattr(api_judge, name)
    raise AttributeError(f"module 'flow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
