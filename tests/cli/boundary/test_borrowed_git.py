"""A folder that leads to a trusted repository by itself: its own files are trusted by nobody."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo
from tests.support.scene import flow, start, step

if TYPE_CHECKING:
    from collections.abc import Callable

GOAL = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**")


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    """A repository whose goal runs a script, trusted here; ``copied`` carries the same files."""
    start(repo)
    repo.commit("script", **{"check.sh": "touch ../ran-here\n"})
    assert step(repo, *GOAL, "--criterion", "AC1: runs :: bash check.sh").status == 0
    repo.commit("goal")
    return repo


def copied(work: GitRepo, place: Path) -> GitRepo:
    place.mkdir()
    for name in ("src", ".flow", "check.sh", ".gitignore"):
        source = work.path / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, place / name)
    (place / "check.sh").write_text(f"touch {place}/stolen\n")
    return GitRepo(place)


def evaluated(there: GitRepo) -> bool:
    """Whether the folder's own script ran."""
    done = flow(there, "goal", "evaluate", "greet", "--json")
    ran = (there.path / "stolen").exists()
    assert ran or "trust" in done.stdout + done.stderr, (done.stdout, done.stderr)
    return ran


def by_a_file(work: GitRepo, place: Path) -> None:
    (place / ".git").write_text(f"gitdir: {work.path}/.git\n")


def by_a_relative_file(work: GitRepo, place: Path) -> None:
    (place / ".git").write_text(f"gitdir: {os.path.relpath(work.path, place)}/.git\n")


def by_a_link(work: GitRepo, place: Path) -> None:
    (place / ".git").symlink_to(work.path / ".git")


def by_anothers_worktree(work: GitRepo, place: Path) -> None:
    work.git("worktree", "add", "-q", str(place.parent / "linked"))
    (place / ".git").write_text((place.parent / "linked/.git").read_text())


def by_a_common_dir(work: GitRepo, place: Path) -> None:
    own = place / ".git"
    own.mkdir()
    shutil.copy(work.path / ".git/HEAD", own / "HEAD")
    shutil.copy(work.path / ".git/index", own / "index")
    (own / "commondir").write_text(f"{work.path}/.git\n")


def by_a_worktree_of_its_own(work: GitRepo, place: Path) -> None:
    by_a_common_dir(work, place)
    own = place / "worktrees/mine"
    shutil.copytree(place / ".git", own)
    shutil.rmtree(place / ".git")
    (own / "gitdir").write_text(f"{place}/.git\n")
    (place / ".git").write_text(f"gitdir: {own}\n")


def by_a_link_to_a_worktree(work: GitRepo, place: Path) -> None:
    work.git("worktree", "add", "-q", str(place.parent / "linked"))
    (place / ".git").symlink_to(place.parent / "linked/.git")


@pytest.mark.parametrize(
    "lead",
    [
        by_a_file,
        by_a_relative_file,
        by_a_link,
        by_anothers_worktree,
        by_a_common_dir,
        by_a_worktree_of_its_own,
        by_a_link_to_a_worktree,
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_a_folder_that_git_does_not_know_shares_no_trust(
    work: GitRepo, tmp_path: Path, lead: Callable[[GitRepo, Path], None], inside: bool
) -> None:
    there = copied(work, (work.path if inside else tmp_path) / "borrowed")
    lead(work, there.path)
    assert not evaluated(there)
    shown = flow(there, "trust", "list", "--json")
    assert "greet" not in shown.stdout, shown.stdout


def test_worktrees_share_it_wherever_they_were_made(work: GitRepo, tmp_path: Path) -> None:
    for name in ("linked", "moved"):
        work.git("worktree", "add", "-q", "--detach", str(tmp_path / name))
    work.git("worktree", "move", str(tmp_path / "moved"), str(tmp_path / "elsewhere"))
    os.symlink(tmp_path / "linked", tmp_path / "alias")
    for name in ("linked", "elsewhere", "alias"):
        shown = flow(GitRepo(tmp_path / name), "trust", "list", "--json")
        assert "greet" in shown.stdout, name
    own = work.path / ".git/worktrees/linked"
    (own / "gitdir").write_text(os.path.relpath(tmp_path / "linked/.git", own) + "\n")  # git 2.48
    assert "greet" in flow(GitRepo(tmp_path / "linked"), "trust", "list", "--json").stdout


def test_a_submodule_shares_with_its_own_folder_only(repo: GitRepo, tmp_path: Path) -> None:
    inner = start(GitRepo.init(tmp_path / "inner"))
    start(repo)
    allow = ("-c", "protocol.file.allow=always")
    repo.git(*allow, "submodule", "add", "-q", str(inner.path), "sub")
    sub = GitRepo(repo.path / "sub")
    (sub.path / "check.sh").write_text("true\n")
    assert flow(sub, *GOAL, "--criterion", "AC1: runs :: bash check.sh").status == 0
    assert "greet" in flow(sub, "trust", "list", "--json").stdout
    there = copied(sub, tmp_path / "borrowed")
    (there.path / ".git").write_text(f"gitdir: {repo.path}/.git/modules/sub\n")
    assert not evaluated(there)
    linked = tmp_path / "linked"
    sub.git("worktree", "add", "-q", "--detach", str(linked))
    assert "greet" in flow(GitRepo(linked), "trust", "list", "--json").stdout


def test_a_git_folder_apart_is_trusted_by_its_working_tree(tmp_path: Path) -> None:
    work = start(GitRepo.init(tmp_path / "work", f"--separate-git-dir={tmp_path / 'apart'}"))
    (work.path / "check.sh").write_text("true\n")
    assert flow(work, *GOAL, "--criterion", "AC1: runs :: bash check.sh").status == 0
    assert "greet" in flow(work, "trust", "list", "--json").stdout
    there = copied(work, tmp_path / "borrowed")
    (there.path / ".git").write_text((work.path / ".git").read_text())
    assert not evaluated(there)
