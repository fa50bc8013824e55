"""What a debate came to, and the document that tells it (SPEC 9.4)."""

from __future__ import annotations

from flow.core.judging.common.numbers import at_most
from flow.core.judging.debate import analysis as debate_analysis
from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate import points as debate_points
from flow.core.judging.debate.final import report
from flow.core.judging.debate.state import initial, positions_of_round, revisions
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.judging.debate.model import Agreement, Position, Revision
    from flow.core.judging.debate.state import Held


def document(held: Held) -> dict[str, Any]:
    """As ``--json`` prints it."""
    positions = held.positions
    revised = revisions(held)
    document_fields: dict[str, Any] = {
        "consensus": held.consensus,
        "mode": held.mode,
        "rounds": held.rounds,
        "scores": None,
        "overall": None,
        "recommendation": None,
        **_points(held),
        "support": at_most(held.support) if positions else None,
        "needs_human_review": not held.decided,
        "debate_summary": _summary(held, revised),
        "disagreements": _disagreements(held) if held.agreements and not held.consensus else [],
        "analysis": debate_analysis.document(held) if debate_analysis.wanted(held) else None,
        "missing": [silent._asdict() for silent in held.silent],
        "altered": [{"file": path, "what": what} for path, what in held.altered],
        "ballots": [_ballot(held, position) for position in positions_of_round(held, 0)],
        "final": [_ballot(held, position) for position in positions],
        "reports": [judge.path for judge in held.judges if judge.sections],
        "judges": [{"judge": judge.number, "name": judge.name} for judge in held.judges],
        "solution": list(held.about.solution),
        "criteria": [
            {"name": c.name, "weight": float(c.share), "description": c.description}
            for c in held.about.criteria
        ],
        "calls": held.calls,
        "cost_usd": held.cost_usd,
        "cost_usd_earlier": held.earlier_usd,
        "warnings": list(held.warnings),
    }
    if held.decided:
        combine = debate_model.medians if held.mode == "vote" else debate_model.means
        scores = combine(held.about.criteria, positions)
        document_fields["scores"] = {
            name: at_most(score) for name, score in scores.criteria.items()
        }
        document_fields["overall"] = at_most(scores.overall)
        document_fields["recommendation"] = debate_model.recommended(positions)
    document_fields["report"] = report(held)
    return document_fields


def _ballot(held: Held, position: Position) -> dict[str, Any]:
    return {
        "judge": position.judge,
        "scores": {mark.name: debate_model.plain_number(mark.score) for mark in position.marks},
        "overall": at_most(debate_model.overall(held.about.criteria, position)),
        "recommendation": position.recommendation,
        "accepts_consensus": position.accepts,
    }


def _summary(held: Held, revised: Sequence[Revision]) -> dict[str, Any]:
    ends = (held.agreements[0], held.agreements[-1]) if held.agreements else ()
    before, after = ([_spread(one) for one in ends]) or (None, None)
    return {
        "rounds": held.rounds,
        "initial_disagreements": [
            {"criterion": name, "gap": float(gap)} for name, gap in initial(held)
        ],
        "revisions": [
            {
                "judge": one.judge,
                "round": one.round,
                "criterion": one.criterion,
                "before": debate_model.plain_number(one.before),
                "after": debate_model.plain_number(one.after),
                "reason": one.reason,
                "new_evidence": list(one.new_evidence),
                "conformity": one.conformity,
            }
            for one in revised
        ],
        "conformity": sum(one.conformity for one in revised),
        "spread_before": before,
        "spread_after": after,
    }


def _spread(one: Agreement) -> dict[str, Any]:
    criteria = {name: float(gap) for name, gap in one.criteria.items()}
    return {"overall": float(one.overall), "criteria": criteria}


def _disagreements(held: Held) -> list[dict[str, Any]]:
    """What keeps the judges apart, criterion by criterion, and then as a whole."""
    last, positions = held.agreements[-1], held.positions
    disagreements: list[dict[str, Any]] = [
        {
            "criterion": name,
            "gap": float(last.criteria[name]),
            "scores": {str(p.judge): debate_model.plain_number(p.score(name)) for p in positions},
        }
        for name in last.apart
    ]
    if last.overall > debate_model.OVERALL_LIMIT:
        overall = {
            str(p.judge): float(debate_model.overall(held.about.criteria, p)) for p in positions
        }
        disagreements.append({"criterion": None, "gap": float(last.overall), "scores": overall})
    if last.refusing:
        disagreements.append({"criterion": None, "not_accepted_by": list(last.refusing)})
    if not last.supported:
        disagreements.append({"criterion": None, "support": at_most(last.support)})
    return disagreements


def _points(held: Held) -> dict[str, Any]:
    """The points that all judges hold, and those of some with the judges that hold them."""
    by_kind: dict[str, Any] = {}
    for kind in debate_points.KINDS:
        points = held.points(kind)
        by_kind[kind] = [point.text for point in points if held.of_all(point)]
        by_kind[f"some_{kind}"] = [
            {"text": point.text, "judges": list(point.judges)}
            for point in points
            if not held.of_all(point)
        ]
    return by_kind
