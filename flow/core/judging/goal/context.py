"""The context of a goal's judge as values, and the space for its parts (SPEC 9.1)."""

from __future__ import annotations

from flow.core.judging.common.prompt import rotated
from flow.core.untrusted.fences import LIMIT, FencedPart
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ITEMS = 300
"""Pieces of evidence in one prompt, at most; the others are counted."""
MOST_SOUGHT = 100
"""Criteria in one question, at most: with more, a judge could see too little of each."""


class SoughtCriterion(NamedTuple):
    """A criterion that the judge is asked about."""

    id: str
    text: str
    must_pass: bool
    fuzzy: bool = True


class ContextItem(NamedTuple):
    """One piece of evidence of a criterion.

    ``counts`` is False for evidence that others recorded: it is shown as such, and supports no
    pass.
    """

    criterion_id: str
    kind: str
    """Flow's own name for it: ``file``, ``output of its evidence_command``."""
    part: FencedPart
    counts: bool = True
    also: tuple[str, ...] = ()
    """Other criteria that it is evidence of, too; the prompt has it once."""

    def about(self, criterion_id: str) -> bool:
        """Whether it is evidence of this criterion."""
        return criterion_id == self.criterion_id or criterion_id in self.also


class MissingEvidence(NamedTuple):
    """A piece of evidence that a criterion lacks. ``reason`` is Flow's own words."""

    criterion_id: str
    reason: str


class PreviousVerdict(NamedTuple):
    """The previous verdict. ``summary`` is Flow's own words, ``text`` those of its author."""

    summary: str
    text: str


class JudgeContext(NamedTuple):
    """Everything that a judge receives; nothing else reaches a prompt."""

    goal_id: str
    turn: int
    sought: tuple[SoughtCriterion, ...]
    contract: tuple[FencedPart, ...]
    """The goal's outcome, its other criteria, its specification and constraints."""
    report: str
    """The results of commands and boundary, in Flow's words."""
    items: tuple[ContextItem, ...]
    missing: tuple[MissingEvidence, ...]
    previous: PreviousVerdict | None
    turns_left: int
    denied: tuple[str, ...] = ()
    """Entries of ``denied_context`` that are no path patterns."""
    left_out: tuple[str, ...] = ()
    """Things that were not even read, with the reasons in Flow's own words."""

    def grounded(self, criterion_id: str) -> bool:
        """Whether there is any evidence that could support a pass of this criterion."""
        return any(item.counts and item.about(criterion_id) for item in self.items)

    def limited_to(self, sought: tuple[SoughtCriterion, ...]) -> JudgeContext:
        """A copy of the context for these criteria only."""
        known = {one.id for one in sought}
        return self._replace(
            sought=sought, missing=tuple(one for one in self.missing if one.criterion_id in known)
        )

    def without_evidence(self) -> JudgeContext:
        """A copy of the context without any evidence (the null-evidence canary)."""
        return self._replace(
            items=(),
            missing=tuple(MissingEvidence(one.id, "no evidence at all") for one in self.sought),
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

    Every part gets the same limit, so that a long one gains nothing.
    """
    free, waiting = space, sorted(sizes)
    for number, size in enumerate(waiting):
        share = free // (len(waiting) - number)
        if size > share:
            return max(min(share, most), 0)
        free -= size
    return most
