"""One line about the goals of the checked-out branch, for an agent's status bar."""

from __future__ import annotations

from flow.app import overview
from flow.app.evaluation.current_files import CurrentFiles
from flow.app.goal_views import (
    ViewPort,
    gone_goals,
    held_back,
    newest,
    shown_pause,
    told_events,
)
from flow.core.goal.model import is_of_branch
from flow.core.stop.past import past_turns
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.core.goal.loaded import LoadedGoal


def status_line(port: ViewPort) -> dict[str, Any]:
    """``goals``: the ids of the goals under way here; of a single one also where it stands.

    ``unreadable`` counts goal files that cannot be read. Runs nothing, writes nothing.
    """
    goals, broken = port.summaries()
    branch = port.branch()
    of_branch = [goal for goal in goals if is_of_branch(goal.branch, branch)]
    under_way = overview.begun_or_drafted(of_branch)
    if not under_way:
        broken += gone_goals(port)
    document = {"goals": [goal.id for goal in under_way], "unreadable": len(broken), "goal": None}
    if len(under_way) == 1:
        document["goal"] = _standing(port, port.load(under_way[0].id))
    return document


def _standing(port: ViewPort, loaded: LoadedGoal) -> dict[str, Any]:
    """The facts of one open goal, as far as they can be found out.

    ``moved`` counts the files that changed since the last turn: None if none did, 0 where it is
    not known which.
    """
    goal = loaded.goal
    now = newest(port, goal)
    required = [c for c in now.criteria if c.must_pass]
    facts: dict[str, Any] = {
        "status": goal.status,
        "turns_evaluated": now.turns_evaluated,
        "required": [{"id": c.id, "status": c.status, "fuzzy": c.fuzzy} for c in required],
        "paused": shown_pause(port, goal),
        "trusted": True,
        "proposal": None,
        "held_back": None,
        "outside": 0,
        "moved": None,
    }
    if facts["paused"] is not None or goal.status == "draft" or goal.run_id is None:
        return facts
    facts["trusted"] = port.trusted(loaded)[0]
    context = overview.observing_once(port.closing_context())
    try:
        proposal = overview.shown_proposal(context, loaded)
        facts["proposal"] = proposal["to"] if proposal is not None and proposal["live"] else None
    except FlowError:  # an evaluation names the fault
        pass
    facts["held_back"] = held_back(port, context, loaded) or None
    present = CurrentFiles(context, loaded)
    report, turns = present.report, past_turns(told_events(port, goal, 1))
    if report is not None:
        facts["outside"] = len(report.violations)
        then = turns[-1].tree if turns else None
        if then is not None and present.subject.tree not in (None, then):
            changed = [*report.inside, *(violation.path for violation in report.violations)]
            facts["moved"] = len(port.written_since(changed, turns[-1].at))
    return facts
