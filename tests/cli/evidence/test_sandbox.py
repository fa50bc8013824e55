"""``evaluator.sandbox`` from outside: goals, evidence, doctor (SPEC 1 and 10)."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo, scene
from tests.support.scene import flow

if TYPE_CHECKING:
    from pathlib import Path

needs_bwrap = pytest.mark.needs_tool("bwrap", "git", "bash")

GOAL = """
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {{id: greet, created_at: "2026-01-05T09:00:00Z"}}
scope: {{repo: demo, branch: main}}
objective:
  outcome: the greeting is polite
  acceptance_criteria:
{criteria}
constraints:
  allowed_paths: [src/**]
evaluator: {{type: deterministic{sandbox}}}
lifecycle: {{status: active}}
"""


def criterion(id: str, command: str) -> str:
    return f"    - {{id: {id}, text: it holds, status: pending, verification_command: '{command}'}}"


def create(repo: GitRepo, sandbox: str, *commands: str) -> GitRepo:
    """An active goal whose commands run in ``sandbox`` (the text of its YAML value)."""
    scene.start(repo)
    rows = "\n".join(criterion(f"AC{n}", text) for n, text in enumerate(commands, 1))
    value = f", sandbox: {sandbox}" if sandbox else ""
    file = repo.path.parent / "goal.yaml"
    file.write_text(GOAL.format(criteria=rows, sandbox=value))
    done = flow(repo, "goal", "create", "--file", file)
    assert done.status == 0, done.stderr
    return repo


def without_bwrap(folder: Path) -> dict[str, str]:
    """An environment whose PATH has what Flow needs, and no bwrap."""
    folder.mkdir()
    for name in ("bash", "git", "grep", "env", "dirname", "readlink", "uname", "touch"):
        if found := shutil.which(name):
            os.symlink(found, folder / name)
    return {"PATH": str(folder), "FLOW_PYTHON": sys.executable}


@needs_bwrap
def test_the_evidence_says_in_which_sandbox_it_ran(repo: GitRepo) -> None:
    create(repo, "bwrap", "touch src/made && ! touch outside && ! touch .git/hooks/x")
    done = flow(repo, "goal", "evaluate", "greet", "--json")
    assert done.json["criterion_results"][0]["outcome"] == "passed", done
    shown = flow(repo, "evidence", "show", "evidence-ac1-eval-1", "--json").json
    found = shown["evidence"]["sandbox"]
    assert found.pop("version")[0].isdigit()
    found.pop("processes", None)
    assert found == {"kind": "bwrap", "network": False, "writable": ["src"]}
    assert sorted(os.listdir(repo.path / "src")) == ["greet.txt", "made"]
    assert not (repo.path / "outside").exists()


@needs_bwrap
def test_the_reports_that_a_command_wrote_in_its_paths_are_read(repo: GitRepo) -> None:
    report = '<testsuite tests="1"><testcase name="a"><skipped/></testcase></testsuite>'
    repo.write("run-tests", f"#!/bin/bash\necho '{report}' > src/report.xml\n")
    create(repo, "bwrap", "bash run-tests --junitxml=src/report.xml")
    (row,) = flow(repo, "goal", "evaluate", "greet", "--json").json["criterion_results"]
    assert row["outcome"] == "inconclusive", row
    assert "JUnit XML" in row["reason"]


@needs_bwrap
def test_the_repository_of_a_linked_worktree_is_closed_too(repo: GitRepo) -> None:
    create(repo, "bwrap", "true")
    repo.git("add", ".flow")
    repo.git("commit", "-q", "-m", "the goal")
    tree = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", "-b", "other", str(tree))
    command = f"touch {repo.path}/.git/hooks/x || touch .git || echo x >> .git"
    file = repo.path.parent / "goal.yaml"
    file.write_text(
        GOAL.format(criteria=criterion("AC1", command), sandbox=", sandbox: bwrap")
        .replace("branch: main", "branch: other")
        .replace("id: greet", "id: linked")
        .replace("allowed_paths: [src/**]", "allowed_paths: []")
    )
    assert flow(repo, "goal", "create", "--file", file, cwd=tree).status == 0
    (row,) = flow(repo, "goal", "evaluate", "linked", "--json", cwd=tree).json["criterion_results"]
    assert row["outcome"] == "failed", row
    assert not (repo.path / ".git/hooks/x").exists()


def test_without_bwrap_nothing_runs_and_doctor_says_so(repo: GitRepo, tmp_path: Path) -> None:
    create(repo, "bwrap", "touch src/ran")
    env = without_bwrap(tmp_path / "only")
    done = flow(repo, "goal", "evaluate", "greet", "--json", env=env)
    assert done.status == 1, done
    (row,) = done.json["criterion_results"]
    assert (row["outcome"], row["exit_code"]) == ("inconclusive", None)
    assert row["reason"].startswith("sandbox bwrap: the program bwrap was not found in PATH")
    assert done.json["proposed_transition"] is None
    assert not (repo.path / "src/ran").exists()
    assert "last_result: could not run" in scene.goal_file(repo)
    doctor = flow(repo, "doctor", "--json", env=env)
    assert doctor.status == 1
    (finding,) = (f for f in doctor.json["findings"] if "sandbox" in f["what"])
    assert "bwrap was not found" in finding["what"]
    assert "greet" in finding["why"]


@needs_bwrap
def test_doctor_names_the_sandbox_where_a_goal_asks_for_one(repo: GitRepo) -> None:
    create(repo, "{kind: bwrap, network: true}", "true")
    facts = {f["what"]: f["value"] for f in flow(repo, "doctor", "--json").json["facts"]}
    assert facts["sandbox"].startswith("bubblewrap ")
    flow(repo, "goal", "clear", "greet", "--yes")
    assert "sandbox" not in {f["what"] for f in flow(repo, "doctor", "--json").json["facts"]}


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("docker", "evaluator.sandbox"),
        ("BWRAP", "evaluator.sandbox"),
        ("1", "evaluator.sandbox"),
        ("[bwrap]", "evaluator.sandbox"),
        ("{kind: docker}", "evaluator.sandbox.kind"),
        ("{network: true}", "evaluator.sandbox.kind"),
        ("{kind: bwrap, network: some}", "evaluator.sandbox.network"),
    ],
)
def test_an_unknown_value_is_exit_2(repo: GitRepo, value: str, key: str) -> None:
    scene.start(repo)
    file = repo.path.parent / "goal.yaml"
    file.write_text(GOAL.format(criteria=criterion("AC1", "true"), sandbox=f", sandbox: {value}"))
    done = flow(repo, "goal", "create", "--file", file, "--json")
    assert done.status == 2, done
    assert key in str(done.json["error"]), done.json


@pytest.mark.parametrize("value", ["", "none", "false", "null", "{kind: none}"])
def test_without_a_sandbox_nothing_is_confined(repo: GitRepo, value: str) -> None:
    create(repo, value, "touch outside")
    flow(repo, "goal", "evaluate", "greet", "--json")
    assert (repo.path / "outside").exists()
    shown = flow(repo, "evidence", "show", "evidence-ac1-eval-1", "--json").json
    assert "sandbox" not in shown["evidence"]
