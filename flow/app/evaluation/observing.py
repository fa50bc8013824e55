"""Observation of the files, before the commands of an evaluation run and after (SPEC 4)."""

from __future__ import annotations

import posixpath

from flow.app.evaluation import proposals
from flow.app.evaluation.goal_rules import (
    deciding,
    denied_patterns,
    goal_boundary,
    own_files,
    protected_changes,
)
from flow.app.evaluation.values import Drift, Facts, Measurements, Request
from flow.core import layout
from flow.core.boundary import guards
from flow.core.boundary import rules as bounds
from flow.core.boundary.by_products import (
    cache_root,
    edited_by_products,
    find_by_products,
    find_ignored_by_products,
    moved_paths,
    rewritten,
    subject_tree,
)
from flow.core.boundary.changes import entry_digest
from flow.core.boundary.globs import Globs, path_bytes
from flow.core.evidence.model import Subject
from flow.core.goal.model import LAST_TURN, Goal, is_of_branch
from flow.core.text import display
from flow.core.text.shell_quote import shell_argument
from flow.errors import at_key, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.app.evaluation.tools import EvaluationTools
    from flow.core.boundary.changes import Baseline, Snapshot
    from flow.core.boundary.rules import BoundaryReport
    from flow.core.goal.loaded import LoadedGoal


def _turn_number(goal: Goal, run_id: str, tools: EvaluationTools) -> int:
    """The number of this evaluation; turns that left the goal's file alone count, too."""
    recorded = tools.records.newest_turn(run_id, goal.id)
    last = max(goal.turns_evaluated, recorded.turn if recorded is not None else 0)
    if last >= LAST_TURN:
        raise in_file(layout.goal_file(goal.id), "lifecycle.turns_evaluated", last).invalid(
            "no number of a turn is left after this one",
            "put the number of the last true turn there: flow goal history",
        )
    return last + 1


LOST = "baseline.json, which is missing or was altered"
"""Named among the changed guards where the record of the goal's start is missing."""


def observe(loaded: LoadedGoal, request: Request, tools: EvaluationTools) -> Facts:
    """Take the subject and the change set now, before any command runs."""
    goal = loaded.goal
    run_id = request.run_id or _run_of(goal, tools)
    baseline, recorded = tools.baseline(goal, run_id)
    if recorded and run_id != goal.run_id and not request.dry_run:
        tools.write_baseline(goal.id, run_id, baseline)  # the new run starts where the old one did
    proposable = True
    if request.base is not None:
        baseline, proposable = tools.move_baseline(baseline, request.base)
    before = tools.snapshot(baseline, denied_patterns(goal, tools), deciding(goal, baseline))
    refuse_other_branch(goal, before.branch)
    if not request.dry_run and request.base is None and not before.problems:
        baseline = _with_leftovers(goal, run_id, baseline, before, tools)
    subject = subject_of(loaded, before, baseline, tools.version)
    return Facts(
        loaded,
        run_id,
        _turn_number(goal, run_id, tools),
        baseline,
        recorded,
        before,
        subject,
        proposable,
        protected_changes=protected_changes(goal, before, baseline),
        edited_by_products=edited_by_products(before, baseline),
    )


def _run_of(goal: Goal, tools: EvaluationTools) -> str:
    """The goal's own run, unless that is another checkout's: two chains in one run contradict.

    Journals travel with git and runs do not, so a fresh clone knows a head that no chain in it can
    ever lead to.
    """
    if goal.run_id is not None and not tools.recorded_elsewhere(goal.run_id):
        return goal.run_id
    return tools.records.new_run_id(goal.id, tools.now())


def _with_leftovers(
    goal: Goal, run_id: str, baseline: Baseline, before: Snapshot, tools: EvaluationTools
) -> Baseline:
    """The baseline with the caches of an evaluation that was killed before it recorded them.

    Only well-known names that appeared since it began: other new files may be the agent's.
    """
    untracked = tools.untracked_at_start(run_id)
    if untracked is None:
        return baseline
    leftovers = {
        change.path: entry_digest(change.worktree)
        for change in before.changes
        if change.untracked and change.path not in untracked and cache_root(change.path)
    }
    if not leftovers:
        return baseline
    baseline = baseline._replace(by_products={**baseline.by_products, **leftovers})
    tools.write_baseline(goal.id, run_id, baseline)
    return baseline


def refuse_other_branch(goal: Goal, branch: str | None) -> None:
    """Raise :class:`StateError` if another branch than the goal's is checked out."""
    if branch is not None and not is_of_branch(goal.branch, branch):
        raise at_key("scope.branch", goal.branch).wrong_state(
            f"goal {goal.id} belongs to branch {display.visible(goal.branch)}, "
            f"and {display.visible(branch)} is checked out",
            f"git switch {shell_argument(goal.branch)}; where that branch was renamed: "
            f"flow goal amend {goal.id} --edit, with the new scope.branch",
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
        tree = subject_tree(snapshot, baseline, own, as_recorded=as_recorded)
    return Subject(snapshot.head, tree, loaded.contract, version)


def observe_again(
    facts: Facts, measurement: Measurements, request: Request, tools: EvaluationTools
) -> Drift:
    """Find by-products, and whether anything else moved while commands ran.

    A by-product that was edited and that the commands did not rewrite stops being one: it counts
    like any file from now on.
    """
    if not measurement.ran or facts.before.problems:
        return Drift()  # without an observation before, nothing is known to be new
    goal = facts.loaded.goal
    forbidden = denied_patterns(goal, tools)
    after = tools.snapshot(facts.baseline, forbidden, deciding(goal, facts.baseline))
    if after.problems:
        return Drift(moved=after.problems)
    baseline = facts.baseline
    rules = bounds.path_rules((), forbidden)
    by_products = find_by_products(facts.before, after, baseline, rules.denies, _reports(goal))
    own = own_files(facts.loaded.goal, baseline)  # a debate was held meanwhile
    left = tuple(sorted(path for path in by_products if not own.has_own_name(path)))
    if after.ignored_protected or after.link_targets:
        by_products.update(find_ignored_by_products(facts.before, after, baseline))
    edited = tuple(path for path in facts.edited_by_products if path not in by_products)
    if by_products or edited:
        known = {**baseline.by_products, **by_products}
        for path in edited:
            known.pop(path, None)
        baseline = baseline._replace(by_products=known)
        if request.base is None and not request.dry_run:
            tools.write_baseline(facts.loaded.goal.id, facts.run_id, baseline)
    if edited:
        return Drift(left, edited, (), after, baseline, (after.guards,))
    same_guards = after._replace(guards=facts.before.guards)  # those are compared with approvals
    subject = subject_of(facts.loaded, same_guards, baseline, tools.version)
    if subject.tree == facts.subject.tree and subject.head == facts.subject.head:
        written = rewritten(facts.before, after, baseline, own)
        return Drift(left, (), written, after, baseline, (after.guards,))
    moved = moved_paths(facts.before, after, baseline, own)
    remade = tuple(sorted(path for path in by_products if path in facts.before.link_targets))
    return Drift(left, moved or remade or ("HEAD",), (), after, baseline, (after.guards,))


def _reports(goal: Goal) -> Callable[[str], bool]:
    """The predicate of the paths that criteria name as reports of their commands."""
    named = [
        path
        for criterion in goal.criteria
        if criterion.report and not criterion.fuzzy
        for path in (posixpath.join(criterion.cwd or "", criterion.report), criterion.report)
    ]
    globs = Globs([posixpath.normpath(path) for path in named], anchored=True)
    return lambda path: globs.first(path_bytes(path)) is not None


def boundary(facts: Facts, drift: Drift, tools: EvaluationTools) -> BoundaryReport:
    """The boundary report of the change set (SPEC 3, step 4).

    A guard counts as unchanged if a person approved exactly the content that the snapshot shows.
    """
    goal, baseline = facts.loaded.goal, facts.baseline
    report = goal_boundary(goal, facts.before, baseline, denied_patterns(goal, tools))
    report = report._replace(rewritten=drift.rewritten)
    new = [path for path in drift.left_behind if path not in report.by_products]
    if new:
        warning = f"left behind by the commands, not counted: {display.names(new, 10)}"
        report = report._replace(warnings=(*report.warnings, warning))
    report = _with_guards(report, facts, drift, tools)
    if not goal.protected_paths:
        return report
    from flow.app.evaluation.protected_files import report_with_protected

    return report_with_protected(report, facts, drift.left_behind, tools.records)


def _with_guards(
    report: BoundaryReport, facts: Facts, drift: Drift, tools: EvaluationTools
) -> BoundaryReport:
    """The report with git's hooks and settings, before the commands and after."""
    moments = (facts.before.guards, *drift.guards)
    changed, lost = proposals.open_guards(
        facts.loaded.goal,
        facts.run_id,
        tools.records,
        facts.baseline.guards,
        moments,
        recorded=facts.baseline_recorded,
    )
    moved = guards_moved(facts, drift)
    warnings = report.warnings
    if moved:
        names = display.names(moved)
        warnings += (f"git's hooks or settings changed while the commands ran: {names}",)
    return report._replace(
        guards_changed=() if report.problems else (*changed, *((LOST,) if lost else ())),
        guards=moments[-1],
        warnings=warnings,
    )


def guards_moved(facts: Facts, drift: Drift) -> tuple[str, ...]:
    """The names of git's hooks and settings that changed while commands ran."""
    names = (guards.differences(facts.before.guards, now) for now in drift.guards)
    return tuple(sorted({name for group in names for name in group}))
