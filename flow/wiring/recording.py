"""Writing lifecycle blocks that other programs hand in."""

from __future__ import annotations

from flow.adapters.contracts import formats
from flow.app.transitions import handed_in
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.wiring.context import Context


def update_lifecycle(
    context: Context,
    goal_id: str,
    data: bytes,
    name: str,
    *,
    from_status: str | None,
    merge: bool,
    increment_turns: bool,
) -> tuple[str, tuple[str, ...]]:
    """Write a goal's lifecycle block for a caller that has asked a person.

    Returns the path, and warnings of keys in the block that no Flow knows.
    """

    def activate(draft: str) -> None:
        from flow.wiring.activating import activate  # most blocks start nothing

        activate(context, draft)

    block = formats.parse_yaml(data, file=name)
    change = handed_in.LifecycleChange(block, name, from_status, merge, increment_turns)
    path = handed_in.update_lifecycle(context, ids.goal_id(goal_id), change, activate)
    warnings = context.load(goal_id).warnings
    return path, tuple(text for text in warnings if text.startswith(f"{path}: lifecycle."))
