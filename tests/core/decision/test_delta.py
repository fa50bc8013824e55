"""Delta (SPEC 3): over what was decided, the undecided keep their state."""

from __future__ import annotations

import pytest

from flow.core.decision.delta import delta

A, B, C = "AC1", "AC2", "AC3"


@pytest.mark.parametrize(
    ("before", "decided", "amended", "first", "expected"),
    [
        (set(), {}, set(), True, "made_progress"),
        (set(), {A: False}, set(), True, "made_progress"),
        (set(), {A: False}, set(), False, "unchanged"),
        (set(), {}, set(), False, "unchanged"),
        (set(), {A: True}, set(), False, "made_progress"),
        ({A}, {A: True}, set(), False, "unchanged"),
        ({A}, {A: True, B: True}, set(), False, "made_progress"),
        ({A}, {A: False}, set(), False, "regressed"),
        ({A}, {A: False, B: True, C: True}, set(), False, "regressed"),
        ({A}, {}, set(), False, "unchanged"),
        ({A}, {B: True}, set(), False, "made_progress"),
        ({A, B}, {B: True}, set(), False, "unchanged"),
        ({A}, {A: False}, {A}, False, "unchanged"),
        (set(), {A: True}, {A}, False, "unchanged"),
        ({A}, {A: False, B: True}, {A}, False, "made_progress"),
        ({A, B}, {A: True, B: False}, {A}, False, "regressed"),
    ],
)
def test_delta(before, decided, amended, first, expected) -> None:  # type: ignore[no-untyped-def]
    assert delta(before=before, decided=decided, amended=amended, first=first) == expected
