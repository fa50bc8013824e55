"""Files outside a goal's paths: the offered lines, carried out, end the block."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from tests.support import GitRepo


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    repo.commit(
        "start",
        **{
            "src/greet.txt": "give me that\n",
            ".gitignore": ".flow/runs/\n",
            "tool.py": "1\n2\n3\n",
            "gone.md": "x\n",
            "run.sh": "#!/bin/sh\n",
        },
    )
    repo.write("it was.txt", "dirty\n")
    scene.create(repo)
    scene.meet(repo)
    return repo


def outside(repo: GitRepo) -> dict[str, Any]:
    """What the verdict says of the files outside; the goal is blocked by them."""
    done = flow(repo, "goal", "evaluate", "--json")
    assert done.status == 3, done
    found: dict[str, Any] = done.json["outside"]
    assert found["amend"] is None or found["amend"] in done.json["next_step_hint"]
    return found


def break_out(repo: GitRepo) -> None:
    """Everything outside at once."""
    repo.write("new file.txt", "a\nb\n")
    repo.write("-f", "x")
    repo.write("staged.txt", "x\n")
    repo.git("add", "staged.txt")
    repo.write("tool.py", "1\n2\nthree\nfour\n")
    (repo.path / "gone.md").unlink()
    (repo.path / "run.sh").chmod(0o755)
    os.symlink("src/greet.txt", repo.path / "link")


def test_each_file_has_its_remedy_and_all_of_them_end_the_block(work: GitRepo) -> None:
    break_out(work)
    document = outside(work)
    rows = {file.pop("path"): file for file in document["files"]}
    assert {(path, row["change"], row["do"]) for path, row in rows.items()} == {
        ("new file.txt", "new", "remove"),
        ("-f", "new", "remove"),
        ("staged.txt", "new", "remove"),
        ("link", "new", "remove"),
        ("tool.py", "changed", "put_back"),
        ("gone.md", "deleted", "put_back"),
        ("run.sh", "changed", "put_back"),
    }
    assert (rows["tool.py"]["added"], rows["tool.py"]["removed"]) == (2, 1)
    assert (rows["new file.txt"]["added"], rows["gone.md"]["removed"]) == (2, 1)
    for row in rows.values():
        done = subprocess.run(["bash", "-c", row["command"]], cwd=work.path, capture_output=True)
        assert done.returncode == 0, (row, done)
    assert flow(work, "goal", "evaluate").status == 0
    assert work.read("it was.txt") == "dirty\n"


def test_the_line_to_amend_allows_them_all(work: GitRepo) -> None:
    break_out(work)
    line = outside(work)["amend"]
    assert line.startswith("flow goal amend greet --allow=-f --allow ")
    assert "'new file.txt'" in line
    said = flow(work, "goal", "evaluate")
    assert line in said.stdout
    done = flow(work, *shlex.split(line)[1:], "--yes")
    assert done.status == 0, done
    assert flow(work, "goal", "evaluate").status == 0


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
@pytest.mark.parametrize("many", [False, True])
def test_a_name_that_no_goal_file_can_hold_is_allowed_by_a_pattern(
    work: GitRepo, many: bool
) -> None:
    folder = os.fsdecode(b"caf\xe9")
    for number in range(12 if many else 1):
        work.write(f"{folder}/{number}", "x\n")
    line = outside(work)["amend"]
    assert line.endswith(" --allow 'caf?/**'" if many else " --allow 'caf?/0'"), line
    assert flow(work, *shlex.split(line)[1:], "--yes").status == 0
    assert flow(work, "goal", "evaluate").status == 0


def test_a_link_that_leads_out_is_opened_by_no_path(work: GitRepo) -> None:
    os.symlink("/etc/hostname", work.path / "out")
    document = outside(work)
    assert (document["amend"], document["not_opened"]) == (None, ["out"])
    assert document["files"][0]["command"] == "rm out"


def test_of_many_the_folder_is_offered_and_called_that(work: GitRepo) -> None:
    for number in range(12):
        work.write(f"docs/deep/{number}.md", "x\n")
    document = outside(work)
    assert document["amend"] == "flow goal amend greet --allow 'docs/deep/**'"
    assert document["folders"] == ["docs/deep/**"]
    said = flow(work, "goal", "evaluate").stdout
    assert "or     flow goal amend greet --allow 'docs/deep/**'\n" in said
    assert "this opens whole folders: docs/deep/**" in said


def test_what_was_committed_is_removed_and_committed(work: GitRepo) -> None:
    work.commit("more", **{"extra.txt": "x\n", "tool.py": "4\n"})
    rows = {file["path"]: file for file in outside(work)["files"]}
    assert {row["do"] for row in rows.values()} == {"remove", "put_back"}
    assert all(row["committed"] for row in rows.values())
    for row in rows.values():
        subprocess.run(["bash", "-c", row["command"]], cwd=work.path, check=True)
    work.git("commit", "-qam", "back")
    assert flow(work, "goal", "evaluate").status == 0


def test_a_denied_file_has_no_line_to_amend(work: GitRepo) -> None:
    assert flow(work, "goal", "amend", "--deny", "*.key").status == 0
    work.write("src/a.key", "x")
    document = outside(work)
    assert (document["amend"], document["not_opened"]) == (None, ["src/a.key"])
    said = flow(work, "goal", "evaluate").stdout
    assert "a person allows what is denied: flow goal amend greet --edit\n" in said
    assert "new, denied by '*.key'" in said
    done = flow(work, "goal", "amend", "--allow", "src/a.key", "--yes")
    told = "constraints.allowed_paths: src/a.key stays denied by '*.key': denied beats allowed"
    assert told in done.stderr, "so that nobody waits for what it does not open"


def test_a_file_that_was_dirty_has_no_command_that_would_lose_it(work: GitRepo) -> None:
    work.write("it was.txt", "changed\n")
    (file,) = outside(work)["files"]
    assert (file["change"], file["do"], file["command"]) == ("changed", "put_back", None)


def test_no_line_takes_out_what_turned_the_hook_on(repo: GitRepo) -> None:
    """A settings file that ``flow init`` wrote while the goal was open, and somebody changed."""
    hooks, kept = ".codex/hooks.json", ".claude/settings.json"
    repo.commit("start", **{"src/greet.txt": "x\n", ".gitignore": ".flow/runs/\n", kept: "{}\n"})
    scene.create(repo)
    scene.meet(repo)
    assert flow(repo, "init", "--host", "codex").status == 0
    repo.write(hooks, repo.read(hooks) + "\n")
    (repo.path / kept).unlink()
    rows = {file["path"]: file for file in outside(repo)["files"]}
    assert (rows[hooks]["do"], rows[hooks]["command"]) == ("put_back", None)
    assert rows[kept]["command"].startswith("git restore ")
    shown = flow(repo, "goal", "evaluate").stdout
    assert "decides about Flow's hook: take back what was changed in it" in shown
    assert "remove" not in shown
    repo.git("add", hooks, "-f")
    assert "rm " not in flow(repo, "goal", "evaluate").stdout


def test_without_a_violation_the_verdict_has_no_such_part(work: GitRepo) -> None:
    assert "outside" not in flow(work, "goal", "evaluate", "--json").json


def test_status_says_what_frees_a_blocked_goal(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    repo.write("out", "x\n")
    assert flow(repo, "goal", "evaluate", "greet").status == 3
    step = "remove out; or a person allows them: flow goal amend greet --allow out"
    assert flow(repo, "goal", "status", "greet", "--json").json["next"] == step
    shown = flow(repo, "goal", "status").stdout
    assert shown.endswith("next   {}\nor     {}\n".format(*step.split("; or ")))
    (repo.path / "out").unlink()
    assert flow(repo, "goal", "status", "--json").json["next"] == "flow goal evaluate greet"
