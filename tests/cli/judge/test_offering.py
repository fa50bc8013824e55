"""Where a judge is wanted and none is set up, the claude CLI is offered: at a terminal only."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.judge.test_scorecard import GOOD, TRANSCRIPT
from tests.support import GitRepo, scene
from tests.support.goal_judge import reply
from tests.support.judges.rubric_replies import reply as rubric_reply
from tests.support.scene import ended

QUESTION = r"c ask it now   a from now on   Enter nobody.*> "
PROGRAM = """\
#!/bin/sh
here=${0%/*}
case " $* " in *" --version "* | *" --help "*) echo "2.1.197 (Claude Code)"; exit ;; esac
cat >/dev/null
echo asked >>"$here/asked"
cat "$here/answer.json"
"""


class FakeClaude:
    """A program named ``claude`` that answers what a test says."""

    def __init__(self, folder: Path, answer: Any) -> None:
        folder.mkdir()
        self.folder = folder
        program = folder / "claude"
        program.write_text(PROGRAM)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        said = {"type": "result", "subtype": "success", "is_error": False, "usage": {}}
        (folder / "answer.json").write_text(json.dumps({**said, "structured_output": answer}))

    @property
    def path(self) -> str:
        return f"{self.folder}:{os.environ['PATH']}"

    @property
    def asked(self) -> int:
        file = self.folder / "asked"
        return len(file.read_text().splitlines()) if file.exists() else 0


def settings(home: Path) -> dict[str, Any]:
    file = home / ".claude/settings.flow.json"
    document: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return document


@pytest.fixture
def place(repo: GitRepo) -> GitRepo:
    scene.start(repo)
    repo.write("run.md", TRANSCRIPT)
    return repo


@pytest.mark.parametrize(("answer", "kept"), [("c", False), ("a", True)])
def test_a_scorecard_is_asked_of_claude_after_a_yes(
    place: GitRepo, tmp_path: Path, home: Path, answer: str, kept: bool
) -> None:
    claude = FakeClaude(tmp_path / "bin", GOOD)
    words = ["judge", "scorecard", "commit", "--file", "run.md"]
    child = scene.at_terminal(place, words, PATH=claude.path)
    child.expect("it costs at most 2 questions, each of up to 50,000 tokens")
    child.expect(QUESTION)
    assert claude.asked == 0
    child.sendline(answer)
    code, said = ended(child)
    assert code == 0, said
    assert claude.asked == 1
    backend = settings(home).get("flow", {}).get("goals", {}).get("judge", {}).get("backend")
    assert backend == ("claude" if kept else None)


def test_a_calibration_says_what_all_its_cases_cost(
    place: GitRepo, tmp_path: Path, home: Path
) -> None:
    claude = FakeClaude(tmp_path / "bin", rubric_reply({"readability": 0.9}))
    rows = [{"id": id, "label": "pass", "subject": id, "rubric": "house"} for id in ("a", "b")]
    place.write("cases.json", json.dumps(rows))
    place.write(
        ".flow/rubrics/house.yaml", "name: H\ncriteria: [{name: readability, description: d}]\n"
    )
    words = ["judge", "calibrate", "--cases", "cases.json", "--samples", "3"]
    child = scene.at_terminal(place, words, PATH=claude.path)
    child.expect("it costs at most 12 questions, each of up to 50,000 tokens")
    child.expect(QUESTION)
    child.sendline("c")
    code, said = ended(child)
    assert (code, claude.asked) == (0, 6), said


@pytest.mark.parametrize("answer", ["", "yes"])
def test_anything_else_asks_nobody(place: GitRepo, tmp_path: Path, answer: str) -> None:
    claude = FakeClaude(tmp_path / "bin", GOOD)
    words = ["judge", "scorecard", "commit", "--file", "run.md"]
    child = scene.at_terminal(place, words, PATH=claude.path)
    child.expect(QUESTION)
    child.sendline(answer)
    code, said = ended(child)
    assert (code, claude.asked) == (4, 0)
    assert "no judge is configured" in said


def test_where_nobody_can_be_asked_it_is_not_offered(place: GitRepo, tmp_path: Path) -> None:
    claude = FakeClaude(tmp_path / "bin", GOOD)
    words = ("judge", "scorecard", "commit", "--file", "run.md")
    done = scene.flow(place, *words, env={"PATH": claude.path})
    assert (done.status, claude.asked) == (4, 0)
    child = scene.at_terminal(place, [*words, "--json"], PATH=claude.path)
    code, said = ended(child)
    assert (code, claude.asked) == (4, 0)
    assert "not_configured" in said


def test_without_claude_nothing_is_offered(place: GitRepo, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    words = ["judge", "scorecard", "commit", "--file", "run.md"]
    child = scene.at_terminal(place, words, PATH=f"{empty}:/usr/bin:/bin")
    code, said = ended(child)
    assert code == 4
    assert "Enter nobody" not in said


FUZZY = "AC2: the docs explain it"


def test_an_evaluation_goes_on_with_the_judge_and_runs_nothing_again(
    place: GitRepo, tmp_path: Path
) -> None:
    answer = reply("achieved", ("AC2", "pass", ["please, a greeting"]))
    claude = FakeClaude(tmp_path / "bin", answer)
    scene.meet(place)
    scene.create(place, "greet", "--fuzzy", FUZZY, criterion="AC1: runs :: echo x >> ../ran; true")
    place.write("src/docs.md", "please, a greeting\n")
    (place.path.parent / "ran").write_text("")
    child = scene.at_terminal(place, ["goal", "evaluate", "greet"], PATH=claude.path)
    child.expect(QUESTION)
    child.sendline("c")
    child.expect(["Enter leave it as it is", "flow goal approve"])
    child.sendline("")
    ended(child)
    after = (place.path.parent / "ran").read_text()
    assert claude.asked == 1
    assert after.count("x") == 1
