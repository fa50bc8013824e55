"""Flow from Python: the same code the command line runs.

>>> from flow import Checkout, Request
>>> checkout = Checkout("path/inside/the/repository")
>>> checkout.load("issue-4").goal.status
>>> verdict = checkout.evaluate(Request("issue-4"))

An evaluation never closes a goal. It returns a :class:`Verdict` whose ``proposed_transition`` a
person may confirm with :meth:`Checkout.confirm`.
"""

from __future__ import annotations

from flow.app.evaluation.values import Listener, Request
from flow.app.judging import labelling
from flow.app.ports import Trigger
from flow.core.decision.verdict import Verdict
from flow.core.evidence.model import Evidence
from flow.core.goal.model import Goal
from flow.core.setting_keys import MOST_JOBS, WEEK
from flow.errors import (
    ContractError,
    FlowError,
    InputError,
    OutsideError,
    PersonNeeded,
    RefusedError,
    StaleProposal,
    StateError,
    at_key,
)
from flow.startup.typing import TYPE_CHECKING, get_args
from flow.wiring import evaluating
from flow.wiring.context import Context

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.app.transitions.closing import Closed
    from flow.core.goal.loaded import LoadedGoal

__all__ = [
    "Checkout",
    "ContractError",
    "Evidence",
    "FlowError",
    "Goal",
    "InputError",
    "OutsideError",
    "PersonNeeded",
    "RefusedError",
    "Request",
    "StaleProposal",
    "StateError",
    "Verdict",
    "evaluate",
    "load_goal",
]

MOST_RUNS = 1000
"""Most runs of one command in an evaluation."""


class Checkout:
    """A repository checkout, found from any folder inside it.

    ``cwd`` defaults to the working directory, ``environ`` to the process's environment. Raises
    :class:`~flow.errors.InputError` if neither a repository nor a ``.flow`` folder is above
    ``cwd``.
    """

    def __init__(self, cwd: str | None = None, environ: Mapping[str, str] | None = None) -> None:
        self._context = Context(cwd, environ)

    def load(self, goal_id: str) -> LoadedGoal:
        """Read a goal. Raises :class:`InputError` if there is none, or for an unsafe id."""
        return self._context.load(goal_id)

    def evaluate(
        self, request: Request, listener: Listener | None = None, *, trust_digest: str | None = None
    ) -> Verdict:
        """Evaluate a goal; ``last-verdict.json`` is left to the caller.

        ``trust_digest`` is a pipeline's way to say which contract it means: it counts as trusted if
        its digest is this one, and :class:`StateError` names both if not. Raises
        :class:`InputError` for a number or trigger that the command line refuses.
        """
        _check(request)
        return evaluating.evaluate(self._context, request, listener, trust_digest=trust_digest)

    def confirm(self, goal_id: str, proposal_id: str, reason: str | None, how: str) -> Closed:
        """Write a proposed terminal status, for a caller that has asked a person.

        ``how`` is how they were asked. Raises :class:`StaleProposal` naming the change.
        """
        return labelling.confirm_and_label(self._context, goal_id, proposal_id, reason, how)


def _check(request: Request) -> None:
    """Raise before anything runs: a thousand runs too many would be found at the thousandth."""
    for name, most in (("jobs", MOST_JOBS), ("repeat", MOST_RUNS)):
        number = getattr(request, name)
        if number is not None and (type(number) is not int or not 1 <= number <= most):
            raise at_key(name, number).invalid(
                f"{number!r:.60} is out of range", f"give a whole number from 1 to {most}"
            )
    seconds = request.timeout_seconds
    if seconds is not None and not (type(seconds) in (int, float) and 0 < seconds <= WEEK):
        raise at_key("timeout_seconds", seconds).invalid(
            f"{seconds!r:.60} is not a time limit", f"give seconds, more than 0, at most {WEEK}"
        )
    if request.trigger not in get_args(Trigger):
        raise at_key("trigger", request.trigger).invalid(
            f"{request.trigger!r:.60} is no trigger", f"one of {', '.join(get_args(Trigger))}"
        )


def load_goal(goal_id: str, cwd: str | None = None) -> Goal:
    """Read a goal of the checkout around ``cwd`` (default: the working directory).

    Raises :class:`~flow.errors.InputError` if there is none, :class:`~flow.errors.ContractError`
    with every fault if the file breaks its format.
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

    ``timeout_seconds`` limits each command that has no limit of its own; ``repeat`` is the number
    of runs of each, instead of the contract's ``evaluator.repeat``; ``judge_backend``
    (``BACKEND[:MODEL]``) is asked instead of the judges that settings and goal name. SPEC 3
    describes the steps, files and decisions, :mod:`flow.errors` the errors that may be raised.
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
