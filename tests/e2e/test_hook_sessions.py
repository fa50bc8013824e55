"""The Stop hook among several sessions, and while something is still under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.agent import Agent, bash, heard, says
from tests.e2e.scene import APPROVE, BLOCK, TOOLS, mode, stops, verdict
from tests.e2e.session import Session, allow
from tests.support import GitRepo
from tests.support.scene import create, flow, status

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


def test_two_goals_on_a_branch_are_named_until_one_is_claimed(scene: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    create(scene, "other", criterion="AC1: says thanks :: grep -q thanks src/greet.txt")
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
    agent = Agent(says("done"), bash("flow goal claim other"), says("claimed"))
    with Session(scene, agent, *TOOLS, person=allow, env=cap) as session:
        named = session.prompt("work")
        claimed = session.prompt("the other one")
    assert named.decisions == [APPROVE]
    assert "greet" in named.hooks[0]["systemMessage"]
    assert "other" in named.hooks[0]["systemMessage"]
    assert claimed.decisions == [BLOCK, APPROVE]
    assert "Goal other is not done: " in claimed.hooks[0]["reason"]


def test_background_work_is_waited_for(scene: GitRepo, home: Path) -> None:
    """No verdict while a task of the session runs; its end wakes the agent, and then it counts."""
    mode(home, "evaluator-loop")
    agent = Agent(
        bash(
            "until [ -e go ]; do sleep 0.1; done; rm go; echo please > src/greet.txt",
            run_in_background=True,
        ),
        says("It runs."),
        says("It has ended."),
    )
    with Session(scene, agent, *TOOLS, person=allow) as session:
        waiting = session.prompt("make the greeting polite")
        assert waiting.decisions == [APPROVE]
        assert "background work is still running" in waiting.hooks[0]["reason"]
        assert stops(scene) == []
        scene.write("go")
        woken = session.turn()
    assert "<task-notification>" in heard(agent.turns[2])
    assert woken.decisions == [APPROVE]
    assert verdict(scene)["verdict"] == "achieved"


def test_waiting_for_ci_goes_on_by_itself(scene: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
    assert flow(scene, "goal", "wait", "greet", "--until", "test -e ../ci-is-green").status == 0
    assert status(scene) == "waiting_for_ci"
    agent = Agent(says("pushed"), says("still there"))
    with Session(scene, agent, *TOOLS, person=allow, env=cap) as session:
        waiting = session.prompt("wait for it")
        (scene.path.parent / "ci-is-green").touch()
        going_on = session.prompt("and now?")
    assert waiting.decisions == [APPROVE]
    assert going_on.decisions == [BLOCK, APPROVE]
    assert status(scene) == "active"
