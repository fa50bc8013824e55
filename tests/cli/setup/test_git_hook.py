"""git's pre-push hook: it fails closed, and says why (real git, real pushes)."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import ROOT, run, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from tests.support import GitRepo, Ran

HOOK = ".git/hooks/pre-push"
BEFORE = ".git/hooks/pre-push.before-flow"


@pytest.fixture
def cloned(repo: GitRepo, tmp_path: Path) -> GitRepo:
    """A repository with a remote to push to, and Flow's hook."""
    scene.start(repo)
    run(["git", "init", "-q", "--bare", tmp_path / "remote.git"], cwd=tmp_path)
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    done = scene.step(repo, "init", "--git-hook", "pre-push", "--json")
    assert done.status == 0, done
    return repo


def install(repo: GitRepo, *more: str) -> Ran:
    done = flow(repo, "init", "--git-hook", "pre-push", *more, "--json")
    assert done.status == 0, done
    return done


def push(repo: GitRepo, *words: str) -> Ran:
    env = {**os.environ, "FLOW_PYTHON": sys.executable}
    return run(["git", "push", *(words or ("origin", "HEAD:main"))], cwd=repo.path, env=env)


def pushed(repo: GitRepo) -> bool:
    return run(["git", "rev-parse", "-q", "--verify", "main"], cwd=remote(repo)).status == 0


def remote(repo: GitRepo) -> Path:
    return Path(repo.git("remote", "get-url", "origin").strip())


def test_the_hook_starts_this_flow_by_its_whole_path(cloned: GitRepo) -> None:
    text = cloned.read(HOOK)
    assert f"flow={shlex.quote(f'{ROOT}/bin/flow')}\n" in text
    assert os.access(cloned.path / HOOK, os.X_OK)


def test_without_a_goal_the_push_goes_on(cloned: GitRepo) -> None:
    done = push(cloned)
    assert done.status == 0, done
    assert pushed(cloned)


def test_goals_that_have_not_begun_or_are_closed_stop_nothing(cloned: GitRepo) -> None:
    scene.create(cloned, "later", "--draft")
    scene.create(cloned)
    assert flow(cloned, "goal", "clear", "greet", "--reason", "not now", "--yes").status == 0
    done = push(cloned)
    assert done.status == 0, done


def test_a_goal_stops_the_push_until_it_is_achieved(cloned: GitRepo) -> None:
    scene.create(cloned)
    done = push(cloned)
    assert done.status != 0
    assert "AC1" in done.stdout + done.stderr
    assert "goal greet is not achieved, so the push stops" in done.stderr
    assert "git push --no-verify" in done.stderr
    assert not pushed(cloned)
    scene.meet(cloned)
    cloned.commit("polite")
    done = push(cloned)
    assert done.status == 0, done
    assert "HEAD has" not in done.stderr
    assert pushed(cloned)


def test_files_that_the_push_does_not_have_are_named(cloned: GitRepo) -> None:
    scene.create(cloned)
    cloned.commit("a goal")
    scene.meet(cloned)
    cloned.write("src/new.txt", "x")
    told = "flow: 2 files were not measured as HEAD has them: src/greet.txt, src/new.txt"
    done = push(cloned)
    assert done.status == 0, done
    assert told in done.stderr
    cloned.git("add", "src")
    assert told in push(cloned).stderr, "the index is no commit"


def test_a_blocked_goal_stops_the_push(cloned: GitRepo) -> None:
    scene.create(cloned)
    scene.meet(cloned)
    cloned.write("outside.txt", "x")
    assert push(cloned).status != 0
    assert scene.status(cloned) == "blocked"
    assert push(cloned).status != 0
    assert not pushed(cloned)


def test_several_goals_stop_the_push_and_are_named(cloned: GitRepo) -> None:
    scene.create(cloned)
    scene.create(cloned, "other")
    scene.meet(cloned)
    done = push(cloned)
    assert done.status != 0
    assert "greet" in done.stderr
    assert "other" in done.stderr
    assert not pushed(cloned)


def test_a_paused_goal_stops_the_push(cloned: GitRepo) -> None:
    scene.create(cloned)
    scene.meet(cloned)
    assert flow(cloned, "goal", "pause", "greet", "--reason", "later").status == 0
    done = push(cloned)
    assert done.status != 0
    assert "goal greet is paused" in done.stderr
    assert scene.status(cloned) == "waiting_for_user"


@pytest.mark.parametrize("how", ["broken", "gone"])
def test_a_goal_that_cannot_be_read_stops_the_push(cloned: GitRepo, how: str) -> None:
    scene.create(cloned)
    file = cloned.path / ".flow/goals/greet.goal.yaml"
    if how == "broken":
        file.write_text("kind: no\n")
    else:
        file.unlink()
    done = push(cloned)
    assert done.status != 0
    assert "greet" in done.stderr
    assert not pushed(cloned)


def test_an_untrusted_goal_stops_the_push(cloned: GitRepo) -> None:
    scene.create(cloned)
    scene.meet(cloned)
    assert flow(cloned, "trust", "revoke", "greet").status == 0
    assert push(cloned).status != 0
    assert not pushed(cloned)


def test_without_flow_the_push_stops_and_says_so(cloned: GitRepo, tmp_path: Path) -> None:
    gone = tmp_path / "gone/flow"
    cloned.write(HOOK, cloned.read(HOOK).replace(f"{ROOT}/bin/flow", str(gone)), mode=0o755)
    done = push(cloned)
    assert done.status != 0
    assert f"{gone} is not there" in done.stderr
    assert "the push stops" in done.stderr
    assert not pushed(cloned)


@pytest.mark.parametrize("program", ["exit 5", "exit 1", "kill -9 $$", "not-a-program"])
def test_a_flow_that_fails_stops_the_push(cloned: GitRepo, tmp_path: Path, program: str) -> None:
    broken = tmp_path / "flow"
    broken.write_text(f"#!/bin/sh\n{program}\n")
    broken.chmod(0o755)
    cloned.write(HOOK, cloned.read(HOOK).replace(f"{ROOT}/bin/flow", str(broken)), mode=0o755)
    done = push(cloned)
    assert done.status != 0
    assert "the push stops" in done.stderr
    assert not pushed(cloned)


def test_a_push_that_only_deletes_is_not_checked(cloned: GitRepo) -> None:
    assert push(cloned, "--no-verify", "origin", "HEAD:main", "HEAD:side").status == 0
    scene.create(cloned)
    assert push(cloned, "origin", ":side").status == 0
    assert push(cloned, "origin", ":side2", "HEAD:main2").status != 0


def test_a_hook_that_was_there_runs_first_with_the_same_input(
    repo: GitRepo, cloned: GitRepo
) -> None:
    assert flow(cloned, "init", "--undo").status == 0
    own = "#!/bin/sh\ncat > seen; echo $1 >> seen; exit ${OWN:-0}\n"
    cloned.write(HOOK, own, mode=0o755)
    steps = install(cloned).json["steps"]
    assert "after the hook that was there" in next(s["did"] for s in steps if s["file"] == HOOK)
    assert cloned.read(BEFORE) == own
    assert push(cloned).status == 0
    seen = cloned.read("seen").splitlines()
    assert seen[-1] == "origin"
    assert seen[0].startswith("HEAD ")
    cloned.commit("more", x="y")
    env = {**os.environ, "OWN": "7", "FLOW_PYTHON": sys.executable}
    assert run(["git", "push", "origin", "HEAD:main"], cwd=cloned.path, env=env).status != 0
    assert flow(cloned, "init", "--undo").status == 0
    assert cloned.read(HOOK) == own
    assert os.access(cloned.path / HOOK, os.X_OK)
    assert not (cloned.path / BEFORE).exists()


def test_a_second_time_nothing_changes(cloned: GitRepo) -> None:
    before = cloned.read(HOOK)
    (did,) = (s["did"] for s in install(cloned).json["steps"] if s["file"] == HOOK)
    assert did == "is as it should be"
    assert cloned.read(HOOK) == before


@pytest.mark.parametrize("folder", ["githooks", ".husky/_"])
def test_with_hooks_elsewhere_the_line_is_shown(repo: GitRepo, folder: str) -> None:
    scene.start(repo)
    repo.git("config", "core.hooksPath", folder)
    shown = f"{folder.removesuffix('/_')}/pre-push"
    (did,) = (s["did"] for s in install(repo).json["steps"] if s["file"] == shown)
    assert "core.hooksPath" in did
    line = did.partition(f"add to {shown}: ")[2]
    assert "hook pre-push" in line
    assert not (repo.path / HOOK).exists()
    repo.write(shown, f"#!/bin/sh\n{line}\n", mode=0o755)
    (did,) = (s["did"] for s in install(repo).json["steps"] if s["file"] == shown)
    assert did == "a line of your own runs flow hook pre-push"


def test_the_line_that_is_shown_fails_closed(repo: GitRepo, tmp_path: Path) -> None:
    scene.start(repo)
    run(["git", "init", "-q", "--bare", tmp_path / "remote.git"], cwd=tmp_path)
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.git("config", "core.hooksPath", "githooks")
    steps = install(repo).json["steps"]
    (did,) = (s["did"] for s in steps if s["file"] == "githooks/pre-push")
    line = did.partition("add to githooks/pre-push: ")[2]
    repo.write("githooks/pre-push", f"#!/bin/sh\n{line}\n", mode=0o755)
    assert push(repo).status == 0
    scene.create(repo)
    assert push(repo, "origin", "HEAD:other").status != 0


def test_a_hook_that_is_a_link_is_left_alone(repo: GitRepo) -> None:
    scene.start(repo)
    repo.write("scripts/push", "#!/bin/sh\n", mode=0o755)
    (repo.path / HOOK).symlink_to("../../scripts/push")
    (did,) = (s["did"] for s in install(repo).json["steps"] if s["file"] == HOOK)
    assert "add to what it runs" in did
    assert (repo.path / HOOK).is_symlink()
    assert repo.read("scripts/push") == "#!/bin/sh\n"


def test_without_git_there_is_no_hook(repo: GitRepo, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    done = flow(repo, "init", "--git-hook", "pre-push", "--json", cwd=folder)
    assert (done.status, done.json["error"]["key"]) == (2, "--git-hook")
    assert not list(folder.iterdir())


# --- on record for the guards -------------------------------------------------------------------


def test_a_hook_that_init_installs_is_no_changed_guard(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    repo.write(HOOK, "#!/bin/sh\ntrue\n", mode=0o755)
    assert flow(repo, "goal", "evaluate", "greet").status == 1
    scene.meet(repo)
    done = flow(repo, "goal", "evaluate", "greet")
    assert done.status == 4  # the hook that somebody wrote
    (repo.path / HOOK).unlink()
    install(repo)
    assert scene.confirm(repo).status == 0


def test_a_hook_that_was_there_at_the_start_may_move_aside(repo: GitRepo) -> None:
    scene.start(repo)
    repo.write(HOOK, "#!/bin/sh\ntrue\n", mode=0o755)
    scene.create(repo)
    install(repo)
    assert (repo.path / BEFORE).exists()
    scene.meet(repo)
    assert scene.confirm(repo).status == 0


@pytest.mark.parametrize("how", ["edited", "other", "beside", "aside"])
def test_a_hook_that_is_not_as_flow_wrote_it_is_a_changed_guard(repo: GitRepo, how: str) -> None:
    scene.create(scene.start(repo))
    if how == "aside":  # written by somebody, moved aside by Flow, and Flow's own made anew
        repo.write(HOOK, "#!/bin/sh\ntouch /nowhere\n", mode=0o755)
        install(repo)
        (repo.path / HOOK).unlink()
    install(repo)
    if how == "edited":
        repo.write(HOOK, repo.read(HOOK) + "true\n", mode=0o755)
    elif how == "other":
        repo.write(".git/hooks/pre-commit", "#!/bin/sh\n", mode=0o755)
    elif how == "beside":
        repo.write(BEFORE, "#!/bin/sh\n", mode=0o755)
    scene.meet(repo)
    assert flow(repo, "goal", "evaluate", "greet").status == 4
