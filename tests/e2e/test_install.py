"""Flow installed as users install it: from a marketplace, into Claude Code's own folder."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agent import Agent, bash, says
from tests.e2e.scene import APPROVE, BLOCK, TOOLS, mode, verdict
from tests.e2e.session import QUIET, Session, allow
from tests.support import ROOT, GitRepo, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.needs_tool("claude"), pytest.mark.slow]

PARTS = (
    *(".claude-plugin", "agents", "bin", "commands", "flow", "hooks"),
    *("references", "schemas", "skills"),
)
"""What of the checkout the plugin is made of, with pyproject.toml."""


@pytest.fixture
def installed(tmp_path: Path, home: Path) -> Path:
    """The folder that Claude Code keeps the plugin in; git takes the made-up address for a path."""
    market = GitRepo.init(tmp_path / "market")
    for part in PARTS:
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(os.path.join(ROOT, part), market.path / part, ignore=without)
    shutil.copy(os.path.join(ROOT, "pyproject.toml"), market.path)
    market.commit("Flow")
    address = "https://flow.invalid/flow.git"
    market.git("config", "--global", f"url.file://{market}.insteadOf", address)
    for words in (("marketplace", "add", address), ("install", "flow@flow-goal")):
        done = run(["claude", "plugin", *words], cwd=tmp_path, env=dict(QUIET))
        assert done.status == 0, done
    (folder,) = (home / ".claude/plugins/cache/flow-goal/flow").iterdir()
    return folder


def files(folder: Path) -> set[str]:
    """Every file below a folder, but compiled modules, and the CLI's own marks of who uses it."""
    return {
        os.path.join(where, name)
        for where, _, names in os.walk(folder)
        for name in names
        if not {"__pycache__", ".in_use"} & {*where.split(os.sep), name}
    }


def test_it_works_from_there_and_leaves_no_state_in_it(
    scene: GitRepo, home: Path, installed: Path
) -> None:
    """Where it has no environment it says so once a day, and which command prepares one."""
    before = files(installed)
    agent = Agent(says("one"), says("two"), says("three"))
    bare: dict[str, str | None] = {"FLOW_PYTHON": None}  # so there is only what the plugin brings
    with Session(scene, agent, plugin=None, env=bare) as session:
        first = session.prompt("make the greeting polite")
        later = [session.prompt("again"), session.prompt("and again")]
    assert [turn.decisions for turn in (first, *later)] == [[APPROVE]] * 3
    assert f"{installed}/bin/flow doctor" in os.path.normpath(first.hooks[0]["systemMessage"])
    # Neither does, unless midnight comes before one of them.
    assert not all("systemMessage" in turn.hooks[0] for turn in later)

    mode(home, "evaluator-loop")
    agent = Agent(
        bash("command -v flow"), says("done"), bash("echo please > src/greet.txt"), says("now")
    )
    with Session(scene, agent, *TOOLS, plugin=None, person=allow) as session:
        turn = session.prompt("make the greeting polite")
    assert agent.heard[1] == os.fspath(installed / "bin/flow")
    assert turn.decisions == [BLOCK, APPROVE]
    assert verdict(scene)["verdict"] == "achieved"
    assert files(installed) ^ before == set()
