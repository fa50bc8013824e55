"""A repository in the inbox: its working trees, and the goals that branches have committed."""

from __future__ import annotations

import os

from flow.adapters.fs.combined_stamp import CombinedStamp
from flow.adapters.git.branch_files import branch_heads
from flow.adapters.inbox.stored_standings import decoded_copy, encoded_copy
from flow.app.inbox import goal_facts
from flow.app.inbox.rows import BranchCopies, BranchCopy
from flow.app.ports import UnreadableOnBranch
from flow.core import layout
from flow.errors import FlowError
from flow.startup.json import items_of
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.inbox.checkout import InboxCheckout
    from flow.adapters.inbox.index import InboxIndex
    from flow.core.standing.items import InboxItem


class InboxRepository:
    """A repository as :class:`~flow.app.inbox.rows.RepositoryPort`."""

    def __init__(self, top: str, index: InboxIndex) -> None:
        self.top = top
        self.checkouts: list[InboxCheckout] = []
        self.broken: list[InboxItem] = []
        self.left_out: set[str] = set()
        self._index = index
        self.key = f"branches {top}"

    def branch_copies(self) -> BranchCopies:
        """The goals that its branches have committed; none if all branches are checked out."""
        if not self.checkouts or not self.checkouts[0].in_git:
            return BranchCopies()
        first = self.checkouts[0]
        taken = {checkout.branch() for checkout in self.checkouts}
        try:
            heads = branch_heads(first.repo)
            if set(heads) <= taken:
                return BranchCopies()
            return self._kept(heads) or self._read(heads)
        except FlowError as error:  # the checkouts' own goals are listed all the same
            return BranchCopies(fault=str(error))

    def _kept(self, heads: Mapping[str, str]) -> BranchCopies | None:
        """The copies as they were read before, if branches and runs are the same."""
        value = self._index.get(self.key)
        copies = [decoded_copy(row) for row in value.get("copies") or ()]
        known = [copy for copy in copies if copy is not None]
        if len(known) < len(copies) or value.get("stamp") != self._stamp(heads, value.get("runs")):
            return None
        self._index.put(self.key, value)
        return BranchCopies(known)

    def _read(self, heads: Mapping[str, str]) -> BranchCopies:
        first = self.checkouts[0]
        _, goals, unreadable, _ = first.goals.branch_goals()
        runs = sorted({goal.run_id for _, goal in goals if goal.run_id})
        stamp = self._stamp(heads, runs)
        copies, failed = [], [*unreadable]
        for branch, goal in goals:
            try:
                copies.append(
                    BranchCopy(branch, goal.summary, goal_facts.standing_away(first.goals, goal))
                )
            except FlowError as error:
                failed.append(UnreadableOnBranch(branch, goal.id, error))
        if stamp and not failed:  # an unreadable one may be readable the next time
            rows = [encoded_copy(copy) for copy in copies]
            self._index.put(self.key, {"stamp": stamp, "runs": runs, "copies": rows})
        return BranchCopies(copies, failed)

    def _stamp(self, heads: Mapping[str, str], runs: Any) -> str:
        """Stamp of the branches' commits and the checkout's runs, on which the copies rest."""
        first, stamps = self.checkouts[0], CombinedStamp(repr(sorted(heads.items())))
        for run_id in items_of(runs):
            stamps.folder(os.path.join(first.top, layout.run_dir(str(run_id))))
        return stamps.text if stamps.settled else ""
