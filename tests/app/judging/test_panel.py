"""Whom an evaluation asks, how often, and by which rubrics."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from flow.app.judging import panel
from flow.errors import InputError


def goal(*rubrics: str, **evaluator: Any) -> Any:
    return SimpleNamespace(document={"evaluator": evaluator}, rubrics=rubrics)


@pytest.mark.parametrize(
    ("evaluator", "backend", "expected"),
    [
        ({}, None, [None]),
        ({"judge_model": "m"}, None, ["m"]),
        ({"judges": 3, "judge_model": "m"}, None, ["m"]),
        ({"judges": ["claude", "openai:x"]}, None, ["claude", "openai:x"]),
        ({"judges": ["claude"]}, "command", ["command"]),
        ({"judge_model": "m"}, "openai", ["openai:m"]),
        ({"judge_model": "m"}, "openai:own", ["openai:own"]),
    ],
)
def test_who_is_asked(evaluator: dict[str, Any], backend: str | None, expected: Any) -> None:
    assert panel.backends(goal(**evaluator), backend) == expected


@pytest.mark.parametrize(
    ("judges", "backend", "expected"),
    [(None, None, 2), (5, None, 5), (["claude"], None, 2), (5, "command", 2)],
)
def test_how_often(judges: Any, backend: str | None, expected: int) -> None:
    assert panel.ballots_each(goal(judges=judges), backend, 2) == expected


def test_a_rubric_that_cannot_be_read_is_its_reason() -> None:
    def find(name: str) -> Any:
        if name == "odd":
            raise InputError("broken", file="odd.yaml", key="name", remedy="write it")
        return SimpleNamespace(rubric=f"rubric {name}")

    rubrics = panel.criterion_rubrics(goal("good", "odd"), SimpleNamespace(find=find))  # type: ignore[arg-type]
    assert rubrics["good"] == "rubric good"
    assert "broken" in str(rubrics["odd"])
    assert "\n" not in str(rubrics["odd"])
