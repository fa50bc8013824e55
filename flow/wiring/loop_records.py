"""The records of an agent's loop with the real parts: counters, events, claims."""

from __future__ import annotations

from flow.adapters.chain import event_log
from flow.adapters.fs import clock, files
from flow.adapters.ledger import loop_counters, verdicts
from flow.app.stop.turn import seconds_of_last_result
from flow.core import layout
from flow.core.stop.policy import LoopCounters
from flow.core.text.display import clip
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.user_state.checkouts import CheckoutNotes
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.model import Criterion
    from flow.wiring.context import Context

OUTPUT_END = 8192
"""Bytes of the end of an output that a continuation is made from."""
MESSAGE_KEPT = 500
"""Characters of an agent's last message that a ``stop`` event keeps."""
SOURCE = "evaluator-loop"


class StopRecord:
    """A checkout as :class:`~flow.app.stop.tools.LoopRecord` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._top = context.top

    def persist(self, verdict: Verdict) -> tuple[str, ...]:
        run = self._context.run_record.run(verdict.run_id)
        document = {**verdict.to_document(), "source": SOURCE}
        return verdicts.write_verdict(run, document, now=clock.now())[1]

    def loop(self, goal_id: str, run_id: str) -> LoopCounters:
        return loop_counters.read(self._top, run_id, goal_id) if run_id else LoopCounters(goal_id)

    def keep_loop(self, run_id: str, loop: LoopCounters) -> None:
        loop_counters.write(self._context.run_record.run(run_id), loop, now=clock.now())

    def note(self, run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        fields = dict(event)
        kind = fields.pop("type")
        event_log.append(self._top, run_id, goal_id, kind, fields, at=clock.now(), sync=False)
        self._context.run_record.commit(run_id)  # a stop writes nothing after this

    def redacted(self, message: str) -> str:
        from flow.adapters.process.redaction import redacted_text  # a stop may have no message

        return clip(redacted_text(message, self._context.environ), MESSAGE_KEPT)

    def output_end(self, evidence_ref: str) -> str:
        stem = evidence_ref.removesuffix(layout.EVIDENCE_SUFFIX)
        try:
            data = files.read_end(self._top, f"{stem}.txt", limit=OUTPUT_END)
        except FlowError:
            return ""
        return data.decode("utf-8", "replace")

    def shown_before(self, run_id: str, criterion: Criterion) -> float | None:
        """How many seconds its command took when it last passed or failed; None: it never did."""
        return seconds_of_last_result(self._context.records, run_id, criterion)

    def judge_cost(self, run_id: str) -> float:
        return self._context.judge_cost(run_id)


class Claims:
    """A checkout as :class:`~flow.app.stop.claims.ClaimPort` sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.top = context.top
        self.load = context.load
        self.notes = context.notes
        self.time = context.time

    @property
    def checkout_notes(self) -> CheckoutNotes:
        """The goals and sessions that the state folder remembers."""
        return self._context.checkout_notes

    goal_memory = checkout_notes

    def note(self, run_id: str | None, goal_id: str, event: Mapping[str, Any]) -> None:
        context = self._context
        if run_id is not None and event_log.last_seq(context.top, run_id):
            spoken = context.speaker.fields() if context.speaker is not None else {}
            StopRecord(context).note(run_id, goal_id, {**event, **spoken})
