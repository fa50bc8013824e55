"""Scoring an execution: asking, sending back once, ballots, secrets (SPEC 9.3)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from flow.app.judging.port import JudgeAnswer, NoAnswer
from flow.app.judging.scorecard import ScorecardTools, Scored, score_execution, usage_document
from flow.core.goal.model import canonical_digest
from flow.core.judging.common.question import Question
from flow.core.judging.scorecard.history import Mean
from flow.core.judging.scorecard.model import NAMES, NO_PRIOR
from flow.core.judging.scorecard.prompt import CardSubject
from flow.core.transcript.model import LaidOutTranscript
from flow.core.untrusted.fences import FencedPart
from tests.app.judge_fakes import FakeJudge, silent
from tests.support.judges.score_replies import reply

QUOTE = "all 5 tests passed"
TRANSCRIPT = f"commit my work\n{QUOTE}\nthe token is hunter2hunter2\n"
MEAN = Mean(3, Decimal("7.50"), dict.fromkeys(NAMES, Decimal("7.50")))
GOOD = reply(8.0, QUOTE)
INVENTED = reply(9.0, QUOTE, rows={"safety": {"evidence": ["nobody ever said this"]}})


def run(
    judge: FakeJudge, *, samples: int = 1, mean: Mean | None = None, told: list[str] | None = None
) -> Scored | NoAnswer:
    matter = CardSubject(
        "commit",
        "rubric-code.md",
        "# Code",
        lambda limit: LaidOutTranscript((FencedPart("transcript", TRANSCRIPT[:limit]),), 0, {}),
        mean,
    )
    tools = ScorecardTools(
        judge,
        nonce=lambda: "ab" * 16,
        redact=lambda text: text.replace("hunter2hunter2", "***"),
        progress=(told if told is not None else []).append,
        seconds=7,
    )
    return score_execution(matter, TRANSCRIPT, samples, tools)


def scored(judge: FakeJudge, **more: Any) -> Scored:
    found = run(judge, **more)
    assert isinstance(found, Scored), found
    return found


def test_one_usable_reply_is_one_call() -> None:
    judge, told = FakeJudge("fake", GOOD), list[str]()
    found = scored(judge, told=told)
    assert len(judge.questions) == 1
    assert judge.seconds == [7]
    assert told == ["scorecard commit: asking fake"]
    assert found.ballot.marks["safety"].score == Decimal("8.0")
    assert (found.asked, found.usable, found.remarks) == (1, 1, ())
    assert judge.questions[0].label == "scorecard commit"
    assert list(judge.questions[0].schema["properties"]) == ["dimensions", "recommendations"]


def test_consistency_is_neutral_without_history_whatever_the_judge_says() -> None:
    found = scored(FakeJudge("fake", reply({"consistency": 1.0}, QUOTE)))
    mark = found.ballot.marks["consistency"]
    assert (mark.score, mark.justification) == (Decimal("7.0"), NO_PRIOR)


def test_consistency_is_the_judges_with_history() -> None:
    found = scored(FakeJudge("fake", reply({"consistency": 2.0}, QUOTE)), mean=MEAN)
    assert found.ballot.marks["consistency"].score == Decimal("2.0")


# --- what rests on nothing is sent back once ------------------------------------------------------


def test_an_invented_quote_is_sent_back_with_what_was_wrong() -> None:
    judge = FakeJudge("fake", INVENTED, GOOD)
    found = scored(judge)
    assert len(judge.questions) == 2
    assert judge.questions[1].label == "scorecard commit, sent back"
    prompt = judge.questions[1].prompt
    assert "- safety: none of its quotes occurs in the transcript." in prompt
    assert "nobody ever said this" in prompt
    assert not found.ballot.faults
    assert found.ballot.marks["safety"].score == Decimal("8.0")  # the second answer's


def test_it_is_sent_back_once_and_marked_then() -> None:
    judge = FakeJudge("fake", INVENTED)
    found = scored(judge)
    assert len(judge.questions) == 2
    assert found.ballot.faults == {"safety": "none of its quotes occurs in the transcript"}
    assert found.ballot.marks["safety"].discounted == ("nobody ever said this",)


@pytest.mark.parametrize("second", [silent(), reply(11, QUOTE), {}])
def test_a_second_answer_that_is_none_leaves_the_first_marked(second: Any) -> None:
    found = scored(FakeJudge("fake", INVENTED, second))
    assert found.ballot.marks["correctness"].score == Decimal("9.0")
    assert list(found.ballot.faults) == ["safety"]
    assert found.remarks[0].startswith("sent back, the judge gave no usable answer: ")


def test_consistency_alone_is_sent_back_only_with_history() -> None:
    unfounded = reply(8.0, QUOTE, rows={"consistency": {"evidence": []}})
    judge = FakeJudge("fake", unfounded)
    scored(judge)
    assert len(judge.questions) == 1
    judge = FakeJudge("fake", unfounded)
    found = scored(judge, mean=MEAN)
    assert len(judge.questions) == 2
    assert list(found.ballot.faults) == ["consistency"]


def test_consistency_may_quote_the_mean() -> None:
    row = {"evidence": ["Mean of its last 3 scorecards: composite 7.50"]}
    judge = FakeJudge("fake", reply(8.0, QUOTE, rows={"consistency": row}))
    assert not scored(judge, mean=MEAN).ballot.faults


# --- no usable answer -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (silent("timeout"), "timeout"),
        (silent("refused"), "refused"),
        ({}, "wrong_shape"),
        (reply(10.5, QUOTE), "wrong_shape"),
        (reply(8.55, QUOTE), "wrong_shape"),
        (reply(float("nan"), QUOTE), "wrong_shape"),
    ],
)
def test_no_usable_answer_is_no_card(said: Any, kind: str) -> None:
    judge = FakeJudge("fake", said)
    found = run(judge)
    assert isinstance(found, NoAnswer)
    assert found.kind == kind
    assert len(judge.questions) == 1


@pytest.mark.parametrize(
    ("replies", "samples", "usable"),
    [
        ((GOOD, {}, GOOD), 3, 2),
        ((GOOD, GOOD, {}), 3, 2),
        ((GOOD, {}), 2, None),
        (({}, GOOD, {}), 3, None),
        (({}, {}), 3, None),
    ],
)
def test_a_card_needs_more_than_half_of_the_ballots(
    replies: tuple[Any, ...], samples: int, usable: int | None
) -> None:
    found = run(FakeJudge("fake", *replies), samples=samples)
    if usable is None:
        assert isinstance(found, NoAnswer)
        assert "answers are not usable; the first: its reply is not usable" in found.reason
    else:
        assert isinstance(found, Scored)
        assert (found.asked, found.usable) == (samples, usable)
        assert f"1 of {samples} ballots gave no usable answer" in found.remarks[-1]


def test_several_ballots_are_one_by_the_median() -> None:
    judge = FakeJudge("fake", *(reply(s, QUOTE) for s in (9.0, 5.0, 6.0)))
    found = scored(judge, samples=3)
    assert found.ballot.marks["safety"].score == Decimal("6.0")
    assert found.ballot.marks["consistency"].score == Decimal("7.0")
    assert [q.label for q in judge.questions] == [
        f"scorecard commit, ballot {n}" for n in (1, 2, 3)
    ]
    firsts = [q.prompt.split("\n- ")[1].split(":")[0] for q in judge.questions]
    assert firsts == list(NAMES[:3])


# --- too little rests on the transcript -----------------------------------------------------------

NOTHING = {"evidence": ["nobody ever said this"]}


def founded(*names: str) -> dict[str, Any]:
    """A reply that quotes truly for ``names`` only."""
    return reply(9.0, QUOTE, rows={name: NOTHING for name in NAMES if name not in names})


HALF = [  # dimensions with a true quote, whether there are earlier cards; is it a card
    ((), False, False),
    ((), True, False),
    (("correctness", "completeness"), False, False),  # 0.45, and 0.05 that is Flow's own
    (("correctness", "completeness"), True, False),
    (("correctness", "completeness", "consistency"), False, False),  # which is not the judge's
    (("correctness", "completeness", "consistency"), True, True),  # exactly 0.5
    (("correctness", "adherence", "efficiency"), False, True),  # exactly 0.5
    (("completeness", "adherence", "actionability"), True, True),
    (("adherence", "actionability", "efficiency", "consistency"), True, False),  # 0.45
    (NAMES, True, True),
]


@pytest.mark.parametrize(("names", "earlier", "card"), HALF)
def test_less_than_half_of_the_weight_on_true_quotes_is_no_card(
    names: tuple[str, ...], earlier: bool, card: bool
) -> None:
    judge = FakeJudge("fake", founded(*names))
    found = run(judge, mean=MEAN if earlier else None)
    assert isinstance(found, Scored) is card
    assert len(judge.questions) == (1 if names == NAMES else 2)
    if isinstance(found, NoAnswer):
        assert found.kind == "unsupported"
        assert "less than half of the weight rests on true quotes" in found.reason
        assert "none of its quotes occurs in the transcript" in found.reason


def test_true_quotes_among_more_invented_ones_support_nothing() -> None:
    row = {"evidence": [QUOTE, "nobody ever said this", "nor did anybody say that"]}
    assert isinstance(run(FakeJudge("fake", reply(9.0, rows=dict.fromkeys(NAMES, row)))), NoAnswer)


def test_a_second_answer_with_quotes_is_a_card() -> None:
    assert not scored(FakeJudge("fake", founded(), GOOD)).ballot.faults


def test_a_ballot_without_quotes_is_none_of_several() -> None:
    bad = founded()
    found = scored(FakeJudge("fake", GOOD, bad, bad, GOOD), samples=3)
    assert (found.asked, found.usable) == (3, 2)
    assert found.ballot.marks["safety"].score == Decimal("8.0")
    assert isinstance(run(FakeJudge("fake", GOOD, bad, bad, bad, bad), samples=3), NoAnswer)


def test_ballots_that_rest_on_something_may_make_a_card_that_does_not() -> None:
    """Each score's words are those nearest to the median; these are the ones without quotes."""
    low, high = ("correctness", "completeness", "consistency"), ("adherence", "actionability",
                "efficiency", "safety", "consistency")  # fmt: skip
    one = reply(dict.fromkeys(low, 1.0) | dict.fromkeys(NAMES[2:6], 5.0), QUOTE,
                rows={name: NOTHING for name in NAMES if name not in low})  # fmt: skip
    two = reply(dict.fromkeys(NAMES[:2], 5.0) | dict.fromkeys(NAMES[2:6], 1.0), QUOTE,
                rows={name: NOTHING for name in NAMES if name not in high})  # fmt: skip
    three = reply(5.0, QUOTE)
    found = run(FakeJudge("fake", one, one, two, two, three), samples=3, mean=MEAN)
    assert isinstance(found, NoAnswer)
    assert found.kind == "unsupported"


# --- secrets, usage -------------------------------------------------------------------------------


def test_secrets_in_a_reply_are_masked_before_anything_is_cut() -> None:
    long = "x" * 995 + " hunter2hunter2"
    row = {"justification": long, "evidence": ["the token is hunter2hunter2", "no hunter2hunter2"]}
    value = reply(8.0, QUOTE, rows={"safety": row}, recommendations=("use hunter2hunter2",))
    found = scored(FakeJudge("fake", value))
    mark = found.ballot.marks["safety"]
    assert mark.evidence == ("the token is ***",)
    assert "hunter2" not in repr(found)


def test_a_masked_quote_occurs_as_the_judge_saw_it() -> None:
    found = scored(FakeJudge("fake", reply(8.0, "the token is ***")))
    assert not found.ballot.faults


def test_a_reply_that_nests_deeper_than_any_is_none() -> None:
    deep: Any = "x"
    for _ in range(2000):
        deep = [deep]
    found = run(FakeJudge("fake", reply(8.0, QUOTE, rows={"safety": {"evidence": deep}})))
    assert isinstance(found, NoAnswer)


def test_what_asking_took_is_added_up() -> None:
    judge = FakeJudge("fake", INVENTED, GOOD, cost=0.25)
    document = usage_document("fake", scored(judge))
    prompts = [canonical_digest([q.system, q.prompt]) for q in judge.questions]
    assert document == {
        "name": "fake", "model": "m-1", "calls": 2, "attempts": 4, "ballots": 1,
        "ballotsAsked": 1, "inputTokens": 20, "outputTokens": 10, "costUsd": 0.5,
        "durationSeconds": 3.0, "promptSha256": prompts,
    }  # fmt: skip


class Mute(FakeJudge):
    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        found = super().__call__(question, seconds=seconds)
        return found._replace(usage=found.usage._replace(input_tokens=None, model=None))


def test_what_the_backend_does_not_tell_is_null() -> None:
    document = usage_document("fake", scored(Mute("fake", GOOD)))
    assert (document["inputTokens"], document["model"], document["costUsd"]) == (None, None, None)
