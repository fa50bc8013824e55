"""A goal's fuzzy criterion that names a rubric: the rubric can lower its pass, and nothing else."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from flow.app.judging.asking import Asking
from flow.app.judging.port import NoAnswer
from flow.app.judging.rubric_criteria import Refined, refine_ballot, unusable
from flow.core.decision.decide import JudgedCriterion
from flow.core.goal.model import goal_from_document
from flow.core.judging.goal.context import ContextItem, JudgeContext, SoughtCriterion
from flow.core.judging.goal.reply import Ballot
from flow.core.judging.rubric.model import Rubric, RubricCriterion
from flow.core.untrusted.fences import FencedPart
from tests.app.fakes import criterion, goal_document
from tests.support.judges.rubric_replies import Scripted, reply

RUBRIC = Rubric("Greeting", [RubricCriterion("polite", "d"), RubricCriterion("short", "d")])
GOOD = reply({"polite": 0.9, "short": 0.9}, "give me that, please")
BAD = reply({"polite": 0.2, "short": 0.9}, "invented")
GOAL = goal_from_document(
    goal_document(
        criterion("AC1", "true"),
        criterion("AC2", None, rubric="house"),
        criterion("AC3", None),
        kind="hybrid",
    )
)
BUNDLE = JudgeContext(
    goal_id="issue-4",
    turn=1,
    sought=(
        SoughtCriterion("AC2", "it is polite", True),
        SoughtCriterion("AC3", "it reads well", True),
    ),
    contract=(),
    report="",
    items=(
        ContextItem("AC2", "file", FencedPart("", "give me that, please", "src/greet.txt")),
        ContextItem(
            "AC2", "a sidecar of type review", FencedPart("", "somebody says it is polite"), False
        ),
        ContextItem("AC3", "file", FencedPart("", "prose of AC3")),
    ),
    missing=(),
    previous=None,
    turns_left=3,
)


def ballot(ac2: str = "pass", ac3: str = "pass", verdict: str = "achieved") -> Ballot:
    rows = (JudgedCriterion("AC2", ac2, "ok"), JudgedCriterion("AC3", ac3, "ok"))  # type: ignore[arg-type]
    return Ballot("scripted", verdict, 0.9, "reason", "hint", "none", rows)  # type: ignore[arg-type]


def run(
    judge: Scripted, given: Ballot, judge_context: JudgeContext = BUNDLE, rubric: Any = RUBRIC
) -> Refined:
    asking = Asking(partial(judge, seconds=5))
    refined = refine_ballot(
        given, GOAL, judge_context, {"house": rubric}, asking=asking, nonce=lambda: "e" * 32, turn=0
    )
    assert len(asking.usages) == len(judge.questions)
    return refined


TABLE = [  # AC2, AC3, verdict, the rubric's answer -> AC2, verdict (None: no answer), asked
    ("pass", "pass", "achieved", GOOD, "pass", "achieved", 1),
    ("pass", "pass", "achieved", BAD, "fail", "not_achieved", 1),
    ("pass", "pass", "needs_human_review", GOOD, "pass", "needs_human_review", 1),
    ("pass", "pass", "needs_human_review", BAD, "fail", "needs_human_review", 1),
    ("pass", "fail", "not_achieved", GOOD, "pass", "not_achieved", 1),
    ("pass", "fail", "not_achieved", BAD, "fail", "not_achieved", 1),
    ("pass", "fail", "blocked", BAD, "fail", "blocked", 1),
    ("fail", "pass", "not_achieved", GOOD, "fail", "not_achieved", 0),
    ("incomplete", "pass", "not_achieved", GOOD, "incomplete", "not_achieved", 0),
    ("pass", "pass", "achieved", "too slow", None, None, 1),
    ("pass", "pass", "achieved", reply({"polite": 1}), None, None, 1),
]


@pytest.mark.parametrize(("ac2", "ac3", "verdict", "said", "status", "after", "asked"), TABLE)
def test_a_rubric_can_only_lower(
    ac2: str, ac3: str, verdict: str, said: Any, status: str | None, after: str | None, asked: int
) -> None:
    judge = Scripted(said)
    found = run(judge, ballot(ac2, ac3, verdict))
    assert len(judge.questions) == asked
    if status is None:
        assert isinstance(found.ballot, NoAnswer)
        assert found.ballot.reason.startswith("AC2: the rubric house got no usable answer: ")
        assert "its reply" not in found.ballot.reason
    else:
        assert isinstance(found.ballot, Ballot)
        assert (found.ballot.row("AC2").status, found.ballot.verdict) == (status, after)
        assert found.ballot.row("AC3").status == ac3


def test_a_criterion_that_need_not_pass_lowers_only_itself() -> None:
    sought = (SoughtCriterion("AC2", "it is polite", False), BUNDLE.sought[1])
    found = run(Scripted(BAD), ballot(), BUNDLE._replace(sought=sought))
    assert isinstance(found.ballot, Ballot)
    assert (found.ballot.row("AC2").status, found.ballot.verdict) == ("fail", "achieved")


def test_what_it_came_to_is_said_and_kept() -> None:
    found = run(Scripted(BAD), ballot())
    assert isinstance(found.ballot, Ballot)
    assert "Greeting: 0.55 is below 0.7" in found.ballot.row("AC2").remark
    assert "of AC2 the rubric house is not passed" in found.ballot.lowered
    assert any("does not occur" in remark for remark in found.ballot.remarks)
    (kept,) = found.judgements
    assert (kept["criterion_id"], kept["name"], kept["score"]) == ("AC2", "house", 0.55)


def test_the_judge_sees_the_counted_evidence_of_that_criterion_alone() -> None:
    judge = Scripted(GOOD)
    run(judge, ballot())
    prompt = judge.questions[0].prompt
    assert "give me that, please" in prompt
    assert "it is polite" in prompt
    assert "somebody says" not in prompt
    assert "prose of AC3" not in prompt
    assert judge.questions[0].label == "goal issue-4, AC2 by the rubric house"


def test_each_piece_of_evidence_is_cut_to_its_share() -> None:
    items = (ContextItem("AC2", "file", FencedPart("", "x" * 100_000)),)
    judge = Scripted(GOOD)
    run(judge, ballot(), BUNDLE._replace(items=items))
    assert 7000 < judge.questions[0].prompt.count("x") < 8300


def test_a_rubric_that_cannot_be_used_is_named_before_anybody_is_asked() -> None:
    assert unusable(GOAL, BUNDLE, {"house": RUBRIC}) == ""
    assert unusable(GOAL, BUNDLE, {}) == "AC2: there is no rubric 'house'"
    assert unusable(GOAL, BUNDLE, {"house": "house.yaml: broken"}) == "AC2: house.yaml: broken"
    assert unusable(GOAL, BUNDLE._replace(sought=BUNDLE.sought[1:]), {}) == ""
