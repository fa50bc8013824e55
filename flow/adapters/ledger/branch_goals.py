"""The goals of all branches, as last committed there, and those of the other working trees."""

from __future__ import annotations

from flow.adapters.git.blobs import contents
from flow.adapters.git.branch_files import branch_heads, files_on_branches
from flow.adapters.git.find import find_repo
from flow.adapters.git.repository import current_branch
from flow.adapters.git.worktrees import working_trees
from flow.adapters.ledger.reader import goal_ids, parse_goal, read_goal
from flow.app.ports import BranchGoals, TreeGoals, UnreadableOnBranch
from flow.core import layout
from flow.core.goal import ids
from flow.errors import FlowError, in_file
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.adapters.git.branch_files import BranchFile
    from flow.adapters.git.find import Repo
    from flow.core.goal.model import Goal

_REGULAR = ("100644", "100755")


def branch_goals(
    repo: Repo, cache_dir: str | None = None, *, with_trees: bool = False
) -> BranchGoals:
    """Every goal on a branch, and ``with_trees`` those in other working trees.

    Raises :class:`GitError` if git cannot answer.
    """
    heads = branch_heads(repo)
    entries = [
        entry
        for entry in files_on_branches(repo, heads, layout.GOALS)
        if ids.GOAL_ID.fits(entry.name.removesuffix(layout.GOAL_SUFFIX))
        and entry.name.endswith(layout.GOAL_SUFFIX)
    ]
    regular = [entry.object_id for entry in entries if entry.mode in _REGULAR]
    texts = contents(repo, regular, layout.GOAL_LIMIT)
    read: dict[tuple[str, str, str], Goal | FlowError] = {}
    goals: list[tuple[str, Goal]] = []
    unreadable: list[UnreadableOnBranch] = []
    for entry in entries:
        key = (entry.name, entry.mode, entry.object_id)
        if key not in read:
            read[key] = _goal(entry, texts, cache_dir)
        goal = read[key]
        if isinstance(goal, FlowError):
            goal_id = entry.name.removesuffix(layout.GOAL_SUFFIX)
            unreadable.append(UnreadableOnBranch(entry.branch, goal_id, goal))
        else:
            goals.append((entry.branch, goal))
    trees = _tree_goals(repo, cache_dir) if with_trees else TreeGoals()
    return BranchGoals(len(heads), tuple(goals), tuple(unreadable), trees)


def _tree_goals(repo: Repo, cache_dir: str | None) -> TreeGoals:
    goals: list[tuple[str, str | None, Goal]] = []
    unreadable: list[tuple[str, FlowError]] = []
    for top in working_trees(repo):
        if top == repo.top:
            continue
        try:
            tree = find_repo(top)
            branch = current_branch(tree) if tree is not None else None
            names = goal_ids(top)
        except FlowError as error:
            unreadable.append((top, error))
            continue
        for goal_id in names:
            try:
                goals.append((top, branch, read_goal(top, goal_id, cache_dir)[1].goal))
            except FlowError as error:
                unreadable.append((top, error))
    return TreeGoals(tuple(goals), tuple(unreadable))


def _goal(entry: BranchFile, texts: dict[str, bytes], cache_dir: str | None) -> Goal | FlowError:
    """The goal of an entry, or the error if it is none."""
    goal_id = entry.name.removesuffix(layout.GOAL_SUFFIX)
    file = layout.goal_file(goal_id)
    if entry.mode not in _REGULAR:
        return in_file(file).corrupt("is no regular file", "look at it on its branch")
    data = texts.get(entry.object_id)
    if data is None:
        message = f"is larger than {layout.GOAL_LIMIT} bytes, or not there"
        return in_file(file).corrupt(message, "look at it on its branch")
    try:
        return parse_goal(data, file, expect_id=goal_id, cache_dir=cache_dir)[0]
    except FlowError as error:
        return error
