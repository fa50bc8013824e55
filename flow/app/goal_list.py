"""``flow goal list``: each goal once, where it stands, what needs a person first."""

from __future__ import annotations

from flow.app import overview
from flow.app.evaluation import proposals
from flow.app.goal_views import (
    ViewPort,
    closed_by_hand,
    gone_goals,
    held_back,
    newest,
    open_again,
    shown_pause,
)
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL, UNDER_WAY
from flow.core.goal.model import Goal, is_of_branch
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.ports import BranchGoals
    from flow.core.stop.lost_goals import OpenGoal

_ORDER = ("waiting_for_user", "blocked", "active", "waiting_for_ci", "draft")
"""Statuses by how much they need a person; closed goals come last."""


class _Copy(NamedTuple):
    """A goal as one place has it: the checkout, or a branch, or another working tree."""

    goal: Goal
    rank: int
    """Precedence of this copy of the goal; the greatest one counts.

    5, 4, 3: where the goal's branch is checked out (here, in another working tree), or where it is
    committed; 2, 1, 0: the same places with another branch.
    """
    branch: str | None = None
    """The branch that has it committed."""
    tree: str | None = None
    """The top level of the other working tree."""

    @property
    def in_checkout(self) -> bool:
        """Whether it lies in the checkout's own folder."""
        return self.branch is None and self.tree is None


def goal_list(
    port: ViewPort, *, all_branches: bool = False, statuses: Collection[str] = ()
) -> dict[str, Any]:
    """A row for each goal, those that need a person first, and the goals that cannot be read.

    Where no goal is of the branch that is checked out, ``other_branches`` counts those of others.
    """
    goals, broken = port.goals()
    here, left_open = port.branch(), port.remembered.left_open()
    unreadable = [error.to_dict() for error in broken]
    unreadable += [error.to_dict() for error in gone_goals(port)]
    copies = [_Copy(goal, 5 if is_of_branch(goal.branch, here) else 2) for goal in goals]
    none_here = not any(is_of_branch(goal.branch, here) for goal in goals)
    other = None
    branches = None
    if all_branches:
        elsewhere = port.branch_goals(with_trees=True)
        copies = _each_once([*copies, *_elsewhere(elsewhere)])
        unreadable += _unreadable_there(elsewhere, goals, unreadable, here)
        branches = elsewhere.branches
    elif here is not None and not unreadable and none_here:
        other = _own_goals(port, here)
    context = port.closing_context()
    rows = [
        _row(port, context, copy, left_open, here)
        for copy in copies
        if not statuses or copy.goal.status in statuses
    ]
    return {
        "branch": here,
        "goals": sorted(rows, key=_urgency),
        "unreadable": unreadable,
        "branches": branches,
        "other_branches": other,
    }


def _elsewhere(elsewhere: BranchGoals) -> Iterator[_Copy]:
    for branch, goal in elsewhere.goals:
        yield _Copy(goal, 3 if branch == goal.branch else 0, branch=branch)
    for top, checked_out, goal in elsewhere.trees.goals:
        yield _Copy(goal, 4 if checked_out == goal.branch else 1, tree=top)


def _each_once(copies: Iterable[_Copy]) -> list[_Copy]:
    """One copy of each goal: where its branch is checked out, else where its branch has it."""
    best: dict[tuple[str, str], _Copy] = {}
    for copy in copies:
        other = best.setdefault((copy.goal.id, copy.goal.branch), copy)
        if (copy.rank, copy.goal.last_result_at) > (other.rank, other.goal.last_result_at):
            best[copy.goal.id, copy.goal.branch] = copy
    return list(best.values())


def _unreadable_there(
    elsewhere: BranchGoals,
    goals: Iterable[Goal],
    reported: Sequence[Mapping[str, Any]],
    here: str | None,
) -> list[dict[str, Any]]:
    """The unreadable goals of branches and other working trees; the same fault once.

    For the branch that is checked out, the checkout's own files are reported instead.
    """
    in_checkout = {layout.goal_file(goal.id) for goal in goals} | {row["file"] for row in reported}
    faults = {(row["file"], row["message"]) for row in reported}
    rows = []
    on_branches = [
        (f"{branch}:", error, branch == here) for branch, _, error in elsewhere.unreadable
    ]
    in_trees = [(f"{top}/", error, False) for top, error in elsewhere.trees.unreadable]
    for place, error, checked_out in (*on_branches, *in_trees):
        row = error.to_dict()
        fault = row["file"], row["message"]
        if fault not in faults and not (checked_out and row["file"] in in_checkout):
            faults.add(fault)
            rows.append({**row, "file": f"{place}{row['file']}"})
    return rows


def _own_goals(port: ViewPort, here: str) -> dict[str, int]:
    """Number of goals that belong to each other branch; empty if git cannot read the branches."""
    try:
        copies = _each_once(_elsewhere(port.branch_goals(with_trees=True)))
    except FlowError:
        return {}
    counts: dict[str, int] = {}
    for copy in copies:
        branch = copy.goal.branch
        if copy.rank >= 3 and branch != here:
            counts[branch] = counts.get(branch, 0) + 1
    return counts


def _row(
    port: ViewPort,
    context: ClosingContext,
    copy: _Copy,
    left_open: Mapping[str, OpenGoal],
    branch: str | None,
) -> dict[str, Any]:
    goal = copy.goal if copy.tree else newest(port, copy.goal)
    pause = shown_pause(port, copy.goal)
    by_hand = copy.in_checkout and goal.id in left_open and closed_by_hand(port, port.load(goal.id))
    held = copy.in_checkout and held_back(port, context, port.load(goal.id)) if goal.after else ""
    here = copy.in_checkout and is_of_branch(goal.branch, branch)
    return {
        **overview.list_row(goal),
        "here": here,
        "from_git": copy.branch,
        "checkout": copy.tree,
        "since": max(goal.last_result_at, pause["at"] if pause else ""),
        "results": [
            {"id": c.id, "status": c.status, "must_pass": c.must_pass} for c in goal.criteria
        ],
        "trusted": port.trusted(port.load(goal.id))[0]
        if here and goal.status in UNDER_WAY
        else None,
        "proposal": _proposal(port, context, copy, branch),
        "paused": pause,
        "closed_by_hand": by_hand,
        "open_again": copy.in_checkout and open_again(port, copy.goal),
        "held_back": held or None,
    }


def _proposal(
    port: ViewPort, context: ClosingContext, copy: _Copy, branch: str | None
) -> dict[str, Any] | None:
    """The proposed transition, and whether it is live as far as this checkout can tell.

    The files of a goal of another branch are not here: its record decides.
    """
    goal = copy.goal
    if goal.status in TERMINAL or goal.status == "draft":
        return None
    try:
        if copy.in_checkout and is_of_branch(goal.branch, branch):
            shown = overview.shown_proposal(context, port.load(goal.id))
            return shown and {"to": shown["to"], "live": shown["live"]}
        proposal = proposals.live_proposal(context.records, goal)
    except FlowError:  # an evaluation names the fault
        return None
    return {"to": proposal["to"], "live": True} if proposal else None


def _urgency(row: Mapping[str, Any]) -> tuple[object, ...]:
    """The place of a row: what waits for a person first, and of those the newest."""
    status, proposal = row["status"], row["proposal"]
    waits = row["paused"] or row["trusted"] is False or (proposal and proposal["live"])
    if row["held_back"] and not waits:
        status = "blocked"
    order = 0 if waits else _ORDER.index(status) if status in _ORDER else len(_ORDER)
    return order, [-ord(char) for char in row["since"]], row["goal_id"], row["branch"]
