"""What a judge of a goal sees, as values, and how the parts share the room (SPEC 9.1)."""

from __future__ import annotations

from flow.core.judging.common.prompt import rotated
from flow.core.untrusted.fences import LIMIT, FencedPart
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ITEMS = 300
"""Pieces of evidence in one prompt; the others are counted."""
MOST_SOUGHT = 100
"""Criteria in one question: of more no judge could see anything to speak of."""


class Sought(NamedTuple):
    """A criterion that the judge is asked about."""

    id: str
    text: str
    must_pass: bool
    fuzzy: bool = True


class ContextItem(NamedTuple):
    """One piece of evidence of a criterion.

    ``counts`` is False for what others recorded: it is shown as such, and no pass rests on it.
    """

    criterion_id: str
    kind: str
    """Flow's own words: ``file``, ``output of its evidence_command``."""
    part: FencedPart
    counts: bool = True
    also: tuple[str, ...] = ()
    """Other criteria that it is evidence of, too; it stands in the prompt once."""

    def about(self, criterion_id: str) -> bool:
        """Whether it is evidence of this criterion."""
        return criterion_id == self.criterion_id or criterion_id in self.also


class Missing(NamedTuple):
    """What is not there for a criterion. ``reason`` is Flow's own words."""

    criterion_id: str
    reason: str


class Previous(NamedTuple):
    """The previous verdict. ``summary`` is Flow's own words, ``text`` those of whoever gave it."""

    summary: str
    text: str


class JudgeContext(NamedTuple):
    """Everything a judge is given; nothing else reaches a prompt."""

    goal_id: str
    turn: int
    sought: tuple[Sought, ...]
    contract: tuple[FencedPart, ...]
    """The goal's outcome, its other criteria, its specification and constraints."""
    report: str
    """What commands and boundary came to."""
    items: tuple[ContextItem, ...]
    missing: tuple[Missing, ...]
    previous: Previous | None
    turns_left: int
    denied: tuple[str, ...] = ()
    """Entries of ``denied_context`` that are no path patterns."""
    left_out: tuple[str, ...] = ()
    """What was not even read, and why; Flow's own words."""

    def grounded(self, criterion_id: str) -> bool:
        """Whether there is anything that a pass of this criterion could rest on."""
        return any(item.counts and item.about(criterion_id) for item in self.items)

    def about(self, sought: tuple[Sought, ...]) -> JudgeContext:
        """The same question about these criteria only."""
        known = {one.id for one in sought}
        return self._replace(
            sought=sought, missing=tuple(one for one in self.missing if one.criterion_id in known)
        )

    def without_evidence(self) -> JudgeContext:
        """The same question with nothing to rest a pass on (the null-evidence canary)."""
        return self._replace(
            items=(),
            missing=tuple(Missing(one.id, "no evidence at all") for one in self.sought),
            report="No command was run, and nothing is known of the files.",
            previous=None,
            left_out=(),
        )


def rotated_context(context: JudgeContext, ballot: int) -> JudgeContext:
    """``context`` with the criteria, and each one's evidence, in another order for each ballot."""
    sought = rotated(context.sought, ballot)
    items = [
        item
        for one in sought
        for item in rotated([i for i in context.items if i.criterion_id == one.id], ballot)
    ]
    asked = {one.id for one in sought}
    others = rotated([item for item in context.items if item.criterion_id not in asked], ballot)
    return context._replace(sought=tuple(sought), items=(*items, *others))


def fair_limit(sizes: Sequence[int], space: int, most: int = LIMIT) -> int:
    """The largest limit, at most ``most``, with which such parts fit into ``space`` bytes.

    Every part gets the same limit, so that a long one buys nothing.
    """
    free, waiting = space, sorted(sizes)
    for number, part in enumerate(waiting):
        share = free // (len(waiting) - number)
        if part > share:
            return max(min(share, most), 0)
        free -= part
    return most
