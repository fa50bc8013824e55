"""Sets of whole numbers as spans: ``((3, 3), (7, 9))``, sorted, apart from each other."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Span = tuple[int, int]
    Spans = tuple[Span, ...]
    """(first, last) of each span, both of them in it."""


def contains(spans: Spans, number: int) -> bool:
    """Whether ``number`` is in one of them."""
    return any(first <= number <= last for first, last in spans)


def merged(spans: Iterable[Span]) -> Spans:
    """Any spans as they should be; those whose last number is below the first are empty."""
    joined: list[Span] = []
    for first, last in sorted(span for span in spans if span[0] <= span[1]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)


def without(spans: Spans, numbers: Iterable[int]) -> Spans:
    """The spans less these numbers."""
    remaining = list(spans)
    for number in numbers:
        for index, (first, last) in enumerate(remaining):
            if first <= number <= last:
                remaining[index : index + 1] = [(first, number - 1), (number + 1, last)]
                break
    return merged(remaining)


def bounded(spans: Spans, limit: int) -> Spans:
    """At most ``limit`` spans that hold all of it: what lies between the oldest goes in, too."""
    more = len(spans) - limit
    return ((spans[0][0], spans[more][1]), *spans[more + 1 :]) if more > 0 else spans
