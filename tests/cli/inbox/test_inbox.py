"""``flow inbox``: each goal once, where its branch is checked out, with what to type."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests.support import ROOT, GitRepo, run_flow, scene

if TYPE_CHECKING:
    from pathlib import Path


WAY = "0 of 1 proved, not evaluated yet"


def items(where: Path | GitRepo, *words: str) -> list[dict[str, Any]]:
    """The rows, which keep the schema."""
    cwd = where.path if isinstance(where, GitRepo) else where
    done = run_flow("inbox", "--json", *words, cwd=cwd)
    assert done.status == 0, done.stderr
    with open(f"{ROOT}/schemas/v1/inbox.schema.json", encoding="utf-8") as schema:
        jsonschema.validate(done.json, json.load(schema))
    rows: list[dict[str, Any]] = done.json["items"]
    return rows


def told(where: Path | GitRepo, *words: str) -> list[tuple[Any, ...]]:
    """(section, goal, branch, why, command) of each row."""
    keys = ("section", "goal_id", "branch", "why", "command")
    return [tuple(row.get(key) for key in keys) for row in items(where, *words)]


def test_a_goal_that_is_proposed_waits_from_anywhere(greet: GitRepo, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    working = ("working", "greet", "main", "0 of 1 proved, not evaluated yet", None)
    assert told(elsewhere) == [working]
    assert run_flow("inbox", "--exit-code", cwd=elsewhere).status == 0
    scene.propose(greet)
    row = items(elsewhere)[0]
    assert (row["section"], row["command"]) == ("waits", "flow goal confirm greet")
    assert row["path"] == row["repository"] == str(greet.path)
    done = run_flow("inbox", "--exit-code", cwd=elsewhere)
    assert done.status == 4
    assert done.stdout.startswith("Waits for you  1\n  greet  ")
    greet.write("src/greet.txt", "please, again\n")
    assert told(elsewhere)[0][::3] == (
        "working",
        "achieved was proposed; the files were changed since it was made",
    )


def test_a_goal_that_is_gone_is_told_until_it_is_forgotten(greet: GitRepo, tmp_path: Path) -> None:
    """It waited for a person, who would else be told that nothing waits."""
    scene.propose(greet)
    (greet.path / ".flow/goals/greet.goal.yaml").rename(tmp_path / "kept")
    for _ in range(2):
        ((section, goal, _, why, command),) = told(tmp_path)
        assert (section, goal, command) == ("broken", "greet", None)
        assert "its file .flow/goals/greet.goal.yaml is gone; put the file back" in why
    assert run_flow("goal", "forget", "greet", cwd=greet.path).status == 0
    assert told(tmp_path) == []


def test_a_goal_stands_where_its_branch_is_checked_out(greet: GitRepo, tmp_path: Path) -> None:
    greet.commit("the goal")
    greet.git("switch", "-q", "-c", "other")
    scene.create(greet, "second")
    greet.commit("a second goal")
    greet.git("switch", "-q", "main")
    assert sorted(told(greet)) == [
        ("working", "greet", "main", WAY, None),
        ("working", "second", "other", WAY + "; its branch is not checked out", None),
    ]
    tree = tmp_path / "tree"
    greet.git("worktree", "add", "-q", str(tree), "other")
    rows = {row["goal_id"]: row for row in items(greet)}
    assert (rows["second"]["path"], rows["greet"]["path"]) == (str(tree), str(greet.path))
    assert {row["repository"] for row in rows.values()} == {str(greet.path)}
    assert len(rows) == 2


def test_a_checkout_that_is_gone_is_a_row_until_it_is_forgotten(
    greet: GitRepo, tmp_path: Path
) -> None:
    shutil.rmtree(greet.path)
    (row,) = items(tmp_path)
    assert (row["section"], row["path"]) == ("broken", str(greet.path))
    assert row["why"] == "the checkout is not there"
    assert (row["branch"], row["since"]) == (None, None)
    assert "goal_id" not in row
    assert row["command"] == f"flow inbox forget {greet.path}"
    done = run_flow("inbox", "forget", str(greet.path), cwd=tmp_path)
    assert done.status == 0, done.stderr
    assert items(tmp_path) == []
    assert run_flow("inbox", "forget", str(tmp_path / "never"), cwd=tmp_path).status == 2


@pytest.fixture
def tree(greet: GitRepo, tmp_path: Path) -> GitRepo:
    """A linked working tree, on branch ``other``, in which the goal ``second`` is worked on."""
    greet.commit("the goal")
    path = tmp_path / "tree"
    greet.git("worktree", "add", "-q", "-b", "other", str(path))
    tree = GitRepo(path)
    scene.create(tree, "second", "--base", "HEAD")
    tree.commit("the second goal")
    return tree


@pytest.mark.parametrize("closed", [False, True], ids=["open goals", "none open"])
def test_a_removed_worktree_is_a_row_as_long_as_git_lists_it(
    greet: GitRepo, tree: GitRepo, tmp_path: Path, closed: bool
) -> None:
    if closed:
        for goal in ("greet", "second"):
            done = run_flow("goal", "clear", goal, "--yes", "--reason", "no", cwd=tree.path)
            assert done.status == 0, done.stderr
        tree.commit("closed")
    shutil.rmtree(tree.path)
    gone = ("broken", None, None, "the checkout is not there", f"flow inbox forget {tree.path}")
    assert [row for row in told(tmp_path) if row[0] == "broken"] == [gone]
    greet.git("worktree", "prune")
    rows = told(tmp_path)
    assert [row for row in rows if row[0] == "broken"] == []
    assert "second" in {row[1] for row in rows}, "its branch still has the goal"


def test_a_worktree_that_was_moved_is_no_row(greet: GitRepo, tree: GitRepo, tmp_path: Path) -> None:
    greet.git("worktree", "move", str(tree.path), str(tmp_path / "moved"))
    rows = {row["goal_id"]: row["path"] for row in items(tmp_path)}
    assert rows == {"greet": str(greet.path), "second": str(tmp_path / "moved")}


def test_goals_of_a_removed_worktree_are_told_where_only_that_was_worked_in(
    tmp_path: Path, repo: GitRepo
) -> None:
    scene.start(repo)
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    tree = GitRepo(tmp_path / "tree")
    scene.create(tree, "second")
    tree.commit("the second goal")
    told_by_git = ("second", "other", str(repo.path))
    shutil.rmtree(tree.path)
    row, gone = items(tmp_path)
    assert (row["goal_id"], row["branch"], row["path"]) == told_by_git
    assert gone["command"] == f"flow inbox forget {tree.path}"
    repo.git("worktree", "prune")
    (row,) = items(tmp_path)
    assert (row["goal_id"], row["branch"], row["path"]) == told_by_git
    os.rename(repo.path, tmp_path / "elsewhere")
    (row,) = items(tmp_path)
    assert row["command"] == f"flow inbox forget {tree.path}", "the repository is not there either"


def test_a_goal_file_that_cannot_be_read_is_a_row(greet: GitRepo) -> None:
    greet.write(".flow/goals/torn.goal.yaml", "kind: [")
    row = next(row for row in items(greet) if row["section"] == "broken")
    assert (row["goal_id"], row["branch"]) == ("torn", None)
    assert "command" not in row


def torn_on_branch(greet: GitRepo, branch: str, text: str = "kind: [") -> None:
    """A branch whose last commit has a goal file that cannot be read."""
    greet.git("switch", "-q", "-c", branch)
    greet.write(".flow/goals/torn.goal.yaml", text)
    greet.commit("torn")
    greet.git("switch", "-q", "main")


def broken(where: Path | GitRepo) -> list[tuple[Any, ...]]:
    rows = [row for row in items(where) if row["section"] == "broken"]
    return [(row.get("goal_id"), row["branch"], row["path"], row["why"]) for row in rows]


def test_a_goal_of_another_branch_that_cannot_be_read_is_a_row(
    greet: GitRepo, tmp_path: Path
) -> None:
    greet.commit("the goal")
    torn_on_branch(greet, "other")
    (row,) = broken(greet)
    assert row[:3] == ("torn", "other", str(greet.path))
    assert row[3].startswith("cannot be read on branch other: ")
    assert broken(greet) == [row], "and again, with the index"
    shown = run_flow("inbox", cwd=greet.path).stdout.splitlines()
    assert shown[-1].startswith(f"broken  {greet.path} torn: cannot be read on branch other: ")
    greet.git("branch", "-q", "another", "other")
    assert broken(greet) == [(row[0], "another", *row[2:3], row[3].replace("other", "another"))]
    greet.git("branch", "-q", "-D", "another")
    greet.git("worktree", "add", "-q", str(tmp_path / "tree"), "other")
    (there,) = broken(greet)
    assert there[1:3] == (None, str(tmp_path / "tree")), "the checkout tells it where it has it"
    (tmp_path / "tree/.flow/goals/torn.goal.yaml").write_text(
        scene.goal_file(greet).replace("greet", "torn")
    )
    assert broken(greet) == []
    greet.git("worktree", "remove", "--force", str(tmp_path / "tree"))
    assert [row[1] for row in broken(greet)] == ["other"]
    greet.git("branch", "-q", "-D", "other")
    assert broken(greet) == []


def test_the_same_fault_on_many_branches_is_one_row_and_another_fault_another(
    greet: GitRepo,
) -> None:
    greet.commit("the goal")
    torn_on_branch(greet, "other")
    torn_on_branch(greet, "third", "apiVersion: no\n")
    greet.git("branch", "-q", "same", "other")
    assert sorted(row[1] for row in broken(greet)) == ["other", "third"]
    greet.write(".flow/goals/torn.goal.yaml", "kind: [")
    assert [(row[0], row[1]) for row in broken(greet)] == [("torn", None), ("torn", "third")]


def test_branches_that_git_cannot_read_are_a_row(
    greet: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flow.adapters.ledger import branch_goals
    from flow.errors import GitError

    greet.commit("the goal")
    greet.git("branch", "-q", "other")

    def refuse(*_args: object) -> None:
        raise GitError("git ended with 128", remedy="look")

    monkeypatch.setattr(branch_goals, "files_on_branches", refuse)
    (row,) = broken(greet)
    assert row[0] is None
    assert row[3].startswith("the goals of its other branches cannot be read: ")


def test_only_some(greet: GitRepo, tmp_path: Path) -> None:
    other = scene.start(GitRepo.init(tmp_path / "other"))
    scene.create(other, "second")
    assert {row["goal_id"] for row in items(tmp_path)} == {"greet", "second"}
    assert {row["goal_id"] for row in items(tmp_path, "--repo", str(other))} == {"second"}
    assert {row["goal_id"] for row in items(tmp_path, "--exclude", "oth*")} == {"greet"}
    none = str(tmp_path / "none")
    done = run_flow("inbox", "--repo", none, cwd=tmp_path)
    assert done.status == 2
    assert f"--repo: there is no checkout at {none} (" in done.stderr
    assert run_flow("inbox", "--since", "soon", cwd=tmp_path).status == 2


def test_closed_goals_are_told_for_a_while(greet: GitRepo) -> None:
    scene.meet(greet)
    assert scene.confirm(greet).status == 0
    assert told(greet) == [("closed", "greet", "main", "achieved", None)]
    assert told(greet, "--since", "0m") == []
