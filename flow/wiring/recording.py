"""What others write through Flow: evidence, goals, lifecycle blocks."""

from __future__ import annotations

from flow.adapters.contracts import formats
from flow.app.transitions import handed_in
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.wiring.context import Context


def record_evidence(
    context: Context, run_id: str, data: bytes, name: str, raw_output: str | None
) -> tuple[str, tuple[str, ...]]:
    """Record somebody else's evidence; returns the sidecar's path and warnings."""
    document = formats.parse_yaml(data, file=name)
    _, path, warnings = context.ledger.record_foreign(
        ids.run_id(run_id), document, raw_output, file=name, environ=context.environ
    )
    return path, warnings


def create_goal_file(context: Context, text: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Create a goal from a file's text; returns its path and warnings.

    A file that says ``draft`` becomes a draft; any other starts as ``active``, with its base
    pinned and trust recorded, as ``flow goal create`` does it.
    """
    from flow.wiring.creating import create_goal

    made = create_goal(context, text, name, as_draft=None, base=None, source="flow-goal-record.sh")
    return made.file, made.warnings


def update_lifecycle(
    context: Context,
    goal_id: str,
    data: bytes,
    name: str,
    *,
    from_status: str | None,
    merge: bool,
    increment_turns: bool,
) -> str:
    """Write a goal's lifecycle block for a caller that has asked a person; returns the path."""
    block = formats.parse_yaml(data, file=name)
    change = handed_in.LifecycleChange(block, name, from_status, merge, increment_turns)
    return handed_in.update_lifecycle(_Lifecycle(context), ids.goal_id(goal_id), change)


class _Lifecycle:
    """A checkout as :class:`~flow.app.transitions.handed_in.LifecyclePort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.load = context.load
        self.closing_context = context.closing_context

    def activate(self, goal_id: str) -> None:
        from flow.wiring.activating import activate

        activate(self._context, goal_id)

    def write(self, goal_id: str, lifecycle: Mapping[str, Any], **how: Any) -> None:
        self._context.ledger.update_lifecycle(goal_id, lifecycle, **how)
