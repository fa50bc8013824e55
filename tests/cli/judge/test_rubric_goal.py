"""Goals whose criterion names a rubric, and what people's word about a judge's proposal teaches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.goal_judge import GoalJudge, reply
from tests.support.judges.rubric_replies import reply as by_rubric
from tests.support.scene import (
    at_terminal,
    create_from,
    flow,
    meet,
    run_dir,
    start,
    status,
    step,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo, Ran

QUOTE = "This guide is polite."
PASS = reply("achieved", ("AC2", "pass", [QUOTE]))
FAIL = reply("not_achieved", ("AC2", "fail", [QUOTE]))
GOOD = by_rubric({"kind": 0.9, "short": 0.7}, QUOTE)
BAD = by_rubric({"kind": 0.9, "short": 0.1}, QUOTE)
RUBRIC = """\
name: Guide
criteria:
  - {name: kind, description: Addresses the reader politely}
  - {name: short, description: Needs less than a page}
"""
GOAL = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {id: greet, created_at: "2026-01-01T00:00:00Z"}
scope: {repo: demo, branch: main, issue: 7}
objective:
  outcome: the greeting is polite
  acceptance_criteria:
    - {id: AC1, text: says please, status: pending, verification_command: grep please src/greet.txt}
    - {id: AC2, text: it reads well, status: pending, evidence_paths: ["docs/**"], rubric: house}
constraints: {allowed_paths: ["src/**"]}
evaluator: {type: hybrid}
lifecycle: {status: active}
"""


@pytest.fixture
def judge(tmp_path: Path, home: Path) -> GoalJudge:
    return GoalJudge(tmp_path / "judge", home)


def create(repo: GitRepo, rubric: str | None = RUBRIC) -> GitRepo:
    start(repo)
    files = {"docs/guide.md": f"Hello.\n{QUOTE}\n", "goal.yaml": GOAL}
    if rubric is not None:
        files[".flow/rubrics/house.yaml"] = rubric
    repo.commit("docs", **files)
    create_from(repo)
    meet(repo)
    return repo


def evaluate(repo: GitRepo, *more: str) -> Ran:
    return flow(repo, "goal", "evaluate", "greet", "--json", *more)


def criterion(done: Ran) -> dict[str, Any]:
    return next(row for row in done.json["criterion_results"] if row["criterion_id"] == "AC2")


TABLE = [  # the judge's replies -> exit status, verdict, AC2's status, prompts
    ([PASS, GOOD], 0, "achieved", "pass", 2),
    ([PASS, BAD], 1, "not_achieved", "fail", 2),
    ([PASS, {}], 4, "needs_human_review", None, 2),
    ([FAIL, GOOD], 1, "not_achieved", "fail", 1),
]


@pytest.mark.parametrize(("replies", "code", "verdict", "ac2", "prompts"), TABLE)
def test_a_pass_must_stand_by_the_rubric(
    replies: list[Any],
    code: int,
    verdict: str,
    ac2: str | None,
    prompts: int,
    repo: GitRepo,
    judge: GoalJudge,
) -> None:
    create(repo)
    judge.answers(*replies)
    done = evaluate(repo)
    assert (done.status, done.json["verdict"]) == (code, verdict), done
    assert len(judge.prompts) == prompts
    if ac2 is not None:
        assert criterion(done)["status"] == ac2
    if prompts == 2:
        assert "- kind: Addresses the reader politely" in judge.prompts[1]
        assert QUOTE in judge.prompts[1]
    if ac2 == "fail" and prompts == 2:  # what the rubric came to is evidence
        assert "Guide: 0.5 is below 0.7" in criterion(done)["reason"] + done.json["reason"]
        (name,) = [p.name for p in run_dir(repo).glob("evidence/*judge*.yaml")]
        text = (run_dir(repo) / "evidence" / name).read_text()
        assert "rubrics:" in text
        assert "score: 0.5" in text


def test_a_rubric_that_is_not_there_asks_nobody(repo: GitRepo, judge: GoalJudge) -> None:
    create(repo, rubric=None)
    judge.answers(PASS, GOOD)
    done = evaluate(repo)
    assert (done.status, done.json["verdict"]) == (4, "needs_human_review")
    assert "there is no rubric 'house'" in done.json["reason"]
    assert judge.prompts == []


def test_a_changed_rubric_ends_trust(repo: GitRepo, judge: GoalJudge) -> None:
    create(repo)
    judge.answers(PASS, GOOD)
    repo.write(".flow/rubrics/house.yaml", RUBRIC.replace("politely", "somehow"))
    done = evaluate(repo)
    assert (done.status, done.json["blocker_type"]) == (4, "missing_approval")
    assert judge.prompts == []
    assert flow(repo, "trust", "record", "greet", "--yes").status == 0
    done = evaluate(repo)
    assert (done.status, done.json["path_violations"]) == (3, [".flow/rubrics/house.yaml"])


def test_a_rubric_put_in_front_of_a_ready_made_one_ends_trust(
    repo: GitRepo, judge: GoalJudge
) -> None:
    start(repo)
    repo.commit("docs", **{"goal.yaml": GOAL.replace("house", "documentation")})
    assert flow(repo, "goal", "create", "--file", "goal.yaml").status == 0
    assert flow(repo, "trust", "check", "greet").status == 0
    repo.write(".flow/rubrics/documentation.yaml", RUBRIC)
    assert flow(repo, "trust", "check", "greet").status == 4


# --- labels -------------------------------------------------------------------------------------


def labels(repo: GitRepo) -> list[tuple[str, bool, bool, str]]:
    found = flow(repo, "judge", "history", "--json").json["labels"]
    return [(row["judge"], row["person"], row["judged"], row["source"]) for row in found]


def proposed(repo: GitRepo, judge: GoalJudge) -> str:
    create(repo)
    judge.answers(PASS, GOOD)
    done = step(repo, "goal", "evaluate", "greet", "--json")
    assert done.status == 0, done
    return str(done.json["proposed_transition"]["proposal_id"])


def test_a_confirmation_is_a_label(repo: GitRepo, judge: GoalJudge) -> None:
    proposal = proposed(repo, judge)
    assert labels(repo) == []
    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert done.status == 0, done
    assert labels(repo) == [("command", True, True, "confirm")]
    assert "goal greet" in flow(repo, "judge", "history").stdout


def test_clearing_a_goal_that_a_judge_proposes_is_a_label(repo: GitRepo, judge: GoalJudge) -> None:
    proposed(repo, judge)
    assert flow(repo, "goal", "clear", "greet", "--yes").status == 0
    assert labels(repo) == [("command", False, True, "clear")]


def test_clearing_after_the_files_moved_says_nothing_of_the_judge(
    repo: GitRepo, judge: GoalJudge
) -> None:
    proposed(repo, judge)
    repo.write("src/greet.txt", "please, but later\n")
    assert flow(repo, "goal", "clear", "greet", "--yes").status == 0
    assert labels(repo) == []


def test_a_proposal_without_a_judge_is_no_label(repo: GitRepo, judge: GoalJudge) -> None:
    start(repo)
    words = ("--outcome", "x", "--criterion", "AC1: says please :: grep -q please src/greet.txt")
    assert flow(repo, "goal", "create", "greet", *words, "--allow", "src/**").status == 0
    meet(repo)
    proposal = evaluate(repo).json["proposed_transition"]["proposal_id"]
    assert flow(repo, "goal", "confirm", "greet", "--proposal", proposal).status == 0
    assert (status(repo), labels(repo), judge.prompts) == ("achieved", [], [])


def test_a_confirmation_at_the_terminal_is_a_label_too(repo: GitRepo, judge: GoalJudge) -> None:
    create(repo)
    judge.answers(PASS, GOOD)
    with at_terminal(repo, ["goal", "evaluate", "greet"]) as terminal:
        terminal.expect_exact("leave it as it is")  # what was typed before does not count
        terminal.sendline("c")
        terminal.expect_exact("A note for the record")
        terminal.sendline("")
        terminal.expect_exact("confirmed by")
        terminal.wait()
    assert labels(repo) == [("command", True, True, "confirm")]


def test_several_ballots_of_one_judge_are_one_label(repo: GitRepo, judge: GoalJudge) -> None:
    text = GOAL.replace("{type: hybrid}", "{type: hybrid, judges: 3}").replace(
        ", rubric: house", ""
    )
    start(repo)
    repo.commit("docs", **{"docs/guide.md": f"{QUOTE}\n", "goal.yaml": text})
    assert flow(repo, "goal", "create", "--file", "goal.yaml").status == 0
    meet(repo)
    judge.answers(PASS, FAIL, PASS)
    done = evaluate(repo)
    assert done.status == 0, done
    proposal = done.json["proposed_transition"]["proposal_id"]
    assert flow(repo, "goal", "confirm", "greet", "--proposal", proposal).status == 0
    assert labels(repo) == [("command", True, True, "confirm")]


def test_a_label_that_cannot_be_kept_stops_no_confirmation(
    repo: GitRepo, judge: GoalJudge, home: Path
) -> None:
    proposal = proposed(repo, judge)
    (home / "flow-state" / "judge-labels.jsonl").mkdir()
    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal, "--json")
    assert (done.status, done.json["status"]) == (0, "achieved"), done


def test_min_kappa_holds_an_uncalibrated_judge_back(
    repo: GitRepo, tmp_path: Path, home: Path
) -> None:
    judge = GoalJudge(tmp_path / "judge", home, minKappa=0.5)
    create(repo)
    judge.answers(PASS, GOOD)
    done = evaluate(repo)
    assert (done.status, done.json["verdict"]) == (4, "needs_human_review")
    assert "at least 30 are needed" in done.json["reason"] + " ".join(done.json["warnings"])


@pytest.mark.parametrize("end", ["json", "yml"])
def test_a_rubric_in_another_form_is_part_of_the_contract(
    end: str, repo: GitRepo, judge: GoalJudge
) -> None:
    text = RUBRIC if end == "yml" else json.dumps(yaml.safe_load(RUBRIC))
    start(repo)
    repo.commit("docs", **{"docs/guide.md": f"Hello.\n{QUOTE}\n", "goal.yaml": GOAL,
                           f".flow/rubrics/house.{end}": text})  # fmt: skip
    create_from(repo)
    meet(repo)
    judge.answers(PASS, BAD)
    done = evaluate(repo)
    assert "Guide: 0.5 is below 0.7" in criterion(done)["reason"] + done.json["reason"]
    repo.write(f".flow/rubrics/house.{end}", text.replace("politely", "rudely"))
    again = evaluate(repo)
    assert again.status == 4
    assert "not trusted" in json.dumps(again.json["criterion_results"])
