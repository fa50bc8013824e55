"""Rubrics: their rules, and the arithmetic on what a judge says."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flow.core.judging.common.reply import Mark
from flow.core.judging.rubric.files import read_rubric as from_document
from flow.core.judging.rubric.model import Rubric, RubricBallot, RubricCriterion, result, why_not
from flow.core.judging.rubric.rules import problems, warnings
from flow.core.text.numbers import WrittenNumber
from flow.errors import ContractError


def criterion(
    name: str = "a", weight: float = 1, threshold: float | None = None
) -> RubricCriterion:
    return RubricCriterion(name, f"what {name} means", weight, threshold)


def ballot(*scores: float, names: str = "abcdef", said: str = "") -> RubricBallot:
    marks = {n: Mark(n, s, f"{said}{n} because") for n, s in zip(names, scores, strict=False)}
    return RubricBallot(marks, f"{said}overall", (f"{said}do more",))


def of(*criteria: RubricCriterion, at: float = 0.7) -> Rubric:
    return Rubric("R", criteria, at)


# --- what a rubric must hold -----------------------------------------------------------------


def test_the_defaults_of_the_specification() -> None:
    rubric = Rubric("R", [RubricCriterion("a", "d")])
    assert rubric.passing_threshold == 0.7
    assert rubric.criteria == (RubricCriterion("a", "d", weight=1, threshold=None),)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("no name", {"name": None}, "name"),
    ("a blank name", {"name": " "}, "name"),
    ("a number as name", {"name": 4}, "name"),
    ("a name of two lines", {"name": "a\nb"}, "name"),
    ("a name with a bidirectional mark", {"name": "a\u202eb"}, "name"),
    ("a long name", {"name": "x" * 201}, "name"),
    ("no criteria", {"criteria": []}, "criteria"),
    ("criteria as a mapping", {"criteria": {}}, "criteria"),
    ("too many criteria", {"criteria": [{}] * 1001}, "criteria"),
    ("a criterion as text", {"criteria": ["a"]}, "criteria[0]"),
    ("a threshold above 1", {"passing_threshold": 1.01}, "passing_threshold"),
    ("a threshold below 0", {"passing_threshold": -0.01}, "passing_threshold"),
    ("NaN as threshold", {"passing_threshold": math.nan}, "passing_threshold"),
    ("a truth value as threshold", {"passing_threshold": True}, "passing_threshold"),
    ("text as threshold", {"passing_threshold": "0.7"}, "passing_threshold"),
    ("nothing as threshold", {"passing_threshold": None}, "passing_threshold"),
]
BAD_CRITERION: list[tuple[str, dict[str, Any], str]] = [
    ("no name", {"name": None}, "name"),
    ("no description", {"description": None}, "description"),
    ("a blank description", {"description": "\n"}, "description"),
    ("an endless description", {"description": "x" * 10_001}, "description"),
    ("a hidden character", {"description": "a\u200bb"}, "description"),
    ("weight 0", {"weight": 0}, "weight"),
    ("a negative weight", {"weight": -1}, "weight"),
    ("a weight without end", {"weight": math.inf}, "weight"),
    ("NaN as weight", {"weight": math.nan}, "weight"),
    ("a huge weight", {"weight": 10**400}, "weight"),
    ("a truth value as weight", {"weight": True}, "weight"),
    ("a threshold above 1", {"threshold": 1.5}, "threshold"),
    ("NaN as threshold", {"threshold": math.nan}, "threshold"),
]
GOOD = {"name": "R", "criteria": [{"name": "a", "description": "d"}], "passing_threshold": 0.7}


@pytest.mark.parametrize(("change", "key"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_rubric_that_breaks_a_rule_is_refused_by_key(change: dict[str, Any], key: str) -> None:
    assert [fault.key for fault in problems({**GOOD, **change})] == [key]


@pytest.mark.parametrize(
    ("change", "key"), [row[1:] for row in BAD_CRITERION], ids=[row[0] for row in BAD_CRITERION]
)
def test_a_criterion_that_breaks_a_rule_is_refused_by_key(change: dict[str, Any], key: str) -> None:
    one = {"name": "a", "description": "d", **change}
    found = problems({**GOOD, "criteria": [{"name": "first", "description": "d"}, one]})
    assert [fault.key for fault in found] == [f"criteria[1].{key}"]


@pytest.mark.parametrize("edge", [0, 0.0, 1, 1.0])
def test_the_ends_of_the_range_are_in_it(edge: float) -> None:
    assert not problems({**GOOD, "passing_threshold": edge})
    Rubric("R", [criterion(threshold=edge)], edge)


def test_every_fault_is_named_at_once_in_python_too() -> None:
    with pytest.raises(ContractError) as caught:
        Rubric("", [criterion("a"), criterion("a", weight=0), criterion("b", threshold=3)], 2)
    keys = [fault.key for fault in caught.value.faults]
    assert keys == ["name", "criteria[1].name", "criteria[1].weight", "criteria[2].threshold",
                    "passing_threshold"]  # fmt: skip


KEBAB = [
    ("a", True), ("error-handling", True), ("jwt2-security", True),
    ("Error", False), ("error_handling", False), ("error handling", False), ("-a", False),
    ("a-", False), ("a--b", False), ("é", False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kebab"), KEBAB)
def test_names_out_of_kebab_case_are_warned_about(name: str, kebab: bool) -> None:
    found = warnings({**GOOD, "criteria": [{"name": name, "description": "d"}]}, "f.yaml")
    assert bool(found) is not kebab
    assert all("f.yaml: criteria[0].name" in text for text in found)


@pytest.mark.parametrize(("length", "warned"), [(199, False), (200, True), (201, True)])
def test_descriptions_stay_under_200_characters(length: int, warned: bool) -> None:
    document = {**GOOD, "criteria": [{"name": "a", "description": "x" * length}]}
    assert not problems(document)
    assert bool(warnings(document)) is warned


# --- files -------------------------------------------------------------------------------------


def test_the_keys_of_the_seed_are_accepted() -> None:
    camel = {
        "name": "Q",
        "criteria": [{"name": "a", "description": "d", "weight": 3, "threshold": 0.9}],
        "passingThreshold": 0.9,
    }
    made, said = from_document(camel)
    assert made == Rubric("Q", (RubricCriterion("a", "d", 3, 0.9),), 0.9)
    assert said == ()


def test_what_is_written_is_read_back() -> None:
    rubric = of(criterion("a", 2, 0.5), criterion("b"), at=0.8)
    assert from_document(rubric.to_document())[0] == rubric


def test_every_fault_of_a_file_is_named_at_once() -> None:
    document = {
        "title": "x", "passing_threshold": 3, "passingThreshold": 0.5,
        "criteria": [
            {"name": "a", "descripton": "d"},
            {"name": "a", "description": "d", "weight": 0},
        ],
    }  # fmt: skip
    with pytest.raises(ContractError) as caught:
        from_document(document, "r.yaml")
    assert [str(fault) for fault in caught.value.faults] == [
        "r.yaml: title: is not a known key (known here: name, criteria, passing_threshold)",
        (
            "r.yaml: passing_threshold: is given twice, as passingThreshold and in its other "
            "spelling (keep one of them)"
        ),
        "r.yaml: criteria[0].descripton: is not a known key (did you mean description?)",
        "r.yaml: name: is missing (write some text)",
        "r.yaml: criteria[0].description: is missing (write some text)",
        "r.yaml: criteria[1].name: 'a' is criteria[0]'s name too (names are unique)",
        (
            "r.yaml: criteria[1].weight: 0 is not a weight "
            "(a number above 0; 1 where all weigh the same)"
        ),
        "r.yaml: passing_threshold: 3 is not a score (a number from 0 to 1, like 0.7)",
    ]


@pytest.mark.parametrize("document", [None, [], "x", 3, [GOOD]])
def test_what_is_no_mapping_is_no_rubric(document: object) -> None:
    with pytest.raises(ContractError, match="not a rubric"):
        from_document(document, "r.yaml")


# --- scoring -----------------------------------------------------------------------------------

WEIGHED = [
    ((1,), (0.7,), 0.7),
    ((1, 1), (0.4, 1.0), 0.7),
    ((1, 2, 3), (1, 0, 0), 1 / 6),
    ((1, 2, 3), (0, 1, 0), 1 / 3),
    ((1, 2, 3), (0, 0, 1), 0.5),
    ((5, 3, 1), (0.9, 0.9, 0.9), 0.9),
    ((0.1, 0.2), (0.1, 0.4), 0.3),
    ((3, 2, 1), (0, 0, 0), 0.0),
    ((3, 2, 1), (1, 1, 1), 1.0),
]


@pytest.mark.parametrize(("weights", "scores", "composite"), WEIGHED)
def test_the_composite_is_the_weighted_mean(
    weights: tuple[float, ...], scores: tuple[float, ...], composite: float
) -> None:
    rubric = of(*(criterion("abc"[i], w) for i, w in enumerate(weights)))
    assert result(rubric, [ballot(*scores)]).score == composite


EXACT = [  # weights, scores, threshold: each composite is the threshold, to the last digit
    ((1,), (0.7,), 0.7),
    ((1, 1, 1), (0.7, 0.7, 0.7), 0.7),  # in binary, the sum is 2.0999999999999996
    ((1, 2), (0.1, 0.4), 0.3),  # in binary, 0.9 / 3 is below 0.3
    ((3, 7), (0.8, 0.9), 0.87),
    ((0.1, 0.2), (0.6, 0.9), 0.8),
    ((1, 1, 1, 1, 1, 1), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 0.35),
]


@pytest.mark.parametrize(("weights", "scores", "threshold"), EXACT)
def test_a_score_that_equals_the_threshold_reaches_it(
    weights: tuple[float, ...], scores: tuple[float, ...], threshold: float
) -> None:
    rubric = of(*(criterion("abcdef"[i], w) for i, w in enumerate(weights)), at=threshold)
    found = result(rubric, [ballot(*scores)])
    assert (found.score, found.passed) == (threshold, True)
    lower = (*scores[:-1], scores[-1] - 0.0001)
    assert result(rubric, [ballot(*lower)]).passed is False


def test_one_weight_for_all_changes_nothing() -> None:
    scores = (0.3, 0.9)
    one = result(of(criterion("a", 2), criterion("b", 4)), [ballot(*scores)])
    other = result(of(criterion("a", 1e-9), criterion("b", 2e-9)), [ballot(*scores)])
    assert one.score == other.score == 0.7


OWN = [  # score of a, score of b, threshold of a: does it pass at 0.7; are a and b marked passed
    (0.9, 0.9, None, True, (True, True)),
    (0.5, 0.9, None, True, (False, True)),  # without a threshold of its own it cannot fail alone
    (0.5, 0.9, 0.5, True, (True, True)),
    (0.5, 0.9, 0.51, False, (False, True)),
    (0.9, 0.9, 0.9, True, (True, True)),
    (0.89, 1.0, 0.9, False, (False, True)),
    (1, 0.4, 1.0, True, (True, False)),
    (0.99, 1, 1.0, False, (False, True)),
    (0.6, 0.7, 0.5, False, (True, True)),  # the composite is 0.65
    (0, 1, 0.0, False, (True, True)),
]


@pytest.mark.parametrize(("a", "b", "threshold", "passed", "marked"), OWN)
def test_a_threshold_of_its_own(
    a: float, b: float, threshold: float | None, passed: bool, marked: tuple[bool, bool]
) -> None:
    found = result(of(criterion("a", threshold=threshold), criterion("b")), [ballot(a, b)])
    assert found.passed is passed
    assert tuple(c.passed for c in found.criteria) == marked


def test_a_result_is_as_true_as_it_passed() -> None:
    rubric = of(criterion("a"))
    assert result(rubric, [ballot(0.7)])
    assert not result(rubric, [ballot(0.69)])


# --- several ballots -----------------------------------------------------------------------------

MEDIANS = [
    ((0.2,), 0.2, 0.0),
    ((0.2, 0.4), 0.3, 0.2),
    ((0.1, 0.2), 0.15, 0.1),
    ((0.9, 0.1, 0.3), 0.3, 0.8),
    ((0.1, 0.9, 0.7, 0.3), 0.5, 0.8),
    ((1, 1, 1, 0, 0), 1.0, 1.0),
]


@pytest.mark.parametrize(("scores", "median", "spread"), MEDIANS)
def test_ballots_become_one_by_the_median(
    scores: tuple[float, ...], median: float, spread: float
) -> None:
    found = result(of(criterion("a")), [ballot(score) for score in scores])
    (one,) = found.criteria
    assert (found.score, one.score) == (median, median)
    assert (found.spread, one.spread) == (spread, spread)
    assert one.scores == scores
    count = len(scores)
    assert found.samples == count
    assert found.method == ("one answer" if count == 1 else f"median of {count} answers")


def test_the_median_is_each_criterions_own() -> None:
    rubric = of(criterion("a"), criterion("b"), at=0.5)
    found = result(rubric, [ballot(1, 0), ballot(0, 1), ballot(0.5, 0.5)])
    assert [c.score for c in found.criteria] == [0.5, 0.5]
    assert found.spread == 0.0
    assert [c.spread for c in found.criteria] == [1.0, 1.0]


def test_the_words_are_those_of_the_ballot_nearest_to_the_median() -> None:
    ballots = [ballot(0.1, said="low "), ballot(0.6, said="middle "), ballot(0.9, said="high ")]
    found = result(of(criterion("a")), ballots)
    assert found.reasoning == "middle overall"
    assert found.suggestions == ("middle do more",)
    assert found.criteria[0].reasoning == "middle a because"


def test_no_ballot_is_no_result() -> None:
    with pytest.raises(ValueError, match="no ballot"):
        result(of(criterion("a")), [])


def test_documents_are_plain_json() -> None:
    import json

    found = result(of(criterion("a"), criterion("b")), [ballot(0.5, 1), ballot(0.7, 1)])
    document = json.loads(json.dumps(found.to_document(), allow_nan=False))
    assert document["criteria"][0] == {
        "name": "a", "score": 0.6, "passed": False, "reasoning": "a because", "evidence": [],
        "discounted": [], "scores": [0.5, 0.7], "spread": 0.2,
    }  # fmt: skip
    assert document["passed"] is True


# --- why a judgement did not pass ----------------------------------------------------------------

BLAMED = [  # score and own threshold of a, b, c; passing threshold -> what is said
    ((0.6, 0.5, 0.4), (None, None, None), 0.7, "R: 0.5 is below 0.7"),
    ((0.6, 0.5, 1), (0.65, None, None), 0.9, ("R: 0.7 is below 0.9; below its own threshold: "
     "a 0.6 (needs 0.65)")),
    ((0.8, 0.5, 1), (0.9, None, 1), 0.7, ("R: 0.767, passing at 0.7; below its own threshold: "
     "a 0.8 (needs 0.9)")),
    ((0.8, 0.5, 0.99), (0.9, None, 1), 0.7, ("R: 0.763, passing at 0.7; below their own "
     "thresholds: a 0.8 (needs 0.9), c 0.99 (needs 1)")),
    ((0.6999, 0.6999, 0.6999), (None, None, None), 0.7, "R: 0.6999 is below 0.7"),
    ((0.69999999, 0.7, 0.7), (None, None, None), 0.7, "R: 0.699999997 is below 0.7"),
    ((0.7, 0.7, 0.7), (None, None, None), 0.70000001, "R: 0.7 is below 0.70000001"),
    ((0.7, 0.7, 0.7), (None, 0.70000001, None), 0.7, ("R: 0.7, passing at 0.7; below its own "
     "threshold: b 0.7 (needs 0.70000001)")),
    ((0.89999999, 1, 1), (0.9, None, None), 0.7, ("R: 0.967, passing at 0.7; below its own "
     "threshold: a 0.89999999 (needs 0.9)")),
    ((0, 0, 0), (None, None, None), 1e-9, "R: 0 is below 1e-09"),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "own", "bar", "said"), BLAMED)
def test_only_what_failed_it_is_blamed_and_no_two_numbers_look_alike(
    scores: tuple[float, ...], own: tuple[float | None, ...], bar: float, said: str
) -> None:
    criteria = [criterion(name, threshold=own[at]) for at, name in enumerate("abc")]
    found = result(of(*criteria, at=bar), [ballot(*scores)])
    assert not found.passed
    assert why_not(found) == said


def test_a_score_with_more_digits_than_a_float_is_never_said_to_be_its_limit() -> None:
    written = WrittenNumber("0.6" + "9" * 30)
    found = result(of(criterion()), [ballot(written)])
    assert why_not(found) == "R: 0.6999999999999998 is below 0.7"
    limit = WrittenNumber("0.7" + "0" * 20 + "1")
    found = result(of(criterion(), at=limit), [ballot(0.7)])
    assert why_not(found) == f"R: 0.7 is below {limit!r}"


def test_many_missed_thresholds_are_counted() -> None:
    many = [criterion(f"c{n}", threshold=1) for n in range(30)]
    marks = {one.name: Mark(one.name, 0.5, "because") for one in many}
    said = why_not(result(of(*many), [RubricBallot(marks, "", ())]))
    assert said.endswith("c7 0.5 (needs 1) and 22 more")
