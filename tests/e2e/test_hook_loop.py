"""The Stop hook in the real Claude Code: it blocks, the agent works, it lets go."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agent import Agent, bash, says, uses
from tests.e2e.scene import APPROVE, BLOCK, TOOLS, mode, stops, verdict
from tests.e2e.session import Session, allow
from tests.support import GitRepo
from tests.support.scene import flow, start, status

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.judges.messages_api import Reply

pytestmark = pytest.mark.needs_tool("claude")

MARK = "Stop hook feedback:\nFLOW_GOAL_CONTINUATION"


def edit(repo: GitRepo, text: str) -> Reply:
    """A turn that really writes the file."""
    return uses("Write", file_path=os.fspath(repo.path / "src/greet.txt"), content=text)


def look(repo: GitRepo) -> Reply:
    """A turn that reads the file, without which Claude Code lets no agent write it."""
    return uses("Read", file_path=os.fspath(repo.path / "src/greet.txt"))


def test_it_blocks_the_agent_repairs_and_it_lets_go(scene: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    agent = Agent(says("I am done."), look(scene), edit(scene, "please\n"), says("Now I am."))
    with Session(scene, agent, *TOOLS, person=allow) as session:
        turn = session.prompt("make the greeting polite")
    assert turn.decisions == [BLOCK, APPROVE]
    assert f"{MARK} Goal greet is not done: AC1 failed." in agent.heard[1]
    assert "AC1" in agent.heard[1]
    assert "grep -q please src/greet.txt" in agent.heard[1]
    assert turn.result["result"] == "Now I am."
    assert turn.hooks[1]["next_step_hint"] == "/flow:goal evaluate greet"
    assert "Waits for you: flow goal confirm greet" in turn.hooks[1]["systemMessage"]
    assert (verdict(scene)["verdict"], verdict(scene)["source"]) == ("achieved", "evaluator-loop")
    (result,) = verdict(scene)["criterion_results"]
    assert (result["outcome"], result["exit_code"]) == ("passed", 0)
    assert (scene.path / result["evidence_ref"]).is_file()
    assert [(e["row"], e["answer"]) for e in stops(scene)] == [
        ("failed", "continue"),
        ("proved", "let_go"),
    ]
    assert status(scene) == "active"  # a person confirms
    proposal = verdict(scene)["proposed_transition"]["proposal_id"]
    assert flow(scene, "goal", "confirm", "greet", "--proposal", proposal).status == 0
    assert status(scene) == "achieved"


def test_stuck_after_three_equal_turns(scene: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    agent = Agent(*(says(f"done {number}") for number in range(6)))
    with Session(scene, agent, *TOOLS, person=allow) as session:
        turn = session.prompt("make the greeting polite")
    assert turn.decisions == [BLOCK, BLOCK, BLOCK, APPROVE]
    assert len(agent.turns) == 4
    assert status(scene) == "failed"
    assert "It is marked failed: " in turn.hooks[3]["systemMessage"]
    assert stops(scene)[-1]["limit"] == "stuck_no_progress"
    assert "stuck_no_progress" in scene.read(".decisions/issue-7.md")


def test_the_budget(repo: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    start(repo)
    assert flow(repo, "goal", "create", "--file", os.fspath(with_budget(repo, home))).status == 0
    agent = Agent(*(says(f"done {number}") for number in range(6)))
    with Session(repo, agent, *TOOLS, person=allow) as session:
        turn = session.prompt("make the greeting polite")
    assert turn.decisions == [BLOCK, BLOCK, APPROVE]
    assert "The goal's budget ends it after 2 more stops." in agent.heard[1]
    assert "the last time that Flow asks you to go on" in agent.heard[2]
    assert "of max_iterations are used" in turn.hooks[2]["systemMessage"]
    assert status(repo) == "waiting_for_user"
    assert verdict(repo)["proposed_transition"]["to"] == "failed"


def with_budget(repo: GitRepo, home: Path) -> Path:
    """A goal file that allows two continuations."""
    drafted = flow(
        repo, "goal", "create", "greet", "--outcome", "polite", "--draft", "--allow", "src/**",
        "--criterion", "AC1: says please :: grep -q please src/greet.txt",
    )  # fmt: skip
    assert drafted.status == 0, drafted.stderr
    file = repo.path / ".flow/goals/greet.goal.yaml"
    text = file.read_text().replace("status: draft", "status: active")
    other = home / "greet.goal.yaml"
    other.write_text(f"{text.rstrip()}\ncontinuation:\n  max_iterations: 2\n")
    file.unlink()
    return other


def test_no_more_in_a_row_than_the_host_takes(scene: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    agent = Agent(*(says(f"done {number}") for number in range(6)))
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"}
    with Session(scene, agent, *TOOLS, person=allow, env=cap) as session:
        turn = session.prompt("make the greeting polite")
    assert turn.decisions == [BLOCK, BLOCK, APPROVE]
    assert ["last time in a row" in heard for heard in agent.heard[1:]] == [False, True]
    assert stops(scene)[-1]["limit"] is not None
    assert status(scene) == "active"


def test_the_host_takes_more_where_the_agent_works_in_between(scene: GitRepo, home: Path) -> None:
    """A tool call ends the host's row, and so does a change that ends Flow's."""
    mode(home, "evaluator-loop", failAfterStuckTurns=9)
    words = ("one", "two", "three", "please")
    steps = [step for word in words for step in (bash(f"echo {word} > src/greet.txt"), says(word))]
    agent = Agent(*steps)
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
    with Session(scene, agent, *TOOLS, person=allow, env=cap) as session:
        turn = session.prompt("make the greeting polite")
    assert turn.decisions == [BLOCK, BLOCK, BLOCK, APPROVE]
    assert turn.result["result"] == "please"
    assert verdict(scene)["verdict"] == "achieved"


def test_block_mode_does_not_go_round_for_ever(scene: GitRepo, home: Path) -> None:
    mode(home, "block")
    agent = Agent(*(says(f"done {number}") for number in range(6)))
    with Session(scene, agent, *TOOLS, person=allow) as session:
        turn = session.prompt("make the greeting polite")
    assert turn.decisions == [BLOCK, BLOCK, BLOCK, APPROVE]
    assert status(scene) == "active"


def test_what_a_stop_is_let_go_for_and_what_is_said_then(scene: GitRepo, home: Path) -> None:
    """One session; before each prompt something else is so."""
    agent = Agent(*(says(f"done {number}") for number in range(6)))
    goal = scene.path / ".flow/goals/greet.goal.yaml"
    contract = goal.read_text()

    with Session(scene, agent, *TOOLS, person=allow) as session:

        def told(words: str) -> str:
            turn = session.prompt(words)
            assert turn.decisions == [APPROVE], words
            return str(turn.hooks[0].get("systemMessage", ""))

        assert "AC1" in told("without a setting")
        mode(home, "off")
        assert "AC1" not in told("off")
        mode(home, "warn")
        assert "AC1" in told("warn")

        mode(home, "evaluator-loop")
        goal.write_text(contract.replace("grep -q please", "touch ran; grep -q please"))
        assert "flow trust record greet" in told("not trusted")
        assert not (scene.path / "ran").exists()
        goal.write_text("apiVersion: [\n")
        assert "greet.goal.yaml" in told("broken")

        goal.write_text(contract)
        assert flow(scene, "goal", "pause", "greet", "--reason", "lunch").status == 0
        before = stops(scene)
        told("paused")
        assert stops(scene) == before
    assert len(agent.turns) == 6


def test_where_no_goals_are_it_says_nothing(repo: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    agent = Agent(says("done"))
    with Session(start(repo), agent, *TOOLS, person=allow) as session:
        turn = session.prompt("hello")
    assert turn.hooks == [{"decision": APPROVE, "reason": "there are no goals here"}]


def test_a_violation_names_the_files_to_put_back(scene: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    agent = Agent(
        bash("echo please > src/greet.txt; echo notes > notes.txt"),
        says("done"),
        bash("rm notes.txt"),
        says("put back"),
    )
    with Session(scene, agent, *TOOLS, person=allow) as session:
        turn = session.prompt("make the greeting polite")
    assert turn.decisions == [BLOCK, APPROVE]
    assert "notes.txt" in agent.heard[2]
    assert verdict(scene)["verdict"] == "achieved"


def test_a_new_prompt_starts_afresh(scene: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop", failAfterStuckTurns=2)
    agent = Agent(*(says(f"done {number}") for number in range(9)))
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
    with Session(scene, agent, *TOOLS, person=allow, env=cap) as session:
        first = session.prompt("make the greeting polite")
        second = session.prompt("try again")
    assert [first.decisions, second.decisions] == [[BLOCK, APPROVE], [BLOCK, APPROVE]]
    assert [event["stuck_turns"] for event in stops(scene)] == [0, 1, 0, 1]
    assert status(scene) == "active"


def test_a_judges_own_session_is_let_go(scene: GitRepo, home: Path) -> None:
    mode(home, "evaluator-loop")
    agent = Agent(says("done"))
    guard = {"CLAUDE_HOOK_GOAL_JUDGE_MODE": "1"}
    with Session(scene, agent, *TOOLS, person=allow, env=guard) as session:
        turn = session.prompt("judge this")
    assert turn.decisions == [APPROVE]
    assert stops(scene) == []
