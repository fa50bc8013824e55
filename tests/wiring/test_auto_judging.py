"""Auto mode with the real parts: whether it is on, and what a broken file does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flow.app.judging import auto_mode
from flow.app.judging.auto_mode import Stop
from flow.errors import FlowError
from flow.wiring.context import Context
from flow.wiring.judging.auto_mode import AutoMode
from tests.support import GitRepo


def port(repo: GitRepo) -> AutoMode:
    return AutoMode(Context(str(repo.path), os.environ))


@pytest.mark.parametrize("on", [True, False])
def test_a_projects_file_turns_it_on(on: bool, repo: GitRepo) -> None:
    repo.write("judge-config.json", json.dumps({"autoJudge": on}))
    auto = port(repo)
    assert (auto.faults(), auto.setting()) == ((), on)


def test_a_file_that_cannot_be_read_might_have_said_no(repo: GitRepo, home: Path) -> None:
    repo.write("judge-config.json", json.dumps({"autoJudge": True}))
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude/settings.flow.json").write_text("{")
    auto = port(repo)
    assert "settings.flow.json" in auto.faults()[0]
    told = auto_mode.on_stop(auto, Stop("s1", None))
    assert "autoJudge: " in told
    assert "settings.flow.json" in told


def test_names_are_never_used_twice(repo: GitRepo) -> None:
    auto = port(repo)
    assert auto.unique() != auto.unique()


def test_a_crash_is_an_error_that_can_be_told(repo: GitRepo) -> None:
    assert isinstance(port(repo).crashed(ValueError("x")), FlowError)
