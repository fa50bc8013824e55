"""The verdict and the turn: every field, from what was found out."""

from __future__ import annotations

from typing import Any

import pytest

from flow.app.evaluation import proposals
from flow.app.evaluation.values import EvaluationLimits, JudgeCase, Request
from flow.app.ports import Artifact, CriterionUpdate, LastEvaluation, Turn, goal_evaluation
from flow.app.transitions.persons_word import PersonsWord
from flow.core.decision.decide import NoOpinion, Opinion
from flow.core.decision.verdict import CriterionResult, Verdict
from flow.errors import InputError, StateError
from tests.app.fakes import NOW, World, changed, criterion, evaluate, goal_document, sidecar

RUN = "2026-11-21T120000Z-issue-4"


def run(world: World, **request: Any) -> Verdict:
    return evaluate(Request("issue-4", **request), world.tools())


# --- whole ----------------------------------------------------------------------------------------


def test_everything_an_achieved_evaluation_says_and_writes() -> None:
    world = World(
        goal_document(criterion("AC1"), criterion("AC2", must_pass=False), turns=1, status="active")
    )
    world.warnings = ("unknown key",)
    world.outcomes["AC2"] = "failed"
    said = run(world)
    reason = "1 of 1 required criteria passed by their commands"
    assert said.proposed_transition is not None
    proposal = said.proposed_transition
    one, two = (sidecar("run-1", f"evidence-ac{n}-eval-2") for n in (1, 2))
    assert (proposal.to, proposal.reason, proposal.turns_evaluated) == ("achieved", reason, 2)
    assert said == Verdict(
        goal_id="issue-4",
        run_id="run-1",
        verdict="achieved",
        confidence=1.0,
        delta="made_progress",
        reason=reason,
        next_step_hint="a person confirms: flow goal confirm issue-4",
        blocker_type="none",
        criterion_results=said.criterion_results,
        path_violations=(),
        warnings=("unknown key", "AC2 failed; it is not must_pass, so it does not count"),
        proposed_transition=proposal,
        lifecycle_from="active",
        lifecycle_to="active",
        turns_evaluated=2,
        ledger_head=f"2:{2:064x}",
    )
    assert [(r.criterion_id, r.status, r.evidence_ref) for r in said.criterion_results] == [
        ("AC1", "pass", one),
        ("AC2", "fail", two),
    ]
    (turn,) = world.turns
    assert turn == Turn(
        status="active",
        turns_evaluated=2,
        last_evaluation=LastEvaluation("pass", reason, NOW),
        criteria=turn.criteria,
        artifact=Artifact(
            "goal-evaluation",
            {
                "goal_id": "issue-4",
                "result": "pass",
                "from": "active",
                "to": "active",
                "reason": reason,
                "evidence_bundle": ".flow/runs/run-1",
                "failures": "none",
            },
        ),
        event={
            "type": "evaluated",
            "turn": 2,
            "from": "active",
            "to": "active",
            "verdict": "achieved",
            "candidate": "pass",
            "delta": "made_progress",
            "reason": reason,
            "passing": ["AC1"],
            "subject": dict(world.evidence[one].subject),
            "proposal_id": proposal.proposal_id,
        },
        proposal=world.live,
        scope={},
    )
    assert world.live is not None
    assert world.live["proposal_id"] == proposal.proposal_id
    assert world.live["reason"] == reason
    assert world.live["created_at"] == NOW
    assert proposals.is_intact(world.live)
    assert turn.criteria == (
        CriterionUpdate("AC1", "pass", one, NOW, "exit 0"),
        CriterionUpdate("AC2", "fail", two, NOW, "exit 1"),
    )


def test_everything_a_blocked_evaluation_writes() -> None:
    world = World(goal_document())
    world.outcomes["AC1"] = "failed"
    world.changes = (changed("evil\x1b"), changed("c.py"))
    said = run(world)
    assert said.path_violations == ("evil\\x1b", "c.py")
    document = world.evidence[sidecar("run-1", "evidence-boundary-eval-1")].document
    assert document["metadata"] == {
        "id": "evidence-boundary-eval-1",
        "goal": "issue-4",
        "run_id": "run-1",
        "created_at": NOW,
        "created_by": "flow-evaluator",
    }
    assert document["evidence"] == {
        "type": "path_boundary_check",
        "proves": [],
        "violations": [
            {"path": "evil\\x1b", "why": "untracked; not in allowed_paths"},
            {"path": "c.py", "why": "untracked; not in allowed_paths"},
        ],
        "limitations": ["Says which paths changed, not whether the changes are right."],
        "subject": dict(world.evidence[sidecar("run-1", "evidence-ac1-eval-1")].subject),
    }
    (turn,) = world.turns
    assert turn.artifact.fields["failures"] == ["AC1"]
    assert (turn.artifact.fields["result"], turn.artifact.fields["to"]) == ("blocked", "blocked")
    assert turn.event["passing"] == []
    assert turn.event["proposal_id"] is None
    assert (turn.proposal, said.lifecycle_to) == (None, "blocked")
    assert turn.event["candidate"] == "fail"


def test_a_taken_boundary_sidecar_gets_a_suffix() -> None:
    world = World(goal_document())
    world.changes = (changed("c.py"),)
    run(world)
    world.document["lifecycle"] = {"status": "active", "turns_evaluated": 0}
    run(world)
    assert sidecar("run-1", "evidence-boundary-eval-1-2") in world.evidence


def test_without_a_violation_there_is_no_boundary_sidecar() -> None:
    world = World(goal_document())
    run(world)
    assert [e.type for e in world.evidence.values()] == ["command_result"]


@pytest.mark.parametrize("asked", [None, "mine"])
def test_a_run_that_is_new_to_the_goal_is_written_there(asked: str | None) -> None:
    world = World(goal_document(status="blocked"))
    del world.document["scope"]["run_id"]
    said = run(world, run_id=asked)
    assert said.run_id == (asked or RUN)
    assert world.moves[0].scope == {"run_id": said.run_id}
    assert world.document["scope"]["run_id"] == said.run_id
    assert world.turns[0].scope == {}


def test_an_active_goals_run_is_written_by_the_turn() -> None:
    world = World(goal_document())
    run(world, run_id="run-2")
    assert world.turns[0].scope == {"run_id": "run-2"}
    assert world.journal[0].fields["evidence_bundle"] == ".flow/runs/run-2"


def test_resuming_is_a_move_of_its_own() -> None:
    world = World(goal_document(status="blocked"))
    run(world)
    (move,) = world.moves
    assert (move.to, move.reason, move.scope) == ("active", "resumed for evaluation", {})
    assert move.event == {
        "type": "transition",
        "from": "blocked",
        "to": "active",
        "reason": "resumed for evaluation",
    }
    assert move.artifact.fields == {
        "goal_id": "issue-4",
        "result": "incomplete",
        "from": "blocked",
        "to": "active",
        "reason": "resumed for evaluation",
        "evidence_bundle": ".flow/runs/run-1",
        "failures": ["AC1"],
    }
    assert world.log[:3] == ["finish", "snapshot", "move active"]
    assert world.turns[0].artifact.fields["from"] == "active"


# --- untrusted ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "own", "run_id"), [("mine", True, "mine"), (None, True, "run-1"), (None, False, "")]
)
def test_everything_an_untrusted_goal_is_told(asked: Any, own: bool, run_id: str) -> None:
    world = World(goal_document(turns=3, status="blocked"))
    if not own:
        del world.document["scope"]["run_id"]
    world.trust, world.warnings = (False, "never recorded"), ("w",)
    assert run(world, run_id=asked) == Verdict(
        goal_id="issue-4",
        run_id=run_id,
        verdict="needs_human_review",
        confidence=0.0,
        delta="unchanged",
        reason="the goal's commands are not trusted here: never recorded",
        next_step_hint="read the contract, then: flow trust record issue-4",
        blocker_type="missing_approval",
        criterion_results=(
            CriterionResult(
                "AC1",
                "pending",
                "not_executed",
                reason="not trusted here",
                text="AC1 holds",
                command="true",
            ),
        ),
        path_violations=(),
        warnings=("w",),
        proposed_transition=None,
        lifecycle_from="blocked",
        lifecycle_to="blocked",
        turns_evaluated=3,
    )


# --- a dry run, other ranges, parts ---------------------------------------------------------------


@pytest.mark.parametrize("status", ["active", "blocked"])
def test_a_dry_run_counts_no_turn_and_moves_nothing(status: str) -> None:
    world = World(goal_document(status=status, turns=2))
    said = run(world, dry_run=True)
    assert (said.turns_evaluated, said.lifecycle_from, said.lifecycle_to) == (2, status, status)
    assert (world.turns, world.moves, world.ended_runs) == ([], [], [])


def test_a_dry_run_of_an_approved_goal_says_why_nothing_is_proposed() -> None:
    from flow.app.transitions.moves import approve

    world = World(goal_document(criterion("AC1", None)))
    approve(world.desk(), "issue-4", "AC1", PersonsWord("sam", None, "ok"))
    said = run(world, dry_run=True)
    assert said.verdict == "achieved"
    assert said.proposed_transition is None
    assert said.reason.startswith("nothing is proposed: --dry-run; ")


def test_only_says_why_nothing_is_proposed() -> None:
    said = run(World(goal_document()), only=("AC1",))
    assert said.reason.startswith("nothing is proposed: --only was given; ")


def test_a_range_without_the_pinned_base_says_so() -> None:
    world = World(goal_document())
    world.contains_pinned = False
    said = run(world, base="v1\x1b")
    assert said.verdict == "not_achieved", "what changed before that range was not looked at"
    why = "nothing is proposed: the range from v1\\x1b does not contain the pinned base"
    assert said.reason == why


def test_nothing_is_remarked_where_nothing_was_to_be_proposed() -> None:
    world = World(goal_document())
    world.outcomes["AC1"] = "failed"
    assert "nothing is proposed" not in run(world, only=("AC1",)).reason


def test_at_most_five_moved_files_are_named() -> None:
    world = World(goal_document())
    world.changes = tuple(changed(f"src/{n}", "old", untracked=False) for n in range(7))
    world.during["AC1"] = lambda: setattr(
        world, "changes", tuple(changed(f"src/{n}", "new", untracked=False) for n in range(7))
    )
    said = run(world)
    assert (
        "changed while the commands ran: src/0, src/1, src/2, src/3, src/4 and 2 more"
        in said.reason
    )


def test_warnings_come_from_file_boundary_and_optional_criteria() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2", must_pass=False)))
    world.warnings = ("file",)
    world.outcomes["AC2"] = "failed"
    world.changes = (changed("x.log", "1"),)
    world.base = world.base._replace(by_products={"x.log": "100644:1"})
    assert [w.split(" ")[0] for w in run(world).warnings] == ["file", "left", "AC2"]


# --- delta ----------------------------------------------------------------------------------------


def delta(world: World) -> str:
    return run(world).delta


def row(id: Any, status: str = "pass") -> dict[str, Any]:
    return {"criterion_id": id, "status": status}


def previous(*rows: Any, goal: Any = "issue-4") -> dict[str, Any]:
    return {"goal_id": goal, "criterion_results": list(rows)}


@pytest.mark.parametrize(
    ("verdict", "outcome", "expected"),
    [
        (None, "passed", "made_progress"),
        (previous(row("AC1")), "passed", "unchanged"),
        (previous(row("AC1", "fail")), "passed", "made_progress"),
        (previous(row("AC1")), "failed", "regressed"),
        (previous(), "failed", "unchanged"),
        (previous(row("AC1"), goal="issue-5"), "passed", "made_progress"),
        # what somebody else wrote there is no reason to fail
        ({"goal_id": "issue-4"}, "passed", "made_progress"),
        ({"goal_id": "issue-4", "criterion_results": {}}, "passed", "made_progress"),
        (previous("AC1"), "passed", "made_progress"),
        (previous(row("AC1"), "AC1"), "passed", "made_progress"),
    ],
)
def test_progress_is_measured_against_the_previous_verdict(
    verdict: Any, outcome: str, expected: str
) -> None:
    world = World(goal_document(turns=1))
    world.verdict, world.outcomes["AC1"] = verdict, outcome
    assert delta(world) == expected


@pytest.mark.parametrize(
    ("outcome", "expected"), [("passed", "unchanged"), ("failed", "regressed")]
)
def test_without_a_verdict_the_goals_own_statuses_count(outcome: str, expected: str) -> None:
    world = World(goal_document(criterion("AC1", status="pass", evidence_ref="x"), turns=1))
    world.outcomes["AC1"] = outcome
    assert delta(world) == expected


def test_a_first_evaluation_is_progress_whatever_it_finds() -> None:
    world = World(goal_document())
    world.outcomes["AC1"] = "failed"
    assert delta(world) == "made_progress"


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [("failed", "regressed"), ("passed", "unchanged"), ("inconclusive", "unchanged")],
)
def test_only_what_was_decided_is_compared(outcome: str, expected: str) -> None:
    world = World(goal_document(turns=1))
    world.verdict, world.outcomes["AC1"] = previous(row("AC1")), outcome
    assert delta(world) == expected


def test_what_only_left_out_keeps_its_state() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2"), turns=1))
    world.verdict = previous(row("AC1"), row("AC2"))
    assert run(world, only=("AC1",)).delta == "unchanged"


# --- artifacts of moves ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "last", "result"),
    [
        (None, None, "incomplete"),
        (None, "fail", "fail"),
        ("pass", "fail", "pass"),
        ("pass", None, "pass"),
    ],
)
def test_the_artifact_of_a_move_has_a_result(given: Any, last: Any, result: str) -> None:
    world = World(
        goal_document(
            criterion("AC1", status="pass"), criterion("AC2"), criterion("AC3", must_pass=False)
        )
    )
    if last:
        world.document["lifecycle"]["last_evaluation"] = {"result": last}
    goal = world.goal("issue-4").goal
    assert goal_evaluation(goal, "run-1", to="blocked", reason="why", result=given) == Artifact(
        "goal-evaluation",
        {
            "goal_id": "issue-4",
            "result": result,
            "from": "active",
            "to": "blocked",
            "reason": "why",
            "evidence_bundle": ".flow/runs/run-1",
            "failures": ["AC2"],
        },
    )


# --- who is asked ---------------------------------------------------------------------------------

ASKED = [
    # kind, fuzzy, trigger, request, the judge's part in the reason
    ("hybrid", True, "manual", {"no_judge": True}, "judge: not asked (--no-judge)"),
    (
        *("hybrid", True, "stop-hook", {"no_judge": True}),
        "judge: not asked at a stop, but with evaluator-loop",
    ),
    ("hybrid", True, "manual", {}, "judge: none configured"),
    ("hybrid", True, "command", {}, "judge: none configured"),
    ("hybrid", False, "manual", {}, None),
    ("deterministic", True, "manual", {}, None),
    ("flow_verdict_judge", False, "manual", {}, "judge: none configured"),
    (
        "flow_verdict_judge",
        False,
        "command",
        {},
        "judge: asked only when a person starts the evaluation (trigger manual)",
    ),
    (
        "flow_verdict_judge",
        True,
        "stop-hook",
        {"no_judge": True},
        "judge: asked only when a person starts the evaluation (trigger manual)",
    ),
]


@pytest.mark.parametrize(("kind", "fuzzy", "trigger", "request_", "part"), ASKED)
def test_why_no_judge_spoke(
    kind: str, fuzzy: bool, trigger: Any, request_: Any, part: str | None
) -> None:
    rows = [criterion("AC1")] + ([criterion("FZ1", None)] if fuzzy else [])
    reason = run(World(goal_document(*rows, kind=kind)), trigger=trigger, **request_).reason
    if part is None:
        assert "judge:" not in reason
    else:
        assert part in reason.split("; ")


def test_a_dry_run_asks_no_judge() -> None:
    world = World(goal_document(criterion("FZ1", None), kind="hybrid"))
    world.judge = lambda *_: pytest.fail("asked")
    assert "judge: not asked (--dry-run)" in run(world, dry_run=True).reason
    world.judge = None
    assert "judge: none configured" in run(world, dry_run=True).reason


@pytest.mark.parametrize("spoil", ["failed", "inconclusive", "outside", "unknown"])
def test_no_judge_is_asked_about_what_is_decided_without_one(spoil: str) -> None:
    world = World(goal_document(kind="flow_verdict_judge"))
    world.judge = lambda *_: pytest.fail("asked")
    world.outcomes["AC1"] = spoil if spoil in ("failed", "inconclusive") else "passed"
    world.changes = (changed("evil.py"),) if spoil == "outside" else ()
    world.problems = ("x",) if spoil == "unknown" else ()
    assert "judge" not in run(world).reason


def test_a_judge_gets_the_goal_and_what_was_measured() -> None:
    world = World(goal_document(criterion("AC1"), criterion("FZ1", None), kind="hybrid"))
    asked: list[Any] = []

    def judge(case: JudgeCase) -> NoOpinion:
        rows = case.measurement.rows
        asked.append((case.facts.loaded.goal.id, [r.criterion_id for r in rows]))
        return NoOpinion("busy")

    world.judge = judge
    run(world)
    assert asked == [("issue-4", ["AC1", "FZ1"])]


def test_a_judges_confidence_and_hint_reach_the_verdict() -> None:
    world = World(goal_document(criterion("FZ1", None), kind="hybrid"))
    world.judge = lambda *_: Opinion("blocked", 0.7, "no key", "ask ops", "external_service")
    said = run(world)
    assert (said.confidence, said.blocker_type, said.next_step_hint) == (
        0.7,
        "external_service",
        'judge: "ask ops"',
    )
    assert "judge: no key" in said.reason
    assert world.document["lifecycle"]["last_evaluation"]["result"] == "blocked"


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("draft", "activate it first: flow goal activate issue-4"),
        (
            "achieved",
            "a closed goal stays closed; start anew: flow goal create NEW --from issue-4",
        ),
    ],
)
def test_what_cannot_be_evaluated_says_what_to_do(status: str, remedy: str) -> None:
    with pytest.raises(StateError) as caught:
        run(World(goal_document(status=status)))
    error = caught.value.to_dict()
    assert (error["key"], error["value"], error["remedy"]) == ("lifecycle.status", status, remedy)


def test_an_unknown_criterion_is_named_before_anything_runs() -> None:
    world = World(goal_document(criterion("AC1"), criterion("AC2")))
    world.trust = (False, "x")
    with pytest.raises(InputError) as caught:
        run(world, only=("AC2", "AC9"))
    error = caught.value.to_dict()
    assert (error["key"], error["value"]) == ("--only", "AC9")
    assert str(error["remedy"]).endswith("AC1, AC2")


@pytest.mark.parametrize("dry", [True, False])
def test_a_dry_run_finishes_nothing(dry: bool) -> None:
    world = World(goal_document())
    run(world, dry_run=dry)
    assert ("finish" in world.log) is not dry


def test_trust_is_asked_about_the_contract_that_was_read() -> None:
    world = World(goal_document())
    asked: list[Any] = []

    def trusted(loaded: Any) -> tuple[bool, str]:
        asked.append(loaded.contract)
        return True, ""

    evaluate(Request("issue-4"), world.tools()._replace(trusted=trusted))
    assert asked == [world.goal("issue-4").contract]


def test_the_defaults_of_a_request_and_of_limits() -> None:
    request = Request("g")
    assert request == Request(
        "g",
        trigger="manual",
        run_id=None,
        base=None,
        only=(),
        jobs=None,
        timeout_seconds=None,
        no_judge=False,
        dry_run=False,
    )
    assert EvaluationLimits(1, 2.0, ()).denied_paths == ()


def test_what_passed_earlier_and_did_not_run_now_is_named() -> None:
    world = World(goal_document(criterion("AC1", status="pass", evidence_ref="x")))
    assert run(world, dry_run=True).reason == "not run this time: AC1"


@pytest.mark.parametrize(("kind", "judged"), [("deterministic", False), ("hybrid", True)])
def test_a_hint_knows_whether_a_judge_may_be_asked(kind: str, judged: bool) -> None:
    hint = run(World(goal_document(criterion("FZ1", None), kind=kind))).next_step_hint
    assert hint.startswith("FZ1: flow goal approve issue-4 FZ1 ")
    assert ("flow goal evaluate issue-4 --judge-backend claude" in hint) is judged
    assert "evaluator.type" not in hint


def test_a_goal_that_was_edited_while_nobody_ran_anything_is_not_overwritten() -> None:
    world = World(goal_document(criterion("FZ1", None), kind="hybrid"))

    def judge(*_: Any) -> NoOpinion:
        world.document["objective"]["outcome"] = "another"
        return NoOpinion("x")

    world.judge = judge
    with pytest.raises(StateError):
        run(world)
