"""A secret never reaches a judge, by whichever way it came into the checkout (HAZARD G92)."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from flow import NoUsableAnswer, judge
from tests.support import scene
from tests.support.goal_judge import GoalJudge, reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import GitRepo

TOKEN = "ghp" + "_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
VALUE = "correct" + "-horse-" + "battery-9371"
JUDGE = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read()); print('{}')"


@pytest.mark.parametrize("way", ["evaluate", "show-prompt", "rubric"])
def test_no_prompt_holds_a_secret(
    way: str, repo: GitRepo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = home / "prompt"
    monkeypatch.setenv("DEPLOY_TOKEN", VALUE)
    (home / ".claude").mkdir()
    judge = {"backend": "command", "command": [sys.executable, "-I", "-c", JUDGE, str(seen)]}
    settings = {"flow": {"goals": {"judge": judge}}}
    (home / ".claude/settings.flow.json").write_text(json.dumps(settings))
    scene.start(repo)
    scene.create(repo, "greet", "--draft", "--fuzzy", scene.FUZZY)
    path = repo.path / ".flow/goals/greet.goal.yaml"
    text = path.read_text().replace("type: deterministic", "type: hybrid")
    more = "text: it reads well\n      evidence_paths: [src/*]"
    path.write_text(text.replace("text: it reads well", more))
    assert scene.flow(repo, "goal", "activate", "greet").status == 0
    scene.meet(repo)
    repo.write("src/config.txt", f"please keep {TOKEN} and {VALUE} out of it\n")
    if way == "evaluate":
        scene.flow(repo, "goal", "evaluate", "greet", "--no-input")
        given = seen.read_text()
    elif way == "rubric":
        words = ("judge", "run", "--rubric", "security", "--subject", "src/config.txt")
        scene.flow(repo, *words)
        given = seen.read_text()
    else:
        given = scene.flow(repo, "judge", "run", "greet", "--show-prompt").stdout
    assert "please keep" in given
    assert TOKEN not in given
    assert VALUE not in given


LONG = "sk-ant-" + "api03-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3" * 3
STEPS = {
    "an error": {"exit": 3, "stderr": f"401: {LONG} is refused, and so is {VALUE}\n"},
    "an error that is cut": {"exit": 3, "stderr": f"401: {LONG} {'x' * 130}\n"},
    "a reason": {"reply": reply("not_achieved", ("AC2", "fail", []), reason=f"{LONG} {VALUE}")},
    "a hint": {"reply": reply("not_achieved", ("AC2", "fail", []), next_step_hint=f"use {VALUE}")},
    "no JSON": {"raw": f"the key {LONG} or {VALUE}"},
    "another shape": {"raw": json.dumps({LONG: VALUE})},
}


def test_what_a_judge_says_is_kept_without_secrets(
    repo: GitRepo, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The goal's file and the journal go into git."""
    monkeypatch.setenv("DEPLOY_TOKEN", VALUE)
    asked = GoalJudge(tmp_path / "judge", home)
    scene.create(scene.start(repo), "greet", "--fuzzy", scene.FUZZY)
    path = repo.path / ".flow/goals/greet.goal.yaml"
    path.write_text(path.read_text().replace("type: deterministic", "type: hybrid"))
    assert scene.flow(repo, "trust", "record", "greet", "--yes").status == 0
    scene.meet(repo)
    for how, step in STEPS.items():
        asked.says(step)
        done = scene.flow(repo, "goal", "evaluate", "greet", "--json")
        assert done.status in (1, 4)
        assert asked.folder.joinpath("prompt-0.txt").exists()
        kept = [done.stdout, done.stderr]
        for folder in (repo.path / ".flow", repo.path / ".decisions", home):
            files = (each for each in folder.rglob("*") if each.is_file())
            kept += [each.read_text("utf-8", "replace") for each in files]
        for text in kept:
            for piece in (LONG[-40:], VALUE):
                assert piece not in text, how


def test_a_function_is_a_judge_as_well(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", VALUE)
    monkeypatch.chdir(repo.path)
    seen: list[str] = []

    def asked(prompt: str) -> dict[str, object]:
        seen.append(prompt)
        return {}

    with pytest.raises(NoUsableAnswer):
        judge(f"please keep {TOKEN} and {VALUE} out of it", "security", backend=asked)
    assert "please keep" in seen[0]
    assert TOKEN not in seen[0]
    assert VALUE not in seen[0]
