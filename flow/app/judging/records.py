"""Judges' answers as evidence (SPEC 3, step 5): every ballot, and the tally."""

from __future__ import annotations

import json

from flow.app.judging.asking import total
from flow.app.judging.port import NoAnswer, Usage
from flow.core import layout
from flow.core.decision.decide import JudgedCriterion, Opinion
from flow.core.evidence.freshness import differences
from flow.core.evidence.model import EVALUATOR, ONLY_GIVEN, ONLY_OPINION, evidence_document
from flow.core.goal.model import canonical_digest
from flow.core.untrusted.fences import SOURCE_LIMIT
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flow.app.checks import RawOutput
    from flow.app.evaluation.values import Facts, JudgeCase
    from flow.app.ports import Records, TurnLedger
    from flow.core.evidence.model import Evidence
    from flow.core.judging.common.question import Question, QuoteSource
    from flow.core.judging.goal.ballots import Tally
    from flow.core.judging.goal.context import SoughtCriterion
    from flow.core.judging.goal.delegated import DelegatedOpinion
    from flow.core.judging.goal.reply import Ballot


class AskedBallot(NamedTuple):
    """One ballot: what was asked and what came of it."""

    number: int
    judge: str
    question: Question
    usage: Usage
    ballot: Ballot | NoAnswer
    """A reply that is not usable is no answer."""
    value: Mapping[str, Any] | None = None
    """The reply as it came, usable or not."""
    rubrics: tuple[Mapping[str, Any], ...] = ()
    """The judgements by the rubrics of its criteria."""


class Canary(NamedTuple):
    """A judge's answer to the question without evidence. ``why`` is empty if it passed."""

    judge: str
    why: str
    usage: Usage | None


class OpinionRecorder(NamedTuple):
    """Records the answers of judges."""

    ledger: TurnLedger
    stash: Callable[[bytes], RawOutput]
    """Puts bytes on the disk, to be published beside a sidecar."""
    now: Callable[[], str]


class RecordedSidecar(NamedTuple):
    """The id and the path of a recorded sidecar."""

    id: str
    path: str


class Judgement(NamedTuple):
    """The ballots of one evaluation, and their result."""

    ballots: Sequence[AskedBallot]
    tally: Tally | None
    """None if the ballots give no result."""
    delegated: Sequence[DelegatedOpinion]
    judges: Sequence[str]
    """The names of the panel's judges, including those without a ballot to cast."""
    canaries: Sequence[Canary]


def record_judgement(
    case: JudgeCase, judgement: Judgement, recorder: OpinionRecorder
) -> RecordedSidecar | None:
    """Record every ballot, and the opinion; returns the opinion's sidecar, None without one.

    One ballot alone is the opinion: it gets one sidecar.
    """
    ballots, tally = judgement.ballots, judgement.tally
    only = ballots[0] if len(ballots) == 1 and tally is not None else None
    sidecars: list[RecordedSidecar] = []
    if only is None:
        sidecars = [
            _record_sidecar(
                case, f"ballot-{row.number + 1}", _ballot_document(row), (), row, recorder
            )
            for row in ballots
        ]
    if tally is None:
        return None
    body = {
        **({"given": _sent_documents(ballots)} if only is None else _ballot_document(only)),
        **_opinion_document(judgement, tally, [sidecar.path for sidecar in sidecars]),
    }
    passed = tuple(row.id for row in tally.criteria if row.status == "pass")
    return _record_sidecar(case, "eval", body, passed, only, recorder)


def _opinion_document(
    judgement: Judgement, tally: Tally, sidecars: Sequence[str]
) -> dict[str, Any]:
    calls = [
        *(row.document for row in judgement.delegated),
        *(row.usage._asdict() for row in judgement.ballots),
    ]
    return {
        "verdict": tally.verdict,
        "confidence": tally.confidence,
        "blocker_type": tally.blocker_type,
        "reason": tally.reason,
        "next_step_hint": tally.next_step_hint,
        "criteria": [_criterion(row) for row in tally.criteria],
        "judges": list(judgement.judges),
        "apart": [_criterion_document(row) for row in judgement.delegated] or None,
        "ballots": {
            "asked": tally.asked,
            "usable": tally.usable,
            "agreeing": tally.agreeing,
            "spread": tally.spread,
            "sidecars": list(sidecars),
        },
        "canaries": [
            {"judge": c.judge, "passed": not c.why, "reason": c.why, **_usage_document(c.usage)}
            for c in judgement.canaries
        ],
        "cost_usd": _rounded_total([call.get("cost_usd") for call in calls]),
        "duration_seconds": _rounded_total([call.get("duration_seconds") for call in calls]),
    }


def _criterion_document(judged: DelegatedOpinion) -> dict[str, Any]:
    """A criterion that no ballot is about, as the opinion's sidecar holds it."""
    return {
        "criterion_id": judged.id,
        "way": judged.way,
        "status": judged.status,
        "reason": judged.reason,
        "confidence": judged.confidence,
        "judges": list(judged.judges),
        "remarks": list(judged.remarks),
        **judged.document,
    }


def opinion(
    evidence: Evidence,
    facts: Facts,
    sought: Sequence[SoughtCriterion],
    judges: Sequence[str],
    records: Records,
) -> Opinion | None:
    """The opinion in a sidecar; None unless it is these judges' on these criteria and files."""
    recorded = evidence.judgement
    if "ballots" not in recorded or facts.subject.tree is None:
        return None
    if recorded.get("judges") != list(judges):
        return None
    if differences(evidence, facts.subject, facts.loaded.goal):
        return None
    path = layout.evidence_file(evidence.run_id, evidence.id)
    if records.counted(path) is None:  # not Flow's own words: they may have any shape
        return None
    if [row["id"] for row in recorded["criteria"]] != [row.id for row in sought]:
        return None
    if any(records.counted(each) is None for each in recorded["ballots"]["sidecars"]):
        return None
    return Opinion(
        recorded["verdict"],
        float(recorded["confidence"]),
        recorded["reason"],
        recorded["next_step_hint"],
        recorded["blocker_type"],
        tuple(JudgedCriterion(**row) for row in recorded["criteria"]),
        path,
        evidence.id,
        ("the judges' opinion of these files is on record; they were not asked again",),
    )


def _ballot_document(asked: AskedBallot) -> dict[str, Any]:
    """One ballot, with the question's digests and the reply."""
    question, ballot = asked.question, asked.ballot
    body: dict[str, Any] = {
        "judge": asked.judge,
        "ballot": asked.number + 1,
        **_usage_document(asked.usage),
        "prompt_sha256": canonical_digest([question.system, question.prompt]),
        "prompt_bytes": question.size,
        "neutralised": list(question.reports),
        "left_out": list(question.left_out),
    }
    if asked.usage.attempts:
        body["given"] = [_given_document(piece) for piece in question.sources]
    if isinstance(ballot, NoAnswer):
        return {**body, "no_answer": {"kind": ballot.kind, "reason": ballot.reason[:2000]}}
    body |= {
        "verdict": ballot.verdict,
        "confidence": ballot.confidence,
        "reason": ballot.reason,
        "criteria": [_criterion(row) for row in ballot.rows],
        "remarks": list(ballot.remarks),
    }
    if asked.rubrics:
        body["rubrics"] = [dict(judgement) for judgement in asked.rubrics]
    return body


def _sent_documents(ballots: Sequence[AskedBallot]) -> list[dict[str, Any]]:
    """The context that was sent to the first judge reached; every judge gets the same."""
    reached = (row.question for row in ballots if row.usage.attempts)
    return next(([_given_document(piece) for piece in each.sources] for each in reached), [])


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
    fields = {**usage._asdict(), "duration_seconds": round(usage.duration_seconds, 3)}
    return {key: value for key, value in fields.items() if value is not None}


def _rounded_total(values: Sequence[Any]) -> float | None:
    sum_of_known = total(values)
    return None if sum_of_known is None else round(sum_of_known, 6)


def _record_sidecar(
    case: JudgeCase,
    name: str,
    judgement: Mapping[str, Any],
    proves: Sequence[str],
    ballot: AskedBallot | None,
    recorder: OpinionRecorder,
) -> RecordedSidecar:
    facts = case.facts
    document = evidence_document(
        id=f"evidence-judge-{name}-{facts.turn}",
        goal=facts.loaded.goal.id,
        run_id=facts.run_id,
        created_at=recorder.now(),
        created_by=EVALUATOR,
        type="llm_judge_report",
        body={
            "proves": list(proves),
            "limitations": [ONLY_OPINION, ONLY_GIVEN],
            "judgement": {key: value for key, value in judgement.items() if value is not None},
            "subject": facts.subject.to_document(),
        },
    )
    output = None
    if ballot is not None and ballot.value is not None:
        text = json.dumps(ballot.value, indent=1, ensure_ascii=True)
        output = recorder.stash(text.encode("ascii"))
    return RecordedSidecar(*recorder.ledger.record_evidence(document, output, suffix=True))
