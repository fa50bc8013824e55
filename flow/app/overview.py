"""Resolves which goal is meant, and lays out its standing for ``status`` and ``list``."""

from __future__ import annotations

from flow.app.evaluation import proposals
from flow.app.evaluation.current_files import CurrentFiles
from flow.core.goal.lifecycle import TERMINAL, UNDER_WAY
from flow.core.goal.model import JUDGED, is_of_branch
from flow.core.text import display
from flow.errors import FlowError, StateError, at_key
from flow.startup.typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.ports import Records, TakeSnapshot
    from flow.core.boundary.changes import Baseline, DecidingFiles, Snapshot
    from flow.core.decision.after import Hold
    from flow.core.evidence.freshness import Freshness
    from flow.core.evidence.red_first import BaseRun
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Criterion, Goal, GoalSummary
    from flow.core.stop.past import PastTurn


def choose_goal(goals: Sequence[GoalSummary], branch: str | None) -> GoalSummary:
    """The goal that a command without an id means: the open one of this branch.

    Where none is under way it is the one that ended last, or what was drafted after that.
    """
    here = [g for g in goals if is_of_branch(g.branch, branch)]
    meant = begun_or_drafted(here)
    active = [g for g in meant if g.status == "active"]
    candidates = active or meant or [g for g in here if g.status in TERMINAL]
    label = _branch_words(branch)
    if not candidates:
        raise at_key("ID").not_found(
            f"no goal belongs to {label}",
            "flow goal list --all-branches shows all; flow goal create makes one",
        )
    if len(candidates) > 1 and candidates[0].status not in TERMINAL:
        raise _several(candidates, branch)
    return max(candidates, key=lambda g: (g.last_result_at, g.created_at))


def begun_or_drafted(goals: Sequence[GoalSummary]) -> list[GoalSummary]:
    """The goals under way among ``goals``; without any, what was drafted after the last one ended.

    So the example that ``flow init`` drafts hides no goal that was closed since.
    """
    open_ones = [g for g in goals if g.status not in TERMINAL]
    ended = max((g.last_result_at for g in goals if g.status in TERMINAL), default="")
    begun = [g for g in open_ones if g.status != "draft"]
    return begun or [g for g in open_ones if g.created_at > ended]


def choose_open(
    goals: Sequence[GoalSummary], branch: str | None, states: Collection[str]
) -> GoalSummary:
    """The goal that a command that acts means without an id: this branch's only one in ``states``.

    Where none is, the goal that :func:`choose_goal` shows, so that the command can say why not.
    """
    fitting = [g for g in goals if is_of_branch(g.branch, branch) and g.status in states]
    if len(fitting) > 1:
        raise _several(fitting, branch)
    return fitting[0] if fitting else choose_goal(goals, branch)


def _branch_words(branch: str | None) -> str:
    return f"branch {display.visible(branch)}" if branch else "this checkout"


def _several(candidates: Sequence[GoalSummary], branch: str | None) -> StateError:
    label = _branch_words(branch)
    return at_key("ID").wrong_state(
        f"several goals belong to {label}: {display.names([g.id for g in candidates])}",
        "name one of them",
    )


def status_document(
    context: ClosingContext,
    loaded: LoadedGoal,
    trusted: tuple[bool, str],
    pending: bool,
    newest: Goal | None = None,
    last_turn: PastTurn | None = None,
    *,
    here: bool = True,
) -> dict[str, Any]:
    """The standing of a goal, the reason why it stopped, and the next step.

    ``newest`` is the goal as of its newest turn, if its file does not have that yet; ``last_turn``
    is that turn's event. ``here``: its branch is checked out, so the files are its own.
    """
    goal = loaded.goal
    newest = newest or goal
    context = observing_once(context)
    present = CurrentFiles(context, loaded)
    held, settling = _held(context, goal) if goal.after else ((), "")
    protected = proposal = None
    guards = False
    if goal.status not in TERMINAL:
        proposal = shown_proposal(context, loaded)
        if goal.protected_paths:
            from flow.app.evaluation import protected_files

            protected = protected_files.protected_status(context, loaded)
        if goal.status == "waiting_for_user":
            guards = guards_changed(context, goal)
    return {
        "goal_id": goal.id,
        "status": goal.status,
        "outcome": goal.outcome,
        "branch": goal.branch,
        "issue": goal.issue,
        "run_id": goal.run_id,
        "base_commit": goal.base_commit,
        "turns_evaluated": newest.turns_evaluated,
        "last_evaluation": dict(newest.last_evaluation) if newest.last_evaluation else None,
        "criteria": _criterion_rows(present, loaded, newest),
        "files": _changed_files(present, goal, last_turn),
        "trusted": trusted[0],
        "trust": trusted[1],
        "contract": loaded.contract,
        "proposal": proposal,
        "protected_changes": protected,
        "after": [hold._asdict() for hold in held] if goal.after else None,
        "budget": _budget(context, goal),
        "unfinished_write": pending,
        "warnings": list(loaded.warnings),
        "next": next_step(
            goal,
            trusted[0],
            proposal,
            protected,
            settling,
            guards=guards,
            mending=_mending(present, goal) if here else "",
        ),
    }


def _mending(present: CurrentFiles, goal: Goal) -> str:
    """The steps that mend or allow the files that block a goal by its paths; empty if none do."""
    report = present.report if goal.blocked_by_paths else None
    if report is None or not report.violations:
        return ""
    from flow.core.decision.explain import outside_hint  # most goals stay inside

    return outside_hint(goal.id, report)


def _budget(context: ClosingContext, goal: Goal) -> dict[str, float | None] | None:
    """The Stop hook's budget for the goal, and the cost of judges; None without a limit."""
    if goal.max_seconds is None and goal.max_cost_usd is None:
        return None
    from flow.core.judging.goal.cost import judge_cost

    cost = judge_cost(context.records.evidence(goal.run_id)[0]) if goal.run_id else 0.0
    return {"max_seconds": goal.max_seconds, "max_cost_usd": goal.max_cost_usd, "cost_usd": cost}


def _held(context: ClosingContext, goal: Goal) -> tuple[Sequence[Hold], str]:
    """The goals that come first and are not achieved, and how a person settles that."""
    from flow.core.decision.after import holds, next_line

    held = holds(goal.id, goal.after, context.earlier)
    by_person = any(hold.by == "person" for hold in held)
    return held, next_line(goal.id, held) if by_person else ""


def shown_proposal(context: ClosingContext, loaded: LoadedGoal) -> dict[str, Any] | None:
    """The live proposal, with what is no longer as it saw it; None if there is none."""
    proposal = proposals.live_proposal(context.records, loaded.goal)
    if proposal is None:
        return None
    from flow.app.transitions.closing import what_moved  # most goals have no proposal

    try:
        moved = what_moved(context, loaded, proposal)
    except FlowError as error:
        moved = [str(error)]
    shown = {key: proposal[key] for key in ("proposal_id", "to", "reason")}
    return {**shown, "live": not moved, "moved": moved}


def _criterion_rows(
    present: CurrentFiles, loaded: LoadedGoal, newest: Goal
) -> list[dict[str, Any]]:
    """Each criterion's newest result, and for an open goal whether its evidence is fresh."""
    is_open = loaded.goal.status not in TERMINAL  # what a closed goal rested on stays what it was
    return [
        {
            "id": c.id,
            "text": c.text,
            "status": c.status,
            "must_pass": c.must_pass,
            "fuzzy": c.fuzzy,
            "last_result": c.last_result,
            "evidence_ref": c.evidence_ref,
            "last_evaluated_at": c.last_evaluated_at,
            **fresh_fields(
                present.freshness_at(c.evidence_ref) if is_open and c.evidence_ref else None
            ),
            **_undecided(present, c.status, c.evidence_ref if is_open else None),
        }
        for c in newest.criteria
    ]


def _undecided(present: CurrentFiles, status: str, evidence_ref: str | None) -> dict[str, str]:
    """``undecided``: the reason of an undecided criterion's evidence; no key for any other."""
    if status != "evidence_collected" or evidence_ref is None:
        return {}
    reason = present.reason_at(evidence_ref)
    return {"undecided": reason} if reason else {}


def _changed_files(
    present: CurrentFiles, goal: Goal, last_turn: PastTurn | None
) -> dict[str, Any] | None:
    """The changed files of an open goal against its paths; None if they are unknown.

    ``moved``: whether they differ from those of the last turn; None: unknown.
    """
    if goal.status not in UNDER_WAY or goal.run_id is None:
        return None
    report = present.report
    if report is None:
        return None
    outside = [violation.path for violation in report.violations]
    then, now = last_turn.tree if last_turn is not None else None, present.subject.tree
    return {
        "changed": [*report.inside, *outside],
        "outside": outside,
        "moved": None if then is None or now is None else then != now,
        "problems": list(report.problems),
    }


def observing_once(context: ClosingContext) -> ClosingContext:
    """The context with one look at the files for all that is asked of the same baseline.

    And with one at each sidecar: it shows one moment and does not decide.
    """
    records = cast("Records", _CountedOnce(context.records))
    return context._replace(snapshot=_SnapshotOnce(context.snapshot), records=records)


class _CountedOnce:
    """The records of one moment: each sidecar is looked at once."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.counted = proposals.counted_once(records.counted)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)


class _SnapshotOnce:
    """Takes one snapshot for every question about the same baseline.

    It is shown and decides nothing, so time stamps are enough.
    """

    def __init__(self, take_snapshot: TakeSnapshot) -> None:
        self._take_snapshot = take_snapshot
        self._asked: tuple[Baseline, tuple[str, ...]] | None = None
        self._snapshot: Snapshot | None = None

    def __call__(
        self,
        baseline: Baseline,
        denied: Sequence[str],
        deciding: DecidingFiles | None,  # noqa: ARG002 - as every look has it
    ) -> Snapshot:
        asked = (baseline, tuple(denied))
        if self._snapshot is None or self._asked != asked:
            self._asked, self._snapshot = asked, self._take_snapshot(baseline, denied, None)
        return self._snapshot


def fresh_fields(freshness: Freshness | None) -> dict[str, Any]:
    """Freshness fields of a row; null if there is no evidence or freshness is unchecked."""
    if freshness is None:
        return {"fresh": None, "why_stale": []}
    return {"fresh": freshness.fresh, "why_stale": list(freshness.why)}


def with_base(document: dict[str, Any], goal: Goal, runs: Mapping[str, BaseRun]) -> dict[str, Any]:
    """The status with the results of the commands on the base commit (red first)."""
    from flow.core.evidence import red_first

    rows = [
        {**row, "base": runs[row["id"]].shown()} if row["id"] in runs else row
        for row in document["criteria"]
    ]
    return {**document, "criteria": rows, "red_first": list(red_first.warnings(goal, runs))}


def next_step(
    goal: Goal,
    trusted: bool,
    proposal: Mapping[str, Any] | None,
    protected: Mapping[str, Any] | None = None,
    settling: str = "",
    *,
    guards: bool = False,
    mending: str = "",
) -> str:
    """The one step that moves this goal on; ``settling`` is that of goals that come first.

    ``guards``: it waits, and git's hooks or settings are not as they were, nor as approved.
    ``mending``: the steps about files outside its paths that block it.
    """
    if goal.status in TERMINAL:
        return f"closed; new work is a new goal: flow goal create NEW --from {goal.id}"
    if goal.status == "draft":
        return f"flow goal activate {goal.id}"
    if not trusted:
        return f"read the contract, then: flow trust record {goal.id}"
    if proposal is not None and proposal["live"]:
        # Without --proposal the question is asked, which tells what a person must know.
        return f"a person confirms {proposal['to']}: flow goal confirm {goal.id}"
    if mending:
        return mending
    if protected is not None and not protected["approved"] and goal.waits_for_approval:
        return (
            "look at the protected files that changed, then: "
            f"flow goal approve {goal.id} protected --by NAME --note TEXT"
        )
    if guards:
        return (
            "look at git's hooks and settings that changed, then: "
            f"flow goal approve {goal.id} guards --by NAME --note TEXT"
        )
    waiting = left_to_a_person(goal)
    if not waiting and goal.status == "waiting_for_user" and settling:
        return settling
    waiting = waiting or left_by_a_judge(goal)
    if waiting:
        return (
            f"{display.names(waiting)}: flow goal approve {goal.id} {waiting[0]} --by NAME "
            "--note TEXT"
        )
    return f"flow goal evaluate {goal.id}"


def guards_changed(context: ClosingContext, goal: Goal) -> bool:
    """Whether git's hooks or settings are neither as at activation nor as approved."""
    run_id = goal.run_id or ""
    try:
        baseline, recorded = context.baseline(goal, run_id)
        now = context.snapshot(baseline, context.denied(goal), None).guards
        changed, lost = proposals.open_guards(
            goal, run_id, context.records, baseline.guards, (now,), recorded=recorded
        )
    except FlowError:  # an evaluation names the fault
        return False
    return bool(changed) or lost


def left_to_a_person(goal: Goal) -> list[str]:
    """The fuzzy criteria that alone keep the goal waiting."""
    left = [c for c in _required(goal) if c.status != "pass"]
    return [c.id for c in left] if all(c.fuzzy for c in left) else []


def left_by_a_judge(goal: Goal) -> list[str]:
    """The criteria that a judge passed, where the goal waits though none is open.

    Its confidence was too low, say, or too few of its answers agreed with people.
    """
    required = _required(goal)
    if any(c.status != "pass" for c in required):
        return []
    return [c.id for c in required if (c.last_result or "").startswith(JUDGED)]


def _required(goal: Goal) -> list[Criterion]:
    """The required criteria of a goal whose last evaluation left it to a person; else none."""
    last = (goal.last_evaluation or {}).get("result")
    if goal.status != "waiting_for_user" or last != "needs_human_review":
        return []
    return [c for c in goal.criteria if c.must_pass]


def list_row(goal: Goal) -> dict[str, Any]:
    """One line of ``list``."""
    last = goal.last_evaluation or {}
    return {
        "goal_id": goal.id,
        "status": goal.status,
        "branch": goal.branch,
        "criteria": len(goal.criteria),
        "passing": sum(1 for c in goal.criteria if c.status == "pass"),
        "turns_evaluated": goal.turns_evaluated,
        "last_result": last.get("result"),
        "outcome": goal.outcome,
    }
