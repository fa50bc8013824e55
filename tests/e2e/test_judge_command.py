"""``/flow:judge`` at the prompt, and auto mode over two stops, in the real Claude Code CLI."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from flow.adapters.user_state.auto_judge import AutoJudgeMemory
from tests.e2e.agent import Agent, bash, says
from tests.e2e.session import Session, Turn, refuse
from tests.support import GitRepo
from tests.support.goal_judge import GoalJudge
from tests.support.judges.score_replies import reply
from tests.support.scene import start

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.needs_tool("claude")

SKILL = "---\nname: tidy\ndescription: Tidies up.\n---\nTidy $ARGUMENTS well.\n"


@pytest.fixture
def judge(repo: GitRepo, home: Path, tmp_path: Path) -> GoalJudge:
    """A repository with a skill, and a judge that rests on what the agent said."""
    start(repo)
    repo.commit("skill", **{".claude/skills/tidy/SKILL.md": SKILL})
    judge = GoalJudge(tmp_path / "judge", home)
    judge.answers(reply(8.0, "all is tidy now"))
    return judge


def cards(repo: GitRepo) -> list[str]:
    where = repo.path / ".flow/scores"
    return sorted(os.listdir(where)) if where.is_dir() else []


def test_judge_a_skill_by_its_name_and_a_file(repo: GitRepo, judge: GoalJudge) -> None:
    repo.write("run.md", "## User\n\ntidy\n\n## Assistant\n\nall is tidy now\n")
    agent = Agent(
        *(bash("ls"), says("all is tidy now")),
        *(bash("flow judge scorecard tidy"), says("There it is: a B.")),
        *(bash("flow judge scorecard --file run.md"), says("done")),
    )
    options = ("--allowedTools", "Bash(ls:*)")
    with Session(repo, agent, *options, person=refuse) as session:
        session.prompt("/tidy the shed")
        session.prompt("/flow:judge tidy")
        names = cards(repo)
        session.prompt("/flow:judge --file run.md")
    told, box = agent.heard[2:4]
    assert "Called as: `/flow:judge tidy`" in told
    assert "`/flow:judge commit` → `flow judge scorecard commit`" in told
    assert "║  VERDICT SCORECARD — tidy" in box
    assert "COMPOSITE: 7.95/10 — Grade: B" in box
    assert "COMPOSITE: 7.95/10" in agent.heard[5]
    assert session.asked == []  # the command brings the permission with it
    (name,) = names
    card = json.loads((repo.path / ".flow/scores" / name).read_text())
    prompt, of_the_file = judge.prompts
    assert "/tidy the shed" in prompt
    assert "Tidy the shed well." in prompt
    assert "flow judge scorecard" not in prompt  # the run ended before it was asked about
    assert "the shed" not in of_the_file
    assert card["skill"] == "tidy"


def until_scored(repo: GitRepo, stop: Callable[[], Turn]) -> list[Turn]:
    """Wait for the card and the news of it; the stops that it took beside the first one.

    Where the CLI wrote the end of its transcript later than the hook waits, a later stop has it
    scored.
    """
    stops: list[Turn] = []
    while not cards(repo):
        assert len(stops) < 6, "nobody scored it"
        deadline = time.monotonic() + 30
        while not cards(repo) and time.monotonic() < deadline:
            time.sleep(0.1)
        if not cards(repo):
            stops.append(stop())
    # Whoever scores lets go of this once the news is stored, too.
    with AutoJudgeMemory(os.environ["FLOW_STATE_DIR"], os.fspath(repo.path)).scoring_lock(60):
        return stops


def test_auto_mode_over_two_stops(repo: GitRepo, judge: GoalJudge) -> None:
    repo.write("judge-config.json", '{"autoJudge": true}')
    agent = Agent(*(bash("ls"), says("all is tidy now")), *(says("hello") for _ in range(9)))
    with Session(repo, agent, "--allowedTools", "Bash(ls:*)") as session:
        first = session.prompt("/tidy the shed")
        later = until_scored(repo, lambda: session.prompt("hello"))
        later.append(session.prompt("hello"))
        later.append(session.prompt("bye"))
    assert first.judged == [{}]
    # At the stop after the one that had it scored, and at no other.
    (told,) = (answer for turn in later for answer in turn.judged if answer)
    assert later[-1].judged == [{}]
    assert told["systemMessage"].startswith("Flow: scorecard of tidy\n╔")
    assert "COMPOSITE: 7.95/10" in told["systemMessage"]
    assert len(cards(repo)) == len(judge.prompts) == 1
    assert first.result["result"] == "all is tidy now"
