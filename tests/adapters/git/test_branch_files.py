"""The files of a folder on every branch, in two calls of git, whatever a branch holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from flow.adapters.git import blobs, branch_files
from flow.adapters.git.blobs import contents
from flow.adapters.git.branch_files import branch_heads, files_on_branches
from flow.adapters.git.find import find_repo
from flow.errors import GitError
from tests.support import GitRepo

if TYPE_CHECKING:
    from pathlib import Path

    from flow.adapters.git.find import Repo

GOALS = ".flow/goals"


def found(repo: GitRepo) -> Repo:
    checkout = find_repo(str(repo.path))
    assert checkout is not None
    return checkout


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Every call of git."""
    made: list[tuple[str, ...]] = []
    git = branch_files.git

    def counted(repo: Repo, *words: str, **more: Any) -> bytes:
        made.append(words)
        return git(repo, *words, **more)

    for module in (blobs, branch_files):
        monkeypatch.setattr(module, "git", counted)
    return made


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_each_branch_with_its_files(
    tmp_path: Path, calls: list[tuple[str, ...]], form: str, packed: bool
) -> None:
    repo = GitRepo.init(tmp_path / "r", f"--object-format={form}", "--initial-branch=main")
    repo.commit("first", **{f"{GOALS}/a.goal.yaml": "a", "other": "x"})
    for name in ("topic/b", "c"):
        repo.git("switch", "-q", "-c", name, "main")
        repo.write(f"{GOALS}/a.goal.yaml", name)
        repo.write(f"{GOALS}/below/deep.goal.yaml", "deep")
        os.symlink("a.goal.yaml", repo.path / GOALS / "link.goal.yaml")
        repo.commit(name)
    repo.git("switch", "-q", "--orphan", "empty")
    repo.git("commit", "-q", "--allow-empty", "-m", "nothing")
    if packed:
        repo.git("pack-refs", "--all")
        repo.git("gc", "-q")
        repo.git("switch", "-q", "-c", "late", "main")
    checkout = found(repo)
    heads = branch_heads(checkout)
    assert list(heads) == sorted(["c", "empty", *["late"] * packed, "main", "topic/b"])
    assert heads["c"] == repo.git("rev-parse", "c")
    entries = files_on_branches(checkout, heads, GOALS)
    named = [(entry.branch, entry.name, entry.mode) for entry in entries]
    both = [("a.goal.yaml", "100644"), ("link.goal.yaml", "120000")]
    expected = [("c", *one) for one in both] + [("main", "a.goal.yaml", "100644")]
    late = [("late", "a.goal.yaml", "100644")] * packed
    assert sorted(named) == sorted([*expected, *late, *(("topic/b", *one) for one in both)])
    ids = {entry.branch: entry.object_id for entry in entries if entry.mode == "100644"}
    texts = contents(checkout, ids.values(), 100)
    assert {branch: texts[name] for branch, name in ids.items() if branch != "late"} == {
        "c": b"c",
        "main": b"a",
        "topic/b": b"topic/b",
    }
    assert [words[0] for words in calls] == ["cat-file", "cat-file"]


def test_the_calls_do_not_grow_with_the_branches(
    repo: GitRepo, calls: list[tuple[str, ...]]
) -> None:
    head = repo.commit("first", **{f"{GOALS}/a.goal.yaml": "a"})
    lines = "".join(f"create refs/heads/topic-{number} {head}\n" for number in range(300))
    repo.git("update-ref", "--stdin", input=lines.encode())
    checkout = found(repo)
    entries = files_on_branches(checkout, branch_heads(checkout), GOALS)
    assert len(entries) == 301
    assert contents(checkout, [entry.object_id for entry in entries], 10).popitem()[1] == b"a"
    assert len(calls) == 2


def test_what_is_too_large_is_left_out_and_the_rest_is_read(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("first", small="s\n", large="l" * 5000)
    small, large = repo.git("rev-parse", "HEAD:small"), repo.git("rev-parse", "HEAD:large")
    tree, missing = repo.git("rev-parse", "HEAD^{tree}"), "0" * 40
    asked = [small, large, tree, missing, small]
    assert contents(found(repo), asked, 100) == {small: b"s\n"}
    monkeypatch.setattr(blobs, "CONTENTS_LIMIT", 3000)
    assert contents(found(repo), asked, 100) == {small: b"s\n"}, "also where all are too much"


def test_a_branch_that_leads_nowhere_holds_nothing(repo: GitRepo) -> None:
    repo.commit("first", **{f"{GOALS}/a.goal.yaml": "a"})
    refs = repo.path / ".git/refs/heads"
    (refs / "gone").write_text("1" * 40 + "\n")
    (refs / "torn").write_text("no id\n")
    (refs / "main.lock").write_text("")
    checkout = found(repo)
    heads = branch_heads(checkout)
    assert "gone" in heads
    assert "torn" not in heads
    assert "main.lock" not in heads
    assert {entry.branch for entry in files_on_branches(checkout, heads, GOALS)} == {"main"}


def test_a_folder_that_is_a_file_or_a_link_holds_nothing(repo: GitRepo) -> None:
    repo.commit("first", **{".flow/goals": "no folder"})
    repo.git("switch", "-q", "-c", "link")
    (repo.path / ".flow/goals").unlink()
    os.symlink("/etc", repo.path / ".flow/goals")
    repo.commit("link")
    checkout = found(repo)
    assert files_on_branches(checkout, branch_heads(checkout), GOALS) == []


def test_without_commits_there_is_nothing_and_without_git_an_error(
    repo: GitRepo, tmp_path: Path
) -> None:
    assert branch_heads(found(repo)) == {}
    assert files_on_branches(found(repo), {}, GOALS) == []
    assert contents(found(repo), [], 1) == {}
    (tmp_path / "bare/.flow").mkdir(parents=True)
    checkout = find_repo(str(tmp_path / "bare"))
    assert checkout is not None
    with pytest.raises(GitError, match="no git repository"):
        branch_heads(checkout)
