"""The interfaces of a terminal transition to its checkout."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.app.evaluation.values import RecordedBaseline
    from flow.app.ports import ClosingLedger, ProofDisk, Records, TakeSnapshot
    from flow.core.boundary.changes import Baseline
    from flow.core.chain.walk import ChainFinding
    from flow.core.decision.after import EarlierGoal
    from flow.core.goal.loaded import LoadedGoal
    from flow.core.goal.model import Goal
    from flow.core.tool_calls.speaker import Speaker


class ClosingContext(NamedTuple):
    """Access of a terminal transition to the records, the ledger and the working tree.

    A tuple, since views of it are taken: under a person's name, or with one look at the files.
    """

    records: Records
    open_ledger: Callable[[], ClosingLedger]
    """Opens the writing side; a command that only shows a goal never calls it."""
    baseline: Callable[[Goal, str], RecordedBaseline]
    snapshot: TakeSnapshot
    write_baseline: Callable[[str, str, Baseline], None]
    denied_paths: tuple[str, ...]
    account: Callable[[], str]
    """Finds the name that :attr:`who` gives."""
    version: str
    """Flow's own."""
    now: Callable[[], str]
    speaker: Speaker | None = None
    """Origin of the command; None at the stop of an agent."""
    proof: ProofDisk | None = None
    """Reads the files that the goal's commands rest on; None if they are not compared."""
    earlier: Callable[[str], EarlierGoal | None] = lambda _id: None
    """A goal that has to be achieved first, as it stands; None if it is not here."""
    trusted: Callable[[LoadedGoal], tuple[bool, str]] = lambda _loaded: (True, "")
    """Whether the contract may run here, and why or why not."""
    broken: Callable[[str], Sequence[ChainFinding]] = lambda _run: ()
    """Findings that break the record of a run."""
    elsewhere: Callable[[str], bool] = lambda _run: False
    """Whether a run was recorded in another checkout, and not in this one."""
    troubles: Callable[[], Sequence[str]] = lambda: ()
    """Why something recorded before does not count."""
    await_evaluation: Callable[[str], None] = lambda _id: None
    """Waits until no evaluation of a goal runs: its own commands are not a person's word."""

    def denied(self, goal: Goal) -> tuple[str, ...]:
        """Denied patterns of goal and settings together."""
        return (*goal.denied_paths, *self.denied_paths)

    @property
    def ledger(self) -> ClosingLedger:
        """The writing side."""
        return self.open_ledger()

    @property
    def who(self) -> str:
        """The user's name, for the journal (a claim, no proof)."""
        return self.account()

    def finished(self, goal_id: str) -> LoadedGoal:
        """A goal, after what a killed command had decided about it is carried out."""
        self.ledger.finish(goal_id)
        return self.records.goal(goal_id)


class ClosingPort(Protocol):
    """The deciding of terminal transitions in a checkout."""

    def closing_context(self) -> ClosingContext:
        """The context in which a terminal transition of the goal would be decided."""
