"""The Stop hook's messages where it lets an agent go, and about goals it can no longer judge.

The message to an agent that goes on: :mod:`flow.core.stop.continuation`.
"""

from __future__ import annotations

from flow.core.stop.hosts import MARK
from flow.core.stop.lost_goals import describe_loss, loss_remedy
from flow.core.text import display
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.decision.verdict import Verdict
    from flow.core.stop.lost_goals import Loss, SessionNotes
    from flow.core.stop.policy import LimitName, Row


def restore_request(losses: Sequence[Loss], notes: SessionNotes, limit: int) -> str:
    """The agent's next prompt where goals that it worked for cannot be judged any more.

    ``limit`` is the most such prompts in a session.
    """
    names = display.names([loss.goal_id for loss in losses], 10)
    times = min(notes.asked.get(loss.goal_id, 0) for loss in losses) + 1
    return "\n".join(
        [
            f"{MARK} goal {names} is open, and Flow cannot judge it.",
            *(
                f"- {loss.goal_id}: {describe_loss(loss)}. To do: {loss_remedy(loss)}."
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


LIMITS: Mapping[LimitName, str] = {
    "stuck": "stuck_no_progress",
    "budget": "budget_exhausted",
    "throttle": "throttled",
    "cap": "host_cap",
}
"""The word that events, verdict and journal use for each limit."""


def limit_reached(limit: LimitName, *, stuck: int, budget: int, cap: int | None) -> str:
    """The limit that let go, as a sentence."""
    sentences = {
        "stuck": f"the same criteria passed after each of {stuck} continuations",
        "budget": f"all {budget} continuations of max_iterations are used",
        "throttle": "3 continuations within 5 minutes changed no file",
    }
    return sentences.get(limit, f"the host lets go after {cap} continuations in a row")


_LET_GO: Mapping[Row, str] = {
    "violation": " is blocked",
    "failed": " is not done",
    "proof_lost": " lost a proof that it had",
    "inconclusive": " is undecided",
    "judge_not_achieved": ": the judge is not convinced",
    "undecided": " needs a person",
}


def let_go_message(row: Row, verdict: Verdict, *, asks: bool) -> str:
    """Why a stop is let go, for the user. ``asks``: the mode could have kept the agent working."""
    if row == "proved":
        return f"goal {verdict.goal_id}: every required criterion is proved; a person confirms"
    text = f"goal {verdict.goal_id}{_LET_GO.get(row, '')}: {verdict.reason}"
    if asks or row == "untrusted":
        return text
    return f"{text} (the hook only warns: flow.goals.stopHookEnforcement is warn)"
