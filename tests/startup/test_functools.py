"""``flow.startup.functools`` behaves as ``functools`` does, as far as Flow uses it (ADR 12)."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from flow.startup import functools as fast_functools


@pytest.mark.parametrize("module", [fast_functools, functools])
def test_a_cache_keeps_what_it_is_told_to_keep(module: Any) -> None:
    calls: list[tuple[int, ...]] = []

    @module.lru_cache(maxsize=2)
    def added(*values: int, more: int = 0) -> int:
        """Doc."""
        calls.append(values)
        if not values:
            raise ValueError
        return sum(values) + more

    assert [added(1), added(1), added(1, more=1), added(2), added(1)] == [1, 1, 2, 2, 1]
    assert calls == [(1,), (1,), (2,), (1,)], "the one that was asked for longest ago is gone"
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^$"):
            added()
    assert calls[-2:] == [(), ()]
    with pytest.raises(TypeError):
        added([])
    assert (added.__name__, added.__doc__, added.__module__) == ("added", "Doc.", __name__)
    added.cache_clear()
    added(1)
    assert calls[-1] == (1,)


@pytest.mark.parametrize("module", [fast_functools, functools])
def test_a_cache_without_bound(module: Any) -> None:
    calls: list[int] = []

    @module.cache
    def kept(value: int) -> list[int]:
        calls.append(value)
        return [value]

    assert all(kept(value) is kept(value) for value in range(500))
    assert calls == [*range(500)]


def test_partial_is_that_of_functools() -> None:
    assert fast_functools.partial is functools.partial
