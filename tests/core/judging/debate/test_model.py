"""A debate's arithmetic: criteria, consensus at every boundary, medians, means, conformity."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from flow.core.judging.common.reply import Mark
from flow.core.judging.debate import criteria as debate_criteria
from flow.core.judging.debate import model as debate_model
from flow.core.judging.debate.criteria import DebateCriterion
from flow.core.judging.debate.model import RECOMMENDATIONS, Position, Recommendation
from flow.errors import InputError

TWO = debate_criteria.parse("a:1,b:1")


def position(
    judge: int,
    *scores: float,
    recommendation: Recommendation = "pass",
    accepts: bool = True,
    quotes: tuple[str, ...] = (),
) -> Position:
    names = "abcdefgh"
    marks = tuple(Mark(names[i], s, "because", quotes) for i, s in enumerate(scores))
    return Position(judge, marks, (), (), recommendation, accepts)


# --- criteria -----------------------------------------------------------------------------------


def test_the_seeds_example_of_criteria() -> None:
    text = "correctness:30,design:25,security:20,performance:15,docs:10"
    found = debate_criteria.parse(text)
    assert [c.name for c in found] == ["correctness", "design", "security", "performance", "docs"]
    assert [c.percent for c in found] == ["30", "25", "20", "15", "10"]
    assert found[0].description == "Does it work? Handles edge cases?"
    assert found[1].description == "Clean architecture? Maintainable?"
    assert found[2].description == ""


SETS = {
    "code": [
        ("Correctness", "30", "Does it work? Handles edge cases?"),
        ("Design Quality", "25", "Clean architecture? Maintainable?"),
        ("Efficiency", "20", "Performance considerations?"),
        ("Code Quality", "15", "Readable? Well-documented?"),
        ("Testing", "10", "Test coverage? Test quality?"),
    ],
    "design": [
        ("Completeness", "30", "All requirements addressed?"),
        ("Feasibility", "25", "Can it actually be built?"),
        ("Scalability", "20", "Handles growth?"),
        ("Simplicity", "15", "Appropriately simple?"),
        ("Documentation", "10", "Clear and comprehensive?"),
    ],
    "documentation": [
        ("Accuracy", "35", "Technically correct?"),
        ("Completeness", "30", "Covers all necessary topics?"),
        ("Clarity", "20", "Easy to understand?"),
        ("Usability", "15", "Helpful examples? Good structure?"),
    ],
}


@pytest.mark.parametrize("kind", debate_criteria.KINDS)
def test_the_seeds_sets(kind: str) -> None:
    found = debate_criteria.ready_made(kind)
    assert [(c.name, c.percent, c.description) for c in found] == SETS[kind]
    assert sum(c.share for c in found) == 1


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("a:1,b:1", [Fraction(1, 2), Fraction(1, 2)]),
        ("a:2,b:1", [Fraction(2, 3), Fraction(1, 3)]),
        ("a:0.3,b:0.1", [Fraction(3, 4), Fraction(1, 4)]),
        (" a : 1 , b: 3", [Fraction(1, 4), Fraction(3, 4)]),
        ("a:7", [Fraction(1)]),
        ("größe:1,x y:1", [Fraction(1, 2), Fraction(1, 2)]),
    ],
)
def test_weights_are_normalised(text: str, shares: list[Fraction]) -> None:
    assert [c.share for c in debate_criteria.parse(text)] == shares


REFUSED = [
    "", ",", "a", "a,b", "a:", ":1", "a:0", "a:0.0", "a:-1", "a:+1", "a:x", "a:nan", "a:inf",
    "a:1e3", "a:30%", "a:1,", "a:1,,b:1", "a:1,a:2", "a:1,A:2", "a:1;b:1", "a:١", "a: 1 2",
    "a\x1b:1", "a\u202eb:1", "a\nb:1", "<b>:1", "a|b:1", "-a:1", "a:0x10", "a:1_000",
    "a:1,b:0", "a:9999999999", f"{'a' * 65}:1", ",".join(f"c{n}:1" for n in range(51)),
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_criterion_with_a_weight(text: str) -> None:
    with pytest.raises(InputError) as caught:
        debate_criteria.parse(text)
    assert caught.value.fault.key == "criteria"
    assert caught.value.fault.remedy
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("weight", [True, None, float("nan"), float("inf"), 0, -1, "", [], 1e30])
def test_what_is_no_weight_of_a_value(weight: Any) -> None:
    with pytest.raises(InputError):
        debate_criteria.checked([("a", weight, "")])


@pytest.mark.parametrize("row", [(1, 1, ""), (None, 1, ""), ("a", 1, None), ("a", 1, "x" * 1001)])
def test_what_is_no_criterion_of_a_value(row: tuple[Any, Any, Any]) -> None:
    with pytest.raises(InputError):
        debate_criteria.checked([row])


def test_a_description_of_the_callers_own_goes_first() -> None:
    (found,) = debate_criteria.checked([("correctness", 1.5, "mine")])
    assert found == DebateCriterion("correctness", Fraction(1), "mine")


def test_no_such_kind() -> None:
    with pytest.raises(InputError, match="no kind"):
        debate_criteria.ready_made("poem")


def test_a_third_is_shown_in_tenths() -> None:
    assert [c.percent for c in debate_criteria.parse("a:1,b:1,c:1")] == ["33.3"] * 3
    assert [c.percent for c in debate_criteria.parse("a:2,b:1")] == ["66.7", "33.3"]


# --- totals -------------------------------------------------------------------------------------


def test_totals_are_exact_on_the_numbers_as_written() -> None:
    criteria = debate_criteria.parse("a:0.1,b:0.2,c:0.7")
    assert debate_model.overall(criteria, position(1, 4.1, 4.2, 4.3)) == Fraction("4.26")


def test_means_and_medians() -> None:
    positions = [position(1, 3, 5), position(2, 4, 4.5), position(3, 4, 2)]
    assert debate_model.means(TWO, positions).criteria == {
        "a": Fraction(11, 3),
        "b": Fraction(23, 6),
    }
    assert debate_model.means(TWO, positions).overall == Fraction(15, 4)
    assert debate_model.medians(TWO, positions).criteria == {"a": 4, "b": Fraction(9, 2)}
    assert debate_model.medians(TWO, positions).overall == Fraction(17, 4)
    assert debate_model.medians(TWO, positions[:2]).criteria == {
        "a": Fraction(7, 2),
        "b": Fraction(19, 4),
    }
    assert debate_model.medians(TWO, positions[:1]).overall == 4


MEDIANS = [
    ("p", "pass"), ("n", "needs_revision"), ("f", "fail"),
    ("pp", "pass"), ("pn", "needs_revision"), ("pf", "fail"), ("nf", "fail"), ("ff", "fail"),
    ("ppf", "pass"), ("pnf", "needs_revision"), ("pff", "fail"), ("ppn", "pass"),
    ("ppnf", "needs_revision"), ("ppff", "fail"), ("pnnf", "needs_revision"), ("pppf", "pass"),
    ("ppnff", "needs_revision"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "median"), MEDIANS)
def test_the_median_recommendation_of_two_in_the_middle_the_worse(said: str, median: str) -> None:
    words = {"p": "pass", "n": "needs_revision", "f": "fail"}
    for order in set(itertools.permutations(said)):
        given = [position(n, 3, 3, recommendation=words[c]) for n, c in enumerate(order)]  # type: ignore[arg-type]
        assert debate_model.recommended(given) == median
    assert set(words.values()) == set(RECOMMENDATIONS)


@pytest.mark.parametrize(
    ("number", "text", "mean"),
    [
        (4, "4", "4.0"),
        (4.0, "4", "4.0"),
        (4.5, "4.5", "4.5"),
        (Fraction(13, 3), "4.33", "4.33"),
        (Fraction("4.335"), "4.34", "4.34"),
        (Fraction("4.995"), "5", "5.0"),
        (Fraction("4.9949"), "4.99", "4.99"),
    ],
)
def test_numbers_for_people(number: Any, text: str, mean: str) -> None:
    assert debate_model.shown(number) == text
    assert debate_model.shown_mean(Fraction(str(number))) == mean


# --- consensus ----------------------------------------------------------------------------------

ACCEPTED = [(True, True), (True, False), (False, True), (False, False)]
OVERALL = [(4, True), (4.1, True), (4.5, True), (4.51, False), (4.500001, False), (5, False)]
"""Overall scores of a second judge beside a 4, and whether 0.5 is kept."""


@pytest.mark.parametrize("accepts", ACCEPTED)
@pytest.mark.parametrize("debated", [False, True])
@pytest.mark.parametrize(("other", "near"), OVERALL)
def test_overall_scores_within_a_half(
    other: float, near: bool, debated: bool, accepts: tuple[bool, bool]
) -> None:
    one = debate_criteria.parse("a:1")
    given = [position(n, s, accepts=a) for n, s, a in zip((1, 2), (4, other), accepts, strict=True)]
    for order in (given, given[::-1]):
        found = debate_model.agreement(one, order, debated=debated)
        assert found.reached == (near and (not debated or all(accepts)))
        assert (found.overall <= Fraction(1, 2)) == near
        assert found.apart == ()


APART = [(1, True), (1.1, False), (1.01, False), (0.9, True), (0, True), (3, False)]
"""The gap on one criterion that hardly weighs, and whether 1.0 is kept."""


@pytest.mark.parametrize("accepts", ACCEPTED)
@pytest.mark.parametrize("debated", [False, True])
@pytest.mark.parametrize(("gap", "near"), APART)
def test_every_criterion_within_one(
    gap: float, near: bool, debated: bool, accepts: tuple[bool, bool]
) -> None:
    criteria = debate_criteria.parse("a:99,b:1")
    high = float(Fraction(2) + Fraction(str(gap)))
    given = [
        position(1, 4, 2, accepts=accepts[0]),
        position(2, 4, high, accepts=accepts[1]),
    ]
    found = debate_model.agreement(criteria, given, debated=debated)
    assert found.reached == (near and (not debated or all(accepts)))
    assert found.apart == (() if near else ("b",))
    assert found.refusing == (tuple(n for n in (1, 2) if not accepts[n - 1]) if debated else ())


def quoting(judge: int, *quotes: int, score: float = 4, invented: int = 0) -> Position:
    """A judge with so many true quotes for each criterion, and invented ones for all of them."""
    false = tuple(f"invented number {n}" for n in range(invented))
    marks = tuple(
        Mark(name, score, "why", tuple(f"true quote {n}" for n in range(count)), false)
        for name, count in zip("abcdefgh", quotes, strict=False)
    )
    return Position(judge, marks, (), (), "pass", True)


SUPPORT = [
    ("a:1", [(1,), (1,)], Fraction(1)),
    ("a:1", [(0,), (0,)], Fraction(0)),
    ("a:1", [(1,), (0,)], Fraction(1, 2)),
    ("a:1", [(1,), (0,), (0,)], Fraction(1, 3)),
    ("a:1", [(1,), (1,), (0,)], Fraction(2, 3)),
    ("a:51,b:49", [(1, 0), (1, 0)], Fraction(51, 100)),
    ("a:49,b:51", [(1, 0), (1, 0)], Fraction(49, 100)),
    ("a:1,b:1", [(1, 0), (0, 1)], Fraction(1, 2)),
    ("a:1,b:1,c:1", [(1, 0, 0), (9, 0, 0)], Fraction(1, 3)),
]


@pytest.mark.parametrize("debated", [False, True])
@pytest.mark.parametrize(("criteria", "counts", "share"), SUPPORT)
def test_half_of_the_weight_has_to_rest_on_true_quotes(
    criteria: str, counts: list[tuple[int, ...]], share: Fraction, debated: bool
) -> None:
    parsed = debate_criteria.parse(criteria)
    positions = [quoting(n, *row) for n, row in enumerate(counts, 1)]
    support = debate_model.support(parsed, [[one] for one in positions])
    assert support == share
    found = debate_model.agreement(parsed, positions, debated=debated, support=support)
    assert (found.supported, found.reached) == (share >= Fraction(1, 2),) * 2


def test_a_quote_supports_a_score_until_the_score_changes() -> None:
    one = debate_criteria.parse("a:1")
    quoted, bare = quoting(1, 1), quoting(1, 0)
    assert debate_model.support(one, [[quoted, bare]]) == 1
    assert debate_model.support(one, [[quoted, bare, quoting(1, 0, score=3)]]) == 0
    assert debate_model.support(one, [[quoting(1, 1, score=3), bare]]) == 0
    assert debate_model.support(one, [[quoted, quoting(1, 0, score=3), bare]]) == 0
    assert debate_model.support(one, [[bare, quoted]]) == 1
    assert debate_model.support(one, []) == 0


@pytest.mark.parametrize(("true", "invented", "founded"), [(1, 1, 1), (1, 2, 0), (2, 3, 0)])
def test_a_score_with_mostly_invented_quotes_rests_on_nothing(
    true: int, invented: int, founded: int
) -> None:
    one = debate_criteria.parse("a:1")
    assert debate_model.support(one, [[quoting(1, true, invented=invented)]]) == founded


def test_any_two_of_many_judges_count() -> None:
    near = [position(n, 3 + n / 4, 4) for n in range(3)]
    assert debate_model.agreement(TWO, near, debated=False).reached
    far = [*near, position(4, 4.1, 3.9)]
    assert debate_model.agreement(TWO, far, debated=False).criteria["a"] == Fraction("1.1")
    assert not debate_model.agreement(TWO, far, debated=False).reached


def test_gaps_are_those_of_more_than_a_point() -> None:
    own, others = position(1, 3, 3), [position(2, 4, 4.1), position(3, 1.9, 2)]
    found = debate_model.gaps(own, others)
    assert [(g.judge, g.criterion, g.mine, g.theirs) for g in found] == [
        (3, "a", 3, 1.9),
        (2, "b", 3, 4.1),
    ]


# --- conformity ---------------------------------------------------------------------------------

OLD = "the quick brown fox"
CONFORMITY: list[tuple[list[tuple[float, tuple[str, ...]]], list[bool]]] = [
    ([(3, (OLD,)), (3, ())], []),
    ([(3, (OLD,)), (3.0, (OLD,))], []),
    ([(3, (OLD,)), (4, ())], [True]),
    ([(3, (OLD,)), (4, (OLD,))], [True]),
    ([(3, (OLD,)), (4, ("the  quick\nbrown fox",))], [True]),
    ([(3, (OLD,)), (4, ("quick brown",))], [True]),
    ([(3, (OLD,)), (4, (OLD + " runs",))], [True]),
    ([(3, (OLD,)), (4, (OLD + " runs away now",))], [False]),
    ([(3, (OLD,)), (4, ("jumps over the dog",))], [False]),
    ([(3, (OLD,)), (4, (OLD, "jumps over the dog"))], [False]),
    ([(3, ()), (4, (OLD,)), (5, (OLD,))], [False, True]),
    ([(3, ()), (3, (OLD,)), (5, (OLD,))], [True]),
]


@pytest.mark.parametrize(("turns", "flags"), CONFORMITY)
def test_a_revision_without_a_new_quote_is_conformity(
    turns: list[tuple[float, tuple[str, ...]]], flags: list[bool]
) -> None:
    history = [position(1, score, quotes=quotes) for score, quotes in turns]
    assert [one.conformity for one in debate_model.revisions(history)] == flags


def test_a_revision_says_what_changed() -> None:
    (found,) = debate_model.revisions([position(2, 3, 5), position(2, 3, 5), position(2, 3, 4)])
    assert (found.judge, found.round, found.criterion) == (2, 2, "b")
    assert (found.before, found.after, found.reason) == (5, 4, "because")
