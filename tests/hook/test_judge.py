"""SPEC 6, the row of fuzzy criteria: a judge is asked in the loop alone."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import GitRepo, scene
from tests.support.stops import events, settings, stop, verdict

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]
JUDGE = """\
import json, os, sys
prompt = sys.stdin.read()
with open({asked!r}, "a") as file:
    file.write("x")
reply = json.load(open({reply!r}))
sys.stdout.write(json.dumps(reply))
"""


@pytest.fixture
def judged(repo: GitRepo, home: Path) -> GitRepo:
    """A goal whose command passes, with one fuzzy criterion for a judge."""
    scene.start(repo)
    scene.create(repo, "greet", "--draft", "--fuzzy", scene.FUZZY)
    path = repo.path / ".flow/goals/greet.goal.yaml"
    text = path.read_text().replace("type: deterministic", "type: hybrid")
    text = text.replace(
        "text: it reads well", "text: it reads well\n      evidence_paths: [src/greet.txt]"
    )
    path.write_text(text)
    assert scene.step(repo, "goal", "activate", "greet").status == 0
    scene.meet(repo)
    return repo


def says(home: Path, status: str, mode: str = "evaluator-loop", **more: Any) -> None:
    """A judge that gives AC2 this status."""
    reply, asked = home / "reply.json", home / "asked"
    verdicts = {"pass": "achieved", "fail": "not_achieved", "incomplete": "not_achieved"}
    document = {
        "criterion_results": [
            {
                "criterion_id": "AC2",
                "evidence": ["please"],
                "reason": "seen in the file",
                "status": status,
            }
        ],
        "reason": "the greeting\x1b[31m says please",
        "next_step_hint": "add a comma",
        "blocker_type": "none",
        "confidence": 0.9,
        "verdict": verdicts[status],
        **more,
    }
    reply.write_text(json.dumps(document))
    script = home / "judge.py"
    script.write_text(JUDGE.format(asked=str(asked), reply=str(reply)))
    settings(
        home,
        stopHookEnforcement=mode,
        judge={"backend": "command", "command": [sys.executable, "-I", str(script)]},
    )


def asked(home: Path) -> int:
    path = home / "asked"
    return len(path.read_text()) if path.exists() else 0


@pytest.mark.parametrize("status", ["fail", "incomplete"])
def test_not_achieved_keeps_the_agent_working(
    status: str, judged: GitRepo, home: Path, capfd: Capture
) -> None:
    says(home, status)
    answer = stop(judged, capfd)
    assert answer["decision"] == "block"
    assert "an opinion, not an instruction" in answer["reason"]
    assert "says please" in answer["reason"]
    assert "add a comma" in answer["reason"]
    assert "\x1b" not in answer["reason"]
    assert events(judged)[-1]["row"] == "judge_not_achieved"
    assert scene.status(judged) == "active"
    end = "the goal is marked failed" if status == "fail" else "Flow no longer asks you to go on"
    assert answer["reason"].endswith(f"After 3 more stops without progress {end}.")


def test_achieved_is_a_hint_to_confirm(judged: GitRepo, home: Path, capfd: Capture) -> None:
    says(home, "pass")
    answer = stop(judged, capfd)
    assert answer["decision"] == "approve"
    assert answer["next_step_hint"] == "/flow:goal evaluate greet"
    assert answer["systemMessage"].endswith("Waits for you: flow goal confirm greet")
    proposed = verdict(judged)["proposed_transition"]
    assert proposed["to"] == "achieved"
    words = ("goal", "confirm", "greet", "--proposal", proposed["proposal_id"])
    assert scene.flow(judged, *words).status == 0


@pytest.mark.parametrize("mode", ["off", "warn", "block"])
def test_outside_the_loop_nobody_is_asked(
    mode: str, judged: GitRepo, home: Path, capfd: Capture
) -> None:
    says(home, "fail", mode)
    assert stop(judged, capfd)["decision"] == "approve"
    assert asked(home) == 0


@pytest.mark.parametrize(
    "more",
    [
        {"verdict": "needs_human_review"},
        {"confidence": 0.1, "verdict": "achieved"},
        {"confidence": 7},
        {"verdict": "achieved", "criterion_results": []},
        {"verdict": "blocked", "blocker_type": "missing_dep"},
    ],
    ids=["a person", "unsure", "out of range", "no criterion", "blocked"],
)
def test_whatever_else_it_says_lets_go(
    more: dict[str, Any], judged: GitRepo, home: Path, capfd: Capture
) -> None:
    says(home, "pass", **more)
    answer = stop(judged, capfd)
    assert answer["decision"] == "approve"
    assert "greet" in answer["systemMessage"]
    assert verdict(judged)["proposed_transition"] is None


def test_a_judge_that_fails_lets_go(judged: GitRepo, home: Path, capfd: Capture) -> None:
    says(home, "fail")
    (home / "judge.py").write_text("raise SystemExit(1)")
    answer = stop(judged, capfd)
    assert answer["decision"] == "approve"
    assert "AC2 not judged, nothing failed" in answer["systemMessage"]
    assert scene.status(judged) == "waiting_for_user"


def test_unchanged_work_is_not_judged_again(judged: GitRepo, home: Path, capfd: Capture) -> None:
    says(home, "fail")
    for _ in range(3):
        assert stop(judged, capfd)["decision"] == "block"
    assert asked(home) == 1
    judged.write("src/greet.txt", "please, please\n")
    stop(judged, capfd)
    assert asked(home) == 2


def test_an_agent_that_convinces_nobody_is_stuck(
    judged: GitRepo, home: Path, capfd: Capture
) -> None:
    says(home, "fail")
    answers = [stop(judged, capfd)["decision"] for _ in range(4)]
    assert answers == ["block", "block", "block", "approve"]
    assert scene.status(judged) == "failed"


def test_where_no_judge_saw_a_fault_a_stuck_loop_waits_and_nobody_paused_it(
    judged: GitRepo, home: Path, capfd: Capture
) -> None:
    says(home, "incomplete")
    answers = [stop(judged, capfd)["decision"] for _ in range(4)]
    assert answers == ["block", "block", "block", "approve"]
    assert scene.status(judged) == "waiting_for_user"
    moved = events(judged, "transition")[-1]
    assert (moved["how"], "by" in moved) == ("Stop hook, evaluator-loop", False)
    shown = {
        words: scene.flow(judged, *words).stdout
        for words in (("goal", "status"), ("goal", "list"), ("goal", "history"), ("inbox",))
    }
    assert not [words for words, text in shown.items() if "paused" in text]
    assert "Stop hook, evaluator-loop" in shown["goal", "history"]
    assert "paused" not in stop(judged, capfd)["systemMessage"]
    assert "how: Stop hook, evaluator-loop" in scene.flow(judged, "journal", "show").stdout


def test_a_judge_is_started_with_the_recursion_guard(
    judged: GitRepo, home: Path, capfd: Capture
) -> None:
    says(home, "fail")
    code = "import os; open({!r}, 'w').write(os.environ.get('CLAUDE_HOOK_GOAL_JUDGE_MODE', ''))"
    (home / "judge.py").write_text(code.format(str(home / "guard")))
    stop(judged, capfd)
    assert (home / "guard").read_text() == "1"
    assert not os.environ.get("CLAUDE_HOOK_GOAL_JUDGE_MODE")
