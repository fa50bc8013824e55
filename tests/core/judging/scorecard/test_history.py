"""Stored cards read back: names, numbers, means and changes (SPEC 9.3)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from flow.core.judging.common.question import Unusable
from flow.core.judging.scorecard import history as past
from flow.core.judging.scorecard.history import CardFile, PastCard
from flow.core.judging.scorecard.model import NAMES
from flow.errors import InputError

D = Decimal
FILE = CardFile("x-20260102-030405.json", "x", "20260102-030405", 1)


def card(composite: str, **scores: str) -> PastCard:
    rows = {name: D(scores.get(name, "8.0")) for name in NAMES}
    return PastCard("f.json", "2026-01-01T00:00:00Z", D(composite), "B", rows, None)


def stored(score: Any = 8.0, **more: Any) -> dict[str, Any]:
    row = {"score": score, "weight": 0.1, "justification": "w"}
    return {
        "skill": "x",
        "timestamp": "2026-01-01T00:00:00Z",
        "dimensions": {name: dict(row) for name in NAMES},
        "composite": 8.0,
        "grade": "B+",
        **more,
    }


# --- names ----------------------------------------------------------------------------------------

STEMS = [
    ("commit", "commit"),
    ("flow:goal", "flow-goal"),
    ("../../etc/passwd", "etc-passwd"),
    ("..", "skill"),
    (".hidden", "hidden"),
    ("-rf", "rf"),
    ("a/b", "a-b"),
    ("a b", "a-b"),
    ("日本", "skill"),
    ("a..b", "a.b"),
    ("a---b", "a-b"),
    ("x" * 200, "x" * 100),
    ("a\\x00b", "a-x00b"),
]


@pytest.mark.parametrize(("skill", "stem"), STEMS)
def test_a_skills_name_is_made_safe(skill: str, stem: str) -> None:
    assert past.file_stem(skill) == stem
    name = past.file_name(skill, "2026-01-02T03:04:05Z")
    assert name == f"{stem}-20260102-030405.json"
    assert past.read_name(name) == CardFile(name, stem, "20260102-030405", 1)
    assert past.file_name(skill, "2026-01-02T03:04:05Z", 2) == f"{stem}-20260102-030405-2.json"


@pytest.mark.parametrize(
    ("given", "name"),
    [("commit", "commit"), ("/commit", "commit"), (" a b ", "a b"), ("a\nb\x1b", "a\\nb\\x1b")],
)
def test_a_skill_is_one_printable_line(given: str, name: str) -> None:
    assert past.skill_name(given) == name


COMMANDS = [
    ([], None),
    (["commit my work"], None),
    (["/commit"], "commit"),
    (["/commit the parser\nand more", "thanks"], "commit"),
    (["/flow:goal evaluate", "/tidy-up x"], "tidy-up"),
    (["/commit", "/clear"], "commit"),
    (["/usr/bin/env is broken"], None),
    (["/ commit"], None),
    (["see /commit"], None),
    (["/" + "x" * 200], None),
]


@pytest.mark.parametrize(("prompts", "skill"), COMMANDS)
def test_the_skill_that_a_saved_text_asked_for(prompts: list[str], skill: str | None) -> None:
    assert past.commanded_skill(prompts) == skill


@pytest.mark.parametrize("given", ["", " ", "/", "x" * 201, "\x1b" * 60])
def test_what_is_no_skill(given: str) -> None:
    with pytest.raises(InputError, match="not a skill's name"):
        past.skill_name(given)


@pytest.mark.parametrize(
    "name",
    ["x.json", "x-2026-01.json", "x-20260102-030405.txt", "-20260102-030405.json",
     "x-20260102-030405-0.json", "x-20260102-030405-a.json", "x-20260102-03040٥.json"],
)  # fmt: skip
def test_other_names_are_no_cards(name: str) -> None:
    assert past.read_name(name) is None


def test_the_newest_come_first_and_another_skills_do_not() -> None:
    names = [
        "x-20260101-000000.json", "x-20260102-000000.json", "x-20260102-000000-10.json",
        "x-20260102-000000-2.json", "x-y-20260109-000000.json", "xx-20260109-000000.json",
    ]  # fmt: skip
    assert [file.name for file in past.newest_first(names, "x")] == [
        "x-20260102-000000-10.json", "x-20260102-000000-2.json", "x-20260102-000000.json",
        "x-20260101-000000.json",
    ]  # fmt: skip


# --- reading back ---------------------------------------------------------------------------------


def test_a_card_is_read_back() -> None:
    found = past.read_card(stored(execution="e1"), FILE, "x")
    assert isinstance(found, PastCard)
    assert (found.composite, found.grade, found.execution) == (D("8.00"), "B+", "e1")
    assert not found.remark
    assert found.to_document()["scores"]["safety"] == 8.0


def test_another_skills_card_under_the_same_name_does_not_count() -> None:
    assert past.read_card(stored(skill="X"), FILE, "x") is None


NONE = [
    None, [], 4, "x", {}, {"skill": 4}, {"skill": "x"}, stored(dimensions=[]), stored(0.5),
    stored(10.5), stored("8"), stored(True), stored(8.05), stored(float("nan")), stored(None),
    stored(dimensions=dict.fromkeys(NAMES, 8)),
    stored(dimensions={name: {"score": 8} for name in NAMES[:6]}),
]  # fmt: skip


@pytest.mark.parametrize("document", NONE, ids=str)
def test_what_is_no_card(document: Any) -> None:
    found = past.read_card(document, FILE, "x")
    assert isinstance(found, Unusable)
    assert "is not a scorecard" in found.reason


@pytest.mark.parametrize(
    ("more", "wrote"),
    [
        ({"composite": 10.0}, "10.0 (B+)"),
        ({"grade": "A+"}, "8.0 (A+)"),
        ({"composite": "\x1b"}, "\\x1b"),
    ],
)
def test_composite_and_grade_are_computed_anew(more: dict[str, Any], wrote: str) -> None:
    found = past.read_card(stored(**more), FILE, "x")
    assert isinstance(found, PastCard)
    assert (found.composite, found.grade) == (D("8.00"), "B+")
    assert wrote in found.remark
    assert found.remark.isprintable()


@pytest.mark.parametrize("time", [None, 4, "yesterday", "2026-01-01T00:00:00+01:00", "\x1b"])
def test_a_time_that_is_none_is_taken_from_the_name(time: Any) -> None:
    found = past.read_card(stored(timestamp=time, execution=5), FILE, "x")
    assert isinstance(found, PastCard)
    assert found.timestamp == "2026-01-02T03:04:05Z"
    assert found.execution is None


# --- means and changes ----------------------------------------------------------------------------

MEANS: list[tuple[list[str], tuple[int, str] | None]] = [
    ([], None),
    (["8.00"], (1, "8.00")),
    (["8.00", "7.01"], (2, "7.51")),  # 7.505
    (["9.00", "8.00", "7.00", "6.00", "5.00"], (5, "7.00")),
    (["9.00", "8.00", "7.00", "6.00", "5.00", "1.00"], (5, "7.00")),
]


@pytest.mark.parametrize(("composites", "expected"), MEANS)
def test_the_mean_is_of_the_last_five(
    composites: list[str], expected: tuple[int, str] | None
) -> None:
    found = past.mean([card(composite) for composite in composites])
    assert (found and (found.cards, str(found.composite))) == expected


def test_the_mean_of_each_dimension_and_its_words() -> None:
    found = past.mean([card("8.00", safety="9.0"), card("7.00", safety="6.0")])
    assert found is not None
    assert found.scores["safety"] == D("7.50")
    text = past.mean_text(found)
    assert text.startswith("Mean of its last 2 scorecards: composite 7.50; correctness 8.00, ")
    only = past.mean([card("8.00")])
    assert only is not None
    assert past.mean_text(only).startswith("Mean of its last scorecard: ")


def test_the_changes() -> None:
    cards = [card("8.10", safety="9.0"), card("7.80", safety="9.5"), card("6.00", safety="4.0")]
    found = past.trend(cards)
    assert found["composite"] == {"since_first": 2.1, "since_previous": 0.3}
    assert found["dimensions"]["safety"] == {"since_first": 5.0, "since_previous": -0.5}
    assert found["dimensions"]["correctness"] == {"since_first": 0.0, "since_previous": 0.0}


@pytest.mark.parametrize("count", [0, 1])
def test_there_is_no_change_without_two_cards(count: int) -> None:
    found = past.trend([card("8.00")] * count)
    assert found["composite"] == {"since_first": None, "since_previous": None}
    assert set(found["dimensions"]) == set(NAMES)
