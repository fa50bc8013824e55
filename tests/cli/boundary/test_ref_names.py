"""A tag that bears a branch's name, at every command that takes a name of git's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import GitRepo
from tests.support.scene import flow, start

GOAL = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**")
CRITERION = ("--criterion", "AC1: says please :: grep -q please src/greet.txt")


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    """On a branch whose only commit lies outside the paths; the tag ``main`` hides it."""
    start(repo)
    repo.git("switch", "-qc", "topic")
    repo.commit("outside", **{"other.txt": "x\n", "src/greet.txt": "please\n"})
    repo.git("tag", "main")
    return repo


def test_create_takes_neither(work: GitRepo) -> None:
    done = flow(work, *GOAL, *CRITERION, "--base", "main")
    assert done.status == 2
    assert "refs/heads/main" in done.stderr
    assert "refs/tags/main" in done.stderr
    assert not list(work.path.glob(".flow/goals/*.yaml"))
    assert "other.txt" in flow(work, *GOAL, *CRITERION).stderr


def test_a_goal_file_evaluate_rebase_import_and_verify_take_neither(
    work: GitRepo, tmp_path: Path
) -> None:
    assert flow(work, *GOAL, *CRITERION, "--base", "topic").status == 0
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"provider": "ci", "run_id": "1", "conclusion": "success"}))
    for words in (
        ("goal", "evaluate", "greet", "--base", "main"),
        ("evidence", "verify", "--against", "main"),
        ("evidence", "import", str(report), "--commit", "main"),
    ):
        done = flow(work, *words)
        assert done.status == 2, (words, done.stdout, done.stderr)
        assert "refs/heads/main" in done.stderr, (words, done.stderr)
        assert "refs/tags/main" in done.stderr, words
    file = work.path / ".flow/goals/greet.goal.yaml"
    file.write_text(file.read_text().replace("\n  base: topic\n", "\n  base: main\n"))
    done = flow(work, "goal", "rebase", "greet", "--yes")
    assert (done.status, "refs/tags/main" in done.stderr) == (2, True), done.stderr
