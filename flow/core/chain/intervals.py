"""Sets of whole numbers as spans: ``((3, 3), (7, 9))``, sorted, apart from each other."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Interval = tuple[int, int]
    Intervals = tuple[Interval, ...]
    """(first, last) of each span, both of them in it."""


def contains(intervals: Intervals, number: int) -> bool:
    """Whether ``number`` is in one of them."""
    return any(first <= number <= last for first, last in intervals)


def merged(intervals: Iterable[Interval]) -> Intervals:
    """Any spans as they should be; those whose last number is below the first are empty."""
    joined: list[Interval] = []
    for first, last in sorted(span for span in intervals if span[0] <= span[1]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def without(intervals: Intervals, numbers: Iterable[int]) -> Intervals:
    """The spans less these numbers."""
    remaining = list(intervals)
    for number in numbers:
        for index, (first, last) in enumerate(remaining):
            if first <= number <= last:
                remaining[index : index + 1] = [(first, number - 1), (number + 1, last)]
                break
    return merged(remaining)


def bounded(intervals: Intervals, limit: int) -> Intervals:
    """At most ``limit`` spans that hold all of it: what lies between the oldest goes in, too."""
    more = len(intervals) - limit
    return (
        ((intervals[0][0], intervals[more][1]), *intervals[more + 1 :]) if more > 0 else intervals
    )
