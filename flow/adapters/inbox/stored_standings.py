"""Standings and summaries of goals as the inbox's index keeps them: JSON, read leniently."""

from __future__ import annotations

from flow.app.inbox.rows import BranchCopy
from flow.core.goal.lifecycle import STATUSES
from flow.core.goal.model import GoalSummary
from flow.core.standing.items import StandingGoal
from flow.core.standing.table import GoalFacts
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS = [str, str, str, str, bool]
"""Types of a summary's fields after the id."""


def is_summary(row: Mapping[str, Any]) -> bool:
    """Whether a row holds a goal file's summary, or its fault."""
    if "fault" in row:
        return isinstance(row["fault"], str)
    short = row.get("short")
    is_whole = isinstance(short, list) and [type(value) for value in short] == _KINDS
    return is_whole and short is not None and short[0] in STATUSES


def encoded(standing: StandingGoal) -> dict[str, Any]:
    """A standing as JSON values."""
    defaults = GoalFacts._field_defaults
    facts = {k: v for k, v in standing.facts._asdict().items() if v != defaults.get(k, None)}
    return {**standing._asdict(), "facts": facts}


def decoded(value: Any) -> StandingGoal | None:
    """The stored standing; None for any other value."""
    try:
        items = value["facts"].items()
        facts: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in items}
        return StandingGoal(**{**value, "facts": GoalFacts(**facts)})
    except (TypeError, KeyError, AttributeError):
        return None


def encoded_copy(copy: BranchCopy) -> list[Any]:
    """A goal of a branch that is not checked out, as JSON values."""
    return [copy.on_branch, [*copy.summary], encoded(copy.stands)]


def decoded_copy(row: Any) -> BranchCopy | None:
    """The stored goal of a branch; None for any other value."""
    try:
        branch, summary, value = row
        standing = decoded(value)
        return BranchCopy(str(branch), GoalSummary(*summary), standing) if standing else None
    except (TypeError, ValueError):
        return None
