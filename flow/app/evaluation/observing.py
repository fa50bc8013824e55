"""What an evaluation knows of the files, before its commands run and after (SPEC 4)."""

from __future__ import annotations

import posixpath

from flow.app.evaluation import proposals
from flow.app.evaluation.goal_rules import deciding, denied_patterns, difference, own_files
from flow.app.evaluation.values import Drift, Facts
from flow.core import layout
from flow.core.boundary import guards
from flow.core.boundary import rules as bounds
from flow.core.evidence.model import Subject
from flow.core.goal.model import NO_BRANCH
from flow.core.text import display
from flow.errors import at_key
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.app.evaluation.values import EvaluationTools, Measurements, Request
    from flow.app.ports import LoadedGoal
    from flow.core.boundary.rules import Baseline, BoundaryReport, Snapshot
    from flow.core.goal.model import Goal


def _turn_number(goal: Goal, run_id: str, tools: EvaluationTools) -> int:
    """The number of this evaluation: turns that left the goal's file alone count, too."""
    recorded = tools.records.newest_turn(run_id, goal.id)
    return max(goal.turns_evaluated, recorded.turn if recorded is not None else 0) + 1


LOST = "baseline.json, which is missing or was altered"
"""Named among the changed guards where no record of the goal's start is there."""


def observe(loaded: LoadedGoal, request: Request, tools: EvaluationTools) -> Facts:
    """Take the subject and the change set now, before any command runs."""
    goal = loaded.goal
    run_id = request.run_id or _run_of(goal, tools)
    baseline, recorded = tools.baseline(goal, run_id)
    if recorded and run_id != goal.run_id and not request.dry_run:
        tools.keep_baseline(goal.id, run_id, baseline)  # the new run starts where the old one did
    proposable = True
    if request.base is not None:
        baseline, proposable = tools.widen(baseline, request.base)
    before = tools.snapshot(baseline, denied_patterns(goal, tools), deciding(goal, baseline))
    refuse_other_branch(goal, before.branch)
    if not request.dry_run and request.base is None and not before.problems:
        baseline = _left_by_a_killed_one(goal, run_id, baseline, before, tools)
    subject = subject_of(loaded, before, baseline, tools.version)
    locked = difference(goal, before, baseline)
    return Facts(
        loaded,
        run_id,
        _turn_number(goal, run_id, tools),
        baseline,
        recorded,
        before,
        subject,
        proposable,
        locked=locked,
        edited=bounds.edited_by_products(before, baseline),
    )


def _run_of(goal: Goal, tools: EvaluationTools) -> str:
    """The goal's own run, unless that is another checkout's: two chains in one run contradict.

    Journals travel with git and runs do not, so in a fresh clone a head is known that no chain here
    can ever lead to.
    """
    if goal.run_id is not None and not tools.elsewhere(goal.run_id):
        return goal.run_id
    fresh = layout.run_id_for(goal.id, tools.now())
    return fresh if fresh != goal.run_id else f"{fresh}-2"


def _left_by_a_killed_one(
    goal: Goal, run_id: str, baseline: Baseline, before: Snapshot, tools: EvaluationTools
) -> Baseline:
    """Caches that an evaluation left which did not live to record them are by-products too.

    Only well-known names that were not there when it began: what else appeared since may be the
    agent's.
    """
    untracked = tools.unfinished(run_id)
    if untracked is None:
        return baseline
    leftovers = {
        change.path: bounds.entry_digest(change.worktree)
        for change in before.changes
        if change.untracked and change.path not in untracked and bounds.cache_root(change.path)
    }
    if not leftovers:
        return baseline
    baseline = baseline._replace(by_products={**baseline.by_products, **leftovers})
    tools.keep_baseline(goal.id, run_id, baseline)
    return baseline


def refuse_other_branch(goal: Goal, branch: str | None) -> None:
    """Raise :class:`StateError` where another branch than the goal's is checked out."""
    if branch is not None and goal.branch not in (branch, NO_BRANCH):
        raise at_key("scope.branch", goal.branch).wrong_state(
            f"goal {goal.id} belongs to branch {display.visible(goal.branch)}, "
            f"and {display.visible(branch)} is checked out",
            f"git switch {display.visible(goal.branch)}; where that branch was renamed: "
            f"flow goal amend {goal.id} --file F, with the new scope.branch",
            code="wrong_branch",
        )


def subject_of(
    loaded: LoadedGoal,
    snapshot: Snapshot,
    baseline: Baseline,
    version: str,
    *,
    as_recorded: bool = False,
) -> Subject:
    """The stamp for evidence measured on ``snapshot``; for ``as_recorded`` see ``subject_tree``."""
    tree = None
    if not snapshot.problems:
        own = own_files(loaded.goal, baseline)
        tree = bounds.subject_tree(snapshot, baseline, own, as_recorded=as_recorded)
    return Subject(snapshot.head, tree, loaded.contract, version)


def observe_again(
    facts: Facts, measurement: Measurements, request: Request, tools: EvaluationTools
) -> Drift:
    """Find by-products, and whether anything else moved while commands ran.

    A by-product that somebody had written to, and that the commands left as it was, is none any
    more: it was measured, and from now on it counts like any other file.
    """
    if not measurement.ran or facts.before.problems:
        return Drift()  # what could not be seen before is not new now
    goal = facts.loaded.goal
    forbidden = denied_patterns(goal, tools)
    after = tools.snapshot(facts.baseline, forbidden, deciding(goal, facts.baseline))
    if after.problems:
        return Drift(moved=after.problems)
    baseline = facts.baseline
    rules = bounds.path_rules((), forbidden)
    by_products = bounds.find_by_products(
        facts.before, after, baseline, rules.denies, _reports(goal)
    )
    own = own_files(facts.loaded.goal, baseline)  # a debate was held meanwhile
    left = tuple(sorted(path for path in by_products if not own.named(path)))
    if after.locked or after.behind:
        by_products.update(bounds.find_ignored_by_products(facts.before, after, baseline))
    theirs = tuple(path for path in facts.edited if path not in by_products)
    if by_products or theirs:
        known = {**baseline.by_products, **by_products}
        for path in theirs:
            known.pop(path, None)
        baseline = baseline._replace(by_products=known)
        if request.base is None and not request.dry_run:
            tools.keep_baseline(facts.loaded.goal.id, facts.run_id, baseline)
    if theirs:
        return Drift(left, theirs, (), after, baseline, (after.guards,))
    same_guards = after._replace(guards=facts.before.guards)  # those are held against approvals
    again = subject_of(facts.loaded, same_guards, baseline, tools.version)
    if again.tree == facts.subject.tree and again.head == facts.subject.head:
        written = bounds.rewritten(facts.before, after, baseline, own)
        return Drift(left, (), written, after, baseline, (after.guards,))
    moved = bounds.moved_paths(facts.before, after, baseline, own)
    anew = tuple(
        sorted(path for path in by_products if path in facts.before.behind)
    )  # from now on left
    return Drift(left, moved or anew or ("HEAD",), (), after, baseline, (after.guards,))


def _reports(goal: Goal) -> Callable[[str], bool]:
    """Whether a path is one that a criterion names as its command's report."""
    named = [
        path
        for criterion in goal.criteria
        if criterion.report and not criterion.fuzzy
        for path in (posixpath.join(criterion.cwd or "", criterion.report), criterion.report)
    ]
    if not named:
        return lambda _: False
    from flow.core.boundary.globs import Globs

    globs = Globs([posixpath.normpath(path) for path in named], anchored=True)
    return lambda path: globs.first(path.encode("utf-8", "surrogateescape")) is not None


def boundary(facts: Facts, again: Drift, tools: EvaluationTools) -> BoundaryReport:
    """What the change set means for the goal (step 4).

    Guards that a person approved exactly as a look found them did not change then.
    """
    goal, baseline = facts.loaded.goal, facts.baseline
    report = bounds.boundary_report(
        facts.before,
        baseline,
        allowed=goal.allowed_paths,
        denied=denied_patterns(goal, tools),
        own_files=own_files(goal, baseline),
    )
    report = report._replace(rewritten=again.rewritten)
    new = [path for path in again.left if path not in report.by_products]
    if new:
        warning = f"left behind by the commands, not counted: {display.names(new, 10)}"
        report = report._replace(warnings=(*report.warnings, warning))
    report = _with_guards(report, facts, again, tools)
    if not goal.protected_paths:
        return report
    from flow.app.evaluation import protected_files as evaluation_protected_files

    return evaluation_protected_files.report_with_protected(
        report, facts, again.left, tools.records
    )


def _with_guards(
    report: BoundaryReport, facts: Facts, again: Drift, tools: EvaluationTools
) -> BoundaryReport:
    """The report with what git's hooks and settings were, before the commands and after."""
    moments = (facts.before.guards, *again.guards)
    baseline = facts.baseline.guards
    approved = proposals.approved_guards(facts.loaded.goal, facts.run_id, tools.records)
    changed = guards.unapproved(moments, baseline, approved)
    lost = not facts.recorded and not guards.as_approved(moments[-1], baseline, approved)
    moved = guards_moved(facts, again)
    warnings = report.warnings
    if moved:
        said = "git's hooks or settings changed while the commands ran"
        warnings = (*warnings, f"{said}: {display.names(moved)}")
    return report._replace(
        guards_changed=() if report.problems else (*changed, *((LOST,) if lost else ())),
        guards=moments[-1],
        warnings=warnings,
    )


def guards_moved(facts: Facts, again: Drift) -> tuple[str, ...]:
    """The names of git's hooks and settings that changed while commands ran."""
    names = (guards.differences(facts.before.guards, now) for now in again.guards)
    return tuple(sorted({name for group in names for name in group}))
