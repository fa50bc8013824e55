"""An agent that tries to close, hide or replace a goal in the real client; what the person sees."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agent import Agent, bash, says, uses
from tests.e2e.scene import APPROVE, BLOCK, TOOLS, mode, verdict
from tests.e2e.session import Session, Turn, allow, refuse
from tests.support.scene import status

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo
    from tests.support.judges.messages_api import Reply

pytestmark = [pytest.mark.needs_tool("claude"), pytest.mark.slow]

HIDDEN = "python3 -c \"import os; f = '.f' + 'low/goals/greet.goal.yaml'; {}\""
"""What no question is asked about: its text does not have the word."""


def test_without_init_every_way_to_a_persons_word_is_asked_about(scene: GitRepo) -> None:
    ways = (
        "flow goal confirm greet --proposal 0",
        "cd . && flow goal approve greet AC1 --by A --note B --yes",
        "flow goal claim greet",
        "bash -c 'flow goal clear greet --yes'",
        "echo '{}' > .claude/settings.json",
        "rm .flow/goals/greet.goal.yaml",
    )
    agent = Agent(
        *map(bash, ways),
        uses("Write", file_path=os.fspath(scene.path / ".flow/goals/new.goal.yaml"), content="x"),
        bash("git status --short && cat src/greet.txt"),
        bash("flow goal status greet"),
        says("None of it worked."),
    )
    with Session(scene, agent, *TOOLS, person=refuse) as session:
        session.prompt("try everything")
    assert [given.get("command") for _, given in session.asked] == [*ways, None]
    assert all("The person says no." in text for text in agent.heard[1 : len(ways) + 2])
    assert "give me that" in agent.heard[-2]
    assert "greet" in agent.heard[-1]
    assert status(scene) == "active"
    assert not (scene.path / ".flow/goals/new.goal.yaml").exists()


def test_a_goal_that_is_hidden_replaced_or_closed_by_hand_is_not_done(
    scene: GitRepo, home: Path
) -> None:
    """One session; at each prompt the agent tries another way around the work."""
    mode(home, "block")
    goal = scene.path / ".flow/goals/greet.goal.yaml"
    active = goal.read_text()
    agent = Agent()
    with Session(scene, agent, *TOOLS, person=allow) as session:

        def tries(prompt: str, *steps: Reply) -> Turn:
            goal.write_text(active)
            scene.write("src/greet.txt", f"not yet: {prompt}\n")
            agent.steps.extend(steps)
            session.asked.clear()
            session.reasons.clear()
            return session.prompt(prompt)

        off = json.dumps({"flow": {"goals": {"stopHookEnforcement": "off", "enabled": False}}})
        write = f"open('.cl' + 'aude/settings.fl' + 'ow.json', 'w').write('''{off}''')"
        scene.path.joinpath("w.py").write_text(write)
        turn = tries(
            "a setting in the checkout",
            bash("mkdir -p .cl''aude && python3 w.py; rm w.py"),
            says("done"),
            bash("rm -r .cl''aude; echo please > src/greet.txt"),
        )
        assert turn.decisions == [BLOCK, APPROVE]
        told = turn.hooks[0].get("systemMessage", "") + turn.hooks[0]["reason"]
        assert "settings.flow.json" in told
        assert verdict(scene)["verdict"] == "achieved"

        turn = tries(
            "moved away",
            says("done"),
            bash(HIDDEN.format("os.rename(f, 'elsewhere')")),
            says("There is no goal."),
            bash(HIDDEN.format("os.rename('elsewhere', f)") + "; echo please > src/greet.txt"),
        )
        assert turn.decisions == [BLOCK, BLOCK, APPROVE]
        assert "greet" in turn.hooks[1]["reason"]
        assert "put the file back" in turn.hooks[1]["reason"]
        assert "greet" in turn.hooks[1]["systemMessage"]
        assert verdict(scene)["verdict"] == "achieved"
        assert status(scene) == "active"

        assert session.asked == []

        before = len(agent.turns)
        closing = "t = open(f).read(); open(f, 'w').write(t.replace('{}', '{}'))"
        lifecycle = ("status: active", "status: achieved")
        turn = tries(
            "closed by hand",
            says("done"),
            bash(HIDDEN.format(closing.format(*lifecycle))),
            says("It is closed."),
            bash("flow goal list"),
            bash(HIDDEN.format(closing.format(*reversed(lifecycle)))),
            bash("echo please > src/greet.txt"),
        )
        assert turn.decisions == [BLOCK, BLOCK, APPROVE]
        assert "by hand" in turn.hooks[1]["systemMessage"]
        assert "by hand" in agent.heard[before + 4]
        assert session.asked == []

        # It is asked for three times at most, the two before included.
        turn = tries("removed", says("done"), bash(HIDDEN.format("os.remove(f)")))
        assert turn.decisions == [BLOCK, BLOCK, APPROVE]
        assert "greet" in turn.hooks[1]["systemMessage"]
        assert "flow goal forget greet" in turn.hooks[1]["systemMessage"]
        assert "flow goal forget greet" in turn.hooks[2]["reason"]

        # In the agent's shell a second goal is refused; without its marks, both are judged.
        words = "goal create easy --outcome x --criterion 'AC1: y :: true' --allow 'src/**'"
        unmarked = "env -u CLAUDECODE -u AI_AGENT -u CLAUDE_CODE_SESSION_ID $(printf %s%s fl ow)"
        before = len(agent.turns)
        turn = tries("another", says("done"), bash(f"flow {words}"), bash(f"{unmarked} {words}"))
        assert [given["command"] for _, given in session.asked] == [f"flow {words}"]
        assert "beside" in session.reasons[0]
        assert "a person, at a terminal" in agent.heard[before + 2]
        assert turn.decisions[:2] == [BLOCK, BLOCK]
        assert "Goal greet is not done: " in turn.hooks[1]["reason"]
        assert status(scene) == "active"
