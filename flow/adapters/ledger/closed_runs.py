"""The runs of a checkout, to be cleared or archived."""

from __future__ import annotations

from flow.adapters.chain import check
from flow.adapters.fs import files, locks
from flow.adapters.git import repository
from flow.adapters.ledger import archiving, gc
from flow.app import open_goals
from flow.core import layout
from flow.startup.contexts import ExitStack, contextmanager
from flow.startup.functools import partial
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.chain.verification import RunVerification
    from flow.adapters.git.find import Repo
    from flow.adapters.ledger.reader import FileRecords
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal
    from flow.errors import FlowError

BY = "gc"
"""Author of dropped and archived entries in the chain."""


class ClosedRunsContext(Protocol):
    """The parts of a checkout's context that clearing runs needs."""

    repo: Repo

    @property
    def records(self) -> FileRecords:
        """The reading side of the ledger."""

    @property
    def run_record(self) -> RunRecord:
        """The runs as Flow left them."""

    @property
    def verification(self) -> RunVerification:
        """The runs, to be checked against their hash chains."""

    def now(self) -> str:
        """The time, as text."""


class ClosedRuns:
    """A checkout as :class:`~flow.app.closed_runs.ClosedRunsPort`."""

    def __init__(self, context: ClosedRunsContext) -> None:
        self._context = context
        self._top = context.repo.top
        self._records, self._run_record = context.records, context.run_record
        self.load = context.records.goal
        self.proposed_goal = context.records.proposal_for
        self.run_ids = partial(check.run_ids, self._top)
        self.outputs_of = partial(gc.outputs_of, self._top)
        self.files_to_archive = partial(archiving.files_to_archive, self._top)

    @property
    def read_error(self) -> FlowError | None:
        """The disk's error if it gave no answer about the state folder's record."""
        return self._run_record.read_error

    def every_goal(self) -> Sequence[Goal]:
        """The goals of all files; raises the error of one that cannot be read: it may be open."""
        records = self._records
        goals, broken = open_goals.read_all(records.goal_ids(), records.parsed_goal)
        for error in broken.values():
            raise error
        return [*goals.values()]

    def tracked_runs(self) -> frozenset[str]:
        """The runs of which git tracks files: removing one of these would be a change."""
        if self._context.repo.git_dir is None:
            return frozenset()
        paths = repository.listed_files(self._context.repo, "--", layout.RUNS)
        runs = (path.removeprefix(f"{layout.RUNS}/").partition("/")[0] for path in paths)
        return frozenset(filter(None, runs))

    def is_pending(self, goal_id: str) -> bool:
        """Whether a change of the goal was decided but not carried out."""
        return files.exists(self._top, layout.pending_file(goal_id))

    def has_closing(self, run_id: str, loaded: LoadedGoal) -> bool:
        """Whether the user's state folder knows how the goal got its final status."""
        return self._run_record.has_closing(run_id, loaded.goal, loaded.contract)

    @contextmanager
    def locked(self, goal_ids: Iterable[str]) -> Iterator[None]:
        """Hold the locks of the goals."""
        with ExitStack() as held:
            for goal_id in goal_ids:
                lock = layout.goal_lock(goal_id)
                held.enter_context(locks.exclusive(self._top, lock, quick=True))
            yield

    def refuse_broken(self, run_id: str) -> None:
        """Raise :class:`StateError` (``broken_chain``) for a run that differs from its record."""
        for finding in self._context.verification.broken(run_id)[:1]:
            unreadable = finding.kind == "unreadable"
            raise gc.not_as_recorded(
                run_id, "archived", finding.file, finding.message, unreadable=unreadable
            )

    def drop(self, run_id: str) -> tuple[int, int]:
        """Drop every output of a run; returns their number and bytes."""
        dropped = gc.drop(self._run_record.run(run_id), by=BY, now=self._context.now())
        self._run_record.commit(run_id)
        return dropped

    def archive(self, run_id: str) -> tuple[int, int]:
        """Archive a run's evidence; returns the number of files added, and their bytes."""
        packed = archiving.archive(self._run_record.run(run_id), by=BY, now=self._context.now())
        self._run_record.commit(run_id)
        return packed
