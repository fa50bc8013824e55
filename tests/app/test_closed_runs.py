"""Which runs of closed goals may be cleared, and which archived."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from flow.app import closed_runs
from flow.app.closed_runs import RunFiles, runs_to_clear
from flow.core import layout
from flow.errors import ContractError, Fault, FlowError, StateError, StorageError
from tests.app.fakes import World, goal_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal

OLDEST = "2026-01-31"


def run(run_id: str, newest: str, goals: list[str], outputs: int = 1) -> RunFiles:
    return RunFiles(run_id, newest, frozenset(goals), outputs, 10)


def test_which_runs_may_go() -> None:
    found = [
        run("a", "2026-01-01", ["done"]),
        run("b", "2026-01-02", ["done"]),
        run("c", "2026-01-03", ["done"]),
        run("d", "2026-02-03", ["done"]),
        run("live", "2026-01-01", ["open"]),
        run("mixed", "2026-01-01", ["done", "open"]),
        run("pinned", "2026-01-01", ["done"]),
        run("elsewhere", "2026-01-01", ["other-branch"]),
        run("empty", "2026-01-01", ["done"], 0),
        run("none", "", []),
    ]

    def chosen(keep: int) -> list[str]:
        rows = runs_to_clear(found, {"done": "achieved"}, frozenset(["pinned"]), "2026-01-31", keep)
        return [row.run_id for row in rows]

    assert chosen(0) == ["c", "b", "a"]
    assert chosen(1) == ["c", "b", "a"]  # the newest one is too young anyway
    assert chosen(3) == ["a"]
    assert chosen(9) == []


class Kept(NamedTuple):
    """What of a checkout keeps its run from being archived."""

    status: str = "achieved"
    tracked: bool = False
    files: int = 3
    bytes: int = 10
    proposed: bool = False
    pending: bool = False
    on_record: bool = True
    read_error: FlowError | None = None
    broken: bool = False


class Runs:
    """A checkout with one run of one goal; ``log`` is what was done, in order."""

    def __init__(self, kept: Kept | None = None) -> None:
        self.kept = kept or Kept()
        self.world = World(goal_document(status="achieved"))
        self.log: list[str] = []
        self.unreadable: FlowError | None = None
        self.moves_on: Kept | None = None
        """What is there once the goals are locked."""

    @property
    def read_error(self) -> FlowError | None:
        return self.kept.read_error

    def every_goal(self) -> list[Goal]:
        return [self.world.goal("issue-4").goal]

    def load(self, goal_id: str) -> LoadedGoal:
        return World(goal_document(status=self.kept.status)).goal(goal_id)

    def run_ids(self) -> list[str]:
        return ["run-1"]

    def outputs_of(self, run_id: str) -> RunFiles:
        if self.unreadable is not None:
            raise self.unreadable
        kept = self.kept
        return RunFiles(run_id, "2026-01-01", frozenset(["issue-4"]), kept.files, kept.bytes)

    files_to_archive = outputs_of

    def tracked_runs(self) -> frozenset[str]:
        return frozenset(["run-1"] if self.kept.tracked else [])

    def proposed_goal(self, run_id: str) -> str | None:
        return "issue-4" if self.kept.proposed else None

    def is_pending(self, goal_id: str) -> bool:
        return self.kept.pending

    def has_closing(self, run_id: str, loaded: LoadedGoal) -> bool:
        return self.kept.on_record

    @contextmanager
    def locked(self, goal_ids: Iterable[str]) -> Iterator[None]:
        self.log.append(f"lock {' '.join(goal_ids)}")
        self.kept = self.moves_on or self.kept
        yield
        self.log.append("unlock")

    def refuse_broken(self, run_id: str) -> None:
        if self.kept.broken:
            raise StateError("broken")

    def drop(self, run_id: str) -> tuple[int, int]:
        self.log.append(f"drop {run_id}")
        return 2, 7

    def archive(self, run_id: str) -> tuple[int, int]:
        self.log.append(f"archive {run_id}")
        return 2, 7


KEPT = [
    (Kept(tracked=True), "git tracks files of it"),
    (Kept(files=closed_runs.MEMBERS_LIMIT + 1), "more than 400,000 files"),
    (Kept(bytes=layout.ARCHIVE_LIMIT + 1), "more than 16 GiB"),
    (Kept(proposed=True), "something is proposed in it"),
    (Kept(pending=True), "a change of goal issue-4 is not finished yet"),
    (Kept(status="active"), "goal issue-4 is active"),
    (Kept(on_record=False), "does not know how goal issue-4 was closed"),
]


@pytest.mark.parametrize(("kept", "why"), KEPT, ids=[why for _, why in KEPT])
def test_what_keeps_a_run_from_its_archive(kept: Kept, why: str) -> None:
    port: Any = Runs(kept)
    plan = closed_runs.plan_archives(port, OLDEST, 0)
    assert plan.runs == ()
    assert [w.startswith("run run-1 is left as it is: ") and why in w for w in plan.warnings] == [
        True
    ]


MOVES = [row for row in KEPT if row[0][2:4] == Kept()[2:4]]
"""What may be otherwise when a person has answered; the figures are the plan's own."""


@pytest.mark.parametrize(("kept", "why"), MOVES, ids=[why for _, why in MOVES])
def test_it_is_asked_again_once_the_goals_are_locked(kept: Kept, why: str) -> None:
    port: Any = Runs()
    plan = closed_runs.plan_archives(port, OLDEST, 0)
    assert [run.run_id for run in plan.runs] == ["run-1"]
    port.moves_on = kept
    done = closed_runs.archive(port, plan)
    assert (done.runs, port.log) == ((), ["lock issue-4", "unlock"])
    assert [why in warning for warning in done.warnings] == [True]


def test_what_the_disk_does_not_tell_is_no_closing_that_is_missing() -> None:
    port: Any = Runs(Kept(on_record=False, read_error=StorageError("no answer")))
    with pytest.raises(StorageError, match="no answer"):
        closed_runs.plan_archives(port, OLDEST, 0)


def test_a_broken_run_is_not_archived() -> None:
    port: Any = Runs(Kept(broken=True))
    with pytest.raises(StateError):
        closed_runs.archive(port, closed_runs.plan_archives(port, OLDEST, 0))
    assert port.log == ["lock issue-4"]


def test_what_went_is_told_and_not_what_was_planned() -> None:
    port: Any = Runs()
    removed = closed_runs.remove(port, closed_runs.plan_removals(port, OLDEST, 0))
    assert [(run.run_id, run.outputs, run.bytes) for run in removed.runs] == [("run-1", 2, 7)]
    archived = closed_runs.archive(port, closed_runs.plan_archives(port, OLDEST, 0))
    assert [(run.files, run.bytes) for run in archived.runs] == [(2, 7)]


def test_a_ledger_that_is_torn_is_told_and_one_that_cannot_be_read_ends_it() -> None:
    port: Any = Runs()
    port.unreadable = ContractError([Fault("it is torn")])
    plan = closed_runs.plan_removals(port, OLDEST, 0)
    assert (plan.runs, len(plan.warnings)) == ((), 1)
    port.unreadable = StorageError("no answer")
    with pytest.raises(StorageError):
        closed_runs.plan_removals(port, OLDEST, 0)
