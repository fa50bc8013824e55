"""Every act that a person could have done says from where it was said."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.contracts import formats
from flow.adapters.journal.store import read as read_journal
from tests.support import run_helper, scene, stops
from tests.support.scene import at_terminal, ended

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support import GitRepo, Ran

AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s-1"}
PLACES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "pipe": ({}, {"said_from": "pipe"}),
    "agent": (
        AGENT,
        {"said_from": "agent", "agent": "Claude Code", "agent_session": "s-1"},
    ),
}
LEAD: dict[str, str] = {}
"""The environment of what only leads to the act that is looked at."""
KEYS = ("said_from", "agent", "agent_session")


def spoken(entry: Any) -> dict[str, str]:
    return {key: entry[key] for key in KEYS if entry.get(key) is not None}


def events(repo: GitRepo) -> list[dict[str, Any]]:
    text = (scene.run_dir(repo) / "events.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def artifacts(repo: GitRepo) -> list[Any]:
    return list(read_journal(str(repo.path), ".decisions/issue-7.md").artifacts)


def trust_lines(home: Path) -> list[dict[str, Any]]:
    text = (home / "flow-state/goal-trust.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def run(repo: GitRepo, env: dict[str, str], *words: str) -> Ran:
    call = scene.step if env is LEAD else scene.flow
    done = call(repo, *words, env=dict(env))
    assert done.status == 0, done
    return done


def act_create(repo: GitRepo, env: dict[str, str]) -> None:
    criteria = ("--criterion", scene.PASSES, "--fuzzy", scene.FUZZY)
    words = ("goal", "create", "greet", "--outcome", "o", *criteria)
    run(repo, env, *words, "--allow", "src/**", "--issue", "7")


def act_activate(repo: GitRepo, env: dict[str, str]) -> None:
    words = ("--outcome", "o", "--criterion", scene.PASSES, "--allow", "src/**", "--issue", "7")
    run(repo, LEAD, "goal", "create", "greet", *words, "--draft")
    run(repo, env, "goal", "activate", "greet")


def act_pause(repo: GitRepo, env: dict[str, str]) -> None:
    act_create(repo, LEAD)
    run(repo, env, "goal", "pause", "greet")


def act_resume(repo: GitRepo, env: dict[str, str]) -> None:
    act_pause(repo, LEAD)
    run(repo, env, "goal", "resume", "greet")


def act_clear(repo: GitRepo, env: dict[str, str]) -> None:
    act_create(repo, LEAD)
    run(repo, env, "goal", "clear", "greet", "--yes")


def act_approve(repo: GitRepo, env: dict[str, str]) -> None:
    act_create(repo, LEAD)
    run(repo, env, "goal", "approve", "greet", "AC2", "--by", "me", "--note", "n", "--yes")


def act_amend(repo: GitRepo, env: dict[str, str]) -> None:
    act_create(repo, LEAD)
    repo.write("../new.yaml", scene.goal_file(repo).replace("outcome: o", "outcome: other"))
    run(repo, env, "goal", "amend", "greet", "--file", "../new.yaml", "--yes")


def act_trust_by_hand(repo: GitRepo, env: dict[str, str]) -> None:
    act_create(repo, LEAD)
    text = scene.goal_file(repo).replace("outcome: o", "outcome: other")
    repo.write(".flow/goals/greet.goal.yaml", text)
    run(repo, env, "trust", "record", "greet", "--yes")


def act_rebase(repo: GitRepo, env: dict[str, str]) -> None:
    repo.git("switch", "-qc", "topic")
    act_create(repo, LEAD)
    repo.commit("goal")
    repo.git("switch", "-q", "main")
    repo.commit("theirs", **{"theirs.txt": "x\n"})
    repo.git("switch", "-q", "topic")
    repo.git("merge", "-q", "--no-edit", "main")
    run(repo, env, "goal", "rebase", "greet", "--yes")


def act_confirm(repo: GitRepo, env: dict[str, str]) -> None:
    scene.create(repo)
    proposal = scene.propose(repo)
    run(repo, env, "goal", "confirm", "greet", "--proposal", proposal)


def act_claim(repo: GitRepo, env: dict[str, str]) -> None:
    act_create(repo, LEAD)
    run(repo, env, "goal", "claim", "greet", "--session", "s-2")


def act_helper_create(repo: GitRepo, env: dict[str, str]) -> None:
    act_create(repo, LEAD)
    text = scene.goal_file(repo)
    (repo.path / ".flow/goals/greet.goal.yaml").unlink()
    run(repo, LEAD, "goal", "forget", "greet")  # else it is missed, and no agent begins another
    repo.write("../goal.yaml", text)
    done = run_helper(
        "flow-goal-record", "--create", "--goal-file", "../goal.yaml", cwd=repo.path, env=env
    )
    assert done.status == 0, done


def act_helper_move(repo: GitRepo, env: dict[str, str]) -> None:
    act_create(repo, LEAD)
    repo.write("../life.json", '{"status": "waiting_for_user"}')
    words = ("--update-lifecycle", "--goal-id", "greet", "--lifecycle-file", "../life.json")
    done = run_helper("flow-goal-record", *words, "--merge", cwd=repo.path, env=env)
    assert done.status == 0, done


ACTS: dict[str, tuple[Callable[[GitRepo, dict[str, str]], None], str, str | None]] = {
    "create": (act_create, "created", "goal-created"),
    "activate": (act_activate, "transition", "goal-evaluation"),
    "pause": (act_pause, "transition", "goal-evaluation"),
    "resume": (act_resume, "transition", "goal-evaluation"),
    "clear": (act_clear, "transition", "goal-evaluation"),
    "approve": (act_approve, "approved", "evidence-captured"),
    "amend": (act_amend, "contract-amended", "contract-amended"),
    "trust record": (act_trust_by_hand, "contract-amended", "contract-amended"),
    "rebase": (act_rebase, "rebased", "contract-amended"),
    "confirm": (act_confirm, "confirmed", "goal-evaluation"),
    "claim": (act_claim, "claimed", None),
    "helper's create": (act_helper_create, "created", "goal-created"),
    "helper's move": (act_helper_move, "transition", "goal-evaluation"),
}
"""Each act, its event and its entry in the journal."""
TRUSTED = ("create", "activate", "amend", "trust record", "rebase")
"""Acts that are in the trust ledger, too."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("act", ACTS)
def test_journal_event_and_trust_ledger_say_from_where(
    repo: GitRepo, home: Path, act: str, place: str
) -> None:
    do, event, artifact = ACTS[act]
    env, expected = PLACES[place]
    do(scene.start(repo), env)
    newest = [one for one in events(repo) if one["type"] == event][-1]
    assert spoken(newest) == expected
    if artifact is not None:
        entry = [one for one in artifacts(repo) if one["type"] == artifact][-1]
        assert spoken(entry) == expected
    if act in TRUSTED:
        assert spoken(trust_lines(home)[-1]) == expected
    if act == "approve":
        (file,) = scene.run_dir(repo).glob("evidence/*approval*.evidence.yaml")
        body = formats.parse_yaml(file.read_bytes(), file="sidecar")["evidence"]
        assert spoken(body) == expected
        assert "by_from" not in body


@pytest.mark.parametrize("place", PLACES)
def test_revoked_trust_says_it(repo: GitRepo, home: Path, place: str) -> None:
    env, expected = PLACES[place]
    act_create(scene.start(repo), LEAD)
    run(repo, env, "trust", "revoke", "greet")
    assert trust_lines(home)[-1]["action"] == "revoke"
    assert spoken(trust_lines(home)[-1]) == expected


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("act", "begins"), [(act_pause, "paused"), (act_resume, "resumed")])
def test_a_move_without_a_reason_names_no_person_for_an_agent(
    repo: GitRepo, act: Callable[[GitRepo, dict[str, str]], None], begins: str, place: str
) -> None:
    env, expected = PLACES[place]
    act(scene.start(repo), env)
    who = "the agent" if expected["said_from"] == "agent" else "a person"
    assert events(repo)[-1]["reason"].startswith(f"{begins} by {who}")


@pytest.mark.parametrize("env", [{}, AGENT], ids=["pipe", "agent"])
def test_without_a_name_the_one_of_git_stands_and_is_named(
    repo: GitRepo, env: dict[str, str]
) -> None:
    act_create(scene.start(repo), LEAD)
    run(repo, env, "goal", "approve", "greet", "AC2", "--note", "n", "--yes")
    approved = [one for one in events(repo) if one["type"] == "approved"][-1]
    assert (approved["by"], approved["by_from"]) == ("A Tester", "git user.name")
    repo.write("../new.yaml", scene.goal_file(repo).replace("outcome: o", "outcome: other"))
    run(repo, env, "goal", "amend", "greet", "--file", "../new.yaml", "--yes")
    amended = [one for one in artifacts(repo) if one["type"] == "contract-amended"][-1]
    assert (amended["by"], amended["by_from"]) == ("A Tester", "git user.name")


@pytest.mark.parametrize(
    ("account", "shown"), [("somebody", "somebody"), (os.fsdecode(b"jos\xe9"), "jos\\xe9")]
)
def test_without_a_name_in_git_it_is_the_account(
    repo: GitRepo, home: Path, account: str, shown: str
) -> None:
    env = {"USER": account}
    act_create(scene.start(repo), env)
    (home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n")
    repo.git("config", "--unset", "user.name", check=False)
    run(repo, env, "goal", "approve", "greet", "AC2", "--note", "n", "--yes")
    approved = [one for one in events(repo) if one["type"] == "approved"][-1]
    assert (approved["by"], approved["by_from"]) == (shown, "account")


@pytest.mark.parametrize(
    ("env", "said"), [({}, "terminal"), ({"CLAUDECODE": "1"}, "agent")], ids=["person", "agent"]
)
def test_a_terminal_is_one_unless_an_agent_opened_it(
    repo: GitRepo, env: dict[str, str], said: str
) -> None:
    act_create(scene.start(repo), LEAD)
    child = at_terminal(repo, ["goal", "approve", "greet", "AC2", "--note", "n"], **env)
    child.expect(r"\[y/N\]")
    child.sendline("y")
    assert ended(child)[0] == 0
    approved = [one for one in events(repo) if one["type"] == "approved"][-1]
    assert approved["said_from"] == said
    assert approved["by_from"] == "git user.name"


def evaluations(repo: GitRepo) -> list[dict[str, Any]]:
    return [one for one in events(repo) if one["type"] == "evaluated"]


@pytest.mark.parametrize("place", PLACES)
def test_an_evaluation_says_who_asked_for_it(repo: GitRepo, place: str) -> None:
    env, said = PLACES[place]
    scene.create(scene.start(repo))
    scene.meet(repo)
    run(repo, {"USER": "somebody", **env}, "goal", "evaluate", "greet")
    (event,) = evaluations(repo)
    assert spoken(event) == said
    named = {} if place == "agent" else {"by": "somebody", "by_from": "account"}
    assert {key: event[key] for key in ("by", "by_from") if key in event} == named
    assert not any(spoken(one) for one in artifacts(repo)[1:]), "it is nobody's word"
    who = "Claude Code's shell" if place == "agent" else "somebody (pipe)"
    assert scene.flow(repo, "goal", "status", "--json").json["turns"][0]["by"] == who
    assert f"1, the last by {who}, " in scene.flow(repo, "goal", "status").stdout
    history = scene.flow(repo, "goal", "history").stdout.splitlines()
    (line,) = [line for line in history if "turn 1" in line]
    assert line.endswith(f"  {who}")


def test_at_a_terminal_a_turn_has_gits_name(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    repo.git("config", "user.name", "repo owner")
    assert ended(at_terminal(repo, ["goal", "evaluate"]))[0] == 1
    (event,) = evaluations(repo)
    named = {key: event.get(key) for key in ("by", "by_from", "said_from")}
    assert named == {"by": "repo owner", "by_from": "git user.name", "said_from": "terminal"}


def test_a_stop_of_the_agent_asks_for_itself(
    repo: GitRepo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.create(scene.start(repo))
    for key, value in AGENT.items():
        monkeypatch.setenv(key, value)
    stops.stop(repo, capfd)
    for event in events(repo):
        if event["type"] in ("evaluated", "stop"):
            assert not {"by", "said_from", "agent"} & event.keys()
    turns = scene.flow(repo, "goal", "status", "--json").json["turns"]
    assert [turn["by"] for turn in turns] == [None]
