"""How much a test tries: a short form in ``bin/check``, a long one in ``bin/check --long``.

The short form has every kind of case, and fewer of each. A whole test that repeats at length what
another one shows in short is marked ``long`` instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Value = TypeVar("Value")

_is_long = False


def choose(is_long: bool) -> None:
    """Choose the form, before any test module is imported: its tables and settings may ask."""
    global _is_long  # noqa: PLW0603
    _is_long = is_long


def sizes(*, short: Value, long: Value) -> Value:
    """The value for this run: counts, lists of cases, limits."""
    return long if _is_long else short


def examples(short: int, *, long: int | None = None) -> settings:
    """Hypothesis settings: so many examples, fifty times as many (other ones each time) if long."""
    count = sizes(short=short, long=long or 50 * short)
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


def sample(
    cases: Sequence[Value], most: int, kind: Callable[[Value], object] = lambda _: None
) -> list[Value]:
    """In the short form at most ``most`` cases of each kind, spread over their order; else all."""
    if _is_long:
        return list(cases)
    kinds: dict[object, list[int]] = {}
    for place, case in enumerate(cases):
        kinds.setdefault(kind(case), []).append(place)
    chosen = sorted(
        places[number * len(places) // min(most, len(places))]
        for places in kinds.values()
        for number in range(min(most, len(places)))
    )
    return [cases[place] for place in chosen]
