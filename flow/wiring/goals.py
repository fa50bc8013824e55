"""The goals of a checkout, to be read and shown."""

from __future__ import annotations

from flow.adapters.fs import files
from flow.app import open_goals
from flow.core import layout
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.ledger.reader import FileRecords
    from flow.adapters.user_state.checkouts import CheckoutNotes
    from flow.app.evaluation.closing_context import ClosingContext
    from flow.app.open_goals import CheckoutGoals
    from flow.app.ports import BranchGoals
    from flow.app.transitions.remembered import RememberedGoals
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal, GoalSummary
    from flow.core.report import RecordChain
    from flow.errors import FlowError
    from flow.wiring.context import Context

PENDING_LIMIT = 1000
"""Goals whose last change is completed at most; a crash leaves one."""
OUTPUT_END = 4096
"""Bytes of the end of an output that a report shows."""


class Goals:
    """A checkout as ``ReportPort`` and ``SightPort`` see it."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.top = context.top
        self.repo = context.repo
        self.in_git = context.repo.git_dir is not None
        self.branch = context.branch
        self.load = context.load
        self.trusted = context.trusted
        self.base_runs = context.base_runs
        self.finish = context.finish

    @property
    def records(self) -> FileRecords:
        return self.context.records

    @property
    def remembered(self) -> RememberedGoals:
        return self.context.remembered

    @property
    def checkout_notes(self) -> CheckoutNotes:
        """The state folder's notes about this checkout; :class:`FlowError` if that is unusable."""
        return self.context.checkout_notes

    @property
    def troubles(self) -> Sequence[str]:
        return tuple(self.context.run_record.troubles)

    def closing_context(self) -> ClosingContext:
        return self.context.closing_context()

    def goals(self) -> tuple[list[Goal], list[FlowError]]:
        goals, broken = open_goals.read_all(self.records.goal_ids(), self.records.parsed_goal)
        return [*goals.values()], [*broken.values()]

    def summaries(self) -> tuple[list[GoalSummary], list[FlowError]]:
        """Every goal of the checkout in short, and what is wrong with those that cannot be read."""
        summaries, broken = self.records.summaries()
        return [*summaries.values()], [*broken.values()]

    def read_here(self) -> CheckoutGoals:
        """The goals of the checkout; those that are open on its branch whole."""
        return open_goals.read_here(self.records, self.branch())

    def active(
        self, branch: str | None = None, *, any_open: bool = False
    ) -> tuple[list[GoalSummary], list[FlowError]]:
        """The active goals of a branch (None: the one checked out), and those that cannot be read.

        A caller names the latter, and never takes them for absent. With ``any_open`` waiting and
        blocked ones too.
        """
        goals, broken = self.summaries()
        wanted = branch if branch is not None else self.branch()
        return open_goals.active_goals(goals, wanted, any_open=any_open), broken

    def run_of(self, goal_id: str) -> str:
        return open_goals.run_of(self.load(goal_id).goal)

    def events(
        self, run_id: str, goal_id: str, *, leave_out: str | None = None, turns: int | None = None
    ) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
        from flow.adapters.chain import event_log

        return event_log.read(self.top, run_id, goal_id, leave_out=leave_out, turns=turns)

    def branch_goals(self, *, with_trees: bool = False) -> BranchGoals:
        """See :func:`flow.adapters.ledger.branch_goals.branch_goals`."""
        from flow.adapters.ledger.branch_goals import branch_goals

        cache_dir = self.context.cache("parsed")
        return branch_goals(self.context.repo, cache_dir, with_trees=with_trees)

    def written_since(self, paths: Sequence[str], at: str) -> Sequence[str]:
        from flow.adapters.worktree.written import written_since

        return written_since(self.top, paths, at)

    def closing_on_record(self, loaded: LoadedGoal, run_id: str) -> bool:
        return self.context.run_record.has_closing(run_id, loaded.goal, loaded.contract)

    def was_closed(self, run_id: str, goal_id: str) -> bool:
        return self.context.run_record.was_closed(run_id, goal_id)

    def is_run_known(self, run_id: str) -> bool:
        return self.context.run_record.knows(run_id)

    def output_end(self, path: str) -> bytes:
        return files.read_end(self.top, path, limit=OUTPUT_END)

    def chain(self, run_id: str) -> RecordChain:
        return self.context.verification.record_chain(run_id)

    def card(self, path: str, skill: str) -> Mapping[str, Any]:
        from flow.adapters.rubrics import score_files

        return score_files.shown_card(self.top, self.context.settings, path, skill)

    def composites(self, skill: str) -> Sequence[tuple[str, float]]:
        from flow.adapters.rubrics import score_files

        return score_files.composites(self.top, self.context.settings, skill)

    def is_pending(self, goal_id: str) -> bool:
        return files.exists(self.top, layout.pending_file(goal_id))

    def pending(self) -> Sequence[str]:
        return files.names(self.top, layout.PENDING, suffix=".json", limit=PENDING_LIMIT)
