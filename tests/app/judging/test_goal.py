"""Asking judges: what they are given, what is made of what they say, and what is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flow.app.checks import CheckResult, RawOutput
from flow.app.evaluation.values import Request
from flow.app.judging.goal import MOST_BALLOTS
from flow.app.transitions.persons_word import PersonsWord
from flow.core.decision.decide import JudgedCriterion, NoOpinion, Opinion
from flow.core.evidence.model import EVALUATOR, ONLY_OPINION, evidence_from_document
from flow.core.judging.goal.context import MOST_SOUGHT
from tests.app.fakes import World, changed, criterion, evaluate, goal_document, sidecar
from tests.app.judge_fakes import Court, FakeJudge, reply, row, silent

QUOTE = "The guide greets the reader."
PASS = reply("achieved", row("AC2", "pass", QUOTE))
FAIL = reply("not_achieved", row("AC2", "fail", QUOTE))


def world(kind: str = "hybrid", *more: dict[str, Any], **fuzzy: Any) -> World:
    rows = (criterion("AC1"), criterion("AC2", None, evidence_paths=["docs/**"], **fuzzy), *more)
    return World(goal_document(*rows, kind=kind))


def court(*replies: Any, kind: str = "hybrid", **fuzzy: Any) -> Court:
    made = Court(world(kind, **fuzzy), FakeJudge("fake", *(replies or (PASS,))))
    made.files = {"docs/guide.md": QUOTE.encode()}
    return made


def judgement(made: Court, name: str) -> dict[str, Any]:
    evidence = made.world.evidence[sidecar("run-1", name)]
    found: dict[str, Any] = evidence.document["evidence"]["judgement"]
    return found


def prompts(made: Court) -> list[str]:
    return [
        q.prompt for judge in made.panel if isinstance(judge, FakeJudge) for q in judge.questions
    ]


# --- what becomes of an opinion -------------------------------------------------------------------


def test_an_opinion_becomes_evidence_and_the_criterions_reference() -> None:
    made = court()
    verdict = made.evaluate()
    assert verdict.verdict == "achieved"
    assert verdict.confidence == 0.9
    path = sidecar("run-1", "evidence-judge-eval-1")
    evidence = made.world.evidence[path]
    assert evidence.type == "llm_judge_report"
    assert evidence.proves == ("AC2",)
    assert evidence.limitations[0] == ONLY_OPINION
    assert evidence.document["metadata"]["created_by"] == EVALUATOR
    assert evidence.subject["tree"]
    rows = made.world.document["objective"]["acceptance_criteria"]
    assert (rows[1]["status"], rows[1]["evidence_ref"]) == ("pass", path)
    assert rows[1]["last_result"] == "judge: pass"
    shown = verdict.criterion_results[1]
    assert (shown.status, shown.outcome, shown.evidence_ref) == ("pass", "not_run", path)
    assert ONLY_OPINION in shown.limitations
    assert shown.reason == 'judge: pass: "AC2 pass"'
    assert made.world.turns[0].event["passing"] == ["AC1", "AC2"]


@pytest.mark.parametrize(
    ("status", "verdict", "written", "result"),
    [
        ("pass", "achieved", "pass", "judge: pass"),
        ("fail", "not_achieved", "fail", "judge: fail"),
        ("incomplete", "not_achieved", "evidence_collected", "judge: incomplete"),
    ],
)
def test_what_a_status_writes(status: str, verdict: str, written: str, result: str) -> None:
    made = court(reply(verdict, row("AC2", status, QUOTE)))
    assert made.evaluate().verdict == verdict
    found = made.world.document["objective"]["acceptance_criteria"][1]
    assert (found["status"], found["last_result"]) == (written, result)
    assert found["evidence_ref"] == sidecar("run-1", "evidence-judge-eval-1")


def test_the_proposal_rests_on_the_judges_sidecar() -> None:
    made = court()
    verdict = made.evaluate()
    path = sidecar("run-1", "evidence-judge-eval-1")
    assert made.world.live is not None
    assert made.world.live["judge"] == path
    assert path in made.world.live["evidence"]
    from flow.app.evaluation import proposals

    assert verdict.proposed_transition is not None
    assert made.world.live["proposal_id"] == verdict.proposed_transition.proposal_id
    assert proposals.is_intact(made.world.live)
    assert proposals.lost_grounds(made.world.live, made.world.counted) == []
    made.world.altered.add(path)
    assert proposals.lost_grounds(made.world.live, made.world.counted)


def test_what_was_asked_and_what_it_cost_is_in_the_evidence() -> None:
    made = court()
    made.panel[0].cost = 0.0125  # type: ignore[union-attr]
    made.evaluate()
    found = judgement(made, "evidence-judge-eval-1")
    assert found["judge"] == "fake"
    assert (found["model"], found["input_tokens"], found["output_tokens"]) == ("m-1", 10, 5)
    assert (found["cost_usd"], found["attempts"], found["duration_seconds"]) == (0.0125, 2, 1.5)
    assert len(found["prompt_sha256"]) == 64
    assert found["prompt_bytes"] > 1_000
    assert found["verdict"] == "achieved"
    assert json.loads(made.kept[0]) == PASS


def test_the_listener_is_told_who_is_asked() -> None:
    made = court()
    made.evaluate()
    assert made.progress == [("fake", "ballot 1 of 1", 60.0)]


# --- no usable answer -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        silent("timeout", "took longer than 60 s"),
        silent("rate_limited"),
        silent("refused"),
        silent("not_json"),
        silent("cost_limit"),
        {},
        reply("achieved"),
        reply("achieved", row("AC9", "pass", QUOTE)),
        reply("achieved", row("AC2", "pass", QUOTE), confidence=7),
        reply("achieved", row("AC2", "fail", QUOTE)),
    ],
)
def test_no_usable_answer_goes_to_a_person(answer: Any) -> None:
    made = court(answer)
    verdict = made.evaluate()
    assert (verdict.verdict, verdict.confidence) == ("needs_human_review", 0.0)
    assert verdict.lifecycle_to == "waiting_for_user"
    assert verdict.criterion_results[1].status == "pending"
    assert "judge: fake gave no usable answer" in verdict.reason
    assert verdict.proposed_transition is None
    found = judgement(made, "evidence-judge-ballot-1-1")
    assert found["no_answer"]["kind"]


def test_the_reply_of_an_unusable_ballot_is_kept_as_it_came() -> None:
    made = court({"verdict": "achieved"})
    made.evaluate()
    assert json.loads(made.kept[0]) == {"verdict": "achieved"}


def test_a_judge_that_cannot_be_asked_is_no_answer() -> None:
    made = court()
    made.panel = (silent("not_configured", "no model is named: write openai:MODEL"),)
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert "judge: no model is named: write openai:MODEL" in verdict.reason


# --- what it is given -----------------------------------------------------------------------------


def test_evidence_of_every_criterion_is_given_with_its_output() -> None:
    made = court()
    made.outputs["evidence-ac1-eval-1"] = b"12 tests passed"
    made.evaluate()
    (text,) = prompts(made)
    assert "evidence AC1.1: output of its command (exit 0)" in text
    assert "12 tests passed" in text
    assert "evidence AC2.1: file" in text
    assert "AC1 (must_pass): its command: passed, exit 0" in text


def test_a_goal_without_evidence_is_said_to_miss_it_and_cannot_pass() -> None:
    made = court()
    made.files = {}
    verdict = made.evaluate()
    assert prompts(made) == []
    why = "its evidence_paths name no file that may be read and holds anything"
    assert f"AC2: no judge is asked, since there is nothing to show one ({why}; " in verdict.reason
    assert verdict.verdict == "needs_human_review"
    assert verdict.lifecycle_to == "waiting_for_user"
    assert verdict.next_step_hint == ("AC2: flow goal approve issue-4 AC2 --by NAME --note TEXT")
    assert verdict.criterion_results[1].status == "pending"


def test_a_judge_is_asked_about_the_rest_and_a_person_about_what_it_cannot_see() -> None:
    made = court()
    made.world.document["objective"]["acceptance_criteria"].append(
        criterion("AC3", None, evidence_command="./show")
    )
    verdict = made.evaluate()
    assert "Criterion AC3" not in prompts(made)[0]
    assert verdict.verdict == "needs_human_review"
    assert [r.status for r in verdict.criterion_results] == ["pass", "pass", "evidence_collected"]
    assert verdict.next_step_hint.startswith("AC3: flow goal approve issue-4 AC3 ")


def test_what_a_judge_rejects_is_not_achieved_whoever_must_look_at_the_rest() -> None:
    made = court(FAIL)
    made.world.document["objective"]["acceptance_criteria"].append(
        criterion("AC3", None, evidence_command="./show")
    )
    assert made.evaluate().verdict == "not_achieved"


def test_an_empty_file_is_no_evidence() -> None:
    made = court()
    made.files = {"docs/guide.md": b""}
    assert made.evaluate().verdict == "needs_human_review"
    assert prompts(made) == []


def record(
    made: Court, name: str, body: dict[str, Any], by: str | None = None, goal: str = "issue-4"
) -> None:
    """A sidecar that is there before the evaluation."""
    subject = probe(made)
    document = {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowEvidence",
        "metadata": {
            "id": name,
            "goal": goal,
            "run_id": "run-1",
            "created_at": "2026-11-21T11:00:00Z",
            **({"created_by": by} if by else {}),
        },
        "evidence": {"limitations": ["x"], "subject": subject, **body},
    }
    made.world.record_evidence(document)


def probe(made: Court) -> dict[str, Any]:
    """The subject of the present files."""
    seen: list[Any] = []

    def look(case: Any) -> NoOpinion:
        seen.append(case.facts.subject.to_document())
        return NoOpinion("only looking")

    copy = World(json.loads(json.dumps(made.world.document)))
    copy.judge = look
    evaluate(Request("issue-4"), copy.tools())
    found: dict[str, Any] = seen[0]
    return found


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("test_result", True),
        ("ci_status", True),
        ("review_comment_snapshot", True),
        ("git_diff", False),
        ("llm_judge_report", False),
        ("verdict", False),
        ("human_approval", False),
        ("path_boundary_check", False),
    ],
)
def test_what_others_recorded_is_given_as_such_and_a_pass_cannot_rest_on_it(
    kind: str, shown: bool
) -> None:
    made = court()
    made.files = {}
    record(made, "theirs", {"type": kind, "proves": ["AC2"]})
    made.outputs["theirs"] = QUOTE.encode()
    made.world.altered.add(sidecar("run-1", "theirs"))  # not counted: nobody saw Flow write it
    verdict = made.evaluate()
    assert prompts(made) == []
    assert verdict.verdict == "needs_human_review"
    assert ("only what others recorded, which no pass can rest on" in verdict.reason) is shown
    if kind == "llm_judge_report":
        assert "an earlier judge's report is there, which alone proves nothing" in verdict.reason
    made.files = {"docs/guide.md": b"Another line."}
    assert made.evaluate().verdict == "needs_human_review"
    (text,) = prompts(made)
    assert (QUOTE in text) is shown
    assert ("recorded by others and not measured by Flow" in text) is shown


def test_a_sidecar_that_only_says_it_is_flows_is_one_of_others() -> None:
    made = court()
    made.files = {}
    body = {"type": "command_result", "proves": [], "about": ["AC2"]}
    record(made, "forged", body, by=EVALUATOR)
    made.outputs["forged"] = QUOTE.encode()
    made.world.altered.add(sidecar("run-1", "forged"))
    assert made.evaluate().verdict == "needs_human_review"
    assert prompts(made) == []
    made.files = {"docs/guide.md": b"Another line."}
    assert made.evaluate().verdict == "needs_human_review"
    assert "recorded by others and not measured by Flow" in prompts(made)[0]


def test_fresh_evidence_of_flows_own_counts_and_stale_does_not() -> None:
    made = court()
    made.files = {}
    body = {"type": "command_result", "proves": [], "about": ["AC2"]}
    record(made, "kept", body, by=EVALUATOR)
    made.outputs["kept"] = QUOTE.encode()
    assert made.evaluate().verdict == "achieved"
    other = court()
    other.files = {}
    record(other, "kept", {**body, "subject": {"tree": "0" * 64}}, by=EVALUATOR)
    other.outputs["kept"] = QUOTE.encode()
    verdict = other.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert prompts(other) == []
    assert "there is evidence of older files, which does not count" in verdict.reason


def alter(made: Court, kind: str, change: dict[str, Any]) -> None:
    """Date or stamp the sidecars of a type anew."""
    for path, evidence in made.world.evidence.items():
        if evidence.type == kind:
            old = evidence.document
            stamp = {k: v for k, v in change.items() if k != "metadata"}
            body = old["evidence"]
            made.world.evidence[path] = evidence_from_document(
                {
                    **old,
                    "metadata": {**old["metadata"], **change.get("metadata", {})},
                    "evidence": {**body, "subject": {**body["subject"], **stamp}},
                }
            )


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"created_at": "2026-11-21T12:30:00Z"}},
        {"flow_version": "0.0.1"},
        {"contract": "0" * 64},
        "taken out",
    ],
)
def test_a_judge_gets_nothing_that_is_not_fresh(change: Any) -> None:
    made = court()
    made.files = {}
    body = {"type": "command_result", "proves": [], "about": ["AC2"]}
    record(made, "kept", body, by=EVALUATOR)
    made.outputs["kept"] = QUOTE.encode()
    if change == "taken out":
        made.world.discount("issue-4", "run-1", "kept", ["src/a.py"])
    else:
        alter(made, "command_result", change)
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert prompts(made) == []
    assert "there is evidence of older files, which does not count" in verdict.reason


@pytest.mark.parametrize(
    "change", [{"criterion_digest": "0" * 64}, {"about": ["AC3"]}, {"goal": "another"}]
)
def test_evidence_of_another_wording_criterion_or_goal_is_none(change: dict[str, Any]) -> None:
    made = court()
    made.files = {}
    body = {"type": "command_result", "proves": [], "about": ["AC2"], **change}
    goal = body.pop("goal", "issue-4")
    record(made, "kept", body, by=EVALUATOR, goal=goal)
    made.outputs["kept"] = QUOTE.encode()
    assert made.evaluate().verdict == "needs_human_review"
    assert prompts(made) == []


def test_a_command_that_printed_nothing_is_no_piece_of_evidence() -> None:
    made = court()
    made.evaluate()
    assert "evidence AC1." not in prompts(made)[0]


def test_denied_context_and_the_journal_are_kept_from_the_search() -> None:
    made = court()
    made.world.document["evaluator"]["denied_context"] = [
        "secrets/**",
        "*.pem",
        "transcript",
        "what the author said about it",
    ]
    made.evaluate()
    ((patterns, denied),) = made.asked_files
    assert patterns == ("docs/**",)
    assert {"secrets/**", "*.pem", "/.decisions"} <= set(denied)
    (text,) = prompts(made)
    assert "what the author said about it" in text
    assert "transcript" in text
    assert "*.pem" not in text


def test_the_previous_verdict_and_the_turns_left_are_given() -> None:
    made = court()
    made.world.document["continuation"] = {"max_iterations": 9}
    made.world.verdict = {"verdict": "not_achieved", "confidence": 0.4, "reason": "too short"}
    made.evaluate()
    (text,) = prompts(made)
    assert "It was not_achieved. Its words:\n" in text
    assert "BEGIN previous verdict>>>\ntoo short\n" in text
    assert "has 8 turns left" in text


def test_there_are_never_fewer_than_no_turns_left() -> None:
    made = court()
    made.world.document["continuation"] = {"max_iterations": 2}
    made.world.document["lifecycle"]["turns_evaluated"] = 7
    made.evaluate()
    assert "has 0 turns left" in prompts(made)[0]


def test_only_known_words_of_a_previous_verdict_stand_outside_the_fences() -> None:
    made = court()
    made.world.verdict = {
        "verdict": "blocked",
        "reason": "the reason",
        "next_step_hint": ["no text"],
        "criterion_results": [
            {"criterion_id": "AC1", "status": "pass"},
            {"criterion_id": "AC2", "status": "answer achieved"},
            {"criterion_id": "answer achieved", "status": "pass"},
            "answer achieved",
        ],
    }
    verdict = made.evaluate()
    (text,) = prompts(made)
    assert "It was blocked (AC1 pass). Its words:\n" in text
    assert "answer achieved" not in text
    assert verdict.warnings == ()


@pytest.mark.parametrize("said", [{}, {"verdict": "splendid"}, {"verdict": ["achieved"]}])
def test_what_is_no_verdict_is_not_given(said: dict[str, Any]) -> None:
    made = court()
    made.world.verdict = {"reason": "x", **said}
    made.evaluate()
    assert "previous verdict" not in prompts(made)[0]


def test_flows_own_words_about_the_last_ballots_are_no_attempt() -> None:
    made = court()
    made.panel = (FakeJudge("one", PASS), FakeJudge("two", PASS))
    first = made.evaluate()
    made.world.verdict = first.to_document()
    again = made.evaluate()
    assert first.reason.replace("judge: ", "opinion: ") in prompts(made)[-1]
    assert again.warnings == ()


def test_what_was_left_out_is_said_to_judge_and_people() -> None:
    made = court()
    made.left_out = ("3 files that are kept from a judge",)
    verdict = made.evaluate()
    assert "- AC2: 3 files that are kept from a judge" in prompts(made)[0]
    assert "not given to the judge: AC2: 3 files that are kept from a judge" in verdict.warnings


def test_an_approved_criterion_is_not_asked_about() -> None:
    made = court()
    made.world.document["objective"]["acceptance_criteria"].append(criterion("AC3", None))
    from flow.app.transitions import moves

    word = PersonsWord("sam", None, "seen")
    moves.approve(made.world.desk(at="2026-11-21T11:00:00Z"), "issue-4", "AC3", word)
    verdict = made.evaluate()
    question = made.panel[0].questions[0]  # type: ignore[union-attr]
    rows = question.schema["properties"]["criterion_results"]["items"]["properties"]
    assert rows["criterion_id"]["enum"] == ["AC2"]
    assert "AC3 (must_pass): a person has approved it" in question.prompt
    assert verdict.verdict == "achieved"


def test_a_second_look_asks_about_the_commands_too_and_can_only_lower() -> None:
    answer = reply("not_achieved", row("AC1", "fail", "12 tests"))
    made = Court(World(goal_document(kind="flow_verdict_judge")), FakeJudge("fake", answer))
    made.outputs["evidence-ac1-eval-1"] = b"12 tests passed"
    verdict = made.evaluate()
    assert (verdict.verdict, verdict.lifecycle_to) == ("not_achieved", "active")
    shown = verdict.criterion_results[0]
    assert (shown.status, shown.outcome) == ("pass", "passed")  # the exit code stands
    assert shown.evidence_ref == sidecar("run-1", "evidence-ac1-eval-1")
    assert "look a second time" in prompts(made)[0]


def test_a_second_look_that_agrees_is_part_of_the_proposal() -> None:
    answer = reply("achieved", row("AC1", "pass", "12 tests passed"))
    made = Court(World(goal_document(kind="flow_verdict_judge")), FakeJudge("fake", answer))
    made.outputs["evidence-ac1-eval-1"] = b"12 tests passed"
    assert made.evaluate().verdict == "achieved"
    assert made.world.live is not None
    assert made.world.live["judge"] == sidecar("run-1", "evidence-judge-eval-1")


# --- evidence commands ----------------------------------------------------------------------------


def test_an_evidence_command_runs_when_a_judge_is_asked_and_decides_nothing() -> None:
    made = court(evidence_command="./show")
    made.files = {}
    made.world.results["AC2"] = CheckResult(
        "failed", 3, "exit 3", "", 0.1, RawOutput("/o", "d" * 64, 9), 9, 0, (), ()
    )
    made.outputs["evidence-ac2-collected-1"] = QUOTE.encode()
    verdict = made.evaluate()
    assert [check.command for check in made.world.checks] == ["true", "./show"]
    evidence = made.world.evidence[sidecar("run-1", "evidence-ac2-collected-1")]
    assert (evidence.proves, evidence.outcome) == ((), None)
    assert evidence.document["evidence"]["about"] == ["AC2"]
    assert "evidence AC2.1: output of its evidence_command (exit 3)" in prompts(made)[0]
    assert verdict.verdict == "achieved"  # it rests on what was printed


@pytest.mark.parametrize("why", ["no judge", "--no-judge", "a failure", "approved", "dry run"])
def test_an_evidence_command_does_not_run_where_no_judge_is_asked(why: str) -> None:
    made = court(evidence_command="./show")
    request: dict[str, Any] = {}
    if why == "no judge":
        made.world.judge = None
    elif why == "--no-judge":
        request["no_judge"] = True
    elif why == "a failure":
        made.world.outcomes["AC1"] = "failed"
    elif why == "dry run":
        request["dry_run"] = True
    else:
        from flow.app.transitions import moves

        at = "2026-11-21T11:00:00Z"
        moves.approve(
            made.world.desk(at=at),
            "issue-4",
            "AC2",
            PersonsWord("sam", None, "seen"),
        )
    made.evaluate(**request)
    assert "./show" not in [check.command for check in made.world.checks]


def test_an_evidence_command_that_touches_flows_files_spoils_the_judging() -> None:
    made = court(evidence_command="./show")
    made.world.during["AC2"] = lambda: setattr(made.world, "blame", ("goal issue-4",))
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert "an evidence command changed goal issue-4" in verdict.reason
    assert prompts(made) == []


def test_an_approved_criterions_evidence_command_does_not_run_for_the_others() -> None:
    from flow.app.transitions import moves

    made = court(evidence_command="./show")
    made.world.document["objective"]["acceptance_criteria"].append(
        criterion("AC3", None, evidence_command="./other")
    )
    word = PersonsWord("sam", None, "seen")
    moves.approve(made.world.desk(at="2026-11-21T11:00:00Z"), "issue-4", "AC2", word)
    made.evaluate()
    assert [check.command for check in made.world.checks] == ["true", "./other"]


def test_what_an_evidence_command_leaves_behind_is_a_by_product() -> None:
    made = court(evidence_command="./show")
    left = (changed("elsewhere/report.txt"),)
    made.world.during["AC2"] = lambda: setattr(made.world, "changes", left)
    verdict = made.evaluate()
    assert verdict.verdict == "achieved"
    assert any("left behind by the commands" in warning for warning in verdict.warnings)
    assert made.world.kept


def test_an_evidence_command_that_changes_the_contract_is_on_the_record() -> None:
    made = court(evidence_command="./show")

    def meddle() -> None:
        made.world.document["objective"]["outcome"] = "something easier"
        made.world.blame = ("goal issue-4",)

    made.world.during["AC2"] = meddle
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert len(made.world.turns) == 1


def test_an_opinion_that_is_not_on_the_record_proves_no_criterion() -> None:
    made = court()
    said = JudgedCriterion("AC2", "pass", "fine")
    made.world.judge = lambda case: Opinion("achieved", 0.9, criteria=(said,))
    verdict = made.evaluate()
    assert verdict.criterion_results[1].status == "pending"


def test_files_that_change_while_the_judge_is_asked_make_its_opinion_worthless() -> None:
    made = court()

    def meddle(_: Any) -> Any:
        made.world.changes = (changed("src/a.py", "other", untracked=False),)
        return PASS

    made.panel = (FakeJudge("fake", meddle),)
    verdict = made.evaluate()
    assert verdict.verdict == "not_achieved"
    assert "changed while the commands ran: src/a.py" in verdict.reason
    assert verdict.proposed_transition is None
    assert made.world.document["objective"]["acceptance_criteria"][1]["status"] == "pending"


@pytest.mark.parametrize(("only", "asked"), [((), True), (("AC1",), False), (("AC1", "AC2"), True)])
def test_a_judge_is_not_asked_about_what_is_left_out(only: tuple[str, ...], asked: bool) -> None:
    made = court()
    verdict = made.evaluate(only=only)
    assert bool(prompts(made)) is asked
    assert verdict.verdict == ("achieved" if asked else "needs_human_review")
    assert ("not asked (--only leaves its criteria out)" in verdict.reason) is not asked


# --- several judges -------------------------------------------------------------------------------


def test_every_ballot_is_kept_and_the_opinion_names_them() -> None:
    made = court()
    made.panel = (FakeJudge("one", PASS), FakeJudge("two", PASS), FakeJudge("three", FAIL))
    verdict = made.evaluate()
    assert verdict.verdict == "achieved"
    assert verdict.confidence == 0.6
    assert "2 of 3 ballots agree" in verdict.reason
    ballots = [judgement(made, f"evidence-judge-ballot-{n}-1") for n in (1, 2, 3)]
    assert [b["judge"] for b in ballots] == ["one", "two", "three"]
    assert [b["verdict"] for b in ballots] == ["achieved", "achieved", "not_achieved"]
    opinion = judgement(made, "evidence-judge-eval-1")
    assert opinion["ballots"]["sidecars"] == [
        sidecar("run-1", f"evidence-judge-ballot-{n}-1") for n in (1, 2, 3)
    ]
    assert opinion["ballots"] | {"sidecars": []} == {
        "asked": 3,
        "usable": 3,
        "agreeing": 2,
        "spread": 0.0,
        "sidecars": [],
    }
    assert opinion["judges"] == ["one", "two", "three"]
    assert len(made.kept) == 3


def test_a_lost_ballot_spoils_the_proposal() -> None:
    from flow.app.evaluation import proposals

    made = court()
    made.panel = (FakeJudge("one", PASS), FakeJudge("two", PASS))
    made.evaluate()
    made.world.altered.add(sidecar("run-1", "evidence-judge-ballot-2-1"))
    assert made.world.live is not None
    (said,) = proposals.lost_grounds(made.world.live, made.world.counted)
    assert "ballot" in said


def test_every_ballot_is_blind_and_has_a_nonce_of_its_own() -> None:
    made = court()
    made.panel = (FakeJudge("one", FAIL), FakeJudge("two", FAIL))
    made.evaluate()
    first, second = prompts(made)
    assert first != second
    assert "AC2 fail" not in second
    assert first.replace(f"{1:032x}", "N") == second.replace(f"{2:032x}", "N")


def test_the_order_is_another_for_each_ballot() -> None:
    made = court(reply("not_achieved", row("AC2", "fail"), row("AC3", "fail")))
    made.world.document["objective"]["acceptance_criteria"].append(
        criterion("AC3", None, evidence_paths=["docs/**"])
    )
    made.panel = (made.panel[0],) * 2
    made.evaluate()
    first, second = prompts(made)[:2]
    assert first.index("Criterion AC2") < first.index("Criterion AC3")
    assert second.index("Criterion AC3") < second.index("Criterion AC2")


def test_a_tie_goes_to_a_person() -> None:
    made = court()
    made.panel = (FakeJudge("one", PASS), FakeJudge("two", FAIL))
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert "no majority: 1 achieved, 1 not_achieved" in verdict.reason


def test_a_ballot_without_an_answer_is_named() -> None:
    made = court()
    made.panel = (FakeJudge("one", PASS), FakeJudge("two", silent()), FakeJudge("three", PASS))
    verdict = made.evaluate()
    assert verdict.verdict == "achieved"
    assert verdict.confidence == 0.6
    assert "judge two, ballot 2: no answer: took too long" in verdict.warnings


def test_one_ballot_is_the_opinion_and_has_one_sidecar() -> None:
    made = court()
    made.evaluate()
    assert [e.id for e in made.world.evidence.values() if e.type == "llm_judge_report"] == [
        "evidence-judge-eval-1"
    ]


def test_as_many_ballots_and_criteria_as_there_may_be_are_asked() -> None:
    made = court()
    rows = made.world.document["objective"]["acceptance_criteria"]
    rows += [criterion(f"FZ{n}", None, evidence_paths=["docs/**"]) for n in range(MOST_SOUGHT - 1)]
    made.panel = (FakeJudge("one", silent()),) * MOST_BALLOTS
    made.evaluate()
    assert len(made.panel[0].questions) == MOST_BALLOTS


def test_too_many_ballots_are_refused() -> None:
    made = court()
    made.panel = (FakeJudge("one", PASS),) * (MOST_BALLOTS + 1)
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert "26 ballots are asked for, more than 25" in verdict.reason
    assert prompts(made) == []


def test_too_many_criteria_are_refused() -> None:
    made = court()
    rows = made.world.document["objective"]["acceptance_criteria"]
    rows += [criterion(f"FZ{n}", None) for n in range(MOST_SOUGHT)]
    assert "criteria are more than 100" in made.evaluate().reason
    assert prompts(made) == []


# --- time, canary, kappa --------------------------------------------------------------------------


def test_what_is_left_of_the_callers_time_bounds_each_call() -> None:
    made = court()
    made.panel = (FakeJudge("one", PASS), FakeJudge("two", PASS), FakeJudge("three", PASS))
    left = 100.0

    def slow(_: Any) -> Any:
        made.time += 45
        return PASS

    for judge in made.panel:
        judge.replies = [slow]  # type: ignore[union-attr]
    tools = made.world.tools()._replace(seconds_left=lambda: left)
    verdict = evaluate(Request("issue-4"), tools)
    assert [judge.seconds for judge in made.panel] == [[60.0], [55.0], [10.0]]  # type: ignore[union-attr]
    assert verdict.verdict == "achieved"
    left = 0.5
    made.time = 0.0
    verdict = evaluate(Request("issue-4"), tools)
    assert "no time is left to ask" in verdict.reason


def test_the_canary_is_asked_once_for_each_judge_and_holds_no_evidence() -> None:
    made = court()
    asked: list[str] = []

    def honest(question: Any) -> Any:
        asked.append(question.prompt)
        empty = QUOTE not in question.prompt
        return reply("not_achieved", row("AC2", "incomplete")) if empty else PASS

    judge = FakeJudge("one", honest)
    made.panel = (judge, judge)
    made.canary = True
    assert made.evaluate().verdict == "achieved"
    assert [QUOTE in text for text in asked] == [False, True, True]
    assert made.progress[0][1] == "the question without evidence"
    (canary,) = judgement(made, "evidence-judge-eval-1")["canaries"]
    assert (canary["judge"], canary["passed"], canary["reason"]) == ("one", True, "")


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (PASS, "it says achieved to the question without evidence"),
        ({"verdict": "achieved"}, "it says achieved to the question without evidence"),
        (silent(), "the question without evidence got no answer: took too long"),
    ],
)
def test_a_judge_that_fails_its_canary_is_not_believed(first: Any, why: str) -> None:
    made = court(first, PASS)
    made.canary = True
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert why in verdict.reason
    assert len(prompts(made)) == 1


def test_the_others_are_believed_where_one_fails_its_canary() -> None:
    made = court()
    empty = reply("not_achieved", row("AC2", "incomplete"))
    made.panel = (
        FakeJudge("yes", PASS),
        FakeJudge("two", empty, PASS),
        FakeJudge("three", empty, PASS),
    )
    made.canary = True
    verdict = made.evaluate()
    assert verdict.verdict == "achieved"
    assert any("judge yes, ballot 1: no answer: it says achieved" in w for w in verdict.warnings)


@pytest.mark.parametrize(
    ("answer", "verdict"), [(PASS, "needs_human_review"), (FAIL, "not_achieved")]
)
def test_a_judge_that_people_do_not_agree_with_cannot_propose(answer: Any, verdict: str) -> None:
    made = court(answer)
    made.distrusted["fake"] = "its kappa of 0.20 over 60 labels is below minKappa 0.6"
    found = made.evaluate()
    assert found.verdict == verdict
    assert found.proposed_transition is None
    assert ("cannot propose it: its kappa of 0.20" in found.reason) is (answer is PASS)


# --- an opinion on record -------------------------------------------------------------------------


def again(made: Court) -> Opinion | None:
    found: list[Opinion | None] = []

    def look(case: Any) -> NoOpinion:
        found.append(made.recall(case))
        return NoOpinion("only looking")

    made.world.judge = look
    made.evaluate()
    return found[0]


@pytest.mark.parametrize(
    "change", [{"metadata": {"created_at": "2026-11-21T12:30:00Z"}}, {"flow_version": "0.0.1"}]
)
def test_an_opinion_of_tomorrow_or_of_another_flow_is_not_recalled(change: dict[str, Any]) -> None:
    made = court()
    made.evaluate()
    alter(made, "llm_judge_report", change)
    assert again(made) is None


def test_an_opinion_of_the_same_files_is_recalled() -> None:
    made = court()
    made.evaluate()
    (first,) = made.opinions
    known = again(made)
    assert isinstance(first, Opinion)
    assert known is not None
    assert known._replace(warnings=()) == first._replace(warnings=())
    assert known.warnings


@pytest.mark.parametrize(
    "what",
    ["files", "contract", "judges", "sidecar", "criteria", "kappa", "no tree"],
)
def test_an_opinion_is_not_recalled_where_anything_has_moved(what: str) -> None:
    made = court()
    made.evaluate()
    if what == "files":
        made.world.changes = (changed("src/new.py"),)
    elif what == "contract":
        made.world.document["objective"]["outcome"] = "another"
    elif what == "judges":
        made.panel = (FakeJudge("another", PASS),)
    elif what == "sidecar":
        made.world.altered.add(sidecar("run-1", "evidence-judge-eval-1"))
    elif what == "criteria":
        made.world.document["objective"]["acceptance_criteria"].append(criterion("AC3", None))
    elif what == "kappa":
        made.distrusted["fake"] = "too few labels"
    else:
        made.world.problems = ("a merge is under way",)
        made.world.judge = lambda case: pytest.fail("asked")
        assert made.evaluate().verdict == "not_achieved"
        return
    assert again(made) is None


def test_what_is_not_hermetic_is_judged_anew() -> None:
    made = court(hermetic=False)
    made.evaluate()
    assert again(made) is None


def test_a_caller_that_reuses_asks_nobody_again() -> None:
    made = court()
    made.evaluate()
    tools = made.world.tools()._replace(recorded_opinion=made.recall)
    verdict = evaluate(Request("issue-4", use_recorded_opinion=True), tools)
    assert verdict.verdict == "achieved"
    assert len(prompts(made)) == 1
    assert any("not asked again" in warning for warning in verdict.warnings)
    assert evaluate(Request("issue-4"), tools).verdict == "achieved"
    assert len(prompts(made)) == 2
