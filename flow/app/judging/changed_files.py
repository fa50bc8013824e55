"""Evidence for fuzzy criteria that name none.

It is the files that were changed inside the goal's paths, and the output of the other criteria's
commands. Each piece is in the prompt once, however many criteria it is evidence of.
"""

from __future__ import annotations

from flow.core.judging.goal import delegated
from flow.core.judging.goal.context import ContextItem, MissingEvidence, SoughtCriterion
from flow.core.untrusted.fences import FencedPart
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.goal.model import Goal


class Raw(NamedTuple):
    """A file's bytes; of a large one the beginning and the end, and how much lies between."""

    data: bytes
    unread: int = 0


class EvidenceFiles(NamedTuple):
    """The files that a criterion's ``evidence_paths`` name."""

    files: tuple[tuple[str, Raw], ...]
    """(path, content), in the order of their names."""
    left_out: tuple[str, ...] = ()
    """Files that were left unread, as counts with the reason; no names."""


CHANGED = "changed file"
"""Flow's words for such a file."""
_NOT_SENT = "changed files are not sent to judges (flow.goals.judge.changedFiles)"


class Shared(NamedTuple):
    """The evidence of a judge context with what such criteria rest on, and what is not there."""

    items: tuple[ContextItem, ...]
    missing: tuple[MissingEvidence, ...] = ()
    left_out: tuple[str, ...] = ()


def without_evidence_named(goal: Goal, sought: Sequence[SoughtCriterion]) -> tuple[str, ...]:
    """The ids of the criteria that are asked about and name nothing that a ballot could rest on."""
    balloted = {row.id for row in delegated.balloted(goal, sought)}
    return tuple(
        c.id
        for c in goal.criteria
        if c.id in balloted and c.fuzzy and not c.evidence_command and not c.evidence_paths
    )


def share_out(
    items: Sequence[ContextItem], criteria: Sequence[str], changed: EvidenceFiles | None
) -> Shared:
    """``items`` with the evidence of ``criteria``; ``changed`` is None if no file is sent."""
    if not criteria:
        return Shared(tuple(items))
    first, *more = criteria
    files = [
        ContextItem(first, CHANGED, FencedPart("", raw.data, path, raw.unread), also=tuple(more))
        for path, raw in (changed.files if changed is not None else ())
        if raw.data
    ]
    outputs = [_shared_item(item, criteria) for item in items]
    shared = (*outputs, *files)
    none = [id for id in criteria if not any(i.counts and i.about(id) for i in shared)]
    seen = changed is not None and (changed.left_out or changed.files)
    shown = " that a judge may be shown" if seen else ""
    why = f"no changed file inside the goal's paths{shown}"
    why += ", and no output of another criterion's command"
    if changed is None:
        why = f"no output of another criterion's command, and {_NOT_SENT}"
    return Shared(
        shared,
        tuple(MissingEvidence(id, why) for id in none),
        tuple(f"changed files: {note}" for note in (changed.left_out if changed else ())),
    )


def _shared_item(item: ContextItem, criteria: Sequence[str]) -> ContextItem:
    if not item.counts or not item.kind.startswith("output of "):
        return item
    return item._replace(also=tuple(id for id in criteria if id != item.criterion_id))
