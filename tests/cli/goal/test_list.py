"""``flow goal list`` of real goals: on this branch, on others, and only some of them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from flow.core.goal.lifecycle import STATUSES
from tests.support import GitRepo, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.made_once.stage import Stage

NAMESAKE = "this one has its name only; what was recorded of that: flow evidence list --run-id"
ALL = ("goal", "list", "--all-branches")


def branch_with(repo: GitRepo, goal: str, *words: str, **more: Any) -> None:
    """A branch of the goal's name with the goal, committed there."""
    repo.git("switch", "-q", "-c", goal, "main")
    scene.create(repo, goal, *words, **more)
    repo.commit(goal)


@pytest.fixture
def branches(stage: Stage) -> GitRepo:
    """Goals ``one`` (a proposal), ``two`` (blocked), ``three`` (a draft), and ``main``."""
    repo = stage.repo

    def make() -> None:
        scene.start(GitRepo.init(repo.path))
        branch_with(repo, "one")
        scene.propose(repo, "one")
        repo.commit("met")
        branch_with(repo, "two")
        repo.write("out.txt", "x")
        assert flow(repo, "goal", "evaluate").status == 3
        (repo.path / "out.txt").unlink()
        repo.commit("blocked")
        branch_with(repo, "three", "--draft")
        repo.git("switch", "-q", "main")

    stage.begin(make)
    return repo


def rows(repo: GitRepo, *words: str) -> list[tuple[Any, ...]]:
    goals = flow(repo, *(words or ALL), "--json").json["goals"]
    return [(g["goal_id"], g["status"], g["here"], g["from_git"]) for g in goals]


def test_all_branches_are_read_without_a_checkout(branches: GitRepo) -> None:
    before = branches.git("status", "--porcelain"), branches.git("rev-parse", "HEAD")
    assert rows(branches) == [
        ("one", "active", False, "one"),
        ("two", "blocked", False, "two"),
        ("three", "draft", False, "three"),
    ]
    told = flow(branches, *ALL).stdout
    assert told.endswith(
        "\n3 goals on 3 branches; 3 were read from git, as last committed there.\n"
    )
    assert "not here" in told.splitlines()[1], "as in the inbox: its branch comes first"
    assert before == (branches.git("status", "--porcelain"), branches.git("rev-parse", "HEAD"))


def test_a_goal_stands_where_its_branch_is_checked_out(branches: GitRepo) -> None:
    branches.git("switch", "-q", "two")
    branches.git("checkout", "-q", "one", "--", ".flow/goals/one.goal.yaml")
    branches.commit("two branches hold goal one now")
    assert flow(branches, "goal", "pause", "two", "--reason", "later").status == 0
    assert sorted(rows(branches)) == [
        ("one", "active", False, "one"),
        ("three", "draft", False, "three"),
        ("two", "waiting_for_user", True, None),  # as it is, not as committed
    ]
    assert "* here" in flow(branches, *ALL).stdout


def test_where_this_branch_has_none_the_others_are_named(branches: GitRepo) -> None:
    done = flow(branches, "goal", "list")
    assert (done.status, done.stdout) == (0, "")
    assert done.stderr == (
        "no goal on main; 3 goals on one, three, two: flow goal list --all-branches\n"
    )
    assert flow(branches, "goal", "list", "--json").json["other_branches"] == {
        "one": 1,
        "three": 1,
        "two": 1,
    }
    branches.git("switch", "-q", "two")
    done = flow(branches, "goal", "list")
    assert "no goal" not in done.stderr
    assert flow(branches, "goal", "list", "--json").json["other_branches"] is None


@pytest.fixture
def tree(branches: GitRepo, tmp_path: Path) -> Path:
    """A linked working tree on the branch ``four``, with a goal of it that nobody committed."""
    top = tmp_path / "tree"
    branches.git("worktree", "add", "-q", "-b", "four", str(top), "main")
    branches.git("switch", "-q", "-c", "draft-place", "main")
    scene.create(branches, "four", "--draft")
    (goal,) = branches.path.glob(".flow/goals/four.goal.yaml")
    (top / ".flow/goals").mkdir(parents=True, exist_ok=True)
    text = goal.read_text("utf-8").replace("draft-place", "four")
    (top / ".flow/goals/four.goal.yaml").write_text(text, "utf-8")
    goal.unlink()
    branches.git("switch", "-q", "main")
    return top


def test_goals_of_other_working_trees_are_in_the_list(branches: GitRepo, tree: Path) -> None:
    goals = flow(branches, *ALL, "--json").json["goals"]
    assert {g["goal_id"]: (g["here"], g["from_git"], g["checkout"]) for g in goals} == {
        "one": (False, "one", None),
        "two": (False, "two", None),
        "three": (False, "three", None),
        "four": (False, None, os.path.realpath(tree)),
    }
    assert flow(branches, *ALL).stdout.endswith(
        "\n4 goals on 4 branches; 3 were read from git, as last committed there; "
        "1 is in another working tree.\n"
    )
    counted = flow(branches, "goal", "list", "--json").json["other_branches"]
    assert counted == {"four": 1, "one": 1, "three": 1, "two": 1}
    assert "goals on four, one, three" not in flow(branches, "goal", "list").stderr
    assert "4 goals on 4 other branches" in flow(branches, "goal", "list").stderr


@pytest.mark.parametrize("there", [True, False], ids=["its branch is there", "another is there"])
def test_a_goal_stands_in_the_tree_where_its_branch_is_checked_out(
    branches: GitRepo, tmp_path: Path, *, there: bool
) -> None:
    """Its file is as it lies there, not as it was committed; of another branch's goal it is not."""
    top = tmp_path / "tree"
    branches.git("worktree", "add", "-q", str(top), "two")
    if not there:
        branches.git("-C", str(top), "switch", "-q", "--detach")
    file = top / ".flow/goals/two.goal.yaml"
    text = file.read_text("utf-8")
    file.write_text(text.replace("status: blocked", "status: active"), "utf-8")
    (row,) = [g for g in flow(branches, *ALL, "--json").json["goals"] if g["goal_id"] == "two"]
    assert row["status"] == ("active" if there else "blocked")
    assert (row["from_git"], row["checkout"]) == (
        (None, os.path.realpath(top)) if there else ("two", None)
    )


def test_what_cannot_be_read_in_another_tree_is_told_once(branches: GitRepo, tree: Path) -> None:
    (tree / ".flow/goals/four.goal.yaml").write_text("id: [", "utf-8")
    done = flow(branches, *ALL, "--json")
    (row,) = done.json["unreadable"]
    assert row["file"] == os.path.join(os.path.realpath(tree), ".flow/goals/four.goal.yaml")
    assert "four" not in {g["goal_id"] for g in done.json["goals"]}
    assert os.path.realpath(tree) in flow(branches, *ALL).stderr


@pytest.mark.parametrize("gone", ["removed", "another repository's"])
def test_a_tree_that_is_not_there_is_none(branches: GitRepo, tree: Path, gone: str) -> None:
    shutil.rmtree(tree)
    if gone != "removed":
        shutil.copytree(branches.path, tree)  # a folder of the same name, not registered
    assert "four" not in {g["goal_id"] for g in flow(branches, *ALL, "--json").json["goals"]}


def test_without_any_goal_that_is_said(repo: GitRepo) -> None:
    scene.start(repo)
    done = flow(repo, "goal", "list")
    assert done.stderr == "no goals yet; make one: flow goal create\n"
    assert flow(repo, *ALL).status == 0


def test_an_open_goal_whose_file_is_gone_is_told_until_it_is_forgotten(repo: GitRepo) -> None:
    """As after `git stash -u` or `git clean -fdx`: "make one" would hide that there is one."""
    scene.create(scene.start(repo))
    scene.propose(repo)
    file = ".flow/goals/greet.goal.yaml"
    shutil.rmtree(repo.path / ".flow")

    done = flow(repo, "goal", "list")

    assert done.stderr == (
        f"flow: warning: {file}: cannot be read: goal greet is open here, and its file is gone "
        "(put the file back as it was; if it is meant to be so: flow goal forget greet)\n"
    )
    assert [row["file"] for row in flow(repo, *ALL, "--json").json["unreadable"]] == [file]
    for words in ((), ("greet",)):  # status with an id, and without one
        done = flow(repo, "goal", "status", *words)
        assert (done.status, f"{file}: goal greet is open here" in done.stderr) == (2, True), done
        assert "flow goal forget greet" in done.stderr
    repo.git("switch", "-q", "-c", "another")
    assert file not in flow(repo, "goal", "list").stderr, "no file of that branch"
    assert file not in flow(repo, "goal", "status").stderr
    repo.git("switch", "-q", "-")
    assert flow(repo, "goal", "forget", "greet").status == 0
    assert flow(repo, "goal", "list").stderr == "no goals yet; make one: flow goal create\n"


def test_no_command_says_that_there_is_no_goal_where_its_file_is_gone(repo: GitRepo) -> None:
    """As after `git stash -u`: "flow goal create makes one" would begin another beside it."""
    scene.create(scene.start(repo))
    scene.propose(repo)
    scene.create(repo, "later", "--draft")
    (repo.path / ".flow/goals/greet.goal.yaml").unlink()
    gone = "greet.goal.yaml: goal greet is open here, and its file is gone (put the file back"

    for words in ("status", "status greet", "evaluate", "evaluate --all", "confirm greet", "pause"):
        done = flow(repo, "goal", *words.split())
        assert (done.status, gone in done.stderr) == (2, True), words
    assert flow(repo, "goal", "status", "later").status == 0
    assert flow(repo, "goal", "clear", "later", "--yes").status == 0
    assert "1 goal cannot be read" in flow(repo, "statusline").stdout
    assert gone in flow(repo, "verdict", "show").stderr, "nothing that is here is open"


def test_nor_where_a_hand_moved_it_to_another_branch(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    moved = scene.goal_file(repo).replace("branch: main", "branch: other")
    repo.write(".flow/goals/greet.goal.yaml", moved)
    for words in ("status", "evaluate", "pause"):
        done = flow(repo, "goal", words)
        told = "greet is open here, and its branch was set to other by hand (put scope.branch back"
        assert (done.status, told in done.stderr) == (2, True), words
    assert flow(repo, "goal", "status", "greet").status == 0


def test_a_new_goal_that_takes_the_name_of_one_that_is_gone_says_so(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    run = scene.run_dir(repo).name
    (repo.path / ".flow/goals/greet.goal.yaml").unlink()
    words = ("goal", "create", "greet", "--outcome", "o", "--criterion", "AC1: t :: false")
    done = flow(repo, *words)
    assert done.status == 0, done
    assert f"goal greet was open here, and its file was gone: {NAMESAKE} {run}" in done.stderr
    assert flow(repo, "evidence", "list", "--run-id", run).status == 0


def test_a_goal_of_another_branch_does_not_wait_for_you_here(repo: GitRepo) -> None:
    """The inbox says that nothing waits: no command changes anything before its branch is here."""
    scene.start(repo).git("switch", "-q", "-c", "feat")
    scene.create(repo)
    scene.propose(repo)
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "all of it")
    repo.git("switch", "-q", "main")
    (row,) = flow(repo, *ALL, "--json").json["goals"]
    assert row["state"] == "not here"
    assert flow(repo, "inbox").stdout.startswith("Nothing waits for you. 1 blocked.")


def test_without_a_goal_of_the_status_asked_for_that_is_said(branches: GitRepo) -> None:
    elsewhere = "no goal on main; 3 goals on one, three, two: flow goal list --all-branches\n"
    asked = ("goal", "list", "--status", "blocked,failed")
    assert flow(branches, *asked).stderr == elsewhere
    assert flow(branches, *asked, "--all-branches").stderr == ""  # two is blocked
    branches.git("switch", "-q", "one")
    assert flow(branches, *asked).stderr == "no goal is blocked or failed\n"
    assert flow(branches, *asked, "--ids").stderr == ""
    assert flow(branches, "goal", "list", "--status", "active").stderr == ""


def test_only_some_statuses_and_only_ids(branches: GitRepo) -> None:
    cases: list[tuple[tuple[str, ...], list[str]]] = [
        ((), ["one", "two", "three"]),
        (("--status", "draft"), ["three"]),
        (("--status", "draft,blocked"), ["two", "three"]),
        (("--status", "draft", "--status", "active"), ["one", "three"]),
        (("--status", "achieved"), []),
    ]
    for words, ids in cases:
        done = flow(branches, *ALL, "--ids", *words)
        assert done == (0, "".join(f"{i}\n" for i in ids), ""), words


@pytest.mark.parametrize(
    ("word", "said"),
    [("achived", "did you mean achieved?"), ("x", f"one of {', '.join(STATUSES)}"), ("", "status")],
)
def test_a_status_that_is_none_is_answered_with_the_nearest(
    repo: GitRepo, word: str, said: str
) -> None:
    scene.start(repo)
    done = flow(repo, "goal", "list", "--status", word)
    assert done.status == 2
    assert said in done.stderr


def test_what_a_branch_holds_and_is_no_goal_is_a_row_and_no_error(branches: GitRepo) -> None:
    branches.git("switch", "-q", "-c", "evil", "main")
    folder = branches.path / ".flow/goals"
    folder.mkdir(parents=True)
    os.symlink("/etc/passwd", folder / "link.goal.yaml")
    (folder / "large.goal.yaml").write_bytes(b"#" * (2 << 20))
    (folder / "broken.goal.yaml").write_text("{: nothing\x1b[31m")
    (folder / "one.goal.yaml").write_text("apiVersion: no")
    (folder / "no id!.goal.yaml").write_text("x")
    (folder / "below").mkdir()
    (folder / "below/deep.goal.yaml").write_text("x")
    branches.commit("evil")
    branches.git("branch", "-q", "evil-too")
    branches.git("switch", "-q", "main")
    done = flow(branches, *ALL)
    assert done.status == 0
    assert [row[0] for row in rows(branches)] == ["one", "two", "three"]
    told = done.stderr.splitlines()
    assert len(told) == 4, "each once, however many branches have it"
    for line, file in zip(told, ("broken", "large", "link", "one"), strict=True):
        assert line.startswith(f"flow: warning: evil:.flow/goals/{file}.goal.yaml: cannot be read")
        assert "\x1b" not in line
    assert flow(branches, *ALL, "--ids").stderr == ""


def test_a_file_that_is_broken_otherwise_here_hides_no_branchs(branches: GitRepo) -> None:
    branches.git("switch", "-q", "-c", "evil", "main")
    branches.write(".flow/goals/torn.goal.yaml", "kind: [")
    branches.commit("evil")
    branches.git("switch", "-q", "main")
    branches.write(".flow/goals/torn.goal.yaml", "apiVersion: no")

    def files() -> list[str]:
        return [row["file"] for row in flow(branches, *ALL, "--json").json["unreadable"]]

    here, there = ".flow/goals/torn.goal.yaml", "evil:.flow/goals/torn.goal.yaml"
    assert files() == [here, there]
    branches.write(".flow/goals/torn.goal.yaml", "kind: [")
    assert files() == [here], "the same fault is told once"
    (branches.path / ".flow/goals/torn.goal.yaml").unlink()
    branches.git("switch", "-q", "evil")
    assert files() == [here], "the branch that is checked out has it here"
    branches.git("switch", "-q", "main")
    assert files() == [there]


def test_a_proposal_that_does_not_hold_any_more_does_not_wait(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    assert "waits for you" in flow(repo, "goal", "list").stdout
    repo.write("src/greet.txt", "please, please\n")
    assert "working" in flow(repo, "goal", "list").stdout
    [row] = flow(repo, "goal", "list", "--json").json["goals"]
    assert row["proposal"] == {"to": "achieved", "live": False}


def test_those_that_need_a_person_come_first_and_closed_ones_last(repo: GitRepo) -> None:
    scene.start(repo)
    for goal in ("closed", "paused", "drafted", "works"):
        scene.create(repo, goal, *["--draft"] * (goal == "drafted"))
        if goal == "closed":
            assert flow(repo, "goal", "clear", goal, "--yes").status == 0
        if goal == "paused":
            assert flow(repo, "goal", "pause", goal, "--reason", "later").status == 0
    shown = [row[0] for row in rows(repo, "goal", "list")]
    assert shown == ["paused", "works", "drafted", "closed"]


def test_outside_git_all_branches_is_an_error_with_a_remedy(tmp_path: Any, repo: GitRepo) -> None:
    plain = tmp_path / "plain"
    (plain / ".flow/goals").mkdir(parents=True)
    assert flow(repo, "goal", "list", cwd=plain).status == 0
    done = flow(repo, *ALL, cwd=plain)
    assert done.status == 5
    assert "no git repository" in done.stderr


def test_a_goal_that_is_not_trusted_waits_for_a_person_on_every_screen(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    assert flow(repo, "goal", "list", "--json").json["goals"][0]["trusted"] is True
    assert flow(repo, "trust", "revoke", "greet").status == 0
    (row,) = flow(repo, "goal", "list", "--json").json["goals"]
    assert row["trusted"] is False
    assert "waits for you" in flow(repo, "goal", "list").stdout.splitlines()[1]
    assert "waits for you" in flow(repo, "goal", "status").stdout.splitlines()[0]
    (item,) = flow(repo, "inbox", "--json").json["items"]
    assert (item["section"], item["command"]) == ("waits", "flow trust record greet")


def test_a_script_reads_the_state_that_people_see(branches: GitRepo) -> None:
    shown = flow(branches, *ALL).stdout.splitlines()
    states = {row["goal_id"]: row["state"] for row in flow(branches, *ALL, "--json").json["goals"]}
    assert {"not here", "draft"} < set(states.values())
    for goal, state in states.items():
        (line,) = (line for line in shown if f" {goal} " in line)
        assert f"  {state}  " in line


def test_status_has_it_too(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    assert flow(repo, "goal", "status", "--json").json["state"] == "working"
    scene.propose(repo)
    assert flow(repo, "goal", "status", "--json").json["state"] == "waits for you"
