"""Clean checkouts of a commit, and the folders that they live in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from flow.adapters.baseline import checkout, work_folder
from flow.adapters.fs import locks
from flow.adapters.git.find import find_repo
from flow.core.layout import TEMP_PREFIX
from flow.errors import GitError, StorageError
from tests.support import GitRepo

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def made(repo: GitRepo, folder: Path, commit: str | None = None, seconds: float = 60) -> list[str]:
    """Check out; what it says."""
    found = find_repo(os.fspath(repo.path))
    assert found is not None
    folder.mkdir()
    return list(
        checkout.make_checkout(
            found, commit or repo.head, os.fspath(folder), seconds_left=lambda: seconds
        )
    )


def test_a_commit_with_its_refs(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit("one", **{"a.txt": "1\n"})
    repo.git("tag", "-a", "v1", "-m", "v1")
    first = repo.head
    repo.commit("two", **{"a.txt": "2\n", "b.txt": "b\n"})
    assert made(repo, tmp_path / "tree", first) == []
    tree = GitRepo(tmp_path / "tree")
    assert tree.git("describe") == "v1"
    assert tree.git("rev-parse", "main") == repo.head
    assert (tree.head, tree.status(), tree.read("a.txt")) == (first, [], "1\n")
    assert not (tmp_path / "tree" / "b.txt").exists()


def test_line_ends_as_the_attributes_say(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit("one", **{".gitattributes": "*.txt text eol=crlf\n!x y\n", "a.txt": "1\n2\n"})
    assert made(repo, tmp_path / "tree") == []
    assert (tmp_path / "tree" / "a.txt").read_bytes() == b"1\r\n2\r\n"


def test_attributes_that_are_a_link_are_not_followed(repo: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("* filter=x\n")
    os.symlink(tmp_path / "elsewhere", repo.path / ".gitattributes")
    repo.commit("a link")
    assert made(repo, tmp_path / "tree") == []


def test_a_filter_that_is_named_below(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit("one", **{"deep/.gitattributes": "*.bin filter=lfs\n", "deep/a.bin": "pointer\n"})
    assert made(repo, tmp_path / "tree") == [checkout.FILTERED]


def test_references_that_git_is_not_sure_of_are_left_out(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit("one", **{"a.txt": "1\n"})
    (repo.path / ".git/refs/heads/broken").write_text("nonsense\n")
    assert made(repo, tmp_path / "tree") == []
    assert GitRepo(tmp_path / "tree").git("for-each-ref") == ""


def test_replaced_commits_are_not(repo: GitRepo, tmp_path: Path) -> None:
    first = repo.commit("one", **{"a.txt": "1\n"})
    second = repo.commit("two", **{"a.txt": "2\n"})
    repo.git("replace", first, second)
    assert made(repo, tmp_path / "tree", first) == []
    assert (tmp_path / "tree" / "a.txt").read_text() == "1\n"


def test_submodules_in_submodules(repo: GitRepo, tmp_path: Path) -> None:
    inner = GitRepo.init(tmp_path / "inner")
    inner.commit("inner", leaf="leaf\n")
    outer = GitRepo.init(tmp_path / "outer")
    add = ("-c", "protocol.file.allow=always", "submodule")
    outer.git(*add, "add", "-q", str(inner), "inner")
    outer.commit("outer")
    repo.git(*add, "add", "-q", str(outer), "outer")
    repo.git(*add, "update", "-q", "--init", "--recursive")
    repo.commit("all")
    assert made(repo, tmp_path / "tree") == []
    assert (tmp_path / "tree/outer/inner/leaf").read_text() == "leaf\n"
    assert GitRepo(tmp_path / "tree").status() == []


def test_a_submodule_behind_a_link_is_not_looked_for(repo: GitRepo, tmp_path: Path) -> None:
    other = GitRepo.init(tmp_path / "other")
    commit = other.commit("secret", leaf="leaf\n")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    repo.git("commit", "-q", "-m", "a gitlink")
    os.symlink(other.path, repo.path / "sub")
    said = made(repo, tmp_path / "tree")
    assert said == ["Submodules that are not checked out here were empty: sub."]
    assert os.listdir(tmp_path / "tree" / "sub") == []


def test_a_submodule_that_lacks_the_commit_is_empty(repo: GitRepo, tmp_path: Path) -> None:
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.git("commit", "-q", "-m", "a gitlink")
    GitRepo.init(repo.path / "sub").commit("another", leaf="x")
    assert made(repo, tmp_path / "tree") == [
        "Submodules that are not checked out here were empty: sub."
    ]


@pytest.mark.parametrize("started", [0, 1, 2])
def test_no_time_left(repo: GitRepo, tmp_path: Path, started: int) -> None:
    """Git is not started once the time is over, however fast it would have been."""
    repo.commit("one", leaf="leaf\n")
    times = iter([60.0] * started + [0.0])
    found = find_repo(os.fspath(repo.path))
    assert found is not None
    with pytest.raises(GitError) as caught:
        checkout.make_checkout(
            found, repo.head, os.fspath(tmp_path / "tree"), seconds_left=lambda: next(times)
        )
    words = ("read-tree", "checkout-index", "ls-files")
    assert f"git {words[started]} was not started: its time limit" in str(caught.value)


def test_git_takes_longer_than_there_is_time(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("one", leaf="leaf\n")
    found = find_repo(os.fspath(repo.path))
    assert found is not None
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 300\n")
    slow.chmod(0o755)

    def left() -> float:
        monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        return 0.2

    with pytest.raises(GitError) as caught:
        checkout.make_checkout(found, repo.head, os.fspath(tmp_path / "tree"), seconds_left=left)
    assert "time limit" in str(caught.value)


def test_a_folder_that_cannot_be_written(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit("one")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("in the way")
    found = find_repo(os.fspath(repo.path))
    assert found is not None
    with pytest.raises(StorageError) as caught:
        checkout.make_checkout(
            found, repo.head, os.fspath(tmp_path / "tree"), seconds_left=lambda: 60
        )
    assert caught.value.fault.remedy


def test_a_path_that_git_could_not_borrow_from(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "two\nlines")
    repo.commit("one")
    with pytest.raises(GitError) as caught:
        made(repo, tmp_path / "tree")
    assert "line feed" in str(caught.value)


# --- the folders ------------------------------------------------------------------------------


def left(state: Path) -> list[str]:
    return sorted(name for name in os.listdir(state / "work") if name != "lock")


def test_a_folder_is_there_and_gone(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with work_folder.new_folder(os.fspath(state)) as path:
        assert os.stat(path).st_mode & 0o777 == 0o700
        assert work_folder.remove_abandoned(os.fspath(state)) == []  # at work
        os.makedirs(os.path.join(path, "closed", "in"))
        os.chmod(os.path.join(path, "closed"), 0)
    assert left(state) == []


def test_it_is_gone_after_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        with work_folder.new_folder(os.fspath(tmp_path / "state")):
            raise KeyError
    assert left(tmp_path / "state") == []


def test_what_nobody_holds_is_swept(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with work_folder.new_folder(os.fspath(state)) as held:
        dead = state / "work" / f"{TEMP_PREFIX}dead"
        (dead / "1" / "src").mkdir(parents=True)
        (dead / "1" / "src" / "x").write_text("x")
        (state / "work" / "somebody's").mkdir()
        assert work_folder.abandoned_folders(os.fspath(state)) == [os.fspath(dead)]
        assert work_folder.remove_abandoned(os.fspath(state)) == [os.fspath(dead)]
        assert os.path.isdir(held)
    assert left(state) == ["somebody's"]


def test_a_link_in_its_place_is_left_alone(tmp_path: Path) -> None:
    state, outside = tmp_path / "state", tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (state / "work").mkdir(parents=True, mode=0o700)
    os.chmod(state, 0o700)
    os.symlink(outside, state / "work" / f"{TEMP_PREFIX}link")
    assert work_folder.remove_abandoned(os.fspath(state)) == []
    assert (outside / "kept").read_text() == "kept"
    assert os.listdir(outside) == ["kept"]


def test_without_a_state_folder_there_is_nothing(tmp_path: Path) -> None:
    assert work_folder.remove_abandoned(os.fspath(tmp_path / "none")) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    real = os.mkdir

    def mkdir(path: str, *more: object, **options: object) -> None:
        if TEMP_PREFIX in os.fspath(path):
            raise OSError(28, "No space left on device")
        real(path, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "mkdir", mkdir)
    with pytest.raises(StorageError) as caught:
        with work_folder.new_folder(os.fspath(state)):
            pass
    assert "No space" in str(caught.value)
    with locks.exclusive(os.fspath(state), "work/lock", timeout=0, quick=True):
        pass  # nothing holds it
