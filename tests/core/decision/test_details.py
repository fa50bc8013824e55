"""A judge's figure beside what it needs, as a verdict's screen shows it."""

from __future__ import annotations

from typing import Any

import pytest

from flow.core.decision.details import judged_figures


@pytest.mark.parametrize(
    ("judgement", "told"),
    [
        ({"confidence": 0.9}, "0.9, needs 0.6"),
        ({"confidence": 0.6}, "0.6, needs 0.6"),
        ({"confidence": 0.59999}, "0.59999, needs 0.6"),
        ({"confidence": 1}, "1, needs 0.6"),
        ({"rubrics": [{"criterion_id": "AC1", "score": 0.84, "passing_threshold": 0.75}]},
         "0.84, needs 0.75"),
        ({"rubrics": [{"criterion_id": "AC1", "score": 0.9999, "passing_threshold": 1}]},
         "0.9999, needs 1"),
        ({"apart": [{"id": "AC1", "grade": "B", "min_grade": "B-"}]}, "grade B, needs B-"),
        ({"apart": [{"id": "AC1", "overall": 4.25}]}, "4.25 of 5"),
        ({"reason": "none given"}, ""),
    ],
)  # fmt: skip
def test_a_figure_never_seems_to_reach_what_it_misses(judgement: dict[str, Any], told: str) -> None:
    assert judged_figures("AC1", judgement) == told
