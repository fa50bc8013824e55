"""Flow makes "done" provable for work done by coding agents and people.

>>> from flow import load_goal, evaluate
>>> verdict = evaluate("issue-4")
>>> verdict.verdict, verdict.proposed_transition
>>> from flow import judge
>>> judge("text, a value, or a path object", rubric="documentation").passed
>>> from flow import scorecard
>>> scorecard("commit", file="session.jsonl").grade

The names below are loaded when they are first used, so that ``import flow`` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flow.api import Checkout as Checkout
    from flow.api import ContractError as ContractError
    from flow.api import Evidence as Evidence
    from flow.api import FlowError as FlowError
    from flow.api import Goal as Goal
    from flow.api import InputError as InputError
    from flow.api import OutsideError as OutsideError
    from flow.api import PersonNeeded as PersonNeeded
    from flow.api import RefusedError as RefusedError
    from flow.api import Request as Request
    from flow.api import StaleProposal as StaleProposal
    from flow.api import StateError as StateError
    from flow.api import Verdict as Verdict
    from flow.api import evaluate as evaluate
    from flow.api import load_goal as load_goal
    from flow.api_debate import DebateResult as DebateResult
    from flow.api_debate import adebate as adebate
    from flow.api_debate import debate as debate
    from flow.api_judge import CriterionResult as CriterionResult
    from flow.api_judge import JudgeResult as JudgeResult
    from flow.api_judge import NotPassed as NotPassed
    from flow.api_judge import NoUsableAnswer as NoUsableAnswer
    from flow.api_judge import Rubric as Rubric
    from flow.api_judge import RubricCriterion as RubricCriterion
    from flow.api_judge import ajudge as ajudge
    from flow.api_judge import judge as judge
    from flow.api_scorecard import Scorecard as Scorecard
    from flow.api_scorecard import ScoredDimension as ScoredDimension
    from flow.api_scorecard import ascorecard as ascorecard
    from flow.api_scorecard import scorecard as scorecard
    from flow.api_scorecard import scorecards as scorecards
    from flow.startup.typing import Any
    from flow.version import __version__ as __version__

_MODULES = {
    "flow.api_debate": "DebateResult adebate debate",
    "flow.api_judge": "CriterionResult JudgeResult NoUsableAnswer NotPassed Rubric RubricCriterion "
    "ajudge judge",
    "flow.api_scorecard": "Scorecard ScoredDimension ascorecard scorecard scorecards",
    "flow.version": "__version__",
}
"""The modules of the names that are not in ``flow.api``."""
__all__ = [
    "Checkout",
    "ContractError",
    "CriterionResult",
    "DebateResult",
    "Evidence",
    "FlowError",
    "Goal",
    "InputError",
    "JudgeResult",
    "NoUsableAnswer",
    "NotPassed",
    "OutsideError",
    "PersonNeeded",
    "RefusedError",
    "Request",
    "Rubric",
    "RubricCriterion",
    "Scorecard",
    "ScoredDimension",
    "StaleProposal",
    "StateError",
    "Verdict",
    "adebate",
    "ajudge",
    "ascorecard",
    "debate",
    "evaluate",
    "judge",
    "load_goal",
    "scorecard",
    "scorecards",
]


def __getattr__(name: str) -> Any:
    if name not in (*__all__, "__version__"):
        raise AttributeError(f"module 'flow' has no attribute {name!r}")
    from importlib import import_module

    modules = (module for module, names in _MODULES.items() if name in names.split())
    return getattr(import_module(next(modules, "flow.api")), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
