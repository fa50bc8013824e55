"""A debate, from the arguments of a caller to its reports (SPEC 9.4)."""

from __future__ import annotations

from flow.app.judging import debate_plan
from flow.app.judging.debate import AskingPort, DebateRequest, DebateTools, ReportFiles, hold_debate
from flow.app.judging.debate_plan import DEFAULT_ROUNDS, MOST_ROUNDS, DebatePlan, Unwatched
from flow.app.judging.port import AskJudge, NoAnswer, no_answer, whole_number
from flow.core.judging.debate import prompt as debate_prompt
from flow.core.judging.debate.section import DebateSubject
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from flow.app.judging.debate import Watcher
    from flow.app.judging.debate_plan import Criteria
    from flow.core.judging.debate.state import DebateState
    from flow.core.untrusted.fences import FencedPart


class Spent(NamedTuple):
    """Cost of a debate's answers so far, in US dollars; ``untold``: the cost of some is unknown.

    A part of the record that Flow would not write makes the cost unknown, never lower.
    """

    usd: float = 0.0
    untold: bool = False

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(round(self.usd + other.usd, 12), self.untold or other.untold)


class ClaimedReports(ReportFiles, Protocol):
    """The report files of a debate, locked against other debates."""

    def spent(self) -> Spent:
        """The cost of earlier runs of the debate."""

    def end(self) -> None:
        """Record that nothing is left to be asked."""


class DebateContextPort(AskingPort, Protocol):
    """The folder that reports lie below, and what a debate needs besides."""

    @property
    def seconds(self) -> float:
        """The most that one call takes."""

    def redact(self, data: bytes) -> bytes:
        """``data`` without its secrets."""

    def claim_reports(
        self, name: str, debate: str, judges: int, warn: Callable[[str], None]
    ) -> AbstractContextManager[ClaimedReports]:
        """The files of the debate with this digest: those of one that did not end, else new ones.

        ``warn`` hears why those of an earlier run do not count.
        """

    def charge(self, judges: Sequence[AskJudge | NoAnswer], spent: Spent) -> None:
        """Count what earlier runs spent against the judges' limits (``maxCostUsd``)."""


class DebateCaller(Protocol):
    """The folder in which a debate is asked for."""

    @property
    def context(self) -> DebateContextPort:
        """The context of the debate."""

    def read_solution(self, solution: Any) -> tuple[tuple[FencedPart, ...], str, tuple[str, ...]]:
        """The solution's parts, the name for reports on it, and what was left out."""

    def panel(self, backends: Sequence[Any]) -> list[AskJudge | NoAnswer]:
        """The judge for each of these; all share one limit of cost."""


class DebateCall(NamedTuple):
    """The arguments of :func:`flow.debate`."""

    solution: Any
    task: str
    criteria: Criteria = None
    kind: str | None = None
    judges: int | None = None
    rounds: int = DEFAULT_ROUNDS
    mode: str = "debate"
    backends: Sequence[Any] = ()


def debate(
    call: DebateCall, caller: Callable[[], DebateCaller], watch: Watcher | None = None
) -> DebateState:
    """Check the call, then hold the debate.

    ``caller`` is asked for once the call itself is in order. Raises :class:`NoUsableAnswer` if
    no judge at all can be asked.
    """
    count, backends = debate_plan.how_many(call.judges, call.backends, call.mode)
    rounds = whole_number(call.rounds, "rounds", 0, MOST_ROUNDS)
    criteria = debate_plan.criteria_of(call.criteria, call.kind)
    port = caller()
    parts, name, notes = port.read_solution(call.solution)
    task = debate_plan.task_of(call.task)
    plan = DebatePlan(task, parts, name, criteria, rounds, call.mode)  # type: ignore[arg-type]
    panel = port.panel(backends * count if len(backends) == 1 else backends)
    refused = [judge for judge in panel if isinstance(judge, NoAnswer)]
    if len(refused) == len(panel):
        raise no_answer(refused[0])
    held = hold_plan(port.context, plan, panel, watch)
    return held._replace(warnings=(*notes, *held.warnings))


def hold_plan(
    context: DebateContextPort,
    plan: DebatePlan,
    judges: Sequence[AskJudge | NoAnswer],
    watch: Watcher | None = None,
) -> DebateState:
    """Hold a debate or a vote, or go on with one that was broken off.

    ``judges`` in the order of their numbers; the same one may be there several times. Texts are
    redacted before they leave and before they are written, so that quotes are looked up in what the
    judges saw. Raises :class:`InputError` for a plan that cannot be shown whole,
    :class:`RefusedError` and :class:`StorageError` for files.
    """
    solution = tuple(_redacted(part, context) for part in plan.solution)
    question = debate_prompt.DebateQuestion(context.redact_text(plan.task), solution, plan.criteria)
    debate_prompt.check(question)
    digest = debate_plan.digest_of(question, plan, judges)
    sources = tuple(part.source or part.name for part in solution)
    subject = DebateSubject(digest, question.task, sources, question.criteria)
    request = DebateRequest(
        question, subject, tuple(judges), plan.rounds, plan.mode, context.seconds
    )
    warnings: list[str] = []
    with context.claim_reports(plan.name, digest, len(judges), warnings.append) as reports:
        spent = reports.spent()
        context.charge(judges, spent)
        held = hold_debate(request, DebateTools(reports, context, watch or Unwatched()))
        if held.ended:
            reports.end()
    return held._replace(
        warnings=(*warnings, *held.warnings), earlier_usd=spent.usd if spent.usd else None
    )


def _redacted(part: FencedPart, context: DebateContextPort) -> FencedPart:
    data = part.text if isinstance(part.text, bytes) else part.text.encode("utf-8", "surrogatepass")
    return part._replace(text=context.redact(data))
