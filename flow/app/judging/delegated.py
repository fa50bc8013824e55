"""A goal's criterion that is judged by a scorecard or a debate (SPEC 9.3, 9.4).

The Stop hook does neither: it never reads a transcript, and a debate outlasts its time. There the
opinion of an earlier ``flow goal evaluate`` on the same files counts, if one is on record.
"""

from __future__ import annotations

from flow.app.judging import delegated_debate, delegated_scorecard
from flow.app.judging.delegated_debate import DebatePort
from flow.app.judging.delegated_scorecard import ScorecardPort
from flow.app.judging.port import name_of
from flow.core.judging.goal.delegated import DebateOrder, Heard, ScorecardOrder
from flow.core.judging.goal.reply import safe_words
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.values import JudgeCase, Listener
    from flow.app.judging.port import AskJudge, NoAnswer
    from flow.core.goal.model import Criterion
    from flow.core.judging.goal.delegated import Order

HOOK = "stop-hook"
REASON = 600
HINT = 500
"""Characters that a verdict shows of what was said."""
REMARKS = 20


class DelegationPort(ScorecardPort, DebatePort, Protocol):
    """What a delegated judgement needs of the checkout."""

    def monotonic(self) -> float:
        """Seconds on a clock that is never set back."""


def hear_delegated(
    port: DelegationPort,
    panel: Sequence[AskJudge | NoAnswer],
    listener: Listener,
    record: bool,
    case: JudgeCase,
    criterion: Criterion,
    request: Order,
    seconds: float,
) -> Heard:
    """What the criterion's scorecard or debate comes to.

    Whatever keeps it from coming to anything is told, and leaves the criterion to a person.
    """
    judges = _distinct(panel)
    why = _unheard(case, judges, record)
    if why:
        return Heard(criterion.id, request.way, None, f"{request.way}: {why}")
    name = f"{request.judges} judges" if isinstance(request, DebateOrder) else name_of(judges[0])
    listener.asking(name, f"{criterion.id}, {request.way}", seconds)
    started = port.monotonic()
    try:
        if isinstance(request, ScorecardOrder):
            heard = delegated_scorecard.hear_scorecard(port, judges[0], case, criterion, request)
        else:
            heard = delegated_debate.hear_debate(port, judges, case, criterion, request, seconds)
    except FlowError as error:
        heard = Heard(criterion.id, request.way, None, f"{request.way}: {_error_text(error)}")
    taken = round(port.monotonic() - started, 3)
    return _tidied(heard)._replace(document={**heard.document, "duration_seconds": taken})


def _unheard(case: JudgeCase, judges: Sequence[AskJudge | NoAnswer], record: bool) -> str:
    """Why nobody is asked here; empty where somebody is."""
    later = f"flow goal evaluate {case.facts.loaded.goal.id} has it judged"
    if case.request.trigger == HOOK:
        return f"not in the Stop hook; {later}"
    if not record:
        return f"it leaves files behind; {later}"
    return "no judge can be asked" if not judges else ""


def _distinct(panel: Sequence[AskJudge | NoAnswer]) -> list[AskJudge | NoAnswer]:
    """Each judge once; a panel names it once for each ballot.

    One that cannot be asked keeps its seat: what it would have said is not known.
    """
    distinct: list[AskJudge | NoAnswer] = []
    for one in panel:
        if all(one is not other for other in distinct):
            distinct.append(one)
    return distinct


def _error_text(error: FlowError) -> str:
    """An error without the places it names: a verdict is kept in files that others read."""
    return "; ".join(
        f"{fault.message} ({fault.remedy})" if fault.remedy else fault.message
        for fault in error.faults
    )


def _tidied(heard: Heard) -> Heard:
    """The words on one line each, with no power left: judges and transcripts wrote parts."""
    return heard._replace(
        reason=safe_words(heard.reason, REASON),
        hint=safe_words(heard.hint, HINT),
        remarks=tuple(safe_words(remark, REASON) for remark in heard.remarks[:REMARKS]),
    )
