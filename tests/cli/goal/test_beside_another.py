"""Two goals of one checkout at the same time, and what of it is blamed on a command."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import scene
from tests.support.patience import LONG

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support import GitRepo

OTHER = ".flow/goals/other.goal.yaml"


@pytest.fixture
def gates(repo: GitRepo, tmp_path: Path) -> tuple[Path, Path]:
    """``greet``, whose command says that it runs and waits, and ``other``, each with a proposal."""
    began, go = tmp_path / "began", tmp_path / "go"
    scene.start(repo)
    waits = f"if test -p {shlex.quote(str(go))}; then : > {shlex.quote(str(began))}; cat"
    waits += f" {shlex.quote(str(go))} | sh; fi"
    scene.create(repo, "greet", criterion=f"AC1: waits :: {waits}")
    scene.create(repo, "other")
    scene.meet(repo)
    for goal in ("greet", "other"):
        assert scene.step(repo, "goal", "evaluate", goal, "--json").status == 0
    os.mkfifo(began)
    os.mkfifo(go)
    return began, go


def evaluated_beside(
    repo: GitRepo, gates: tuple[Path, Path], beside: Callable[[], str]
) -> dict[str, Any]:
    """The verdict of ``greet``, whose command ran while ``beside`` did, and then the text it gives.

    The text is a shell script.
    """
    result: list[dict[str, Any]] = []

    def evaluate() -> None:
        done = scene.flow_started(repo, "goal", "evaluate", "greet", "--json")
        result.append(json.loads(done.stdout))

    greet = threading.Thread(target=evaluate, daemon=True)
    greet.start()
    began, go = gates
    with open(began, "rb"):
        pass
    script = beside()
    with open(go, "w", encoding="utf-8") as file:
        file.write(script)
    greet.join(LONG)
    return result[0]


def evaluate_other(repo: GitRepo) -> None:
    """Its result is another than before, so that its file changes."""
    before = scene.goal_file(repo, "other")
    repo.write("src/greet.txt", "give me that\n")
    scene.flow(repo, "goal", "evaluate", "other", "--json")
    repo.write("src/greet.txt", "please\n")
    assert scene.goal_file(repo, "other") != before


def pause_other(repo: GitRepo) -> None:
    assert scene.flow(repo, "goal", "pause", "other", "--reason", "later").status == 0


def create_third(repo: GitRepo) -> None:
    scene.create(repo, "third")


@pytest.mark.parametrize("write", [evaluate_other, pause_other, create_third])
def test_what_flow_writes_to_another_goal_is_blamed_on_no_command(
    repo: GitRepo, gates: tuple[Path, Path], write: Callable[[GitRepo], None]
) -> None:
    def beside() -> str:
        write(repo)
        return "true"

    verdict = evaluated_beside(repo, gates, beside)
    assert [row["outcome"] for row in verdict["criterion_results"]] == ["passed"]


FORGED = """
import hashlib, json, os, sys
goal, events = sys.argv[1:]
with open(goal, "a") as file:
    file.write("# more\\n")
lines = open(events).read().splitlines()
last = json.loads(lines[-1])
event = {**last, "seq": last["seq"] + 1, "prev": last["hash"], "type": "goal-evaluation"}
event["goal_sha256"] = hashlib.sha256(open(goal, "rb").read()).hexdigest()
del event["hash"]
text = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
event["hash"] = hashlib.sha256(text.encode()).hexdigest()
with open(events, "a") as file:
    file.write(json.dumps(event, separators=(",", ":"), ensure_ascii=True) + "\\n")
"""


@pytest.mark.parametrize("way", ["edited", "forged", "put back", "another's text", "removed"])
def test_what_no_flow_process_wrote_to_another_goal_is_blamed(
    repo: GitRepo, gates: tuple[Path, Path], tmp_path: Path, way: str
) -> None:
    (tmp_path / "forge.py").write_text(FORGED)
    earlier = scene.goal_file(repo, "other")
    (tmp_path / "earlier").write_text(earlier)
    events = scene.run_dir(repo, "other") / "events.jsonl"
    forge = [sys.executable, str(tmp_path / "forge.py"), OTHER, str(events)]
    script = {
        "edited": f"echo '# more' >> {OTHER}",
        "forged": shlex.join(forge),
        "put back": f"cat {shlex.quote(str(tmp_path / 'earlier'))} > {OTHER}",
        "another's text": f"cat .flow/goals/greet.goal.yaml > {OTHER}",
        "removed": f"rm {OTHER}",
    }[way]

    def beside() -> str:
        evaluate_other(repo)
        return script

    verdict = evaluated_beside(repo, gates, beside)
    [row] = verdict["criterion_results"]
    assert row["outcome"] == "failed"
    assert f"changed {OTHER}" in row["reason"]


def test_a_forged_event_that_an_evaluation_pins_excuses_nothing(
    repo: GitRepo, gates: tuple[Path, Path], tmp_path: Path
) -> None:
    """Its chain fits, and Flow's next write to the run takes it in."""
    (tmp_path / "forge.py").write_text(FORGED)
    events = scene.run_dir(repo, "other") / "events.jsonl"

    def beside() -> str:
        subprocess.run(
            [sys.executable, tmp_path / "forge.py", OTHER, events], cwd=repo.path, check=True
        )
        forged = scene.goal_file(repo, "other")
        ran = scene.flow(repo, "goal", "baseline", "other")
        assert ran.status == 0, ran
        assert scene.goal_file(repo, "other") == forged
        verified = scene.flow(repo, "evidence", "verify", "other")
        assert verified.status == 0, verified
        return "true"

    verdict = evaluated_beside(repo, gates, beside)
    [row] = verdict["criterion_results"]
    assert row["outcome"] == "failed"
