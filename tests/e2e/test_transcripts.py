"""The transcripts that the real Claude Code CLI writes are the ones that are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from flow.adapters.transcripts import reader
from flow.adapters.transcripts.session_files import project_name
from flow.core.transcript.model import Transcript, has_ended
from flow.errors import InputError
from tests.e2e.agent import Agent, bash, says, uses
from tests.e2e.session import Session
from tests.support import GitRepo
from tests.support.scene import start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.judges.messages_api import Call, Reply

pytestmark = pytest.mark.needs_tool("claude")

SKILLS = {
    ".claude/skills/tidy/SKILL.md": (
        "---\nname: tidy\ndescription: Tidies up.\n---\nTidy $ARGUMENTS well.\n"
    ),
    ".claude/skills/apart/SKILL.md": (
        "---\nname: apart\ndescription: Works apart.\ncontext: fork\n---\nWork on $ARGUMENTS.\n"
    ),
    ".claude/commands/ship.md": "---\ndescription: Ships.\n---\nShip $ARGUMENTS now.\n",
    ".claude/agents/reviewer.md": (
        "---\nname: reviewer\ndescription: Reviews.\ntools: Bash\n---\nYou review code.\n"
    ),
    "hook.sh": (
        "cat >/dev/null\n[ -e block ] && rm block && "
        'echo \'{"decision":"block","reason":"GO ON please"}\'\ntrue\n'
    ),
    ".claude/settings.json": (
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sh hook.sh"}]}]}}'
    ),
}


class WithSubagents(Agent):
    """Steps of its own for a subagent, and for a skill that works in one."""

    def _step(self, call: Call) -> Reply:
        if "You review code" in call.system:
            first = len(call.body["messages"]) == 1
            return bash("ls nothing") if first else says("Review: fine")
        if "Work on the cat" in call.prompt:
            return says("worked apart")
        return super()._step(call)


def shown(found: Transcript) -> list[tuple[str, str]]:
    """Kind, and tool or text."""
    return [(e.kind, e.tool or e.text) for e in found.entries]


@pytest.fixture
def deep(tmp_path: Path) -> GitRepo:
    """A repository whose path is so long that the CLI shortens the name of its folder."""
    folder = tmp_path
    while len(os.fspath(folder)) < 260:
        folder = folder / ("ä" * 20)
    folder.mkdir(parents=True)
    return start(GitRepo.init(folder))


def test_runs_of_skills_commands_and_agents_are_found(deep: GitRepo, home: Path) -> None:
    deep.commit("skills", **SKILLS)
    agent = WithSubagents(
        says("hello"),
        *(bash("rm -rf build; touch block; false"), says("first"), says("after the block")),
        *(uses("Skill", skill="tidy", args="the shed"), bash("git status -s"), says("tidied")),
        uses("Agent", subagent_type="reviewer", description="d", prompt="Review it"),
        says("reviewed"),
        says("a status"),
    )
    prompts = ["hi", "/ship x <y>", "tidy up", "let it be reviewed", "/flow:goal status"]
    options = ("--allowedTools", "Bash,Skill,Agent")
    with Session(deep, agent, *options) as session:
        for prompt in [*prompts, "/apart the cat", "/cost"]:
            session.prompt(prompt)

    (folder,) = os.listdir(home / ".claude" / "projects")
    assert folder == project_name(os.fspath(deep.path))

    def newest(skill: str | None) -> Transcript:
        return reader.newest(skill, cwd=str(deep.path), home=str(home), environ={})

    ship = newest("ship")
    assert shown(ship) == [
        ("prompt", "/ship x <y>"),
        ("prompt", "instructions of the skill"),
        ("tool", "Bash"),
        ("text", "first"),
        ("note", "a Stop hook sent the agent on: Stop hook feedback:\nGO ON please"),
        ("text", "after the block"),
    ]
    call = ship.entries[2]
    assert (call.failed, call.destructive) == (True, True)
    assert "Exit code 1" in (call.result or "")
    assert "Ship x <y> now." in ship.entries[1].text
    tidy = newest("tidy")
    assert shown(tidy) == [
        ("prompt", "tidy up"),
        ("tool", "Skill"),
        ("prompt", "instructions of the skill"),
        ("tool", "Bash"),
        ("text", "tidied"),
    ]
    review = newest("reviewer")
    assert shown(review)[:3] == [
        ("prompt", "Review it"),
        ("tool", "Bash"),
        ("text", "Review: fine"),
    ]
    assert review.entries[1].failed
    assert newest("goal").skill == "flow:goal"
    apart = newest("apart")
    assert newest(None).execution == apart.execution
    assert ("text", "worked apart") in shown(apart)
    for found in (ship, tidy, apart):
        assert has_ended(found)
        assert found.warnings == ()
        assert found.started_at is not None
        again = reader.read(found.path, found.skill)
        assert (again.entries, again.execution) == (found.entries, found.execution)
    for skill in ("cost", "usage", "hello"):
        with pytest.raises(InputError):
            newest(skill)
