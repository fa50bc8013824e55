"""A repository with a goal and the user's setting, as the tests of the hook need them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.scene import run_dir

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

BLOCK, APPROVE = "block", "approve"
TOOLS = ("--allowedTools", "Bash,Edit,Read,Write")
"""What the agent may use without being asked."""


def mode(home: Path, value: str, **goals: Any) -> None:
    """The user's own setting of what the hook does."""
    folder = home / ".claude"
    folder.mkdir(exist_ok=True)
    document = {"flow": {"goals": {"stopHookEnforcement": value, **goals}}}
    (folder / "settings.flow.json").write_text(json.dumps(document))


def verdict(repo: GitRepo, goal: str = "greet") -> dict[str, Any]:
    """The run's newest verdict, as the hook kept it."""
    found = json.loads((run_dir(repo, goal) / "last-verdict.json").read_text())
    assert isinstance(found, dict)
    return found


def stops(repo: GitRepo) -> list[dict[str, Any]]:
    """The run's events about stops."""
    lines = (run_dir(repo) / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["type"] == "stop"]
