"""What a word that names nothing may have meant."""

from __future__ import annotations

from itertools import permutations

import pytest

from flow.core.text import near

NAMES = ("evaluate", "status", "AC1", "AC2", "AC10", "strict-dates", "issue-4")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("evalute", "evaluate"),
        ("EVALUATE", "evaluate"),
        ("ac2", "AC2"),
        ("A1", "AC1"),
        ("AC3", None),  # another number is another criterion
        ("AC11", None),
        ("issue-5", None),
        ("isue-4", "issue-4"),
        ("strct-dates", "strict-dates"),
        ("", None),
        ("zzz", None),
        ("evaluate" * 1000, None),
        ("\ud800", None),
    ],
)
def test_the_nearest_name(word: str, name: str | None) -> None:
    assert near.nearest(word, NAMES) == name
    assert near.did_you_mean(word, NAMES) == (f"; did you mean {name}?" if name else "")


def test_the_order_of_the_names_does_not_matter() -> None:
    names = ("abcd", "abce", "abcf", "bbcc")
    assert {near.nearest("abcc", order) for order in permutations(names)} == {"bbcc"}


def test_so_many_names_are_compared_and_no_more() -> None:
    names = [f"n{'x' * (number % 60)}y" for number in range(near.NAMES)]
    assert near.nearest("target", [*names, "target"]) is None
    assert near.nearest("target", ["target", *names]) == "target"


def test_several_names_are_offered() -> None:
    assert near.meant("a", "b", "c") == "; did you mean a or b or c?"
    assert near.meant() == ""


def test_the_remedy_names_the_nearest_or_all() -> None:
    assert near.nearest_or_all("stats", ("status", "list")) == "did you mean status?"
    assert near.nearest_or_all("zzz", ("status", "list")) == "known here: status, list"
