"""What was dirty when the goal began does not count while it is the same, committed or not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.made_once.stage import Stage

DIRTY = ("edited.txt", "new.txt", "run.sh", "gone.txt", "link", "moved to.txt", "conf/my.secret")
"""Outside the paths, and each dirty in its own way before the goal begins."""


@pytest.fixture
def work(stage: Stage) -> GitRepo:
    repo = stage.repo

    def make() -> None:
        GitRepo.init(repo.path).commit(
            "start",
            **{"src/greet.txt": "give me that\n", ".gitignore": ".flow/runs/\n"},
            **{"edited.txt": "1\n", "run.sh": "#!/bin/sh\n", "gone.txt": "x\n", "moved.txt": "m\n"},
        )
        repo.write("edited.txt", "2\n")
        repo.write("new.txt", "new\n")
        repo.write("conf/my.secret", "key\n")
        (repo.path / "run.sh").chmod(0o755)
        (repo.path / "gone.txt").unlink()
        os.symlink("src/greet.txt", repo.path / "link")
        repo.git("mv", "moved.txt", "moved to.txt")
        scene.create(repo, "greet", "--deny", "*.secret")
        scene.meet(repo)

    stage.begin(make)
    return repo


def outside(repo: GitRepo) -> set[str]:
    """The paths that block the goal."""
    done = flow(repo, "goal", "evaluate", "--json")
    assert done.status == (3 if done.json["path_violations"] else 0), done
    return set(done.json["path_violations"])


def commit(repo: GitRepo) -> None:
    repo.git("add", "-A", "--", ".", ":!src", ":!.flow", ":!.decisions")
    repo.git("commit", "-qm", "what was there before")


def test_unchanged_it_never_counts_on_disk_staged_or_committed(work: GitRepo) -> None:
    assert outside(work) == set()
    work.git("add", "-A", "--", ".", ":!src", ":!.flow", ":!.decisions")
    assert outside(work) == set()
    commit(work)
    assert outside(work) == set()
    work.git("commit", "-q", "--amend", "-m", "in other words")
    assert outside(work) == set()


def test_committed_in_parts_it_does_not_count_either(work: GitRepo) -> None:
    for name in ("new.txt", "link", "conf/my.secret"):
        work.git("add", "--", name)
        work.git("commit", "-qm", name, "--", name)
        assert outside(work) == set(), name


def retarget(repo: GitRepo) -> None:
    (repo.path / "link").unlink()
    os.symlink("edited.txt", repo.path / "link")


def harden(repo: GitRepo) -> None:
    """The link as a regular file that reads the same."""
    (repo.path / "link").unlink()
    (repo.path / "link").write_text("src/greet.txt")


def again_but_otherwise(repo: GitRepo) -> None:
    for name in ("edited.txt", "new.txt", "conf/my.secret", "gone.txt"):
        repo.write(name, "other\n")
    retarget(repo)


def other_kinds(repo: GitRepo) -> None:
    (repo.path / "new.txt").chmod(0o755)
    harden(repo)
    (repo.path / "edited.txt").unlink()


def back(repo: GitRepo) -> None:
    """As the base has it, or was it only new."""
    repo.write("edited.txt", "1\n")
    (repo.path / "run.sh").chmod(0o644)
    (repo.path / "new.txt").unlink()


def rename(repo: GitRepo) -> None:
    (repo.path / "new.txt").rename(repo.path / "newer.txt")


@pytest.mark.parametrize("committed", [False, True], ids=["on disk", "committed"])
@pytest.mark.parametrize(
    ("change", "blocked"),
    [
        (again_but_otherwise, {"edited.txt", "new.txt", "conf/my.secret", "gone.txt", "link"}),
        (other_kinds, {"new.txt", "link", "edited.txt"}),
        (back, set()),
        (rename, {"newer.txt"}),
    ],
)
def test_changed_afterwards_it_counts_committed_or_not(
    work: GitRepo,
    change: Callable[[GitRepo], object],
    blocked: set[str],
    committed: bool,
) -> None:
    change(work)
    if committed:
        commit(work)
    assert outside(work) == blocked


def test_committed_first_and_changed_then(work: GitRepo) -> None:
    commit(work)
    assert outside(work) == set()
    work.write("new.txt", "other\n")
    assert outside(work) == {"new.txt"}
    work.git("commit", "-qam", "more")
    assert outside(work) == {"new.txt"}
    work.write("new.txt", "new\n")
    work.git("commit", "-qam", "back")
    assert outside(work) == set()


def test_a_change_that_was_committed_and_undone_on_disk_alone_counts(work: GitRepo) -> None:
    work.write("new.txt", "other\n")
    commit(work)
    work.write("new.txt", "new\n")
    assert outside(work) == {"new.txt"}


def test_a_change_that_only_the_commit_has_counts(work: GitRepo) -> None:
    work.write("new.txt", "other\n")
    commit(work)
    work.write("new.txt", "new\n")
    work.git("add", "new.txt")
    assert outside(work) == {"new.txt"}
