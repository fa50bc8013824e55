"""Strengths and weaknesses of judges: their numbers, and who holds them."""

from __future__ import annotations

import pytest

from flow.core.judging.common.reply import Mark
from flow.core.judging.debate import points as debate_points
from flow.core.judging.debate.model import Position
from flow.core.judging.debate.points import KINDS, Kind, Point, SharedPoint, Stand


def position(judge: int, strengths: str = "", weaknesses: str = "") -> Position:
    points = (tuple(text.split("|")) if text else () for text in (strengths, weaknesses))
    return Position(judge, (Mark("a", 3, "why"),), *points, "pass", True)


def test_every_point_of_a_file_has_a_number_of_its_own() -> None:
    turns = [position(2, "x|y", "z"), position(2, "x", "z|w")]
    found = list(debate_points.all_numbered(turns))
    assert found == [
        ("2.0.S1", "x"),
        ("2.0.S2", "y"),
        ("2.0.W1", "z"),
        ("2.1.S1", "x"),
        ("2.1.W1", "z"),
        ("2.1.W2", "w"),
    ]
    assert [point.kind for point in found[:3]] == ["strengths", "strengths", "weaknesses"]


def stands(*shares: tuple[str, ...]) -> list[Stand]:
    """Judges 1 to 3, each with a strength and a weakness of its own, and what each shares."""
    texts = {f"{n}.0.{letter}1": f"{letter} of {n}" for n in (1, 2, 3) for letter in "SW"}
    own = (position(n, f"S of {n}", f"W of {n}") for n in (1, 2, 3))
    return [
        Stand(one, tuple(Point(number, texts[number]) for number in named))
        for one, named in zip(own, shares, strict=True)
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sharing", [(), (1,), (2,), (1, 2)])
def test_a_point_is_held_by_its_judge_and_those_that_share_it(
    kind: Kind, sharing: tuple[int, ...]
) -> None:
    letter = "S" if kind == "strengths" else "W"
    given = [(f"3.0.{letter}1",) if n in sharing else () for n in (1, 2)]
    found = debate_points.grouped(stands(*given, ()), kind)
    assert SharedPoint(f"{letter} of 3", (*sharing, 3)) in found
    assert len(found) == 3
    other: Kind = "weaknesses" if kind == "strengths" else "strengths"
    assert all(len(row.judges) == 1 for row in debate_points.grouped(stands(*given, ()), other))


def test_those_of_most_judges_stand_first_and_equal_wording_is_equal() -> None:
    found = debate_points.grouped(
        [Stand(position(1, "Rare|Often")), Stand(position(2, "often. ")), Stand(position(3, "x"))],
        "strengths",
    )
    assert found == [("Often", (1, 2)), ("Rare", (1,)), ("x", (3,))]


def test_what_its_judge_no_longer_holds_is_held_by_those_that_share_it() -> None:
    gone = Point("1.0.S1", "was there")
    found = debate_points.grouped([Stand(position(1)), Stand(position(2), (gone,))], "strengths")
    assert found == [("was there", (2,))]
