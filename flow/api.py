"""Flow from Python: the same code the command line runs.

>>> from flow import Checkout
>>> checkout = Checkout("path/inside/the/repository")
>>> checkout.load("issue-4").goal.status
>>> verdict = checkout.evaluate(Request("issue-4"))

An evaluation never closes a goal. It returns a :class:`Verdict` whose ``proposed_transition`` a
person may confirm with :meth:`Checkout.confirm`.
"""

from __future__ import annotations

from flow.app.evaluation.values import Request
from flow.core.decision.verdict import Verdict
from flow.core.evidence.model import Evidence
from flow.core.goal.model import Goal
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING
from flow.wiring import Checkout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.ports import Trigger

__all__ = [
    "Checkout",
    "Evidence",
    "FlowError",
    "Goal",
    "Request",
    "Verdict",
    "evaluate",
    "load_goal",
]


def load_goal(goal_id: str, cwd: str | None = None) -> Goal:
    """Read a goal of the checkout around ``cwd`` (default: the working directory).

    Raises :class:`~flow.errors.InputError` where there is none, :class:`~flow.errors.ContractError`
    with every fault where the file breaks its format.
    """
    return Checkout(cwd).load(goal_id).goal


def evaluate(
    goal_id: str,
    *,
    cwd: str | None = None,
    trigger: Trigger = "manual",
    run_id: str | None = None,
    base: str | None = None,
    only: Sequence[str] = (),
    jobs: int | None = None,
    timeout_seconds: float | None = None,
    repeat: int | None = None,
    no_judge: bool = False,
    dry_run: bool = False,
    judge_backend: str | None = None,
) -> Verdict:
    """Evaluate a goal and return the verdict; ``last-verdict.json`` is left to the caller.

    ``timeout_seconds`` limits each command that has no limit of its own; ``repeat`` is how often
    each one runs, over the contract's ``evaluator.repeat``; ``judge_backend``
    (``BACKEND[:MODEL]``) is asked instead of the judges that settings and goal name. See
    SPEC 3 for what is run, written and decided, and :mod:`flow.errors` for what may be raised.
    """
    request = Request(
        goal_id,
        trigger=trigger,
        run_id=run_id,
        base=base,
        only=tuple(only),
        jobs=jobs,
        timeout_seconds=timeout_seconds,
        repeat=repeat,
        no_judge=no_judge,
        dry_run=dry_run,
        judge_backend=judge_backend,
    )
    return Checkout(cwd).evaluate(request)
