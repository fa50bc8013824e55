"""Checkouts that are somebody else's, broken or hostile: a row at most; nothing of them is run."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cli.inbox.test_inbox import items
from tests.support import GitRepo, run_flow, scene

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def greet(greet: GitRepo) -> GitRepo:
    greet.commit("goal")
    scene.propose(greet)
    return greet


def test_nothing_of_a_checkout_is_run_or_written(greet: GitRepo, tmp_path: Path) -> None:
    canary = tmp_path / "ran"
    script = greet.write("src/canary.sh", f"#!/bin/sh\ntouch {canary}\ncat\n", mode=0o755)
    for key in ("core.fsmonitor", "diff.external", "filter.x.clean", "filter.x.smudge",
                "core.pager", "core.sshCommand", "gpg.program"):  # fmt: skip
        greet.git("config", key, str(script))
    greet.write(".gitattributes", "* filter=x\n")
    greet.git("branch", "-q", "aside")
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        greet.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {canary}\n", mode=0o755)
    greet.git("-c", "core.hooksPath=/dev/null", "-c", "filter.x.smudge=cat", "worktree", "add",
              "-q", "-b", "tree", str(tmp_path / "tree"))  # fmt: skip
    canary.unlink(missing_ok=True)
    before = {str(f): f.read_bytes() for f in greet.path.rglob("*") if f.is_file()}
    assert items(tmp_path)
    assert run_flow("inbox", "--all", cwd=tmp_path).status == 0
    assert not canary.exists()
    assert before == {str(f): f.read_bytes() for f in greet.path.rglob("*") if f.is_file()}


@pytest.mark.parametrize("words", [("inbox",), ("inbox", "forget", "."), ("report", "--all")])
def test_a_state_folder_in_the_checkout_here_is_not_used(
    greet: GitRepo, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = greet.path / "state"
    output = ("--output", str(tmp_path / "pages")) if words[0] == "report" else ()
    done = run_flow(*words, *output, cwd=greet.path, env={"FLOW_STATE_DIR": str(folder)})
    assert done.status == 0, done
    assert not folder.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to somebody else")
def test_a_checkout_of_another_user_is_a_row(greet: GitRepo, tmp_path: Path) -> None:
    os.chown(greet.path / ".git", 12345, -1)
    (row,) = items(tmp_path)
    assert row["section"] == "broken"
    assert "belongs to another user" in row["why"]
    assert "goal_id" not in row


@pytest.mark.parametrize("content", [b"", b"\0" * 41, b"words\n"], ids=["empty", "nul", "words"])
@pytest.mark.parametrize("name", ["HEAD", "worktrees/tree/HEAD", "worktrees/tree/commondir"])
def test_a_file_of_git_that_a_power_cut_took_hides_no_other_goal(
    greet: GitRepo, tmp_path: Path, name: str, content: bytes
) -> None:
    other = scene.create(scene.start(GitRepo.init(tmp_path / "other")))
    greet.git("worktree", "add", "-q", "-b", "tree", str(tmp_path / "tree"))
    scene.create(GitRepo(tmp_path / "tree"), "second")
    (greet.path / ".git" / name).write_bytes(content)
    rows = {row["path"]: row for row in items(tmp_path)}
    assert rows[str(other.path)]["section"] == "working"
    broken = str(greet.path if name == "HEAD" else tmp_path / "tree")
    assert rows[broken]["section"] == "broken"
    pages = run_flow("report", "--all", "--json", "--output", str(tmp_path / "pages"), cwd=tmp_path)
    assert pages.status == 0, pages


@pytest.mark.parametrize("content", [b"", b"\0" * 41, b"\0\0/.git\n"], ids=["empty", "nul", "half"])
def test_a_record_of_a_worktree_that_a_power_cut_took_is_none(
    greet: GitRepo, tmp_path: Path, content: bytes
) -> None:
    greet.git("worktree", "add", "-q", "-b", "tree", str(tmp_path / "tree"))
    scene.create(GitRepo(tmp_path / "tree"), "second")
    (greet.path / ".git/worktrees/tree/gitdir").write_bytes(content)
    done = run_flow("goal", "list", "--json", cwd=tmp_path / "tree")
    assert done.status == 0, done
    shutil.rmtree(tmp_path / "tree")
    assert str(greet.path) in {row["path"] for row in items(tmp_path)}


def test_a_worktree_whose_repository_is_gone_is_a_row(greet: GitRepo, tmp_path: Path) -> None:
    greet.git("worktree", "add", "-q", "-b", "tree", str(tmp_path / "tree"))
    scene.create(GitRepo(tmp_path / "tree"), "second")
    os.rename(greet.path / ".git", tmp_path / "moved")
    rows = {row["path"]: row for row in items(tmp_path)}
    assert rows[str(tmp_path / "tree")]["section"] == "broken"
    assert "leads to no git directory" in rows[str(tmp_path / "tree")]["why"]


def test_a_repository_cannot_name_somebody_elses_folder_as_its_worktree(
    greet: GitRepo, tmp_path: Path
) -> None:
    other = scene.start(GitRepo.init(tmp_path / "other"))
    other.write(".flow/goals/secret.goal.yaml", scene.goal_file(greet).replace("greet", "secret"))
    greet.write(".git/worktrees/x/gitdir", f"{other.path}/.git\n")
    greet.write(".git/worktrees/x/HEAD", "ref: refs/heads/main\n")
    greet.write(".git/worktrees/x/commondir", "../..\n")
    assert {row["path"] for row in items(tmp_path)} == {str(greet.path)}


def test_a_checkout_comes_back_when_a_goal_is_left_open_there(
    greet: GitRepo, tmp_path: Path
) -> None:
    trusted = (tmp_path / "x", run_flow("trust", "list", "--json", cwd=greet.path).json)
    assert run_flow("inbox", "forget", ".", cwd=greet.path).status == 0
    assert items(tmp_path) == []
    assert items(tmp_path, "--repo", str(greet.path))
    assert run_flow("trust", "list", "--json", cwd=greet.path).json == trusted[1]
    scene.create(greet, "second", "--draft")
    assert items(tmp_path) == []
    assert run_flow("goal", "pause", "greet", cwd=greet.path).status == 0
    assert {row["goal_id"] for row in items(tmp_path)} == {"greet", "second"}


def test_a_hostile_name_reaches_no_terminal(tmp_path: Path) -> None:
    repo = scene.start(GitRepo.init(tmp_path / "a\x1b]0;x\x07\u202e b"))
    scene.create(repo)
    shown = run_flow("inbox", "--all", cwd=tmp_path).stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    (row,) = items(tmp_path)
    assert row["path"] == str(repo.path)
