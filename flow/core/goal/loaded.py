"""A goal as read from disk, the values that a later write is checked against, and its trust."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.core.goal.model import Goal

SPEAKER_KEYS = ("said_from", "agent", "agent_session")
"""The keys of a trust entry that name the speaker."""


class ExpectedState(NamedTuple):
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
    def seen(self) -> ExpectedState:
        """The state for the check of a later write."""
        return ExpectedState(self.goal.status, self.contract, self.goal.turns_evaluated)


class TrustEntry(NamedTuple):
    """A line of the user's trust ledger. ``contract`` is the trusted one; None in a ``revoke``."""

    at: str
    action: Literal["record", "revoke"]
    repo: str
    goal_id: str
    digest: str
    how: str
    contract: Mapping[str, Any] | None
    said_from: str | None = None
    agent: str | None = None
    agent_session: str | None = None
    """The speaker (:mod:`flow.core.tool_calls.speaker`); None in lines of Flow 0.1.0."""

    def to_document(self) -> dict[str, Any]:
        """The entry as the JSON value of its line."""
        unknown = [name for name in SPEAKER_KEYS if getattr(self, name) is None]
        return {key: value for key, value in self._asdict().items() if key not in unknown}

    def to_row(self) -> dict[str, Any]:
        """Like :meth:`to_document`, without the contract: one row of a list."""
        return {key: value for key, value in self.to_document().items() if key != "contract"}
