"""A goal that somebody set aside: why is shown wherever the goal is; "I cannot" is an answer."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import GitRepo, scene
from tests.support.stops import events, settings, stop

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
AGENT = {"CLAUDECODE": "1"}
WHY = "the fix belongs into a file\x1b[31m that is denied"
SHOWN = 'the fix belongs into a file\\x1b[31m that is denied"'


def paused(repo: GitRepo, *words: str, **env: str) -> GitRepo:
    done = scene.flow(repo, "goal", "pause", "greet", *words, env=env)
    assert done.status == 0, done.stderr
    return repo


@pytest.mark.parametrize("env", [AGENT, {}])
def test_the_reason_is_shown_everywhere(
    env: dict[str, str], repo: GitRepo, home: Path, capfd: Capture, tmp_path: Path
) -> None:
    scene.create(scene.start(repo))
    paused(repo, "--reason", WHY, **env)
    by = json.loads(scene.flow(repo, "goal", "status", "--json").stdout)["paused"]["by"]
    who = "the agent" if env else by
    status = scene.flow(repo, "goal", "status", "greet")
    assert status.stdout.startswith("◐ greet  paused  ")
    assert f"paused     {who}, " in status.stdout
    assert f"“{SHOWN[:-1]}”" in status.stdout
    assert "flow goal resume greet" in status.stdout
    listed = scene.flow(repo, "goal", "list").stdout
    assert "  paused  " in listed
    assert f'paused by {who}: "{SHOWN}' in listed
    page = tmp_path / "page.html"
    assert scene.flow(repo, "report", "greet", "--output", str(page)).status == 0
    assert "the fix belongs into a file\\x1b[31m that is denied" in page.read_text()
    settings(home, stopHookEnforcement="block")
    answer = stop(repo, capfd)
    assert answer["decision"] == "approve"
    assert f'goal greet is waiting_for_user, paused by {who}: "{SHOWN}' in answer["systemMessage"]
    for words in (("goal", "status", "greet", "--json"), ("goal", "list", "--json")):
        document = json.loads(scene.flow(repo, *words).stdout)
        row = document if words[1] == "status" else document["goals"][0]
        assert row["paused"]["reason"] == WHY
        assert row["paused"]["said_from"] == ("agent" if env else "pipe")


def test_a_goal_that_is_not_paused_says_nothing_of_it(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    document = json.loads(scene.flow(repo, "goal", "status", "greet", "--json").stdout)
    assert document["paused"] is None
    paused(repo, "--reason", WHY)
    assert scene.flow(repo, "goal", "resume", "greet").status == 0
    assert "paused" not in scene.flow(repo, "goal", "status", "greet").stdout


def test_one_that_waits_for_a_person_is_not_called_paused(
    repo: GitRepo, home: Path, capfd: Capture
) -> None:
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    scene.meet(repo)
    settings(home, stopHookEnforcement="block")
    stop(repo, capfd)
    assert scene.status(repo) == "waiting_for_user"
    assert "paused" not in scene.flow(repo, "goal", "status", "greet").stdout
    # Somebody may say why all the same.
    paused(repo, "--reason", "a person looks first", **AGENT)
    status = scene.flow(repo, "goal", "status", "greet").stdout
    assert "paused     the agent, " in status
    assert "“a person looks first”" in status


def test_a_blocked_goal_can_be_set_aside(repo: GitRepo, home: Path, capfd: Capture) -> None:
    scene.create(scene.start(repo))
    repo.write("other.txt", "x")
    settings(home, stopHookEnforcement="block")
    assert "flow goal pause greet --reason" in stop(repo, capfd)["reason"]
    assert scene.status(repo) == "blocked"
    paused(repo, "--reason", "other.txt, because it is needed", **AGENT)
    assert scene.status(repo) == "waiting_for_user"
    assert [e["to"] for e in events(repo, "transition")] == ["active", "waiting_for_user"]
    assert "other.txt, because it is needed" in stop(repo, capfd)["systemMessage"]


@pytest.mark.parametrize("reason", [(), ("--reason", " ")])
def test_without_a_reason_that_is_said(reason: tuple[str, ...], repo: GitRepo) -> None:
    paused(scene.create(scene.start(repo)), *reason, **AGENT)
    text = scene.flow(repo, "goal", "status", "greet").stdout
    assert re.search(r"\npaused     the agent, [^“]*, gave no reason\n\n", text)
    listed = scene.flow(repo, "goal", "list").stdout
    assert "paused by the agent, who gave no reason" in listed


# --- the agent's last message ------------------------------------------------------------------

KEYS = [("claude", "last_assistant_message"), ("codex", "last_assistant_message")]
KEYS += [("gemini", "prompt_response")]
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.mark.parametrize(("host", "key"), KEYS)
def test_the_last_message_is_kept_without_secrets(
    host: str, key: str, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    stop(repo, capfd, host, **{key: f"I cannot: {TOKEN} is refused. " + "x" * 5000})
    message = events(repo)[-1]["last_message"]
    assert message.startswith("I cannot: [masked:")
    assert len(message) == 500
    assert TOKEN not in (scene.run_dir(repo) / "events.jsonl").read_text()
    assert "I cannot" not in (repo.path / ".decisions/issue-7.md").read_text()
    assert "I cannot" in scene.flow(repo, "goal", "history", "greet", "--details").stdout


@pytest.mark.parametrize("value", [None, "", "  ", 7, ["I cannot"], {"text": "no"}])
def test_what_is_no_message_is_none(value: Any, repo: GitRepo, home: Path, capfd: Capture) -> None:
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    answer = stop(repo, capfd, last_assistant_message=value)
    assert answer["decision"] == "block"
    assert "last_message" not in events(repo)[-1]
    odd = value is not None and not isinstance(value, str)
    assert ("last_assistant_message" in answer.get("systemMessage", "")) == odd


def test_a_secret_that_the_cut_goes_through_is_not_kept_in_half(
    repo: GitRepo, home: Path, capfd: Capture
) -> None:
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement="block")
    stop(repo, capfd, last_assistant_message="y" * 480 + " " + TOKEN)
    assert "ghp_" not in events(repo)[-1]["last_message"]
