"""The question before a goal is closed tells what a person must know, and Flow itself says it."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from flow.app.transitions.confirming import live_question
from flow.wiring import confirm_question
from flow.wiring.context import Context
from tests.support import ROOT, scene
from tests.support.patience import eventually
from tests.support.scene import ended, flow, step

if TYPE_CHECKING:
    from tests.support import GitRepo

GOAL = """\
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata: {id: strict, created_at: "2026-03-01T10:15:00Z"}
scope: {repo: demo, branch: main, issue: 7}
objective:
  outcome: dates are strict
  acceptance_criteria:
    - id: AC1
      text: the tests pass
      status: pending
      verification_command: sh tests/all.sh
    - id: AC2
      text: the types hold
      status: pending
      verification_command: "true || true"
    - id: AC3
      text: it is fast
      status: pending
      must_pass: false
      verification_command: "false"
constraints:
  allowed_paths: ["src/**", "tests/**"]
evaluator:
  type: deterministic
lifecycle:
  status: active
"""


@pytest.fixture
def work(repo: GitRepo) -> GitRepo:
    files = {"src/a.py": "1\n", "tests/all.sh": "exit 1\n", "tests/old.sh": "exit 1\n"}
    repo.commit("start", **files, **{".gitignore": ".flow/runs/\n"})
    repo.write("../goal.yaml", GOAL)
    scene.create_from(repo, "../goal.yaml")
    return repo


def amend(repo: GitRepo, *edits: tuple[str, str]) -> None:
    text = scene.goal_file(repo, "strict")
    for old, new in edits:
        assert old in text, text
        text = text.replace(old, new)
    repo.write("../goal.yaml", text)
    words = ("goal", "amend", "strict", "--file", "../goal.yaml", "--yes")
    done = step(repo, *words, "--by", "R. Viewer", "--reason", "mypy could not fail")
    assert done.status == 0, done.stderr


def cheat(repo: GitRepo) -> None:
    """Every kind of change that a person must be told."""
    repo.write("tests/all.sh", "exit 0\nexit 0\n")
    os.unlink(repo.path / "tests/old.sh")
    repo.write("tests/new.sh", "exit 0\n")
    amend(
        repo,
        ("true || true", "sh tests/all.sh && touch left.log"),
        ('["src/**",', '["src/**", "docs/**",'),
    )


def evaluate(repo: GitRepo) -> dict[str, Any]:
    done = step(repo, "goal", "evaluate", "strict", "--json")
    assert done.status == 0, done
    found: dict[str, Any] = done.json["proposed_transition"]
    return found


def test_the_verdict_has_everything_as_data(work: GitRepo) -> None:
    cheat(work)
    confirm = evaluate(work)["confirm"]

    rows = {row["id"]: row for row in confirm["criteria"]}
    assert [row["command"] for row in rows.values()] == [
        "sh tests/all.sh",
        "sh tests/all.sh && touch left.log",
        "false",
    ]
    assert [row["text"] for row in rows.values()] == [
        "the tests pass",
        "the types hold",
        "it is fast",
    ]
    assert [row["by"] for row in rows.values()] == ["command", "command", "nothing"]
    assert rows["AC1"]["result"] == "exit 0"
    assert rows["AC3"]["result"] == "exit 1"
    assert confirm["not_proved"] == ["AC3"]
    assert {f["path"]: f["change"] for f in confirm["proof"]["files"]} == {
        "tests/all.sh": "changed",
        "tests/new.sh": "new",
        "tests/old.sh": "gone",
    }
    (amended,) = confirm["contract"]
    assert (amended["by"], amended["reason"], amended["kind"]) == (
        "R. Viewer",
        "mypy could not fail",
        "weakening",
    )
    assert amended["said_from"] in ("pipe", "agent")
    assert "  - true || true" in amended["lines"]
    assert "  + sh tests/all.sh && touch left.log" in amended["lines"]
    assert "  + docs/**" in amended["lines"]
    assert confirm["left_behind"] == {"count": 1, "paths": ["left.log"]}
    assert confirm["files"]["outside"] == []
    assert confirm["trust"]["trusted"]
    assert confirm["trust"]["how"] == "flow goal amend"
    assert confirm["unknown"] == []
    assert confirm["moved"] == []


def test_the_question_at_a_terminal(work: GitRepo) -> None:
    cheat(work)
    evaluate(work)
    child = scene.at_terminal(work, ["goal", "confirm", "strict"], columns=100)
    child.expect("Enter leave it as it is")
    shown = child.before
    child.sendline("c")
    child.expect("A note for the record")
    child.sendline("I read it, Line by line")
    code, said = ended(child)
    assert (code, scene.status(work, "strict")) == (0, "achieved"), said
    assert "strict is achieved, confirmed by A Tester (git user.name)." in said
    assert "I read it, Line by line" in said
    for text in (
        "Before you say yes",
        "AC1  the tests pass: sh tests/all.sh",
        "AC3  it is fast: exit 1, not required",
        "- true || true",
        "+ docs/**",
        "R. Viewer",
        "3 files that it rests on changed, +3 -2, 1 new, 1 gone",
        "tests/all.sh  +2 -1",
        "tests/new.sh  +1 -0  not there when the goal began",
        "tests/old.sh  +0 -1  is gone",
        "left.log",
        "amended once since the start, by R. Viewer, ",
        "with the amendment",
    ):
        assert text in shown, shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert re.search(r"\n +AC2 command\r?\n +- true \|\| true\r?\n", plain), plain
    assert re.search(r"\n +paths\r?\n +\+ docs/\*\*\r?\n", plain), "as flow goal amend has it"
    assert all(len(line) < 100 for line in plain.splitlines())


@pytest.mark.parametrize(
    "env",
    [{"PAGER": "cat"}, {"PAGER": "", "MANPAGER": "false"}, {"PAGER": "/no/such --pager"}],
    ids=["PAGER", "none", "a missing one"],
)
def test_the_diff_is_one_key_away_and_comes_back(work: GitRepo, env: dict[str, str]) -> None:
    cheat(work)
    work.write("src/a.py", "2 \x1b[31m\n")
    evaluate(work)
    child = scene.at_terminal(work, ["goal", "confirm", "strict"], columns=100, **env)
    child.expect("Enter leave it as it is")
    child.sendline("d")
    child.expect("Enter leave it as it is")
    shown = child.before
    assert shown.index("=== tests/all.sh (changed)") < shown.index("=== src/a.py (changed)")
    assert shown.index("=== src/a.py (changed)") < shown.index("=== .decisions/"), "Flow's own"
    assert "@@ -0,0 +1 @@\r\n+exit 0\r\n" in shown, "a new file of one line has one"
    assert "+exit 0" in shown
    assert "+2 \\x1b[31m" in shown
    child.sendline("")
    code, _ = ended(child)
    assert (code, scene.status(work, "strict")) == (4, "active")


def test_off_a_terminal_the_proposal_must_be_named(work: GitRepo) -> None:
    cheat(work)
    proposal = evaluate(work)["proposal_id"]
    line = f"flow goal confirm strict --proposal {proposal[:12]}"
    done = flow(work, "goal", "confirm", "strict")
    assert (done.status, line in done.stderr) == (2, True)
    assert flow(work, "goal", "confirm", "--json").json["error"]["remedy"] == line
    for digits in (7, 0):
        done = flow(work, "goal", "confirm", "strict", f"--proposal={proposal[:digits]}")
        assert (done.status, scene.status(work, "strict")) == (2, "active")
    done = flow(work, "goal", "confirm", "strict", "--proposal", proposal[:12])
    assert done.status == 0, done.stderr


def test_a_name_and_a_note_are_on_the_record_and_a_broken_word_is_refused(work: GitRepo) -> None:
    cheat(work)
    words = ("goal", "confirm", "strict", "--proposal", evaluate(work)["proposal_id"][:8])
    broken = (("--by", ""), ("--by", "a\nb"), ("--by", "x" * 300), ("--note", "x" * 5000))
    for option, value in broken:  # before anything is shown
        done = flow(work, *words, f"{option}={value}")
        assert (done.status, done.stdout, scene.status(work, "strict")) == (2, "", "active")
        assert done.stderr.startswith(f"flow: {option}")
    done = flow(work, *words, "--by", "R. Viewer", "--note", "I read the diff", "--json")
    assert done.status == 0, done
    said = {"by": "R. Viewer", "by_from": None, "note": "I read the diff", "status": "achieved"}
    assert said.items() <= done.json.items()
    assert done.json["said_from"] in ("pipe", "agent")
    event = flow(work, "goal", "history", "strict", "--json").json["events"][-1]
    assert {
        "type": "confirmed",
        "by": "R. Viewer",
        "note": "I read the diff",
    }.items() <= event.items()
    assert "by_from" not in event
    journal = work.read(".decisions/issue-7.md")
    assert re.search(r"confirmed_by: \"?R\. Viewer", journal)
    assert re.search(r"note: \"?I read the diff", journal)


def test_without_a_name_it_is_gits_and_the_record_says_so(work: GitRepo) -> None:
    cheat(work)
    done = flow(work, "goal", "confirm", "strict", "--proposal", evaluate(work)["proposal_id"])
    assert done.stdout.splitlines() == [
        "✓ strict is achieved, confirmed by A Tester (git user.name).",
        "next   git add -A && git commit",
    ]
    event = flow(work, "goal", "history", "strict", "--json").json["events"][-1]
    assert (event["by"], event["by_from"]) == ("A Tester", "git user.name")
    assert "note" not in event


@pytest.mark.parametrize("left_out", [True, False])
def test_the_line_to_commit_stands_where_there_is_something(repo: GitRepo, left_out: bool) -> None:
    scene.start(repo)
    if left_out:
        repo.write(".git/info/exclude", ".flow/\n.decisions/\n")
    scene.create(repo)
    scene.meet(repo)
    repo.commit("done")
    proposal = step(repo, "goal", "evaluate", "greet", "--json").json["proposed_transition"]
    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal["proposal_id"])
    assert done.status == 0, done.stderr
    assert ("git commit" in done.stdout) != left_out


def test_evaluating_again_is_one_key_away_and_comes_back(work: GitRepo) -> None:
    cheat(work)
    evaluate(work)
    child = scene.at_terminal(work, ["goal", "confirm", "strict"], columns=100)
    child.expect("Enter leave it as it is")
    child.sendline("r")
    child.expect("Enter leave it as it is")
    assert "AC1  sh tests/all.sh" in re.sub(r"\x1b\[[0-9;]*m", "", child.before)
    child.sendline("")
    assert ended(child)[0] == 4
    assert "turns_evaluated: 2" in scene.goal_file(work, "strict")
    work.write("src/a.py", "2\n")
    work.write("tests/all.sh", "exit 1\n")
    child = scene.at_terminal(work, ["goal", "confirm", "strict"], columns=100)
    child.expect("Enter leave it as it is")
    child.sendline("r")
    code, said = ended(child)
    assert (code, "has no live proposal" in said) == (2, True)


def lines_of(repo: GitRepo) -> list[str]:
    return confirm_question.confirm_lines(Context(str(repo.path)), "strict")


def test_the_prompt_of_a_host_is_plain_and_bounded(work: GitRepo) -> None:
    cheat(work)
    for number in range(100):
        work.write(f"tests/more{number:03}.sh", "exit 0\n")
    work.write("tests/bad\x1b[31m\u202e.sh", "exit 0\n")
    evaluate(work)
    lines = lines_of(work)
    text = "\n".join(lines)
    assert len(lines) <= 40
    assert lines[0] == "Close goal strict as achieved?"
    assert lines[-1].endswith("lines more are not shown here: flow goal confirm strict")
    assert "\x1b" not in text
    assert "\u202e" not in text
    for known in ("sh tests/all.sh && touch left.log", "- true || true", "left.log", "it is fast"):
        assert known in text


def test_nothing_of_a_kind_is_said_or_left_out(work: GitRepo) -> None:
    amend(work, ("sh tests/all.sh", "sh src/a.py"), ("true || true", "test -e src/a.py"))
    work.write("src/a.py", "exit 0\n")
    evaluate(work)
    text = "\n".join(lines_of(work))
    assert "Not proved\n  AC3" in text
    assert "Left behind" not in text


def test_what_flow_found_on_the_way_is_in_the_question(work: GitRepo) -> None:
    """A proof that shows nothing, a file that was swapped, and no work but on the proof itself."""
    swap = "cp src/a.py kept; echo 2 > src/a.py; cp kept src/a.py; rm kept; test -e src/a.py"
    amend(work, ("sh tests/all.sh", "sh tests/new.sh"), ("true || true", swap))
    work.write("tests/new.sh", "exit 0\n")
    step(work, "goal", "baseline", "strict")
    confirm = evaluate(work)["confirm"]
    assert "written to while the commands ran, now as before: src/a.py" in confirm["reason"]
    assert confirm["files"] == {"changed": 1, "only_proof": True, "outside": []}
    (limitation,) = next(row["limitations"] for row in confirm["criteria"] if row["id"] == "AC2")
    assert "says nothing about the change" in limitation
    assert all("nothing more" not in text for r in confirm["criteria"] for text in r["limitations"])
    prompt = "\n".join(lines_of(work))
    child = scene.at_terminal(work, ["goal", "confirm", "strict"], columns=100)
    child.expect("Enter leave it as it is")
    screen = re.sub(r"\x1b\[[0-9;]*m", "", child.before)
    child.sendline("")
    assert ended(child)[0] == 4
    for text in (prompt, re.sub(r"\s+", " ", screen)):
        assert "written to while the commands ran" in text
        assert "does not show: " in text
        assert "nothing changed but files that the proof rests on" in text


def test_without_a_proposal_that_is_said(work: GitRepo) -> None:
    assert lines_of(work) == ["Goal strict has no live proposal; nothing can be confirmed."]
    assert flow(work, "goal", "confirm", "strict").status == 2


def test_a_hand_edit_that_was_trusted_is_a_change_of_the_contract(work: GitRepo) -> None:
    cheat(work)
    scene.edit(work, ("it is fast", "it is quick"), goal="strict")
    steps = evaluate(work)["confirm"]["contract"]
    assert len(steps) == 2
    assert "  + it is quick" in steps[1]["lines"]


def test_a_start_that_is_not_on_record_is_said(work: GitRepo, tmp_path: Any) -> None:
    from flow.adapters.fs.state_folder import state_dir

    cheat(work)
    proposal = evaluate(work)
    assert proposal["confirm"]["unknown"] == []
    folder = state_dir(os.environ, os.environ.get("HOME"), str(work.path), None)
    ledger = os.path.join(folder, "goal-trust.jsonl")
    with open(ledger) as file:
        rest = file.readlines()[1:]
    with open(ledger, "w") as file:
        file.writelines(rest)
    question = live_question(Context(str(work.path)), "strict")
    assert question is not None
    assert any("the contract that the goal began with" in text for text in question.unknown)


def test_an_approval_of_protected_files_is_named(work: GitRepo) -> None:
    amend(work, ("  allowed_paths:", "  protected_paths:\n    - tests/**\n  allowed_paths:"))
    cheat(work)
    words = ("goal", "approve", "strict", "protected", "--by", "A. Colleague", "--note", "read")
    assert flow(work, *words, "--yes").status == 0
    work.write("src/a.py", "2\n")
    confirm = evaluate(work)["confirm"]
    assert not confirm["files"]["only_proof"]
    files = confirm["proof"]["files"]
    assert all(file["approved"].startswith("A. Colleague, ") for file in files)
    assert all("said from a" in file["approved"] for file in files)


def test_other_goals_that_are_not_done_are_named(work: GitRepo) -> None:
    more = ("--outcome", "the first\x1b[31m task", "--criterion", "AC1: t :: false", "--allow", "x")
    assert step(work, "goal", "create", "first", *more).status == 0
    assert step(work, "goal", "pause", "first", "--reason", "later").status == 0
    step(work, "goal", "create", "draft", "--draft", *more)
    step(work, "goal", "create", "gone", *more)
    step(work, "goal", "clear", "gone", "--yes")
    amend(work, ("sh tests/all.sh", "test -e src/a.py"), ("true || true", "test -e src/a.py"))
    others = evaluate(work)["confirm"]["other_goals"]
    assert others == ["first: waiting_for_user, the first\\x1b[31m task"]
    assert "Not done on this branch\n  first: waiting_for_user" in "\n".join(lines_of(work))


@pytest.mark.parametrize("columns", [60, 160])
def test_no_text_pushes_a_command_or_a_result_out(work: GitRepo, columns: int) -> None:
    edits = [("the tests pass", "t " * 900), ("sh tests/all.sh", "test -e src/a.py")]
    amend(work, *edits, ("true || true", "test -e src/a.py"))
    evaluate(work)
    (row,) = [line for line in lines_of(work) if line.startswith("  AC1")]
    assert row.endswith("…: test -e src/a.py  (exit 0)")
    child = scene.at_terminal(work, ["goal", "confirm", "strict"], columns=columns)
    child.expect("Enter leave it as it is")
    screen = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", child.before).split())
    assert screen.count("test -e src/a.py (exit 0)") == 2
    child.sendline("")
    ended(child)


def test_what_was_typed_before_the_question_is_no_yes(work: GitRepo) -> None:
    waits = "until test -e ../go; do sleep 0.05; done\n"
    work.write("tests/all.sh", f"echo > ../began\n{waits}")
    amend(work, ("true || true", "sh tests/all.sh"))
    child = scene.at_terminal(work, ("goal", "evaluate"), NO_COLOR="1")
    assert eventually((work.path.parent / "began").exists)
    child.send("c\n\n")  # while the commands run
    child.expect("c\r\n\r\n")  # the terminal has it
    (work.path.parent / "go").touch()
    child.expect("Enter leave it as it is")
    child.expect("> ")
    child.sendline("")
    status, said = ended(child)
    assert (status, scene.status(work, "strict")) == (0, "active"), said
    assert "nothing was confirmed" in said


def test_an_answer_that_is_no_text_is_kept_visible(work: GitRepo) -> None:
    cheat(work)
    evaluate(work)
    words = [*(sys.executable, "-P", "-m", "flow"), "goal", "confirm", "strict"]
    env = {**os.environ, "PYTHONPATH": os.fspath(ROOT), "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    cwd = os.fspath(work.path)
    child = pexpect.spawn(words[0], words[1:], cwd=cwd, env=env, timeout=120)
    child.expect("Enter leave it as it is")
    child.sendline("c")
    child.expect("A note for the record")
    child.sendline(b"read \xff\x1b[31m it")
    child.expect(pexpect.EOF)
    assert "Traceback" not in child.before.decode("utf-8", "replace")
    assert scene.status(work, "strict") == "achieved"
    shown = flow(work, "goal", "status", "strict").stdout
    assert "\x1b" not in shown
    assert "read " in shown


def test_a_command_that_is_evaluated_confirms_nothing(repo: GitRepo) -> None:
    """Its script may be the agent's own, and nobody is asked before what a script starts."""
    scene.start(repo)
    word = repo.path.parent / "proposal"
    word.write_text("")
    helper = f"{ROOT}/bin/flow-goal-record.sh"
    block = repo.path.parent / "achieved.yaml"
    block.write_text("status: achieved\nturns_evaluated: 1\n")
    repo.write(
        "src/check.sh",
        f'[ -s {word} ] || exit 0\n{ROOT}/bin/flow goal confirm greet --proposal "$(cat {word})"\n'
        f"{helper} --update-lifecycle --goal-id greet --lifecycle-file {block}\nexit 0\n",
    )
    scene.create(repo, criterion="AC1: x :: sh src/check.sh")
    first = flow(repo, "goal", "evaluate", "greet", "--json")
    proposal = first.json["proposed_transition"]["proposal_id"]
    word.write_text(proposal)
    second = flow(repo, "goal", "evaluate", "greet", "--json")
    assert scene.status(repo) == "active"
    assert second.json["verdict"] == "achieved"
    done = flow(repo, "goal", "confirm", "greet", "--proposal", proposal)
    assert (done.status, scene.status(repo)) == (0, "achieved")


def test_a_command_that_is_evaluated_approves_nothing(repo: GitRepo) -> None:
    scene.start(repo)
    approve = "goal approve greet AC2 --by Boss --note fine --yes"
    repo.write("src/check.sh", f"{ROOT}/bin/flow {approve}\nexit 0\n")
    more = ("--fuzzy", "AC2: nice", "--evidence", "AC2: src/greet.txt")
    scene.create(repo, "greet", *more, criterion="AC1: x :: sh src/check.sh")
    flow(repo, "goal", "evaluate", "greet", "--json")
    assert "Boss" not in flow(repo, "goal", "status", "greet").stdout
    assert flow(repo, *approve.split()).status == 0


def test_a_stale_proposal_is_not_offered_and_a_yes_costs_no_note(work: GitRepo) -> None:
    cheat(work)
    evaluate(work)
    work.write("src/a.py", "2\n")
    child = scene.at_terminal(work, ["goal", "confirm", "strict"], columns=100, NO_COLOR="1")
    child.expect_exact("The proposal is stale, so strict cannot be confirmed. Evaluate it again?")
    child.expect_exact("  d show the diff   r evaluate again   Enter leave it as it is")
    assert "c confirm" not in child.before
    child.sendline("c")
    code, said = ended(child)
    assert (code, "is stale: the files were changed" in said) == (2, True), said
    assert "A note for the record" not in said
