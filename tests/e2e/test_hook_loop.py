"""The Stop hook in the real Claude Code: it blocks, the agent works, it lets go."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agent import Agent, bash, says, uses
from tests.e2e.scene import APPROVE, BLOCK, TOOLS, mode, stops, verdict
from tests.e2e.session import Session, allow
from tests.support import GitRepo
from tests.support.scene import create, flow, start, status

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


def test_it_does_not_go_round_for_ever(scene: GitRepo, home: Path) -> None:
    """Neither in block mode, nor in the loop: three equal turns, and the goal's own budget."""
    mode(home, "block")
    agent = Agent(*(says(f"done {number}") for number in range(20)))
    with Session(scene, agent, *TOOLS, person=allow) as session:
        turn = session.prompt("make the greeting polite")
        assert turn.decisions == [BLOCK, BLOCK, BLOCK, APPROVE]
        assert status(scene) == "active"

        mode(home, "evaluator-loop")
        scene.write("src/greet.txt", "hey\n")
        turn = session.prompt("make the greeting polite")
        assert turn.decisions == [BLOCK, BLOCK, BLOCK, APPROVE]
        assert len(agent.turns) == 8
        assert status(scene) == "failed"
        assert "It is marked failed: " in turn.hooks[3]["systemMessage"]
        assert stops(scene)[-1]["limit"] == "stuck_no_progress"
        assert "stuck_no_progress" in scene.read(".decisions/issue-7.md")

        done = flow(scene, "goal", "create", "--file", os.fspath(with_budget(scene, home)))
        assert done.status == 0, done
        turn = session.prompt("make the greeting short")
    assert turn.decisions == [BLOCK, BLOCK, APPROVE]
    assert "The goal's budget ends it after 2 more stops." in agent.heard[9]
    assert "the last time that Flow asks you to go on" in agent.heard[10]
    assert "of max_iterations are used" in turn.hooks[2]["systemMessage"]
    assert status(scene, "short") == "waiting_for_user"
    assert verdict(scene, "short")["proposed_transition"]["to"] == "failed"


def with_budget(repo: GitRepo, home: Path) -> Path:
    """A goal file that allows two continuations."""
    drafted = flow(
        repo, "goal", "create", "short", "--outcome", "short", "--draft", "--allow", "src/**",
        "--criterion", "AC1: says hi :: grep -q hi src/greet.txt",
    )  # fmt: skip
    assert drafted.status == 0, drafted.stderr
    file = repo.path / ".flow/goals/short.goal.yaml"
    text = file.read_text().replace("status: draft", "status: active")
    other = home / "short.goal.yaml"
    other.write_text(f"{text.rstrip()}\ncontinuation:\n  max_iterations: 2\n")
    file.unlink()
    return other


def test_no_more_in_a_row_than_the_host_takes(scene: GitRepo, home: Path) -> None:
    """A new prompt begins the row afresh.

    A tool call ends the host's row, and so does a change that ends Flow's.
    """
    mode(home, "evaluator-loop", failAfterStuckTurns=2)
    words = ("one", "two", "three", "please")
    steps = [step for word in words for step in (bash(f"echo {word} > src/greet.txt"), says(word))]
    agent = Agent(*(says(f"done {number}") for number in range(4)), *steps)
    cap = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"}
    with Session(scene, agent, *TOOLS, person=allow, env=cap) as session:
        for prompt in ("make the greeting polite", "try again"):
            turn = session.prompt(prompt)
            assert turn.decisions == [BLOCK, APPROVE]
            assert "last time in a row" in agent.heard[-1]
            assert stops(scene)[-1]["limit"] == "host_cap"
        assert [event["stuck_turns"] for event in stops(scene)] == [0, 1, 0, 1]
        assert status(scene) == "active"

        mode(home, "evaluator-loop", failAfterStuckTurns=9)
        turn = session.prompt("and work")
    assert turn.decisions == [BLOCK, BLOCK, BLOCK, APPROVE]
    assert turn.result["result"] == "please"
    assert verdict(scene)["verdict"] == "achieved"


def test_what_a_stop_is_let_go_for_and_what_is_said_then(repo: GitRepo, home: Path) -> None:
    """One session; before each prompt something else is so. In the end it blocks and lets go."""
    done = (says(f"done {number}") for number in range(9))
    agent = Agent(*done, bash("echo please > src/greet.txt"), says("polite"))
    with Session(start(repo), agent, *TOOLS, person=allow) as session:
        mode(home, "evaluator-loop")
        turn = session.prompt("hello")
        assert turn.hooks == [{"decision": APPROVE, "reason": "there are no goals here"}]

        create(repo)
        (home / ".claude/settings.flow.json").unlink()
        goal = repo.path / ".flow/goals/greet.goal.yaml"
        contract = goal.read_text()

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
        assert not (repo.path / "ran").exists()
        goal.write_text("apiVersion: [\n")
        assert "greet.goal.yaml" in told("broken")

        goal.write_text(contract)
        assert flow(repo, "goal", "pause", "greet", "--reason", "lunch").status == 0
        before = stops(repo)
        told("paused")
        assert stops(repo) == before

        assert flow(repo, "goal", "resume", "greet").status == 0
        assert flow(repo, "goal", "wait", "greet", "--until", "test -e ../green").status == 0
        assert status(repo) == "waiting_for_ci"
        told("waiting for CI")
        (repo.path.parent / "green").touch()
        turn = session.prompt("and now?")  # it goes on by itself
        assert turn.decisions == [BLOCK, APPROVE]
        assert status(repo) == "active"
        assert len(agent.turns) == 11
        repairs(repo, session)
    assert status(repo) == "active"  # a person confirms
    proposal = verdict(repo)["proposed_transition"]["proposal_id"]
    assert flow(repo, "goal", "confirm", "greet", "--proposal", proposal).status == 0
    assert status(repo) == "achieved"


def repairs(repo: GitRepo, session: Session) -> None:
    """The agent is not done, repairs it, and is let go; it leaves a file, and puts that back."""
    agent, before = session.agent, len(stops(repo))
    repo.write("src/greet.txt", "give me that\n")
    agent.turns.clear()
    agent.steps.extend((says("I am done."), look(repo), edit(repo, "please\n"), says("Now I am.")))
    turn = session.prompt("make the greeting polite")
    assert turn.decisions == [BLOCK, APPROVE]
    assert f"{MARK} Goal greet is not done: AC1 failed." in agent.heard[1]
    assert "grep -q please src/greet.txt" in agent.heard[1]
    assert turn.result["result"] == "Now I am."
    assert turn.hooks[1]["next_step_hint"] == "/flow:goal evaluate greet"
    assert "Waits for you: flow goal confirm greet" in turn.hooks[1]["systemMessage"]
    found = verdict(repo)
    assert (found["verdict"], found["source"]) == ("achieved", "evaluator-loop")
    (result,) = found["criterion_results"]
    assert (result["outcome"], result["exit_code"]) == ("passed", 0)
    assert (repo.path / result["evidence_ref"]).is_file()
    assert [(e["row"], e["answer"]) for e in stops(repo)[before:]] == [
        ("failed", "continue"),
        ("proved", "let_go"),
    ]
    leaves = bash("echo please, too > src/greet.txt; echo notes > notes.txt")
    agent.steps.extend((leaves, says("done"), bash("rm notes.txt"), says("put back")))
    turn = session.prompt("and once more")
    assert turn.decisions == [BLOCK, APPROVE]
    assert "notes.txt" in agent.heard[6], "the file to put back"
    assert verdict(repo)["verdict"] == "achieved"
