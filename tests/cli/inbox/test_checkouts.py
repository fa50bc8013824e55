"""Checkouts in odd places: moved, linked, left out, detached, with names of any bytes."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cli.inbox.test_inbox import items, told
from tests.support import GitRepo, run_flow, scene

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def greet(greet: GitRepo) -> GitRepo:
    greet.commit("goal")
    return greet


@pytest.fixture
def tree(greet: GitRepo, tmp_path: Path) -> GitRepo:
    """A second working tree, with a goal of its own that its branch has committed."""
    greet.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    tree = scene.create(GitRepo(tmp_path / "tree"), "second")
    tree.commit("second")
    return tree


def goals(where: Path, *words: str) -> set[str]:
    return {row.get("goal_id", row["path"]) for row in items(where, *words)}


def test_a_working_tree_that_is_left_out_takes_its_branch_s_goals_along(
    tree: GitRepo, tmp_path: Path
) -> None:
    assert goals(tmp_path) == {"greet", "second"}
    assert goals(tmp_path, "--exclude", "tree") == {"greet"}
    assert run_flow("inbox", "forget", str(tree.path), cwd=tmp_path).status == 0
    assert goals(tmp_path) == {"greet"}
    assert goals(tmp_path, "--repo", str(tree.path)) == {"greet", "second"}
    tree.git("switch", "-q", "-c", "aside")
    assert goals(tmp_path) == {"greet", "second"}  # now its branch is checked out nowhere


def test_so_does_the_main_one_that_is_left_out(
    greet: GitRepo, tree: GitRepo, tmp_path: Path
) -> None:
    assert run_flow("inbox", "forget", str(greet.path), cwd=tmp_path).status == 0
    assert goals(tmp_path) == {"second"}


def test_a_checkout_that_was_moved_behind_a_link_is_looked_at_where_it_is(
    greet: GitRepo, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    greet.path.rename(moved)
    greet.path.symlink_to(moved)
    assert {row["path"] for row in items(tmp_path)} == {str(moved)}
    done = run_flow("inbox", "forget", str(greet.path), cwd=tmp_path)
    assert done.stdout.startswith(f"✓ {moved} is left out")
    assert items(tmp_path) == []


def test_what_is_gone_behind_a_link_can_be_forgotten(tmp_path: Path) -> None:
    repo = scene.create(scene.start(GitRepo.init(tmp_path / "a/repo")))
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    shutil.rmtree(tmp_path / "b/repo")
    (row,) = items(tmp_path)
    assert row["command"] == f"flow inbox forget {repo.path}"
    assert run_flow(*row["command"].split()[1:], cwd=tmp_path).status == 0
    assert items(tmp_path) == []


@pytest.mark.parametrize("name", ["quill", "", "a\nb\x1b[31m", "x" * 5_000])
def test_a_wrong_name_forgets_nothing(greet: GitRepo, tmp_path: Path, name: str) -> None:
    done = run_flow("inbox", "forget", name, cwd=greet.path)
    assert done.status == 2
    assert goals(tmp_path) == {"greet"}


def test_on_a_detached_head_a_goal_stands_where_flow_is_used_on_it(
    greet: GitRepo, tmp_path: Path
) -> None:
    greet.git("checkout", "-q", "--detach")
    scene.propose(greet)
    (row,) = told(tmp_path)
    assert row[0] == "waits"
    assert row[4] == "flow goal confirm greet"
    assert scene.confirm(greet).status == 0
    assert [row[:2] for row in told(tmp_path)] == [("closed", "greet")]


def test_a_detached_head_where_nobody_used_flow_says_nothing(
    greet: GitRepo, tmp_path: Path
) -> None:
    greet.git("switch", "-q", "-c", "aside")
    greet.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"), "main")
    (row,) = told(tmp_path)
    assert row[3].endswith("its branch is not checked out")


GONE = "the checkout of its branch no longer has it"


@pytest.mark.parametrize("committed", [False, True])
def test_a_goal_whose_file_was_deleted_on_its_branch_is_told_as_that(
    greet: GitRepo, tmp_path: Path, committed: bool
) -> None:
    greet.git("branch", "-q", "other")
    greet.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    (greet.path / ".flow/goals/greet.goal.yaml").unlink()
    if committed:
        greet.commit("deleted")
    for _ in range(2):  # the second time from the index
        (row,) = items(tmp_path)
        assert (row["goal_id"], row["path"]) == ("greet", str(greet.path))
        assert row["why"].endswith(GONE)
    greet.git("switch", "-q", "other")
    (row,) = items(tmp_path)
    assert row["why"].endswith("its branch is not checked out")


def test_a_goal_that_cannot_be_read_on_its_branch_is_told_once(
    greet: GitRepo, tmp_path: Path
) -> None:
    greet.git("branch", "-q", "other")
    greet.write(".flow/goals/greet.goal.yaml", "kind: [")
    (row,) = items(tmp_path)
    assert row["section"] == "broken"
    assert row["path"] == str(greet.path)


def test_what_its_branch_closed_later_is_closed(greet: GitRepo, tmp_path: Path) -> None:
    greet.git("checkout", "-q", "--detach")
    before = scene.goal_file(greet)
    assert run_flow("goal", "clear", "greet", "--yes", cwd=greet.path).status == 0
    greet.git("switch", "-q", "main")
    greet.commit("cleared")
    greet.git("checkout", "-q", "--detach")
    greet.write(".flow/goals/greet.goal.yaml", before)
    assert [row[:2] for row in told(tmp_path)] == [("closed", "greet")]


def test_a_path_that_is_not_utf_8_is_a_path_like_any_other(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"b\xff d")
    repo = scene.create(scene.start(GitRepo.init(odd)))
    repo.commit("goal")
    repo.git("branch", "-q", "aside")  # git is asked for branches, and the index keeps the answer
    for _ in range(2):
        (row,) = items(tmp_path)
        assert (row["goal_id"], row["path"]) == ("greet", f"{tmp_path}/b\\xff d")
    assert "b\\xff d" in run_flow("inbox", "--all", cwd=tmp_path).stdout
    shutil.rmtree(odd)
    shown = run_flow("inbox", cwd=tmp_path).stdout
    assert shown.endswith(f"gone  b\\xff d: the checkout is not there; flow inbox forget "
                          f"$'{tmp_path}/b\\377 d'\n")  # fmt: skip


def test_what_is_broken_is_told_apart_from_its_name(greet: GitRepo, tmp_path: Path) -> None:
    greet.write(".flow/goals/torn.goal.yaml", "kind: [")
    for _ in range(2):  # the second time its fault is in the index
        shown = run_flow("inbox", cwd=tmp_path).stdout
        assert f"\nbroken  {greet.path} torn: cannot be read" in shown


def test_two_repositories_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("work", "play"):
        scene.create(scene.start(GitRepo.init(tmp_path / folder / "app")))
    scene.create(scene.start(GitRepo.init(tmp_path / "lone")), "third")
    done = run_flow("inbox", "--all", cwd=tmp_path)
    places = re.findall(r"^  \w+ +(\S+)/ma", done.stdout, re.M)
    assert set(places) == {"work/app", "play/app", "lone"}
    shown = run_flow("inbox", "--all", "--repo", "work/app", cwd=tmp_path).stdout
    assert "greet  app/ma" in shown
    assert shown.count("0 of 1 proved") == 1  # once said is enough


def test_a_checkout_that_may_not_be_read_is_not_called_gone(
    greet: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(greet.path)
    greet.path.mkdir()
    scandir = os.scandir

    def refused(path: str) -> object:
        if path == str(greet.path):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)  # root may read everything
    (row,) = items(tmp_path)
    assert (row["section"], row["why"]) == ("broken", "it cannot be read: Permission denied")
    assert "command" not in row


def test_a_checkout_without_git_has_no_branch(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    (plain / ".flow").mkdir(parents=True)
    words = ("--outcome", "o", "--criterion", "AC1: x :: false", "--allow", "src/**")
    done = run_flow("goal", "create", "greet", *words, cwd=plain)
    assert done.status == 0, done.stderr
    (row,) = items(tmp_path)
    assert (row["goal_id"], row["section"]) == ("greet", "working")
    assert "branch" not in row
    assert "greet  plain  0 of 1" in run_flow("inbox", "--all", cwd=tmp_path).stdout
    pages = run_flow("report", "--all", "--json", cwd=tmp_path).json["goals"]
    assert [page["page"] for page in pages] == ["plain-greet.html"]
