"""The Stop hook among several sessions, and while something is still under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.agent import Agent, bash, heard, says
from tests.e2e.scene import APPROVE, BLOCK, TOOLS, mode, stops, verdict
from tests.e2e.session import Session, allow
from tests.support import GitRepo
from tests.support.scene import create

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.needs_tool("claude"), pytest.mark.slow]


def test_a_goal_belongs_to_the_session_that_works_on_it(scene: GitRepo, home: Path) -> None:
    """The second session is let go, claims the goal, and from then on is the one kept at work."""
    mode(home, "evaluator-loop")
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
    first, second = Agent(says("one")), Agent(says("hello"), bash("flow goal claim greet"))
    with Session(scene, first, *TOOLS, person=allow, env=cap) as session:
        begun = session.prompt("make the greeting polite")
        with Session(scene, second, *TOOLS, person=allow, env=cap) as other:
            hello = other.prompt("something else")
            claimed = other.prompt("take the goal over")
        after = session.prompt("go on")
    assert begun.decisions == [BLOCK, APPROVE]
    assert hello.decisions == [APPROVE]
    assert "flow goal claim greet" in hello.hooks[0]["reason"]
    assert claimed.decisions == [BLOCK, APPROVE]
    assert after.decisions == [APPROVE]
    ours, theirs = begun.init["session_id"], claimed.init["session_id"]
    assert [event["session"] for event in stops(scene)] == [ours, ours, theirs, theirs]


def test_two_goals_on_a_branch_are_named_until_claimed(scene: GitRepo, home: Path) -> None:
    """And both are judged where the session claims both."""
    mode(home, "evaluator-loop")
    create(scene, "other", criterion="AC1: says thanks :: grep -q thanks src/greet.txt")
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
    agent = Agent(
        says("done"),
        *(bash("flow goal claim other"), says("claimed"), says("not yet")),
        *(bash("flow goal claim greet"), bash("echo please > src/greet.txt")),
        says("one is done"),
    )
    with Session(scene, agent, *TOOLS, person=allow, env=cap) as session:
        named = session.prompt("work")
        claimed = session.prompt("the other one")
        both = session.prompt("work on both")
    assert named.decisions == [APPROVE]
    assert "greet" in named.hooks[0]["systemMessage"]
    assert "other" in named.hooks[0]["systemMessage"]
    assert claimed.decisions == [BLOCK, APPROVE]
    assert "Goal other is not done: " in claimed.hooks[0]["reason"]
    assert both.decisions[0] == BLOCK
    assert "Goal other is not done: " in both.hooks[0]["reason"]
    assert verdict(scene)["verdict"] == "achieved"


def test_background_work_is_waited_for_twice_at_most(scene: GitRepo, home: Path) -> None:
    """No verdict while a task of the session runs; its end wakes the agent, and then it counts."""
    mode(home, "evaluator-loop")
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
    task = "until [ -e go ]; do sleep 0.1; done; rm go; echo please > src/greet.txt"
    agent = Agent(
        bash(task, run_in_background=True),
        says("It runs."),
        says("It still runs."),
        *(says("And still."), says("And on.")),
        says("It has ended."),
    )
    with Session(scene, agent, *TOOLS, person=allow, env=cap) as session:
        for prompt in ("make the greeting polite", "and?"):
            waiting = session.prompt(prompt)
            assert waiting.decisions == [APPROVE]
            assert "background work is still running" in waiting.hooks[0]["reason"]
            assert stops(scene) == []
        judged = session.prompt("and now?")
        scene.write("go")
        woken = session.turn()
    assert judged.decisions == [BLOCK, APPROVE]
    assert "AC1" in judged.hooks[0]["reason"]
    assert stops(scene)[0]["row"] == "failed"
    assert "<task-notification>" in heard(agent.turns[5])
    assert woken.decisions == [APPROVE]
    assert verdict(scene)["verdict"] == "achieved"
