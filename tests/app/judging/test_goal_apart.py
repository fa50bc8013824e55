"""Criteria with a scorecard or a debate, beside the ballots: what an evaluation makes of both."""

from __future__ import annotations

from typing import Any

import pytest

from flow.adapters.contracts import formats
from flow.app.evaluation.values import JudgeCase, Request
from flow.app.judging import goal as judging_goal
from flow.app.judging.changed_files import Raw
from flow.app.transitions import moves
from flow.app.transitions.persons_word import PersonsWord
from flow.core.decision.decide import NoOpinion, Opinion
from flow.core.goal.model import Criterion
from flow.core.judging.goal.delegated import Delegated, DelegatedOpinion
from flow.core.judging.rubric.model import Rubric, RubricCriterion
from tests.app.fakes import World, changed, criterion, evaluate, goal_document, sidecar
from tests.app.judge_fakes import Court, FakeJudge, reply, row, silent

QUOTE = "The guide greets the reader."


class Hall(Court):
    """A court with something to hear apart: what each way comes to, by criterion."""

    def __init__(
        self, world: World, *panel: Any, heard: dict[str, DelegatedOpinion] | None = None
    ) -> None:
        super().__init__(world, *panel)
        self.files = {"docs/guide.md": QUOTE.encode()}
        self.says = heard or {}
        self.heard: list[tuple[str, str, float]] = []
        self.rubrics: dict[str, Rubric | str] = {}

    def tools(self) -> judging_goal.JudgeTools:
        return super().tools()._replace(delegate=self.hear, rubrics=self.rubrics)

    def hear(
        self, _: JudgeCase, about: Criterion, order: Delegated, seconds: float
    ) -> DelegatedOpinion:
        self.heard.append((about.id, order.way, seconds))
        found = self.says.get(f"{about.id} {order.way}") or self.says[about.id]
        return found._replace(id=about.id, way=order.way)


def heard(status: Any, confidence: float = 0.9, **more: Any) -> DelegatedOpinion:
    names = more.pop("judges", ("fake",))
    return DelegatedOpinion(
        "", "scorecard", status, f"says {status}", confidence, judges=names, **more
    )


def hall(
    *rows: dict[str, Any],
    says: dict[str, DelegatedOpinion],
    replies: Any = (),
    kind: str = "hybrid",
) -> Hall:
    world = World(goal_document(criterion("AC1"), *rows, kind=kind))
    return Hall(world, FakeJudge("fake", *(replies or (silent(),))), heard=says)


def fuzzy(id: str = "AC2", **more: Any) -> dict[str, Any]:
    return criterion(id, None, evidence_paths=["docs/**"], **more)


CARD = {"scorecard": {"skill": "notes"}}
DEBATE = {"debate": True}
PASS = reply("achieved", row("AC3", "pass", QUOTE))
FAIL = reply("not_achieved", row("AC3", "fail", QUOTE))

# --- what is heard, alone -------------------------------------------------------------------------

PERSON = ("needs_human_review", "waiting_for_user", False)
DONE, OPEN = ("achieved", "active", True), ("not_achieved", "active", False)
ALONE: list[tuple[Any, float, tuple[str, str, bool]]] = [
    ("pass", 1.0, DONE),
    ("pass", 0.6, DONE),
    ("pass", 0.59, PERSON),
    ("pass", 0.0, PERSON),
    ("fail", 1.0, OPEN),
    ("fail", 0.1, OPEN),
    (None, 1.0, PERSON),
    (None, 0.0, PERSON),
]


@pytest.mark.parametrize("way", [CARD, DEBATE], ids=["scorecard", "debate"])
@pytest.mark.parametrize(("status", "confidence", "expected"), ALONE)
def test_what_one_way_alone_comes_to(
    way: dict[str, Any], status: Any, confidence: float, expected: tuple[str, str, bool]
) -> None:
    made = hall(fuzzy(**way), says={"AC2": heard(status, confidence)})
    verdict = made.evaluate()
    assert isinstance(made.panel[0], FakeJudge)
    assert made.panel[0].questions == []  # no empty ballot
    lifecycle = made.world.document["lifecycle"]["status"]
    assert (verdict.verdict, lifecycle, verdict.proposed_transition is not None) == expected
    assert verdict.confidence == confidence
    found = made.world.document["objective"]["acceptance_criteria"][1]
    written = {"pass": "pass", "fail": "fail", None: "evidence_collected"}[status]
    path = sidecar("run-1", "evidence-judge-eval-1")
    assert (found["status"], found["evidence_ref"]) == (written, path)
    evidence = made.world.evidence[path]
    assert evidence.type == "llm_judge_report"
    assert evidence.proves == (("AC2",) if status == "pass" else ())
    said = evidence.document["evidence"]["judgement"]
    assert [one["criterion_id"] for one in said["apart"]] == ["AC2"]
    assert said["judges"] == ["fake"]


# --- beside the ballots ---------------------------------------------------------------------------

BALLOTS: dict[str, Any] = {
    "achieved": PASS,
    "unsure": {**PASS, "confidence": 0.5},
    "not achieved": FAIL,
    "a person": reply("needs_human_review", row("AC3", "incomplete")),
    "blocked": reply("blocked", row("AC3", "fail"), blocker_type="missing_dep"),
    "nothing": silent(),
}


@pytest.mark.parametrize("status", ["pass", "fail", None])
@pytest.mark.parametrize("ballot", BALLOTS)
def test_neither_raises_the_other(ballot: str, status: Any) -> None:
    made = hall(
        fuzzy(**CARD), fuzzy("AC3"), says={"AC2": heard(status)}, replies=(BALLOTS[ballot],)
    )
    verdict = made.evaluate().verdict
    if ballot == "nothing":  # without one of two opinions there is none of the goal
        expected = "needs_human_review"
    elif ballot == "blocked":
        expected = "blocked"
    elif status == "fail" or ballot == "not achieved":
        expected = "not_achieved"
    elif status is None or ballot in ("a person", "unsure"):
        expected = "needs_human_review"
    else:
        expected = "achieved"
    assert verdict == expected


CLEAR = Rubric("Clear", [RubricCriterion("clear", "d")])


def by_rubric(score: float) -> dict[str, Any]:
    one = {"name": "clear", "evidence": [QUOTE], "reasoning": "it is", "score": score}
    return {"criteria": [one], "reasoning": "so it is", "suggestions": []}


ROWS = ("pass", "fail", None)


@pytest.mark.parametrize("ballot", ["pass", "fail", "rubric", None])
@pytest.mark.parametrize("debate", ROWS)
@pytest.mark.parametrize("card", ROWS)
def test_one_criterion_with_all_three_passes_only_by_all_three(
    card: Any, debate: Any, ballot: Any
) -> None:
    passes = reply("achieved", row("AC2", "pass", QUOTE))
    replies = {
        "pass": (passes, by_rubric(0.9)),
        "rubric": (passes, by_rubric(0.1)),
        "fail": (reply("not_achieved", row("AC2", "fail", QUOTE)),),
        None: (silent(),),
    }
    says = {"AC2 scorecard": heard(card), "AC2 debate": heard(debate)}
    made = hall(fuzzy(**CARD, **DEBATE, rubric="clear"), says=says, replies=replies[ballot])
    made.rubrics = {"clear": CLEAR}
    verdict = made.evaluate().verdict
    found = {card, debate, "fail" if ballot == "rubric" else ballot}
    expected = "needs_human_review"
    if ballot is not None:
        expected = "achieved" if found == {"pass"} else expected
        expected = "not_achieved" if "fail" in found else expected
    assert verdict == expected
    assert [way for _, way, _ in made.heard] == ["scorecard", "debate"]
    if ballot is not None:
        least = "fail" if "fail" in found else "pass" if found == {"pass"} else "incomplete"
        opinion = made.opinions[0]
        assert isinstance(opinion, Opinion)
        [row_] = opinion.criteria
        assert (row_.id, row_.status) == ("AC2", least)


def test_what_is_not_must_pass_decides_nothing() -> None:
    says = {"AC2": heard("fail"), "AC4": heard("pass")}
    made = hall(fuzzy(**CARD, must_pass=False), fuzzy("AC4", **DEBATE), says=says)
    verdict = made.evaluate()
    assert verdict.verdict == "achieved"
    assert [row.status for row in verdict.criterion_results] == ["pass", "fail", "pass"]


def test_an_optional_pass_does_not_stand_for_a_ballot() -> None:
    says = {"AC2": heard("pass")}
    made = hall(fuzzy(**CARD, must_pass=False), fuzzy("AC3"), says=says, replies=(FAIL,))
    assert made.evaluate().verdict == "not_achieved"


def test_the_least_confidence_and_every_reason() -> None:
    says = {"AC2": heard("pass", 0.7), "AC4": heard("pass", 0.8)}
    made = hall(fuzzy(**CARD), fuzzy("AC3"), fuzzy("AC4", **DEBATE), says=says, replies=(PASS,))
    verdict = made.evaluate()
    assert (verdict.verdict, verdict.confidence) == ("achieved", 0.7)
    opinion = made.opinions[0]
    assert isinstance(opinion, Opinion)
    assert "AC2: says pass" in opinion.reason
    assert "AC4: says pass" in opinion.reason
    asked = made.panel[0].questions[0].prompt  # type: ignore[union-attr]
    assert '"AC2"' not in asked


# --- who may pass it ------------------------------------------------------------------------------


def test_a_judge_that_is_not_known_to_agree_with_people_passes_nothing() -> None:
    made = hall(fuzzy(**DEBATE), says={"AC2": heard("pass", judges=("fake", "other"))})
    made.distrusted = {"other": "no labels"}
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert "other cannot propose it: no labels" in verdict.reason
    made = hall(fuzzy(**DEBATE), says={"AC2": heard("fail", judges=("other",))})
    made.distrusted = {"other": "no labels"}
    assert made.evaluate().verdict == "not_achieved"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (reply("not_achieved", row("AC2", "incomplete")), "achieved"),
        (reply("achieved", row("AC2", "pass")), "needs_human_review"),
        (silent(), "needs_human_review"),
    ],
    ids=["it lives", "it passes anything", "no answer"],
)
def test_the_question_without_evidence_is_asked_of_it_too(said: Any, verdict: str) -> None:
    made = hall(fuzzy(**CARD), says={"AC2": heard("pass")}, replies=(said,))
    made.canary = True
    assert made.evaluate().verdict == verdict
    judge = made.panel[0]
    assert isinstance(judge, FakeJudge)
    assert [QUOTE in question.prompt for question in judge.questions] == [False]
    assert "AC2 holds" in judge.questions[0].prompt
    assert '"AC2"' in str(judge.questions[0].schema).replace("'", '"')
    [canary] = made.world.evidence[sidecar("run-1", "evidence-judge-eval-1")].document["evidence"][
        "judgement"
    ]["canaries"]
    assert canary["passed"] is (verdict == "achieved")


def test_nobody_asks_the_canary_of_a_failure_or_of_a_stranger() -> None:
    made = hall(fuzzy(**CARD), says={"AC2": heard("fail")})
    made.canary = True
    assert made.evaluate().verdict == "not_achieved"
    assert made.panel[0].questions == []  # type: ignore[union-attr]
    made = hall(fuzzy(**CARD), says={"AC2": heard("pass", judges=("stranger",))})
    made.canary = True
    assert made.evaluate().verdict == "needs_human_review"


# --- where nobody is heard ------------------------------------------------------------------------


def test_where_nobody_was_asked_there_is_no_report() -> None:
    """An opinion that nobody holds is none: no sidecar, the criterion stays as it was."""
    why = DelegatedOpinion("", "scorecard", None, "scorecard: not in the Stop hook")
    made = hall(fuzzy(**CARD), says={"AC2": why})
    verdict = made.evaluate(trigger="stop-hook")
    assert (verdict.verdict, verdict.confidence) == ("needs_human_review", 0.0)
    assert "AC2: scorecard: not in the Stop hook" in verdict.reason
    assert isinstance(made.opinions[0], NoOpinion)
    assert sidecar("run-1", "evidence-judge-eval-1") not in made.world.evidence
    assert made.world.document["objective"]["acceptance_criteria"][1]["status"] == "pending"


def test_where_it_cannot_be_heard_at_all_a_person_is_needed() -> None:
    made = Court(
        World(goal_document(criterion("AC1"), fuzzy(**CARD), kind="hybrid")), FakeJudge("f", PASS)
    )
    verdict = made.evaluate()
    assert verdict.verdict == "needs_human_review"
    assert "nobody can judge it so here" in verdict.reason


@pytest.mark.parametrize(("left", "verdict"), [(1, "achieved"), (0.9, "needs_human_review")])
def test_it_is_heard_within_the_time_that_is_left(left: float, verdict: str) -> None:
    made = hall(fuzzy(**CARD), says={"AC2": heard("pass")})

    def hurried(case: JudgeCase) -> Opinion | NoOpinion:
        return judging_goal.judge_goal(case._replace(seconds=left), made.tools())

    made.world.judge = hurried
    assert made.evaluate().verdict == verdict
    assert made.heard == ([("AC2", "scorecard", 1)] if left == 1 else [])


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        ({"no_judge": True}, "hybrid"),
        ({"dry_run": True}, "hybrid"),
        ({"only": ("AC1",)}, "hybrid"),
        ({}, "deterministic"),
        ({"trigger": "command"}, "flow_verdict_judge"),
        ({"trigger": "stop-hook"}, "flow_verdict_judge"),
    ],
)
def test_where_no_judge_may_be_asked_nothing_is_heard(request_: dict[str, Any], kind: str) -> None:
    made = hall(fuzzy(**CARD, **DEBATE), says={"AC2": heard("pass")}, kind=kind)
    assert made.evaluate(**request_).proposed_transition is None
    assert made.heard == []


def test_a_failed_command_is_not_outweighed() -> None:
    made = hall(fuzzy(**CARD), says={"AC2": heard("pass", 1.0)})
    made.world.outcomes["AC1"] = "failed"
    assert made.evaluate().verdict == "not_achieved"
    assert made.heard == []


def test_what_a_person_approved_is_not_judged_again() -> None:
    made = hall(fuzzy(**CARD), fuzzy("AC3"), says={"AC2": heard("fail")}, replies=(PASS,))
    at = "2026-11-21T11:00:00Z"
    moves.approve(
        made.world.desk(at=at),
        "issue-4",
        "AC2",
        PersonsWord("sam", None, "seen"),
    )
    assert made.evaluate().verdict == "achieved"
    assert made.heard == []


@pytest.mark.parametrize(
    ("look", "status", "verdict"),
    [
        ("pass", "pass", "achieved"),
        ("fail", "pass", "not_achieved"),
        ("pass", "fail", "not_achieved"),
        (None, "pass", "needs_human_review"),
    ],
)
def test_the_second_look_is_a_ballot_beside_it(look: Any, status: str, verdict: str) -> None:
    made = hall(fuzzy(**CARD), says={"AC2": heard(status)}, kind="flow_verdict_judge")
    made.outputs = {}
    quote = "the output of its command"
    said = {
        "pass": reply("achieved", row("AC1", "pass", quote)),
        "fail": reply("not_achieved", row("AC1", "fail", quote)),
        None: silent(),
    }[look]
    judge = made.panel[0]
    assert isinstance(judge, FakeJudge)
    judge.replies = [said]
    made.output = lambda evidence: Raw(quote.encode())  # type: ignore[method-assign]
    assert made.evaluate().verdict == verdict


def test_files_that_move_meanwhile_make_it_worthless() -> None:
    made = hall(fuzzy(**CARD), says={"AC2": heard("pass", 1.0)})
    judged = made.hear

    def hear(*given: Any) -> DelegatedOpinion:
        made.world.changes = (changed("src/a.py", "other", untracked=False),)
        return judged(*given)

    made.hear = hear  # type: ignore[method-assign]
    verdict = made.evaluate()
    assert verdict.proposed_transition is None
    assert verdict.verdict == "not_achieved"


# --- what is on record ----------------------------------------------------------------------------


def test_an_opinion_of_the_same_files_is_recalled_and_nobody_heard() -> None:
    made = hall(fuzzy(**CARD), says={"AC2": heard("pass")})
    made.evaluate()
    tools = made.world.tools()._replace(recorded_opinion=made.recall)
    made.heard.clear()
    verdict = evaluate(Request("issue-4", trigger="stop-hook", use_recorded_opinion=True), tools)
    assert verdict.verdict == "achieved"
    assert made.heard == []
    assert any("on record" in warning for warning in verdict.warnings)


def test_its_words_and_costs_are_in_the_sidecar() -> None:
    document = {"card": ".flow/scores/x.json", "cost_usd": 0.25, "duration_seconds": 2.0}
    one = heard("pass", document=document, remarks=("cut short",))
    made = hall(fuzzy(**CARD), fuzzy("AC3"), says={"AC2": one}, replies=(PASS,))
    made.panel[0].cost = 0.5  # type: ignore[union-attr]
    verdict = made.evaluate()
    path = sidecar("run-1", "evidence-judge-eval-1")
    body = made.world.evidence[path].document
    said = body["evidence"]["judgement"]
    assert (said["cost_usd"], said["duration_seconds"]) == (0.75, 3.5)
    [row_] = said["apart"]
    assert row_["card"] == ".flow/scores/x.json"
    assert row_["remarks"] == ["cut short"]
    assert "AC2, scorecard: cut short" in verdict.warnings
    body["evidence"]["subject"]["head"] = "a" * 40  # the fakes' is none
    assert formats.check("evidence", body, file="x") == ()
