"""What the tests of the inbox begin with."""

from __future__ import annotations

import pytest

from tests.support import GitRepo, scene


@pytest.fixture
def greet(repo: GitRepo) -> GitRepo:
    """A repository on ``main`` with an active goal that its first commit does not meet yet."""
    scene.start(repo)
    repo.git("branch", "-q", "-M", "main")
    return scene.create(repo)
