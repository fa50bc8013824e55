"""What a person sees and does at Claude Code's own prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.agent import Agent, bash, says
from tests.e2e.scene import mode, stops
from tests.e2e.terminal import ENTER, Terminal
from tests.e2e.test_goal_command import EVALUATE, confirm
from tests.support.scene import meet, status

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

pytestmark = [pytest.mark.needs_tool("claude"), pytest.mark.slow]


def test_the_hook_says_where_the_goal_stands_and_the_persons_own_keys_confirm(
    met: GitRepo, home: Path
) -> None:
    mode(home, "warn")
    met.write("src/greet.txt", "give me that\n")
    agent = Agent(says("I am done."), bash(EVALUATE), confirm, says("The goal is achieved."))
    with Terminal(met, agent) as terminal:
        terminal.shows("shortcuts")
        terminal.type("make the greeting polite")
        terminal.until(lambda: bool(agent.turns), pressing=ENTER)
        terminal.shows("Stop says: ◎ greet turn 1: AC1 failed. The agent may stop")
        assert [event["answer"] for event in stops(met)] == ["let_go"]

        meet(met)
        terminal.type("/flow:goal evaluate greet")
        terminal.until(lambda: len(agent.turns) > 1, pressing=ENTER)
        terminal.shows("Do you want to proceed?")
        for words in ("Close goal greet as achieved?", "Proved by", "This is an agent asking."):
            assert words.replace(" ", "") in terminal.shown, terminal.shown[-3000:]
        assert status(met) == "active"
        terminal.until(lambda: len(agent.turns) > 3, pressing=ENTER)
    assert status(met) == "achieved"
