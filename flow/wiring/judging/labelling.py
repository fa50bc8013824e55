"""Keeping what people say of proposals that judges were part of, as labels of those judges."""

from __future__ import annotations

from flow.adapters.fs import clock
from flow.adapters.user_state.judge_labels import LabelBook, LabelLine
from flow.app.judging import labelling
from flow.app.transitions import closing as transitions_closing
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.user_state.judge_labels import Source
    from flow.wiring.parts import Parts


class ProposalOpinions(NamedTuple):
    """The judges behind a live proposal, and what each one said."""

    proposal_id: str
    goal_id: str
    opinions: Mapping[str, bool]


def behind(parts: Parts, goal_id: str, *, holds: bool = False) -> ProposalOpinions | None:
    """The judges behind the goal's live proposal; None where no judge is.

    With ``holds``, also None where something that the proposal rests on has moved since.
    """
    try:
        loaded = parts.load(goal_id)
        proposal = transitions_closing.live_proposal(parts.records, loaded.goal)
        if proposal is None or "judge" not in proposal:
            return None
        if holds and transitions_closing.what_moved(parts._desk(), loaded, proposal):
            return None
        said = labelling.opinions(parts.records, proposal)
    except FlowError:  # whatever it is, the door says it better
        return None
    return ProposalOpinions(str(proposal["proposal_id"]), goal_id, said) if said else None


def keep(parts: Parts, found: ProposalOpinions | None, *, person: bool, source: Source) -> None:
    """Append a label for each judge. What a person decided stands, even where this fails."""
    if found is None:
        return
    now = clock.now()
    lines = [
        LabelLine(now, judge, found.proposal_id, f"goal {found.goal_id}", person, said, source)
        for judge, said in found.opinions.items()
    ]
    try:
        LabelBook(parts.state_dir, parts.top, parts.repo.common_dir).add(lines)
    except FlowError:
        return
