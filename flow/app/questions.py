"""The questions that a waiting goal has for a person; runs nothing, writes nothing."""

from __future__ import annotations

from flow.app import overview
from flow.app.evaluation import proposals, protected_files
from flow.core.boundary import guards
from flow.core.decision.after import holds, sentences
from flow.core.standing.table import GoalFacts, standing_of
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.app.evaluation.closing_context import ClosingContext
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal


def held_back(context: ClosingContext, loaded: LoadedGoal) -> str:
    """The earlier goals that can no longer be achieved, as a sentence.

    Empty if there are none, or if a person has a question to answer before that.
    """
    asked = GoalFacts(loaded.goal.id, loaded.goal.status)
    facts = with_questions(overview.observing_once(context), loaded, asked)
    return facts.held if standing_of(facts).row == "held" else ""


def with_questions(context: ClosingContext, loaded: LoadedGoal, facts: GoalFacts) -> GoalFacts:
    """The facts with the questions that a waiting goal has for a person."""
    goal = loaded.goal
    run_id = goal.run_id or ""
    protected = protected_files.protected_status(context, loaded)
    waiting = holds(goal.id, goal.after, context.earlier) if goal.after else ()
    held = [hold for hold in waiting if hold.by == "person"]
    return facts._replace(
        elsewhere=bool(run_id) and context.elsewhere(run_id),
        protected=protected is not None and not protected["approved"],
        guards=_guards_changed(context, goal, run_id),
        unproved=tuple(overview.left_to_a_person(goal)),
        held="; ".join(sentences(held)),
    )


def _guards_changed(context: ClosingContext, goal: Goal, run_id: str) -> bool:
    """Whether git's hooks or settings are neither as at activation nor as approved."""
    try:
        recorded = context.baseline(goal, run_id)
        denied = (*goal.denied_paths, *context.denied_paths)
        now = context.snapshot(recorded.baseline, denied, None).guards
        approved = None
        if not recorded.recorded or guards.any_changed((now,), recorded.baseline.guards):
            approved = proposals.approved_guards(goal, run_id, context.records)
    except FlowError:  # an evaluation names the fault
        return False
    if guards.unapproved((now,), recorded.baseline.guards, approved):
        return True
    return not recorded.recorded and not guards.as_approved(now, recorded.baseline.guards, approved)
