"""The parts of :class:`~flow.app.stop.tools.StopTools` over a real checkout."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

from flow.core import layout
from flow.core.text.display import clip
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.ledger.reader import FileRecords
    from flow.adapters.ledger.writer import FileLedger
    from flow.adapters.user_state.checkouts import CheckoutNotes
    from flow.app.evaluation.values import Evaluated
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.model import Criterion, Goal
    from flow.core.stop.lost_goals import SessionNotes
    from flow.core.stop.policy import LoopCounters

OUTPUT_END = 8192
"""Bytes of the end of an output that a continuation is made from."""
MESSAGE_KEPT = 500
"""Characters of an agent's last message that a ``stop`` event keeps."""
SOURCE = "evaluator-loop"
LOOK_BACK = 100
"""The newest sidecars of a criterion among which one that passed or failed is looked for."""


class StopCheckout(Protocol):
    """What the parts of a stop need of a checkout."""

    top: str
    environ: Mapping[str, str]

    @property
    def records(self) -> FileRecords:
        """The reading side of the ledger."""

    @property
    def ledger(self) -> FileLedger:
        """The writing side of the ledger."""

    @property
    def run_record(self) -> RunRecord:
        """What the user's state folder vouches for."""

    @property
    def checkout_notes(self) -> CheckoutNotes:
        """What is remembered of this checkout."""

    def owner(self, goal_id: str) -> str | None:
        """The session a goal belongs to, if any."""

    def own(self, goal_id: str, session: str) -> None:
        """Remember that a session works on a goal."""

    def left(self, goal: Goal, run_id: str, status: str, contract: str) -> None:
        """Remember how a goal was left, so that it is missed."""

    def go_on(self, goal_id: str, reason: str) -> Goal:
        """Make a goal that has waited active again."""

    def wait_for_person(self, goal_id: str, reason: str) -> None:
        """Let an active goal wait for the user."""

    def give_up(self, evaluated: Evaluated, reason: str) -> None:
        """Close a goal whose loop is stuck as ``failed``."""

    def _put_verdict(
        self, document: Mapping[str, Any], run_id: str, source: str | None
    ) -> tuple[str, tuple[str, ...], str]: ...


class StopSessions:
    """Whose a goal is, and what the hook did in a session (:class:`~flow.app.stop.tools.Sessions`).

    What cannot be written is not remembered: a stop is answered all the same.
    """

    def __init__(self, checkout: StopCheckout) -> None:
        self._checkout = checkout

    def owner(self, goal_id: str) -> str | None:
        """The session a goal belongs to; None where it belongs to none, or that one is idle."""
        return self._checkout.owner(goal_id)

    def own(self, goal_id: str, session: str) -> None:
        """Remember that a session works on a goal."""
        self._checkout.own(goal_id, session)

    def has_stopped(self, session: str) -> bool:
        """Whether the session has ever stopped in this checkout."""
        try:
            return self._checkout.checkout_notes.session(session) is not None
        except FlowError:
            return True

    def keep(self, session: str, notes: SessionNotes) -> None:
        """Remember what the hook did in a session."""
        with suppress(FlowError):
            self._checkout.checkout_notes.keep_session(session, notes)

    def closings_told(self, goal_ids: Sequence[str]) -> None:
        """Remember that these goals' closings were told in this checkout."""
        with suppress(FlowError):
            self._checkout.checkout_notes.closings_told(goal_ids)


class StopRecord:
    """The counters and events of a goal's run (:class:`~flow.app.stop.tools.LoopRecord`)."""

    def __init__(self, checkout: StopCheckout) -> None:
        self._checkout = checkout
        self._top = checkout.top

    def persist(self, verdict: Verdict) -> tuple[str, ...]:
        """Keep the verdict; returns warnings."""
        document = verdict.to_document()
        return self._checkout._put_verdict(document, verdict.run_id, SOURCE)[1]

    def loop(self, goal_id: str, run_id: str) -> LoopCounters:
        """The counters; fresh ones where there are none."""
        from flow.adapters.ledger import loop_counters
        from flow.core.stop.policy import LoopCounters

        return loop_counters.read(self._top, run_id, goal_id) if run_id else LoopCounters(goal_id)

    def keep_loop(self, run_id: str, loop: LoopCounters) -> None:
        """Replace the counters."""
        from flow.adapters.fs import clock
        from flow.adapters.ledger import loop_counters

        loop_counters.write(self._checkout.run_record.run(run_id), loop, now=clock.now())

    def note(self, run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        """Append an event to a run."""
        from flow.adapters.chain import event_log
        from flow.adapters.fs import clock

        fields = dict(event)
        kind = fields.pop("type")
        event_log.append(self._top, run_id, goal_id, kind, fields, at=clock.now(), sync=False)
        self._checkout.run_record.commit(run_id)  # a stop writes nothing after this

    def redacted(self, message: str) -> str:
        """The agent's message as it may be kept: without secrets, and cut."""
        from flow.adapters.process.redaction import redacted_text

        return clip(redacted_text(message, self._checkout.environ), MESSAGE_KEPT)

    def output_end(self, evidence_ref: str) -> str:
        """The end of the output behind a sidecar's path."""
        from flow.adapters.fs import files

        stem = evidence_ref.removesuffix(layout.EVIDENCE_SUFFIX)
        try:
            data = files.read_end(self._top, f"{stem}.txt", limit=OUTPUT_END)
        except FlowError:
            return ""
        return data.decode("utf-8", "replace")

    def shown_before(self, run_id: str, criterion: Criterion) -> float | None:
        """How many seconds its command took when it last passed or failed; None: it never did."""
        records = self._checkout.records
        for path in islice(records.measured(run_id, criterion.id), LOOK_BACK):
            evidence = records.counted(path)
            if evidence is None or evidence.outcome not in ("passed", "failed"):
                continue
            body = evidence.document["evidence"]
            if body.get("criterion_digest") == criterion.digest:
                return float(body.get("duration_seconds") or 0)
        return None


class StopMoves:
    """What a stop may change of a goal (:class:`~flow.app.stop.tools.GoalMoves`)."""

    def __init__(self, checkout: StopCheckout) -> None:
        self._checkout = checkout

    def resume(self, goal_id: str, reason: str) -> None:
        """A waiting goal becomes active again."""
        self._checkout.go_on(goal_id, reason)

    def wait_for_person(self, goal_id: str, reason: str) -> None:
        """A goal waits for the user, and nothing is proposed."""
        self._checkout.wait_for_person(goal_id, reason)

    def fail(self, evaluated: Evaluated, reason: str) -> None:
        """Close a goal as ``failed``."""
        self._checkout.give_up(evaluated, reason)

    def propose(self, evaluated: Evaluated, reason: str, waits: bool) -> Verdict:
        """Propose ``failed``; with ``waits`` the goal waits for the user meanwhile."""
        from flow.adapters.fs import clock
        from flow.app.transitions import closing as transitions_closing

        ledger, records = self._checkout.ledger, self._checkout.records
        return transitions_closing.propose_failed(
            ledger, records, evaluated, reason, waits=waits, now=clock.now()
        )

    def missed(self, goal: Goal, run_id: str, status: str, contract: str) -> None:
        """Remember a goal that was judged: from now on it is missed."""
        self._checkout.left(goal, run_id, status, contract)
