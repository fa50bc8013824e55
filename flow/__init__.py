"""Flow makes "done" provable for work done by coding agents and people.

>>> from flow import load_goal, evaluate
>>> verdict = evaluate("issue-4")
>>> verdict.verdict, verdict.proposed_transition

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
    from flow.cheap_typing import Any

__version__ = "0.1.0"
__all__ = ["Checkout", "Evidence", "FlowError", "Goal", "Verdict", "evaluate", "load_goal"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from flow import api

        return getattr(api, name)
    raise AttributeError(f"module 'flow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
