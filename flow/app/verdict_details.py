"""Details of a verdict from the record, for its screen; decides nothing."""

from __future__ import annotations

from flow.core import layout
from flow.core.decision.details import (
    TAIL,
    OutputTail,
    RowDetails,
    VerdictDetails,
    judged_figures,
    no_lines,
)
from flow.core.goal.model import JUDGED
from flow.core.text.plain_output import plain_lines
from flow.errors import FlowError
from flow.startup.contexts import ExitStack
from flow.startup.json import items_of, object_of, rows_of, text_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from flow.app.goal_record import RecordPort
    from flow.core.evidence.model import Evidence
    from flow.core.goal.model import Criterion, Goal

DURATION = "duration_seconds"


class OutputEnd(NamedTuple):
    """The end of an output as it is stored."""

    data: bytes
    lines: int
    """The lines of all that is stored."""
    whole: bool
    """Whether ``data`` is all that is stored."""


class UnrecordedRun(NamedTuple):
    """A command's run of which no evidence is kept, as in a dry run."""

    body: Mapping[str, Any]
    """As in the evidence of a run: duration, size of the output, whether it was cut."""
    end: OutputEnd | None


class OutputReader(Protocol):
    """Reads what commands printed, and says what that means."""

    def end(self, path: str) -> OutputEnd | None:
        """The end of an output; None if it is not there."""

    def failure(self, command: str, end: OutputEnd, exit_code: int | None) -> str:
        """The failure by the command's own runner's summary; empty if that is uncertain."""

    def works(self, command: str) -> str:
        """A form of a masked command whose exit status shows a failure; empty: none is known."""


def verdict_details(
    port: RecordPort,
    outputs: OutputReader,
    document: Mapping[str, Any],
    *,
    seconds: float | None = None,
    at: str = "",
    shown: Collection[str] | None = None,
    unrecorded: Mapping[str, UnrecordedRun] | None = None,
) -> VerdictDetails:
    """The details of the verdict that ``document`` is.

    ``seconds`` and ``at`` are how long the evaluation took, and when it ended. Of
    a criterion that passed no output is read if ``shown`` is given, and no evidence either unless
    its id is among those. ``unrecorded`` has the runs that left no evidence, by criterion.
    """
    goal = _goal(port, document.get("goal_id"))
    gather = _Gathering(port, outputs, document, goal, shown=shown, unrecorded=unrecorded or {})
    rows = rows_of(document.get("criterion_results"))
    run_id = goal.run_id if goal is not None else None
    with ExitStack() as stack:
        if run_id is not None:
            stack.enter_context(port.records.together(run_id))
        gathered = {str(row.get("criterion_id")): gather.row(row) for row in rows}
    return VerdictDetails(
        gathered,
        seconds,
        at or str(document.get("recorded_at") or ""),
        goal.allowed_paths if goal is not None else (),
    )


def _goal(port: RecordPort, goal_id: object) -> Goal | None:
    try:
        return port.load(str(goal_id)).goal if goal_id else None
    except FlowError:
        return None


class _Gathering:
    """The details of one verdict's rows."""

    def __init__(
        self,
        port: RecordPort,
        outputs: OutputReader,
        document: Mapping[str, Any],
        goal: Goal | None,
        *,
        shown: Collection[str] | None,
        unrecorded: Mapping[str, UnrecordedRun],
    ) -> None:
        self._port, self._outputs, self._document, self._goal = port, outputs, document, goal
        self._shown, self._unrecorded = shown, unrecorded
        self._proved: frozenset[str] | None = None

    def row(self, row: Mapping[str, Any]) -> RowDetails:
        """The details of a criterion's row."""
        criterion_id = str(row.get("criterion_id"))
        criterion = self._goal.criterion(criterion_id) if self._goal is not None else None
        details = RowDetails(
            required=criterion is None or criterion.must_pass,
            way=criterion_way(criterion),
            proved_before=row.get("status") != "pass" and criterion_id in self._proved_before(),
        )
        passed = row.get("outcome") == "passed"
        if passed and self._shown is not None and criterion_id not in self._shown:
            return details
        run_id, evidence = self._evidence(row.get("evidence_ref"))
        measured = row.get("outcome") in ("passed", "failed", "inconclusive")
        run = self._unrecorded.get(criterion_id)
        if measured and run is not None:
            return self._command_row(details, row, run_id, run.body, run.end)
        if evidence is None:
            missing = "its output was not kept" if measured else ""
            return details._replace(output=OutputTail(missing=missing) if missing else None)
        body = evidence.body
        if evidence.type == "human_approval":
            by = body.get("approved_by") or body.get("by") or ""
            return details._replace(approved_by=str(by))
        if evidence.type == "llm_judge_report":
            judgement = body.get("judgement") or {}
            return details._replace(
                judged=judged_figures(criterion_id, judgement),
                seconds=None if self._judged_together() else number_of(judgement.get(DURATION)),
            )
        if not measured:
            return details
        end = self._output_end(run_id, evidence) if self._wants_output(row) else None
        return self._command_row(details, row, run_id, body, end)

    def _wants_output(self, row: Mapping[str, Any]) -> bool:
        return self._shown is None or row.get("outcome") != "passed"

    def _judged_together(self) -> bool:
        """Whether a judge was asked about several criteria, so that no time is one's own."""
        rows = rows_of(self._document.get("criterion_results"))
        reasons = [str(row.get("reason")) for row in rows]
        return sum(reason.startswith(JUDGED) for reason in reasons) > 1

    def _command_row(
        self,
        details: RowDetails,
        row: Mapping[str, Any],
        run_id: str,
        body: Mapping[str, Any],
        end: OutputEnd | None,
    ) -> RowDetails:
        command = str(row.get("command") or body.get("command") or "")
        failed = row.get("outcome") == "failed"
        masked = text_of(row.get("reason")).startswith("masked: ")
        failure = ""
        if failed and end is not None and not body.get("truncated"):
            failure = self._outputs.failure(command, end, body.get("exit_code"))
        return details._replace(
            seconds=self._seconds(run_id, body),
            runs=several_runs(body.get("repeat")),
            failure=failure,
            works=self._outputs.works(command) if masked else "",
            output=output_tail(end, body) if self._wants_output(row) else None,
        )

    def _evidence(self, reference: object) -> tuple[str, Evidence | None]:
        run_id, evidence_id = layout.sidecar_of(text_of(reference))
        try:
            found = self._port.records.evidence_named(run_id, evidence_id) if run_id else None
        except FlowError:
            found = None
        return run_id, found

    def _output_end(self, run_id: str, evidence: Evidence) -> OutputEnd | None:
        if evidence.output_ref is None:
            return None
        try:
            return self._outputs.end(f"{layout.evidence_dir(run_id)}/{evidence.output_ref}")
        except FlowError:
            return None

    def _seconds(self, run_id: str, body: Mapping[str, Any]) -> float | None:
        """Seconds that the command ran, all its runs together."""
        total = number_of(body.get(DURATION))
        for evidence_id in items_of(object_of(body.get("repeat")).get("others")):
            _, other = self._evidence(layout.evidence_file(run_id, str(evidence_id)))
            took = other and number_of(other.body.get(DURATION))
            total = None if total is None or took is None else total + took
        return total

    def _proved_before(self) -> frozenset[str]:
        """The criteria that an earlier turn proved as they are now."""
        if self._proved is None:
            self._proved = frozenset(self._proved_so_far())
        return self._proved

    def _proved_so_far(self) -> set[str]:
        run_id, goal_id = self._document.get("run_id"), self._document.get("goal_id")
        turn = object_of(self._document.get("lifecycle")).get("turns_evaluated")
        if self._goal is None or not run_id or not isinstance(turn, int):
            return set()
        proved: set[str] = set()
        try:
            events, _ = self._port.events(str(run_id), str(goal_id))
        except FlowError:
            return proved
        for event in events:
            number = event.get("turn")
            if isinstance(number, int) and number >= turn and event.get("type") == "evaluated":
                break
            if event.get("type") == "contract-amended":
                proved -= set(map(str, event.get("criteria") or ()))
            passing = event.get("passing")
            if event.get("type") == "evaluated" and isinstance(passing, list):
                proved |= set(map(str, passing))
        return proved


def criterion_way(criterion: Criterion | None) -> str:
    """The way in which a criterion without a command is proved."""
    if criterion is None or not criterion.fuzzy:
        return ""
    given = criterion.document
    if isinstance(given.get("rubric"), str):
        return f"rubric {given['rubric']}"
    return next((key for key in ("scorecard", "debate") if given.get(key) is not None), "")


def several_runs(repeat: object) -> tuple[int, int] | None:
    """(passed, all), where a command ran several times."""
    passed, runs = (object_of(repeat).get(key) for key in ("passed", "runs"))
    if not isinstance(passed, int) or not isinstance(runs, int) or runs < 2:
        return None
    return passed, runs


def number_of(value: object) -> float | None:
    """A number of a document, None if it is none."""
    return float(value) if isinstance(value, int | float) else None


def output_tail(end: OutputEnd | None, body: Mapping[str, Any]) -> OutputTail:
    """The last lines of an output, or why there are none."""
    printed = body.get("output_bytes")
    if end is None:
        return OutputTail(missing=no_lines(stored=False, blank=False, printed=printed))
    lines = plain_lines(end.data.decode("utf-8", "replace"), only_colours=True)
    if not any(line.strip() for line in lines):
        return OutputTail(missing=no_lines(stored=True, blank=bool(end.data), printed=printed))
    shown = lines[-TAIL:]
    total = None if body.get("truncated") else max(end.lines, len(shown))
    if end.whole and total is not None:
        total = len(lines)
    return OutputTail(tuple(shown), total)
