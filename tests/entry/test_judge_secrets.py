"""A secret never reaches a judge, by whichever way it came into the checkout (CASES 92)."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.entry import scene

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
