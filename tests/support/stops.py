"""Stops as a host tells them, and the hook's answer to them."""

from __future__ import annotations

import json
import os
import sys
from contextlib import chdir
from typing import TYPE_CHECKING, Any

from flow import hook
from tests.support import ROOT, GitRepo, run, scene
from tests.support.here import forget
from tests.support.judges.scripted import answers_here

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.support import Ran

SCRIPT = os.path.join(ROOT, "hooks", "scripts", "flow-goal-evaluator.sh")
EVENT_NAMES = {"claude": "Stop", "codex": "Stop", "gemini": "AfterAgent", "cursor": "stop"}


def event(repo: GitRepo | Path, host: str = "claude", **more: Any) -> dict[str, Any]:
    """What ``host`` sends when an agent stops in ``repo``; ``more`` replaces fields."""
    cwd = os.fspath(repo.path if isinstance(repo, GitRepo) else repo)
    name = {"hook_event_name": EVENT_NAMES[host]}
    if host == "cursor":
        return {"conversation_id": "s1", "workspace_roots": [cwd], **name, **more}
    prompt = {"claude": "prompt_id", "codex": "turn_id"}.get(host)
    ids = {"session_id": "s1", **({prompt: "p1"} if prompt else {})}
    return {**ids, "cwd": cwd, **name, "stop_hook_active": False, **more}


def stop(
    repo: GitRepo | Path, capfd: pytest.CaptureFixture[str], host: str = "claude", **more: Any
) -> dict[str, Any]:
    """The answer of ``flow hook stop``, in this process, which knows no more than a new one.

    Hosts start it in the project's folder. (From elsewhere each git needs a fork of this process.)
    """
    text = json.dumps(event(repo, host, **more))
    return handed_on(text, repo.path if isinstance(repo, GitRepo) else repo, capfd, host)


def stopped(repo: GitRepo, host: str = "claude", **more: Any) -> dict[str, Any]:
    """:func:`stop`, where it only leads to what a test looks at: see ``made_once/replay.py``."""
    text = json.dumps(event(repo, host, **more))
    done = scene.step(repo, "hook", "stop", "--host", host, "--", text)
    assert done.status == 0, done
    return dict(done.json)


def handed_on(
    text: str, cwd: Path, capfd: pytest.CaptureFixture[str], host: str = "claude"
) -> dict[str, Any]:
    """What ``flow hook stop`` says, in this process, of an event that a script hands on."""
    forget()
    capfd.readouterr()
    with chdir(cwd), answers_here():
        assert hook.main(["--host", host, "--", text]) == 0
    answer: dict[str, Any] = json.loads(capfd.readouterr().out)
    return answer


def scripted(text: str, cwd: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What the script answers; what it would start, where it starts anything, is this process."""
    answer: dict[str, Any] = run_script(text, cwd=cwd, FLOW_PYTHON="/bin/false").json
    return handed_on(text, cwd, capfd) if "cannot run" in answer["reason"] else answer


def run_script(
    data: str, *words: str, script: str = SCRIPT, cwd: str | Path, timeout: float = 120, **env: Any
) -> Ran:
    """The hook's script as a host starts it."""
    return run(
        [script, *words],
        cwd=cwd,
        env={"FLOW_PYTHON": sys.executable, **env},
        input=data,
        timeout=timeout,
    )


def one_day(folder: Path) -> str:
    """A PATH on which the day does not change: the scripts say some things once a day."""
    program = folder / "one day" / "date"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 2026-01-05\n")
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


def settings(home: Path, **goals: Any) -> None:
    """The user's own settings below ``flow.goals``."""
    folder = home / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / "settings.flow.json").write_text(json.dumps({"flow": {"goals": goals}}))


def events(repo: GitRepo, kind: str = "stop", goal: str = "greet") -> list[dict[str, Any]]:
    """The run's events of a type."""
    lines = (scene.run_dir(repo, goal) / "events.jsonl").read_text().splitlines()
    return [found for found in map(json.loads, lines) if found["type"] == kind]


def loop(repo: GitRepo) -> dict[str, Any]:
    """The hook's counters."""
    found: dict[str, Any] = json.loads((scene.run_dir(repo) / "loop.json").read_text())
    return found


def verdict(repo: GitRepo) -> dict[str, Any]:
    """The newest verdict of the run."""
    text = (scene.run_dir(repo) / "last-verdict.json").read_text()
    found: dict[str, Any] = json.loads(text)
    return found
