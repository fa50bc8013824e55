"""The doors to a terminal status: what they need, what they write, what spoils a proposal."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.evaluation import proposals
from flow.app.evaluation.proposals import Grounds, proposal_id
from flow.app.evaluation.values import Request
from flow.app.ports import Closing, Move
from flow.app.transitions import closing as transitions_closing
from flow.app.transitions.persons_word import PersonsWord
from flow.core.chain.walk import ChainFinding
from flow.core.decision.verdict import CriterionResult
from flow.core.evidence.model import Subject
from flow.core.goal.lifecycle import TERMINAL
from flow.errors import InputError, StaleProposal, StateError
from tests.app.fakes import World, changed, criterion, evaluate, goal_document, sidecar

FAILING = {"AC1": "failed"}


def proposed(*criteria: dict[str, Any], **document: Any) -> World:
    """A world whose goal has a live proposal to be achieved."""
    world = World(goal_document(*criteria, **document))
    evaluate(Request("issue-4"), world.tools())
    assert world.live is not None
    return world


def confirm(
    world: World, proposal: str | None = None, reason: str | None = None
) -> transitions_closing.Closed:
    live = str((world.live or {}).get("proposal_id"))
    return transitions_closing.confirm(
        world.desk(), "issue-4", proposal or live, reason, "flow goal confirm"
    )


# --- confirm --------------------------------------------------------------------------------------


def test_confirming_writes_the_proposed_status_and_says_whose_word_it_was() -> None:
    world = proposed()
    live = dict(world.live or {})
    closed = confirm(world)
    assert world.document["lifecycle"]["status"] == "achieved"
    assert closed == transitions_closing.Closed(
        "issue-4", "run-1", "achieved", live["reason"], live["proposal_id"], "sam"
    )
    assert closed.to_document() == {
        "goal_id": "issue-4",
        "run_id": "run-1",
        "status": "achieved",
        "reason": live["reason"],
        "proposal_id": live["proposal_id"],
        "by": "sam",
        "by_from": None,
        "note": "",
    }
    (closing,) = world.closings
    assert closing == Closing(
        to="achieved",
        reason=live["reason"],
        artifact=closing.artifact,
        event={
            "type": "confirmed",
            "from": "active",
            "to": "achieved",
            "reason": live["reason"],
            "by": "sam",
            "how": "flow goal confirm",
            "proposal_id": live["proposal_id"],
        },
        proposal_id=live["proposal_id"],
    )
    assert closing.artifact.type == "goal-evaluation"
    assert closing.artifact.fields == {
        "goal_id": "issue-4",
        "result": "pass",
        "from": "active",
        "to": "achieved",
        "reason": live["reason"],
        "evidence_bundle": ".flow/runs/run-1",
        "failures": "none",
        "confirmed_by": "sam",
        "how": "flow goal confirm",
        "proposal_id": live["proposal_id"],
    }


def test_the_record_has_who_confirmed_where_the_name_comes_from_and_their_words() -> None:
    world = proposed()
    live = str((world.live or {})["proposal_id"])
    word = PersonsWord("jo", "git user.name", "I read the whole diff")
    closed = transitions_closing.confirm(
        world.desk(), "issue-4", live, None, "flow goal confirm", word
    )
    assert (closed.by, closed.by_from, closed.note) == tuple(word)
    (closing,) = world.closings
    said = {"by_from": "git user.name", "note": "I read the whole diff"}
    assert {"confirmed_by": "jo", **said}.items() <= closing.artifact.fields.items()
    assert {"by": "jo", **said}.items() <= closing.event.items()
    assert closing.reason == closed.reason != word.note  # a note takes nobody's place


def test_a_reason_of_ones_own_takes_the_place_of_the_proposals() -> None:
    world = proposed()
    assert confirm(world, reason="looked at it").reason == "looked at it"
    assert world.closings[0].reason == "looked at it"
    assert world.journal[-1].fields["reason"] == "looked at it"


def test_what_was_begun_is_finished_before_anything_is_read() -> None:
    world = proposed()
    world.log.clear()
    confirm(world)
    assert world.log == ["finish", "snapshot", "close achieved"]
    assert world.runs_asked[-1] == "run-1"


@pytest.mark.parametrize("asked", ["f" * 64, ""])
def test_another_proposal_than_the_live_one_is_refused(asked: str) -> None:
    world = proposed()
    with pytest.raises(StaleProposal) as caught:
        transitions_closing.confirm(world.desk(), "issue-4", asked, None, "door")
    fault = caught.value.to_dict()
    assert (fault["code"], fault["key"]) == ("stale_proposal", "--proposal")
    assert fault["value"] == asked
    assert world.document["lifecycle"]["status"] == "active"


def test_without_a_proposal_nothing_can_be_confirmed() -> None:
    world = World(goal_document())
    with pytest.raises(StaleProposal, match="no live proposal"):
        confirm(world)


def test_a_proposal_works_once() -> None:
    world = proposed()
    used = dict(world.live or {})
    confirm(world)
    with pytest.raises(StaleProposal):
        confirm(world, used["proposal_id"])
    world.live = used  # even if its file came back
    with pytest.raises(StateError):
        confirm(world, used["proposal_id"])
    assert len(world.closings) == 1


def test_a_proposal_of_another_goal_in_the_same_run_is_none_of_this_one() -> None:
    world = proposed()
    world.live = {**(world.live or {}), "goal_id": "issue-5"}
    assert proposals.live_proposal(world, world.goal("issue-4").goal) is None  # type: ignore[arg-type]
    with pytest.raises(StaleProposal):
        confirm(world)


def test_a_goal_without_a_run_has_no_proposal() -> None:
    world = proposed()
    del world.document["scope"]["run_id"]
    assert proposals.live_proposal(world, world.goal("issue-4").goal) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("status", ["waiting_for_user", "waiting_for_ci", "blocked"])
def test_a_goal_that_waits_is_resumed_on_the_record_before_it_is_closed(status: str) -> None:
    world = proposed()
    world.document["lifecycle"]["status"] = status
    confirm(world)
    (move,) = world.moves
    assert move == Move(
        to="active",
        reason="resumed to be closed",
        artifact=move.artifact,
        event={
            "type": "transition",
            "from": status,
            "to": "active",
            "reason": "resumed to be closed",
            "by": move.event["by"],
        },
    )
    assert move.event["by"] == world.closings[0].event["by"]
    assert move.artifact.fields == {
        "goal_id": "issue-4",
        "result": "pass",
        "from": status,
        "to": "active",
        "reason": "resumed to be closed",
        "evidence_bundle": ".flow/runs/run-1",
        "failures": "none",
        "by": move.event["by"],
    }
    assert world.closings[0].event["from"] == "active"
    assert world.document["lifecycle"]["status"] == "achieved"


def test_an_active_goal_is_closed_in_one_step() -> None:
    world = proposed()
    confirm(world)
    assert world.moves == []


# --- what spoils a proposal -----------------------------------------------------------------------


def test_a_proposal_survives_a_pause() -> None:
    world = proposed()
    world.document["lifecycle"]["status"] = "waiting_for_user"
    world.document["lifecycle"]["status"] = "active"
    assert confirm(world).status == "achieved"


def edit_contract(world: World) -> None:
    world.document["objective"]["outcome"] = "something easier"


def edit_file(world: World) -> None:
    world.changes = (changed("src/a.py"),)


def break_git(world: World) -> None:
    world.problems = ("a merge is under way",)


def alter_evidence(world: World) -> None:
    world.altered.update(world.evidence)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (edit_contract, "the contract was changed"),
        (edit_file, "the files were changed since it was made"),
        (break_git, "git cannot say what the files are now (a merge is under way)"),
        (
            alter_evidence,
            f"evidence {sidecar('run-1', 'evidence-ac1-eval-1')} is missing or altered",
        ),
    ],
)
def test_what_moved_is_named_and_nothing_is_written(spoil, words) -> None:  # type: ignore[no-untyped-def]
    world = proposed()
    proposal = world.live or {}
    spoil(world)
    assert transitions_closing.what_moved(world.desk(), world.goal("issue-4"), proposal) == [words]
    with pytest.raises(StaleProposal) as caught:
        confirm(world)
    assert words in str(caught.value)
    assert caught.value.to_dict()["value"] == proposal["proposal_id"]
    assert caught.value.to_dict()["key"] == "--proposal"
    assert world.document["lifecycle"]["status"] == "active"


def test_everything_that_moved_is_named_at_once() -> None:
    world = proposed(criterion("AC1"), criterion("AC2"))
    proposal = world.live or {}
    for spoil in (edit_contract, edit_file, alter_evidence):
        spoil(world)
    assert len(transitions_closing.what_moved(world.desk(), world.goal("issue-4"), proposal)) == 4


@pytest.mark.parametrize(
    ("path", "live"),
    [(".decisions/issue-4.md", True), (".decisions/sub/issue-4.md", False), ("docs/x.md", False)],
)
def test_only_flows_own_journals_leave_a_proposal_live(path: str, live: bool) -> None:
    world = proposed()
    world.changes = (changed(path),)
    moved = transitions_closing.what_moved(world.desk(), world.goal("issue-4"), world.live or {})
    assert (moved == []) is live


def test_confirming_on_another_branch_is_refused() -> None:
    world = proposed()
    world.branch = "other"
    with pytest.raises(StateError) as caught:
        confirm(world)
    assert caught.value.code == "wrong_branch"
    assert world.closings == []


def test_denied_files_of_goal_and_settings_are_compared_too() -> None:
    world = proposed(denied_paths=["*.pem"])
    world.denied_seen.clear()
    live = (world.live or {})["proposal_id"]
    transitions_closing.confirm(world.desk(("*.env",)), "issue-4", live, None, "door")
    assert world.denied_seen == [("*.pem", "*.env")]


# --- clear ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status", ["draft", "active", "waiting_for_user", "waiting_for_ci", "blocked"]
)
def test_clearing_cancels_whatever_is_open(status: str) -> None:
    world = World(goal_document(status=status))
    closed = transitions_closing.cancel(world.desk(), "issue-4", "not wanted", "flow goal clear")
    assert closed == transitions_closing.Closed(
        "issue-4", "run-1", "cancelled", "not wanted", None, "sam"
    )
    assert world.document["lifecycle"]["status"] == "cancelled"
    assert world.log == ["finish", "close cancelled"]
    (closing,) = world.closings
    assert (closing.to, closing.reason, closing.proposal_id) == ("cancelled", "not wanted", None)
    assert closing.event == {
        "type": "transition",
        "from": status,
        "to": "cancelled",
        "reason": "not wanted",
        "by": "sam",
        "how": "flow goal clear",
        "proposal_id": None,
    }
    assert closing.artifact.fields == {
        "goal_id": "issue-4",
        "result": "incomplete",
        "from": status,
        "to": "cancelled",
        "reason": "not wanted",
        "evidence_bundle": ".flow/runs/run-1",
        "failures": ["AC1"],
        "confirmed_by": "sam",
        "how": "flow goal clear",
    }


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_a_closed_goal_cannot_be_cleared(status: str) -> None:
    world = World(goal_document(status=status))
    with pytest.raises(StateError, match=f"issue-4 is {status}"):
        transitions_closing.cancel(world.desk(), "issue-4", "x", "door")
    assert world.closings == []


def test_clearing_withdraws_a_live_proposal() -> None:
    world = proposed()
    transitions_closing.cancel(world.desk(), "issue-4", "x", "door")
    assert world.live is None


def test_a_goal_without_a_run_can_be_cleared() -> None:
    world = World(goal_document())
    del world.document["scope"]["run_id"]
    assert transitions_closing.cancel(world.desk(), "issue-4", "x", "door").run_id == ""


def test_a_goal_that_is_not_there() -> None:
    with pytest.raises(InputError):
        transitions_closing.cancel(World(goal_document()).desk(), "issue-9", "x", "door")


@pytest.mark.parametrize(
    ("last", "result"), [(None, "incomplete"), ("needs_human_review", "needs_human_review")]
)
def test_a_cancelled_goal_keeps_the_result_of_its_last_evaluation(
    last: str | None, result: str
) -> None:
    world = World(goal_document())
    if last:
        world.document["lifecycle"]["last_evaluation"] = {"result": last, "reason": "", "at": "x"}
    transitions_closing.cancel(world.desk(), "issue-4", "x", "door")
    assert world.journal[0].fields["result"] == result


def test_an_achieved_goal_is_recorded_as_pass_whatever_its_last_evaluation() -> None:
    world = proposed()
    del world.document["lifecycle"]["last_evaluation"]
    confirm(world)
    assert world.journal[-1].fields["result"] == "pass"


def test_a_failure_that_was_proposed_is_recorded_as_fail() -> None:
    world = proposed()
    live = world.live or {}
    subject = Subject(live["head"], live["tree"], live["contract"], "0")
    rows = [
        CriterionResult(id, status, outcome, None, reference)
        for (id, status, outcome), reference in zip(live["results"], live["evidence"], strict=True)
    ]
    made = proposal_id(Grounds(subject, live["guards"]), "achieved", "failed", rows)
    world.live = {**live, "to": "failed", "proposal_id": made}
    closed = confirm(world)
    assert (closed.status, world.journal[-1].fields["result"]) == ("failed", "fail")


# --- refuse_closed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status",
    [
        "draft",
        "active",
        "waiting_for_user",
        "waiting_for_ci",
        "blocked",
        "achieved",
        "failed",
        "cancelled",
    ],
)
def test_what_a_closed_goal_refuses(status: str) -> None:
    goal = World(goal_document(status=status)).goal("issue-4").goal
    if status in ("achieved", "failed", "cancelled"):
        with pytest.raises(StateError, match=f"{status}; mending is not possible") as caught:
            transitions_closing.refuse_closed(goal, "mending")
        assert caught.value.to_dict()["key"] == "lifecycle.status"
        assert caught.value.to_dict()["value"] == status
    else:
        transitions_closing.refuse_closed(goal, "mending")


# --- a record that is broken, or that does not count -------------------------------------


def confirm_with(world: World, **more: Any) -> StaleProposal:
    live = str((world.live or {})["proposal_id"])
    with pytest.raises(StaleProposal) as refused:
        transitions_closing.confirm(
            world.desk()._replace(**more), "issue-4", live, None, "flow goal confirm"
        )
    assert world.closings == []
    return refused.value


def test_a_broken_record_confirms_nothing() -> None:
    finding = ChainFinding("altered", "run-1", "ledger.jsonl", "line 3 was changed")
    error = confirm_with(proposed(), broken=lambda run_id: [finding] * (2 * (run_id == "run-1")))
    assert error.fault.message == (
        "the record of run run-1 is broken: ledger.jsonl: line 3 was changed, and 1 more"
    )
    assert error.fault.file == "ledger.jsonl"
    assert str(error.fault.remedy).endswith("flow goal evaluate issue-4 --run-id NEW")


def test_of_a_closed_goal_with_a_broken_record_nothing_is_measured_anew() -> None:
    world = proposed()
    world.document["lifecycle"]["status"] = "achieved"
    finding = ChainFinding("altered", "run-1", "ledger.jsonl", "line 3 was changed")
    error = confirm_with(world, broken=lambda _run: [finding])
    assert str(error.fault.remedy).endswith("flow goal create NEW --from issue-4")


def test_why_older_records_do_not_count_is_said_with_the_refusal() -> None:
    world = proposed()
    world.changes = (changed("src/later.py"),)
    error = confirm_with(world, troubles=lambda: ["no head of run-1 is kept"])
    assert error.fault.message.endswith("(no head of run-1 is kept)")
    assert "the files were changed" in str(error)
    assert error.fault.remedy is not None
    assert error.fault.remedy.endswith("flow goal evaluate issue-4 --confirm")


def test_achieved_is_only_written_with_a_proposal_that_holds() -> None:
    world = proposed()
    transitions_closing.refuse_stale(world.desk(), "issue-4")
    world.changes = (changed("src/later.py"),)
    with pytest.raises(StaleProposal, match="no live proposal for goal issue-4: the files were"):
        transitions_closing.refuse_stale(world.desk(), "issue-4")


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("draft", "activate it first: flow goal activate issue-4"),
        ("active", "evaluate again: flow goal evaluate issue-4"),
        ("failed", "a closed goal stays closed; start anew: flow goal create NEW --from issue-4"),
    ],
)
def test_without_a_proposal_the_remedy_is_one_that_the_goals_status_allows(
    status: str, remedy: str
) -> None:
    world = World(goal_document())
    world.document["lifecycle"]["status"] = status
    for refuse in (lambda: confirm(world), lambda: refuse_stale(world)):
        with pytest.raises(StaleProposal) as refused:
            refuse()
        assert refused.value.fault.remedy == remedy


def refuse_stale(world: World) -> None:
    transitions_closing.refuse_stale(world.desk(), "issue-4")
