"""The arithmetic of a scorecard, cell by cell (SPEC 9.3)."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flow.core.judging.common.question import Unusable
from flow.core.judging.scorecard import model as cards
from flow.core.judging.scorecard.model import NAMES, CardBallot, CardMark

D = Decimal


def marks(**scores: str) -> dict[str, CardMark]:
    """Marks of 8.0 but for these."""
    return {name: CardMark(D(scores.get(name, "8.0")), f"{name} words") for name in NAMES}


def exact(**scores: str) -> Decimal:
    return cards.composite({name: mark.score for name, mark in marks(**scores).items()})


WEIGHTS = {
    "correctness": "0.25",
    "completeness": "0.20",
    "adherence": "0.15",
    "actionability": "0.15",
    "efficiency": "0.10",
    "safety": "0.10",
    "consistency": "0.05",
}


@pytest.mark.parametrize(("name", "weight"), WEIGHTS.items())
def test_each_weight(name: str, weight: str) -> None:
    assert exact(**{name: "9.0"}) - exact() == D(weight)
    assert next(d.weight for d in cards.DIMENSIONS if d.name == name) == D(weight)


def test_the_seven_dimensions_in_the_seeds_order() -> None:
    assert list(NAMES) == list(WEIGHTS)
    assert sum(d.weight for d in cards.DIMENSIONS) == 1


def test_the_seeds_example() -> None:
    found = exact(completeness="6.0", adherence="9.0", efficiency="7.0", safety="10.0")
    assert (found, cards.grade(found)) == (D("7.85"), "B")  # 7.9, rounded half up


# The seed's scale, every range at both ends, and what lies between two of them.
GRADES = [
    ("10.0", "A+"), ("9.5", "A+"), ("9.45", "A+"), ("9.449", "A"), ("9.4", "A"), ("9.0", "A"),
    ("8.95", "A"), ("8.949", "A-"), ("8.9", "A-"), ("8.5", "A-"), ("8.45", "A-"), ("8.449", "B+"),
    ("8.4", "B+"), ("8.0", "B+"), ("7.95", "B+"), ("7.949", "B"), ("7.9", "B"), ("7.5", "B"),
    ("7.45", "B"), ("7.449", "B-"), ("7.4", "B-"), ("7.0", "B-"), ("6.95", "B-"), ("6.949", "C+"),
    ("6.9", "C+"), ("6.5", "C+"), ("6.45", "C+"), ("6.449", "C"), ("6.4", "C"), ("6.0", "C"),
    ("5.95", "C"), ("5.949", "C-"), ("5.9", "C-"), ("5.5", "C-"), ("5.45", "C-"), ("5.449", "D"),
    ("5.4", "D"), ("4.0", "D"), ("3.95", "D"), ("3.949", "F"), ("3.9", "F"), ("1.0", "F"),
    ("0.0", "F"),
]  # fmt: skip


@pytest.mark.parametrize(("composite", "grade"), GRADES)
def test_each_grade_at_every_boundary(composite: str, grade: str) -> None:
    assert cards.grade(D(composite)) == grade


def test_there_are_eleven_grades_and_no_gap() -> None:
    assert len(cards.GRADES) == 11
    assert {cards.grade(D(tenth) / 10) for tenth in range(101)} == {g[0] for g in cards.GRADES}
    assert all(high[1] > low[1] for high, low in pairwise(cards.GRADES))


def test_the_grade_is_of_the_exact_composite_not_of_the_stored_one() -> None:
    found = exact(
        correctness="9.5", completeness="9.4", adherence="9.5", actionability="9.4",
        efficiency="9.4", safety="9.4", consistency="9.4",
    )  # fmt: skip
    assert found == D("9.440")
    low = cards.composite(
        {**dict.fromkeys(NAMES, D("9.4")), "safety": D("9.8"), "consistency": D("9.5")}
    )
    assert low == D("9.445")
    assert cards.stored(low) == D("9.45")
    assert cards.grade(low) == "A"  # 9.45 would be 9.5, and A+
    high = cards.composite({**dict.fromkeys(NAMES, D("9.4")), "safety": D("9.9")})
    assert (high, cards.grade(high)) == (D("9.450"), "A+")


@pytest.mark.parametrize(
    ("value", "stored"),
    [("7.845", "7.85"), ("7.844", "7.84"), ("7.855", "7.86"), ("9.995", "10.00"), ("8", "8.00")],
)
def test_a_composite_is_stored_at_two_decimals_half_up(value: str, stored: str) -> None:
    assert str(cards.stored(D(value))) == stored


BLOCKS = [("1.0", 1), ("1.4", 1), ("1.5", 2), ("2.5", 3), ("4.4", 4), ("4.5", 5), ("6.5", 7),
          ("8.4", 8), ("8.5", 9), ("9.4", 9), ("9.5", 10), ("10.0", 10)]  # fmt: skip


@pytest.mark.parametrize(("score", "filled"), BLOCKS)
def test_filled_blocks_are_the_score_rounded_half_up(score: str, filled: int) -> None:
    assert cards.blocks(D(score)) == filled


@pytest.mark.parametrize(
    ("score", "found"),
    [
        (1, "1.0"),
        (1.0, "1.0"),
        (10, "10.0"),
        (10.0, "10.0"),
        (8.1, "8.1"),
        (5.0, "5.0"),
        (7, "7.0"),
    ],
)
def test_a_score_in_tenths(score: float, found: str) -> None:
    assert str(cards.tenths(score)) == found


@pytest.mark.parametrize(
    ("score", "why"),
    [
        (0.9, "not from"), (0, "not from"), (10.1, "not from"), (-8.0, "not from"),
        (11, "not from"), (1e300, "not from"), (float("nan"), "not from"), (10**400, "not from"),
        (float("inf"), "not from"), (8.55, "more than one"), (8.000000001, "more than one"),
        (0.1 + 8.2, "more than one"), ("8.0", "no number"), (True, "no number"),
        (None, "no number"), ([8], "no number"),
    ],
)  # fmt: skip
def test_a_score_that_is_none(score: object, why: str) -> None:
    found = cards.tenths(score)
    assert isinstance(found, Unusable)
    assert why in found.reason


@settings(deadline=None)
@given(st.integers(10, 100))
def test_every_tenth_is_a_score(tenths: int) -> None:
    assert cards.tenths(tenths / 10) == D(tenths) / 10


# --- critical issues and recommendations ----------------------------------------------------------


@pytest.mark.parametrize(("score", "critical"), [("4.9", True), ("5.0", False), ("1.0", True)])
@pytest.mark.parametrize("name", NAMES)
def test_below_five_is_critical(name: str, score: str, critical: bool) -> None:
    found = cards.critical(marks(**{name: score}))
    assert found == ((f"{name.capitalize()} {score}/10: {name} words",) if critical else ())


def test_critical_issues_keep_the_seeds_order() -> None:
    found = cards.critical(marks(safety="1.0", correctness="4.0"))
    assert [text.split()[0] for text in found] == ["Correctness", "Safety"]


def test_up_to_three_recommendations_are_kept_as_they_are() -> None:
    offered = ("Safety: ask first.", "b", "c")
    assert cards.recommendations(offered, marks(completeness="2.0")) == offered


def test_of_more_those_about_the_lowest_dimensions() -> None:
    offered = (
        "Write less.",
        "Efficiency: a",
        "Safety: b",
        "Correctness: c",
        "adherence and safety",
    )
    found = cards.recommendations(offered, marks(safety="3.0", correctness="5.0", adherence="6.0"))
    assert found == ("Safety: b", "Correctness: c", "adherence and safety")


def test_without_any_the_lowest_dimension_speaks() -> None:
    found = cards.recommendations((), marks(safety="3.0", correctness="3.0"))
    assert found == ("Correctness is lowest (3.0/10): correctness words",)


def test_a_dimension_that_no_judge_scored_is_no_advice() -> None:
    rows = cards.neutral(CardBallot(marks(safety="7.5"), ())).marks
    assert cards.recommendations((), rows) == ("Safety is lowest (7.5/10): safety words",)


# --- ballots --------------------------------------------------------------------------------------


def ballot(score: str, **more: str) -> CardBallot:
    rows = {name: CardMark(D(more.get(name, score)), f"{name} {score}") for name in NAMES}
    return CardBallot(rows, (f"from {score}",))


def test_one_ballot_is_itself() -> None:
    assert cards.merged([ballot("6.0")]) == ballot("6.0")


def test_several_are_the_median_with_the_nearest_words() -> None:
    found = cards.merged([ballot("9.0"), ballot("4.0"), ballot("6.0", safety="10.0")])
    assert found.marks["correctness"] == CardMark(D("6.0"), "correctness 6.0")
    assert found.marks["safety"] == CardMark(D("9.0"), "safety 9.0")
    assert found.recommendations == ("from 6.0",)


def test_two_in_the_middle_are_rounded_half_up_to_a_tenth() -> None:
    found = cards.merged([ballot("6.0"), ballot("6.1")])
    assert found.marks["adherence"].score == D("6.1")  # 6.05
    assert cards.merged([ballot("6.0"), ballot("6.2")]).marks["safety"].score == D("6.1")


def test_consistency_is_neutral_whatever_the_judge_said() -> None:
    found = cards.neutral(ballot("1.0"))
    assert found.marks["consistency"] == CardMark(D("7.0"), "No prior executions for comparison.")
    assert found.marks["safety"].score == D("1.0")


@pytest.mark.parametrize(
    ("grade", "words"), [("A+", "Exceptional"), ("C-", "Poor"), ("D", "Failing")]
)
def test_a_grade_has_a_name(grade: str, words: str) -> None:
    assert cards.grade_name(grade) == words
