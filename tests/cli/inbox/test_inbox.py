"""``flow inbox``: each goal once, where its branch is checked out, with what to type."""

from __future__ import annotations

import json
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


@pytest.fixture
def greet(repo: GitRepo) -> GitRepo:
    scene.start(repo)
    repo.git("branch", "-q", "-M", "main")
    return scene.create(repo)


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


def test_a_goal_file_that_cannot_be_read_is_a_row(greet: GitRepo) -> None:
    greet.write(".flow/goals/torn.goal.yaml", "kind: [")
    row = next(row for row in items(greet) if row["section"] == "broken")
    assert (row["goal_id"], row["branch"]) == ("torn", None)
    assert "command" not in row


def test_only_some(greet: GitRepo, tmp_path: Path) -> None:
    other = scene.start(GitRepo.init(tmp_path / "other"))
    scene.create(other, "second")
    assert {row["goal_id"] for row in items(tmp_path)} == {"greet", "second"}
    assert {row["goal_id"] for row in items(tmp_path, "--repo", str(other))} == {"second"}
    assert {row["goal_id"] for row in items(tmp_path, "--exclude", "oth*")} == {"greet"}
    assert run_flow("inbox", "--repo", str(tmp_path / "none"), cwd=tmp_path).status == 2
    assert run_flow("inbox", "--since", "soon", cwd=tmp_path).status == 2


def test_closed_goals_are_told_for_a_while(greet: GitRepo) -> None:
    scene.meet(greet)
    assert scene.confirm(greet).status == 0
    assert told(greet) == [("closed", "greet", "main", "achieved", None)]
    assert told(greet, "--since", "0m") == []
