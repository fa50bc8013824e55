"""Several ballots, one opinion: majority, ties, spread, agreement."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.decision.decide import JudgedCriterion
from flow.core.judging.goal.ballots import Tally, tally
from flow.core.judging.goal.context import SoughtCriterion
from flow.core.judging.goal.reply import Ballot

ASKED = (SoughtCriterion("AC2", "x", True), SoughtCriterion("AC3", "y", True))
NAMES = {"a": "achieved", "n": "not_achieved", "b": "blocked", "p": "needs_human_review"}


def ballot(kind: str, confidence: float = 0.9, *statuses: str, **more: Any) -> Ballot:
    usual = ("pass", "pass") if kind == "a" else ("fail", "fail")
    rows = tuple(
        JudgedCriterion(one.id, status, f"{status} by {kind}")  # type: ignore[arg-type]
        for one, status in zip(ASKED, statuses or usual, strict=True)
    )
    blocker = "missing_dep" if kind == "b" else "none"
    values = {"reason": f"reason {kind}", "next_step_hint": f"hint {kind}", **more}
    return Ballot("j", NAMES[kind], confidence, blocker_type=blocker, rows=rows, **values)  # type: ignore[arg-type]


def count(*ballots: Ballot, asked: int | None = None) -> Tally:
    found = tally(ballots, asked or len(ballots), ASKED)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("kinds", "asked", "verdict"),
    [
        ("a", 1, "achieved"),
        ("n", 1, "not_achieved"),
        ("b", 1, "blocked"),
        ("p", 1, "needs_human_review"),
        ("aa", 2, "achieved"),
        ("an", 2, "needs_human_review"),
        ("na", 2, "needs_human_review"),
        ("aan", 3, "achieved"),
        ("ana", 3, "achieved"),
        ("nna", 3, "not_achieved"),
        ("anb", 3, "needs_human_review"),
        ("anp", 3, "needs_human_review"),
        ("aann", 4, "needs_human_review"),
        ("aaan", 4, "achieved"),
        ("bbn", 3, "blocked"),
        ("ppa", 3, "needs_human_review"),
        # a ballot without an answer is no vote, and makes the majority no smaller
        ("a", 2, "needs_human_review"),
        ("aa", 3, "achieved"),
        ("a", 3, "needs_human_review"),
        ("aa", 4, "needs_human_review"),
        ("nn", 3, "not_achieved"),
    ],
)
def test_a_verdict_needs_more_than_half_of_what_was_asked(
    kinds: str, asked: int, verdict: str
) -> None:
    assert count(*map(ballot, kinds), asked=asked).verdict == verdict


def test_nobody_answered() -> None:
    assert tally((), 3, ASKED) is None


@pytest.mark.parametrize(
    ("confidences", "verdict", "spread"),
    [
        ((0.9, 0.5), "achieved", 0.4),
        ((0.5, 0.9), "achieved", 0.4),
        ((0.91, 0.5), "needs_human_review", 0.41),
        ((1, 0.2, 0.9), "needs_human_review", 0.8),
        ((0.7, 0.7), "achieved", 0.0),
    ],
)
def test_a_spread_above_the_limit_goes_to_a_person(
    confidences: tuple[float, ...], verdict: str, spread: float
) -> None:
    found = count(*(ballot("a", confidence) for confidence in confidences))
    assert (found.verdict, found.spread) == (verdict, spread)
    if verdict != "achieved":
        assert "confidences lie" in found.reason


def test_only_ballots_that_agree_make_the_spread() -> None:
    assert count(ballot("a", 0.9), ballot("a", 0.8), ballot("n", 0.1)).spread == 0.1


@pytest.mark.parametrize(
    ("ballots", "asked", "confidence"),
    [
        ((ballot("a", 0.9),), 1, 0.9),
        ((ballot("a", 0.9), ballot("a", 0.7)), 2, 0.8),
        ((ballot("a", 0.9), ballot("a", 0.9), ballot("n", 1)), 3, 0.6),
        ((ballot("a", 0.9), ballot("a", 0.8), ballot("n", 1)), 3, 0.5666666666666665),
        ((ballot("a", 0.9),) * 2 + (ballot("a", 0.3),), 3, 0.7),
        ((ballot("a", 0.7),) * 6, 7, 0.6),
        ((ballot("a", 0.9), ballot("a", 0.9)), 3, 0.6),
        ((ballot("a", 0.1), ballot("a", 0.2)), 2, 0.15),
    ],
)
def test_disagreement_lowers_the_confidence(
    ballots: tuple[Ballot, ...], asked: int, confidence: float
) -> None:
    assert count(*ballots, asked=asked).confidence == confidence


def test_each_criterion_has_a_majority_of_its_own() -> None:
    found = count(
        ballot("n", 0.9, "pass", "fail"),
        ballot("n", 0.9, "pass", "incomplete"),
        ballot("n", 0.9, "fail", "incomplete"),
    )
    assert [(r.id, r.status) for r in found.criteria] == [("AC2", "pass"), ("AC3", "incomplete")]
    assert found.criteria[0].words() == '2 of 3 ballots: "pass by n"'


def test_a_criterion_without_a_majority_is_incomplete() -> None:
    found = count(
        ballot("n", 0.9, "pass", "fail"),
        ballot("n", 0.9, "fail", "fail"),
        ballot("n", 0.9, "incomplete", "fail"),
    )
    assert found.criteria[0].status == "incomplete"
    assert found.criteria[0].words() == "no majority of 3 ballots: 1 pass, 1 fail, 1 incomplete"


def test_agreeing_on_a_verdict_and_not_on_the_reasons_goes_to_a_person() -> None:
    asked = tuple(SoughtCriterion(f"AC{n}", "x", True) for n in range(3))
    ballots = [
        ballot("n")._replace(
            rows=tuple(
                JudgedCriterion(one.id, "fail" if number == failing else "pass")
                for number, one in enumerate(asked)
            )
        )
        for failing in range(3)
    ]
    found = tally(ballots, 3, asked)
    assert found is not None
    assert [row.status for row in found.criteria] == ["pass"] * 3
    assert found.verdict == "needs_human_review"
    assert "not of the same criteria" in found.reason


def test_spread_and_agreement_are_in_the_reason() -> None:
    found = count(ballot("a", 0.9), ballot("a", 0.75), ballot("n", 0.8))
    assert found.reason == ('2 of 3 ballots agree, confidences 0.75 to 0.9; achieved: "reason a"')
    assert (found.asked, found.usable, found.agreeing) == (3, 3, 2)
    assert found.next_step_hint == "hint a"


def test_a_tie_says_who_said_what() -> None:
    found = count(ballot("a"), ballot("n"), asked=3)
    assert "no majority: 1 achieved, 1 not_achieved, 1 without an answer" in found.reason


def test_one_ballot_speaks_for_itself() -> None:
    assert count(ballot("b")).reason == '"reason b"'
    assert count(ballot("b")).blocker_type == "missing_dep"


def test_one_ballot_that_asks_for_a_person_says_so() -> None:
    assert count(ballot("p")).reason == 'needs_human_review: "reason p"'


def test_why_a_ballot_was_lowered_is_said_before_its_own_words() -> None:
    found = count(ballot("p", lowered="it says achieved, and cannot propose it"))
    assert found.reason == 'it says achieved, and cannot propose it; "reason p"'


def test_half_of_the_ballots_is_no_majority_for_a_criterion() -> None:
    found = count(ballot("n", 0.9, "pass", "fail"), ballot("n", 0.9, "fail", "fail"))
    assert [row.status for row in found.criteria] == ["incomplete", "fail"]


def test_one_open_criterion_is_enough_to_back_a_verdict() -> None:
    found = count(ballot("n", 0.9, "pass", "fail"), ballot("n", 0.9, "pass", "fail"))
    assert found.verdict == "not_achieved"


def test_one_that_agrees_speaks_not_the_first_one() -> None:
    found = count(ballot("n"), ballot("a"), ballot("a"))
    assert found.reason.endswith('achieved: "reason a"')
    assert found.next_step_hint == "hint a"


def test_optional_criteria_do_not_decide() -> None:
    asked = (SoughtCriterion("AC2", "x", True), SoughtCriterion("AC3", "y", False))
    found = tally([ballot("a", 0.9, "pass", "fail")], 1, asked)
    assert found is not None
    assert found.verdict == "achieved"


def test_an_optional_criterion_backs_no_verdict() -> None:
    asked = (SoughtCriterion("AC2", "x", True), SoughtCriterion("AC3", "y", False))
    found = tally([ballot("n", 0.9, "pass", "fail")], 1, asked)
    assert found is not None
    assert found.verdict == "needs_human_review"


def test_a_majority_speaks_with_the_words_of_one_that_says_so() -> None:
    found = count(
        ballot("n", 0.9, "pass", "fail"),
        ballot("n", 0.9, "fail", "fail"),
        ballot("n", 0.9, "fail", "fail", reason="another"),
    )
    assert found.criteria == (
        JudgedCriterion("AC2", "fail", "fail by n", remark="2 of 3 ballots"),
        JudgedCriterion("AC3", "fail", "fail by n", remark="3 of 3 ballots"),
    )


def test_of_one_ballot_a_criterion_has_its_own_words() -> None:
    assert count(ballot("a")).criteria == (
        JudgedCriterion("AC2", "pass", "pass by a"),
        JudgedCriterion("AC3", "pass", "pass by a"),
    )
    assert count(ballot("a"), ballot("a")).criteria[0].words() == '2 of 2 ballots: "pass by a"'


def test_only_what_was_said_of_a_criterion_is_counted() -> None:
    found = count(ballot("n", 0.9, "pass", "fail"), ballot("n", 0.9, "fail", "fail"))
    assert found.criteria[0].remark == "no majority of 2 ballots: 1 pass, 1 fail"
    found = count(ballot("n", 0.9, "incomplete", "fail"), asked=2)
    assert found.criteria[0].remark == "no majority of 2 ballots: 1 incomplete"


def test_two_ballots_are_summed_up_and_one_is_not() -> None:
    found = count(ballot("a", 0.5), ballot("a", 0.5))
    assert found.reason == '2 of 2 ballots agree, confidences 0.5 throughout; achieved: "reason a"'
    assert count(ballot("a")).reason == '"reason a"'


@pytest.mark.parametrize("kind", ["n", "b"])
def test_ballots_that_say_it_cannot_go_on_need_an_open_criterion_all_agree_on(kind: str) -> None:
    """Of three, each leaves another criterion open: by majority all pass."""
    found = count(
        ballot(kind, 0.9, "pass", "fail"),
        ballot(kind, 0.9, "fail", "pass"),
        ballot(kind, 0.9, "pass", "pass"),
    )
    assert found.verdict == "needs_human_review"
    assert found.reason.startswith(f"a majority says {NAMES[kind]}, but not of the same criteria; ")


@pytest.mark.parametrize("kind", ["n", "b", "p"])
def test_without_a_required_criterion_there_is_nothing_to_back(kind: str) -> None:
    for asked in ((), (SoughtCriterion("AC2", "x", False), SoughtCriterion("AC3", "y", False))):
        found = tally([ballot(kind, 0.9, "pass", "pass")], 1, asked)
        assert found is not None
        assert found.verdict == NAMES[kind]


@pytest.mark.parametrize("confidence", [0.12345, 0.59995, 0.5999999, 0.6, 0.6000001])
def test_a_confidence_stays_as_written(confidence: float) -> None:
    """Rounded, one just below the bar would stand on it."""
    assert count(ballot("a", confidence)).confidence == confidence


def test_what_was_asked_for_and_came_back_is_counted() -> None:
    found = count(ballot("a", 0.9), ballot("n", 0.1), ballot("a", 0.6), asked=5)
    assert (found.asked, found.usable, found.agreeing, found.spread) == (5, 3, 2, 0.3)
    assert found.reason.startswith("no majority: 2 achieved, 1 not_achieved, 2 without an answer;")
