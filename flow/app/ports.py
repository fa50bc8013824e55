"""Interfaces of the sequences to the outside.

Two of them carry Flow's promise. :class:`TurnLedger` is all that an evaluation gets: the only
status it can pass on is a ``NonTerminal``. :class:`ClosingLedger`, which the terminal transitions
of SPEC 2 get, can also close a goal.
"""

from __future__ import annotations

from flow.core import layout
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from flow.app.checks import Check, CheckEvents, RawOutput
    from flow.core.boundary.changes import Baseline, DecidingFiles, Snapshot
    from flow.core.decision.verdict import Result
    from flow.core.evidence.model import Evidence
    from flow.core.evidence.proof import LineCount, ProofFile
    from flow.core.goal.lifecycle import NonTerminal, Status, Terminal
    from flow.core.goal.loaded import ExpectedState, LoadedGoal, TrustEntry
    from flow.core.goal.model import Goal
    from flow.core.settings import LoadedSettings
    from flow.core.stop.turns import RecordedTurn
    from flow.core.tool_calls.speaker import Speaker
    from flow.errors import FlowError


class Artifact(NamedTuple):
    """One entry for a decision journal. ``fields`` are the type's own, in order."""

    type: str
    fields: Mapping[str, Any]


def goal_evaluation(
    goal: Goal,
    run_id: str,
    *,
    to: str,
    reason: str,
    result: str | None = None,
    failures: Sequence[str] | None = None,
) -> Artifact:
    """The journal's ``goal-evaluation`` artifact of a turn or a change of status.

    ``result`` None is that of the last evaluation; ``failures`` are the required criteria that do
    not pass, None: as the goal's file says.
    """
    result = result or (goal.last_evaluation or {}).get("result") or "incomplete"
    if failures is None:
        failures = [c.id for c in goal.criteria if c.must_pass and c.status != "pass"]
    return Artifact(
        "goal-evaluation",
        {
            "goal_id": goal.id,
            "result": result,
            "from": goal.status,
            "to": to,
            "reason": reason,
            "evidence_bundle": layout.run_dir(run_id),
            "failures": list(failures) or "none",
        },
    )


class CriterionUpdate(NamedTuple):
    """A criterion's result fields after an evaluation. None leaves a field as it is."""

    id: str
    status: str
    evidence_ref: str | None = None
    last_evaluated_at: str | None = None
    last_result: str | None = None


class LastEvaluation(NamedTuple):
    """``lifecycle.last_evaluation``."""

    result: Result
    reason: str
    at: str


class Turn(NamedTuple):
    """Everything one evaluation writes to its goal. It has no way to name a terminal status."""

    status: NonTerminal
    turns_evaluated: int
    last_evaluation: LastEvaluation
    criteria: tuple[CriterionUpdate, ...]
    artifact: Artifact
    event: Mapping[str, Any]
    proposal: Mapping[str, Any] | None
    """The proposal to keep live from now on; None withdraws one that was live."""
    scope: Mapping[str, Any] = {}
    """Keys of ``scope`` to write (``run_id``)."""


class Move(NamedTuple):
    """A change of status outside an evaluation: resume, pause, activate."""

    to: NonTerminal
    reason: str
    artifact: Artifact
    event: Mapping[str, Any]
    scope: Mapping[str, Any] = {}
    """Keys of ``scope`` to write (``run_id``, ``base_commit``)."""


def status_move(
    goal: Goal,
    run_id: str,
    to: NonTerminal,
    reason: str,
    mover: Mapping[str, str],
    scope: Mapping[str, Any] | None = None,
) -> Move:
    """The move with its journal entry and event.

    ``mover`` says ``by`` whom, or ``how``; empty where an evaluation moves the goal.
    """
    artifact = goal_evaluation(goal, run_id, to=to, reason=reason)
    return Move(
        to=to,
        reason=reason,
        artifact=artifact._replace(fields={**artifact.fields, **mover}),
        event={"type": "transition", "from": goal.status, "to": to, "reason": reason, **mover},
        scope=scope or {},
    )


class Closing(NamedTuple):
    """A terminal transition (SPEC 2)."""

    to: Terminal
    reason: str
    artifact: Artifact
    event: Mapping[str, Any]
    proposal_id: str | None = None
    """The proposal this uses up; it must be the live one."""
    last_evaluation: LastEvaluation | None = None
    """The goal file's new ``last_evaluation``; None leaves it as it is."""
    criteria: tuple[CriterionUpdate, ...] = ()
    """The evidence that the closing rests on, where the goal still names older one."""
    turns_evaluated: int | None = None
    """The turn that it rests on; None leaves the number as it is."""


class Approval(NamedTuple):
    """The changes that a person's approval makes in the goal.

    ``criterion`` is None for approved guards and protected files.
    """

    criterion: CriterionUpdate | None
    artifact: Artifact
    event: Mapping[str, Any]


class Amendment(NamedTuple):
    """Another contract for a goal (SPEC 10)."""

    text: str
    """The goal file's new text; status, run, base and results are the present file's to keep."""
    contract: str
    """The digest of the new contract, as it was when the amendment was decided."""
    anew: tuple[str, ...]
    """The criteria whose results are of another wording, and go."""
    artifact: Artifact
    event: Mapping[str, Any]
    baseline: Baseline | None = None
    """To be written with it, where newly protected files were digested."""


class UnreadableOnBranch(NamedTuple):
    """A goal file that a branch has committed, and why it cannot be read."""

    branch: str
    goal_id: str
    error: FlowError


class TreeGoals(NamedTuple):
    """The goals of a repository's other working trees, as their files are now."""

    goals: tuple[tuple[str, str | None, Goal], ...] = ()
    """Top level, the branch that is checked out there, goal."""
    unreadable: tuple[tuple[str, FlowError], ...] = ()


class BranchGoals(NamedTuple):
    """The goals of all branches, as committed, by branch; and those that cannot be read."""

    branches: int
    goals: tuple[tuple[str, Goal], ...]
    unreadable: tuple[UnreadableOnBranch, ...]
    """On each branch that has it."""
    trees: TreeGoals = TreeGoals()
    """The goals of other working trees; empty unless the caller asked for them."""


class TurnLedger(Protocol):
    """The writing side that an evaluation gets."""

    def record_evidence(
        self, document: Mapping[str, Any], raw: RawOutput | None = None, *, suffix: bool = False
    ) -> tuple[str, str]:
        """Publish a sidecar (and its output first). Returns (evidence id, sidecar path).

        With ``suffix`` a taken id gets ``-2``, ``-3`` ...; without, it is refused.
        """

    def write_turn(self, goal_id: str, run_id: str, seen: ExpectedState, turn: Turn) -> Status:
        """Write one evaluation, all or nothing; returns the status now on disk."""

    def move(self, goal_id: str, run_id: str, seen: ExpectedState, move: Move) -> None:
        """Write a non-terminal status."""

    def repropose(
        self, goal_id: str, run_id: str, seen: ExpectedState, proposal: Mapping[str, Any]
    ) -> None:
        """Replace the live proposal by one for the files as they are now; the goal stays as it is.

        For a result the goal shows already (SPEC 3, step 7, the hook).
        """

    def discount(self, goal_id: str, run_id: str, evidence_id: str, moved: Sequence[str]) -> None:
        """Put on record that ``moved`` changed while this was measured, so that it never counts."""

    def check_room(self, goal: Goal, folder: str | None) -> None:
        """Raise where a result could not be recorded now: no disk, no journal.

        ``folder`` is that of journals; with None they are not looked at.
        """

    def finish(self, goal_id: str) -> bool:
        """Complete what an earlier process began and did not finish; True if there was any."""


class ClosingLedger(TurnLedger, Protocol):
    """The whole writing side; only callers that have a person's word get it."""

    def close(self, goal_id: str, run_id: str, seen: ExpectedState, closing: Closing) -> None:
        """Write a terminal status."""

    def approve(self, goal_id: str, run_id: str, seen: ExpectedState, approval: Approval) -> None:
        """Write what a person's approval changes in the goal, its journal and its events."""

    def amend(self, goal_id: str, run_id: str, seen: ExpectedState, amendment: Amendment) -> None:
        """Put another contract in the place of the goal's; the live proposal is withdrawn."""


class SettingsPort(Protocol):
    """The settings of a checkout."""

    @property
    def settings(self) -> LoadedSettings:
        """The settings in force."""


class SpeakerPort(Protocol):
    """The origin of the commands of this process."""

    @property
    def speaker(self) -> Speaker | None:
        """From where the commands of this process come; None at the stop of an agent."""


class ClockPort(Protocol):
    """A clock."""

    def now(self) -> str:
        """The time."""


class GoalPort(Protocol):
    """The goals of a checkout."""

    def load(self, goal_id: str) -> LoadedGoal:
        """A goal; :class:`InputError` if there is none."""


class Records(Protocol):
    """The reading side of a checkout's ledger."""

    def goal(self, goal_id: str) -> LoadedGoal:
        """A goal; :class:`InputError` if there is none."""

    def evidence(self, run_id: str) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
        """The run's sidecars in order of creation, and what could not be read, as warnings."""

    def evidence_named(self, run_id: str, evidence_id: str) -> Evidence | None:
        """One sidecar; None if it is absent or unusable. Raises :class:`StorageError`."""

    def counted(self, evidence_ref: str, *mentioning: str) -> Evidence | None:
        """The sidecar at this path if Flow itself wrote it and it is unaltered, else None.

        Also None if its text contains none of ``mentioning``. Freshness is for the caller to check.
        """

    def together(self, run_id: str) -> AbstractContextManager[None]:
        """Within it this run's sidecars are asked about one moment, while no command runs."""

    def measured(self, run_id: str, criterion_id: str) -> Iterator[str]:
        """The paths of what evaluations recorded of a criterion's command, the newest first."""

    def doubt(self, evidence_ref: str) -> Literal["missing", "unvouched"] | None:
        """The reason that the sidecar at this path is not known to be as Flow recorded it.

        ``missing``: it is gone, or another one was recorded. ``unvouched``: none was recorded.
        """

    def discounted(self, run_id: str) -> frozenset[str]:
        """The paths of the run's sidecars that :meth:`TurnLedger.discount` took out."""

    def counted_last(self, run_id: str, event_type: str) -> Evidence | None:
        """The counted sidecar that the newest event of this type names."""

    def ledger_head(self, run_id: str) -> str | None:
        """The head of the run's hash chain, ``<n>:<hash>``; None if it has no entry."""

    def new_run_id(self, goal_id: str, now: str) -> str:
        """A run id that is not known here yet. ``now`` is ``YYYY-MM-DDTHH:MM:SSZ``."""

    def is_damaged(self, run_id: str) -> bool:
        """Whether something of the run that was looked up so far is gone or was altered."""

    def newest_turn(self, run_id: str, goal_id: str) -> RecordedTurn | None:
        """The goal's newest turn on record; None if the run has none of it."""

    def amended(self, run_id: str, turns_evaluated: int) -> frozenset[str]:
        """The criteria that were amended since the evaluation with this number."""

    def previous_verdict(self, run_id: str, goal: Goal | None = None) -> Mapping[str, Any] | None:
        """``last-verdict.json``; None if it is missing or unreadable.

        With ``goal``, one that is not of this goal's last turn is None too.
        """

    def proposal(self, run_id: str) -> Mapping[str, Any] | None:
        """The live proposal; None if there is none."""

    def baseline(self, run_id: str) -> Baseline | None:
        """The baseline recorded at activation; None if it is missing or unreadable."""


class ProofDisk(Protocol):
    """The files that a goal's commands rest on, on disk."""

    def digests(self, patterns: Sequence[str]) -> Mapping[str, str]:
        """path → ``mode:hash`` of the files that patterns name literally, hashed anew."""

    def lines(self, files: Sequence[ProofFile]) -> Mapping[str, LineCount]:
        """By path, the lines of files added to and removed from their earlier content, if known."""


class GoalNotes(Protocol):
    """One kind of notes about goals in the user's state folder."""

    def read(self, goal_id: str) -> Mapping[str, Any] | None:
        """The note about a goal; None if there is none."""

    def write(self, goal_id: str, note: Mapping[str, Any]) -> None:
        """Replace the note."""

    def remove(self, goal_id: str) -> None:
        """Forget the note."""


class TrustRecord(Protocol):
    """The contracts that this user trusted, even where that was revoked since."""

    def history(self, goal_id: str) -> Sequence[TrustEntry]:
        """Every line that records trust in the goal, newest first."""

    def recorded(self, goal_id: str) -> TrustEntry | None:
        """The newest of them; None if there is none."""

    def recorded_contract(self, goal_id: str) -> Mapping[str, Any] | None:
        """The contract that was trusted last."""


class TrustingPort(Protocol):
    """The user's trust in the contracts of a checkout."""

    def trusted(self, loaded: LoadedGoal) -> tuple[bool, str]:
        """Whether the goal's commands may run here, and why or why not."""


class TrustLedgerPort(Protocol):
    """The record of that trust."""

    @property
    def trust_ledger(self) -> TrustRecord:
        """The contracts that this user trusted; :class:`FlowError` if it cannot be used."""


class RunChecks(Protocol):
    """Runs commands."""

    def __call__(self, checks: Sequence[Check], *, jobs: int, events: CheckEvents) -> None:
        """Run up to ``jobs`` commands at once, those marked ``serial`` alone.

        An exception from one of ``events`` ends what runs, and goes through.
        """


class Watch(Protocol):
    """Notices changes to HEAD, the goal and Flow's files that no ledger entry accounts for."""

    def settle(self) -> tuple[str, ...]:
        """Take the present state as accounted for, after a write of evidence of one's own.

        Returns what else changed since the last look, as :meth:`changed` does.
        """

    def changed(self) -> tuple[str, ...]:
        """Files of Flow changed by others since the last ``settle``, as names for people."""

    def changed_elsewhere(self, *, last: bool = False) -> Mapping[str, int]:
        """Changed files among those that are too many, or too large, to read each time.

        To be called after each command, and with ``last`` after the last one. Each name maps to the
        number of commands, counted from the last, that may have changed it.
        """


class TakeSnapshot(Protocol):
    """Compares the checkout with a pinned base."""

    def __call__(
        self, baseline: Baseline, denied: Sequence[str], deciding: DecidingFiles | None
    ) -> Snapshot:
        """The change set now; ``denied`` patterns are looked for in ignored folders too.

        Changed and protected files and those of ``deciding`` are hashed anew. With None time stamps
        are believed, which is enough to show something and never to decide.
        """


Trigger = Literal["manual", "command", "stop-hook"]
