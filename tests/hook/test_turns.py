"""Turns of the loop leave the goal's file alone, and are shown all the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import GitRepo, scene
from tests.support.stops import events, settings, stop, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.made_once.stage import Stage

Capture = pytest.CaptureFixture[str]
FILE = ".flow/goals/greet.goal.yaml"


@pytest.fixture
def turned(stage: Stage, capfd: Capture) -> GitRepo:
    """A goal after five stops, each on other files, that all failed alike."""

    def make() -> None:
        repo = scene.create(scene.start(GitRepo.init(stage.repo.path)))
        settings(stage.home, stopHookEnforcement="block")
        for turn in range(5):
            repo.write("src/greet.txt", f"give me {turn}\n")
            assert stop(repo, capfd)["decision"] == "block"

    stage.begin(make)
    return stage.repo


def shown(repo: GitRepo, *words: str) -> dict[str, Any]:
    done = scene.flow(repo, *words, "--json")
    assert done.status == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def in_file(repo: GitRepo) -> int:
    text = repo.read(FILE)
    return int(text.split("turns_evaluated:")[1].split()[0])


def test_the_file_stays_quiet_and_everything_shows_the_newest_turn(
    turned: GitRepo, tmp_path: Path
) -> None:
    assert in_file(turned) == 1
    status = shown(turned, "goal", "status", "greet")
    assert status["turns_evaluated"] == 5
    (row,) = status["criteria"]
    assert row["evidence_ref"].endswith("evidence-ac1-eval-5.evidence.yaml")
    assert row["fresh"] is True
    assert status["last_evaluation"]["at"] == events(turned)[-1]["at"]
    text = scene.flow(turned, "goal", "status", "greet").stdout
    assert "stale" not in text
    assert "turns      ✗✗✗✗✗   5, the last at a stop of the agent, " in text
    (listed,) = shown(turned, "goal", "list")["goals"]
    assert listed["turns_evaluated"] == 5
    document = shown(turned, "goal", "inspect", "greet")["document"]
    assert document["lifecycle"]["turns_evaluated"] == 5
    (criterion,) = document["objective"]["acceptance_criteria"]
    assert criterion["evidence_ref"] == row["evidence_ref"]
    page = tmp_path / "page.html"
    assert scene.flow(turned, "report", "greet", "--output", str(page)).status == 0
    assert "Turns</dt><dd>5 in " in page.read_text()
    assert verdict(turned)["lifecycle"]["turns_evaluated"] == 5
    assert [event["turn"] for event in events(turned)] == [1, 2, 3, 4, 5]


def test_a_stop_that_reruns_nothing_is_a_turn_too(turned: GitRepo, capfd: Capture) -> None:
    stop(turned, capfd)
    status = shown(turned, "goal", "status", "greet")
    assert status["turns_evaluated"] == 6
    assert status["criteria"][0]["evidence_ref"].endswith("evidence-ac1-eval-5.evidence.yaml")
    assert status["criteria"][0]["fresh"] is True


def evaluates(repo: GitRepo) -> int:
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 1
    return 6


def pauses(repo: GitRepo) -> int:
    assert scene.flow(repo, "goal", "pause", "greet", "--reason", "later").status == 0
    return 5


def clears(repo: GitRepo) -> int:
    assert scene.flow(repo, "goal", "clear", "greet", "--yes").status == 0
    return 5


@pytest.mark.parametrize("write", [evaluates, pauses, clears])
def test_the_next_write_carries_the_true_numbers(turned: GitRepo, write: Any) -> None:
    turns = write(turned)
    assert in_file(turned) == turns
    assert f"evidence-ac1-eval-{turns}.evidence.yaml" in turned.read(FILE)
    assert shown(turned, "goal", "status", "greet")["turns_evaluated"] == turns


def test_the_loop_goes_on_counting_after_a_write(turned: GitRepo, capfd: Capture) -> None:
    evaluates(turned)
    turned.write("src/greet.txt", "give me all\n")
    stop(turned, capfd)
    assert shown(turned, "goal", "status", "greet")["turns_evaluated"] == 7
    assert events(turned)[-1]["turn"] == 7


def test_what_was_written_since_is_newer_than_the_turn(turned: GitRepo) -> None:
    done = scene.flow(turned, "goal", "amend", "greet", "--file", amended(turned), "--yes")
    assert done.status == 0, done.stderr
    status = shown(turned, "goal", "status", "greet")
    assert status["turns_evaluated"] == 5
    assert status["criteria"][0]["evidence_ref"] is None


def amended(repo: GitRepo) -> str:
    text = repo.read(FILE).replace("grep -q please", "grep -q PLEASE")
    repo.write("../amended.yaml", text)
    return str(repo.path.parent / "amended.yaml")


@pytest.mark.parametrize("turn", [0, -1, True, "7", 10**9, None, [1]])
def test_a_number_that_flow_did_not_write_is_none(turned: GitRepo, turn: Any) -> None:
    path = scene.run_dir(turned) / "events.jsonl"
    line = {"seq": 999, "type": "stop", "goal_id": "greet", "turn": turn, "results": 3}
    path.write_text(path.read_text() + json.dumps(line) + "\n")
    assert shown(turned, "goal", "status", "greet")["turns_evaluated"] == 5


def test_a_run_of_an_older_flow_shows_what_its_file_says(turned: GitRepo) -> None:
    path = scene.run_dir(turned) / "events.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["type"] == "stop":
            for key in ("turn", "result", "reason", "results"):
                line.pop(key, None)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert shown(turned, "goal", "status", "greet")["turns_evaluated"] == 1
