"""A commit's files, digested as a working tree's."""

from __future__ import annotations

import os
from typing import Any

import pytest

from flow.adapters.baseline.pinned import pin_baseline
from flow.adapters.git.find import find_repo
from flow.adapters.worktree.change_set import snapshot
from flow.adapters.worktree.trees import commit_tree
from flow.core.boundary.by_products import subject_tree
from flow.core.boundary.changes import Baseline
from flow.core.boundary.rules import OwnFiles
from tests.support import GitRepo

pytestmark = pytest.mark.needs_tool("git")
OWN = OwnFiles(Baseline(None, {}, {}, {}, {}, {}))


def pinned(repo: GitRepo) -> tuple[Any, Baseline]:
    found = find_repo(str(repo.path))
    assert found is not None
    return found, pin_baseline(
        found, base="HEAD", denied=(), journal_dir=".decisions", cache_dir=None
    )


def now(repo: Any, baseline: Baseline) -> str:
    found = snapshot(repo, baseline, (), cache_dir=None)
    assert not found.problems
    return subject_tree(found, baseline, OWN)


def start(repo: GitRepo) -> GitRepo:
    repo.commit("start", **{"a": "a\n", "b/c": "c\n", "d": "d\n", ".gitignore": ".flow/runs/\n"})
    return repo


def test_it_is_what_a_clean_checkout_of_it_gives(repo: GitRepo) -> None:
    found, baseline = pinned(start(repo))
    assert commit_tree(found, baseline, repo.head, OWN) == now(found, baseline)
    repo.git("mv", "a", "moved")
    repo.git("rm", "-q", "b/c")
    os.chmod(repo.path / "d", 0o755)
    os.symlink("d", repo.path / "link")
    repo.write('n\u00e9w "name"', b"\xff\0")
    commit = repo.commit("every kind of change")
    tree = now(found, baseline)
    assert commit_tree(found, baseline, commit, OWN) == tree
    first = repo.git("rev-parse", "HEAD~1").strip()
    assert commit_tree(found, baseline, first, OWN) != tree
    repo.commit("Flow's own", **{".decisions/issue-1.md": "x", ".flow/goals/g.goal.yaml": "y"})
    assert commit_tree(found, baseline, repo.head, OWN) == tree == now(found, baseline)
    repo.write("d", "changed\n")
    assert now(found, baseline) != tree


def test_what_is_not_here_has_no_digest(repo: GitRepo) -> None:
    found, baseline = pinned(start(repo))
    for name in ("f" * 40, "HEAD", "main", "", "--all", repo.head[:8]):
        assert commit_tree(found, baseline, name, OWN) is None
    tag = repo.git("rev-parse", "HEAD^{tree}").strip()
    assert commit_tree(found, baseline, tag, OWN) is None
    without = baseline._replace(base_commit=None)
    assert commit_tree(found, without, repo.head, OWN) is None
    gone = baseline._replace(base_commit="e" * 40)
    assert commit_tree(found, gone, repo.head, OWN) is None
