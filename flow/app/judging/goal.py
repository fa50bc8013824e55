"""Asking judges about a goal (SPEC 3, step 5, and 9.1), as one list of steps.

*gather → canary → ask, ballot by ballot → check each reply → keep it → count → keep the opinion.*

No lock of the goal is held meanwhile, and nothing here writes to it: what comes back is an opinion,
and the decision table decides what it is worth.
"""

from __future__ import annotations

import math

from flow.app.judging import bundle as judging_bundle
from flow.app.judging import records as judging_records
from flow.app.judging import rubric_criteria
from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage, name_of
from flow.app.judging.records import AskedBallot, Canary
from flow.core.decision.decide import NoOpinion, Opinion
from flow.core.instant import ahead
from flow.core.judging.common.question import Unusable
from flow.core.judging.goal import ballots, delegated, prompt, reply
from flow.core.judging.goal.bundle import MOST_SOUGHT
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.values import JudgeCase, Listener
    from flow.app.judging.bundle import ContextSources
    from flow.app.judging.port import AskJudge
    from flow.app.judging.records import Keep
    from flow.core.goal.model import Criterion
    from flow.core.judging.common.question import Question
    from flow.core.judging.goal.bundle import Bundle, Sought
    from flow.core.judging.rubric.model import Rubric

MOST_BALLOTS = 25
"""Ballots of one evaluation: a contract may ask for many judges, and each one costs."""
WARNED = 12
"""Warnings about what was given and said that a verdict shows; the sidecar has them all."""


class JudgeLimits(NamedTuple):
    """What the settings say about asking."""

    seconds: float
    """For one call, retries included."""
    canary: bool = False


class JudgeTools(NamedTuple):
    """What asking needs from outside."""

    panel: tuple[AskJudge | NoAnswer, ...]
    """One entry for each ballot, in order; one that cannot be asked is an answer already."""
    sources: ContextSources
    keep: Keep | None
    """Records what was said; None where nothing is to be recorded."""
    nonce: Callable[[], str]
    """Letters and digits that nobody can know beforehand, new at each call."""
    monotonic: Callable[[], float]
    trusted: Callable[[str], tuple[bool, str]]
    """Whether the judge of this name may propose ``achieved``, and why not (``minKappa``)."""
    limits: JudgeLimits
    listener: Listener
    rubrics: Mapping[str, Rubric | str] = {}
    """The rubrics that criteria name, by name; one that cannot be used is the reason."""
    hear: Callable[[JudgeCase, Criterion, delegated.Order, float], delegated.Heard] | None = None
    """Judges one criterion by its scorecard or debate, within so many seconds."""


def judge_goal(case: JudgeCase, tools: JudgeTools) -> Opinion | NoOpinion:
    """Ask every judge of the panel and say what they came to."""
    if len(tools.panel) > MOST_BALLOTS:
        return NoOpinion(f"{len(tools.panel)} ballots are asked for, more than {MOST_BALLOTS}")
    bundle = judging_bundle.gather_context(case, tools.sources)
    if len(bundle.sought) > MOST_SOUGHT:
        return NoOpinion(
            f"{len(bundle.sought)} criteria are more than {MOST_SOUGHT} in one question"
        )
    why = rubric_criteria.unusable(case.facts.loaded.goal, bundle, tools.rubrics)
    if why:
        return NoOpinion(why)
    sought = bundle.sought
    session = _Session(case, tools, bundle)
    heard = [*session.hear(sought), *session.left_to_a_person]
    asked = session.ballots()
    warnings = _warnings(asked, heard)
    if not asked and not any(one.judges for one in heard):
        said = [f"{one.id}: {one.reason}" for one in heard]
        alone = bool(heard) and all(one.way == "person" for one in heard)
        why = "; ".join(said) or "no criterion is left to ask about"
        return NoOpinion(why, warnings, "person" if alone else "ask")
    usable = [one.ballot for one in asked if one.ballot is not None]
    counted = ballots.tally(usable, len(asked), session.sought)
    if heard and (counted is not None or not session.sought):
        counted = delegated.together(counted, heard, sought)
    if tools.keep is not None:
        names = [name_of(one) for one in tools.panel]
        kept = judging_records.record_judgement(
            case, asked, counted, heard, names, session.canaries, tools.keep
        )
    else:
        kept = None
    if counted is None:
        return NoOpinion(_why_silent(asked), warnings)
    return Opinion(
        counted.verdict,
        counted.confidence,
        counted.reason,
        counted.next_step_hint,
        counted.blocker_type,
        counted.criteria,
        kept.path if kept else None,
        kept.id if kept else None,
        warnings,
    )


class _Session:
    """The questions of one evaluation: they share the clock and the canaries."""

    def __init__(self, case: JudgeCase, tools: JudgeTools, bundle: Bundle) -> None:
        self._case, self._tools, self._whole = case, tools, bundle
        balloted = delegated.balloted(case.facts.loaded.goal, bundle.sought)
        self._bundle = bundle.about(
            tuple(one for one in balloted if not one.fuzzy or bundle.grounded(one.id))
        )
        self.left_to_a_person = [
            _nothing_to_show(one.id, bundle)
            for one in balloted
            if one.fuzzy and not bundle.grounded(one.id)
        ]
        self._started = tools.monotonic()
        self.canaries: dict[str, Canary] = {}
        self.sought = self._bundle.sought

    def hear(self, sought: Sequence[Sought]) -> list[delegated.Heard]:
        """What becomes of the criteria that are judged apart, each in its way."""
        return [
            self._trusted(self._hear(criterion, request))
            for criterion in delegated.apart(self._case.facts.loaded.goal, sought)
            for request in delegated.orders(criterion)
        ]

    def _hear(self, criterion: Criterion, request: delegated.Order) -> delegated.Heard:
        hear = self._tools.hear
        if hear is None:
            return delegated.Heard(criterion.id, request.way, None, "nobody can judge it so here")
        seconds = self._left()
        if seconds < 1:
            return delegated.Heard(criterion.id, request.way, None, "no time is left to ask")
        return hear(self._case, criterion, request, seconds)

    def _trusted(self, heard: delegated.Heard) -> delegated.Heard:
        """A pass by judges that are not known to agree with people goes to a person.

        So does one by a judge that passes the goal without any evidence (its canary).
        """
        if heard.status != "pass":
            return heard
        for name in heard.judges:
            trusted, why = self._tools.trusted(name)
            if trusted and self._tools.limits.canary:
                why = self._canary_of(name)
                trusted = not why
            if not trusted:
                why = f"{heard.reason}; but {name} cannot propose it: {why}"
                return heard._replace(status=None, reason=why)
        return heard

    def _canary_of(self, name: str) -> str:
        for one in self._tools.panel:
            if not isinstance(one, NoAnswer) and one.name == name:
                return self._canary(one)
        return "it has not answered the question without evidence"

    def ballots(self) -> list[AskedBallot]:
        """Every ballot, where there is a criterion to ask about."""
        if not self.sought:
            return []
        return [self.ask(number, one) for number, one in enumerate(self._tools.panel)]

    def ask(self, number: int, one: AskJudge | NoAnswer) -> AskedBallot:
        """One ballot."""
        put = prompt.make(self._bundle, self._tools.nonce(), number)
        name = name_of(one)
        answer: JudgeAnswer | NoAnswer
        if isinstance(one, NoAnswer):
            answer = one
        elif self._tools.limits.canary and (why := self._canary(one)):
            answer = NoAnswer("error", why, Usage(name, attempts=0))
        else:
            what = f"ballot {number + 1} of {len(self._tools.panel)}"
            answer = self._put(one, put, what)
        ballot, value, refined, usage = None, None, None, answer.usage
        if isinstance(answer, JudgeAnswer):
            value = answer.value
            found = reply.read(value, name, self._bundle.sought, put)
            if isinstance(found, Unusable):
                answer = NoAnswer(found.kind, f"not usable: {found.reason}", answer.usage)
            else:
                refined = self._refined(one, found, number)
                ballot = self._believed(refined.ballot) if refined.ballot is not None else None
                answer = refined.answer or answer
                usage = rubric_criteria.together(usage, refined.usages)
        judgements = refined.judgements if refined is not None else ()
        return AskedBallot(number, name, put, usage, answer, ballot, value, judgements)

    def _refined(
        self, one: AskJudge | NoAnswer, ballot: reply.Ballot, number: int
    ) -> rubric_criteria.Refined:
        """The ballot after the rubrics that its criteria name."""
        if isinstance(one, NoAnswer):
            return rubric_criteria.Refined(ballot, None)
        return rubric_criteria.refine_ballot(
            ballot,
            self._case.facts.loaded.goal,
            self._bundle,
            self._tools.rubrics,
            ask=lambda question: self._ask(one, question, question.label),
            nonce=self._tools.nonce,
            turn=number,
        )

    def _put(self, one: AskJudge, question: Question, what: str) -> JudgeAnswer | NoAnswer:
        label = f"goal {self._case.facts.loaded.goal.id}, {what}"
        return self._ask(one, question._replace(label=label), what)

    def _ask(self, one: AskJudge, question: Question, what: str) -> JudgeAnswer | NoAnswer:
        seconds = min(self._tools.limits.seconds, self._left())
        if seconds < 1:
            return NoAnswer("timeout", "no time is left to ask", Usage(one.name, attempts=0))
        self._tools.listener.asking(one.name, what, seconds)
        return one(question, seconds=seconds)

    def _left(self) -> float:
        """Seconds until the caller must have its answer."""
        if self._case.seconds is None:
            return math.inf
        return self._case.seconds + self._started - self._tools.monotonic()

    def _canary(self, one: AskJudge) -> str:
        """Why the judge is not believed in this turn; empty where its canary lives."""
        if one.name not in self.canaries:
            empty = self._whole.without_evidence()
            put = prompt.make(empty, self._tools.nonce())
            answer = self._put(one, put, "the question without evidence")
            why = ""
            if isinstance(answer, NoAnswer):
                why = f"the question without evidence got no answer: {answer.reason}"
            elif answer.value.get("verdict") == "achieved":
                why = "it says achieved to the question without evidence, so it is not believed"
            self.canaries[one.name] = Canary(one.name, why, answer.usage)
        return self.canaries[one.name].why

    def _believed(self, ballot: reply.Ballot) -> reply.Ballot:
        """A judge that is not known to agree with people cannot propose ``achieved``."""
        if ballot.verdict != "achieved":
            return ballot
        trusted, why = self._tools.trusted(ballot.judge)
        if trusted:
            return ballot
        why = f"it says achieved, and cannot propose it: {why}"
        return ballot.lower("needs_human_review", why)


def _nothing_to_show(criterion_id: str, bundle: Bundle) -> delegated.Heard:
    """No judge could prove it: a pass needs evidence to rest on, so a person is asked."""
    why = [one.why for one in bundle.missing if one.criterion_id == criterion_id]
    reason = f"no judge is asked, since there is nothing to show one ({'; '.join(why)})"
    return delegated.Heard(criterion_id, "person", None, reason)


def recall_opinion(case: JudgeCase, tools: JudgeTools) -> Opinion | None:
    """The opinion that the same judges gave on the same files and contract, if it is on record.

    For a caller that evaluates again and again (the Stop hook): unchanged work is not judged twice.
    """
    goal, records = case.facts.loaded.goal, tools.sources.records
    if any(c.fuzzy and not c.hermetic for c in goal.criteria):
        return None
    asked = judging_bundle.sought_criteria(
        goal, (m.criterion_id for m in case.measured if m.approved)
    )
    names = [name_of(one) for one in tools.panel]
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


def _why_silent(asked: Sequence[AskedBallot]) -> str:
    different = list(dict.fromkeys(map(_why_no_answer, asked)))
    more = f" and {len(different) - 3} more" if len(different) > 3 else ""
    return "; ".join(different[:3]) + more


def _why_no_answer(one: AskedBallot) -> str:
    if not isinstance(one.answer, NoAnswer):
        return ""
    why = reply.safe_words(one.answer.reason, 300)
    if one.answer.kind == "not_configured":
        return why
    return f"{one.judge} gave no usable answer ({one.answer.kind}): {why}"


def _warnings(asked: Sequence[AskedBallot], heard: Sequence[delegated.Heard]) -> tuple[str, ...]:
    """What people should know of what was given and said, each once."""
    warnings: dict[str, None] = {}
    for each in heard:
        warnings.update((f"{each.id}, {each.way}: {remark}", None) for remark in each.remarks)
    for one in asked:
        warnings.update((f"given to the judge: {report}", None) for report in one.put.reports)
        if one.ballot is not None:
            warnings.update((f"judge {one.judge}: {remark}", None) for remark in one.ballot.remarks)
        elif isinstance(one.answer, NoAnswer) and len(asked) > 1:
            said = reply.safe_words(one.answer.reason, 300)
            warnings[f"judge {one.judge}, ballot {one.number + 1}: no answer: {said}"] = None
        warnings.update((f"not given to the judge: {note}", None) for note in one.put.left_out)
    kept = list(warnings)[:WARNED]
    more = len(warnings) - len(kept)
    return (*kept, *([f"and {more} more, see the judge's report"] if more else []))
