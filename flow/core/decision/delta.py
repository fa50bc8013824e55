"""Whether an evaluation moved the goal (SPEC 3, Delta)."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from flow.core.decision.verdict import Delta


def delta(
    *,
    before: AbstractSet[str],
    decided: Mapping[str, bool],
    amended: AbstractSet[str] = frozenset(),
    first: bool = False,
) -> Delta:
    """Compare the passing criteria with the previous turn's.

    ``before`` holds the ids that passed last time, ``decided`` this turn's results (True: passes).
    An id in neither keeps its last state, one in ``amended`` is left out of both sides.
    """
    if first:
        return "made_progress"
    then = set(before) - amended
    now = {i for i in then if decided.get(i, True)}
    now |= {i for i, passes in decided.items() if passes and i not in amended}
    if then - now:
        return "regressed"
    return "made_progress" if now > then else "unchanged"
