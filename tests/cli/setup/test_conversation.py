"""``flow init`` at a terminal asks; elsewhere its options say it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from flow.adapters.setup import init as setup_init
from tests.support import scene
from tests.support.scene import ended, flow

if TYPE_CHECKING:
    from pathlib import Path

    import pexpect

    from tests.support import GitRepo

AGENT, LEVEL, PUSHES = "Which agent works here", "When it stops", "Check the goal before each push"
CLAUDE, PROJECT, HOOK = ".claude/settings.json", ".claude/settings.flow.json", ".git/hooks/pre-push"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def talk(
    repo: GitRepo, answers: dict[str, str], *words: str, columns: int = 80, **env: str
) -> tuple[int, str, list[str]]:
    """Answer each question; the exit status, all that was shown, and what was asked."""
    child: pexpect.spawn[str] = scene.at_terminal(repo, ["init", *words], columns, **env)
    asked: list[str] = []
    shown = ""
    while True:
        at = child.expect([*answers, r"next   \S"])
        shown += (child.before or "") + (child.after or "")
        if at == len(answers):
            code, rest = ended(child)
            return code, ESCAPES.sub("", shown + rest), asked
        asked.append(list(answers)[at])
        child.expect("> ")
        shown += (child.before or "") + "> "
        child.sendline(list(answers.values())[at])


def answers(agent: str = "", level: str = "", pushes: str = "") -> dict[str, str]:
    return {AGENT: agent, LEVEL: level, PUSHES: pushes}


def enforced(repo: GitRepo) -> str | None:
    file = repo.path / PROJECT
    if not file.exists():
        return None
    return str(json.loads(file.read_text())["flow"]["goals"]["stopHookEnforcement"])


def test_three_questions_and_everything_is_written(repo: GitRepo) -> None:
    scene.start(repo)
    code, shown, asked = talk(repo, answers("1", "2", "y"))
    assert (code, asked) == (0, [AGENT, LEVEL, PUSHES])
    document = json.loads(repo.read(CLAUDE))
    assert document["hooks"]["Stop"]
    assert document["permissions"]["ask"] == list(setup_init.ASK_RULES)
    assert document["statusLine"] == {"type": "command", "command": "flow statusline"}
    assert enforced(repo) == "block"
    assert (repo.path / HOOK).exists()
    assert not (repo.path / ".flow/goals/example.goal.yaml").exists()
    assert "flow init --undo takes them out again" in shown
    assert shown.rstrip().endswith("flow goal create")
    assert all(len(line) < 80 for line in shown.splitlines())
    for part in ("+ .flow/runs/", 'Stop hook, "block"', "Claude Code will ask you", HOOK):
        assert part in shown or part == "+ .flow/runs/"


@pytest.mark.parametrize(
    ("agent", "file", "typed", "level"),
    [("2", ".codex/hooks.json", "", "warn"), ("claude", CLAUDE, "3", "evaluator-loop")],
)
def test_each_answer_is_taken(repo: GitRepo, agent: str, file: str, typed: str, level: str) -> None:
    assert talk(repo, answers(agent, typed))[0] == 0
    assert "flow hook stop" in repo.read(file)
    assert enforced(repo) == level
    assert not (repo.path / HOOK).exists()


def test_enter_alone_sets_up_no_agent(repo: GitRepo) -> None:
    code, _, asked = talk(repo, answers())
    assert (code, asked) == (0, [AGENT, PUSHES])
    assert "hooks" not in json.loads(repo.read(CLAUDE))
    assert enforced(repo) is None


def test_nothing_is_asked_twice(repo: GitRepo) -> None:
    talk(repo, answers("1", "2", "y"))
    code, shown, asked = talk(repo, answers())
    assert (code, asked) == (0, [])
    assert "Everything is as it should be" in shown
    assert enforced(repo) == "block"
    (repo.path / PROJECT).unlink()
    assert LEVEL not in talk(repo, answers())[2]


def test_what_the_user_has_said_is_not_asked(repo: GitRepo) -> None:
    assert flow(repo, "config", "set", "stopHookEnforcement", "block", "--user").status == 0
    assert talk(repo, answers("1"))[2] == [AGENT, PUSHES]
    assert enforced(repo) is None


def test_an_option_is_not_asked_about(repo: GitRepo) -> None:
    words = ("--host", "cursor", "--enforcement", "warn", "--git-hook", "pre-push")
    code, _, asked = talk(repo, answers(), *words)
    assert (code, asked) == (0, [])
    assert enforced(repo) == "warn"


def test_an_answer_that_is_none_is_asked_for_again(repo: GitRepo) -> None:
    child = scene.at_terminal(repo, ["init"])
    child.expect(AGENT)
    child.expect("> ")
    child.sendline("9")
    child.expect("a number from 1 to 4")
    child.expect("> ")
    child.sendline("1")
    child.expect(LEVEL)
    child.sendline("")
    child.expect(PUSHES)
    child.sendline("")
    assert ended(child)[0] == 0
    assert enforced(repo) == "warn"


@pytest.mark.parametrize(
    ("leave", "last"), [("Ctrl-C", AGENT), ("Ctrl-D", LEVEL), ("Ctrl-C", PUSHES)]
)
def test_leaving_writes_nothing(repo: GitRepo, leave: str, last: str) -> None:
    scene.start(repo)
    child = scene.at_terminal(repo, ["init"])
    for question in (AGENT, LEVEL, PUSHES):
        child.expect(question)
        child.expect("> ")
        if question == last:
            break
        child.sendline("1")
    child.sendintr() if leave == "Ctrl-C" else child.sendeof()
    assert ended(child)[0] == (130 if leave == "Ctrl-C" else 4)
    assert repo.git("status", "--porcelain") == ""


def test_the_line_for_a_hook_of_your_own_stands_whole(repo: GitRepo) -> None:
    scene.start(repo).git("config", "core.hooksPath", ".githooks")
    shown = talk(repo, answers(pushes="y"))[1]
    lines = [line.strip() for line in shown.splitlines()]
    (line,) = (line for line in lines if "hook pre-push" in line)
    assert line.endswith('flow hook pre-push "$@"')
    before = lines[: lines.index(line)]
    assert "◐ .githooks/pre-push" in before
    assert before[-1].endswith("add to .githooks/pre-push:")
    assert all(len(each) < 80 for each in before)


def test_ascii_where_the_terminal_is_dumb(repo: GitRepo) -> None:
    shown = talk(repo, answers("1", "2", "y"), TERM="dumb")[1]
    assert shown.isascii()
    assert "+ .gitignore" in shown


# --- off a terminal -----------------------------------------------------------------------------


def test_off_a_terminal_the_options_say_it(repo: GitRepo) -> None:
    words = ("--host", "claude", "--enforcement", "evaluator-loop", "--git-hook", "pre-push")
    done = flow(repo, "init", *words)
    assert done.status == 0, done
    files = [line.split("  ")[0] for line in done.stdout.splitlines()]
    for file in (".gitignore", ".gitattributes", CLAUDE, PROJECT, HOOK, ".flow/goal.schema.json"):
        assert files.count(file) == 1
    assert enforced(repo) == "evaluator-loop"


def test_off_a_terminal_a_missing_agent_is_named(repo: GitRepo) -> None:
    done = flow(repo, "init", "--enforcement", "block", "--json")
    assert (done.status, done.json["error"]["key"]) == (2, "--host")
    assert not (repo.path / ".flow").exists()
    assert flow(repo, "init", "--host", "claude").status == 0
    assert flow(repo, "init", "--enforcement", "block").status == 0
    assert enforced(repo) == "block"


def test_an_enforcement_that_is_there_stays(repo: GitRepo) -> None:
    words = ("init", "--host", "claude", "--enforcement")
    flow(repo, *words, "block")
    done = flow(repo, *words, "warn", "--json")
    (did,) = (step["did"] for step in done.json["steps"] if step["file"] == PROJECT)
    assert "flow config set stopHookEnforcement warn --project" in did
    assert enforced(repo) == "block"


@pytest.mark.parametrize("where", [CLAUDE, ".claude/settings.local.json", "own"])
def test_a_status_line_of_your_own_stays(repo: GitRepo, home: Path, where: str) -> None:
    mine = json.dumps({"statusLine": {"type": "command", "command": "mine"}})
    if where == "own":
        (home / ".claude").mkdir(exist_ok=True)
        (home / ".claude/settings.json").write_text(mine)
    else:
        repo.write(where, mine)
    assert flow(repo, "init", "--host", "claude").status == 0
    assert "flow statusline" not in repo.read(CLAUDE)


def test_two_journals_of_one_day_are_merged_by_union(repo: GitRepo) -> None:
    scene.start(repo)
    flow(repo, "init")
    repo.write(".claude/settings.flow.json", '{"journal": {"dir": "notes"}}')
    assert ".decisions/*.md merge=union" in repo.read(".gitattributes").splitlines()
    flow(repo, "init")
    assert "notes/*.md merge=union" in repo.read(".gitattributes").splitlines()
    line = repo.git("check-attr", "merge", ".decisions/issue-7.md")
    assert line.strip().endswith("merge: union")
