"""Replies about executions, in the shape that Flow asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flow.core.judging.scorecard.model import NAMES


def reply(
    scores: float | Mapping[str, Any] = 8.0,
    *quotes: str,
    rows: Mapping[str, Mapping[str, Any]] | None = None,
    recommendations: Any = ("Completeness: name what is missing.",),
    **more: Any,
) -> dict[str, Any]:
    """A reply with these scores (one for all, or by name; 8.0 where none is named).

    Every dimension has ``quotes``; ``rows`` puts other fields into some of them.
    """
    dimensions = {}
    for name in NAMES:
        score = scores.get(name, 8.0) if isinstance(scores, Mapping) else scores
        row = {
            "evidence": list(quotes),
            "justification": f"The {name} of it shows in the output.",
            "score": score,
        }
        dimensions[name] = {**row, **(rows or {}).get(name, {})}
    wishes = list(recommendations) if isinstance(recommendations, tuple) else recommendations
    return {"dimensions": dimensions, "recommendations": wishes, **more}
