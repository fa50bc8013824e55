"""Numbers of judges are compared as they are written."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.adapters.judges.reply_json import read_document
from flow.core.judging.common.question import Unusable
from flow.core.text.numbers import (
    MOST_CHARACTERS,
    WrittenNumber,
    at_most,
    exact,
    read,
    within,
)

NEARLY = "0.5" + "9" * 30


def test_a_number_that_no_float_holds_is_never_rounded_up() -> None:
    number = read(NEARLY)
    assert isinstance(number, WrittenNumber)
    assert number < 0.6 == float(NEARLY)
    assert exact(number) == Fraction(NEARLY) < exact(0.6)
    assert Decimal(str(number)) == Decimal(NEARLY)


@pytest.mark.parametrize("text", ["0.6", "0.60", "1e-3", "1.0", "0.0", "-0.0", "0e9", "12.5E1"])
def test_a_number_that_a_float_holds_is_that(text: str) -> None:
    assert type(read(text)) is float
    assert read(text) == float(text)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1e-999999999", "0." + "1" * MOST_CHARACTERS])
def test_a_number_of_no_sensible_size_is_refused(text: str) -> None:
    assert read(text) is None
    found = read_document(f'{{"confidence": {text}}}'.encode(), what="the reply")
    assert isinstance(found, Unusable)
    assert text[:20] in found.reason


@given(st.fractions(0, 10))
def test_at_most_is_at_most_and_near(number: Fraction) -> None:
    found = at_most(number)
    assert Fraction(repr(found)) <= number
    assert number - Fraction(repr(found)) <= Fraction(1, 10**14)


@given(st.decimals(0, 2, allow_nan=False, allow_infinity=False, places=25))
def test_a_reply_keeps_every_digit(number: Decimal) -> None:
    found = read_document(f'{{"n": {number:f}}}'.encode(), what="the reply")
    assert isinstance(found, dict)
    assert exact(found["n"]) == Fraction(number)
    assert Fraction(repr(float(found["n"]))) <= Fraction(number)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("0.0", True),
        ("1.0", True),
        ("1." + "0" * 25 + "1", False),
        ("-0." + "0" * 25 + "1", False),
        ("0." + "9" * 30, True),
    ],
)
def test_a_range_is_that_of_what_is_written(text: str, inside: bool) -> None:
    number = read(text)
    assert number is not None
    assert within(number, 0, 1) is inside


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, -1])
def test_what_is_in_no_range(number: float) -> None:
    assert not within(number, 0, 1)
