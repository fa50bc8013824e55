"""Two evaluations of one goal at once, and a person who edits it meanwhile."""

from __future__ import annotations

import json
import os
import random
import time

from tests.faults.scenes import CALL_TIMEOUT, GOAL, GOAL_FILE, TEXT, Scene, wait
from tests.faults.view import disagreements, look

LOST = "it was lost"
TRIES = 3
"""An edit within the microseconds between Flow's last look at the goal and its rename can be lost
(docs/maintainers/guarantees-faults.md, "Not promised"). That moment is not met three times in a
row."""
SLOW = TEXT.replace(
    '"grep -q please src/greet.txt"',
    '"echo begins >> ../files/told; sleep 0.3; echo ends >> ../files/told; '
    'grep -q please src/greet.txt"',
)


def two_at_once(folder: str) -> list[str]:
    """Two evaluations of one goal: one waits for the other; both count, in turn."""
    scene = Scene(os.path.join(folder, "two")).start(goal=SLOW)
    scene.meet()
    children = []
    for number in range(2):
        said = os.path.join(scene.files, f"said-{number}")
        children.append(_child(scene, said))
    for child in children:
        wait(child, CALL_TIMEOUT)
    problems = []
    turns = []
    for number in range(2):
        with open(os.path.join(scene.files, f"said-{number}"), encoding="utf-8") as file:
            status, out, err = json.load(file)
        if status != 0:
            problems.append(f"one ended with {status}: {out or err}")
        else:
            turns.append(json.loads(out)["lifecycle"]["turns_evaluated"])
    if sorted(turns) != [1, 2]:
        problems.append(f"their turns are {turns}")
    with open(os.path.join(scene.files, "told"), encoding="utf-8") as file:
        told = file.read().split()
    if told != ["begins", "ends"] * 2:
        problems.append(f"their commands ran at the same time: {told}")
    view = look(scene)
    return [*problems, *view.broken, *disagreements(view)]


def edited(folder: str, *, seed: int, rounds: int) -> list[str]:
    """Edit the goal at a random moment of an evaluation, in place or by renaming: it must stay."""
    chance = random.Random(seed)
    problems = []
    template = os.path.join(folder, "edited-template")
    scene = Scene(os.path.join(folder, "edited"))
    scene.start(goal=SLOW.replace("sleep 0.3", "sleep 0.1")).meet()
    scene.copy_to(template)
    for number in range(rounds):
        delay, contract = chance.uniform(0, 0.5), chance.random() < 0.5
        renamed = chance.random() < 0.5
        for _ in range(TRIES):
            scene.restore(template)
            found = _round(scene, f"edit {number}", delay, contract=contract, renamed=renamed)
            if not any(LOST in problem for problem in found):
                break
        problems += found
    return problems


def _round(scene: Scene, mark: str, delay: float, *, contract: bool, renamed: bool) -> list[str]:
    """One evaluation with an edit ``delay`` seconds after its start."""
    problems = []
    child = _child(scene)
    time.sleep(delay)
    edit(scene, mark, contract=contract, renamed=renamed)
    status = wait(child, CALL_TIMEOUT)
    what = f"edit of the {'contract' if contract else 'comments'} after {delay:.3f} s: "
    text = scene.read(GOAL_FILE)
    if mark not in text:
        problems.append(f"{what}{LOST}")
    if status not in (0, 1, 2, 4):  # 1: what changes the goal while a command runs fails it
        problems.append(f"{what}the evaluation ended with {status}")
    again = scene.flow("goal", "evaluate", GOAL, "--json")
    if again.status != (4 if contract else 0):
        problems.append(f"{what}the next evaluation: {again}")
    view = look(scene)
    problems += [f"{what}{fault}" for fault in view.broken]
    if view.pending:
        problems.append(f"{what}a write is pending")
    if mark not in scene.read(GOAL_FILE):
        problems.append(f"{what}{LOST} afterwards")
    return problems


def _child(scene: Scene, said: str | None = None) -> int:
    """A process that evaluates, and ends as the evaluation did; it writes to ``said`` what came."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            ran = scene.flow("goal", "evaluate", GOAL, "--json")
            if said is not None:
                with open(said, "w", encoding="utf-8") as file:
                    json.dump(ran, file)
            status = ran.status % 256
        finally:
            os._exit(status)
    return child


def edit(scene: Scene, mark: str, *, contract: bool, renamed: bool) -> None:
    """Change the goal as a person's editor does."""
    path = GOAL_FILE
    text = scene.read(path)
    if contract:
        text = text.replace("outcome: The greeting is polite", f"outcome: The greeting is {mark}")
    else:
        text = text.replace("# the end", f"# the end, {mark}")
    if not renamed:
        scene.write(path, text)
        return
    beside = scene.hand("edited.yaml", text)
    os.replace(beside, scene.path(path))
