"""A goal as it was read, and what a later write compares with."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from flow.core.goal.model import Goal


class Seen(NamedTuple):
    """What a writer saw of a goal: a write is refused when any of it has moved."""

    status: str
    contract: str | None = None
    turns_evaluated: int | None = None


class LoadedGoal(NamedTuple):
    """A goal as it is on disk, with its contract's digest and the reader's warnings."""

    goal: Goal
    contract: str
    warnings: tuple[str, ...]
    file: str

    @property
    def seen(self) -> Seen:
        """What a write after this reading compares with."""
        return Seen(self.goal.status, self.contract, self.goal.turns_evaluated)
