"""What was pinned at activation lies in the checkout, and is believed only as Flow left it."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support import GitRepo

EVALUATE = ("goal", "evaluate", "greet", "--json", "--no-input")
ALTERED = "baseline.json, which is missing or was altered"


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    """The goal is met, and a file outside of its paths was changed as well."""
    scene.create(scene.start(repo))
    scene.meet(repo)
    repo.write("secret/outside.txt", "not allowed\n")
    done = scene.step(repo, *EVALUATE)
    assert done.json["verdict"] == "blocked", done
    return repo


def evaluate(repo: GitRepo) -> dict[str, Any]:
    done = flow(repo, *EVALUATE)
    found: dict[str, Any] = done.json
    return found


def baseline(repo: GitRepo) -> Path:
    return scene.run_dir(repo) / "baseline.json"


def forge(repo: GitRepo) -> dict[str, Any]:
    """A baseline that says: the file outside was there before, just so."""
    document: dict[str, Any] = json.loads(baseline(repo).read_text())
    digest = repo.git("hash-object", "secret/outside.txt").strip()
    document["dirty"]["secret/outside.txt"] = f"100644:{digest} absent absent"
    document["by_products"]["secret/outside.txt"] = f"100644:{digest}"
    return document


def written_over(repo: GitRepo) -> None:
    """The attack that went through before."""
    baseline(repo).write_text(json.dumps(forge(repo)))


def in_another_run(repo: GitRepo) -> None:
    """A run that Flow never made; the run's id is no part of the contract."""
    document = forge(repo)
    folder = scene.run_dir(repo).with_name("another")
    shutil.copytree(scene.run_dir(repo), folder)
    document["run_id"] = "another"
    (folder / "baseline.json").write_text(json.dumps(document))
    file = repo.path / ".flow/goals/greet.goal.yaml"
    file.write_text(re.sub(r"run_id: .*", "run_id: another", file.read_text()))


def removed(repo: GitRepo) -> None:
    os.unlink(baseline(repo))


@pytest.mark.parametrize("attack", [written_over, in_another_run, removed])
def test_a_better_baseline_is_not_believed(
    attack: Callable[[GitRepo], None], work: GitRepo
) -> None:
    attack(work)
    done = evaluate(work)
    assert done["verdict"] == "blocked"
    assert done["proposed_transition"] is None
    assert done["path_violations"] == ["secret/outside.txt"]
    shutil.rmtree(work.path / "secret")
    done = evaluate(work)
    assert done["verdict"] == "needs_human_review"
    assert ALTERED in done["reason"]
    assert done["proposed_transition"] is None


def test_a_person_has_it_pinned_anew(work: GitRepo) -> None:
    written_over(work)
    shutil.rmtree(work.path / "secret")
    words = ("goal", "approve", "greet", "guards", "--by", "me", "--note", "seen", "--yes")
    assert flow(work, *words).status == 0
    assert evaluate(work)["verdict"] == "achieved"


def test_what_the_state_folder_announced_is_believed(work: GitRepo, home: Path) -> None:
    """A kill may come after baseline.json was replaced and before its digest is the kept one."""
    from flow.adapters.chain.pinned_heads import COMING

    shutil.rmtree(work.path / "secret")
    kept = next((home / "flow-state" / "chains").glob("*/*.json"))
    document = json.loads(kept.read_text())
    files = document["files"]
    files["baseline.json" + COMING] = files["baseline.json"]
    files["baseline.json"] = "0" * 64
    kept.write_text(json.dumps(document))
    assert evaluate(work)["verdict"] == "achieved"


def test_the_run_of_another_goal_is_not_this_ones(work: GitRepo) -> None:
    """HAZARD I217: the run is no part of the contract, so a hand can name another one."""
    other = ("--outcome", "o", "--allow", "x/**", "--criterion", "AC1: t :: true")
    assert flow(work, "goal", "create", "other", *other).status == 0
    goals = work.path / ".flow/goals"
    run = re.search(r"run_id: (.*)", (goals / "other.goal.yaml").read_text())
    file = goals / "greet.goal.yaml"
    assert run is not None
    file.write_text(re.sub(r"run_id: .*", f"run_id: {run[1]}", file.read_text()))
    found = evaluate(work)
    assert found["verdict"] == "blocked", "there it was dirty when the other goal began"
    shutil.rmtree(work.path / "secret")
    assert ALTERED in evaluate(work)["reason"]


def test_an_older_run_of_the_same_name_is_not_this_ones(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HAZARD I270: the goal was made again, and a hand names the run of the one before."""
    words = ("goal", "create", "--file", "goal.yaml")
    written = """
        metadata: {id: greet}
        objective:
          outcome: o
          acceptance_criteria: [{text: t, verification_command: grep -q g src/greet.txt}]
        constraints: {allowed_paths: ["src/**", goal.yaml]}
        evaluator: {type: deterministic}
    """
    scene.start(repo).write("goal.yaml", written)
    repo.write("secret/outside.txt", "not allowed\n")
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.5)
    assert flow(repo, *words).status == 0
    file = repo.path / ".flow/goals/greet.goal.yaml"
    older = scene.run_dir(repo).name
    file.unlink()
    shutil.rmtree(repo.path / "secret")
    monkeypatch.setattr(time, "time", lambda: 1_800_000_001.5)
    assert flow(repo, *words).status == 0
    repo.write("secret/outside.txt", "not allowed\n")
    file.write_text(re.sub(r"run_id: .*", f"run_id: {older}", file.read_text()))
    found = evaluate(repo)
    assert found["verdict"] == "blocked", "it was dirty when the goal before began"
    shutil.rmtree(repo.path / "secret")
    assert ALTERED in evaluate(repo)["reason"]


def test_what_commands_leave_makes_no_record_of_a_start(repo: GitRepo) -> None:
    """HAZARD I271: the by-products of an evaluation are kept, and the guards still wait."""
    leaves = "AC1: t :: mkdir -p __pycache__ && echo x >__pycache__/x.pyc"
    scene.create(scene.start(repo), criterion=leaves)
    baseline(repo).unlink()
    for _ in range(3):
        found = evaluate(repo)
        assert found["verdict"] == "needs_human_review"
        assert ALTERED in found["reason"]


def test_without_a_state_folder_nobody_vouches(work: GitRepo, home: Path) -> None:
    shutil.rmtree(work.path / "secret")
    shutil.rmtree(home / "flow-state" / "chains")
    assert ALTERED in evaluate(work)["reason"]


def test_each_worktree_has_heads_of_its_own(repo: GitRepo) -> None:
    """The goal is tracked, so a linked worktree names the same run, and has none of its files."""
    scene.create(scene.start(repo))
    scene.meet(repo)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "the goal and the work")
    assert evaluate(repo)["verdict"] == "achieved"
    there = repo.path.with_name("there")
    repo.git("worktree", "add", "-q", "--detach", str(there))
    assert ALTERED in flow(repo, *EVALUATE, cwd=there).json["reason"]
    person = ("goal", "approve", "greet", "guards", "--by", "me", "--note", "seen", "--yes")
    assert flow(repo, *person, cwd=there).status == 0
    assert flow(repo, *EVALUATE, cwd=there).json["verdict"] == "achieved"
    for place in (there, repo.path):
        done = flow(repo, "evidence", "verify", cwd=place)
        assert done.status == 0, done
    assert evaluate(repo)["verdict"] == "achieved"
