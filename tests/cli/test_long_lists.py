"""A list for people is cut, with its length and where the rest is; documents keep all of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flow.errors import ALL_IN_JSON, FEW_ROWS, MANY_ROWS, ContractError, Fault, cut_list
from tests.support import scene
from tests.support.stops import event, run_script, settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

MANY = 900
SMALL = 8_000
"""Characters that a person is shown at most."""


def test_a_list_says_how_long_it_is_and_where_the_rest_is() -> None:
    rows = [f"row {number}" for number in range(12_345)]
    assert cut_list(rows[:FEW_ROWS], "x") == rows[:FEW_ROWS]
    assert cut_list(rows, "flow list") == [*rows[:FEW_ROWS], "and 12,335 more: flow list"]
    assert len(cut_list(rows, "flow list", MANY_ROWS)) == MANY_ROWS + 1


def test_so_does_an_error_of_many_faults() -> None:
    error = ContractError([Fault("is wrong", key=f"k{number}") for number in range(1000)])
    assert str(error).splitlines()[-1] == f"and 990 more: {ALL_IN_JSON}"
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
    assert f"and {MANY - FEW_ROWS} more: {ALL_IN_JSON}" in done.stderr
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


ROWS = 60
"""More than a list shows; the hostile sizes are thousands, the rule is one."""


def cut_for_people(repo: GitRepo, words: tuple[str, ...], rest: str, count: int) -> str:
    """What ``words`` prints, which is short and ends with how many more there are, and where."""
    done = scene.flow(repo, *words)
    assert len(done.stdout) + len(done.stderr) < 2 * SMALL, words
    assert f"and {count - MANY_ROWS} more: {rest}" in done.stdout
    return done.stdout


def test_events_and_evidence(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    scene.flow(repo, "goal", "evaluate", "greet", "--no-input")
    run = (
        repo.path
        / ".flow/runs"
        / scene.flow(repo, "goal", "status", "greet", "--json").json["run_id"]
    )
    events = run / "events.jsonl"
    more = (
        {
            "at": f"2030-01-01T00:00:{n % 60:02d}Z",
            "seq": 4 + n,
            "type": f"noted{n}",
            "goal_id": "greet",
            "reason": "r" * 2000,
        }
        for n in range(ROWS)
    )
    with events.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in more)
    rest = "flow goal history greet --json"
    every = scene.flow(repo, *rest.split()[1:]).json["events"]
    assert len(every) > ROWS
    shown = cut_for_people(repo, ("goal", "history", "greet", "--details"), rest, len(every))
    assert f"noted{ROWS - 1}\n" in shown
    assert "noted0\n" not in shown

    folder = run / "evidence"
    one = next(folder.glob("*.evidence.yaml"))
    name = one.name.removesuffix(".evidence.yaml")
    for number in range(ROWS):
        other = f"{name}-{number}"
        (folder / f"{other}.evidence.yaml").write_text(one.read_text().replace(name, other))
        (folder / f"{other}.txt").write_bytes((folder / f"{name}.txt").read_bytes())
    rest = f"flow evidence list --run-id {run.name} --json"
    every = scene.flow(repo, *rest.split()[1:]).json["evidence"]
    assert len(every) > ROWS
    cut_for_people(repo, ("evidence", "list", "greet"), rest, len(every))


def test_goals(repo: GitRepo) -> None:
    scene.create(scene.start(repo))
    text = scene.goal_file(repo)
    for number in range(ROWS):
        other = text.replace("greet", f"greet{number}")
        repo.write(f".flow/goals/greet{number}.goal.yaml", other)
        repo.write(f".flow/goals/bad{number}.goal.yaml", "unreadable: " + "x" * 300 + "\n")
    document = scene.flow(repo, "goal", "list", "--json").json
    assert len(document["goals"]) == ROWS + 1
    assert len(document["unreadable"]) == ROWS
    cut_for_people(repo, ("goal", "list"), "flow goal list --json", ROWS + 1)
    done = scene.flow(repo, "goal", "list")
    assert f"and {ROWS - FEW_ROWS} more: " in done.stderr
    answer = run_script(json.dumps(event(repo)), cwd=repo.path)
    assert len(answer.stdout) + len(answer.stderr) < SMALL
