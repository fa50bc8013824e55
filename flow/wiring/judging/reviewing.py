"""A goal as a judge would find it now, with the real parts."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.app.judging import reviewing
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING
from flow.version import __version__
from flow.wiring.working_tree import closing_context

if TYPE_CHECKING:
    from flow.app.evaluation.values import JudgeCase
    from flow.wiring.context import Context


def review(context: Context, goal_id: str, judge_backend: str | None = None) -> JudgeCase:
    """The case of the next evaluation; nothing is run."""
    loaded, now = context.load(ids.goal_id(goal_id)), clock.now()
    case = reviewing.review_case(closing_context(context), loaded, version=__version__, now=now)
    facts = case.facts._replace(base_runs=context.base_runs(loaded.goal))
    request = case.request._replace(judge_backend=judge_backend)
    return case._replace(facts=facts, request=request)
