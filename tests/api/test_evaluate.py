"""``flow.evaluate`` refuses what the command line refuses, before anything runs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flow import InputError, evaluate
from tests.support import GitRepo, scene


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("jobs", value) for value in (0, -1, 257, "2", 1.5, True)),
        *(("repeat", value) for value in (0, -1, 1001, "2", 1.5, True)),
        *(("timeout_seconds", value) for value in (0, -1, math.nan, math.inf, 10**400, "2", True)),
        *(("trigger", value) for value in ("bogus", "", None, 5)),
    ],
)
def test_what_no_command_line_takes_is_refused(name: str, value: Any, repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    with pytest.raises(InputError) as error:
        evaluate("greet", cwd=str(repo.path), **{name: value})
    assert error.value.fault.key == name
    assert not list(scene.run_dir(repo).glob("evidence/*"))


def test_what_it_takes_is_taken(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    given: dict[str, Any] = {"jobs": 256, "repeat": 2, "timeout_seconds": 604800}
    verdict = evaluate("greet", cwd=str(repo.path), trigger="command", **given)
    assert verdict.verdict == "not_achieved"
