"""Sets of numbers as spans, against sets."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.core.chain.intervals import bounded, contains, merged, without

SPAN = st.tuples(st.integers(1, 40), st.integers(1, 40))


def numbers(spans):
    return {n for first, last in spans for n in range(first, last + 1)}


@given(st.lists(SPAN, max_size=8), st.lists(st.integers(1, 40), max_size=8))
def test_they_are_sets(spans, less):
    found = merged(spans)
    assert numbers(found) == numbers(spans)
    assert list(found) == sorted(found)
    assert all(a[1] + 1 < b[0] for a, b in pairwise(found))
    assert numbers(without(found, less)) == numbers(spans) - set(less)
    assert all(contains(found, n) == (n in numbers(spans)) for n in range(42))


@given(st.lists(SPAN, max_size=8), st.integers(1, 5))
def test_at_most_so_many_hold_all_of_it(spans, limit):
    found = merged(spans)
    less = bounded(found, limit)
    assert len(less) <= limit
    assert numbers(found) <= numbers(less)
    assert less == merged(less)


@pytest.mark.parametrize(
    ("limit", "left"),
    [(1, ((1, 9),)), (2, ((1, 5), (9, 9))), (3, ((1, 2), (5, 5), (9, 9)))],
)
def test_the_newest_stay_apart(limit, left):
    assert bounded(((1, 2), (5, 5), (9, 9)), limit) == left
