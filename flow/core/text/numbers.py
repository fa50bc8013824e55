"""Judges' numbers with all their written digits.

The number as written decides whether a limit is met, not the nearest float: 0.599…9 with twenty
nines is below 0.6, although ``float`` makes it 0.6.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite, nextafter

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

MOST_CHARACTERS = 64
"""Characters of a number in a reply, at most; longer ones are refused."""


class WrittenNumber(float):
    """A number that no float can represent exactly.

    As a float it is never above the written number; ``str`` is the text, so that :func:`exact` and
    ``Decimal(str(number))`` have every digit.
    """

    def __new__(cls, text: str) -> Self:
        """The number in ``text``, which is JSON."""
        number = super().__new__(cls, at_most(Fraction(text)))
        number._text = text
        return number

    _text: str

    def __repr__(self) -> str:
        return self._text


def read(text: str) -> float | None:
    """The number in a JSON text; None if it is too long, too large or too small."""
    number = float(text)
    if not isfinite(number):
        return None
    if number == 0:  # 1e-999999999 is zero as a float: no fraction is made of it
        mantissa = text.lower().partition("e")[0]
        return number if not mantissa.strip("-0.") else None
    if len(text) > MOST_CHARACTERS:
        return None
    return number if Fraction(text) == Fraction(repr(number)) else WrittenNumber(text)


def exact(number: float) -> Fraction:
    """The number exactly as written: 0.7 is seven tenths."""
    return Fraction(number) if isinstance(number, int) else Fraction(str(number))


def at_most(number: Fraction) -> float:
    """The nearest float whose printed form is not above ``number``."""
    nearest = float(number)
    while Fraction(repr(nearest)) > number:
        nearest = nextafter(nearest, -inf)
    return nearest


def within(number: float, least: int, most: int) -> bool:
    """Whether ``number``, as written, is from ``least`` to ``most``; NaN is in no range."""
    if isinstance(number, int):  # of any size
        return least <= number <= most
    return isfinite(number) and least <= exact(number) <= most


def shown(number: Fraction | float, digits: int = 2) -> str:
    """A number for people: at most ``digits`` decimals, rounded half up: ``4``, ``4.33``."""
    value = number if isinstance(number, Fraction) else exact(number)
    unit: int = 10**digits
    rounded = (value * 2 * unit + 1) // 2
    return f"{rounded // unit}.{rounded % unit:0{digits}}".rstrip("0").rstrip(".")


def told_apart(number: float, limit: float, digits: int = 3) -> str:
    """``number`` for people, next to ``limit``: at least ``digits`` decimals.

    It gets more decimals until it is on the right side of the limit, and is shown as written if 17
    do not suffice.
    """
    value, bar = exact(number), exact(limit)
    for places in range(digits, 18):
        text = f"{number:.{places}f}"
        rounded = Fraction(text)
        if (rounded < bar, rounded > bar) == (value < bar, value > bar):
            return text
    return str(number)


def beside(number: float, limit: float) -> str:
    """``number`` for people, next to ``limit``, without trailing zeros: ``0.8``, ``0.59999``."""
    text = told_apart(number, limit)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def as_written(number: float) -> str:
    """A limit for people, with all its digits: ``0.7``, ``1``."""
    short = f"{number:g}"
    return short if Fraction(short) == exact(number) else str(number)


def apart(distance: Fraction, limit: Fraction) -> str:
    """A distance for people, which never looks within ``limit`` if it is not."""
    for digits in (2, 4):
        text = shown(distance, digits)
        if (Fraction(text) <= limit) == (distance <= limit):
            return text
    return f"a trace more than {shown(limit)}"
