"""Asking judges about a goal (SPEC 3, step 5, and 9.1), as one list of steps.

*gather → canary → ask, ballot by ballot → check each reply → count → record ballots and opinion.*

No lock of the goal is held meanwhile, and nothing here writes to it: what comes back is an opinion,
and the decision table decides what it is worth.
"""

from __future__ import annotations

import math

from flow.app.judging import gathering, rubric_criteria
from flow.app.judging import records as judging_records
from flow.app.judging.asking import Asking, summed
from flow.app.judging.port import AskJudge, JudgeAnswer, NoAnswer, Usage, name_of
from flow.app.judging.records import AskedBallot, Canary, Judgement, OpinionRecorder
from flow.core.decision.decide import NoOpinion, Opinion
from flow.core.decision.explain import NO_ANSWER
from flow.core.instant import ahead
from flow.core.judging.goal import ballots, delegated, prompt, reply
from flow.core.judging.goal.context import MOST_SOUGHT, JudgeContext
from flow.core.text.display import joined
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.values import JudgeCase, Listener
    from flow.app.judging.gathering import ContextSources
    from flow.core.goal.model import Criterion
    from flow.core.judging.common.question import Question
    from flow.core.judging.rubric.model import Rubric
    from flow.core.settings import JudgeSettings

    Delegate = Callable[
        [JudgeCase, Criterion, delegated.Delegated, float], delegated.DelegatedOpinion
    ]

MOST_BALLOTS = 25
"""Ballots of one evaluation: a contract may ask for many judges, and each one costs."""
WARNED = 12
"""Warnings about what was given and said that a verdict shows; the sidecar has them all."""


class JudgeTools(NamedTuple):
    """The interfaces of judging a goal to the outside."""

    panel: tuple[AskJudge | NoAnswer, ...]
    """One entry for each ballot, in order; one that cannot be asked is an answer already."""
    sources: ContextSources
    recorder: OpinionRecorder | None
    """Records what was said; None if nothing is to be recorded."""
    nonce: Callable[[], str]
    """Makes unpredictable letters and digits, new at each call."""
    monotonic: Callable[[], float]
    trusted: Callable[[str], tuple[bool, str]]
    """Whether the judge of this name may propose ``achieved``, and why not (``minKappa``)."""
    settings: JudgeSettings
    listener: Listener
    rubrics: Mapping[str, Rubric | str] = {}
    """The rubrics that criteria name, by name; one that cannot be used is the reason."""
    delegate: Delegate | None = None
    """Judges one criterion by its scorecard or debate, within so many seconds."""


def judge_goal(case: JudgeCase, tools: JudgeTools) -> Opinion | NoOpinion:
    """Ask every judge of the panel; return their opinion, or the reason for having none."""
    judge_context = gathering.gather_context(case, tools.sources)
    refusal = _refusal(case, tools, judge_context)
    if refusal:
        return NoOpinion(refusal)
    session = _Session(case, tools, judge_context)
    judged = session.judge_delegated()
    asked_ballots = session.ballots()
    warnings = _warnings(asked_ballots, judged)
    if not asked_ballots and not any(row.judges for row in judged):
        alike: dict[str, list[str]] = {}
        for row in judged:
            alike.setdefault(row.reason, []).append(row.id)
        reasons = "; ".join(f"{', '.join(ids)}: {reason}" for reason, ids in alike.items())
        only_a_person = bool(judged) and all(row.way == "person" for row in judged)
        reason = reasons or "no criterion is left to ask about"
        return NoOpinion(reason, warnings, "person" if only_a_person else "ask")
    tally = ballots.tally(_usable(asked_ballots), len(asked_ballots), session.sought)
    if judged and (tally is not None or not session.sought):
        tally = delegated.combined(tally, judged, judge_context.sought)
    sidecar = None
    if tools.recorder is not None:
        judges = [name_of(judge) for judge in tools.panel]
        judgement = Judgement(asked_ballots, tally, judged, judges, list(session.canaries.values()))
        sidecar = judging_records.record_judgement(case, judgement, tools.recorder)
    if tally is None:
        return NoOpinion(_why_no_opinion(asked_ballots), warnings)
    return Opinion(
        tally.verdict,
        tally.confidence,
        tally.reason,
        tally.next_step_hint,
        tally.blocker_type,
        tally.criteria,
        sidecar.path if sidecar else None,
        sidecar.id if sidecar else None,
        warnings,
    )


def _usable(asked_ballots: Sequence[AskedBallot]) -> list[reply.Ballot]:
    return [row.ballot for row in asked_ballots if not isinstance(row.ballot, NoAnswer)]


def _refusal(case: JudgeCase, tools: JudgeTools, judge_context: JudgeContext) -> str:
    """The reason that no judge is called; empty if judges are called."""
    if len(tools.panel) > MOST_BALLOTS:
        return f"{len(tools.panel)} ballots are asked for, more than {MOST_BALLOTS}"
    if len(judge_context.sought) > MOST_SOUGHT:
        return f"{len(judge_context.sought)} criteria are more than {MOST_SOUGHT} in one question"
    return rubric_criteria.unusable(case.facts.loaded.goal, judge_context, tools.rubrics)


class _Session:
    """The questions of one evaluation: they share the clock and the canaries."""

    def __init__(self, case: JudgeCase, tools: JudgeTools, judge_context: JudgeContext) -> None:
        self._goal = case.facts.loaded.goal
        self._label = f"goal {self._goal.id}, "
        self._case, self._tools, self._whole = case, tools, judge_context
        balloted = delegated.balloted(self._goal, judge_context.sought)
        unshown = [row for row in balloted if row.fuzzy and not judge_context.grounded(row.id)]
        self._left_to_a_person = [_nothing_to_show(row.id, judge_context) for row in unshown]
        self._ballot_context = judge_context.limited_to(
            tuple(row for row in balloted if row not in unshown)
        )
        self._started = tools.monotonic()
        self.canaries: dict[str, Canary] = {}
        self.sought = self._ballot_context.sought

    def judge_delegated(self) -> list[delegated.DelegatedOpinion]:
        """The opinions on the criteria that are delegated, each judged in its own way."""
        return [
            *(
                self._trusted(self._delegate(criterion, request))
                for criterion in delegated.delegated_criteria(self._goal, self._whole.sought)
                for request in delegated.delegated_judgements(criterion)
            ),
            *self._left_to_a_person,
        ]

    def _delegate(
        self, criterion: Criterion, request: delegated.Delegated
    ) -> delegated.DelegatedOpinion:
        delegate, seconds = self._tools.delegate, self._left()
        if delegate is not None and seconds >= 1:
            return delegate(self._case, criterion, request, seconds)
        why = "nobody can judge it so here" if delegate is None else "no time is left to ask"
        return delegated.DelegatedOpinion(criterion.id, request.way, None, why)

    def _trusted(self, judged: delegated.DelegatedOpinion) -> delegated.DelegatedOpinion:
        """A pass by judges that are not known to agree with people goes to a person.

        So does one by a judge that passes the goal without any evidence (its canary).
        """
        if judged.status != "pass":
            return judged
        for name in judged.judges:
            trusted, why = self._tools.trusted(name)
            if trusted and self._tools.settings.canary:
                why = self._canary_of(name)
                trusted = not why
            if not trusted:
                why = f"{judged.reason}; but {name} cannot propose it: {why}"
                return judged._replace(status=None, reason=why)
        return judged

    def _canary_of(self, name: str) -> str:
        for judge in self._tools.panel:
            if not isinstance(judge, NoAnswer) and judge.name == name:
                return self._canary(judge)
        return "it has not answered the question without evidence"

    def ballots(self) -> list[AskedBallot]:
        """Every ballot, where there is a criterion to ask about."""
        if not self.sought:
            return []
        return [self._ballot(number, judge) for number, judge in enumerate(self._tools.panel)]

    def _ballot(self, number: int, judge: AskJudge | NoAnswer) -> AskedBallot:
        written = prompt.goal_question(self._ballot_context, self._tools.nonce(), number)
        name = name_of(judge)
        if isinstance(judge, NoAnswer):
            return AskedBallot(number, name, written, judge.usage, judge)
        if self._tools.settings.canary and (reason := self._canary(judge)):
            refused = NoAnswer("error", reason, Usage(name, attempts=0))
            return AskedBallot(number, name, written, refused.usage, refused)
        what = f"ballot {number + 1} of {len(self._tools.panel)}"
        label = f"{self._label}{what}"

        def ask(question: Question) -> JudgeAnswer | NoAnswer:
            shown = what if question.label == label else question.label
            return self._ask(judge, question, shown)

        asking = Asking(ask)
        ballot = asking.ask(
            written._replace(label=label),
            lambda value: reply.read_reply(value, name, self.sought, written),
            prefix="not usable: ",
        )
        judgements: tuple[Mapping[str, Any], ...] = ()
        if not isinstance(ballot, NoAnswer):
            ballot, judgements = rubric_criteria.refine_ballot(
                ballot,
                self._goal,
                self._ballot_context,
                self._tools.rubrics,
                asking=asking,
                nonce=self._tools.nonce,
                turn=number,
            )
        if not isinstance(ballot, NoAnswer):
            ballot = self._believed(ballot)
        value = asking.values[0] if asking.values else None
        usage = summed(asking.usages)
        return AskedBallot(number, name, written, usage, ballot, value, judgements)

    def _ask(self, judge: AskJudge, question: Question, shown: str) -> JudgeAnswer | NoAnswer:
        seconds = min(self._tools.settings.timeout_seconds, self._left())
        if seconds < 1:
            return NoAnswer("timeout", "no time is left to ask", Usage(judge.name, attempts=0))
        self._tools.listener.asking(judge.name, shown, seconds)
        return judge(question, seconds=seconds)

    def _left(self) -> float:
        """Seconds until the caller must have its answer."""
        if self._case.seconds is None:
            return math.inf
        return self._case.seconds + self._started - self._tools.monotonic()

    def _canary(self, judge: AskJudge) -> str:
        """Why the judge is not believed in this turn; empty if its canary lives."""
        if judge.name not in self.canaries:
            question = prompt.goal_question(self._whole.without_evidence(), self._tools.nonce())
            what = "the question without evidence"
            answer = self._ask(judge, question._replace(label=f"{self._label}{what}"), what)
            why = ""
            if isinstance(answer, NoAnswer):
                why = f"the question without evidence got no answer: {answer.reason}"
            elif answer.value.get("verdict") == "achieved":
                why = "it says achieved to the question without evidence, so it is not believed"
            self.canaries[judge.name] = Canary(judge.name, why, answer.usage)
        return self.canaries[judge.name].why

    def _believed(self, ballot: reply.Ballot) -> reply.Ballot:
        """A judge that is not known to agree with people cannot propose ``achieved``."""
        if ballot.verdict != "achieved":
            return ballot
        trusted, why = self._tools.trusted(ballot.judge)
        if trusted:
            return ballot
        why = f"it says achieved, and cannot propose it: {why}"
        return ballot.lower("needs_human_review", why)


def _nothing_to_show(criterion_id: str, judge_context: JudgeContext) -> delegated.DelegatedOpinion:
    """No judge could prove it: a pass needs evidence to rest on, so a person is asked."""
    why = "; ".join(row.reason for row in judge_context.missing if row.criterion_id == criterion_id)
    reason = f"no judge is asked, since there is nothing to show one ({why})"
    return delegated.DelegatedOpinion(criterion_id, "person", None, reason)


def recall_opinion(case: JudgeCase, tools: JudgeTools) -> Opinion | None:
    """The opinion that the same judges gave on the same files and contract, if it is on record.

    For a caller that evaluates again and again (the Stop hook): unchanged work is not judged twice.
    """
    goal, records = case.facts.loaded.goal, tools.sources.records
    if any(c.fuzzy and not c.hermetic for c in goal.criteria):
        return None
    asked = gathering.sought_criteria(goal, case.approved)
    names = [name_of(judge) for judge in tools.panel]
    sidecars, _ = records.evidence(case.facts.run_id)
    for evidence in reversed(sidecars):
        if ahead(evidence.created_at, tools.sources.now):
            continue
        if evidence.type == "llm_judge_report" and evidence.goal == goal.id:
            opinion = judging_records.opinion(evidence, case.facts, asked, names, records)
            if opinion is None:
                continue
            if opinion.verdict != "achieved" or all(tools.trusted(name)[0] for name in names):
                return opinion
    return None


def _why_no_opinion(asked_ballots: Sequence[AskedBallot]) -> str:
    different = list(dict.fromkeys(map(_why_no_answer, asked_ballots)))
    return joined(different[:3], len(different), "; ")


def _why_no_answer(asked: AskedBallot) -> str:
    if not isinstance(asked.ballot, NoAnswer):
        return ""
    why = reply.safe_words(asked.ballot.reason, 300)
    if asked.ballot.kind == "not_configured":
        return why
    return f"{asked.judge}{NO_ANSWER} ({asked.ballot.kind}): {why}"


def _warnings(
    asked_ballots: Sequence[AskedBallot], judged: Sequence[delegated.DelegatedOpinion]
) -> tuple[str, ...]:
    """The warnings about prompts and answers, each once."""
    lines = [f"{row.id}, {row.way}: {remark}" for row in judged for remark in row.remarks]
    for row in asked_ballots:
        lines += [f"given to the judge: {report}" for report in row.question.reports]
        if not isinstance(row.ballot, NoAnswer):
            lines += [f"judge {row.judge}: {remark}" for remark in row.ballot.remarks]
        elif len(asked_ballots) > 1:
            why = reply.safe_words(row.ballot.reason, 300)
            lines.append(f"judge {row.judge}, ballot {row.number + 1}: no answer: {why}")
        lines += [f"not given to the judge: {note}" for note in row.question.left_out]
    warnings = list(dict.fromkeys(lines))
    more = len(warnings) - WARNED
    return (*warnings[:WARNED], *([f"and {more} more, see the judge's report"] if more > 0 else []))
