"""Starting a draft."""

from __future__ import annotations

from flow.adapters.baseline.pinning import Pinning
from flow.adapters.setup.beside_goals import keep_runs_out
from flow.adapters.setup.defaults_file import read_defaults
from flow.adapters.setup.project import about_commands
from flow.app.transitions import moves
from flow.core.drafting.draft import NO_DEFAULTS
from flow.core.goal import ids
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.core.goal.loaded import LoadedGoal
    from flow.wiring.context import Context


def activate(context: Context, goal_id: str) -> LoadedGoal:
    """``draft → active``: pins the base, records trust; warns as creating a goal does."""
    defaults = read_defaults(context.top) or NO_DEFAULTS
    after = moves.begin(context, ids.goal_id(goal_id), Pinning(context).pin, defaults)
    keep_runs_out(context.top, context.repo.common_dir)
    return moves.with_warnings(context, after, about_commands(context, after.goal))
