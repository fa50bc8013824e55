"""A judge of goals that says what a test tells it: a program behind the backend ``command``.

It takes its replies from a file, in order (the last one again and again), and keeps every prompt.
With ``wait`` it thinks until a file of that name is in its folder.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from tests.support.judges.scripted import install, plan_step, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

PROGRAM = """\
number=0
while [ -e "$folder/prompt-$number.txt" ]; do number=$((number + 1)); done
cat >"$folder/prompt-$number.txt"
cat "$FLOW_JUDGE_SCHEMA" >"$folder/schema-$number.json"
[ -e "$folder/plan/$number" ] && . "$folder/plan/$number"
. "$folder/plan/last"
"""


def _twin(
    folder: Path, prompt: bytes, env: Mapping[str, str]
) -> tuple[tuple[str, str], Callable[[], object]]:
    """The same as the program does."""
    number = sum(1 for _ in folder.glob("prompt-*.txt"))

    def keep() -> None:
        (folder / f"prompt-{number}.txt").write_bytes(prompt)
        shutil.copyfile(env["FLOW_JUDGE_SCHEMA"], folder / f"schema-{number}.json")

    return (str(number), "last"), keep


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


class GoalJudge:
    """The program in ``folder``, and the user's settings in ``home`` that name it."""

    def __init__(self, folder: Path, home: Path, **settings: Any) -> None:
        self.folder = folder
        install(folder, home, PROGRAM, _twin, settings)
        self.says()

    def says(self, *steps: dict[str, Any]) -> None:
        """Plan the answers of the next calls and forget the earlier ones.

        What steps can hold is told by ``judges.scripted.plan_step``.
        """
        for old in (*self.folder.glob("prompt-*.txt"), *self.folder.glob("schema-*.json")):
            old.unlink()
        shutil.rmtree(self.folder / "plan", ignore_errors=True)
        (self.folder / "plan").mkdir()
        planned = steps or ({"exit": 9},)
        for name, step in (*enumerate(planned), ("last", planned[-1])):
            plan_step(self.folder / "plan" / str(name), step, text_of(step))

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
