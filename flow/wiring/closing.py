"""Closing a goal on a person's word, and the diff that is shown before."""

from __future__ import annotations

from flow.adapters.attribution.proof_diff import proof_file_diffs
from flow.app.judging import labelling
from flow.app.transitions import closing
from flow.core.goal import ids
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING
from flow.wiring import confirm_question

if TYPE_CHECKING:
    from flow.app.transitions.closing import Closed
    from flow.app.transitions.persons_word import PersonsWord
    from flow.wiring.context import Context


def diff(context: Context, goal_id: str) -> str:
    """What changed since the base, for a pager: the files that the proof rests on first.

    Foreign text in it is made visible.
    """
    asked = confirm_question.question(context, goal_id)
    first = [file.path for file in asked.proof.files] if asked is not None else []
    baseline, snapshot = context.tree.shown(context.load(goal_id).goal)
    return proof_file_diffs(context.repo, snapshot.changes, first, baseline.proof_states)


def confirm(
    context: Context,
    goal_id: str,
    proposal_id: str,
    reason: str | None,
    how: str,
    word: PersonsWord | None = None,
) -> Closed:
    """Write a proposed terminal status. Raises :class:`StaleProposal` saying what moved.

    It is also a label of the judges that the proposal rests on.
    """
    judges = labelling.opinions_behind(context, ids.goal_id(goal_id))
    closed = closing.confirm(context.closing_context(), goal_id, proposal_id, reason, how, word)
    labelling.add_labels(context, judges, person=True, source="confirm")
    return closed


def anything_to_commit(context: Context, goal_id: str) -> bool:
    """Whether a file is not as in HEAD, ignored ones aside; False where git cannot say."""
    goal = context.load(ids.goal_id(goal_id)).goal
    try:
        _, snapshot = context.tree.shown(goal)
    except FlowError:
        return False
    return not snapshot.problems and any(c.worktree != c.head for c in snapshot.changes)


def clear(
    context: Context, goal_id: str, reason: str, how: str, word: PersonsWord | None = None
) -> Closed:
    """Cancel a goal; of judges whose proposal still holds, that is a label too."""
    judges = labelling.opinions_behind(context, ids.goal_id(goal_id), holds=True)
    closed = closing.cancel(context.closing_context(), goal_id, reason, how, word)
    labelling.add_labels(context, judges, person=False, source="clear")
    return closed
