"""What the Stop hook says where it lets an agent go, and where a goal cannot be judged any more.

To an agent that goes on: :mod:`flow.core.stop.continuation`.
"""

from __future__ import annotations

from flow.core.stop.hosts import MARK
from flow.core.stop.lost_goals import loss_remedy, what_happened
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.decision.verdict import Verdict
    from flow.core.stop.lost_goals import Loss, SessionNotes
    from flow.core.stop.policy import Row, Why


def put_back(losses: Sequence[Loss], notes: SessionNotes, limit: int) -> str:
    """The agent's next prompt where goals that it was kept working for cannot be judged any more.

    ``limit`` is how often that is asked for in a session.
    """
    names = display.names([loss.goal_id for loss in losses], 10)
    times = min(notes.asked.get(loss.goal_id, 0) for loss in losses) + 1
    return "\n".join(
        [
            f"{MARK} goal {names} is open, and Flow cannot judge it.",
            *(
                f"- {loss.goal_id}: {what_happened(loss)}. To do: {loss_remedy(loss)}."
                for loss in losses
            ),
            (
                "Undo what you did there, then stop: Flow looks again. What you did not do "
                "yourself, leave as it is, and say so plainly to the user, who can end this with "
                f"flow goal forget {losses[0].goal_id}."
            ),
            f"This is asked for at most {limit} times ({times} of {limit}).",
        ]
    )


LIMITS: Mapping[Why, str] = {
    "stuck": "stuck_no_progress",
    "budget": "budget_exhausted",
    "throttle": "throttled",
    "cap": "host_cap",
}
"""The word that events, verdict and journal use for each limit."""


def limit_reached(why: Why, *, stuck: int, budget: int, cap: int | None) -> str:
    """The limit that let go, as a sentence."""
    if why == "stuck":
        return f"the same criteria passed after each of {stuck} continuations"
    if why == "budget":
        return f"all {budget} continuations of max_iterations are used"
    if why == "throttle":
        return "3 continuations within 5 minutes changed no file"
    return f"the host lets go after {cap} continuations in a row"


def let_go_message(row: Row, verdict: Verdict, *, asks: bool) -> str:
    """Why a stop is let go, for the user. ``asks``: the mode could have kept the agent working."""
    goal_id = verdict.goal_id
    if row == "proved":
        return f"goal {goal_id}: every required criterion is proved; a person confirms"
    if row == "untrusted":
        return f"goal {goal_id}: {verdict.reason}"
    if row == "violation":
        text = f"goal {goal_id} is blocked: {verdict.reason}"
    elif row == "failed":
        text = f"goal {goal_id} is not done: {verdict.reason}"
    elif row == "proof_lost":
        text = f"goal {goal_id} lost a proof that it had: {verdict.reason}"
    elif row == "inconclusive":
        text = f"goal {goal_id} is undecided: {verdict.reason}"
    elif row == "judge_not_achieved":
        text = f"goal {goal_id}: the judge is not convinced: {verdict.reason}"
    else:
        text = f"goal {goal_id} needs a person: {verdict.reason}"
    return text if asks else f"{text} (the hook only warns: flow.goals.stopHookEnforcement is warn)"
