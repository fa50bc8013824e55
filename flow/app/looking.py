"""What an evaluation knows of the files, before its commands run and after (SPEC section 4)."""

from __future__ import annotations

from flow.app import proposals
from flow.cheap_typing import TYPE_CHECKING, NamedTuple
from flow.core import boundary as bounds
from flow.core import explain, layout
from flow.core.evidence import Subject
from flow.core.goal import NO_BRANCH
from flow.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.app.evaluate import Request, Tools
    from flow.app.measure import Measurements
    from flow.app.ports import LoadedGoal
    from flow.core.boundary import Baseline, BoundaryReport, Snapshot
    from flow.core.goal import Goal


class Known(NamedTuple):
    """A baseline, and whether it was recorded here.

    One that had to be restored from the pinned commit cannot tell what was done to hooks and
    ignored files since.
    """

    baseline: Baseline
    recorded: bool


class Facts(NamedTuple):
    """What is known before any command runs."""

    loaded: LoadedGoal
    run_id: str
    turn: int
    baseline: Baseline
    recorded: bool
    before: Snapshot
    subject: Subject
    proposable: bool
    """Whether the range that is looked at contains the pinned one (``--base``)."""


LOST = "baseline.json, which is missing"
"""Named among the changed guards where no record of the goal's start is there."""


def look(loaded: LoadedGoal, request: Request, tools: Tools) -> Facts:
    """Take the subject and the change set now, before any command runs."""
    goal = loaded.goal
    run_id = request.run_id or goal.run_id or layout.run_id_for(goal.id, tools.now())
    baseline, recorded = tools.baseline(goal, run_id)
    if recorded and run_id != goal.run_id and not request.dry_run:
        tools.keep_baseline(goal.id, run_id, baseline)  # the new run starts where the old one did
    proposable = True
    if request.base is not None:
        baseline, proposable = tools.widen(baseline, request.base)
    before = tools.snapshot(baseline, denied(goal, tools))
    refuse_other_branch(goal, before.branch)
    if not request.dry_run and request.base is None and not before.problems:
        baseline = _left_by_a_killed_one(goal, run_id, baseline, before, tools)
    subject = subject_of(loaded, before, baseline, tools.version)
    return Facts(
        loaded, run_id, goal.turns_evaluated + 1, baseline, recorded, before, subject, proposable
    )


def _left_by_a_killed_one(
    goal: Goal, run_id: str, baseline: Baseline, before: Snapshot, tools: Tools
) -> Baseline:
    """Caches that an evaluation left which did not live to record them are by-products too.

    Only well-known names that were not there when it began: what else appeared since may be the
    agent's.
    """
    untracked = tools.unfinished(run_id)
    if untracked is None:
        return baseline
    found = {
        change.path: bounds.entry_digest(change.worktree)
        for change in before.changes
        if change.untracked and change.path not in untracked and bounds.cache_root(change.path)
    }
    if not found:
        return baseline
    baseline = baseline._replace(by_products={**baseline.by_products, **found})
    tools.keep_baseline(goal.id, run_id, baseline)
    return baseline


def refuse_other_branch(goal: Goal, branch: str | None) -> None:
    """Raise :class:`StateError` where another branch than the goal's is checked out."""
    if branch is not None and goal.branch not in (branch, NO_BRANCH):
        raise StateError(
            f"goal {goal.id} belongs to branch {explain.visible(goal.branch)}, "
            f"and {explain.visible(branch)} is checked out",
            code="wrong_branch",
            key="scope.branch",
            value=goal.branch,
            remedy=f"git switch {explain.visible(goal.branch)}",
        )


def subject_of(loaded: LoadedGoal, snapshot: Snapshot, baseline: Baseline, version: str) -> Subject:
    """The stamp for evidence measured on ``snapshot``."""
    tree = None
    if not snapshot.problems:
        tree = bounds.subject_tree(snapshot, baseline, own_files(loaded.goal, baseline))
    return Subject(snapshot.head, tree, loaded.contract, version)


def own_files(goal: Goal, baseline: Baseline) -> Callable[[str], bool]:
    """Which changed paths are files that Flow wrote itself: journals of this checkout."""
    return bounds.OwnFiles(baseline.journal_dir, goal.journal)


def denied(goal: Goal, tools: Tools) -> tuple[str, ...]:
    """Denied patterns of goal and settings together."""
    return (*goal.denied_paths, *tools.limits.denied_paths)


def look_again(
    facts: Facts, measurement: Measurements, request: Request, tools: Tools
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find by-products, and whether anything else moved while commands ran.

    Returns the paths that the commands left behind, and the paths that make this evaluation stale.
    """
    if not measurement.ran or facts.before.problems:
        return (), ()  # what could not be seen before is not new now
    after = tools.snapshot(facts.baseline, denied(facts.loaded.goal, tools))
    if after.problems:
        return (), after.problems
    found = bounds.find_by_products(facts.before, after, facts.baseline)
    baseline = facts.baseline
    if found:
        baseline = baseline._replace(by_products={**baseline.by_products, **found})
        if request.base is None:
            tools.keep_baseline(facts.loaded.goal.id, facts.run_id, baseline)
    left = tuple(sorted(found))
    again = subject_of(facts.loaded, after, baseline, tools.version)
    if again.tree == facts.subject.tree and again.head == facts.subject.head:
        return left, ()
    moved = bounds.moved(facts.before, after, baseline, own_files(facts.loaded.goal, baseline))
    return left, moved or ("HEAD",)


def boundary(facts: Facts, left: Sequence[str], tools: Tools) -> BoundaryReport:
    """What the change set means for the goal (step 4).

    ``left`` are the paths that the commands just left behind. Guards that a person approved as
    they are now do not count as changed.
    """
    goal, baseline = facts.loaded.goal, facts.baseline
    report = bounds.judge(
        facts.before,
        baseline,
        allowed=goal.allowed_paths,
        denied=denied(goal, tools),
        protected=goal.protected_paths,
        own_files=own_files(goal, baseline),
    )
    new = [path for path in left if path not in report.by_products]
    if new:
        warning = f"left behind by the commands, not counted: {explain.names(new, 10)}"
        report = report._replace(warnings=(*report.warnings, warning))
    if not facts.recorded:
        report = report._replace(guards_changed=(*report.guards_changed, LOST))
    approved = proposals.approved_guards(goal, facts.run_id, facts.before, tools.records)
    return report._replace(guards_changed=()) if approved else report
