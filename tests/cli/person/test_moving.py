"""What a person reads after a move: who did what, in which words, and the next command, whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import run_helper, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

AGENT = {"CLAUDECODE": "1"}


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


def shown(repo: GitRepo, *words: str, **more: object) -> list[str]:
    done = flow(repo, "goal", *words, **more)
    assert done.status == 0, done
    return done.stdout.splitlines()


def test_every_move_says_who_what_and_what_comes_next(repo: GitRepo) -> None:
    scene.create(scene.start(repo), "greet", "--draft")
    (started, step) = shown(repo, "activate")
    assert started.startswith("✓ greet is active on branch main, base ")
    assert step == "next   do the work, then: flow goal evaluate greet"
    assert shown(repo, "pause", "--reason", "the fix is elsewhere") == [
        "◐ greet is paused by A Tester.",
        "  “the fix is elsewhere”",
        "next   flow goal resume greet",
    ]
    assert shown(repo, "resume", "--note", "it is found") == [
        "▸ greet is active again.",
        "  “it is found”",
        "next   flow goal evaluate greet",
    ]
    event = flow(repo, "goal", "history", "--json").json["events"][-1]
    assert (event["by"], event["reason"]) == ("A Tester", "it is found")
    assert shown(repo, "wait", "--until", "false") == [
        "◐ greet waits: not there yet (exit 1): false",
        "next   flow goal resume greet",
    ]
    status = flow(repo, "goal", "status")
    assert "\nwaits      until this exits 0: false\n" in status.stdout
    assert "because" not in status.stdout
    assert flow(repo, "goal", "status", "--json").json["waits_for"] == "false"
    assert shown(repo, "wait", "--until", "true") == [
        "▸ greet is active: what it waited for is there: true",
        "next   flow goal evaluate greet",
    ]
    assert shown(repo, "claim", "--session", "s1") == ["✓ greet belongs to session s1."]
    assert shown(repo, "clear", "--yes") == [
        "○ greet is cancelled, by A Tester (git user.name).",
        "next   flow goal create NEW --from greet",
    ]


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("waiting_for_user", "It waited for a person already."),
        ("waiting_for_ci", "It waited for a command, and no longer does."),
        ("blocked", "It was blocked: what is outside its paths still is."),
        ("paused", "It was paused already."),
    ],
)
def test_a_pause_of_what_does_not_run_says_what_it_did(
    repo: GitRepo, before: str, sentence: str
) -> None:
    more = ("--fuzzy", scene.FUZZY) if before == "waiting_for_user" else ()
    scene.create(scene.start(repo), "greet", *more)
    if before == "waiting_for_user":
        scene.meet(repo)
        assert flow(repo, "goal", "evaluate", "--no-judge").status == 4
    if before == "waiting_for_ci":
        assert flow(repo, "goal", "wait", "--until", "false").status == 0
    if before == "blocked":
        repo.write("other.txt", "x\n")
        assert flow(repo, "goal", "evaluate").status == 3
    if before == "paused":
        assert flow(repo, "goal", "pause", "--reason", "first").status == 0
    first, words, _ = shown(repo, "pause", "--reason", "not now", env=AGENT)
    assert first == f"◐ greet is paused by the agent. {sentence}"
    assert words == "  “not now”"
    document = flow(repo, "goal", "status", "--json").json
    assert document["status"] == "waiting_for_user"
    assert (document["paused"]["reason"], document["paused"]["said_from"]) == ("not now", "agent")
    (row,) = flow(repo, "goal", "list", "--json").json["goals"]
    assert row["paused"]["reason"] == "not now"


def test_the_same_pause_again_changes_nothing(work: GitRepo) -> None:
    shown(work, "pause", "--reason", "not now")
    before = scene.goal_file(work), (scene.run_dir(work) / "events.jsonl").read_bytes()
    shown(work, "pause", "--reason", "not now")
    assert (scene.goal_file(work), (scene.run_dir(work) / "events.jsonl").read_bytes()) == before


def test_a_secret_in_the_reason_of_a_pause_is_not_recorded(work: GitRepo) -> None:
    """An agent says why it cannot go on, perhaps with a line of output; the journal is tracked."""
    token = "ghp_" + "a1B2" * 9
    done = shown(work, "pause", "--reason", f"403 with {token}")
    assert done[1].startswith("  “403 with [masked:github]")
    kept = [file for file in work.path.rglob("*") if file.is_file() and ".git/" not in str(file)]
    assert [file for file in kept if token.encode() in file.read_bytes()] == []


def test_an_evaluation_of_a_paused_goal_says_that_it_resumes_it(work: GitRepo) -> None:
    sentence = 'greet was paused by A Tester: "not now"; this evaluation resumes it'
    shown(work, "pause", "--reason", "not now")
    assert sentence not in flow(work, "goal", "evaluate", "--dry-run").stderr
    done = flow(work, "goal", "evaluate")
    assert done.stderr.splitlines()[0] == sentence
    assert scene.status(work) == "active"
    assert "was paused" not in flow(work, "goal", "evaluate").stderr
    shown(work, "pause", "--reason", "not now")
    document = flow(work, "goal", "evaluate", "--json").json
    assert document["resumed"]["reason"] == "not now"
    assert "resumed" not in flow(work, "goal", "evaluate", "--json").json


def test_a_caller_can_record_the_verdict_that_resumed_it(work: GitRepo, tmp_path: Path) -> None:
    shown(work, "pause", "--reason", "not now")
    done = flow(work, "goal", "evaluate", "--no-record", "--json")
    assert "resumed" in done.json
    (tmp_path / "verdict.json").write_text(done.stdout)
    words = ("--run-id", done.json["run_id"], "--verdict-file", tmp_path / "verdict.json")
    recorded = run_helper("flow-record-verdict.sh", *words, cwd=work.path)
    assert recorded.status == 0, recorded.stderr


def test_what_does_not_resume_it_does_not_say_so(work: GitRepo) -> None:
    shown(work, "pause", "--reason", "not now")
    assert flow(work, "trust", "revoke", "greet").status == 0
    done = flow(work, "goal", "evaluate")
    assert (done.status, "resumes" in done.stderr) == (4, False)
    assert scene.status(work) == "waiting_for_user"


def test_a_forgotten_goal_is_not_missed(work: GitRepo) -> None:
    (work.path / ".flow/goals/greet.goal.yaml").unlink()
    (line,) = shown(work, "forget", "greet")
    assert line.startswith("✓ greet is forgotten: the Stop hook does not miss it any more")
    assert flow(work, "goal", "forget", "greet").status == 2


def test_resuming_what_is_active_says_so(work: GitRepo) -> None:
    before = scene.goal_file(work)
    assert shown(work, "resume", "--reason", "go on")[:1] == [
        "▸ greet is active already; nothing was changed."
    ]
    assert scene.goal_file(work) == before
