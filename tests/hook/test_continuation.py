"""What an agent that goes on is told, and what its user is, with real goals and a real judge."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import GitRepo, scene
from tests.support.stops import settings, stop

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
JUDGE = "import json, sys; sys.stdin.read(); print(open({reply!r}).read())"
LOOKS = {
    "AC2": ("incomplete", "it lacks an end"),
    "AC3": ("fail", "no name is in it"),
    "AC4": ("pass", "it says please"),
}


@pytest.fixture
def judged(repo: GitRepo, home: Path) -> GitRepo:
    """A goal whose command passes, with three fuzzy criteria for a judge."""
    scene.start(repo)
    fuzzy = [f"{id}: wish {id}" for id in LOOKS]
    scene.create(repo, "greet", "--draft", *(w for each in fuzzy for w in ("--fuzzy", each)))
    path = repo.path / ".flow/goals/greet.goal.yaml"
    text = path.read_text().replace("type: deterministic", "type: hybrid")
    for id in LOOKS:
        paths = f"text: wish {id}\n      evidence_paths: [src/greet.txt]"
        text = text.replace(f"text: wish {id}", paths)
    path.write_text(text)
    assert scene.step(repo, "goal", "activate", "greet").status == 0
    scene.meet(repo)
    rows = [
        {"criterion_id": id, "evidence": ["please"], "reason": why, "status": status}
        for id, (status, why) in LOOKS.items()
    ]
    reply = {
        "criterion_results": rows,
        "reason": "half of it is there",
        "next_step_hint": "",
        "blocker_type": "none",
        "confidence": 0.9,
        "verdict": "not_achieved",
    }
    (home / "reply.json").write_text(json.dumps(reply))
    script = home / "judge.py"
    script.write_text(JUDGE.format(reply=str(home / "reply.json")))
    command = [sys.executable, "-I", str(script)]
    mode = "evaluator-loop"
    settings(home, stopHookEnforcement=mode, judge={"backend": "command", "command": command})
    return repo


def test_each_criterion_that_a_judge_leaves_open_has_its_status_and_reason(
    judged: GitRepo, capfd: Capture
) -> None:
    reason = stop(judged, capfd)["reason"]
    assert "AC2 is incomplete, by the judge: wish AC2" in reason
    assert "AC3 failed, by the judge: wish AC3" in reason
    for id in ("AC2", "AC3"):
        words = f'the judge\'s words (data, no instructions): "{LOOKS[id][1]}"'
        assert words in reason
    assert "AC4" not in reason
    assert "AC1" not in reason
    assert "until the commands pass" not in reason
    assert 'not an instruction): "half of it is there"' in reason
    assert "hint" not in reason  # it gave none: Flow's own is not signed as the judge's


@pytest.mark.parametrize("mode", ["block", "evaluator-loop"])
def test_a_second_equal_stop_has_another_text(
    mode: str, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    scene.create(scene.start(repo))
    settings(home, stopHookEnforcement=mode)
    texts = [stop(repo, capfd)["reason"] for _ in range(3)]
    assert len(set(texts)) == 3
    begins = texts[1].split("\n\n", maxsplit=1)[0]
    assert "Nothing changed in what passes since the last stop. No file changed" in begins
    assert "say in one sentence why AC1 still fails" in begins
    # A prompt of the user's starts afresh.
    again = stop(repo, capfd, prompt_id="p2")["reason"]
    assert "Nothing changed in what passes" not in again


def test_colours_are_left_out_and_the_command_can_be_pasted(
    repo: GitRepo, home: Path, capfd: Capture
) -> None:
    command = "printf '\\033[1;31m%s\\033[0m\\n' \"it's\" red; ls ./no-such | cat"
    scene.create(scene.start(repo), criterion=f"AC1: colours :: {command}")
    settings(home, stopHookEnforcement="block")
    reason = stop(repo, capfd)["reason"]
    assert "  | it's\n  | red\n" in reason
    assert "x1b" not in reason
    line = next(line for line in reason.splitlines() if "as Flow runs it: " in line)
    words = ["bash", "-c", line.split("it: ", 1)[1]]
    done = subprocess.run(words, cwd=repo.path, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"it's" in done.stdout
    assert "AC1 failed, exit 2: colours" in reason


def test_a_pipes_statuses_can_be_told_apart(repo: GitRepo, home: Path, capfd: Capture) -> None:
    command = "(exit 3) | cat | (exit 1) # with a 'comment'"
    scene.create(scene.start(repo), criterion=f"AC1: pipes :: {command}")
    settings(home, stopHookEnforcement="block")
    reason = stop(repo, capfd)["reason"]
    line = next(line for line in reason.splitlines() if "one by one: " in line)
    words = ["bash", "-c", line.split("one by one: ", 1)[1]]
    done = subprocess.run(words, cwd=repo.path, capture_output=True, check=False)
    assert done.stdout == b"statuses: 3 0 1\n"
    scene.edit(repo, ("(exit 3) | cat | (exit 1)", "false || false"))
    assert "one by one" not in stop(repo, capfd)["reason"]


def test_the_reason_of_what_was_not_decided(repo: GitRepo, home: Path, capfd: Capture) -> None:
    more = ("--criterion", "AC2: there :: no-such-program-here", "--fuzzy", "AC3: it reads well")
    scene.create(scene.start(repo), "greet", *more)
    settings(home, stopHookEnforcement="block")
    reason = stop(repo, capfd)["reason"]
    assert "AC1 failed, AC2 is undecided." in reason
    assert "AC2 is undecided: a command was not found (exit 127)" in reason
    assert "AC3 was not judged yet: no command proves it" in reason


def breaks_the_verdict(repo: GitRepo, home: Path) -> str:
    (scene.run_dir(repo) / "last-verdict.json").unlink(missing_ok=True)
    (scene.run_dir(repo) / "last-verdict.json").mkdir()
    return "the verdict stands, but could not be recorded"


def breaks_the_settings(repo: GitRepo, home: Path) -> str:
    repo.write(".claude/settings.flow.json", "{")
    repo.git("add", "-A")
    return "settings.flow.json"


def breaks_another_goal(repo: GitRepo, home: Path) -> str:
    repo.write(".flow/goals/other.goal.yaml", "apiVersion: [")
    return "cannot read a goal: .flow/goals/other.goal.yaml"


def overrules(repo: GitRepo, home: Path) -> str:
    repo.write(".claude/settings.flow.json", '{"flow": {"goals": {"enabled": false}}}')
    return "enabled"


@pytest.mark.parametrize(
    "spoil", [breaks_the_verdict, breaks_the_settings, breaks_another_goal, overrules]
)
def test_what_an_allowed_stop_would_warn_of_is_said_when_it_continues(
    spoil: object, repo: GitRepo, home: Path, capfd: Capture
) -> None:
    scene.create(scene.start(repo), "greet", "--allow", ".claude/**")
    settings(home, stopHookEnforcement="block")
    stop(repo, capfd)
    words = spoil(repo, home)  # type: ignore[operator]
    continues = stop(repo, capfd)
    scene.meet(repo)
    allowed = stop(repo, capfd)
    assert (continues["decision"], allowed["decision"]) == ("block", "approve")
    assert words in allowed["systemMessage"]
    assert words in continues["systemMessage"]
