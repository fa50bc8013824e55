"""A judge's answer about a goal, and the ballot that is made from it (SPEC 9.1).

A reply that contradicts itself is no answer, and neither is one of another shape.
"""

from __future__ import annotations

from flow.core.decision.decide import JudgedCriterion, JudgedStatus
from flow.core.decision.verdict import HINT_LIMIT, BlockerType, VerdictName
from flow.core.judging.common.prompt import TEXT, TEXTS, closed_object, list_of
from flow.core.judging.common.question import Question, QuoteSource, Unusable
from flow.core.judging.common.quotes import QuotableTexts, distinct, is_long_enough, mostly_invented
from flow.core.judging.common.reply import are_texts, harmless_line, short, wrong_keys
from flow.core.text.numbers import within
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.core.judging.goal.context import SoughtCriterion

FIELDS = ("criterion_results", "reason", "next_step_hint", "blocker_type", "confidence", "verdict")
ROW_FIELDS = ("criterion_id", "evidence", "reason", "status")
MOST_QUOTES = 100
"""Quotes of one criterion that are checked, at most."""
REASON_CAP = 1000
"""Characters that are kept of a judge's reason."""
ROW_REASON_CAP = 300
"""Characters that are kept of its reason for one criterion."""

Unfounded = Literal["missing", "invented", "mostly invented"]
"""Reason that a pass does not count: no evidence, no quote of it, or most quotes invented."""

STATUSES: tuple[JudgedStatus, ...] = get_args(JudgedStatus)
VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)
BLOCKERS: tuple[BlockerType, ...] = get_args(BlockerType)


def reply_schema(sought: Sequence[SoughtCriterion]) -> dict[str, Any]:
    """The JSON Schema of the reply, evidence first (SPEC 9.1)."""
    quotes = "Passages copied word for word from this criterion's evidence."
    row = {
        "criterion_id": {**TEXT, "enum": [one.id for one in sought]} if sought else TEXT,
        "evidence": {**TEXTS, "description": quotes},
        "reason": {**TEXT, "description": "What the passages show and do not show."},
        "status": {**TEXT, "enum": list(STATUSES)},
    }
    return closed_object(
        {
            "criterion_results": list_of(closed_object(row)),
            "reason": TEXT,
            "next_step_hint": TEXT,
            "blocker_type": {**TEXT, "enum": list(BLOCKERS)},
            "confidence": {"type": "number", "description": "From 0 to 1."},
            "verdict": {**TEXT, "enum": list(VERDICTS)},
        }
    )


class Ballot(NamedTuple):
    """One usable opinion of one judge. Its texts are safe to show."""

    judge: str
    verdict: VerdictName
    confidence: float
    reason: str
    next_step_hint: str
    blocker_type: BlockerType
    rows: tuple[JudgedCriterion, ...]
    remarks: tuple[str, ...] = ()
    """The discounted parts, with reasons."""
    lowered: str = ""
    """Reason that ``verdict`` is lower than the judge's own; empty if it is the judge's own."""

    def lower(self, verdict: VerdictName, reason: str) -> Ballot:
        """The ballot with a lower verdict and without its hint, which fits an achieved goal."""
        return self._replace(verdict=verdict, lowered=reason, next_step_hint="")

    def row(self, criterion_id: str) -> JudgedCriterion:
        """The answer about one criterion."""
        return next(row for row in self.rows if row.id == criterion_id)


def read_reply(
    value: Mapping[str, Any], judge: str, sought: Sequence[SoughtCriterion], question: Question
) -> Ballot | Unusable:
    """``value`` (an object) as a ballot of ``judge``, checked against the question."""
    fault = (
        _shape_fault(value)
        or _answer_fault(value["criterion_results"], sought)
        or _contradiction(value, sought)
    )
    if fault:
        return Unusable(fault)
    remarks: list[str] = []
    rows = []
    unfounded: dict[Unfounded, list[str]] = {name: [] for name in get_args(Unfounded)}
    answers = {row["criterion_id"]: row for row in value["criterion_results"]}
    for criterion in sought:
        row, unproved = _checked(answers[criterion.id], criterion, question, remarks)
        rows.append(row)
        if unproved is not None and criterion.must_pass:
            unfounded[unproved].append(criterion.id)
    ballot = Ballot(
        judge,
        value["verdict"],
        value["confidence"],
        safe_words(value["reason"], REASON_CAP),
        safe_words(value["next_step_hint"], HINT_LIMIT - 40),
        value["blocker_type"],
        tuple(rows),
        tuple(remarks),
    )
    lowered = _why_not_achieved(unfounded) if ballot.verdict == "achieved" else ""
    return ballot.lower("needs_human_review", lowered) if lowered else ballot


_WHY_UNFOUNDED: dict[Unfounded, str] = {
    "invented": "it says achieved, but quotes nothing from the evidence of {}",
    "mostly invented": "it says achieved, but most of what it quotes for {} is in nothing it saw",
    "missing": "there is no evidence for {} to rest a pass on",
}
"""Reasons that ``achieved`` does not count, the gravest first; ``{}`` is for the criteria."""


def _why_not_achieved(unfounded: Mapping[Unfounded, Sequence[str]]) -> str:
    """Reason that a reply's ``achieved`` does not count; empty if all its passes have support."""
    for kind, why in _WHY_UNFOUNDED.items():
        if names := unfounded[kind]:
            return why.format(", ".join(names[:8]))
    return ""


def safe_words(text: str, limit: int) -> str:
    """A judge's words as :func:`harmless_line`, fit for use between double quotes."""
    return harmless_line(text, limit).replace('"', "'").replace("`", "'")


def _shape_fault(value: Mapping[str, Any]) -> str:
    """The fault in the shape of a reply; empty if there is none."""
    if fault := wrong_keys(value, FIELDS, "the reply"):
        return fault
    for key in ("reason", "next_step_hint"):
        if not isinstance(value[key], str):
            return f"{key} is no text"
    for key, words in (("blocker_type", BLOCKERS), ("verdict", VERDICTS)):
        if value[key] not in words:
            return f"{key} is {short(value[key])}, none of {', '.join(words)}"
    confidence = value["confidence"]
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
        return f"confidence is {short(confidence)}, no number"
    if not within(confidence, 0, 1):
        return f"confidence is {short(confidence)}, not from 0 to 1"
    rows = value["criterion_results"]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return "criterion_results is no list of objects"
    faults = (
        wrong_keys(row, ROW_FIELDS, "a criterion result") or _row_shape_fault(row) for row in rows
    )
    return next(filter(None, faults), "")


def _row_shape_fault(row: Mapping[str, Any]) -> str:
    if not isinstance(row["criterion_id"], str) or not isinstance(row["reason"], str):
        return "a criterion result has a criterion_id or a reason that is no text"
    if row["status"] not in STATUSES:
        return f"a status is {short(row['status'])}, none of {', '.join(STATUSES)}"
    return (
        ""
        if are_texts(row["evidence"])
        else "the evidence of a criterion result is no list of texts"
    )


def _answer_fault(rows: Sequence[Mapping[str, Any]], sought: Sequence[SoughtCriterion]) -> str:
    """Reason that the rows do not answer each criterion once; empty if they do."""
    asked = [one.id for one in sought]
    answered = [row["criterion_id"] for row in rows]
    unknown = [short(name) for name in answered if name not in asked]
    twice = sorted({name for name in answered if answered.count(name) > 1})
    silent = [name for name in asked if name not in answered]
    if unknown:
        return f"it answers about criteria nobody asked about: {', '.join(unknown[:5])}"
    if twice:
        return f"it answers twice about {', '.join(twice[:5])}"
    return f"it does not answer about {', '.join(silent[:5])}" if silent else ""


def _contradiction(value: Mapping[str, Any], sought: Sequence[SoughtCriterion]) -> str:
    """Reason that the verdict contradicts the reply's own criteria; empty if it does not."""
    status = {row["criterion_id"]: row["status"] for row in value["criterion_results"]}
    unmet = [one.id for one in sought if one.must_pass and status[one.id] != "pass"]
    required = any(one.must_pass for one in sought)
    verdict = value["verdict"]
    if verdict == "achieved" and unmet:
        return f"its verdict is achieved, but {', '.join(unmet[:5])} does not pass"
    if verdict == "achieved" and value["blocker_type"] != "none":
        return f"its verdict is achieved, but it names a blocker: {value['blocker_type']}"
    if verdict in ("not_achieved", "blocked") and required and not unmet:
        return f"its verdict is {verdict}, but every required criterion passes"
    if verdict == "blocked" and value["blocker_type"] == "none":
        return "its verdict is blocked, but it names no blocker"
    return ""


def _checked(
    row: Mapping[str, Any], criterion: SoughtCriterion, question: Question, remarks: list[str]
) -> tuple[JudgedCriterion, Unfounded | None]:
    """One answer with its quotes checked, and the reason that its pass does not count, if any.

    A criterion that a command proved needs no quote: the judge only looks a second time.
    """
    criterion_id: str = row["criterion_id"]
    own = [source for source in question.sources if source.about(criterion_id)]
    quotable = _QuoteOrigins(own, question)
    origins = [quotable.origin(quote) for quote in distinct(row["evidence"][:MOST_QUOTES])]
    true, elsewhere, invented = (
        origins.count(origin) for origin in ("own", "elsewhere", "nowhere")
    )
    if invented:
        remarks.append(f"{criterion_id}: {_count(invented)} in nothing it was given: discounted")
    if elsewhere:
        remarks.append(f"{criterion_id}: {_count(elsewhere)} not in this criterion's evidence")
    reason = safe_words(row["reason"], ROW_REASON_CAP)
    status: JudgedStatus = row["status"]
    fault: Unfounded | None = None
    lowered = ""
    ground = any(source.counts for source in own)
    proved = not criterion.fuzzy and ground
    if status == "pass" and not true and not (proved and not invented):
        fault = "invented" if ground else "missing"
        rests_on = "no quote from its evidence" if ground else "no evidence at all"
        lowered = f"the pass rests on {rests_on}"
    elif status == "pass" and mostly_invented(true, invented):
        fault = "mostly invented"
        lowered = f"{invented} quotes are invented and {true} true"
    if lowered:
        remarks.append(f"{criterion_id}: {lowered}, so it is incomplete")
        status = "incomplete"
    return JudgedCriterion(criterion_id, status, reason, lowered), fault


def _count(number: int) -> str:
    return "one quote is" if number == 1 else f"{number} quotes are"


class _QuoteOrigins:
    """The texts that a quote may come from: evidence of this criterion that counts, or others."""

    def __init__(self, own: Sequence[QuoteSource], question: Question) -> None:
        self._counting = QuotableTexts([source.text for source in own if source.counts])
        others = [s.text for s in question.sources if not (s in own and s.counts)]
        self._others = QuotableTexts([*others, question.unquotable])

    def origin(self, quote: str) -> Literal["own", "elsewhere", "nowhere", "too short"]:
        """The first of them that has the quote."""
        if self._counting.contain(quote):
            return "own"
        if self._others.contain(quote):
            return "elsewhere"
        return "nowhere" if is_long_enough(quote) else "too short"
