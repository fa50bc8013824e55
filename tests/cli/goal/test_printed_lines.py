"""Lines that Flow prints to be typed, typed as they are printed."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from collections.abc import Sequence

ODD_PATTERNS = ("-dash", "it's", "two\nlines", "$HOME `x`", "*")


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo))


def typed(line: str) -> list[str]:
    """The arguments that bash makes of a line."""
    words = ["bash", "-c", f"set -f; printf '%s\\0' {line}"]
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout.split("\0")[:-1]


def amended(repo: GitRepo, words: Sequence[str]) -> list[str]:
    done = flow(repo, *words)
    assert done.status == 0, done.stderr
    inspected = flow(repo, "goal", "inspect", "greet", "--json").json
    paths: list[str] = inspected["document"]["constraints"]["allowed_paths"]
    return paths


def test_the_line_of_a_refused_amendment_asks_for_the_same(work: GitRepo) -> None:
    words = [f"--allow={pattern}" for pattern in ODD_PATTERNS]
    refused = flow(work, "goal", "amend", "greet", *words, "--json")
    assert refused.status == 4
    line = refused.json["error"]["remedy"].partition("a caller who asked one: flow ")[2]
    assert amended(work, typed(line))[-len(ODD_PATTERNS) :] == [*ODD_PATTERNS]
