"""A goal that was worked on in another checkout: runs are not tracked by git, journals are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    """A goal that was evaluated here, all of it committed on its branch."""
    scene.start(repo)
    scene.create(repo)
    scene.propose(repo)
    repo.commit("work so far")
    return repo


def clone_of(work: GitRepo, path: Path) -> GitRepo:
    work.git("clone", "-q", str(work.path), str(path))
    return GitRepo(path)


def test_a_fresh_clone_goes_on_in_a_run_of_its_own(work: GitRepo, tmp_path: Path) -> None:
    first = scene.run_dir(work).name
    clone = clone_of(work, tmp_path / "clone")
    assert flow(clone, "trust", "record", "greet", "--yes").status == 0
    assert flow(clone, "evidence", "verify").status == 0  # nothing vanished: it never was here
    flow(clone, "goal", "evaluate", "greet", "--dry-run")
    assert scene.run_dir(clone).name == first, "a dry run writes nothing"
    done = scene.confirm(clone)
    assert done.status == 0, done.stderr
    assert (scene.status(clone), scene.run_dir(clone).name == first) == ("achieved", False)
    verified = flow(clone, "evidence", "verify")
    assert verified.status == 0, verified.stdout
    clone.commit("done")
    work.git("pull", "-q", str(clone.path), "main")
    assert flow(work, "evidence", "verify").status == 0
    assert flow(work, "goal", "status", "greet", "--json").json["status"] == "achieved"


def test_a_linked_worktree_of_the_same_user(work: GitRepo, tmp_path: Path) -> None:
    work.git("switch", "-qc", "other")
    work.git("worktree", "add", "-q", str(tmp_path / "linked"), "main")
    linked = GitRepo(tmp_path / "linked")
    told = flow(linked, "goal", "evaluate", "greet")
    assert told.status == 4
    assert "flow goal approve greet guards" in told.stdout
    words = ("guards", "--by", "Reader", "--note", "my own", "--yes")
    assert flow(linked, "goal", "approve", "greet", *words).status == 0
    done = scene.confirm(linked)
    assert done.status == 0, done.stderr
    assert flow(linked, "evidence", "verify").status == 0


def test_an_approval_waits_for_the_first_evaluation(work: GitRepo, tmp_path: Path) -> None:
    clone = clone_of(work, tmp_path / "clone")
    words = ("guards", "--by", "Reader", "--note", "my own", "--yes")
    done = flow(clone, "goal", "approve", "greet", *words, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "wrong_state")
    assert done.json["error"]["remedy"] == "begin one of this checkout: flow goal evaluate greet"


def test_a_run_that_was_taken_away_here_is_no_run_of_elsewhere(work: GitRepo) -> None:
    run = scene.run_dir(work)
    (run / "ledger.jsonl").unlink()
    flow(work, "goal", "evaluate", "greet")
    assert scene.run_dir(work) == run
    assert flow(work, "evidence", "verify").status == 1


def test_two_checkouts_in_one_run_are_told_how_to_part(repo: GitRepo, tmp_path: Path) -> None:
    scene.create(scene.start(repo), "greet", "--allow", ".decisions/**")
    repo.commit("a goal")
    clone = clone_of(repo, tmp_path / "clone")
    assert flow(clone, "trust", "record", "greet", "--yes").status == 0
    scene.propose(clone)  # no journal tells of entries yet, so this is the goal's own run
    clone.commit("their work")
    flow(repo, "goal", "evaluate", "greet")
    repo.git("checkout", "-q", "--", ".")
    repo.git("pull", "-q", str(clone.path), "main")
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.status == 4
    assert "flow goal evaluate greet --run-id NEW" in done.json["next_step_hint"]
    again = scene.confirm(repo, "--run-id", "mine")
    assert again.status == 0, again.stderr
