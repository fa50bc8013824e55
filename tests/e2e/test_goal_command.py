"""``/flow:goal`` typed at the prompt: the agent creates, evaluates, confirms; a person answers."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agent import Agent, bash, heard, says, uses
from tests.e2e.session import SECONDS, Session, allow, refuse, start_cli
from tests.support import ROOT, GitRepo
from tests.support.scene import PASSES, flow, meet, run_dir, start, status

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.judges.messages_api import Call, Reply

pytestmark = pytest.mark.needs_tool("claude")

EVALUATE = "flow goal evaluate --no-input greet"


def confirm(call: Call) -> Reply:
    """What commands/goal.md tells the agent to do where ``do`` is ``ask_confirm``."""
    assert re.search("^do +ask_confirm$", heard(call), re.MULTILINE)
    line = re.search("^next +(flow goal confirm .*)$", heard(call), re.MULTILINE)
    assert line
    return bash(line.group(1))


def test_a_sentence_creates_a_goal_and_the_one_question_of_its_end_is_flows(repo: GitRepo) -> None:
    """By the text for that word; then it is evaluated and confirmed."""
    start(repo)
    words = "--outcome 'the greeting is polite' --allow 'src/**' --issue 7"
    create = f"flow goal create greet --criterion '{PASSES}' {words}"
    agent = Agent(
        *(uses("Read", file_path=f"{ROOT}/references/goal/create.md"), bash(create), says("done")),
        *(bash(EVALUATE), confirm, says("The goal is achieved.")),
    )
    with Session(repo, agent, person=allow) as session:
        turn = session.prompt("/flow:goal the greeting says please")
        assert status(repo) == "active"
        meet(repo)
        session.prompt("/flow:goal evaluate greet")
    ours = {name for name in turn.init["slash_commands"] if name.startswith("flow:")}
    assert ours & {"flow:goal:create", "flow:create"} == set()
    assert {"flow:goal", "flow:judge-with-debate"} <= ours
    assert "Called as: `/flow:goal the greeting says please`" in agent.heard[0]
    assert "flow goal create dates-need-a-year" in agent.heard[1]
    prompt = agent.heard[3]
    assert "Called as: `/flow:goal evaluate greet`" in prompt
    assert f"`{ROOT}/references/goal/create.md`" in prompt
    assert re.search("^✓ greet  achieved, as proposed", agent.heard[4], re.MULTILINE)
    assert [tool for tool, _ in session.asked] == ["Bash", "Bash"]
    created, confirmed = (given["command"] for _, given in session.asked)
    assert created == create
    assert confirmed.startswith("flow goal confirm greet --proposal ")
    reason = session.reasons[1]
    for part in (
        "Close goal greet as achieved?",
        "the greeting is polite",
        "AC1  says please: grep -q please src/greet.txt",
        "Not proved\n  nothing",
        "1 changed, all inside its paths",
        "This is an agent asking.",
    ):
        assert part in reason
    assert "greet is achieved" in agent.heard[5]
    assert status(repo) == "achieved"
    journal = repo.read(".decisions/issue-7.md")
    assert 'how: "flow goal confirm"' in journal
    assert "said_from: agent" in journal
    verdict = json.loads((run_dir(repo) / "last-verdict.json").read_text())
    assert (verdict["verdict"], verdict["source"]) == ("achieved", "command")


def test_where_nobody_can_be_asked_nothing_is_confirmed(met: GitRepo) -> None:
    """Plain print mode has no way to ask a person."""
    agent = Agent(bash(EVALUATE), confirm, says("It was refused."))
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    words = ("-p", "/flow:goal evaluate greet")
    process = start_cli(*words, repo=met, agent=agent, plugin=ROOT, env={}, **streams)
    with agent:
        output, _ = process.communicate(timeout=SECONDS)
    assert output == b"It was refused.\n"
    assert len(agent.turns) == 3
    assert "AskUserQuestion" not in agent.turns[0].tools
    assert "greet is achieved" not in agent.heard[2]
    assert status(met) == "active"


FORMS = (
    "cd . && flow goal confirm greet --proposal 0",
    f'"{ROOT}/bin/flow" goal confirm greet --proposal 0',
    "flow goal approve greet AC1 --by A --note B --yes",
    "flow trust record greet --yes",
)
"""Some that take different ways; ``tests/core/tool_calls/test_rules.py`` has them all."""


def test_an_agent_that_does_not_ask_needs_the_persons_yes_which_is_none_to_all(
    met: GitRepo,
) -> None:
    """Also where all of Bash is allowed: the person says no to every form.

    A yes is none to a contract nobody trusts, to files that have moved since, or to --confirm.
    """

    def moves(tool: str, given: dict[str, Any]) -> dict[str, Any] | None:
        if not yes:
            return refuse(tool, given)
        if "--proposal" in given["command"]:
            met.write("src/greet.txt", "please, and now\n")
        return given

    def nothing_ran(_call: Call) -> Reply:
        runs.extend(evidence() - before)
        return bash(EVALUATE)

    def evidence() -> set[Path]:
        return set((met.path / ".flow/runs").glob("*/evidence/*eval*"))

    yes: list[bool] = []
    runs: list[Path] = []
    last = "flow goal evaluate greet --confirm"
    more = [*map(bash, FORMS), bash(last), says("I could not close it.")]
    agent = Agent(bash(EVALUATE), confirm, *more)
    with Session(met, agent, "--allowedTools", "Bash", person=moves) as session:
        session.prompt("/flow:goal evaluate greet")
        first, *others = (given["command"] for _, given in session.asked)
        assert first.startswith("flow goal confirm greet --proposal ")
        assert others == [*FORMS, last]
        assert all("The person says no." in text for text in agent.heard[2:])
        assert status(met) == "active"
        proposal = flow(met, "goal", "status", "greet", "--json").json["proposal"]
        assert proposal["to"] == "achieved"

        yes.append(True)
        session.asked.clear()
        agent.turns.clear()
        before = evidence()
        file = met.path / ".flow/goals/greet.goal.yaml"
        contract = file.read_text()
        file.write_text(contract.replace("grep -q please", "touch ran; grep -q please"))
        agent.steps.extend((bash(EVALUATE), says("Please read the contract.")))
        session.prompt("/flow:goal evaluate greet")
        assert re.search("^do +ask_trust$", agent.heard[1], re.MULTILINE)
        assert not (met.path / "ran").exists()
        assert session.asked == []
        file.write_text(contract)
        agent.steps.extend((bash(last), nothing_ran, confirm, says("Stale.")))
        session.prompt("/flow:goal evaluate greet")
    assert [given["command"].split()[2] for _, given in session.asked] == ["evaluate", "confirm"]
    assert "terminal" in agent.heard[3]
    assert runs == []
    assert "stale" in agent.heard[5]
    assert status(met) == "active"
