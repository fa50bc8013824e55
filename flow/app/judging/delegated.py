"""A goal's criterion that is judged by a scorecard or a debate (SPEC 9.3, 9.4).

The Stop hook does neither: it never reads a transcript, and a debate outlasts its time. There the
opinion of an earlier ``flow goal evaluate`` on the same files counts, if one is on record.
"""

from __future__ import annotations

from flow.app.judging.delegated_debate import DebatePort, judge_by_debate
from flow.app.judging.delegated_scorecard import ScorecardPort, judge_by_scorecard
from flow.app.judging.port import AskJudge, NoAnswer, name_of
from flow.core.judging.goal.delegated import DelegatedDebate, DelegatedScorecard, undecided
from flow.core.judging.goal.reply import safe_words
from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.app.evaluation.values import JudgeCase, Listener
    from flow.core.goal.model import Criterion
    from flow.core.judging.goal.delegated import Delegated, DelegatedOpinion

HOOK = "stop-hook"
REASON = 600
HINT = 500
"""Characters that a verdict shows of what was said."""
REMARKS = 20


class DelegationPort(ScorecardPort, DebatePort, Protocol):
    """Interface of a delegated judgement to the checkout."""

    def monotonic(self) -> float:
        """Seconds on a clock that is never set back."""


class Delegate:
    """Judges a criterion by its scorecard or debate, for one evaluation."""

    def __init__(
        self,
        port: DelegationPort,
        panel: Sequence[AskJudge | NoAnswer],
        listener: Listener,
        record: bool,
    ) -> None:
        self._port, self._listener, self._record = port, listener, record
        self._judges = _distinct(panel)

    def __call__(
        self, case: JudgeCase, criterion: Criterion, request: Delegated, seconds: float
    ) -> DelegatedOpinion:
        """The opinion of the criterion's scorecard or debate, formed within ``seconds``.

        Any fault on the way is reported, and leaves the criterion to a person.
        """
        refusal = self._refusal(case)
        if refusal:
            return undecided(criterion, request, refusal)
        name = name_of(self._judges[0])
        if isinstance(request, DelegatedDebate):
            name = f"{request.judges} judges"
        self._listener.asking(name, f"{criterion.id}, {request.way}", seconds)
        started = self._port.monotonic()
        try:
            judged = self._judge(case, criterion, request, seconds)
        except FlowError as error:
            judged = undecided(criterion, request, _error_text(error))
        taken = round(self._port.monotonic() - started, 3)
        return _tidied(judged)._replace(document={**judged.document, "duration_seconds": taken})

    def _judge(
        self, case: JudgeCase, criterion: Criterion, request: Delegated, seconds: float
    ) -> DelegatedOpinion:
        if isinstance(request, DelegatedScorecard):
            return judge_by_scorecard(self._port, self._judges[0], case, criterion, request)
        return judge_by_debate(self._port, self._judges, case, criterion, request, seconds)

    def _refusal(self, case: JudgeCase) -> str:
        """The reason that no judge may be called; empty if judges may be called."""
        later = f"flow goal evaluate {case.facts.loaded.goal.id} has it judged"
        if case.request.trigger == HOOK:
            return f"not in the Stop hook; {later}"
        if not self._record:
            return f"it leaves files behind; {later}"
        return "" if self._judges else "no judge can be asked"


def _distinct(panel: Sequence[AskJudge | NoAnswer]) -> list[AskJudge | NoAnswer]:
    """Each judge once; a panel names it once for each ballot.

    One that cannot be asked stays among them: what it would have said is not known.
    """
    return list({id(judge): judge for judge in panel}.values())


def _error_text(error: FlowError) -> str:
    """An error without the places it names: a verdict is kept in files that others read."""
    return "; ".join(
        f"{fault.message} ({fault.remedy})" if fault.remedy else fault.message
        for fault in error.faults
    )


def _tidied(judged: DelegatedOpinion) -> DelegatedOpinion:
    """The words on one line each, with no power left: judges and transcripts wrote parts."""
    return judged._replace(
        reason=safe_words(judged.reason, REASON),
        hint=safe_words(judged.hint, HINT),
        remarks=tuple(safe_words(remark, REASON) for remark in judged.remarks[:REMARKS]),
    )
