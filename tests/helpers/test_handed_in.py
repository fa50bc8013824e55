"""What is shown once a goal has ended, and of a verdict that somebody handed in."""

from __future__ import annotations

import json
import os

import pytest

from tests.support import GitRepo, run_helper, scene

GIVEN = {"verdict": "achieved", "confidence": 1.0, "delta": "made_progress", "reason": "as I say"}


def test_after_the_last_goal_status_shows_that_one_and_not_the_example(repo: GitRepo) -> None:
    scene.start(repo)
    assert scene.flow(repo, "init").status == 0
    repo.commit("flow")
    scene.create(repo)
    assert scene.flow(repo, "goal", "clear", "greet", "--yes").status == 0
    assert "greet  cancelled" in scene.flow(repo, "goal", "status").stdout


@pytest.mark.parametrize("way", ["command", "helper"])
@pytest.mark.parametrize("source", [None, "command", "me\x1b[1m"])
def test_a_verdict_that_was_handed_in_is_called_that(
    way: str, source: str | None, repo: GitRepo
) -> None:
    scene.create(scene.start(repo))
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 1
    assert "handed in" not in scene.flow(repo, "verdict", "show", "greet").stdout
    run_id = scene.run_dir(repo).name
    repo.write("../given.json", json.dumps({**GIVEN, "source": source}))
    given = os.fspath(repo.path.parent / "given.json")
    words = ["--run-id", run_id, "--verdict-file", given]
    if way == "command":
        assert scene.flow(repo, "verdict", "record", *words).status == 0
    else:
        assert run_helper("flow-record-verdict.sh", *words, cwd=repo.path).status == 0
    shown = scene.flow(repo, "verdict", "show", "greet").stdout
    line = next(line for line in shown.splitlines() if line.startswith("handed in"))
    document = json.loads(scene.flow(repo, "verdict", "show", "greet", "--json").stdout)
    assert document["handed_in"] is True
    assert document["recorded_at"] in line
    assert "Flow did not record it after a run" in line
    assert "\x1b" not in shown
    assert scene.flow(repo, "goal", "evaluate", "greet").status == 1
    assert "handed in" not in scene.flow(repo, "verdict", "show", "greet").stdout


def test_a_turns_verdict_with_another_result_is_handed_in(repo: GitRepo) -> None:
    scene.create(scene.start(repo), "greet", "--criterion", "AC2: it is :: false")
    own = scene.flow(repo, "goal", "evaluate", "greet", "--json").json
    given = repo.path.parent / "given.json"
    words = ("--run-id", own["run_id"], "--verdict-file", os.fspath(given))

    given.write_text(json.dumps(own))
    assert run_helper("flow-record-verdict.sh", *words, cwd=repo.path).status == 0
    assert "handed_in" not in scene.flow(repo, "verdict", "show", "greet", "--json").json

    own["criterion_results"][0] |= {"status": "pass", "outcome": "passed", "exit_code": 0}
    given.write_text(json.dumps(own))
    assert run_helper("flow-record-verdict.sh", *words, cwd=repo.path).status == 0
    shown = scene.flow(repo, "verdict", "show", "greet", "--json")
    assert shown.json["handed_in"] is True
    given.write_text(shown.stdout)  # it fits the schema of a verdict
    assert run_helper("flow-record-verdict.sh", *words, cwd=repo.path).status == 0
