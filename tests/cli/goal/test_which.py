"""Commands that act on a goal mean this branch's without an id (SPEC 12)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support import run_helper, scene

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

ACTS = {
    "evaluate": [],
    "pause": ["--reason", "later"],
    "clear": ["--yes"],
    "baseline": [],
    "claim": ["--session", "s1"],
    "wait": ["--until", "false"],
    "approve": ["AC2", "--note", "I read it", "--yes"],
    "rebase": ["--yes"],
}
"""Command → words after it. ``confirm``, ``amend``, ``resume``, ``activate`` have tests below."""


def begin(repo: GitRepo, *goals: str) -> None:
    """Each of ``goals`` is active on this branch, with a criterion of either kind."""
    scene.start(repo)
    for goal in goals:
        scene.create(repo, goal, "--fuzzy", scene.FUZZY, "--evidence", "AC2: src/**")


@pytest.mark.parametrize("command", ACTS)
def test_the_one_goal_of_the_branch_is_meant(repo: GitRepo, command: str) -> None:
    begin(repo, "greet")
    named = scene.flow(repo, "goal", command, "nope", *ACTS[command])
    assert named.status == 2, named
    done = scene.flow(repo, "goal", command, *ACTS[command], "--json")
    if command == "rebase":
        assert done.json["error"]["code"] == "nothing_to_rebase"
    else:
        assert done.status in (0, 1), done
        assert done.json["goal_id"] == "greet"


def test_of_several_goals_none_is_chosen(repo: GitRepo) -> None:
    begin(repo, "greet", "other")
    for command in (*ACTS, "confirm", "resume"):
        for goal in ("greet", "other") if command == "resume" else ():
            assert scene.flow(repo, "goal", "pause", goal).status == 0
        before = [scene.goal_file(repo, goal) for goal in ("greet", "other")]

        done = scene.flow(repo, "goal", command, *ACTS.get(command, []))

        assert done.status == 2, command
        assert "several goals belong to" in done.stderr, command
        assert "greet" in done.stderr, command
        assert "other" in done.stderr, command
        assert [scene.goal_file(repo, goal) for goal in ("greet", "other")] == before, command


def test_a_waiting_goal_beside_an_active_one_is_not_passed_over(repo: GitRepo) -> None:
    begin(repo, "greet", "other")
    assert scene.flow(repo, "goal", "pause", "other").status == 0
    assert scene.flow(repo, "goal", "clear", "--yes").status == 2
    assert (scene.status(repo), scene.status(repo, "other")) == ("active", "waiting_for_user")

    done = scene.flow(repo, "goal", "resume", "--json")

    assert (done.status, done.json["goal_id"]) == (0, "other")


@pytest.mark.parametrize(
    "words", [("goal", "status"), ("goal", "evaluate"), ("trust", "check"), ("trust", "record")]
)
def test_no_closed_goal_is_meant_while_another_cannot_be_read(
    repo: GitRepo, words: tuple[str, ...]
) -> None:
    begin(repo, "greet", "other")
    assert scene.flow(repo, "goal", "clear", "other", "--yes").status == 0
    repo.write(".flow/goals/greet.goal.yaml", "metadata: [\n")

    done = scene.flow(repo, *words)

    assert done.status == 2, done
    assert "greet.goal.yaml" in done.stderr
    assert done.stdout == ""
    assert scene.flow(repo, "goal", "status", "other").status == 0
    checked = run_helper("flow-goal-trust.sh", "check", cwd=repo.path)
    assert (checked.status, checked.stdout) == (1, "TRUSTED=no\n")
    assert "greet.goal.yaml" in checked.stderr


def test_a_goal_of_another_branch_is_not_meant(repo: GitRepo) -> None:
    begin(repo, "greet")
    repo.commit("goal")
    repo.git("switch", "-qc", "elsewhere")
    before = scene.goal_file(repo)
    for command in (*ACTS, "confirm", "resume", "activate"):
        done = scene.flow(repo, "goal", command, *ACTS.get(command, []))

        assert done.status == 2, command
        assert "no goal belongs to branch elsewhere" in done.stderr, command
        assert scene.goal_file(repo) == before, command


def test_activate_means_the_draft(repo: GitRepo) -> None:
    begin(repo)
    scene.create(repo, "greet", "--draft")
    done = scene.flow(repo, "goal", "activate", "--json")
    assert (done.status, done.json["goal_id"], scene.status(repo)) == (0, "greet", "active")


def test_amend_means_the_goal_of_the_branch(repo: GitRepo) -> None:
    begin(repo, "greet")
    repo.write("new.yaml", scene.goal_file(repo).replace("polite", "very polite"))
    done = scene.flow(repo, "goal", "amend", "--file", "new.yaml", "--yes", "--json")
    assert done.status == 0, done
    assert "very polite" in scene.goal_file(repo)


def test_confirm_takes_eight_digits_and_no_fewer(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    proposal = scene.propose(repo)
    done = scene.flow(repo, "goal", "confirm", "--proposal", proposal[:7])
    assert (done.status, "too short to name a proposal" in done.stderr) == (2, True)
    assert scene.status(repo) == "active"

    done = scene.flow(repo, "goal", "confirm", "--proposal", proposal[:8])

    assert (done.status, scene.status(repo)) == (0, "achieved")


def test_confirm_off_a_terminal_prints_the_line_to_type(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    proposal = scene.propose(repo)
    done = scene.flow(repo, "goal", "confirm")
    assert done.status == 2
    assert f"flow goal confirm greet --proposal {proposal[:12]}" in done.stderr


def test_a_time_limit_of_a_wait_that_is_not_followed_is_refused(repo: GitRepo) -> None:
    begin(repo, "greet")
    for command in ("if true", "'", "a | | b"):
        done = scene.flow(repo, "goal", "wait", "--until", command)
        assert (done.status, "--until: bash -n refuses it" in done.stderr) == (2, True)
        assert scene.status(repo) == "active"
    done = scene.flow(repo, "goal", "wait", "--until", "false", "--timeout", "5")
    assert done.status == 2
    assert "--follow" in done.stderr
    assert scene.status(repo) == "active"


def test_a_proposal_is_named_in_capital_digits_too(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    proposal = scene.propose(repo)
    done = scene.flow(repo, "goal", "confirm", "--proposal", proposal[:20].upper())
    assert (done.status, scene.status(repo)) == (0, "achieved"), done


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        ("achieved", "flow goal create NEW --from greet"),
        ("draft", "flow goal activate greet"),
        ("active", "flow goal evaluate greet"),
    ],
)
def test_without_a_proposal_confirm_says_what_can_be_done(
    repo: GitRepo, status: str, remedy: str
) -> None:
    scene.create(scene.start(repo), "greet", *(["--draft"] if status == "draft" else []))
    if status == "achieved":
        scene.meet(repo)
        assert scene.confirm(repo).status == 0
    error = scene.flow(repo, "goal", "confirm", "greet", "--json").json["error"]
    assert (error["code"], remedy in error["remedy"]) == ("no_proposal", True), error


def test_a_stale_proposal_is_not_offered_off_a_terminal(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.propose(repo)
    repo.write("src/greet.txt", "please, now\n")
    done = scene.flow(repo, "goal", "confirm", "--json")
    error = done.json["error"]
    assert (done.status, error["code"]) == (2, "stale_proposal"), error
    assert "the files were changed since it was made" in error["message"]
    assert error["remedy"].endswith("flow goal evaluate greet")


@pytest.mark.parametrize("status", ["active", "achieved"])
def test_the_next_step_of_another_branchs_goal_names_the_branch(repo: GitRepo, status: str) -> None:
    scene.create(scene.start(repo))
    if status == "achieved":
        scene.meet(repo)
        assert scene.confirm(repo).status == 0
    repo.git("switch", "-qc", "other")
    step = scene.flow(repo, "goal", "status", "greet", "--json").json["next"]
    assert step.startswith("on branch main: flow goal evaluate") == (status == "active"), step


def test_a_goal_of_another_place_is_named_with_the_way_there(repo: GitRepo, tmp_path: Path) -> None:
    scene.start(repo)
    for branch in ("two", "three"):
        repo.git("switch", "-qc", branch, "main")
        scene.create(repo, f"goal-{branch}").commit("a goal")
    repo.git("switch", "-q", "main")
    repo.git("worktree", "add", "-q", str(tmp_path / "it's there"), "three")
    for words in (("status",), ("evaluate",), ("confirm", "--proposal", "0" * 12), ("history",)):
        command, *more = words
        error = scene.flow(repo, "goal", command, "goal-two", *more, "--json").json["error"]
        assert (error["code"], error["remedy"]) == ("not_found", "git switch two")
        assert error["message"] == "goal goal-two is not in this checkout; branch two has it"
        error = scene.flow(repo, "goal", command, "goal-three", *more, "--json").json["error"]
        assert "there has it" in error["message"]
        assert shlex.split(error["remedy"]) == ["cd", str(tmp_path / "it's there")]
    error = scene.flow(repo, "goal", "status", "goal-four", "--json").json["error"]
    assert "there is no goal goal-four" in error["message"]
    repo.git("switch", "-q", "two")
    (repo.path / ".flow/goals/goal-two.goal.yaml").unlink()
    error = scene.flow(repo, "goal", "status", "goal-two", "--json").json["error"]
    assert "open here, and its file is gone" in error["message"], "its branch is checked out"
