"""The real Claude Code CLI with Flow as its plugin: what it loads, and where commands are found."""

from __future__ import annotations

import os

import pytest

from tests.e2e.agent import Agent, bash, says, uses
from tests.e2e.session import Session, unshare
from tests.support import ROOT, GitRepo

pytestmark = pytest.mark.needs_tool("claude")


def test_the_plugins_parts_are_there_and_there_is_no_network_but_loopback(repo: GitRepo) -> None:
    asked = uses(
        "Agent",
        subagent_type="flow:goal-evaluator-judge",
        description="an opinion",
        prompt="contract and evidence",
        run_in_background=False,
    )
    opinion = '{"criterion_results": [], "verdict": "needs_human_review"}'
    agent = Agent(
        bash("type -p flow flow-active-goal.sh; flow --version"),
        # By what can be reached: a kernel may put devices of its own, all down, into a namespace.
        bash("bash -c 'exec 3<>/dev/tcp/192.0.2.1/9'"),
        uses("Skill", skill="flow:judge"),
        asked,
        says("done"),
        others=lambda _call: says(opinion),
    )
    with Session(repo, agent, "--allowedTools", "Bash,Skill,Agent") as session:
        turn = session.prompt("look around")
    commands = turn.init["slash_commands"]
    named = {name for name in commands if name.startswith("flow:")}
    assert named - set(turn.init["skills"]) <= {"flow:goal", "flow:judge", "flow:judge-with-debate"}
    assert "flow:goal" in named
    assert commands.count("flow:judge") == 1  # the agent's skill, and a person's command
    assert "flow:goal-evaluator-judge" in turn.init["agents"]
    assert {"flow:writing-goals", "flow:reading-verdicts"} <= set(turn.init["skills"])
    assert not turn.init.get("plugin_errors")
    assert os.path.join(ROOT, "bin", "flow") in agent.heard[1]
    assert "flow 0." in agent.heard[1]
    if unshare():  # else this system allows no network namespace
        assert "Network is unreachable" in agent.heard[2]
    assert "# Scoring an execution" in agent.heard[3]
    (judge,) = (call for call in agent.aside if "You judge whether" in call.system)
    assert judge.tools == []
    assert "You judge whether the acceptance criteria of one software goal are met." in judge.system
    assert opinion in agent.heard[4]
