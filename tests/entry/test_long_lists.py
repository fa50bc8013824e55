"""A list for people is cut, with its length and where the rest is; documents keep all of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flow.errors import ALL, FEW, PATHS, ContractError, Fault, cut_list
from tests.entry import scene
from tests.entry.hooks import event, run_script, settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

MANY = 900
SMALL = 8_000
"""Characters that a person is shown at most."""


def test_a_list_says_how_long_it_is_and_where_the_rest_is() -> None:
    rows = [f"row {number}" for number in range(12_345)]
    assert cut_list(rows[:FEW], "x") == rows[:FEW]
    assert cut_list(rows, "flow list") == [*rows[:FEW], "and 12,335 more: flow list"]
    assert len(cut_list(rows, "flow list", PATHS)) == PATHS + 1


def test_so_does_an_error_of_many_faults() -> None:
    error = ContractError([Fault("is wrong", key=f"k{number}") for number in range(1000)])
    assert str(error).splitlines()[-1] == f"and 990 more: {ALL}"
    assert len(error.to_dict()["faults"]) == 1000  # type: ignore[arg-type]


def test_paths_outside(repo: GitRepo, home: Path) -> None:
    scene.create(scene.start(repo))
    for number in range(MANY):
        repo.write(f"outside/with a name of some length {number}.txt", "x\n")
    done = scene.flow(repo, "goal", "evaluate", "greet", "--no-input")
    assert len(done.stdout) + len(done.stderr) < SMALL
    assert "and 860 more: flow verdict show greet --json" in done.stdout
    shown = scene.flow(repo, "verdict", "show", "greet")
    assert len(shown.stdout) < SMALL
    whole = scene.flow(repo, "verdict", "show", "greet", "--json")
    assert len(whole.json["path_violations"]) == MANY
    settings(home, stopHookEnforcement="block")
    answer = run_script(json.dumps(event(repo)), cwd=repo.path)
    assert len(answer.stdout) < SMALL
    assert scene.flow(repo, "report", "greet").status == 0


def test_unknown_keys_of_a_goal(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    more = "".join(f"unknown_{number}: 1\n" for number in range(MANY))
    repo.write(".flow/goals/greet.goal.yaml", scene.goal_file(repo) + more)
    for words in (("goal", "status", "greet"), ("goal", "list"), ("doctor",)):
        done = scene.flow(repo, *words)
        assert len(done.stdout) + len(done.stderr) < SMALL, words
    done = scene.flow(repo, "goal", "status", "greet")
    assert f"and {MANY - FEW} more: {ALL}" in done.stderr
    assert (
        len(scene.flow(repo, "goal", "status", "greet", "--json").json["error"]["faults"]) == MANY
    )
    assert len(scene.flow(repo, "doctor", "--json").json["findings"]) >= MANY
    answer = run_script(json.dumps(event(repo)), cwd=repo.path)
    assert len(answer.stdout) < SMALL


def test_unknown_settings(repo: GitRepo, home: Path) -> None:
    scene.create(scene.start(repo))
    settings(home, **{f"unknown{number}": 1 for number in range(MANY)})
    done = scene.flow(repo, "goal", "status", "greet")
    assert len(done.stdout) + len(done.stderr) < SMALL
