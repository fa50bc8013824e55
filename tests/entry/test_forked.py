"""A fork that runs the command line says what ``bin/flow`` says, and remembers nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from flow.adapters.chain import session_writes
from tests.entry import scene
from tests.support import run_flow
from tests.support.forked import run_forked

if TYPE_CHECKING:
    from tests.support import GitRepo

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
    forked = run_forked(*words, cwd=repo.path, input=given, env=env)
    assert forked == run_flow(*words, cwd=repo.path, input=given, env=env)
    assert (dict(os.environ), os.getcwd()) == there


def test_what_the_tests_process_wrote_is_nothing_to_it(repo: GitRepo) -> None:
    """It vouches only for what it writes itself, as a process that was started does."""
    scene.create(scene.start(repo))
    scene.propose(repo)
    verdict = f".flow/runs/{scene.run_dir(repo).name}/last-verdict.json"
    forged = repo.read(verdict).replace("achieved", "blocked")
    repo.write(verdict, forged)
    session_writes.wrote(os.fspath(repo.path), verdict, forged.encode())
    assert scene.flow_forked(repo, "goal", "pause", "greet").status == 0
    said = scene.flow_forked(repo, "evidence", "verify")
    assert said.status == 1
    assert "last-verdict.json" in said.stdout
