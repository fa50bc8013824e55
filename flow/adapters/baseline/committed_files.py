"""The digest of a commit's files, as evidence about the working tree has it."""

from __future__ import annotations

import os

from flow.adapters.worktree.guards import guards
from flow.adapters.worktree.trees import commit_tree
from flow.app.evaluation.goal_rules import own_files
from flow.core.boundary.by_products import with_guards, with_submodules
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.baseline.working_tree import WorkingTree
    from flow.adapters.git.find import Repo
    from flow.core.goal.model import Goal


def tree_of(repo: Repo, files: WorkingTree, goal: Goal, run_id: str, commit: str) -> str | None:
    """The digest of a commit's files; None if the commit is not in this repository.

    The submodules that are checked out now belong to it, and git's hooks and settings.
    """
    baseline = files.baseline(goal, run_id).baseline
    tree = commit_tree(repo, baseline, commit, own_files(goal, baseline), files.marked)
    if tree is None:
        return None
    if os.path.lexists(os.path.join(repo.top, ".gitmodules")):
        now = files.snapshot(baseline, files.denied(goal), None)
        tree = with_submodules(tree, now.submodules, baseline)
    return with_guards(tree, guards(repo), baseline)
