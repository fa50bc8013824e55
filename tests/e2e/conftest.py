"""The scene of the end-to-end tests."""

from __future__ import annotations

import pytest

from tests.support import GitRepo
from tests.support.scene import create, flow, meet, start


@pytest.fixture
def scene(repo: GitRepo) -> GitRepo:
    """A goal that is not met yet: src/greet.txt must say please, and only src/ may change."""
    return create(start(repo))


@pytest.fixture
def met(repo: GitRepo) -> GitRepo:
    """A repository after ``flow init`` (with its rules for Claude Code) and a goal that is met."""
    start(repo)
    assert flow(repo, "init").status == 0
    repo.commit("init")
    create(repo)
    meet(repo)
    return repo
