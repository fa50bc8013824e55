"""The Stop hook's door, and what it can only propose (SPEC 6): a loop that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from flow.app.evaluation import proposals
from flow.app.evaluation.evaluate import examine
from flow.app.evaluation.values import Request
from flow.app.transitions import closing as transitions_closing
from flow.errors import StateError
from tests.app.fakes import NOW, World, changed, criterion, goal_document

if TYPE_CHECKING:
    from flow.app.evaluation.values import Evaluated

REASON = "stuck_no_progress: nothing moved"
STOP = Request("issue-4", trigger="stop-hook", reuse={}, quiet=True)


def failing() -> tuple[World, Evaluated]:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    world.outcomes["AC1"] = "failed"
    return world, examine(STOP, world.tools())


def test_giving_up_writes_failed_and_says_who_how_and_why() -> None:
    world, evaluated = failing()
    closed = transitions_closing.give_up(world.desk(), evaluated, REASON, "Stop hook", NOW)
    end = ("issue-4", "run-1", "failed", REASON, None)
    assert closed == transitions_closing.Closed(*end, by="the Stop hook")
    [closing] = world.closings
    assert (closing.to, closing.reason, closing.proposal_id) == ("failed", REASON, None)
    last = closing.last_evaluation
    assert last is not None
    assert (last.result, last.reason, last.at) == ("fail", REASON, NOW)
    assert closing.turns_evaluated == evaluated.verdict.turns_evaluated == 1
    assert [(row.id, row.status) for row in closing.criteria] == [("AC1", "fail"), ("AC2", "pass")]
    assert all("eval-1" in str(row.evidence_ref) for row in closing.criteria)
    assert closing.event["type"] == "transition"
    assert (closing.event["from"], closing.event["to"]) == ("active", "failed")
    assert (closing.event["how"], closing.event["reason"]) == ("Stop hook", REASON)
    fields = closing.artifact.fields
    assert (fields["from"], fields["to"], fields["result"]) == ("active", "failed", "fail")
    assert (fields["how"], fields["reason"]) == ("Stop hook", REASON)
    assert "proposal_id" not in fields
    assert closing.event["by"] == "the Stop hook"
    assert "confirmed_by" not in fields  # nobody was asked


def test_a_long_reason_is_cut_in_the_goal() -> None:
    world, evaluated = failing()
    transitions_closing.give_up(world.desk(), evaluated, "r" * 5000, "Stop hook", NOW)
    assert world.closings[0].last_evaluation is not None
    assert len(world.closings[0].last_evaluation.reason) == 2048


def test_a_blocked_goal_is_resumed_first() -> None:
    world, evaluated = failing()
    world.document["lifecycle"]["status"] = "blocked"
    transitions_closing.give_up(world.desk(), evaluated, REASON, "Stop hook", NOW)
    assert world.log[-2:] == ["move active", "close failed"]


def test_a_contract_that_was_changed_meanwhile_is_not_given_up() -> None:
    world, evaluated = failing()
    world.document["objective"]["outcome"] = "another"
    with pytest.raises(StateError, match="was changed while it was evaluated") as caught:
        transitions_closing.give_up(world.desk(), evaluated, REASON, "Stop hook", NOW)
    assert caught.value.code == "moved"
    assert world.closings == []


@pytest.mark.parametrize(("waits", "status"), [(True, "waiting_for_user"), (False, "active")])
def test_failed_can_be_proposed(waits: bool, status: str) -> None:
    world, evaluated = failing()
    said = transitions_closing.propose_failed(
        world,  # type: ignore[arg-type]
        world,  # type: ignore[arg-type]
        evaluated,
        REASON,
        waits=waits,
        now=NOW,
    )
    turn = world.turns[-1]
    assert (turn.status, turn.turns_evaluated, turn.criteria) == (status, 1, ())
    assert (turn.last_evaluation.result, turn.last_evaluation.reason) == ("fail", REASON)
    assert turn.last_evaluation.at == NOW
    fields = turn.artifact.fields
    assert (fields["from"], fields["to"], fields["reason"]) == ("active", status, REASON)
    assert turn.event["type"] == "transition"
    assert (turn.event["from"], turn.event["to"]) == ("active", status)
    assert turn.event["reason"] == REASON
    proposal = turn.proposal
    assert proposal is not None
    assert turn.event["proposal_id"] == proposal["proposal_id"]
    assert (proposal["to"], proposal["verdict"], proposal["reason"]) == (
        "failed",
        "not_achieved",
        REASON,
    )
    assert proposals.is_intact(proposal)
    proposed = said.proposed_transition
    assert proposed is not None
    assert (proposed.to, proposed.proposal_id) == ("failed", proposal["proposal_id"])
    assert (said.reason, said.lifecycle_to) == (REASON, status)


def test_what_was_proposed_a_person_can_confirm() -> None:
    world, evaluated = failing()
    ledger: Any = world
    said = transitions_closing.propose_failed(
        ledger, ledger, evaluated, REASON, waits=True, now=NOW
    )
    assert said.proposed_transition is not None
    proposal_id = said.proposed_transition.proposal_id
    closed = transitions_closing.confirm(
        world.desk(), "issue-4", proposal_id, None, "flow goal confirm"
    )
    assert closed.status == "failed"
    assert world.log[-2:] == ["move active", "close failed"]


def test_where_git_could_not_answer_nothing_is_proposed() -> None:
    world = World(goal_document(criterion("AC1")))
    world.outcomes["AC1"] = "failed"
    world.problems = ("a merge is under way",)
    evaluated = examine(STOP, world.tools())
    turns = len(world.turns)
    ledger: Any = world
    said = transitions_closing.propose_failed(
        ledger, ledger, evaluated, REASON, waits=True, now=NOW
    )
    assert (said.reason, said.proposed_transition) == (REASON, None)
    assert len(world.turns) == turns


def test_an_evaluation_that_looked_at_nothing_proposes_nothing() -> None:
    world, evaluated = failing()
    ledger: Any = world
    blind = evaluated._replace(evaluation=None)
    said = transitions_closing.propose_failed(ledger, ledger, blind, REASON, waits=True, now=NOW)
    assert said == evaluated.verdict


def test_confirming_names_the_evidence_that_the_proposal_counted() -> None:
    """The hook measured again without touching the goal, which still names older evidence."""
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    first = examine(STOP, world.tools()).verdict
    world.changes = (changed("src/new"),)
    second = examine(STOP, world.tools()).verdict
    assert second.proposed_transition is not None
    refs = [row.evidence_ref for row in second.criterion_results]
    assert refs != [row.evidence_ref for row in first.criterion_results]
    proposal_id = second.proposed_transition.proposal_id
    transitions_closing.confirm(world.desk(), "issue-4", proposal_id, None, "flow goal confirm")
    [closing] = world.closings
    assert [(c.id, c.status, c.evidence_ref) for c in closing.criteria] == [
        ("AC1", "pass", refs[0]),
        ("AC2", "pass", refs[1]),
    ]


def test_confirming_at_once_changes_no_reference() -> None:
    world = World(goal_document(criterion("AC1")))
    verdict = examine(STOP, world.tools()).verdict
    assert verdict.proposed_transition is not None
    proposal_id = verdict.proposed_transition.proposal_id
    transitions_closing.confirm(world.desk(), "issue-4", proposal_id, None, "flow goal confirm")
    assert world.closings[0].criteria == ()
