"""What judges said, as evidence (SPEC 3, step 5): every ballot, and what they came to."""

from __future__ import annotations

import json

from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.core import layout
from flow.core.decision.decide import JudgedCriterion, Opinion
from flow.core.evidence.freshness import differences
from flow.core.evidence.model import EVALUATOR, ONLY_GIVEN, ONLY_OPINION, evidence_document
from flow.core.goal.model import canonical_digest
from flow.core.untrusted.fences import SOURCE_LIMIT
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.evaluation.values import Facts, JudgeCase
    from flow.app.judging.port import Usage
    from flow.app.ports import RawOutput, Records, TurnLedger
    from flow.core.evidence.model import Evidence
    from flow.core.judging.common.question import Question, QuoteSource
    from flow.core.judging.goal import reply
    from flow.core.judging.goal.ballots import Tally
    from flow.core.judging.goal.bundle import Sought
    from flow.core.judging.goal.delegated import Heard


class AskedBallot(NamedTuple):
    """One ballot: what was asked and what came of it."""

    number: int
    judge: str
    put: Question
    usage: Usage
    answer: JudgeAnswer | NoAnswer
    """A reply that is not usable is no answer."""
    ballot: reply.Ballot | None
    value: Mapping[str, Any] | None = None
    """The reply as it came, usable or not."""
    rubrics: tuple[Mapping[str, Any], ...] = ()
    """What the rubrics of its criteria came to."""


class Canary(NamedTuple):
    """What a judge said to the question without evidence. ``why`` is empty where it passed."""

    judge: str
    why: str
    usage: Usage | None


class Keep(NamedTuple):
    """Where a judge's words are recorded."""

    ledger: TurnLedger
    stash: Callable[[bytes], RawOutput]
    """Puts bytes on the disk, to be published beside a sidecar."""
    now: Callable[[], str]


class KeptSidecar(NamedTuple):
    """A recorded sidecar."""

    id: str
    path: str


def record_judgement(
    case: JudgeCase,
    asked: Sequence[AskedBallot],
    counted: Tally | None,
    heard: Sequence[Heard],
    judges: Sequence[str],
    canaries: Mapping[str, Canary],
    to: Keep,
) -> KeptSidecar | None:
    """Record every ballot, and the opinion; returns the opinion's sidecar, None without one.

    One ballot alone is the opinion: it gets one sidecar. What was heard apart is in the opinion's.
    ``judges`` names who is asked, also where there was no ballot to cast.
    """
    rows: list[KeptSidecar] = []
    if len(asked) > 1 or counted is None:
        rows = [
            _record_sidecar(case, f"ballot-{one.number + 1}", _ballot_document(one), (), one, to)
            for one in asked
        ]
    if counted is None:
        return None
    body: dict[str, Any] = {
        **(_ballot_document(asked[0]) if len(asked) == 1 else {"given": _sent_documents(asked)}),
        "verdict": counted.verdict,
        "confidence": counted.confidence,
        "blocker_type": counted.blocker_type,
        "reason": counted.reason,
        "next_step_hint": counted.next_step_hint,
        "criteria": [_criterion(row) for row in counted.criteria],
        "judges": list(judges),
        "apart": [_criterion_document(one) for one in heard] or None,
        "ballots": {
            "asked": counted.asked,
            "usable": counted.usable,
            "agreeing": counted.agreeing,
            "spread": counted.spread,
            "sidecars": [row.path for row in rows],
        },
        "canaries": [
            {"judge": c.judge, "passed": not c.why, "reason": c.why, **_usage_document(c.usage)}
            for c in canaries.values()
        ],
        "cost_usd": _total_or_none(
            [*_heard_values(heard, "cost_usd"), *(one.usage.cost_usd for one in asked)]
        ),
        "duration_seconds": _total_or_none(
            [
                *_heard_values(heard, "duration_seconds"),
                *(one.usage.duration_seconds for one in asked),
            ]
        ),
    }
    passed = tuple(row.id for row in counted.criteria if row.status == "pass")
    only = asked[0] if len(asked) == 1 else None
    return _record_sidecar(case, "eval", body, passed, only, to)


def _criterion_document(one: Heard) -> dict[str, Any]:
    """What was heard of one criterion, as the opinion's sidecar holds it."""
    return {
        "criterion_id": one.id,
        "way": one.way,
        "status": one.status,
        "reason": one.reason,
        "confidence": one.confidence,
        "judges": list(one.judges),
        "remarks": list(one.remarks),
        **one.document,
    }


def _heard_values(heard: Sequence[Heard], key: str) -> list[Any]:
    return [one.document.get(key) for one in heard]


def opinion(
    evidence: Evidence,
    facts: Facts,
    asked: Sequence[Sought],
    judges: Sequence[str],
    records: Records,
) -> Opinion | None:
    """What a sidecar says, if it is these judges' opinion of these criteria on these files."""
    said = evidence.document["evidence"].get("judgement")
    if not isinstance(said, dict) or "ballots" not in said or facts.subject.tree is None:
        return None
    if differences(evidence, facts.subject, facts.loaded.goal) or said.get("judges") != list(
        judges
    ):
        return None
    path = layout.evidence_file(evidence.run_id, evidence.id)
    if records.counted(path) is None:  # not Flow's own words: they may have any shape
        return None
    if [row["id"] for row in said["criteria"]] != [one.id for one in asked]:
        return None
    if any(records.counted(each) is None for each in said["ballots"]["sidecars"]):
        return None
    return Opinion(
        said["verdict"],
        float(said["confidence"]),
        said["reason"],
        said["next_step_hint"],
        said["blocker_type"],
        tuple(JudgedCriterion(**row) for row in said["criteria"]),
        path,
        evidence.id,
        ("the judges' opinion of these files is on record; they were not asked again",),
    )


def _ballot_document(one: AskedBallot) -> dict[str, Any]:
    """What one ballot was, and was made of."""
    body: dict[str, Any] = {
        "judge": one.judge,
        "ballot": one.number + 1,
        **_usage_document(one.usage),
        "prompt_sha256": canonical_digest([one.put.system, one.put.prompt]),
        "prompt_bytes": one.put.size,
        "neutralised": list(one.put.reports),
        "left_out": list(one.put.left_out),
    }
    if one.usage.attempts:
        body["given"] = [_given_document(piece) for piece in one.put.sources]
    if isinstance(one.answer, NoAnswer):
        return {**body, "no_answer": {"kind": one.answer.kind, "reason": one.answer.reason[:2000]}}
    if one.ballot is not None:
        body |= {
            "verdict": one.ballot.verdict,
            "confidence": one.ballot.confidence,
            "reason": one.ballot.reason,
            "criteria": [_criterion(row) for row in one.ballot.rows],
            "remarks": list(one.ballot.remarks),
        }
        if one.rubrics:
            body["rubrics"] = [dict(judgement) for judgement in one.rubrics]
    return body


def _sent_documents(asked: Sequence[AskedBallot]) -> list[dict[str, Any]]:
    """What the first judge that was reached was given; each one gets the same."""
    reached = (one for one in asked if one.usage.attempts)
    return next(([_given_document(piece) for piece in one.put.sources] for one in reached), [])


def _given_document(piece: QuoteSource) -> dict[str, Any]:
    """A piece of evidence that was sent, as ``status`` names it."""
    return {
        "criteria": [piece.criterion_id, *piece.also],
        "what": piece.kind,
        "source": piece.origin[:SOURCE_LIMIT],
    }


def _criterion(row: JudgedCriterion) -> dict[str, Any]:
    optional = ("lowered", "remark")
    return {key: value for key, value in row._asdict().items() if value or key not in optional}


def _usage_document(usage: Usage | None) -> dict[str, Any]:
    if usage is None:
        return {}
    fields = {
        "backend": usage.backend,
        "model": usage.model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "duration_seconds": round(usage.duration_seconds, 3),
        "attempts": usage.attempts,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _total_or_none(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known), 6) if known else None


def _record_sidecar(
    case: JudgeCase,
    name: str,
    judgement: Mapping[str, Any],
    proves: Sequence[str],
    one: AskedBallot | None,
    to: Keep,
) -> KeptSidecar:
    facts = case.facts
    document = evidence_document(
        id=f"evidence-judge-{name}-{facts.turn}",
        goal=facts.loaded.goal.id,
        run_id=facts.run_id,
        created_at=to.now(),
        created_by=EVALUATOR,
        type="llm_judge_report",
        body={
            "proves": list(proves),
            "limitations": [ONLY_OPINION, ONLY_GIVEN],
            "judgement": {key: value for key, value in judgement.items() if value is not None},
            "subject": facts.subject.to_document(),
        },
    )
    said = None
    if one is not None and one.value is not None:
        text = json.dumps(one.value, indent=1, ensure_ascii=True)
        said = to.stash(text.encode("ascii"))
    return KeptSidecar(*to.ledger.record_evidence(document, said, suffix=True))
