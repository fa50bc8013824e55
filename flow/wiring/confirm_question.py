"""The question before a person closes a goal: what Flow has on record of the live proposal."""

from __future__ import annotations

from flow.app.evaluation import proposals
from flow.app.transitions import confirming
from flow.app.transitions.beside import others_open
from flow.app.transitions.confirming import TrustedContract
from flow.core.goal import ids
from flow.errors import FlowError
from flow.render.confirming import for_hook
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.core.boundary.changes import Snapshot
    from flow.core.decision.confirming import ConfirmQuestion
    from flow.core.evidence.model import Evidence
    from flow.wiring.context import Context


def question(
    context: Context,
    goal_id: str,
    look: Snapshot | None = None,
    counted: Callable[[str], Evidence | None] | None = None,
) -> ConfirmQuestion | None:
    """What a person must know before the live proposal is confirmed; None where none is live.

    Gathered from what Flow has on record: no words of an agent are in it. ``look`` and ``counted``
    are as for :func:`flow.app.transitions.confirming.question`.
    """
    loaded = context.load(ids.goal_id(goal_id))
    proposal = proposals.live_proposal(context.records, loaded.goal)
    if proposal is None:
        return None
    closing = context.closing_context()
    with context.records.together(str(proposal["run_id"])):
        return confirming.question(closing, loaded, proposal, _Sources(context), look, counted)


def confirm_lines(
    context: Context, goal_id: str, named: str | None = None, *, surely: bool = True
) -> list[str]:
    """The same for a host's prompt, at most 40 lines; a line that says so without a proposal.

    For the hook before ``flow goal confirm``; ``named`` and ``surely`` are as for
    :func:`flow.render.confirming.for_hook`.
    """
    asked = question(context, goal_id)
    if asked is None:
        return [f"Goal {goal_id} has no live proposal; nothing can be confirmed."]
    return for_hook(asked, named, surely=surely)


def diff(context: Context, goal_id: str) -> str:
    """What changed since the base, for a pager: the files that the proof rests on first.

    Foreign text in it is made visible.
    """
    from flow.adapters.attribution.proof_diff import proof_file_diffs  # few ask to see it

    asked = question(context, goal_id)
    first = [file.path for file in asked.proof.files] if asked is not None else []
    baseline, snapshot = context.tree.shown(context.load(goal_id).goal)
    return proof_file_diffs(context.repo, snapshot.changes, first, baseline.proof_states)


class _Sources:
    """A checkout as :class:`~flow.app.transitions.confirming.ConfirmSources` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.trusted = context.trusted
        self.amendments = context.amendments

    def history(self, goal_id: str) -> Sequence[TrustedContract]:
        try:
            entries = self._context.trust_ledger.history(goal_id)
        except FlowError:  # it cannot be used: then nothing is trusted, and that is said
            return ()
        return [
            TrustedContract(
                entry.at,
                entry.how,
                entry.said_from or "",
                entry.agent or "",
                entry.digest,
                entry.contract,
            )
            for entry in entries
            if entry.contract is not None
        ]

    def others_open(self, goal_id: str) -> Sequence[str]:
        return others_open(self._context, goal_id)
