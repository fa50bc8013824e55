"""Sets of whole numbers as intervals: ``((3, 3), (7, 9))``, sorted and disjoint."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Interval = tuple[int, int]
    Intervals = tuple[Interval, ...]
    """(first, last) of each interval, both included."""


def contains(intervals: Intervals, number: int) -> bool:
    """Whether ``number`` is in one of them."""
    return any(first <= number <= last for first, last in intervals)


def merged(intervals: Iterable[Interval]) -> Intervals:
    """Sorted, disjoint intervals; one whose last number is below its first is empty."""
    joined: list[Interval] = []
    for first, last in sorted(each for each in intervals if each[0] <= each[1]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def without(intervals: Intervals, numbers: Iterable[int]) -> Intervals:
    """The intervals without ``numbers``."""
    remaining = list(intervals)
    for number in numbers:
        for index, (first, last) in enumerate(remaining):
            if first <= number <= last:
                remaining[index : index + 1] = [(first, number - 1), (number + 1, last)]
                break
    return merged(remaining)


def bounded(intervals: Intervals, limit: int) -> Intervals:
    """At most ``limit`` intervals that cover all of these; the oldest gaps are filled."""
    surplus = len(intervals) - limit
    if surplus <= 0:
        return intervals
    return ((intervals[0][0], intervals[surplus][1]), *intervals[surplus + 1 :])
