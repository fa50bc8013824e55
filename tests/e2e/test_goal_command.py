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
from tests.support.scene import PASSES, flow, run_dir, start, status

if TYPE_CHECKING:
    from tests.support.judges.messages_api import Call, Reply

pytestmark = pytest.mark.needs_tool("claude")

EVALUATE = "flow goal evaluate --no-input greet"


def confirm(call: Call) -> Reply:
    """What commands/goal.md tells the agent to do where ``do`` is ``ask_confirm``."""
    assert re.search("^do +ask_confirm$", heard(call), re.MULTILINE)
    line = re.search("^next +(flow goal confirm .*)$", heard(call), re.MULTILINE)
    assert line
    return bash(line.group(1))


def test_evaluate_confirm_and_the_one_question_is_flows(met: GitRepo) -> None:
    agent = Agent(bash(EVALUATE), confirm, says("The goal is achieved."))
    with Session(met, agent, person=allow) as session:
        session.prompt("/flow:goal evaluate greet")
    prompt = agent.heard[0]
    assert "Called as: `/flow:goal evaluate greet`" in prompt
    assert f"`{ROOT}/references/goal/create.md`" in prompt
    assert re.search("^✓ greet  achieved, as proposed", agent.heard[1], re.MULTILINE)
    ((tool, given),) = session.asked
    assert tool == "Bash"
    assert given["command"].startswith("flow goal confirm greet --proposal ")
    assert given["description"].startswith("Close goal greet as achieved?")  # init's rules ask too
    assert "greet is achieved" in agent.heard[2]
    assert status(met) == "achieved"
    assert 'how: "flow goal confirm"' in met.read(".decisions/issue-7.md")
    verdict = json.loads((run_dir(met) / "last-verdict.json").read_text())
    assert (verdict["verdict"], verdict["source"]) == ("achieved", "command")


def test_where_nobody_can_be_asked_nothing_is_confirmed(met: GitRepo) -> None:
    agent = Agent(bash(EVALUATE), confirm, says("It was refused."))
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    words = ("-p", "/flow:goal evaluate greet")
    process = start_cli(*words, repo=met, agent=agent, plugin=ROOT, env={}, **streams)
    with agent:
        process.communicate(timeout=SECONDS)
    assert len(agent.turns) == 3
    assert "greet is achieved" not in agent.heard[2]
    assert status(met) == "active"


def test_a_sentence_creates_a_goal_by_the_text_for_that_word(repo: GitRepo) -> None:
    start(repo)
    words = "--outcome 'The greeting is polite' --allow 'src/**'"
    create = f"flow goal create greet --criterion '{PASSES}' {words}"
    agent = Agent(
        uses("Read", file_path=f"{ROOT}/references/goal/create.md"), bash(create), says("done")
    )
    with Session(repo, agent, person=allow) as session:
        turn = session.prompt("/flow:goal the greeting says please")
    ours = {name for name in turn.init["slash_commands"] if name.startswith("flow:")}
    assert ours & {"flow:goal:create", "flow:create"} == set()
    assert {"flow:goal", "flow:judge-with-debate"} <= ours
    assert "Called as: `/flow:goal the greeting says please`" in agent.heard[0]
    assert "flow goal create dates-need-a-year" in agent.heard[1]
    assert [given.get("command") for _, given in session.asked] == [create]
    assert status(repo) == "active"


def test_an_agent_that_does_not_ask_needs_the_persons_yes_all_the_same(met: GitRepo) -> None:
    agent = Agent(
        bash(EVALUATE),
        confirm,
        bash("flow goal evaluate greet --confirm"),
        bash(f"{EVALUATE} --confirm"),
        says("I could not close it."),
    )
    with Session(met, agent, person=refuse) as session:
        session.prompt("/flow:goal evaluate greet")
    assert [given["command"].split()[2] for _, given in session.asked][:2] == [
        "confirm",
        "evaluate",
    ]
    assert "The person says no." in agent.heard[2]
    assert "The person says no." in agent.heard[3]
    assert status(met) == "active"
    assert flow(met, "goal", "status", "greet", "--json").json["proposal"]["to"] == "achieved"


FORMS = (
    "flow goal confirm greet --proposal 0",
    "cd . && flow goal confirm greet --proposal 0",
    "FLOW=1 command flow  goal  confirm greet --proposal 0 2>&1 | cat",
    f'"{ROOT}/bin/flow" goal confirm greet --proposal 0',
    "flow goal evaluate greet --confirm",
    "flow goal clear greet --yes",
    "flow goal approve greet AC1 --by A --note B --yes",
    "flow trust record greet --yes",
)


def test_where_all_of_bash_is_allowed_a_persons_doors_are_still_asked_about(met: GitRepo) -> None:
    agent = Agent(*map(bash, FORMS), says("None of it worked."))
    with Session(met, agent, "--allowedTools", "Bash", person=refuse) as session:
        session.prompt("try everything")
    assert [given["command"] for _, given in session.asked] == list(FORMS)
    assert status(met) == "active"


def test_a_yes_to_files_that_have_moved_since_closes_nothing(met: GitRepo) -> None:
    def moves(_tool: str, given: dict[str, Any]) -> dict[str, Any]:
        met.write("src/greet.txt", "please, and now\n")
        return given

    agent = Agent(bash(EVALUATE), confirm, says("It was stale."))
    with Session(met, agent, person=moves) as session:
        session.prompt("/flow:goal evaluate greet")
    assert "stale" in agent.heard[2]
    assert status(met) == "active"


def test_an_untrusted_goal_runs_nothing(met: GitRepo) -> None:
    file = met.path / ".flow/goals/greet.goal.yaml"
    file.write_text(file.read_text().replace("grep -q please", "touch ran; grep -q please"))
    agent = Agent(bash(EVALUATE), says("Please read the contract."))
    with Session(met, agent, person=refuse) as session:
        session.prompt("/flow:goal evaluate greet")
    assert re.search("^do +ask_trust$", agent.heard[1], re.MULTILINE)
    assert not (met.path / "ran").exists()
    assert session.asked == []


def test_the_judge_agent_has_no_tools(met: GitRepo) -> None:
    asked = uses(
        "Agent",
        subagent_type="flow:goal-evaluator-judge",
        description="an opinion",
        prompt="contract and evidence",
        run_in_background=False,
    )
    opinion = '{"criterion_results": [], "verdict": "needs_human_review"}'
    agent = Agent(asked, says("done"), others=lambda _call: says(opinion))
    with Session(met, agent, person=refuse) as session:
        session.prompt("ask the judge")
    (judge,) = (call for call in agent.aside if "You judge whether" in call.system)
    assert judge.tools == []
    assert "You judge whether the acceptance criteria of one software goal are met." in judge.system
    assert opinion in agent.heard[1]
