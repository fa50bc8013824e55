"""Which goal a command acts on: the one that is named, or the one of this branch (SPEC 12)."""

from __future__ import annotations

from flow.app import goal_views
from flow.core.goal import ids
from flow.core.goal.lifecycle import NON_TERMINAL
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.goals import Goals

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

    from flow.wiring.context import Context

BEGUN = NON_TERMINAL - {"draft"}
DRAFTS = frozenset({"draft"})
STOPPED = BEGUN - {"active"}


def goal_to_act_on(
    context: Context, args: argparse.Namespace, states: Collection[str] = BEGUN
) -> str:
    """The id that ``args`` names; without one this branch's goal in ``states``.

    Raises :class:`StateError` where several goals may be meant, :class:`InputError` where none is.
    """
    return ids.goal_id(goal_views.choose(Goals(context), args.ID, states))
