"""Whom an evaluation asks about a goal, how often, and by which rubrics (SPEC 9.1, 9.2)."""

from __future__ import annotations

from flow.errors import FlowError
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flow.app.judging.rubric_calls import RubricFiles
    from flow.core.goal.model import Goal
    from flow.core.judging.rubric.model import Rubric


def backends(goal: Goal, backend: str | None) -> list[str | None]:
    """The backends of the panel, as words like ``openai:llama3``; None is the configured one.

    A caller's ``backend`` goes before ``evaluator.judges``; ``evaluator.judge_model`` is the model
    of each judge that names none of its own.
    """
    evaluator = goal.document["evaluator"]
    model, judges = evaluator.get("judge_model"), evaluator.get("judges")
    if backend is not None:
        return [backend if model is None or ":" in backend else f"{backend}:{model}"]
    if isinstance(judges, list) and judges:
        return list(judges)
    return [model]


def ballots_each(goal: Goal, backend: str | None, setting: int) -> int:
    """Ballots of each judge: ``evaluator.judges`` as a number, else the setting.

    A caller's ``backend`` replaces ``evaluator.judges``.
    """
    judges = goal.document["evaluator"].get("judges")
    return judges if isinstance(judges, int) and backend is None else setting


def criterion_rubrics(goal: Goal, files: RubricFiles) -> dict[str, Rubric | str]:
    """The rubrics that the goal's criteria name; one that cannot be read is the reason."""
    rubrics: dict[str, Rubric | str] = {}
    for name in goal.rubrics:
        try:
            rubrics[name] = files.find(name).rubric
        except FlowError as error:
            rubrics[name] = str(error).replace("\n", "; ")
    return rubrics
