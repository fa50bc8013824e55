"""A proposal by evidence that is there already: nothing runs, no judge is asked."""

from __future__ import annotations

from flow.app.evaluation.values import Evaluated, Request
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.core.decision.verdict import Verdict


def propose_from_fresh(
    goal_id: str,
    newest: Mapping[str, str],
    evaluate: Callable[[Request], Evaluated],
    record: Callable[[Verdict], tuple[str, ...]],
) -> tuple[Evaluated, tuple[str, ...]]:
    """Evaluate a goal by fresh evidence alone; returns the evaluation and warnings.

    If that gives a proposal, it is recorded as a turn like any other; else nothing is written.
    ``newest`` are the sidecars to try first, by criterion; ``record`` stores a verdict and returns
    warnings. The caller locks the goal against other evaluations.
    """
    request = Request(
        goal_id, trigger="command", no_judge=True, reuse=newest, quiet=True, only_fresh=True
    )
    evaluated = evaluate(request)
    if evaluated.verdict.proposed_transition is None:
        return evaluated, ()
    try:
        return evaluated, record(evaluated.verdict)
    except FlowError as error:
        return evaluated, (f"the proposal stands, but its verdict could not be kept: {error}",)
