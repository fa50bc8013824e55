"""Many processes on one goal and one run, some of them killed, some stopped for a while (HAZARD B).

``python -m tests.faults.crowd --long`` starts 16 processes with 50 random operations each. Every
call and every answer is logged with the time; afterwards the log is compared with what is on disk:
what was acknowledged happened once, in an order that fits the times; what was refused did not;
what was never answered happened once or not at all; statuses and turns add up.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from flow.adapters.journal.journals import record_entry
from flow.adapters.ledger import verdicts
from flow.app.transitions import moves
from flow.app.transitions.persons_word import PersonsWord
from flow.errors import FlowError
from flow.wiring import evaluating, recording
from tests.faults.crash import STRAY_SECONDS
from tests.faults.crowd_check import RACED, Operation, check
from tests.faults.editor import edited, two_at_once
from tests.faults.scenes import GOAL, ISSUE, RUN, Scene, strays
from tests.faults.view import look

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.core.goal.loaded import LoadedGoal
    from flow.wiring.context import Context

PROCESSES, OPERATIONS = 16, 50
LIMIT = 600.0
"""Seconds for a crowd; only ends a hang."""
WEIGHTS = {
    "evidence": 5,
    "race": 3,
    "pause": 3,
    "resume": 4,
    "lifecycle": 5,
    "verdict": 3,
    "journal": 4,
    "evaluate": 1,
    "approve": 2,
}


class Found(NamedTuple):
    """What a crowd came to."""

    operations: tuple[Operation, ...]
    killed: int
    stopped: int
    problems: tuple[str, ...]


def _evidence(context: Context, token: str, given: dict[str, Any]) -> None:
    document = {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowEvidence",
        "metadata": {
            "id": given.get("id", token),
            "goal": GOAL,
            "run_id": RUN,
            "activity_id": token,
            "created_at": "2026-03-01T10:15:00Z",
        },
        "evidence": {
            "type": "review_comment_snapshot",
            "proves": ["AC2"],
            "limitations": ["One of many."],
        },
    }
    data = json.dumps(document).encode()
    context.ledger.record_handed_in(
        RUN, data, given.get("raw"), file="evidence", environ=context.environ
    )


def _lifecycle(context: Context, token: str, given: dict[str, Any]) -> None:
    block = {
        "status": given["to"],
        "last_evaluation": {"result": "incomplete", "reason": token, "at": "2026-03-01T10:15:00Z"},
    }
    recording.update_lifecycle(
        context,
        GOAL,
        json.dumps(block).encode(),
        "lifecycle",
        from_status=given["from"],
        merge=True,
        increment_turns=True,
    )


def _evaluate(context: Context, _: str, given: dict[str, Any]) -> dict[str, Any]:
    from flow.app.evaluation.values import Request

    verdict = evaluating.evaluate(context, Request(GOAL))
    measured = [row.evidence_ref for row in verdict.criterion_results if row.outcome == "passed"]
    return {"turn": verdict.turns_evaluated, "to": verdict.lifecycle_to, "measured": measured}


def _verdict(context: Context, token: str, _: dict[str, Any]) -> None:
    document = {"verdict": "not_achieved", "confidence": 0.5, "delta": "unchanged", "reason": token}
    verdicts.record_verdict(context.run_record, document, RUN, None)


def _approve(context: Context, token: str, _: dict[str, Any]) -> dict[str, Any]:
    word = PersonsWord(token, None, "seen")
    return {"path": moves.approve(context.closing_context(), GOAL, "AC2", word)}


def _status(loaded: LoadedGoal) -> dict[str, Any]:
    return {"status": loaded.goal.status}


def _journal(context: Context, token: str, _: dict[str, Any]) -> None:
    record_entry(context, ISSUE, "note", {"topic": token})


ACTS: dict[str, Callable[[Context, str, dict[str, Any]], dict[str, Any] | None]] = {
    "evidence": _evidence,
    "race": _evidence,
    "pause": lambda context, token, _: _status(
        moves.pause_goal(context.persons_context(), GOAL, token, context.remembered.paused)
    ),
    "resume": lambda context, token, _: _status(
        moves.shift_status(context.closing_context(), GOAL, "active", token)
    ),
    "lifecycle": _lifecycle,
    "verdict": _verdict,
    "journal": _journal,
    "evaluate": _evaluate,
    "approve": _approve,
}


def _given(kind: str, context: Context, scene: Scene, chance: random.Random) -> dict[str, Any]:
    if kind == "race":
        return {"id": f"race-{chance.randrange(RACED)}"}
    if kind == "evidence" and chance.random() < 0.5:
        return {"raw": os.path.join(scene.files, "raw.txt")}
    if kind == "lifecycle":
        to = chance.choice(("active", "blocked", "waiting_for_ci", "waiting_for_user"))
        return {"from": context.load(GOAL).goal.status, "to": to}
    return {}


def _work(scene: Scene, worker: int, seed: int, count: int, begins: Callable[[], object]) -> None:
    from flow.wiring.context import Context

    chance = random.Random(f"{seed} {worker}")
    log = os.open(_log(scene, worker), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def tell(**line: Any) -> None:
        os.write(log, json.dumps(line).encode() + b"\n")

    for number in range(count):
        context = Context(scene.repo, scene.env)
        kind = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        token = f"w{worker}-{number}"
        given = _given(kind, context, scene, chance)
        tell(number=number, kind=kind, token=token, given=given, at=time.monotonic())
        begins()
        answer: dict[str, Any]
        try:
            answer = {"ok": True, **(ACTS[kind](context, token, given) or {})}
        except FlowError as error:
            answer = {"ok": False, "code": error.code, "message": str(error)[:300]}
        except Exception as error:
            answer = {"ok": False, "code": "crashed", "message": f"{type(error).__name__}: {error}"}
        tell(number=number, answer=answer, at=time.monotonic())


def _log(scene: Scene, worker: int) -> str:
    return os.path.join(scene.files, f"worker-{worker}.log")


class Chaos:
    """Ends, stops and continues processes at random; those that are ended get a successor.

    How many are ended follows the operations that have begun, not the time: a fast machine has as
    many as a slow one.
    """

    def __init__(self, scene: Scene, *, seed: int, processes: int, operations: int) -> None:
        self.scene, self.seed, self.operations = scene, seed, operations
        self.chance = random.Random(seed)
        self.started = self.killed = self.stopped = 0
        self.running: dict[int, int] = {}
        self.asleep: dict[int, float] = {}
        self.dying: set[int] = set()
        self.most, self.planned = processes, processes * operations
        self.begun = 0
        self.begins, self._begins_w = os.pipe()
        os.set_blocking(self.begins, False)
        for _ in range(processes):
            self._start(operations)

    def run(self) -> list[str]:
        """Until all have ended; every process that hung."""
        try:
            return self._run(time.monotonic() + LIMIT)
        finally:
            os.close(self.begins)
            os.close(self._begins_w)

    def _run(self, deadline: float) -> list[str]:
        while self.running:
            time.sleep(0.02)
            now = time.monotonic()
            for pid in list(self.running):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    del self.running[pid]
                    self.asleep.pop(pid, None)
                    self.dying.discard(pid)
            for pid in [pid for pid, until in self.asleep.items() if now > until]:
                os.kill(pid, signal.SIGCONT)
                del self.asleep[pid]
            if now > deadline:
                for pid in self.running:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                return [f"{len(self.running)} processes hung"]
            self._disturb(now)
        return []

    def _disturb(self, now: float) -> None:
        awake = [pid for pid in self.running if pid not in self.asleep and pid not in self.dying]
        if awake and self.chance.random() < 0.1:
            pid = self.chance.choice(awake)
            os.kill(pid, signal.SIGSTOP)
            self.asleep[pid] = now + self.chance.uniform(0.05, 1.0)
            self.stopped += 1
        with suppress(BlockingIOError):
            self.begun += len(os.read(self.begins, 1 << 16))
        due = min(self.most, self.most * self.begun // self.planned)
        while awake and self.killed < due:
            pid = awake.pop(self.chance.randrange(len(awake)))
            os.kill(pid, signal.SIGKILL)
            self.dying.add(pid)
            self.killed += 1
            left = self.operations - len(_calls(self.scene, self.running[pid]))
            if left > 0:
                self._start(left)

    def _start(self, count: int) -> None:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.chdir(self.scene.repo)
                null = os.open(os.devnull, os.O_RDWR)
                for fd in range(3):
                    os.dup2(null, fd)
                begins = partial(os.write, self._begins_w, b".")
                _work(self.scene, self.started, self.seed, count, begins)
                status = 0
            finally:
                os._exit(status)
        self.running[child] = self.started
        self.started += 1


def crowd(
    folder: str, *, seed: int, processes: int = PROCESSES, operations: int = OPERATIONS
) -> Found:
    """Run a crowd in a new scene below ``folder`` and look at what it left."""
    scene = Scene(os.path.join(folder, "crowd")).start()
    scene.meet()
    scene.hand("raw.txt", "what it printed\n")
    chaos = Chaos(scene, seed=seed, processes=processes, operations=operations)
    problems = chaos.run() + _quiet(scene)
    found = [op for worker in range(chaos.started) for op in _calls(scene, worker)]
    healed = scene.flow("goal", "evaluate", GOAL, "--json")
    if healed.status not in (0, 4):
        problems.append(f"an evaluation afterwards: {healed}")
    problems += check(found, look(scene)) + _counted(scene, found)
    return Found(tuple(found), chaos.killed, chaos.stopped, tuple(problems))


def _counted(scene: Scene, operations: list[Operation]) -> list[str]:
    """What was acknowledged and does not count: the state folder must vouch for all of it."""
    from flow.wiring.context import Context

    records = Context(scene.repo, scene.env).records
    told = [
        (op, path)
        for op in operations
        if op.answer is not None and op.done
        for path in (op.answer.get("path"), *op.answer.get("measured", ()))
        if path is not None
    ]
    return [f"{op}: {path} does not count" for op, path in told if records.counted(path) is None]


def _calls(scene: Scene, worker: int) -> list[Operation]:
    try:
        with open(_log(scene, worker), encoding="utf-8") as file:
            # A process that is killed may leave half a line.
            lines = [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []
    answers = {line["number"]: line for line in lines if "answer" in line}
    return [
        Operation(
            worker,
            line["number"],
            line["kind"],
            line["token"],
            line["given"],
            line["at"],
            answers[line["number"]]["at"] if line["number"] in answers else None,
            answers[line["number"]]["answer"] if line["number"] in answers else None,
        )
        for line in lines
        if "kind" in line
    ]


def _quiet(scene: Scene) -> list[str]:
    deadline = time.monotonic() + STRAY_SECONDS
    while found := strays(scene.folder):
        if time.monotonic() > deadline:
            return [f"processes are left: {found}"]
        time.sleep(0.05)
    return []


def report(found: Found, *, seed: int, seconds: float) -> int:
    """Print what was found; the number of problems."""
    for problem in found.problems:
        print(f"FAILED {problem}")
    total = len(found.operations)
    done = sum(op.done for op in found.operations)
    silent = sum(op.answered is None for op in found.operations)
    codes: dict[str, int] = {}
    for op in found.operations:
        if op.answer is not None and not op.done:
            code = op.answer["code"]
            codes[code] = codes.get(code, 0) + 1
    refused = ", ".join(f"{code} {number}" for code, number in sorted(codes.items()))
    print(
        f"crowd: {total} operations, {done} acknowledged, {silent} unanswered, refused: "
        f"{refused or 'none'}; {found.killed} processes killed, {found.stopped} stops; "
        f"{len(found.problems)} failures, seed {seed}, {seconds:.0f} s"
    )
    return len(found.problems)


def main() -> int:
    """The long form, or the short one."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.crowd", description=__doc__)
    parser.add_argument("--long", action="store_true", help="16 x 50 operations, 200 edits")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--rounds", type=int, default=1, help="crowds, each with the next seed")
    parser.add_argument("--dir", help="where the scenes are made (default: the temporary folder)")
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="flow-crowd-", dir=args.dir) as made:
        folder = os.path.realpath(made)
        for seed in range(args.seed, args.seed + args.rounds):
            started = time.monotonic()
            count = OPERATIONS if args.long else 12
            found = crowd(folder, seed=seed, operations=count)
            failures += report(found, seed=seed, seconds=time.monotonic() - started)
            shutil.rmtree(os.path.join(folder, "crowd"), ignore_errors=True)
        for problem in (both := two_at_once(folder)):
            print(f"FAILED two evaluations: {problem}")
        rounds = 200 if args.long else 12
        for problem in (lost := edited(folder, seed=args.seed, rounds=rounds)):
            print(f"FAILED {problem}")
        failures += len(both) + len(lost)
        print(f"two evaluations: {len(both)} failures; {rounds} edits: {len(lost)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
