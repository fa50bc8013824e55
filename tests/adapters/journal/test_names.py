"""Names and plain values of a journal are read without patterns, and as the patterns say."""

from __future__ import annotations

import re
from itertools import product

import pytest

from flow.adapters.journal import text

CASES = [
    *("".join(chars) for count in range(5) for chars in product("aZé0_-./ \n", repeat=count)),
    *(f"{first}{char * count}" for first in "a0-." for char in "a0-" for count in (62, 63, 64, 65)),
    *(f"{sign}{digits}{rest}" for sign in ("", "-", "--") for digits in ("0", "00", "1", "10")
      for rest in ("", ".", ".0", ".01", ".0.0", "x", ".1234567890", ".12345678901")),
    *(f"{sign}{'9' * count}{rest}" for sign in ("", "-") for count in (9, 10, 11, 14, 15, 16)
      for rest in ("", ".5")),
    *("no", "No", "null", ".inf", ".Nan", ".info", "yes", "yesterday", "٣", "¹"),
]  # fmt: skip
PATTERNS = {
    "is_type": r"[a-z][a-z0-9-]{0,63}",
    "is_field": r"[A-Za-z][A-Za-z0-9_-]{0,63}",
    "_is_number": r"0|-?[1-9][0-9]{0,14}|-?(?:0|[1-9][0-9]{0,9})\.[0-9]{1,10}",
    "_is_plain": r"(?!(?i:y|n|yes|no|on|off|true|false|null|\.inf|\.nan)\Z)"
    r"(?:[A-Za-z_]|\.[A-Za-z])[A-Za-z0-9_./-]*",
}


@pytest.mark.parametrize("name", list(PATTERNS))
def test_what_a_pattern_takes_is_taken_without_it(name: str) -> None:
    taken = getattr(text, name)
    pattern = re.compile(PATTERNS[name])
    assert [case for case in CASES if taken(case) != (pattern.fullmatch(case) is not None)] == []
