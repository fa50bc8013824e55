"""The processes that watch a command, killed or failed at each of their own calls (HAZARD A, E65).

The crash harness breaks Flow's main process. Those that it forks to run a command and to keep its
output are broken here: from inside, at the first call, the second, and so on until a run has fewer.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from typing import Any

from tests.faults.crash import STRAY_SECONDS, temporary
from tests.faults.scenes import GOAL, RUN_DIR, TEXT, Ran, Scene, entry, forked, preload, strays
from tests.faults.view import disagreements, everything, look

PRINTS = TEXT.replace(
    "grep -q please", "seq 2000; sleep 0.02; echo end >&2; grep -q please"
).replace("must_pass: false", 'verification_command: "cat src/greet.txt"')
"""The second command runs in the supervisor of the first, where that is still there."""
CALLS = (
    *("open", "write", "read", "pread", "fsync", "unlink", "fstat", "lseek", "stat", "lstat"),
    *("mkdir", "listdir", "pipe", "posix_spawn", "fork", "set_blocking", "setsid", "chdir"),
)
FAULTS = ("KILL", "ENOSPC", "EIO", "EMFILE", "EACCES")
MOST = 500
"""More calls than any run has."""


class Bench:
    """A goal whose work is done, put back before every trial."""

    def __init__(self, folder: str) -> None:
        preload()
        self.scene = Scene(f"{folder}/scene").start(goal=PRINTS)
        self.scene.meet()
        self.template = f"{folder}/template"
        self.scene.copy_to(self.template)

    def trial(self, fault: str, at: int) -> tuple[str, list[str]]:
        """An evaluation whose forks each break at their call ``at``: which calls, what is wrong."""
        scene = self.scene
        scene.restore(self.template)
        ran, broke = _broken(scene, fault, at)
        if not broke:
            return "", []
        wrong = [] if _gone(scene) else [f"processes are left: {strays(scene.folder)}"]
        wrong += _answer(scene, ran)
        view = look(scene)
        wrong += [*view.broken, *disagreements(view)]
        if view.status != "active" or view.pending:
            wrong.append(f"it is {view.status}, pending {view.pending}")
        left = temporary(everything(scene.folder))
        if left and fault != "KILL":
            wrong.append(f"left over without a kill: {left}")
        again = scene.flow("goal", "evaluate", GOAL, "--json")
        if again.status != 0 or again.json["verdict"] != "achieved":
            wrong.append(f"the next evaluation: {again}")
        if more := temporary(everything(scene.folder)) - left:
            wrong.append(f"the next evaluation left {more}")
        return broke, [f"{fault} at call {at} ({broke}): {what}" for what in wrong]


def breaker(at: int, fault: str, report: str) -> None:
    """Have each process that this one forks break at its call ``at``, and name it in ``report``."""
    flow_itself, left = os.getpid(), [at]

    def breaks(name: str) -> None:
        real = getattr(os, name)

        def call(*words: Any, **more: Any) -> Any:
            if os.getpid() != flow_itself:
                left[0] -= 1
                if left[0] == 0:
                    file = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                    os.write(file, name.encode())
                    if fault == "KILL":
                        os.kill(os.getpid(), signal.SIGKILL)
                    number = getattr(errno, fault)
                    raise OSError(number, os.strerror(number))
            return real(*words, **more)

        setattr(os, name, call)

    for name in CALLS:
        breaks(name)


def _broken(scene: Scene, fault: str, at: int) -> tuple[Ran, str]:
    def work() -> int:
        breaker(at, fault, report)
        return entry(("flow", "goal", "evaluate", GOAL, "--json"))

    report = os.path.join(scene.files, "broke")
    ran = forked(work, cwd=scene.repo, env=scene.env)
    broke = ""
    if os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            broke = " and ".join(file.read().split())
    return ran, broke


def _gone(scene: Scene) -> bool:
    deadline = time.monotonic() + STRAY_SECONDS
    while strays(scene.folder) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not strays(scene.folder)


def _answer(scene: Scene, ran: Ran) -> list[str]:
    said = ran.stdout + ran.stderr
    if ran.status not in (0, 1, 5) or "Traceback" in said or "internal error" in said:
        return [f"its answer is {ran}"]
    if ran.status == 5:
        return []
    verdict = ran.json
    if ran.status == 0:  # it broke when all was kept already, or where that does not matter
        output = scene.read(f"{RUN_DIR}/evidence/evidence-ac1-eval-1.txt").split()
        whole = output == [*map(str, range(1, 2001)), "end"]
        return [] if whole else [f"it passed, and its output is {output}"]
    lowered = verdict["verdict"] == "not_achieved" and verdict["proposed_transition"] is None
    return [] if lowered else [f"its verdict is {verdict}"]
