"""A judge of goals that says what a test tells it: a program behind the backend ``command``.

It takes its replies from a file, in order (the last one again and again), and keeps every prompt.
With ``wait`` it thinks until a file of that name is in its folder.
"""

from __future__ import annotations

import json
import marshal
import sys
from pathlib import Path
from typing import Any

PROGRAM = """\
import marshal, os, sys  # no more: a judge is started for each question
folder = os.path.dirname(os.path.abspath(__file__))
prompt = sys.stdin.read()
number = len([name for name in os.listdir(folder) if name.startswith("prompt-")])
with open(os.path.join(folder, f"prompt-{number}.txt"), "w", encoding="utf-8") as file:
    file.write(prompt)
with open(os.environ["FLOW_JUDGE_SCHEMA"], encoding="utf-8") as file:
    schema = file.read()
with open(os.path.join(folder, f"schema-{number}.json"), "w", encoding="utf-8") as file:
    file.write(schema)
with open(os.path.join(folder, "plan"), "rb") as file:
    plan = marshal.load(file)
step = plan[min(number, len(plan) - 1)]
if "touch" in step:
    with open(step["touch"], "a", encoding="utf-8") as file:
        file.write("touched while the judge was asked\\n")
if "wait" in step:
    import time
    most = time.monotonic() + 300
    while not os.path.exists(os.path.join(folder, step["wait"])):
        if time.monotonic() > most:
            sys.exit(9)
        time.sleep(0.02)
if "usage" in step:
    with open(os.environ["FLOW_JUDGE_USAGE"], "w", encoding="utf-8") as file:
        file.write(step["usage"])
sys.stderr.write(step.get("stderr", ""))
sys.stdout.write(step["text"])
sys.exit(step.get("exit", 0))
"""

Row = tuple[str, str, list[str]]
"""Criterion id, status, quotes."""


def reply(verdict: str, *rows: Row, confidence: Any = 0.9, **more: Any) -> dict[str, Any]:
    """A reply in the shape that Flow asks for."""
    return {
        "criterion_results": [
            {"criterion_id": id, "evidence": quotes, "reason": f"{id} looks so", "status": status}
            for id, status, quotes in rows
        ],
        "reason": "because of the evidence",
        "next_step_hint": "look at the wording",
        "blocker_type": "none",
        "confidence": confidence,
        "verdict": verdict,
        **more,
    }


def _ready(step: dict[str, Any]) -> dict[str, Any]:
    """A step with its texts as they are written."""
    ready = {key: value for key, value in step.items() if key not in ("reply", "raw")}
    ready["text"] = step.get("raw", json.dumps(step.get("reply", {})))
    if "usage" in step:
        ready["usage"] = json.dumps(step["usage"])
    return ready


class GoalJudge:
    """The program in ``folder``, and the user's settings in ``home`` that name it."""

    def __init__(self, folder: Path, home: Path, **settings: Any) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "judge.py").write_text(PROGRAM)
        command = [sys.executable, "-I", "-S", str(folder / "judge.py")]
        judge = {"backend": "command", "command": command, "timeoutSeconds": 60, **settings}
        path = home / ".claude" / "settings.flow.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"flow": {"goals": {"judge": judge}}}))
        self.says()

    def says(self, *steps: dict[str, Any]) -> None:
        """Plan the answers of the next calls and forget the earlier ones."""
        for old in (*self.folder.glob("prompt-*.txt"), *self.folder.glob("schema-*.json")):
            old.unlink()
        plan = [_ready(step) for step in steps or [{"exit": 9}]]
        self.folder.joinpath("plan").write_bytes(marshal.dumps(plan))

    def answers(self, *replies: dict[str, Any]) -> None:
        """Plan usable replies."""
        self.says(*({"reply": each} for each in replies))

    @property
    def prompts(self) -> list[str]:
        """What it was given, oldest first."""
        found = sorted(self.folder.glob("prompt-*.txt"), key=lambda p: int(p.stem.split("-")[1]))
        return [path.read_text(encoding="utf-8") for path in found]

    @property
    def schemas(self) -> list[Any]:
        """The schemas it was given."""
        found = sorted(self.folder.glob("schema-*.json"), key=lambda p: int(p.stem.split("-")[1]))
        return [json.loads(path.read_text(encoding="utf-8")) for path in found]
