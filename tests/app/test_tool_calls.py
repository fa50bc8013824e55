"""Which tool calls a person is asked about, and what the question says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flow.app.tool_calls import ToolCall, question_before
from flow.errors import StateError

LINES = ["Goal greet would be closed."]


class Port:
    """A folder; ``active`` is whether a goal is active there."""

    def __init__(self, *, active: bool = True, fails: bool = False) -> None:
        self.active, self.fails = active, fails
        self.asked: list[tuple[tuple[str, ...], bool]] = []

    def is_own(self, program: str) -> bool:
        return program == "./flow"

    def has_active_goal(self) -> bool:
        return self.active

    def confirm_lines(self, words: Sequence[str], *, surely: bool) -> list[str]:
        self.asked.append((tuple(words), surely))
        if self.fails:
            raise StateError("2 goals are open on this branch")
        return LINES


def asked(port: Port, command: str | None = None, *paths: str) -> str | None:
    return question_before(port, ToolCall("/repo", command, paths))


@pytest.mark.parametrize("command", ["ls", "flow goal status greet", "git commit -m x", None])
def test_most_calls_are_asked_about_by_nobody(command: str | None) -> None:
    assert asked(Port(), command, "/repo/src/a.py") is None


def test_one_plain_confirm_is_asked_about_in_the_goals_own_words() -> None:
    port = Port()
    assert asked(port, "flow goal confirm greet") == LINES[0]
    assert port.asked == [(("goal", "confirm", "greet"), True)]


def test_a_confirm_in_a_longer_text_says_so_first() -> None:
    port = Port()
    question = asked(port, "cd /other && flow goal confirm greet")
    assert question is not None
    assert question.split("\n")[-1] == LINES[0]
    assert len(question.split("\n")) == 3  # more than confirm, and perhaps another goal
    assert port.asked == [(("goal", "confirm", "greet"), False)]


def test_a_question_that_cannot_be_gathered_is_asked_all_the_same() -> None:
    question = asked(Port(fails=True), "flow goal confirm")
    assert question is not None
    assert "What it rests on could not be looked at: 2 goals are open" in question


def test_writing_a_goal_file_is_asked_about() -> None:
    question = asked(Port(), None, "/repo/.flow/goals/greet.goal.yaml")
    assert question is not None
