"""What an agent's shell may not say, and what a terminal and a pipe may."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from flow.api import evaluate
from tests.support import run_helper, scene
from tests.support.goal_judge import GoalJudge, reply
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

AGENTS = ("CLAUDECODE", "CODEX_SANDBOX")
AGENT = {"CLAUDECODE": "1"}
SECOND = ("goal", "create", "second", "--outcome", "o", "--criterion", scene.PASSES)


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


def allow(folder: Path, value: bool = True) -> None:
    (folder / ".claude").mkdir(exist_ok=True)
    document = {"flow": {"goals": {"agentMayNameTrust": value}}}
    (folder / ".claude/settings.flow.json").write_text(json.dumps(document))


def contract(repo: GitRepo) -> str:
    return str(flow(repo, "goal", "status", "greet", "--json").json["contract"])


@pytest.mark.parametrize("agent", AGENTS)
def test_no_agents_shell_names_the_contract(work: GitRepo, agent: str) -> None:
    scene.meet(work)
    words = ("goal", "evaluate", "greet", "--json", "--trust-digest", contract(work))
    done = flow(work, *words, env={agent: "1"})
    assert (done.status, done.json["error"]["code"]) == (4, "agent_names_trust")
    assert "flow trust record greet" in done.json["error"]["remedy"]
    assert not list(scene.run_dir(work).glob("evidence/*"))
    assert flow(work, *words).status == 0, "a pipeline may"


def test_the_users_own_settings_allow_it_and_no_checkouts_do(work: GitRepo, home: Path) -> None:
    scene.meet(work)
    words = ("goal", "evaluate", "greet", "--json", "--trust-digest", contract(work))
    allow(work.path)
    assert flow(work, *words, env=AGENT).status == 4
    (work.path / ".claude/settings.flow.json").unlink()
    allow(home)
    assert flow(work, *words, env=AGENT).status == 0


@pytest.mark.parametrize(
    ("named", "env", "expected"), [(True, AGENT, True), (True, {}, False), (False, AGENT, False)]
)
def test_the_question_says_that_an_agents_shell_named_the_judge(
    named: bool, env: dict[str, str], expected: bool, repo: GitRepo, home: Path, tmp_path: Path
) -> None:
    """Which program answers by that name is the shell's word: a person has to know."""
    judge = GoalJudge(tmp_path / "judge", home)
    judge.answers(reply("achieved", ("AC2", "pass", ["please, dear reader"])))
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    repo.write("src/greet.txt", "please, dear reader\n")
    told = "the judge was named in Claude Code's shell: command"
    words = ("goal", "evaluate", "greet", *(("--judge-backend", "command") if named else ()))
    proposed = flow(repo, *words, "--json", env=env).json["proposed_transition"]
    assert (told in proposed["reason"]) is expected
    assert (told in proposed["confirm"]["reason"]) is expected
    assert (told in flow(repo, *words, env=env).stdout) is expected


def test_a_judge_that_is_named_through_the_api_is_told_too(
    repo: GitRepo, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = GoalJudge(tmp_path / "judge", home)
    judge.answers(reply("achieved", ("AC2", "pass", ["please, dear reader"])))
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    repo.write("src/greet.txt", "please, dear reader\n")
    monkeypatch.setenv("CLAUDECODE", "1")
    verdict = evaluate("greet", cwd=str(repo.path), judge_backend="command")
    assert verdict.proposed_transition is not None
    assert "the judge was named in Claude Code's shell: command" in verdict.reason


def test_of_a_judge_that_is_not_asked_nothing_is_said(work: GitRepo) -> None:
    scene.meet(work)
    words = ("goal", "evaluate", "greet", "--judge-backend", "claude", "--json")
    assert "was named" not in flow(work, *words, env=AGENT).json["reason"]


@pytest.mark.parametrize("agent", AGENTS)
def test_no_second_goal_beside_an_active_one(work: GitRepo, agent: str) -> None:
    done = flow(work, *SECOND, "--json", env={agent: "1"})
    error = done.json["error"]
    assert (done.status, error["code"]) == (4, "beside_active")
    line = "flow goal create second --outcome o --criterion"
    assert f"a person, at a terminal: {line}" in error["remedy"]
    assert not (work.path / ".flow/goals/second.goal.yaml").exists()
    assert flow(work, *SECOND).status == 0, "a pipe may"


def test_a_draft_begins_nothing_and_activating_it_does(work: GitRepo) -> None:
    assert flow(work, *SECOND, "--draft", env=AGENT).status == 0
    done = flow(work, "goal", "activate", "second", "--json", env=AGENT)
    assert (done.status, done.json["error"]["code"]) == (4, "beside_active")
    assert done.json["error"]["remedy"].endswith("flow goal activate second")
    assert scene.status(work, "second") == "draft"
    assert flow(work, "goal", "activate", "second").status == 0


def test_a_file_is_named_in_the_line(work: GitRepo) -> None:
    text = scene.goal_file(work).replace("id: greet", "id: second", 1)
    work.write("../second.yaml", text)
    done = flow(work, "goal", "create", "--file", "../second.yaml", "--json", env=AGENT)
    assert done.status == 4
    assert done.json["error"]["remedy"].endswith("flow goal create --file ../second.yaml")


def test_the_helpers_keep_the_same_rule(work: GitRepo) -> None:
    text = scene.goal_file(work).replace("id: greet", "id: second", 1)
    work.write("../second.yaml", text)
    words = ("--create", "--goal-file", "../second.yaml")
    done = run_helper("flow-goal-record", *words, cwd=work.path, env=AGENT)
    assert (done.status, "at a terminal" in done.stderr) == (1, True)
    assert flow(work, *SECOND, "--draft", env=AGENT).status == 0
    work.write("../life.json", '{"status": "active"}')
    words = ("--update-lifecycle", "--goal-id", "second", "--lifecycle-file", "../life.json")
    done = run_helper("flow-goal-record", *words, "--merge", cwd=work.path, env=AGENT)
    assert (done.status, scene.status(work, "second")) == (1, "draft")


def test_a_goal_that_cannot_be_read_may_be_active(work: GitRepo) -> None:
    work.write(".flow/goals/greet.goal.yaml", "lifecycle: [\n")
    done = flow(work, *SECOND, "--json", env=AGENT)
    assert (done.status, done.json["error"]["code"]) == (4, "beside_active")


@pytest.mark.parametrize("goal", ["second", "greet"])
def test_a_goal_that_was_moved_away_is_not_replaced(work: GitRepo, goal: str) -> None:
    os.rename(work.path / ".flow", work.path.parent / "aside")
    words = tuple(goal if word == "second" else word for word in SECOND)
    done = flow(work, *words, "--json", env=AGENT)
    error = done.json["error"]
    assert (done.status, error["code"]) == (4, "beside_active")
    assert "goal greet is open in this checkout, and its file " in error["message"]
    assert "flow goal forget greet" in error["message"]
    assert not (work.path / ".flow/goals").exists()
    assert flow(work, "goal", "forget", "greet").status == 0
    assert flow(work, *words, env=AGENT).status == 0


BY_HAND = {
    "cancelled": ("status: active", "status: cancelled"),
    "achieved": ("status: active", "status: achieved"),
    "a draft": ("status: active", "status: draft"),
    "another branch": ("branch: main", "branch: other"),
}


@pytest.mark.parametrize("change", BY_HAND.values(), ids=BY_HAND.keys())
def test_a_goal_that_a_hand_hid_is_still_open(work: GitRepo, change: tuple[str, str]) -> None:
    whole = scene.goal_file(work)
    assert change[0] in whole
    work.write(".flow/goals/greet.goal.yaml", whole.replace(*change, 1))
    done = flow(work, *SECOND, "--json", env=AGENT)
    assert (done.status, done.json["error"]["code"]) == (4, "beside_active")
    assert "goal greet is open in this checkout" in done.json["error"]["message"]
    assert flow(work, *SECOND).status == 0, "a person may"
    scene.meet(work)
    verdict = flow(work, "goal", "evaluate", "second", "--json").json
    (other,) = verdict["proposed_transition"]["confirm"]["other_goals"]
    assert "greet" in other


def test_a_goal_that_was_made_a_draft_by_hand_is_not_begun_again(work: GitRepo) -> None:
    weaker = scene.goal_file(work).replace("grep -q please", "test -e")
    work.write(".flow/goals/greet.goal.yaml", weaker.replace("status: active", "status: draft"))
    done = flow(work, "goal", "activate", "greet", "--json", env=AGENT)
    assert (done.status, done.json["error"]["code"]) == (4, "beside_active")
    done = flow(work, "goal", "activate", "greet", "--json")
    assert (done.status, scene.status(work)) == (0, "active")
    assert "has changed since it was trusted" in str(done.json["warnings"])
    assert flow(work, "trust", "check", "greet").status == 4
    assert flow(work, "goal", "evaluate", "greet").status == 4
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    scene.meet(work)
    verdict = flow(work, "goal", "evaluate", "greet", "--json").json
    (step,) = verdict["proposed_transition"]["confirm"]["contract"]
    assert "grep -q please" in str(step)


@pytest.mark.parametrize("helper", [False, True])
@pytest.mark.parametrize("env", [{}, AGENT], ids=["anybody", "an agent"])
def test_a_goal_that_is_there_keeps_its_trust(
    work: GitRepo, helper: bool, env: dict[str, str]
) -> None:
    weaker = scene.goal_file(work).replace("grep -q please src/greet.txt", "test -e src/greet.txt")
    work.write("../weaker.yaml", weaker)
    if helper:
        words = ("--create", "--goal-file", "../weaker.yaml")
        done = run_helper("flow-goal-record", *words, cwd=work.path, env=env)
    else:
        done = flow(work, "goal", "create", "--file", "../weaker.yaml", env=env)
    assert (done.status, "goal greet exists already" in done.stderr) == (2, True)
    assert flow(work, "trust", "check", "greet").status == 0, "the live contract, as before"
    work.write(".flow/goals/greet.goal.yaml", weaker)
    assert flow(work, "trust", "check", "greet").status != 0
    assert flow(work, "goal", "evaluate", "greet").status == 4


@pytest.mark.parametrize("status", ["waiting_for_user", "waiting_for_ci", "blocked"])
def test_what_waits_or_is_blocked_is_open_too(work: GitRepo, status: str) -> None:
    if status == "waiting_for_user":  # nobody is asked before a pause
        assert flow(work, "goal", "pause", "greet", env=AGENT).status == 0
    if status == "waiting_for_ci":
        assert flow(work, "goal", "wait", "greet", "--until", "false", env=AGENT).status == 0
    if status == "blocked":
        work.write("other.txt", "x\n")
        assert flow(work, "goal", "evaluate", "greet").status == 3
    done = flow(work, *SECOND, "--json", env=AGENT)
    error = done.json["error"]
    assert (done.status, error["code"]) == (4, "beside_active")
    assert f"goal greet is {status} on this branch" in error["message"]
    assert flow(work, *SECOND).status == 0  # a person, or a script of theirs


@pytest.mark.parametrize("how", ["closed", "elsewhere", "draft"])
def test_beside_a_goal_that_is_not_open_here_it_begins(repo: GitRepo, how: str) -> None:
    scene.start(repo)
    if how == "draft":
        scene.create(repo, "greet", "--draft")
    else:
        scene.create(repo)
    if how == "closed":
        assert flow(repo, "goal", "clear", "greet", "--yes").status == 0
    if how == "elsewhere":
        repo.git("switch", "-qc", "other")
    done = flow(repo, *SECOND, env=AGENT)
    assert done.status == 0, done.stderr


def test_of_a_contract_that_an_agent_names_nothing_is_said_before_it_is_refused(
    work: GitRepo,
) -> None:
    assert flow(work, "goal", "pause", "greet").status == 0
    words = ("goal", "evaluate", "greet", "--trust-digest", contract(work))
    done = flow(work, *words, env=AGENT)
    assert (done.status, "resumes it" in done.stderr) == (4, False), done
