"""One checkout in the inbox: earlier findings are used while their stamps agree.

A goal's summary is kept with the stamp of the goal's file, its standing also with that of the files
that it rests on (:mod:`flow.adapters.inbox.checkout_stamps`); if a stamp has changed, they are
found out again. Trust is checked anew each time.
"""

from __future__ import annotations

import os

from flow.adapters.fs.combined_stamp import CombinedStamp
from flow.adapters.inbox.checkout_stamps import CheckoutStamps
from flow.adapters.inbox.stored_standings import decoded, encoded, is_summary
from flow.app.inbox import goal_facts
from flow.app.inbox.goal_facts import FactsPort
from flow.core import layout
from flow.core.goal.lifecycle import TERMINAL
from flow.core.goal.model import GoalSummary
from flow.core.stop.lost_goals import gone_goals
from flow.errors import ContractError, FlowError
from flow.startup.once import once
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.git.find import Repo
    from flow.adapters.inbox.checkout_stamps import StampedCheckout
    from flow.adapters.inbox.index import InboxIndex
    from flow.adapters.ledger.reader import FileRecords
    from flow.app.ports import BranchGoals
    from flow.core.standing.items import StandingGoal
    from flow.core.stop.lost_goals import Loss, OpenGoal


class InboxGoalsPort(FactsPort, Protocol):
    """The goals of a checkout; facts that do not change during one look are found out once."""

    repo: Repo

    @property
    def records(self) -> FileRecords:
        """The reading side of the ledger."""

    def branch_goals(self, *, with_trees: bool = False) -> BranchGoals:
        """The goals that the repository's branches have committed."""


class InboxCheckout:
    """A checkout as :class:`~flow.app.inbox.rows.CheckoutPort`."""

    def __init__(self, goals: InboxGoalsPort, checkout: StampedCheckout, index: InboxIndex) -> None:
        self.goals = goals
        self.repo = checkout.repo
        self.top: str = checkout.repo.top
        self.in_git = checkout.repo.git_dir is not None
        self.branch = goals.branch
        self.key = f"checkout {self.top}"
        self._index = index
        self._stamps = CheckoutStamps(checkout, goals.branch)
        self._before: dict[str, Any] = index.get(self.key)
        self._now: dict[str, Any] = {}
        self._unreadable: dict[str, str] = {}
        self._summaries = self._read_summaries()

    def summaries(self) -> Mapping[str, GoalSummary]:
        """The goals of the checkout by id."""
        return self._summaries

    def unreadable(self) -> Mapping[str, str]:
        """The fault of each goal that cannot be read, by id."""
        return self._unreadable

    def left_open(self, goal_id: str) -> bool:
        """Whether Flow left the goal open in this checkout."""
        return goal_id in self._left_open

    def gone(self) -> Sequence[Loss]:
        """The goals of its branch that Flow left open there, and whose files are gone."""
        return gone_goals(self._left_open.values(), self._now, self.branch())

    def standing(self, goal_id: str, *, here: bool) -> StandingGoal:
        """The standing of a goal of the checkout; ``here``: its branch is checked out."""
        row = self._now[goal_id]
        earlier = decoded(row.get("stands")) if row.get("here") == here else None
        present = self._still_standing(goal_id, row, earlier, here=here) if earlier else None
        if present is not None:
            return present
        loaded = self.goals.load(goal_id)
        # The files are stamped before they are read: a change during the reading is seen next time.
        run_id = loaded.goal.run_id if loaded.goal.status not in TERMINAL else None
        stamps = {files: self._stamps.of(run_id, with_files=files) for files in (False, True)}
        standing = (
            goal_facts.standing_here(self.goals, loaded)
            if here
            else goal_facts.standing_away(self.goals, loaded.goal)
        )._replace(contract=loaded.contract)
        stamp = stamps[standing.rests_on_files]
        row["stands"] = None
        # A goal that comes before it may be anywhere in the checkout, or in the state folder.
        if stamp.settled and not loaded.goal.after:
            row |= {"here": here, "stamp": stamp.text, "stands": encoded(standing)}
            row["run"] = run_id
        return standing

    def keep(self) -> None:
        """Give the present findings to the index."""
        if self._now != self._before:
            self._index.put(self.key, self._now)

    @once
    def _left_open(self) -> Mapping[str, OpenGoal]:
        return self.goals.remembered.left_open()

    def _read_summaries(self) -> dict[str, GoalSummary]:
        summaries: dict[str, GoalSummary] = {}
        for goal_id in self.goals.records.goal_ids():
            stamp = CombinedStamp()
            file = stamp.file(os.path.join(self.top, layout.goal_file(goal_id)))
            row = self._before.get(goal_id)
            if not isinstance(row, dict) or row.get("file") != file or not is_summary(row):
                row = self._new_row(goal_id)
                if stamp.settled and "unsure" not in row:
                    row["file"] = file
            row = self._now[goal_id] = dict(row)  # the earlier row stays unchanged
            if "fault" in row:
                self._unreadable[goal_id] = row["fault"]
            else:
                summaries[goal_id] = GoalSummary(goal_id, *row["short"])
        return summaries

    def _new_row(self, goal_id: str) -> dict[str, Any]:
        """Summary of a goal file now, or its fault."""
        goals, broken = self._read_now
        error = broken.get(goal_id)
        if isinstance(error, ContractError):
            return {"fault": error.faults[0].message}
        if error is not None:  # the disk may answer the next time
            return {"fault": error.faults[0].message, "unsure": True}
        goal = goals.get(goal_id)
        if goal is None:  # it was written meanwhile
            return {"fault": "it was written just now", "unsure": True}
        return {"short": list(goal[1:])}

    @once
    def _read_now(self) -> tuple[Mapping[str, GoalSummary], Mapping[str, FlowError]]:
        return self.goals.records.summaries()

    def _still_standing(
        self, goal_id: str, row: Mapping[str, Any], earlier: StandingGoal, *, here: bool
    ) -> StandingGoal | None:
        """The ``earlier`` standing, with today's trust; None if it does not hold any more."""
        stamp = self._stamps.text_of(row.get("run"), with_files=earlier.rests_on_files)
        if row.get("stamp") != stamp:
            return None
        facts = earlier.facts
        if not here or facts.status in TERMINAL or facts.pause or facts.status == "draft":
            return earlier
        why_not = self.goals.doubt(goal_id, earlier.contract)
        if bool(why_not) != bool(facts.doubt):
            return None
        return earlier._replace(facts=facts._replace(doubt=why_not))
