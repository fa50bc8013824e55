"""The records of an agent's loop in a checkout: counters, verdict, events."""

from __future__ import annotations

from flow.adapters.chain import event_log
from flow.adapters.fs import clock, files
from flow.adapters.ledger import loop_counters, verdicts
from flow.adapters.process.secret_values import has_no_secret
from flow.app.stop.turn import seconds_of_last_result
from flow.core import layout
from flow.core.stop.policy import LoopCounters
from flow.core.text.display import clip
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.adapters.chain.run_record import RunRecord
    from flow.app.ports import Records
    from flow.core.decision.verdict import Verdict
    from flow.core.goal.model import Criterion
    from flow.core.tool_calls.speaker import Speaker

OUTPUT_END = 8192
"""Bytes of the end of an output that a continuation quotes."""
MESSAGE_KEPT = 500
"""Most characters of an agent's last message in a ``stop`` event."""
SOURCE = "evaluator-loop"


class LoopContext(Protocol):
    """The parts of a checkout's context that the loop's records need."""

    top: str
    environ: Mapping[str, str]

    @property
    def run_record(self) -> RunRecord:
        """The runs as Flow left them."""

    @property
    def records(self) -> Records:
        """The reading side of the ledger."""

    @property
    def speaker(self) -> Speaker | None:
        """Origin of this process's commands; None at the stop of an agent."""


class StopRecord:
    """A checkout as :class:`~flow.app.stop.tools.LoopRecord` sees it."""

    def __init__(self, context: LoopContext) -> None:
        self._context = context
        self._top = context.top

    def persist(self, verdict: Verdict, *, sync: bool) -> tuple[str, ...]:
        """Keep the verdict; returns warnings. Without ``sync`` the disk may get it later."""
        run = self._context.run_record.run(verdict.run_id)
        document = {**verdict.to_document(), "source": SOURCE}
        return verdicts.write_verdict(run, document, now=clock.now(), sync=sync)[1]

    def loop(self, goal_id: str, run_id: str) -> LoopCounters:
        """The counters; fresh ones if there are none."""
        return loop_counters.read(self._top, run_id, goal_id) if run_id else LoopCounters(goal_id)

    def keep_loop(self, run_id: str, loop: LoopCounters) -> None:
        """Replace the counters."""
        loop_counters.write(self._context.run_record.run(run_id), loop, now=clock.now())

    def note(self, run_id: str, goal_id: str, event: Mapping[str, Any]) -> None:
        """Append an event to a run."""
        append_event(self._context, run_id, goal_id, event)

    def redacted(self, message: str) -> str:
        """The agent's message for storage: without secrets, and cut."""
        if not has_no_secret(message, self._context.environ):
            from flow.adapters.process.redaction import redacted_text  # it loads `re`

            message = redacted_text(message, self._context.environ)
        return clip(message, MESSAGE_KEPT)

    def output_end(self, evidence_ref: str) -> str:
        """The end of the output behind a sidecar's path."""
        stem = evidence_ref.removesuffix(layout.EVIDENCE_SUFFIX)
        try:
            data = files.read_end(self._top, f"{stem}.txt", limit=OUTPUT_END)
        except FlowError:
            return ""
        return data.decode("utf-8", "replace")

    def shown_before(self, run_id: str, criterion: Criterion) -> float | None:
        """Seconds that its command took when it last passed or failed; None if it never did."""
        return seconds_of_last_result(self._context.records, run_id, criterion)

    def judge_cost(self, run_id: str) -> float:
        """Cost of a run's judges in US dollars, as far as it is known."""
        from flow.core.judging.goal.cost import judge_cost  # few goals have a limit

        return judge_cost(self._context.records.evidence(run_id)[0])


def note_spoken(
    context: LoopContext, run_id: str | None, goal_id: str, event: Mapping[str, Any]
) -> None:
    """Append an event with its speaker to the run's events, if there are any."""
    if run_id is not None and event_log.last_seq(context.top, run_id):
        spoken = context.speaker.fields() if context.speaker is not None else {}
        append_event(context, run_id, goal_id, {**event, **spoken})


def append_event(
    context: LoopContext, run_id: str, goal_id: str, event: Mapping[str, Any], *, sync: bool = False
) -> None:
    """Append an event and commit the run; without ``sync`` a later one brings it to the disk."""
    fields = dict(event)
    kind = fields.pop("type")
    event_log.append(context.top, run_id, goal_id, kind, fields, at=clock.now(), sync=sync)
    context.run_record.commit(run_id)  # a stop writes nothing after this
