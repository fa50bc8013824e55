"""``flow goal create``: what a file may lack, numbers, the line and the schema for editors."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from flow.adapters.contracts import schemas
from tests.support import GitRepo, run_flow, run_helper
from tests.support.scene import PASSES, confirm, create, flow, goal_file, meet, start
from tests.support.stops import stop

if TYPE_CHECKING:
    from tests.support import Ran

SCHEMA_LINE = "# yaml-language-server: $schema=../goal.schema.json\n"
SCHEMA = ".flow/goal.schema.json"
LEAST = """\
# what a person writes
metadata:
  id: greet
objective:
  outcome: the greeting is polite
  acceptance_criteria:
    - text: says please   # the word
      verification_command: grep -q please src/greet.txt
    - id: AC1
      text: it reads well
constraints:
  allowed_paths: ["src/**"]
evaluator:
  type: hybrid
"""


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    return start(repo)


def document(repo: GitRepo, goal: str = "greet") -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(goal_file(repo, goal))
    return loaded


def handed_in(work: GitRepo, text: str, how: str) -> Ran:
    if how == "standard input":
        return flow(work, "goal", "create", "--file", "-", input=text)
    work.write("goal.yaml", text)
    if how == "a helper":
        return run_helper(
            "flow-goal-record.sh", "--create", "--goal-file", "goal.yaml", cwd=work.path
        )
    return flow(work, "goal", "create", "--file", "goal.yaml")


@pytest.mark.parametrize("how", ["a file", "standard input", "a helper"])
def test_what_flow_writes_itself_may_be_missing(work: GitRepo, how: str) -> None:
    done = handed_in(work, LEAST, how)
    assert done.status == 0, done
    assert "apiVersion is missing: it was written as flow.synapti.ai/v1" in done.stderr
    assert "kind is missing: it was written as FlowGoal" in done.stderr
    written = document(work)
    rows = written["objective"]["acceptance_criteria"]
    assert [(row["id"], row["status"]) for row in rows] == [("AC2", "pending"), ("AC1", "pending")]
    assert (written["scope"]["branch"], written["lifecycle"]["status"]) == ("main", "active")
    assert written["metadata"]["created_at"]
    text = goal_file(work)
    head = "apiVersion: flow.synapti.ai/v1\nkind: FlowGoal\n"
    assert text.startswith(f"{SCHEMA_LINE}{head}# what a person writes\n")
    assert "text: says please   # the word\n" in text
    meet(work)
    assert flow(work, "goal", "evaluate", "greet", "--no-judge").status == 4


def test_a_draft_is_a_draft_without_a_lifecycle_too(work: GitRepo) -> None:
    work.write("goal.yaml", LEAST)
    done = flow(work, "goal", "create", "--file", "goal.yaml", "--draft", "--json")
    assert (done.status, done.json["status"]) == (0, "draft")
    assert len([w for w in done.json["warnings"] if "is missing" in w]) == 2


def test_what_flow_cannot_know_is_asked_for_and_nothing_else(work: GitRepo) -> None:
    text = LEAST.replace("  outcome: the greeting is polite\n", "").replace(
        "  type: hybrid", "  x: 1"
    )
    work.write("goal.yaml", text)
    done = flow(work, "goal", "create", "--file", "goal.yaml", "--json")
    assert done.status == 2
    message = json.dumps(done.json)
    assert "objective.outcome" in message
    assert "evaluator.type" in message
    for written in ("created_at", "apiVersion", "lifecycle", "branch", "status"):
        assert written not in message, written
    assert not (work.path / ".flow/goals/greet.goal.yaml").exists()


def test_a_key_that_is_there_twice_hides_nothing_and_asks_for_nothing_of_flows(
    work: GitRepo,
) -> None:
    text = LEAST.replace("  type: hybrid", "  type: hybrid\n  type: hybrid\n  jobs: x")
    work.write("goal.yaml", text.replace("  outcome: the greeting is polite\n", ""))
    done = flow(work, "goal", "create", "--file", "goal.yaml", "--json")
    assert done.status == 2
    message = json.dumps(done.json)
    for fault in ("given twice", "objective.outcome", "evaluator.jobs"):
        assert fault in message, message
    for written in ("created_at", "apiVersion", "lifecycle", "branch", "status"):
        assert written not in message, written


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "- a\n", "metadata: {id: greet}\nmetadata: {id: greet}\n", "x", "", "\t"],
)
def test_what_is_no_goal_has_its_own_faults(work: GitRepo, text: str) -> None:
    work.write("goal.yaml", text)
    done = flow(work, "goal", "create", "--file", "goal.yaml")
    assert done.status == 2
    assert "goal.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_criteria_of_the_command_line_are_numbered(work: GitRepo) -> None:
    words = ("goal", "create", "greet", "--outcome", "o", "--allow", "src/**")
    more = (
        "--criterion", "says please :: grep -q please src/greet.txt",
        "--criterion", "AC1: is there :: test -f src/greet.txt",
        "--fuzzy", "it reads well", "--evidence", "AC3: src/**",
    )  # fmt: skip
    assert flow(work, *words, *more).status == 0
    rows = document(work)["objective"]["acceptance_criteria"]
    assert [row["id"] for row in rows] == ["AC2", "AC1", "AC3"]
    assert rows[2]["evidence_paths"] == ["src/**"]


def test_the_schema_for_editors_is_written_once_and_is_no_change(work: GitRepo) -> None:
    create(work)
    assert goal_file(work).startswith(SCHEMA_LINE)
    assert work.read(SCHEMA) == schemas.text("goal")
    meet(work)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["verdict"]) == (0, "achieved")
    work.write(SCHEMA, "{}")
    create(work, "other")
    assert work.read(SCHEMA) == "{}"


@pytest.mark.parametrize("kind", ["symlink", "dangling", "folder"])
def test_the_schema_is_never_written_through_anything_else(work: GitRepo, kind: str) -> None:
    outside = work.path / "outside.json"
    (work.path / ".flow").mkdir()
    if kind == "folder":
        (work.path / SCHEMA).mkdir()
    else:
        if kind == "symlink":
            outside.write_text("mine")
        os.symlink(outside, work.path / SCHEMA)
    done = run_flow(
        "goal", "create", "greet", "--outcome", "o", "--criterion", PASSES, "--allow", "src/**",
        cwd=work.path,
    )  # fmt: skip
    assert done.status == 0, done
    assert "the schema for editors is not" in done.stderr
    assert SCHEMA in done.stderr
    assert outside.exists() == (kind == "symlink")
    assert kind != "symlink" or outside.read_text() == "mine"


def test_a_goal_without_the_line_goes_on_as_it_was_trusted(work: GitRepo) -> None:
    """A comment is no part of the contract: neither trust nor what was pinned moves with it."""
    create(work)
    path = ".flow/goals/greet.goal.yaml"
    work.write(path, work.read(path).removeprefix(SCHEMA_LINE))
    meet(work)
    done = flow(work, "goal", "evaluate", "greet", "--json")
    assert (done.status, done.json["verdict"]) == (0, "achieved")
    assert SCHEMA_LINE not in goal_file(work)


def test_a_draft_is_started_on_its_own_branch_only(repo: GitRepo) -> None:
    """What is dirty, ignored and protected on another branch would be pinned as its start."""
    repo.commit("start", **{"src/greet.txt": "give me that\n"})
    create(repo, "greet", "--draft")
    repo.git("switch", "-qc", "other")
    done = flow(repo, "goal", "activate", "greet", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "wrong_branch")
    assert "status: draft" in goal_file(repo)
    repo.git("switch", "-q", "main")
    assert flow(repo, "goal", "activate", "greet").status == 0


@pytest.mark.parametrize("how", ["create", "activate", "evaluate"])
def test_runs_are_kept_out_of_commits_without_init(repo: GitRepo, how: str) -> None:
    repo.commit("start", **{"src/greet.txt": "give me that\n"})
    if how == "create":
        create(repo)
    elif how == "activate":
        create(repo, "greet", "--draft")
        shutil.rmtree(repo.path / ".flow/runs", ignore_errors=True)
        assert flow(repo, "goal", "activate", "greet").status == 0
    else:  # a fresh clone
        create(repo)
        shutil.rmtree(repo.path / ".flow/runs")
    meet(repo)
    done = confirm(repo)
    assert (done.status == 0) == (how == "create"), "of the others the record is gone"
    repo.git("add", "-A")
    committed = repo.git("diff", "--cached", "--name-only").splitlines()
    assert not [path for path in committed if path.startswith(".flow/runs")]
    assert ".flow/goals/greet.goal.yaml" in committed
    assert "does not ignore .flow/runs/" not in flow(repo, "doctor").stdout


@pytest.mark.parametrize("first", ["trust", "pause", "evaluate", "stop", "record"])
def test_whatever_writes_first_in_a_linked_worktree_keeps_runs_out_of_commits(
    repo: GitRepo, first: str, capfd: pytest.CaptureFixture[str]
) -> None:
    repo.commit("start", **{"src/greet.txt": "give me that\n"})
    linked = _linked(create(repo))
    if first == "trust":
        assert flow(linked, "trust", "revoke", "greet").status == 0
        assert flow(linked, "trust", "record", "greet", "--yes").status == 0
    elif first == "pause":
        assert flow(linked, "goal", "pause", "greet").status == 0
    elif first == "evaluate":
        assert flow(linked, "goal", "evaluate", "greet", "--no-input").status in (1, 4)
    elif first == "stop":
        assert stop(linked, capfd)["decision"] == "approve"
    else:
        verdict = {"verdict": "achieved", "confidence": 1, "delta": "unchanged", "reason": "r"}
        file = linked.path.parent / "verdict.json"
        file.write_text(json.dumps(verdict))
        options = ["--run-id", "r1", "--verdict-file", file]
        done = run_helper("flow-record-verdict.sh", *options, cwd=linked.path)
        assert done.status == 0, done
    assert any((linked.path / ".flow/runs").iterdir())
    assert not [line for line in linked.status() if ".flow/runs" in line]


def _linked(repo: GitRepo) -> GitRepo:
    """A linked worktree with the goal's branch, as an agent host makes one."""
    repo.commit("the goal")
    branch = repo.git("branch", "--show-current").strip()
    repo.git("switch", "--detach")
    top = repo.path.with_name("linked")
    repo.git("worktree", "add", str(top), branch)
    return GitRepo(top)


def test_a_goal_made_without_a_branch_is_that_of_any(repo: GitRepo) -> None:
    """A command without an id finds the goal that the hook keeps an agent working on."""
    repo.commit("start", **{"src/greet.txt": "give me that\n"})
    branch = repo.git("branch", "--show-current").strip()
    repo.git("switch", "--detach")
    create(repo)
    repo.git("switch", branch)
    for words in (["status"], ["inspect"], ["pause"], ["resume"]):
        done = flow(repo, "goal", *words, "--json")
        assert (done.status, done.json.get("goal_id")) == (0, "greet"), done
    assert flow(repo, "goal", "evaluate", "--json").json["goal_id"] == "greet"


def test_a_rule_that_takes_runs_back_is_not_enough(repo: GitRepo) -> None:
    ignoring = {".gitignore": ".flow/*\n!.flow/runs/\n!.flow/goals/\n"}
    repo.commit("start", **{"src/greet.txt": "give me that\n", **ignoring})
    create(repo)
    assert flow(repo, "goal", "evaluate", "greet").status == 1
    repo.git("add", "-A")
    committed = repo.git("diff", "--cached", "--name-only").splitlines()
    assert not [path for path in committed if path.startswith(".flow/runs")]
    assert ".flow/goals/greet.goal.yaml" in committed


@pytest.mark.parametrize("by", [".gitignore", ".git/info/exclude"])
def test_what_ignores_runs_already_is_enough(repo: GitRepo, by: str) -> None:
    repo.commit("start", **{"src/greet.txt": "give me that\n"})
    repo.write(by, "/.flow/runs/\n")
    create(repo)
    assert not (repo.path / ".flow/runs/.gitignore").exists()


def test_a_branch_whose_name_is_not_utf8_is_named_and_init_goes_on(work: GitRepo) -> None:
    head = os.path.join(work.path, ".git", "HEAD")
    with open(head, "wb") as file:  # as git switch leaves it; some file systems refuse the ref
        file.write(b"ref: refs/heads/caf\xe9\n")
    refused = flow(work, "goal", "create", "greet", "--outcome", "O", "--criterion", "x :: true")
    assert refused.status == 2
    assert r"caf\xe9, has a name that is not UTF-8" in refused.stderr
    assert "git branch -m NAME" in refused.stderr
    ready = flow(work, "init")
    assert ready.status == 0, ready.stderr
    assert document(work, "example")["scope"]["branch"] == "none"


def test_a_contract_copied_from_a_goal_that_was_never_read_is_not_trusted(work: GitRepo) -> None:
    create(work, criterion="AC1: says please :: test -e src/greet.txt")
    for words in (("trust", "revoke", "greet"), ("goal", "clear", "greet", "--yes")):
        assert flow(work, *words).status == 0
    done = flow(work, "goal", "create", "again", "--from", "greet", "--json")
    assert (done.status, done.json["status"]) == (0, "active")
    warnings = str(done.json["warnings"])
    assert "does not trust goal greet" in warnings
    assert "already green" not in warnings
    assert flow(work, "trust", "check", "again").status == 4
    assert flow(work, "trust", "record", "greet", "--yes").status == 0
    assert flow(work, "goal", "create", "third", "--from", "greet").status == 0
    assert flow(work, "trust", "check", "third").status == 0


def test_a_goal_in_json_may_have_an_emoji_that_was_escaped(repo: GitRepo) -> None:
    work = start(repo)
    document = yaml.safe_load(LEAST)
    document["objective"]["outcome"] = "polite \U0001f600"
    work.write("../goal.json", json.dumps(document, indent=2))
    done = flow(work, "goal", "create", "--file", "../goal.json")
    assert done.status == 0, done
    meet(work)
    assert flow(work, "goal", "evaluate", "greet").status == 4  # AC1 waits for a person
    assert flow(work, "goal", "status", "--json").json["outcome"] == "polite \U0001f600"
    document["objective"]["outcome"] = "polite \U0001f44d"
    work.write("../goal.json", json.dumps(document))
    done = flow(work, "goal", "amend", "greet", "--file", "../goal.json", "--yes")
    assert done.status == 0, done
    assert flow(work, "goal", "status", "--json").json["outcome"] == "polite \U0001f44d"


def test_a_goal_made_anew_gets_a_run_of_its_own_by_a_clock_that_stands_still(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is known here would bring its proposal along, or be broken from the start."""
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.5)
    words = ("goal", "create", "greet", "--outcome", "the greeting is polite")
    words = (*words, "--criterion", PASSES, "--allow", "src/**")
    assert flow(start(repo), *words).status == 0
    meet(repo)
    assert flow(repo, "goal", "evaluate").status == 0

    (repo.path / ".flow/goals/greet.goal.yaml").unlink()
    assert flow(repo, *words).status == 0

    assert "achieved" not in flow(repo, "goal", "status").stdout
    shutil.rmtree(repo.path / ".flow")
    shutil.rmtree(repo.path / ".decisions")
    assert flow(repo, *words, "--draft").status == 0
    assert flow(repo, "goal", "activate", "greet").status == 0
    done = flow(repo, "goal", "evaluate", "--json")
    assert (done.status, done.json["verdict"]) == (0, "achieved"), done.json["reason"]
    assert done.json["run_id"] == "2023-11-14T221320Z-greet-3"
