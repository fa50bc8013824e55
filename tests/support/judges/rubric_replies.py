"""Judges of rubrics that say what a test tells them to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flow.app.judging.port import JudgeAnswer, NoAnswer, Usage
from flow.core.judging.common.question import Question


def reply(scores: Mapping[str, Any], *quotes: str, **more: Any) -> dict[str, Any]:
    """A reply with these scores, in the shape that Flow asks for."""
    return {
        "criteria": [
            {
                "name": name,
                "evidence": list(quotes),
                "reasoning": f"{name} looks so",
                "score": score,
            }
            for name, score in scores.items()
        ],
        "reasoning": "the overall picture",
        "suggestions": ["do more"],
        **more,
    }


class Scripted:
    """An :class:`~flow.app.judging.port.AskJudge` with its answers, the last one again and again.

    A mapping is a reply, a :class:`NoAnswer` itself, a text the reason of one.
    """

    def __init__(self, *answers: Any, name: str = "scripted", cost: float | None = None) -> None:
        self.name, self.answers, self.cost = name, answers, cost
        self.questions: list[Question] = []
        self.seconds: list[float] = []

    def __call__(self, question: Question, *, seconds: float) -> JudgeAnswer | NoAnswer:
        found = self.answers[min(len(self.questions), len(self.answers) - 1)]
        self.questions.append(question)
        self.seconds.append(seconds)
        usage = Usage(self.name, cost_usd=self.cost)
        if isinstance(found, NoAnswer):
            return found
        if isinstance(found, str):
            return NoAnswer("timeout", found, usage)
        return JudgeAnswer(found, usage)
