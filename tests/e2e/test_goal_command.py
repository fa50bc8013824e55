"""``/flow:goal evaluate`` typed at the prompt: the agent evaluates and asks, a person answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agent import Agent, bash, heard, says, uses
from tests.e2e.session import Session, refuse
from tests.entry.scene import flow, run_dir, status
from tests.support import ROOT, GitRepo

if TYPE_CHECKING:
    from tests.support.messages_api import Call, Reply

pytestmark = pytest.mark.needs_tool("claude")

EVALUATE = "flow goal evaluate --no-input --json greet"


def ask(call: Call) -> Reply:
    """What commands/goal.md tells the agent to ask, with the proposal it was just shown."""
    proposed = json.loads(heard(call))["proposed_transition"]
    question = f"Goal greet: close it as {proposed['to']}? {proposed['reason']}"
    options = [{"label": label, "description": label} for label in ("Confirm", "Cancel")]
    return uses(
        "AskUserQuestion",
        questions=[
            {"question": question, "header": "Goal", "multiSelect": False, "options": options}
        ],
    )


def confirm(repo: GitRepo) -> Any:
    """The step that closes the goal, if the answer before it was Confirm."""

    def step(call: Call) -> Reply:
        if '="Confirm"' not in heard(call):
            return says("Nothing was confirmed.")
        verdict = json.loads((run_dir(repo) / "last-verdict.json").read_text())
        proposal = verdict["proposed_transition"]["proposal_id"]
        return bash(f"flow goal confirm greet --proposal {proposal}")

    return step


def person(answer: str) -> Any:
    """Somebody who answers the question so, and allows what is asked about."""

    def decide(tool: str, given: dict[str, Any]) -> dict[str, Any]:
        if tool == "AskUserQuestion":
            return {**given, "answers": {each["question"]: answer for each in given["questions"]}}
        return given

    return decide


def test_evaluate_ask_confirm(met: GitRepo) -> None:
    agent = Agent(bash(EVALUATE), ask, confirm(met), says("The goal is achieved."))
    with Session(met, agent, person=person("Confirm")) as session:
        session.prompt("/flow:goal evaluate greet")
    prompt = agent.heard[0]
    assert "Called as: `/flow:goal evaluate greet`" in prompt
    assert json.loads(agent.heard[1])["verdict"] == "achieved"
    assert [tool for tool, _ in session.asked] == ["AskUserQuestion", "Bash"]
    assert session.asked[1][1]["command"].startswith("flow goal confirm greet --proposal ")
    assert "goal greet is achieved" in agent.heard[3]
    assert status(met) == "achieved"
    assert 'how: "flow goal confirm"' in met.read(".decisions/issue-7.md")
    verdict = json.loads((run_dir(met) / "last-verdict.json").read_text())
    assert (verdict["verdict"], verdict["source"]) == ("achieved", "command")


def test_cancel_leaves_the_goal_and_the_proposal(met: GitRepo) -> None:
    agent = Agent(bash(EVALUATE), ask, confirm(met))
    with Session(met, agent, person=person("Cancel")) as session:
        turn = session.prompt("/flow:goal evaluate greet")
    assert turn.result["result"] == "Nothing was confirmed."
    assert status(met) == "active"
    assert flow(met, "goal", "status", "greet", "--json").json["proposal"]["to"] == "achieved"


def test_an_agent_that_does_not_ask_needs_the_persons_yes_all_the_same(met: GitRepo) -> None:
    def straight(call: Call) -> Reply:
        proposal = json.loads(heard(call))["proposed_transition"]["proposal_id"]
        return bash(f"flow goal confirm greet --proposal {proposal}")

    agent = Agent(
        bash(EVALUATE),
        straight,
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
    def moves(tool: str, given: dict[str, Any]) -> dict[str, Any]:
        met.write("src/greet.txt", "please, and now\n")
        return dict(person("Confirm")(tool, given))

    agent = Agent(bash(EVALUATE), ask, confirm(met), says("It was stale."))
    with Session(met, agent, person=moves) as session:
        session.prompt("/flow:goal evaluate greet")
    assert "stale" in agent.heard[3]
    assert status(met) == "active"


def test_an_untrusted_goal_runs_nothing(met: GitRepo) -> None:
    file = met.path / ".flow/goals/greet.goal.yaml"
    file.write_text(file.read_text().replace("grep -q please", "touch ran; grep -q please"))
    agent = Agent(bash(EVALUATE), says("Please read the contract."))
    with Session(met, agent, person=refuse) as session:
        session.prompt("/flow:goal evaluate greet")
    assert '"blocker_type": "missing_approval"' in agent.heard[1]
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
    assert "You judge whether criteria of a goal are met." in judge.system
    assert opinion in agent.heard[1]
