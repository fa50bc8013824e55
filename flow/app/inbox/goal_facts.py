"""Finding out where one goal stands: nothing is run, nothing is written."""

from __future__ import annotations

from flow.app import overview
from flow.app.evaluation import proposals
from flow.app.evaluation.current_files import CurrentFiles
from flow.app.goal_views import ViewPort, closed_by_hand, newest, open_again, shown_pause
from flow.app.questions import with_questions
from flow.core.decision.outside import outside_advice
from flow.core.goal.lifecycle import TERMINAL
from flow.core.standing.items import StandingGoal
from flow.core.standing.table import Doubt, GoalFacts
from flow.core.stop.pause import PAUSED_STATUS, Pause
from flow.errors import FlowError
from flow.startup.json import text_of
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal


class FactsPort(ViewPort, Protocol):
    """Interface of a goal's facts to its checkout."""

    def doubt(self, goal_id: str, contract: str) -> Doubt:
        """Why a goal's contract may not run here; empty if it may."""

    def newest_event(self, run_id: str, goal_id: str) -> Mapping[str, Any] | None:
        """The newest event about the goal that records no evidence (:func:`is_no_evidence`)."""


def is_no_evidence(event: Mapping[str, Any]) -> bool:
    """Whether an event is about anything but evidence."""
    return not str(event.get("type")).startswith("evidence")


def standing_away(port: FactsPort, goal: Goal) -> StandingGoal:
    """A goal whose branch is not checked out: as far as goal and record tell."""
    facts = _own_facts(newest(port, goal))._replace(here=False)
    if goal.status not in TERMINAL and goal.status != "draft":
        proposal = _recorded(port.closing_context(), goal)
        facts = facts._replace(proposal=str(proposal["to"]) if proposal else "")
    return StandingGoal(facts, _since(port, goal), goal.outcome)


def standing_here(port: FactsPort, loaded: LoadedGoal) -> StandingGoal:
    """A goal whose branch is checked out."""
    goal = loaded.goal
    facts = _own_facts(newest(port, goal))._replace(unfinished=port.is_pending(goal.id))
    pause = shown_pause(port, goal)
    since = _since(port, goal)
    if goal.status in TERMINAL:
        known = goal.id in port.remembered.left_open()
        facts = facts._replace(by_hand=known and closed_by_hand(port, loaded))
    elif pause is not None:
        facts = facts._replace(pause=Pause(**pause).sentence())
        since = max(since, pause["at"])
    elif goal.status != "draft":
        doubt = port.doubt(goal.id, loaded.contract)
        facts = facts._replace(doubt=doubt, open_again=open_again(port, goal))
        if not facts.doubt:
            facts, since = _stopped_or_working(port, loaded, facts, since)
    rests_on_files = bool(facts.proposal) or goal.status in ("blocked", PAUSED_STATUS)
    return StandingGoal(facts, since, goal.outcome, loaded.contract, rests_on_files)


def _own_facts(goal: Goal) -> GoalFacts:
    """The facts in the goal's own file."""
    required = [c for c in goal.criteria if c.must_pass]
    return GoalFacts(
        goal_id=goal.id,
        status=goal.status,
        branch=goal.branch,
        turns=goal.turns_evaluated,
        proved=sum(1 for c in required if c.status == "pass"),
        required=len(required),
        reason=str((goal.last_evaluation or {}).get("reason") or ""),
    )


def _since(port: FactsPort, goal: Goal) -> str:
    """Time of the goal's last change (RFC 3339), including a closed goal's last event."""
    since = goal.last_result_at
    if goal.status in TERMINAL and goal.run_id is not None:
        try:
            event = port.newest_event(goal.run_id, goal.id)
        except FlowError:
            return since
        return max(since, text_of(event.get("at"))) if event is not None else since
    return since


def _recorded(context: ClosingContext, goal: Goal) -> Mapping[str, Any] | None:
    try:
        return proposals.live_proposal(context.records, goal)
    except FlowError:  # an evaluation names the fault
        return None


def _stopped_or_working(
    port: FactsPort, loaded: LoadedGoal, facts: GoalFacts, since: str
) -> tuple[GoalFacts, str]:
    """The facts of a trusted goal under way, and the time since which they hold."""
    goal = loaded.goal
    # Missing trust has rows of its own, so here `moved` must not repeat it.
    context = overview.observing_once(port.closing_context())._replace(
        trusted=lambda _loaded: (True, "")
    )
    proposal = _recorded(context, goal)
    if proposal is not None:
        facts = _with_proposal(context, loaded, facts, proposal)
        since = max(since, str(proposal.get("created_at") or ""))
    if goal.status == "active" and proposal is None:
        return facts._replace(limit=_limit(port, goal)), since
    if goal.status == "waiting_for_ci" and proposal is None:
        return facts, since
    present = CurrentFiles(context, loaded)
    report = present.report
    facts = facts._replace(files_known=report is not None and not report.problems)
    if report is not None and goal.status == "blocked":
        advice = outside_advice(goal.id, report.violations, goal.base_commit)
        new = sum(1 for violation in report.violations if violation.change == "new")
        facts = facts._replace(
            by_paths=goal.blocked_by_paths,
            outside=None if report.problems else len(report.violations),
            new_outside=new,
            amend=advice.amend,
        )
    if goal.status == "waiting_for_user":
        facts = with_questions(context, loaded, facts)
    return facts, since


def _with_proposal(
    context: ClosingContext, loaded: LoadedGoal, facts: GoalFacts, proposal: Mapping[str, Any]
) -> GoalFacts:
    """The facts with the proposed status, and whether it could be confirmed now."""
    fault = ""
    try:
        broken = context.broken(loaded.goal.run_id or "")
        fault = str(broken[0]) if broken else ""
        shown = overview.shown_proposal(context, loaded)
        moved = tuple(shown["moved"]) if shown is not None else ("it is gone",)
    except FlowError as error:
        moved = (str(error),)
    return facts._replace(proposal=str(proposal["to"]), moved=moved, record_fault=fault)


def _limit(port: FactsPort, goal: Goal) -> str:
    """The limit at which the Stop hook let the agent go last; empty if it did not."""
    if goal.run_id is None:
        return ""
    try:
        event = port.newest_event(goal.run_id, goal.id)
    except FlowError:
        return ""
    let_go = event is not None and event.get("type") == "stop" and event.get("limit")
    return str(let_go).replace("_", " ") if let_go else ""
