"""The result of a debate as a document (SPEC 9.4)."""

from __future__ import annotations

from flow.core.judging.debate import analysis as debate_analysis
from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate import points as debate_points
from flow.core.judging.debate.final import report
from flow.core.judging.debate.state import DebateState, initial_gaps, positions_of_round, revisions
from flow.core.text.numbers import at_most
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.core.judging.debate.model import Agreement, Position, Revision


def document(state: DebateState) -> dict[str, Any]:
    """The result as ``--json`` prints it."""
    positions = state.positions
    revised = revisions(state)
    document_fields: dict[str, Any] = {
        "consensus": state.consensus,
        "mode": state.mode,
        "rounds": state.rounds,
        "scores": None,
        "overall": None,
        "recommendation": None,
        **_points(state),
        "support": at_most(state.support) if positions else None,
        "needs_human_review": not state.decided,
        "debate_summary": _summary(state, revised),
        "disagreements": _disagreements(state) if state.agreements and not state.consensus else [],
        "analysis": debate_analysis.document(state) if debate_analysis.wanted(state) else None,
        "missing": [silent._asdict() for silent in state.silent],
        "altered": [{"file": path, "what": what} for path, what in state.altered],
        "ballots": [_ballot(state, position) for position in positions_of_round(state, 0)],
        "final": [_ballot(state, position) for position in positions],
        "reports": [judge.path for judge in state.judges if judge.sections],
        "judges": [{"judge": judge.number, "name": judge.name} for judge in state.judges],
        "solution": list(state.about.solution),
        "criteria": [
            {"name": c.name, "weight": float(c.share), "description": c.description}
            for c in state.about.criteria
        ],
        "calls": state.calls,
        "cost_usd": state.cost_usd,
        "cost_usd_earlier": state.earlier_usd,
        "warnings": list(state.warnings),
    }
    if state.decided:
        combine = debate_model.medians if state.mode == "vote" else debate_model.means
        scores = combine(state.about.criteria, positions)
        document_fields["scores"] = {
            name: at_most(score) for name, score in scores.criteria.items()
        }
        document_fields["overall"] = at_most(scores.overall)
        document_fields["recommendation"] = debate_model.recommended(positions)
    document_fields["report"] = report(state)
    return document_fields


def _ballot(state: DebateState, position: Position) -> dict[str, Any]:
    return {
        "judge": position.judge,
        "scores": {mark.name: debate_model.plain_number(mark.score) for mark in position.marks},
        "overall": at_most(debate_model.overall(state.about.criteria, position)),
        "recommendation": position.recommendation,
        "accepts_consensus": position.accepts,
    }


def _summary(state: DebateState, revised: Sequence[Revision]) -> dict[str, Any]:
    ends = (state.agreements[0], state.agreements[-1]) if state.agreements else ()
    before, after = ([_spread(one) for one in ends]) or (None, None)
    return {
        "rounds": state.rounds,
        "initial_disagreements": [
            {"criterion": name, "gap": float(gap)} for name, gap in initial_gaps(state)
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


def _disagreements(state: DebateState) -> list[dict[str, Any]]:
    """The differences between the judges, criterion by criterion, and then as a whole."""
    last, positions = state.agreements[-1], state.positions
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
            str(p.judge): float(debate_model.overall(state.about.criteria, p)) for p in positions
        }
        disagreements.append({"criterion": None, "gap": float(last.overall), "scores": overall})
    if last.refusing:
        disagreements.append({"criterion": None, "not_accepted_by": list(last.refusing)})
    if not last.supported:
        disagreements.append({"criterion": None, "support": at_most(last.support)})
    return disagreements


def _points(state: DebateState) -> dict[str, Any]:
    """The points that all judges share, and those of some with the judges that share them."""
    by_kind: dict[str, Any] = {}
    for kind in debate_points.KINDS:
        points = state.points(kind)
        by_kind[kind] = [point.text for point in points if state.of_all(point)]
        by_kind[f"some_{kind}"] = [
            {"text": point.text, "judges": list(point.judges)}
            for point in points
            if not state.of_all(point)
        ]
    return by_kind
