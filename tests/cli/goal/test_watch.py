"""``flow goal watch``: runs when files of the goal change, and records nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flow.cli.goal import watch
from flow.wiring.context import Context
from tests.support import ROOT, GitRepo, run_flow, scene

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOW = os.path.join(ROOT, "bin", "flow")
FILE = ".flow/goals/greet.goal.yaml"


def recorded(repo: GitRepo) -> dict[str, bytes]:
    files = (file for file in (repo.path / ".flow").rglob("*") if file.is_file())
    kept = {str(file): file.read_bytes() for file in files}
    return {name: data for name, data in kept.items() if "/.locks/" not in name}


@pytest.fixture
def greet(repo: GitRepo) -> GitRepo:
    return scene.create(scene.start(repo), criterion="AC1: says please :: cat src/greet.txt; "
                        "grep -q please src/greet.txt")  # fmt: skip


@pytest.fixture
def watching(greet: GitRepo) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [FLOW, "goal", "watch", "--json"],
        cwd=greet.path,
        env={**os.environ, "FLOW_PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ran(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr.read() if process.stderr else ""
    document: dict[str, Any] = json.loads(line)
    return document


def test_it_ends_with_its_reader_also_where_nothing_changes(
    watching: subprocess.Popen[str],
) -> None:
    ran(watching)
    assert watching.stdout is not None
    watching.stdout.close()
    assert watching.wait(timeout=60) == 0


def test_it_runs_again_when_a_file_of_the_goal_changes(
    greet: GitRepo, watching: subprocess.Popen[str]
) -> None:
    before = recorded(greet)
    (row,) = ran(watching)["criteria"]
    assert (row["id"], row["outcome"]) == ("AC1", "failed")
    with open(row["output"], encoding="utf-8") as output:
        assert output.read() == "give me that\n"
    assert os.environ["FLOW_STATE_DIR"] in row["output"]
    greet.write("README.md", "not the goal's\n")
    scene.meet(greet)
    (row,) = ran(watching)["criteria"]
    assert row["outcome"] == "passed"
    with open(row["output"], encoding="utf-8") as output:
        assert output.read() == "please\n"
    assert recorded(greet) == before
    watching.send_signal(signal.SIGINT)
    _, errors = watching.communicate(timeout=60)
    assert (watching.returncode, errors) == (130, "")


def test_a_goal_that_is_caught_half_written_is_said_once_and_watched_on(
    greet: GitRepo, watching: subprocess.Popen[str]
) -> None:
    ran(watching)
    assert watching.stderr is not None
    text = scene.goal_file(greet)
    broken = (text[: len(text) // 2], "kind: [\n", "")
    greet.write(FILE, broken[0])
    first = watching.stderr.readline()
    assert "greet.goal.yaml" in first, watching.stdout and watching.stdout.read()
    assert watching.stderr.readline() == "flow: the watch goes on once that is put right\n"
    for half in broken[1:]:
        greet.write(FILE, half)
        greet.write("src/other.txt", half)
    scene.meet(greet)
    greet.write(FILE, text)
    assert ran(watching)["criteria"][0]["outcome"] == "passed"
    greet.write("src/greet.txt", "give me that\n")
    assert ran(watching)["criteria"][0]["outcome"] == "failed"
    watching.send_signal(signal.SIGINT)
    _, errors = watching.communicate(timeout=60)
    assert (watching.returncode, errors) == (130, "")


def test_a_goal_that_is_away_for_a_while_is_watched_on(
    greet: GitRepo, watching: subprocess.Popen[str]
) -> None:
    ran(watching)
    assert watching.stderr is not None
    (greet.path / FILE).rename(greet.path / "aside")
    assert "greet" in watching.stderr.readline()
    (greet.path / "aside").rename(greet.path / FILE)
    assert ran(watching)["criteria"][0]["outcome"] == "failed"


def test_an_amended_contract_is_run_as_it_is_then(
    greet: GitRepo, watching: subprocess.Popen[str]
) -> None:
    ran(watching)
    words = ("goal", "amend", "greet", "--criterion", "AC9: more :: true", "--yes")
    assert run_flow(*words, cwd=greet.path).status == 0
    assert [row["id"] for row in ran(watching)["criteria"]] == ["AC1", "AC9"]
    text = scene.goal_file(greet)
    greet.write("aside", text.replace("says please", "says thanks"))
    (greet.path / "aside").replace(greet.path / FILE)
    assert watching.stderr is not None
    assert "flow trust record greet" in watching.stderr.readline()
    assert run_flow("trust", "record", "greet", "--yes", cwd=greet.path).status == 0
    assert [row["outcome"] for row in ran(watching)["criteria"]] == ["failed", "passed"]


def test_checkouts_keep_their_outputs_apart(greet: GitRepo, tmp_path: Path) -> None:
    other = GitRepo.init(tmp_path / "elsewhere" / greet.path.name)
    folders = {watch._output_folder(Context(str(repo.path)), "greet") for repo in (greet, other)}
    assert len(folders - {None}) == 2


def test_at_a_terminal_the_table_stays_and_is_drawn_again(greet: GitRepo) -> None:
    child = scene.at_terminal(greet, ["goal", "watch"], columns=120)
    child.expect("AC1")
    child.expect("waits for changes of src/")
    child.expect(r"outputs in .*/watch/greet-[0-9a-f]{8}")
    scene.meet(greet)
    child.expect(r"\r\x1b\[\d+A")
    child.expect("exit 0")
    child.expect("waits for changes of src/")
    child.sendintr()
    status, said = scene.ended(child)
    assert status == 130
    assert "Traceback" not in said
    assert run_flow("goal", "status", "--json", cwd=greet.path).json["turns_evaluated"] == 0


def test_without_trust_nothing_runs(greet: GitRepo) -> None:
    run_flow("trust", "revoke", "greet", cwd=greet.path)
    done = run_flow("goal", "watch", cwd=greet.path)
    assert done.status == 4
    assert "flow trust record greet" in done.stderr


def test_a_goal_without_a_command(repo: GitRepo) -> None:
    scene.start(repo)
    words = (
        "goal",
        "create",
        "read",
        "--outcome",
        "o",
        "--fuzzy",
        scene.FUZZY,
        "--allow",
        "src/**",
    )
    assert run_flow(*words, "--evidence", "AC2: src/**", cwd=repo.path).status == 0
    done = run_flow("goal", "watch", cwd=repo.path)
    assert done.status == 2
    assert "no command to run" in done.stderr


def test_without_the_library_it_says_how_to_get_it(
    greet: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    done = run_flow("goal", "watch", cwd=greet.path)
    assert done.status == 5
    assert "pip install watchfiles" in done.stderr
