"""The temporary folders that the benchmarks run in, with a home and a trust ledger of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = os.path.join(ROOT, ".venv-flow", "venv", "bin", "python")
"""The interpreter that ``bin/flow`` prepares, and starts."""


def program(name: str) -> str:
    """The absolute path of a command of ``bin/``."""
    return os.path.join(ROOT, "bin", name)


_NO_UPKEEP = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
    "GIT_CONFIG_KEY_1": "maintenance.auto",
    "GIT_CONFIG_VALUE_1": "false",
}
"""git tidies up nothing beside what is measured, in folders that are removed meanwhile."""


class Place:
    """A folder with a home, a state folder, and any number of repositories."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": os.path.join(folder, "home"),
            "FLOW_STATE_DIR": os.path.join(folder, "state"),
            "TMPDIR": folder,
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            **_NO_UPKEEP,
            **{
                f"GIT_{role}_{part}": value
                for role in ("AUTHOR", "COMMITTER")
                for part, value in (("NAME", "benchmark"), ("EMAIL", "benchmark@example.invalid"))
            },
        }
        os.mkdir(self.env["HOME"])

    def git(self, repository: str, *arguments: str) -> None:
        """Run git in ``repository``."""
        subprocess.run(
            ["git", *arguments], cwd=repository, env=self.env, check=True, capture_output=True
        )

    def flow(self, repository: str, *arguments: str, expected: int = 0) -> str:
        """Run ``bin/flow`` in ``repository``; returns what it printed."""
        done = subprocess.run(
            [program("flow"), *arguments],
            cwd=repository,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != expected:
            raise SystemExit(f"flow {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def repository(self, name: str, commands: Sequence[str] = ()) -> str:
        """A new repository with one commit, and a goal ``bench`` with a criterion a command."""
        repository = os.path.join(self.folder, name)
        os.mkdir(repository)
        self.git(repository, "init", "-q", "-b", "main")
        with open(os.path.join(repository, ".gitignore"), "w", encoding="ascii") as file:
            file.write(".flow/runs/\n")
        self.git(repository, "add", ".")
        self.git(repository, "commit", "-q", "-m", "start")
        if commands:
            self.goal(repository, commands)
        return repository

    def goal(self, repository: str, commands: Sequence[str]) -> None:
        """Create the goal ``bench`` there. JSON is YAML, so a goal file may be written as JSON."""
        text = os.path.join(self.folder, f"{os.path.basename(repository)}.goal.yaml")
        with open(text, "w", encoding="utf-8") as file:
            json.dump(_goal(commands), file, indent=1)
        self.flow(repository, "goal", "create", "--file", text)

    def remove(self, repository: str) -> None:
        """Delete a repository that is no longer needed."""
        shutil.rmtree(repository)


def _goal(commands: Sequence[str]) -> dict[str, object]:
    return {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowGoal",
        "metadata": {"id": "bench", "created_at": "2026-01-05T09:00:00Z"},
        "scope": {"repo": "bench", "branch": "main", "run_id": "bench-run"},
        "objective": {
            "outcome": "a goal to measure with",
            "acceptance_criteria": [
                {
                    "id": f"AC{number}",
                    "text": f"criterion {number} holds",
                    "verification_command": command,
                    "status": "pending",
                }
                for number, command in enumerate(commands, 1)
            ],
        },
        "evaluator": {"type": "deterministic"},
        "lifecycle": {"status": "active"},
    }
