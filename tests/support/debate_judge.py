"""Judges of debates that say what a test tells them: one program behind the backend ``command``.

It tells from its prompt which judge it is and which turn it has, looks that up in a plan, and keeps
every prompt. A plan's keys are ``2/assess``, ``2/verify``, ``2/debate 1``, or those without the
judge (``assess``); what fits first is said. ``verify`` repeats ``assess`` where nothing is planned.
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
words = prompt[:80].split()
assert words[:3] == ["You", "are", "Judge"] and words[4] in ("evaluating", "in"), words
judge = words[3]
round = words[7].rstrip(".,:;") if words[4:7] == ["in", "debate", "round"] else ""
verify = "BEGIN draft of Judge" in prompt
turn = f"debate {round}" if round else "verify" if verify else "assess"
with open(os.path.join(folder, "plan"), "rb") as file:
    plan = marshal.load(file)
fd = os.open(os.path.join(folder, "calls"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(fd, f"{judge}/{turn}\\n".encode())
with open(os.path.join(folder, f"prompt-{judge}-{turn.replace(' ', '-')}.txt"), "w") as file:
    file.write(prompt)
names = [f"{judge}/{turn}", turn]
if verify:
    names += [f"{judge}/assess", "assess"]
if round:
    names += [f"{judge}/debate", "debate"]
step = next((plan[name] for name in names if name in plan), {"text": "null", "exit": 9})
if "wait" in step:
    import time
    with open(os.path.join(folder, f"waiting-{judge}"), "w"):
        pass
    while not os.path.exists(os.path.join(folder, step["wait"])):
        time.sleep(0.02)
if "append" in step:
    with open(step["append"][0], "a", encoding="utf-8") as file:
        file.write(step["append"][1])
if "usage" in step:
    with open(os.environ["FLOW_JUDGE_USAGE"], "w", encoding="utf-8") as file:
        file.write(step["usage"])
sys.stdout.write(step["verified" if verify else "text"])
sys.exit(step.get("exit", 0))
"""


def reply(
    scores: dict[str, Any],
    *quotes: str,
    recommendation: Any = "pass",
    accepts: Any = True,
    **more: Any,
) -> dict[str, Any]:
    """A reply with these scores and quotes, in the shape that Flow asks for."""
    return {
        "criteria": [
            {
                "name": name,
                "evidence": list(quotes),
                "justification": f"{name} looks so",
                "score": score,
            }
            for name, score in scores.items()
        ],
        "strengths": ["short"],
        "weaknesses": ["no tests"],
        "recommendation": recommendation,
        "accepts_consensus": accepts,
        **more,
    }


def _ready(step: dict[str, Any]) -> dict[str, Any]:
    """A step with its texts as they are written, with verification and without."""
    reply = step.get("reply")
    ready = {key: value for key, value in step.items() if key not in ("reply", "raw")}
    ready["text"] = ready["verified"] = step.get("raw", json.dumps(reply))
    if "raw" not in step and reply and "verification" not in reply and not step.get("unverified"):
        pairs = [{"question": f"Is it {n}?", "answer": f"It is {n}."} for n in range(1, 6)]
        ready["verified"] = json.dumps({"verification": pairs, **reply})
    if "usage" in step:
        ready["usage"] = json.dumps(step["usage"])
    return ready


class DebateJudges:
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
        self.says({})

    def says(self, plan: dict[str, Any]) -> None:
        """Plan steps (``{"reply": ..., "raw": ..., "exit": ...}``) or replies; forget the calls."""
        (self.folder / "calls").unlink(missing_ok=True)
        steps = {key: {"reply": step} if "criteria" in step else step for key, step in plan.items()}
        (self.folder / "plan").write_bytes(marshal.dumps({k: _ready(v) for k, v in steps.items()}))

    @property
    def calls(self) -> list[str]:
        """What was asked, sorted: ``1/assess``."""
        path = self.folder / "calls"
        return sorted(path.read_text().split("\n")[:-1]) if path.exists() else []

    def prompt(self, judge: int, turn: str) -> str:
        """The newest prompt of a judge's turn."""
        name = f"prompt-{judge}-{turn.replace(' ', '-')}.txt"
        return (self.folder / name).read_text(encoding="utf-8")
