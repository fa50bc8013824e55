"""Moments as numbers, from the text that files hold (RFC 3339), without ``datetime``."""

from __future__ import annotations

SKEW = 60
"""Seconds by which the clock that wrote a file may be ahead of this one."""

_DAYS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
"""Days of a common year before each month."""


def seconds(text: str) -> float:
    """Seconds since 1970 of a date and time that a schema has accepted."""
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
    before = year - (month <= 2)  # the leap days that have been, this year's from March on
    leaps = before // 4 - before // 100 + before // 400 - 477
    days = (year - 1970) * 365 + leaps + _DAYS[month - 1] + day - 1
    clock = int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
    return days * 86400.0 + clock - _offset(text)


def _offset(text: str) -> int:
    if text[-1] in "Zz":
        return 0
    east = int(text[-5:-3]) * 3600 + int(text[-2:]) * 60
    return east if text[-6] == "+" else -east


def ahead(text: str, now: str) -> bool:
    """Whether ``text`` is later than ``now`` by more than :data:`SKEW`."""
    return seconds(text) > seconds(now) + SKEW
