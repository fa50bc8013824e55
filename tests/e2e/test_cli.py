"""The real Claude Code CLI with Flow as its plugin: what it loads, and where commands are found."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.e2e.agent import Agent, bash, says
from tests.e2e.session import SECONDS, Session, start_cli, unshare
from tests.support import ROOT, GitRepo

pytestmark = pytest.mark.needs_tool("claude")


def test_the_plugins_parts_are_there_and_bin_is_on_the_agents_path(repo: GitRepo) -> None:
    agent = Agent(bash("type -p flow flow-active-goal.sh; flow --version"), says("done"))
    with Session(repo, agent, "--allowedTools", "Bash") as session:
        turn = session.prompt("look around")
    named = {name for name in turn.init["slash_commands"] if name.startswith("flow:")}
    assert named - set(turn.init["skills"]) <= {"flow:goal", "flow:judge", "flow:judge-with-debate"}
    assert "flow:goal" in named
    assert "flow:goal-evaluator-judge" in turn.init["agents"]
    assert {"flow:writing-goals", "flow:reading-verdicts"} <= set(turn.init["skills"])
    assert not turn.init.get("plugin_errors")
    assert os.path.join(ROOT, "bin", "flow") in agent.heard[1]
    assert "flow 0." in agent.heard[1]


@pytest.mark.skipif(not unshare(), reason="this system allows no network namespace")
def test_there_is_no_network_but_loopback(repo: GitRepo) -> None:
    # By what can be reached: a kernel may put devices of its own, all down, into each namespace.
    agent = Agent(bash("bash -c 'exec 3<>/dev/tcp/192.0.2.1/9'"), says("done"))
    with Session(repo, agent, "--allowedTools", "Bash") as session:
        session.prompt("look around")
    assert "Network is unreachable" in agent.heard[1]


def test_plain_print_mode_has_no_way_to_ask_a_person(repo: GitRepo) -> None:
    """So what only a person may say is refused there."""
    agent = Agent(says("done"))
    words = ("-p", "hello")
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    process = start_cli(*words, repo=repo, agent=agent, plugin=ROOT, env={}, **streams)
    with agent:
        output, _ = process.communicate(timeout=SECONDS)
    assert output == b"done\n"
    assert "AskUserQuestion" not in agent.turns[0].tools
