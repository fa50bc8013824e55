"""``flow goal evaluate --dry-run``: what it runs, and that it writes nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.scene import create, flow, start

if TYPE_CHECKING:
    from tests.support import GitRepo

EVALUATE = ("goal", "evaluate", "greet", "--json")
SECOND = (
    "--criterion",
    "AC2: it says so :: echo ran >> src/ran; cat src/greet.txt; grep -q give src/greet.txt",
)


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but what git and the commands write."""
    return {
        os.fspath(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if not {".git", "ran"} & {*path.parts}
    }


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return create(start(repo), "greet", *SECOND)


def ran(work: GitRepo) -> int:
    path = work.path / "src/ran"
    return len(path.read_text().splitlines()) if path.exists() else 0


def rows(document: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {row["criterion_id"]: row["outcome"] for row in document["criterion_results"]}


@pytest.mark.parametrize("evaluated", [False, True])
def test_with_only_it_runs_that_command_and_writes_nothing(
    work: GitRepo, home: Path, evaluated: bool
) -> None:
    if evaluated:
        flow(work, *EVALUATE)
    times, before, state = ran(work), everything(work.path), everything(home / "flow-state")
    done = flow(work, *EVALUATE, "--dry-run", "--only", "AC2")
    assert ran(work) == times + 1
    outcomes = rows(done.json)
    assert outcomes["AC2"] == "passed"
    assert outcomes["AC1"] != "passed"
    assert done.json["proposed_transition"] is None
    assert everything(work.path) == before
    kept = everything(home / "flow-state")
    assert {p: d for p, d in kept.items() if "cache" not in p} == {
        p: d for p, d in state.items() if "cache" not in p
    }


def test_a_failure_is_a_failure_and_the_progress_shows_it(work: GitRepo) -> None:
    done = flow(work, "goal", "evaluate", "greet", "--dry-run", "--only", "AC1")
    assert done.status == 1
    assert "AC1" in done.stderr + done.stdout
    assert "exit 1" in done.stderr + done.stdout
    assert ran(work) == 0


def test_the_end_of_its_output_is_shown_as_that_of_any_run(work: GitRepo) -> None:
    flow(work, "goal", "amend", "greet", "--criterion", "AC3: it greets :: seq 30; false")
    words = ("goal", "evaluate", "greet", "--only", "AC3")
    recorded, dry = (flow(work, *words, *more).stdout for more in ([], ["--dry-run"]))
    block = recorded[recorded.index("── AC3") :].partition("\n\n")[0]
    assert block.split("\n")[1:] == [str(number) for number in range(16, 31)]
    assert block in dry
    assert "✗ AC3  it greets" in dry
    assert re.search(r"^✗ AC\d .* \d+\.\d s$", dry, re.MULTILINE), dry
    assert "flow evidence show AC3" in recorded
    assert "flow evidence" not in dry, "none was recorded"


def test_several_times_and_what_a_pass_does_not_change(work: GitRepo) -> None:
    done = flow(work, *EVALUATE, "--dry-run", "--only", "AC2", "--repeat", "3")
    assert ran(work) == 3
    assert rows(done.json)["AC2"] == "passed"
    assert flow(work, *EVALUATE).status == 1  # AC1 is still open, nothing was counted


def test_without_only_nothing_runs(work: GitRepo) -> None:
    flow(work, *EVALUATE, "--dry-run")
    assert ran(work) == 0


def test_an_untrusted_contract_runs_nothing(work: GitRepo) -> None:
    assert flow(work, "trust", "revoke", "greet").status == 0
    done = flow(work, *EVALUATE, "--dry-run", "--only", "AC2")
    assert done.status != 0
    assert ran(work) == 0
