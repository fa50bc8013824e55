"""A goal as read from disk, and the values that a later write is checked against."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from flow.core.goal.model import Goal


class Seen(NamedTuple):
    """The state of a goal that a writer read; a write is refused if any of it changed since."""

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
        """The state for the check of a later write."""
        return Seen(self.goal.status, self.contract, self.goal.turns_evaluated)
