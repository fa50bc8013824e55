"""Goals as people and programs are shown them: where each one stands."""

from __future__ import annotations

from flow.app import overview
from flow.app.evaluation.closing_context import ClosingPort
from flow.app.ports import GoalPort, Records, TrustingPort
from flow.app.transitions.remembered import BranchPort
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL, UNDER_WAY
from flow.core.goal.model import Goal, GoalSummary, is_of_branch
from flow.core.stop import lost_goals, past
from flow.core.stop.pause import PAUSED_STATUS
from flow.core.stop.turns import with_turn
from flow.core.text.display import visible
from flow.core.text.shell_quote import shell_argument
from flow.errors import FlowError, StateError, at_key, in_file
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.ports import BranchGoals
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.loaded import LoadedGoal

MOST_TURNS = 1000
"""Turns that a document names; the newest."""


class ViewRecords(Records, Protocol):
    """The reading side of the ledger, with what judges were sent."""

    def judged(self, run_id: str) -> Iterator[str]:
        """The paths of what judges said in a run, the newest first."""

    def accepted_verdict(self, run_id: str) -> Mapping[str, Any] | None:
        """The newest verdict of a run; None if there is none that Flow would write."""

    def may_have(self, goal_id: str) -> bool:
        """Whether the goal has a file; True, too, of a text that is no goal's id: it lacks none."""


class ViewPort(GoalPort, TrustingPort, ClosingPort, BranchPort, Protocol):
    """Interface of showing goals to the checkout."""

    @property
    def records(self) -> ViewRecords:
        """The reading side of the ledger."""

    @property
    def troubles(self) -> Sequence[str]:
        """Why something recorded before does not count."""

    def goals(self) -> tuple[list[Goal], list[FlowError]]:
        """Every goal of the checkout, and what is wrong with those that cannot be read."""

    def summaries(self) -> tuple[list[GoalSummary], list[FlowError]]:
        """Every goal's summary, and the faults of those that cannot be read."""

    def branch_goals(self, *, with_trees: bool) -> BranchGoals:
        """The goals of all branches, as committed, and of the other working trees, as they are.

        Raises :class:`FlowError` if git cannot tell.
        """

    def is_pending(self, goal_id: str) -> bool:
        """Whether a change of the goal was decided and not carried out."""

    def base_runs(self, goal: Goal) -> Mapping[str, BaseRun]:
        """Recorded runs of the goal's commands, as they are now, on its base commit (red first)."""

    def events(
        self, run_id: str, goal_id: str, *, leave_out: str | None = None, turns: int | None = None
    ) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        """The events of a goal in a run, but those of a type, and what could not be read.

        With ``turns`` those of evaluations before the newest so many may be missing.
        """

    def written_since(self, paths: Sequence[str], at: str) -> Sequence[str]:
        """The files among ``paths`` that were written after a moment, by their time stamps."""

    def is_run_known(self, run_id: str) -> bool:
        """Whether the state folder keeps anything of a run."""

    def was_closed(self, run_id: str, goal_id: str) -> bool:
        """Whether this user's state folder knows that Flow closed the goal at some time."""

    def closing_on_record(self, loaded: LoadedGoal, run_id: str) -> bool:
        """Whether this user's state folder knows how the goal got its final status."""


def choose(port: ViewPort, named: str | None = None, states: Collection[str] = ()) -> str:
    """The goal that is ``named``, else the one that a command means without an id.

    With ``states`` that is a command that acts: see :func:`flow.app.overview.choose_open`.
    """
    if named is not None:
        _refuse_absent(port, named)
        return named
    goals, broken = port.summaries()
    try:
        if states:
            meant = overview.choose_open(goals, port.branch(), states)
        else:
            meant = overview.choose_goal(goals, port.branch())
    except FlowError as error:
        several = isinstance(error, StateError)
        for fault in broken or (() if several else _hidden_goals(port, goals)):
            raise fault from None  # it may be the one: never taken for absent
        raise
    if meant.status not in UNDER_WAY.union(states):  # likewise: nothing that is here is open
        for fault in broken or _hidden_goals(port, goals):
            raise fault
    return meant.id


def _hidden_goals(port: ViewPort, goals: Sequence[GoalSummary]) -> Iterator[FlowError]:
    """The goals that Flow left open on this branch, and that their files no longer show here."""
    yield from gone_goals(port)
    losses = lost_goals.lost_goals(
        [*port.remembered.left_open().values()],
        {goal.id: goal for goal in goals},
        unreadable={},
        closed=frozenset(goal.id for goal in goals),
        branch=port.branch(),
        judged=(),
    )
    for loss in losses:
        if loss.kind == "branch_by_hand":
            why = f"goal {loss.goal_id} is open here, and {lost_goals.describe_loss(loss)}"
            file = in_file(layout.goal_file(loss.goal_id))
            yield file.not_found(why, lost_goals.persons_remedy(loss))


def gone_goals(port: ViewPort) -> list[FlowError]:
    """The goals that Flow left open on this branch and whose files are gone, as faults."""
    left_open = port.remembered.left_open()
    present = {goal_id for goal_id in left_open if port.records.may_have(goal_id)}
    return [
        in_file(layout.goal_file(loss.goal_id)).not_found(
            f"goal {loss.goal_id} is open here, and its file is gone",
            lost_goals.persons_remedy(loss),
        )
        for loss in lost_goals.gone_goals(left_open.values(), present, port.branch())
    ]


def _refuse_absent(port: ViewPort, goal_id: str) -> None:
    """Raise :class:`InputError` for a goal that is gone, or that only other checkouts have."""
    if port.records.may_have(goal_id):
        return
    for fault in gone_goals(port):
        if fault.file == layout.goal_file(goal_id):
            raise fault
    try:
        others = port.branch_goals(with_trees=True)
    except FlowError:  # the goal is not here, and more cannot be said
        return
    trees = [(top, goal) for top, _, goal in others.trees.goals if goal.id == goal_id]
    branches = [(b, goal) for b, goal in others.goals if goal.id == goal_id and b != port.branch()]
    own = [branch for branch, goal in branches if goal.branch == branch]
    if trees:
        top = trees[0][0]
        place, way = f"the working tree {visible(top)}", f"cd {shell_argument(top)}"
    elif branches:
        branch = own[0] if own else branches[0][0]
        place, way = f"branch {visible(branch)}", f"git switch {shell_argument(branch)}"
    else:
        return
    raise at_key("ID", goal_id).not_found(
        f"goal {goal_id} is not in this checkout; {place} has it", way
    )


def status(port: ViewPort, goal_id: str, most_turns: int = MOST_TURNS) -> dict[str, Any]:
    """The standing of a goal, as :func:`flow.app.overview.status_document` lays it out.

    ``most_turns`` (at least 1): how many of its newest turns it names.
    """
    from flow.app.persons_acts import persons_acts  # a status bar names none

    loaded = port.load(goal_id)
    pending = port.is_pending(goal_id)
    goal_now = newest(port, loaded.goal)
    context, trusted = port.closing_context(), port.trusted(loaded)
    events = told_events(port, loaded.goal, most_turns)
    turns = past.past_turns(events)
    here = is_of_branch(loaded.goal.branch, port.branch())
    last_turn = turns[-1] if turns else None
    document = overview.status_document(
        context, loaded, trusted, pending, goal_now, last_turn, here=here
    )
    document["turns"] = [turn.to_document() for turn in turns[-most_turns:]]
    document |= persons_acts(port.records, loaded.goal, events)
    document["here"] = here
    _name_moved_files(port, document)
    document["closed_by_hand"] = closed_by_hand(port, loaded)
    document["waits_for"] = past.waits_for(events, loaded.goal.status)
    document["open_again"] = open_again(port, loaded.goal)
    document["warnings"] += [*port.troubles, *told_by_hand(loaded.goal, document, events)]
    document["held_back"] = held_back(port, context, loaded) or None
    document["sent_to_judge"] = _sent_to_judge(port, loaded.goal)
    document["paused"] = shown_pause(port, loaded.goal)
    if document["paused"] is not None:
        document["next"] = f"flow goal resume {loaded.goal.id}"
    if not document["here"] and loaded.goal.status not in TERMINAL:
        document["next"] = f"on branch {visible(loaded.goal.branch)}: {document['next']}"
    runs = port.base_runs(loaded.goal)
    return overview.with_base(document, loaded.goal, runs) if runs else document


def told_events(
    port: ViewPort, goal: Goal, turns: int | None = None
) -> Sequence[Mapping[str, Any]]:
    """The events of a goal that are shown to people; none if they cannot be read.

    With ``turns`` those of evaluations before the newest so many may be missing.
    """
    if goal.run_id is None:
        return ()
    try:
        return port.events(goal.run_id, goal.id, leave_out="evidence", turns=turns)[0]
    except FlowError:  # flow goal history says why
        return ()


def held_back(port: ViewPort, context: ClosingContext, loaded: LoadedGoal) -> str:
    """The reason that a waiting goal has no next step: an earlier goal can no longer be achieved.

    Empty for every other goal, and if a person has a question to answer before that.
    """
    goal = loaded.goal
    if not goal.after or goal.status != PAUSED_STATUS:
        return ""
    if not is_of_branch(goal.branch, port.branch()):
        return ""
    if port.is_pending(goal.id) or not port.trusted(loaded)[0]:
        return ""
    from flow.app import questions  # few goals come after another

    try:
        return questions.earlier_goals_in_the_way(context, loaded)
    except FlowError:  # an evaluation names the fault
        return ""


def _name_moved_files(port: ViewPort, document: dict[str, Any]) -> None:
    """Add the files that were written since the last turn, where the files moved."""
    files, turns = document["files"], document["turns"]
    if files is not None:
        moved = files["changed"] if files["moved"] else []
        at = turns[-1]["at"] if turns else ""
        files["moved_paths"] = list(port.written_since(moved, at)) if moved and at else []


def closed_by_hand(port: ViewPort, loaded: LoadedGoal) -> bool:
    """Whether a goal has a final status that no command of this user's gave it.

    One whose run is known here and was not closed here; others may have been closed elsewhere.
    """
    goal = loaded.goal
    if goal.status not in TERMINAL:
        return False
    known = port.remembered.left_open().get(goal.id)
    if known is not None:
        return not port.closing_on_record(loaded, known.run_id)
    if goal.run_id is None or port.troubles:
        return False
    if not port.is_run_known(goal.run_id):
        return False
    return not port.closing_on_record(loaded, goal.run_id)


def open_again(port: ViewPort, goal: Goal) -> bool:
    """Whether a goal that Flow closed has an open status: by git, or by hand."""
    if goal.status in TERMINAL or goal.run_id is None:
        return False
    return port.was_closed(goal.run_id, goal.id)


def newest(port: ViewPort, goal: Goal) -> Goal:
    """The goal as of its newest turn, which its file may not have yet."""
    if goal.run_id is None:
        return goal
    try:
        return with_turn(goal, port.records.newest_turn(goal.run_id, goal.id))
    except FlowError:  # its events are told where they are read
        return goal


def _sent_to_judge(port: ViewPort, goal: Goal) -> dict[str, Any] | None:
    """The evidence last sent to a judge: which, to whom, when."""
    asks = goal.evaluator_type != "deterministic"
    path = next(port.records.judged(goal.run_id), None) if asks and goal.run_id else None
    evidence = port.records.counted(path) if path else None
    if evidence is None or not evidence.judgement.get("given"):
        return None
    judgement = evidence.judgement
    judges = judgement.get("judges") or [judgement.get("judge")]
    return {
        "at": evidence.created_at,
        "judges": list(dict.fromkeys(judges)),
        "evidence": path,
        "given": judgement["given"],
    }


def shown_pause(port: ViewPort, goal: Goal) -> dict[str, Any] | None:
    """The pause of a goal: person, time, reason; None if it is not paused."""
    pause = port.remembered.paused(goal)
    return pause.to_document() if pause is not None else None


def told_by_hand(
    goal: Goal, document: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The warning about a goal that was closed, or opened again, without Flow; [] for others."""
    if document["closed_by_hand"]:
        told = (
            f"closed by hand: your own state folder does not know that it is {goal.status}: Flow "
            "did not close it as it is now, or could not write there (it is not exported; to have "
            f"its work on record: flow goal create NEW --from {goal.id})"
        )
        return [told]
    if not document["open_again"]:
        return []
    from flow.core.chain.closing_record import closed_goal  # few goals are open again

    event = past.last_closing(events)
    status = str(event["to"]) if event is not None else "closed"
    closing = closed_goal(goal.id, goal.branch, status, event).sentence()
    told = (
        f"open again: {closing}, and its file says {goal.status}: git brought back an older one, "
        "or it was edited (Flow goes on with it; what was closed stays on record)"
    )
    return [told]
