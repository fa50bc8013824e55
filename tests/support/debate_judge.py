"""Judges of debates that say what a test tells them: one program behind the backend ``command``.

It tells from its prompt which judge it is and which turn it has, looks that up in a plan, and keeps
every prompt. A plan's keys are ``2/assess``, ``2/verify``, ``2/debate 1``, or those without the
judge (``assess``); what fits first is said. ``verify`` repeats ``assess`` where nothing is planned.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

from tests.support.judges.scripted import install, plan_step, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

TURN = re.compile(rb"You are Judge (\d+) (?:evaluating|in debate round (\d+))")
PROGRAM = """\
prompt=$(cat; echo .) # with its line ends
rest=${prompt#You are Judge } judge=- turn=other
if [ "$rest" != "$prompt" ]; then
    judge=${rest%% *} rest=${rest#* }
    case $rest in
        "in debate round "*) rest=${rest#in debate round } turn="debate ${rest%%[!0-9]*}" ;;
        evaluating*"BEGIN draft of Judge"*) turn=verify ;;
        evaluating*) turn=assess ;;
    esac
fi
echo "$judge/$turn" >>"$folder/calls"
printf %s "${prompt%.}" >"$folder/prompt-$judge-$turn.txt"
case $turn in
    debate*) kinds="$turn,debate" ;;
    verify) kinds=verify,assess+ ;;
    *) kinds=$turn ;;
esac
IFS=,
for kind in $kinds; do
    for step in "$judge-$kind" "$kind"; do
        [ -e "$folder/plan/$step" ] && . "$folder/plan/$step"
    done
done
echo null
exit 9
"""


def _twin(
    folder: Path, prompt: bytes, _: Mapping[str, str]
) -> tuple[list[str], Callable[[], object]]:
    """The same as the program does."""
    judge, turn = "-", "other"
    if found := TURN.match(prompt):
        judge, turn = found[1].decode(), f"debate {found[2].decode()}" if found[2] else "assess"
        if turn == "assess" and b"BEGIN draft of Judge" in prompt:
            turn = "verify"

    def keep() -> None:
        with (folder / "calls").open("a") as calls:
            calls.write(f"{judge}/{turn}\n")
        (folder / f"prompt-{judge}-{turn}.txt").write_bytes(prompt)

    more = {"verify": ["assess+"], "assess": [], "other": []}.get(turn, ["debate"])
    return [name for kind in (turn, *more) for name in (f"{judge}-{kind}", kind)], keep


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


def _verified(step: dict[str, Any]) -> str:
    """What a step prints where the judge has looked at its draft once more."""
    reply = step.get("reply")
    if "raw" in step or not reply or "verification" in reply or step.get("unverified"):
        return text_of(step)
    pairs = [{"question": f"Is it {n}?", "answer": f"It is {n}."} for n in range(1, 6)]
    return json.dumps({"verification": pairs, **reply})


class DebateJudges:
    """The program in ``folder``, and the user's settings in ``home`` that name it."""

    def __init__(self, folder: Path, home: Path, **settings: Any) -> None:
        self.folder = folder
        install(folder, home, PROGRAM, _twin, settings)
        self.says({})

    def says(self, plan: dict[str, Any]) -> None:
        """Plan steps (``{"reply": ..., "raw": ..., "exit": ...}``) or replies; forget the calls.

        What steps can hold, too, is told by ``judges.scripted.plan_step``.
        """
        (self.folder / "calls").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "plan", ignore_errors=True)
        (self.folder / "plan").mkdir()
        for name, said in plan.items():
            step = {"reply": said} if "criteria" in said else said
            file = self.folder / "plan" / name.replace("/", "-")
            verified = _verified(step)
            plan_step(file, step, verified if name.endswith("verify") else text_of(step))
            if name.endswith("assess"):
                plan_step(file.with_name(f"{file.name}+"), step, verified)

    @property
    def calls(self) -> list[str]:
        """What was asked, sorted: ``1/assess``."""
        path = self.folder / "calls"
        return sorted(path.read_text().split("\n")[:-1]) if path.exists() else []

    def prompt(self, judge: int, turn: str) -> str:
        """The newest prompt of a judge's turn."""
        name = f"prompt-{judge}-{turn}.txt"
        return (self.folder / name).read_text(encoding="utf-8")
