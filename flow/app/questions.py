"""The questions that a waiting goal has for a person; runs nothing, writes nothing."""

from __future__ import annotations

from flow.app import overview
from flow.app.evaluation import protected_files
from flow.core.decision.after import holds, sentences
from flow.core.standing.table import GoalFacts, standing_of
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.app.evaluation.closing_context import ClosingContext
    from flow.core.goal.loaded import LoadedGoal


def earlier_goals_in_the_way(context: ClosingContext, loaded: LoadedGoal) -> str:
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
        guards=overview.guards_changed(context, goal),
        unproved=tuple(overview.left_to_a_person(goal)),
        judged=tuple(overview.left_by_a_judge(goal)),
        held="; ".join(sentences(held)),
    )
