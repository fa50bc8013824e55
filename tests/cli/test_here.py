"""The command line in the test's process says what ``bin/flow`` says, and remembers nothing."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from flow.wiring.context import Context
from tests.support import GitRepo, run_flow, run_helper, scene, start_flow

if TYPE_CHECKING:
    from pathlib import Path

CALLS = {
    "an answer": (("goal", "inspect", "greet", "--json"), None, {}),
    "an error": (("goal", "status", "nobody", "--json"), None, {}),
    "no such command": (("gaol",), None, {}),
    "standard input": (("evidence", "verify", "--bundle", "-", "--json"), "{}\n", {}),
    "a variable": (("trust", "list"), None, {"FLOW_STATE_DIR": "relative"}),
    "a variable less": (("config", "list", "--json"), None, {"HOME": None}),
}


@pytest.mark.parametrize("call", CALLS)
def test_it_says_what_a_process_of_its_own_says(repo: GitRepo, call: str) -> None:
    scene.create(scene.start(repo))
    words, given, env = CALLS[call]
    there = dict(os.environ), os.getcwd()
    done = run_flow(*words, cwd=repo.path, input=given, env=env)
    assert done == start_flow(*words, cwd=repo.path, input=given, env=env)
    assert (dict(os.environ), os.getcwd()) == there


def test_what_the_tests_process_wrote_is_nothing_to_it(repo: GitRepo) -> None:
    """It vouches only for what it writes itself, as a process that was started does."""
    scene.create(scene.start(repo))
    scene.propose(repo)
    verdict = f".flow/runs/{scene.run_dir(repo).name}/last-verdict.json"
    forged = repo.read(verdict).replace("achieved", "blocked")
    repo.write(verdict, forged)
    Context(os.fspath(repo.path)).run_record.run(scene.run_dir(repo).name).wrote(
        verdict, forged.encode()
    )
    assert scene.flow(repo, "goal", "pause", "greet").status == 0
    said = scene.flow(repo, "evidence", "verify")
    assert said.status == 1
    assert "last-verdict.json" in said.stdout


def memory() -> dict[str, object]:
    """Copies of all that modules of Flow hold in lists, dictionaries and sets."""
    return {
        f"{name}.{variable}": value.copy()
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "flow"
        for variable, value in vars(module).items()
        if isinstance(value, dict | list | set) and not variable.startswith("__")
    }


def test_no_module_remembers_a_repository(tmp_path: Path) -> None:
    """A module that keeps something between two runs is named in ``here.REMEMBERED``."""

    def walk(name: str) -> None:
        repo = scene.create(scene.start(GitRepo.init(tmp_path / name)))
        assert scene.flow(repo, "goal", "evaluate", "greet").status == 1
        assert scene.flow(repo, "goal", "pause", "greet").status == 0
        assert scene.flow(repo, "evidence", "verify").status == 0
        assert run_helper("flow-active-goal", cwd=repo.path).status == 1

    walk("first")  # loads all that it needs
    before = memory()
    walk("second")
    after = memory()
    assert [name for name in before if after[name] != before[name]] == []
