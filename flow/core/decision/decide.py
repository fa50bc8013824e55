"""From measurements to a decision (SPEC 3, steps 3 to 6).

Two tables: :func:`candidate` is the result of the commands and the boundary, :func:`decide` adds
a judge's opinion, or its absence. A judge can lower a result; no row lets it raise one.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flow.core.decision.after import HeldBy
    from flow.core.decision.verdict import BlockerType, Result, VerdictName
    from flow.core.evidence.model import Outcome
    from flow.core.goal.lifecycle import NonTerminal, Terminal

Candidate = Literal["pass", "pass+fuzzy", "incomplete", "fail"]

JudgedStatus = Literal["pass", "fail", "incomplete"]
"""A judge's result for one criterion."""

CONFIDENCE_BAR = 0.6
"""A judge's ``achieved`` below this goes to a person (SPEC 3, step 6); inclusive."""


class Measured(NamedTuple):
    """The result of one criterion after its command ran, or did not."""

    criterion_id: str
    must_pass: bool
    fuzzy: bool
    outcome: Outcome
    stale: bool = False
    """The files changed while it ran: shown, never counted."""
    approved: bool = False
    """A person's fresh approval proves it (fuzzy criteria only)."""
    judged: JudgedStatus | None = None
    """A judge's result (fuzzy criteria only); never set before the candidate is known."""

    @property
    def passing(self) -> bool:
        """Whether it is proved now."""
        if self.fuzzy:
            return self.approved or self.judged == "pass"
        return self.outcome == "passed" and not self.stale

    @property
    def failing(self) -> bool:
        """Whether it is disproved now."""
        if self.fuzzy:
            return not self.approved and self.judged == "fail"
        return self.outcome == "failed" and not self.stale

    @property
    def decided(self) -> bool:
        """Whether this evaluation proves or disproves it."""
        return self.passing or self.failing


class JudgedCriterion(NamedTuple):
    """A judge's opinion of one criterion."""

    id: str
    status: JudgedStatus
    reason: str = ""
    """The judge's own words; empty if it gave none."""
    lowered: str = ""
    """Reason that a judge's pass counts as ``incomplete``; empty if the status is the judge's own.
    """
    remark: str = ""
    """Flow's words: the number of judges that agree, or the method."""

    def words(self) -> str:
        """Remark and reason on one line; the judge's own words in quotes."""
        quoted = f'"{self.reason}"' if self.reason else ""
        return ": ".join(filter(None, (self.remark, quoted)))


class Opinion(NamedTuple):
    """A judge's usable answer, or the result of several."""

    verdict: VerdictName
    confidence: float
    reason: str = ""
    next_step_hint: str = ""
    blocker_type: BlockerType = "none"
    criteria: tuple[JudgedCriterion, ...] = ()
    evidence_ref: str | None = None
    """The ``llm_judge_report`` that holds it."""
    evidence_id: str | None = None
    warnings: tuple[str, ...] = ()
    """Parts that were neutralised, discounted or left out."""

    @property
    def unsure(self) -> bool:
        """Whether it says achieved with too little confidence: a person decides."""
        return self.verdict == "achieved" and not self.confidence >= CONFIDENCE_BAR  # NaN is not


class NoOpinion(NamedTuple):
    """No usable answer of a judge that was needed: none configured, refused, failed, ..."""

    reason: str
    warnings: tuple[str, ...] = ()
    remedy: Literal["name_judge", "ask", "person"] = "ask"
    """The remedy: to name a judge, to evaluate again, or a person's word alone."""


class Decision(NamedTuple):
    """The status that an evaluation writes, and the one that it may only propose."""

    verdict: VerdictName
    status: NonTerminal
    proposed: Terminal | None
    result: Result
    confidence: float
    blocker_type: BlockerType


def candidate(measured: Iterable[Measured], *, boundary_known: bool) -> Candidate:
    """The result of the commands and the boundary, before any judge.

    ``boundary_known`` is False if git could not answer. A criterion that was not run, or whose
    files changed meanwhile, counts as inconclusive.
    """
    required = [m for m in measured if m.must_pass]
    if any(m.failing for m in required):
        return "fail"
    if not boundary_known or any(not m.fuzzy and not m.passing for m in required):
        return "incomplete"
    if any(m.fuzzy and not m.approved for m in required):
        return "pass+fuzzy"
    return "pass"


def judge_wanted(candidate: Candidate, evaluator_type: str, trigger: str) -> bool:
    """Whether a judge is asked (SPEC 3, step 5)."""
    if candidate == "pass+fuzzy":
        return evaluator_type == "hybrid" or (
            evaluator_type == "flow_verdict_judge" and trigger == "manual"
        )
    return candidate == "pass" and evaluator_type == "flow_verdict_judge" and trigger == "manual"


def decide(
    candidate: Candidate,
    *,
    violation: bool,
    evaluator_type: str,
    trigger: str,
    judge: Opinion | NoOpinion | None = None,
    review: bool = False,
    held: HeldBy = "",
) -> Decision:
    """The table of SPEC 3, step 6.

    ``judge`` is None if none was asked. ``review`` holds back an achieved verdict for a person
    (hooks or git settings changed since activation, SPEC 4), ``held`` for a goal that comes first.
    """
    if violation:
        return Decision("blocked", "blocked", None, "blocked", 1.0, "scope_violation")
    if candidate == "fail":
        return Decision("not_achieved", "active", None, "fail", 1.0, "none")
    if candidate == "incomplete":
        return Decision("not_achieved", "active", None, "incomplete", 1.0, "none")
    if judge is None and candidate == "pass" and evaluator_type != "flow_verdict_judge":
        return _achieved(1.0, review=review, held=held)
    if isinstance(judge, Opinion) and judge_wanted(candidate, evaluator_type, trigger):
        return _with_opinion(judge, review=review, held=held)
    return _person_decides(0.0)


def _with_opinion(judge: Opinion, *, review: bool, held: HeldBy) -> Decision:
    if judge.unsure:
        return _person_decides(judge.confidence)
    if judge.verdict == "achieved":
        return _achieved(judge.confidence, review=review, held=held)
    if judge.verdict == "not_achieved":
        return Decision("not_achieved", "active", None, "incomplete", judge.confidence, "none")
    if judge.verdict == "blocked" and judge.blocker_type != "none":
        return Decision("blocked", "blocked", None, "blocked", judge.confidence, judge.blocker_type)
    if judge.verdict == "needs_human_review":
        return _person_decides(judge.confidence, judge.blocker_type)
    return _person_decides(0.0)  # blocked without a blocker: no usable answer


def _achieved(confidence: float, *, review: bool, held: HeldBy) -> Decision:
    if review:
        return _person_decides(confidence, "missing_approval")
    if held:
        waits = _person_decides(confidence, "missing_dep")
        return waits._replace(status="active") if held == "open" else waits
    return Decision("achieved", "active", "achieved", "pass", confidence, "none")


def on_broken_record(decision: Decision) -> Decision:
    """The decision if an entry of the run's record was altered or is gone: a person looks.

    What was measured earlier has a say in what counts now (*flaky*), and a proposal could not be
    confirmed.
    """
    return _person_decides(decision.confidence)


def _person_decides(confidence: float, blocker: BlockerType = "none") -> Decision:
    return Decision(
        "needs_human_review", "waiting_for_user", None, "needs_human_review", confidence, blocker
    )
