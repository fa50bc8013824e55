"""Fuzzy criteria through the real command line: what is asked, what is sent, who must speak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.entry import scene
from tests.support.goal_judge import GoalJudge, reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

PLEASE = "please, dear reader"
APPROVE = "flow goal approve greet AC2 --by NAME --note TEXT"
ASK_CLAUDE = "ask a judge: flow goal evaluate greet --judge-backend claude"


@pytest.fixture
def judge(tmp_path: Path, home: Path) -> GoalJudge:
    return GoalJudge(tmp_path / "judge", home)


def create(repo: GitRepo, *more: str, command: str = "grep -q please src/greet.txt") -> GitRepo:
    """A goal with a silent command and a fuzzy criterion, whose work is done."""
    scene.start(repo)
    fuzzy = () if "--fuzzy" in more else ("--fuzzy", "AC2: it reads well")
    scene.create(repo, "greet", *fuzzy, *more, criterion=f"AC1: says please :: {command}")
    repo.write("src/greet.txt", f"{PLEASE}\n")
    return repo


def evaluate(repo: GitRepo, *more: str) -> dict[str, Any]:
    done = scene.here(repo, "goal", "evaluate", "greet", "--json", *more)
    return {**done.json, "exit": done.status}


def deterministic(repo: GitRepo) -> None:
    scene.edit(repo, ("type: hybrid", "type: deterministic"))


# --- the line that a person types -----------------------------------------------------------------


def test_a_deterministic_goal_waits_for_the_person_it_needs(
    repo: GitRepo, judge: GoalJudge
) -> None:
    deterministic(create(repo))
    found = evaluate(repo)
    assert (found["verdict"], found["exit"]) == ("needs_human_review", 4)
    assert scene.status(repo) == "waiting_for_user"
    assert found["next_step_hint"] == f"AC2: {APPROVE}"
    assert found["proposed_transition"] is None
    assert judge.prompts == []
    words = ["goal", "approve", "greet", "AC2", "--by", "Sam", "--note", "read it", "--yes"]
    assert scene.here(repo, *words).status == 0
    assert evaluate(repo)["verdict"] == "achieved"


def test_where_no_judge_is_named_the_hint_says_how_to_ask_one(repo: GitRepo) -> None:
    found = evaluate(create(repo))
    assert (found["verdict"], found["exit"]) == ("needs_human_review", 4)
    assert found["next_step_hint"] == f"AC2: {APPROVE}; or {ASK_CLAUDE}"


def test_a_hint_never_offers_an_answer_beforehand(repo: GitRepo) -> None:
    scene.start(repo)
    scene.create(repo)
    scene.meet(repo)
    found = evaluate(repo)
    assert found["verdict"] == "achieved"
    assert found["next_step_hint"] == "a person confirms: flow goal confirm greet"
    only = evaluate(repo, "--dry-run")
    assert only["next_step_hint"] == "flow goal evaluate greet"


# --- what is said of a judge's words --------------------------------------------------------------


def test_flows_own_words_of_the_last_verdict_are_no_attempt(
    repo: GitRepo, judge: GoalJudge
) -> None:
    create(repo)
    scene.edit(
        repo, ("text: it reads well", 'text: it reads well\n      evidence_paths: ["src/**"]')
    )
    judge.answers(reply("achieved", ("AC2", "pass", [PLEASE])))
    assert evaluate(repo)["verdict"] == "achieved"
    again = evaluate(repo)
    assert "previous verdict" in judge.prompts[-1]
    assert again["warnings"] == []


def test_a_pass_that_flow_lowers_is_not_called_incomplete_by_the_judge(
    repo: GitRepo, judge: GoalJudge
) -> None:
    create(repo)
    scene.edit(
        repo, ("text: it reads well", 'text: it reads well\n      evidence_paths: ["src/**"]')
    )
    judge.answers(reply("achieved", ("AC2", "pass", ["It is superb, as nobody wrote."])))
    found = evaluate(repo)
    assert found["verdict"] == "needs_human_review"
    assert "not run" not in found["reason"]
    said = next(row for row in found["criterion_results"] if row["criterion_id"] == "AC2")
    assert said["reason"] == (
        "judge: pass, counted as incomplete (the pass rests on no quote from its evidence): "
        '"AC2 looks so"'
    )
