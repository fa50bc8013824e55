"""The question before a person closes a goal: what Flow has on record of the live proposal."""

from __future__ import annotations

from flow.app.evaluation.goal_rules import own_files
from flow.app.transitions.confirming import live_question
from flow.render.confirming import for_hook
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.wiring.context import Context


def confirm_lines(
    context: Context, goal_id: str, named: str | None = None, *, surely: bool = True
) -> list[str]:
    """The question for a host's prompt, at most 40 lines; one line if there is no proposal.

    For the hook before ``flow goal confirm``; ``named`` and ``surely`` are as for
    :func:`flow.render.confirming.for_hook`.
    """
    asked = live_question(context, goal_id)
    if asked is None:
        return [f"Goal {goal_id} has no live proposal; nothing can be confirmed."]
    return for_hook(asked, named, surely=surely)


def diff(context: Context, goal_id: str) -> str:
    """The diff since the base, for a pager: the files that the proof rests on first, Flow's last.

    Control characters and escapes in foreign text are made visible.
    """
    from flow.adapters.attribution.proof_diff import proof_file_diffs  # few ask to see it

    asked = live_question(context, goal_id)
    first = [file.path for file in asked.proof.files] if asked is not None else []
    goal = context.load(goal_id).goal
    baseline, snapshot = context.tree.shown(goal)
    changes = sorted(snapshot.changes, key=own_files(goal, baseline))
    return proof_file_diffs(context.repo, changes, first, baseline.proof_states)
