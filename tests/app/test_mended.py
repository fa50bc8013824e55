"""Defects that mutation testing found: broken files, and a proposal nobody could confirm."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.evaluation.values import Request
from flow.app.transitions import closing as transitions_closing
from flow.errors import StaleProposal
from tests.app.fakes import World, evaluate, goal_document


def proposed() -> World:
    world = World(goal_document())
    evaluate(Request("issue-4"), world.tools())
    assert world.live is not None
    return world


def confirm(world: World, proposal: str) -> transitions_closing.Closed:
    return transitions_closing.confirm(world.desk(), "issue-4", proposal, None, "flow goal confirm")


MALFORMED: list[dict[str, Any]] = [
    {"contract": None},
    {"tree": 3},
    {"run_id": None},
    {"reason": 7},
    {"to": "active"},
    {"to": ["achieved"]},
    {"proposal_id": None},
    {"evidence": None},
    {"evidence": "a path"},
    {"evidence": [1]},
]


@pytest.mark.parametrize("change", MALFORMED)
def test_a_proposal_file_that_somebody_broke_is_no_proposal(change: dict[str, Any]) -> None:
    world = proposed()
    asked = (world.live or {})["proposal_id"]
    world.live = {**(world.live or {}), **change}
    with pytest.raises(StaleProposal):
        confirm(world, asked)
    for key in change:
        world.live = {k: v for k, v in world.live.items() if k != key}
    with pytest.raises(StaleProposal):
        confirm(world, asked)
    assert world.closings == []


def test_lost_evidence_makes_a_new_proposal_at_the_next_evaluation() -> None:
    """``evaluate again`` must be a way out, or the goal could never be closed."""
    world = proposed()
    first = (world.live or {})["proposal_id"]
    world.altered.update(world.evidence)
    evaluate(Request("issue-4"), world.tools())
    assert world.live is not None
    assert world.live["proposal_id"] != first
    assert confirm(world, world.live["proposal_id"]).status == "achieved"


def row(id: Any) -> dict[str, Any]:
    return {"criterion_id": id, "status": "pass"}


@pytest.mark.parametrize(
    ("rows", "delta"),
    [
        ([{"status": "pass"}], "made_progress"),
        ([row(["AC1"])], "made_progress"),
        ([row(None), row("AC1")], "unchanged"),
    ],
)
def test_a_verdict_file_that_somebody_broke_ends_no_evaluation(rows: Any, delta: str) -> None:
    world = World(goal_document(turns=1))
    world.verdict = {"goal_id": "issue-4", "criterion_results": rows}
    assert evaluate(Request("issue-4"), world.tools()).delta == delta
