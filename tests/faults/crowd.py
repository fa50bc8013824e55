"""Many processes on one goal and one run, some of them killed, some stopped for a while (CASES B).

``python -m tests.faults.crowd --long`` starts 16 processes with 50 random operations each. Every call
and every answer is logged with the time; afterwards the log is compared with what is on disk:
what was acknowledged happened once, in an order that fits the times; what was refused did not happen;
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
from typing import TYPE_CHECKING, Any, NamedTuple

from flow.errors import FlowError
from tests.faults.scenes import GOAL, ISSUE, RUN, TEXT, Scene, strays, wait
from tests.faults.view import disagreements, look

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flow.wiring import Checkout
    from tests.faults.view import View

PROCESSES, OPERATIONS = 16, 50
RACED = 8
"""Evidence ids that everybody wants."""
LIMIT = 300.0
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
OUTSIDE = ("locked", "storage", "outside", "git")
"""Codes of errors after which an operation may have happened or not."""


ELSEWHERE = ("race", "pause", "resume", "verdict")
"""Kinds that need not leave a trace of their own; they are looked at by themselves."""


class Operation(NamedTuple):
    """One call. ``answer`` is None where none came."""

    worker: int
    number: int
    kind: str
    token: str
    given: dict[str, Any]
    called: float
    answered: float | None
    answer: dict[str, Any] | None

    @property
    def done(self) -> bool:
        """Whether it was acknowledged."""
        return self.answer is not None and self.answer["ok"]

    @property
    def refused(self) -> bool:
        """Whether it was told that nothing happened."""
        return (
            self.answer is not None and not self.done and self.answer.get("code") not in OUTSIDE
        )

    def __str__(self) -> str:
        return f"{self.token} {self.kind} {self.given} -> {self.answer}"


class Found(NamedTuple):
    """What a crowd came to."""

    operations: tuple[Operation, ...]
    killed: int
    stopped: int
    problems: tuple[str, ...]


# --- the operations -----------------------------------------------------------------------------


def _evidence(checkout: Checkout, token: str, given: dict[str, Any]) -> None:
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
    checkout.record_evidence(RUN, json.dumps(document).encode(), "evidence", given.get("raw"))


def _lifecycle(checkout: Checkout, token: str, given: dict[str, Any]) -> None:
    block = {
        "status": given["to"],
        "last_evaluation": {"result": "incomplete", "reason": token, "at": "2026-03-01T10:15:00Z"},
    }
    checkout.update_lifecycle(
        GOAL,
        json.dumps(block).encode(),
        "lifecycle",
        from_status=given["from"],
        merge=True,
        increment_turns=True,
    )


def _evaluate(checkout: Checkout, _: str, given: dict[str, Any]) -> dict[str, Any]:
    from flow.app.evaluate import Request

    verdict = checkout.evaluate(Request(GOAL))
    return {"turn": verdict.turns_evaluated, "to": verdict.lifecycle_to}


def _verdict(checkout: Checkout, token: str, _: dict[str, Any]) -> None:
    document = {"verdict": "not_achieved", "confidence": 0.5, "delta": "unchanged", "reason": token}
    checkout.record_verdict(document, RUN, None)


def _approve(checkout: Checkout, token: str, _: dict[str, Any]) -> dict[str, Any]:
    return {"path": checkout.approve(GOAL, "AC2", token, "seen")}


def _journal(checkout: Checkout, token: str, _: dict[str, Any]) -> None:
    checkout.journal_record(ISSUE, "note", {"topic": token})


ACTS: dict[str, Callable[[Checkout, str, dict[str, Any]], dict[str, Any] | None]] = {
    "evidence": lambda c, t, g: _evidence(c, t, g),
    "race": lambda c, t, g: _evidence(c, t, g),
    "pause": lambda c, t, g: None if c.pause(GOAL, t) else None,
    "resume": lambda c, t, g: None if c.resume(GOAL, t) else None,
    "lifecycle": lambda c, t, g: _lifecycle(c, t, g),
    "verdict": lambda c, t, g: _verdict(c, t, g),
    "journal": lambda c, t, g: _journal(c, t, g),
    "evaluate": _evaluate,
    "approve": _approve,
}


def _given(kind: str, checkout: Checkout, scene: Scene, chance: random.Random) -> dict[str, Any]:
    if kind == "race":
        return {"id": f"race-{chance.randrange(RACED)}"}
    if kind == "evidence" and chance.random() < 0.5:
        return {"raw": os.path.join(scene.files, "raw.txt")}
    if kind == "lifecycle":
        to = chance.choice(("active", "blocked", "waiting_for_ci", "waiting_for_user"))
        return {"from": checkout.load(GOAL).goal.status, "to": to}
    return {}


def _work(scene: Scene, worker: int, seed: int, count: int) -> None:
    from flow.wiring import Checkout

    chance = random.Random(f"{seed} {worker}")
    log = os.open(_log(scene, worker), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def tell(**line: Any) -> None:
        os.write(log, json.dumps(line).encode() + b"\n")

    for number in range(count):
        checkout = Checkout(scene.repo, scene.env)
        kind = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        token = f"w{worker}-{number}"
        given = _given(kind, checkout, scene, chance)
        tell(number=number, kind=kind, token=token, given=given, at=time.monotonic())
        answer: dict[str, Any]
        try:
            answer = {"ok": True, **(ACTS[kind](checkout, token, given) or {})}
        except FlowError as error:
            answer = {"ok": False, "code": error.code, "message": str(error)[:300]}
        except Exception as error:
            answer = {"ok": False, "code": "crashed", "message": f"{type(error).__name__}: {error}"}
        tell(number=number, answer=answer, at=time.monotonic())


def _log(scene: Scene, worker: int) -> str:
    return os.path.join(scene.files, f"worker-{worker}.log")


# --- the crowd ----------------------------------------------------------------------------------


def crowd(folder: str, *, seed: int, processes: int = PROCESSES, operations: int = OPERATIONS) -> Found:
    """Run a crowd in a new scene below ``folder`` and look at what it left."""
    scene = Scene(os.path.join(folder, "crowd")).start()
    scene.meet()
    scene.hand("raw.txt", "what it printed\n")
    chance = random.Random(seed)
    running = {_start(scene, n, seed, operations): n for n in range(processes)}
    started, killed, stopped, problems = processes, 0, 0, []
    asleep: dict[int, float] = {}
    deadline = time.monotonic() + LIMIT
    while running:
        time.sleep(0.02)
        for pid in list(running):
            if os.waitpid(pid, os.WNOHANG)[0]:
                del running[pid]
                asleep.pop(pid, None)
        now = time.monotonic()
        for pid, until in list(asleep.items()):
            if now > until:
                os.kill(pid, signal.SIGCONT)
                del asleep[pid]
        if now > deadline:
            problems.append(f"{len(running)} processes hung")
            for pid in running:
                os.kill(pid, signal.SIGKILL)
            break
        awake = [pid for pid in running if pid not in asleep]
        if awake and chance.random() < 0.1:
            pid = chance.choice(awake)
            os.kill(pid, signal.SIGSTOP)
            asleep[pid] = now + chance.uniform(0.05, 1.0)
            stopped += 1
        if awake and killed < processes and chance.random() < 0.05:
            pid = chance.choice(awake)
            os.kill(pid, signal.SIGKILL)
            worker = running[pid]
            left = operations - len(_calls(scene, worker))
            killed += 1
            if left > 0:  # another one goes on in its place
                running[_start(scene, started, seed, left)] = started
                started += 1
    for pid in running:
        with suppress(ChildProcessError):
            wait(pid, 10)
    problems += _quiet(scene)
    found = [op for worker in range(started) for op in _calls(scene, worker)]
    healed = scene.flow("goal", "evaluate", GOAL, "--json")
    if healed.status not in (0, 4):
        problems.append(f"an evaluation afterwards: {healed}")
    problems += check(found, look(scene))
    return Found(tuple(found), killed, stopped, tuple(problems))


def _start(scene: Scene, worker: int, seed: int, count: int) -> int:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.chdir(scene.repo)
            null = os.open(os.devnull, os.O_RDWR)
            for fd in range(3):
                os.dup2(null, fd)
            _work(scene, worker, seed, count)
            status = 0
        finally:
            os._exit(status)
    return child


def _calls(scene: Scene, worker: int) -> list[Operation]:
    try:
        with open(_log(scene, worker), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
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
    deadline = time.monotonic() + 10
    while found := strays(scene.folder):
        if time.monotonic() > deadline:
            return [f"processes are left: {found}"]
        time.sleep(0.05)
    return []


# --- what must hold -----------------------------------------------------------------------------


def check(operations: Sequence[Operation], view: View) -> list[str]:
    """Compare what was answered with what is on disk."""
    problems = [*view.broken, *disagreements(view)]
    problems += [f"crashed: {op}" for op in operations if (op.answer or {}).get("code") == "crashed"]
    if view.status in ("achieved", "failed", "cancelled"):
        problems.append(f"the goal is {view.status}, and nobody closed it")
    places: dict[str, int] = {}
    for op in operations:
        seqs, times = _traces(op, view)
        if len(set(times)) > 1:
            problems.append(f"happened in some places only ({times}): {op}")
        if max(times) > 1:
            problems.append(f"happened {times} times: {op}")
        if op.refused and max(times):
            problems.append(f"refused, and happened: {op}")
        if op.done and not max(times) and op.kind not in ELSEWHERE:
            problems.append(f"acknowledged, and did not happen: {op}")
        if seqs:
            places[op.token] = seqs[0]
    problems += _races(operations, view)
    problems += _order(operations, places)
    problems += _idle(operations, places, view)
    problems += _turns(operations, view)
    problems += _last_verdict(operations, view)
    return problems


def _traces(op: Operation, view: View) -> tuple[list[int], list[int]]:
    """The ``seq`` of the operation's events, and how often each of its traces is there."""

    def events(**fields: Any) -> list[int]:
        return [e["seq"] for e in view.events if all(e.get(k) == v for k, v in fields.items())]

    def artifacts(**fields: Any) -> int:
        return sum(all(a.get(k) == v for k, v in fields.items()) for a in view.artifacts)

    if op.kind == "evidence":
        seqs = events(type="evidence", evidence_id=op.token)
        captured = artifacts(type="evidence-captured", evidence_id=op.token)
        return seqs, [len(seqs), captured, view.evidence.count(op.token)]
    if op.kind in ("pause", "resume", "lifecycle"):
        seqs = events(type="transition", reason=op.token)
        return seqs, [len(seqs), artifacts(type="goal-evaluation", reason=op.token)]
    if op.kind == "approve":
        seqs = events(type="approved", by=op.token)
        return seqs, [len(seqs), artifacts(type="evidence-captured", approved_by=op.token)]
    if op.kind == "journal":
        return [], [artifacts(type="note", topic=op.token)]
    if op.kind == "evaluate" and op.done and op.answer is not None:
        seqs = events(type="evaluated", turn=op.answer["turn"], to=op.answer["to"])
        return seqs, [len(seqs)]
    return [], [0]


def _races(operations: Sequence[Operation], view: View) -> list[str]:
    """An id that many want goes to one of them."""
    problems = []
    for number in range(RACED):
        name = f"race-{number}"
        wanted = [op for op in operations if op.given.get("id") == name]
        won = [op for op in wanted if op.done]
        there = view.evidence.count(name)
        told = sum(e["type"] == "evidence" and e["evidence_id"] == name for e in view.events)
        if len(won) > 1 or there > 1 or there != told or (won and not there):
            problems.append(f"{name}: {len(won)} were told they won, {there} there, {told} told of")
        if there and not won and not any(op.answered is None for op in wanted):
            problems.append(f"{name} is there, and everybody was refused")
    return problems


def _order(operations: Sequence[Operation], places: dict[str, int]) -> list[str]:
    """What was answered before another was called comes before it."""
    placed = sorted((places[op.token], op) for op in operations if op.token in places)
    problems = []
    latest = float("-inf")
    for _, op in placed:  # in the order of seq: none may have been answered before one ahead was called
        if op.answered is not None and op.answered < latest:
            problems.append(f"stands behind what was called after its answer: {op}")
        latest = max(latest, op.called)
    return problems


def _idle(operations: Sequence[Operation], places: dict[str, int], view: View) -> list[str]:
    """A pause of a goal that waits already writes nothing: it must have been waiting at the time."""
    states: dict[int, str] = {}
    status = ""
    for event in view.events:
        status = str(event.get("to") or status)
        states[event["seq"]] = status
    problems = []
    for op in operations:
        if op.kind not in ("pause", "resume") or not op.done or op.token in places:
            continue
        wanted = "waiting_for_user" if op.kind == "pause" else "active"
        assert op.answered is not None
        first = max(
            (
                places[other.token]
                for other in operations
                if other.token in places
                and other.answered is not None
                and other.answered < op.called
            ),
            default=1,
        )
        after = [
            places[other.token]
            for other in operations
            if other.token in places and other.called > op.answered
        ]
        last = min(after, default=len(states) + 1)
        if wanted not in {states[seq] for seq in range(first, last) if seq in states}:
            problems.append(f"said it was {wanted}, which it was not: {op}")
    return problems


def _turns(operations: Sequence[Operation], view: View) -> list[str]:
    problems = []
    turns = 0
    ours = {op.token for op in operations if op.kind == "lifecycle"}
    for event in view.events:
        if event["type"] == "evaluated":
            if event["turn"] != turns + 1:
                problems.append(f"turn {event['turn']} follows {turns}")
            turns = event["turn"]
        elif event["type"] == "transition" and event.get("reason") in ours:
            turns += 1
    if turns != view.turns:
        problems.append(f"the events count {turns} turns, the goal {view.turns}")
    found = sum(event["type"] == "evaluated" for event in view.events) - 1  # ours, afterwards
    asked = [op for op in operations if op.kind == "evaluate"]
    sure = sum(op.done for op in asked)
    unsure = sum(not op.done and not op.refused for op in asked)
    if not sure <= found <= sure + unsure:
        problems.append(f"{found} evaluations, {sure} acknowledged and {unsure} unanswered")
    return problems


def _last_verdict(operations: Sequence[Operation], view: View) -> list[str]:
    """The verdict on disk is one that nobody replaced afterwards."""
    wrote = {op.token: op for op in operations if op.kind == "verdict"}
    there = wrote.get(str((view.verdict or {}).get("reason")))
    if there is None:  # our evaluation afterwards has recorded its own
        return [] if view.verdict is not None and "goal_id" in view.verdict else ["no verdict"]
    ended = there.answered if there.answered is not None else float("inf")
    return [
        f"the verdict of {there.token} is older than {op.token}"
        for op in wrote.values()
        if op.done and op.called > ended
    ]


# --- two evaluations, and an editor -------------------------------------------------------------

SLOW = TEXT.replace(
    '"grep -q please src/greet.txt"',
    '"date +%s.%N >> ../files/times; sleep 0.3; date +%s.%N >> ../files/times; '
    'grep -q please src/greet.txt"',
)


def two_at_once(folder: str) -> list[str]:
    """Two evaluations of one goal: one waits for the other; both count, in turn."""
    scene = Scene(os.path.join(folder, "two")).start(goal=SLOW)
    scene.meet()
    children = []
    for number in range(2):
        child = os.fork()
        if child == 0:
            ran = scene.flow("goal", "evaluate", GOAL, "--json")
            with open(os.path.join(scene.files, f"said-{number}"), "w", encoding="utf-8") as file:
                json.dump(ran, file)
            os._exit(0)
        children.append(child)
    for child in children:
        wait(child, LIMIT)
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
    with open(os.path.join(scene.files, "times"), encoding="utf-8") as file:
        times = [float(line) for line in file]
    if times != sorted(times) or len(times) != 4:
        problems.append(f"their commands ran at the same time: {times}")
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
        scene.restore(template)
        delay = chance.uniform(0, 0.5)
        child = os.fork()
        if child == 0:
            os._exit(scene.flow("goal", "evaluate", GOAL, "--json").status % 256)
        time.sleep(delay)
        mark, contract = f"edit {number}", chance.random() < 0.5
        edit(scene, mark, contract=contract, renamed=chance.random() < 0.5)
        status = wait(child, LIMIT)
        what = f"edit of the {'contract' if contract else 'comments'} after {delay:.3f} s: "
        text = scene.read(f".flow/goals/{GOAL}.goal.yaml")
        if mark not in text:
            problems.append(f"{what}it was lost")
        if status not in (0, 1, 2, 4):  # 1: whatever changes the goal while a command runs is its failure
            problems.append(f"{what}the evaluation ended with {status}")
        again = scene.flow("goal", "evaluate", GOAL, "--json")
        if again.status != (4 if contract else 0):
            problems.append(f"{what}the next evaluation: {again}")
        view = look(scene)
        problems += [f"{what}{fault}" for fault in view.broken]
        if view.pending:
            problems.append(f"{what}a write is pending")
        if mark not in scene.read(f".flow/goals/{GOAL}.goal.yaml"):
            problems.append(f"{what}it was lost afterwards")
    return problems


def edit(scene: Scene, mark: str, *, contract: bool, renamed: bool) -> None:
    """Change the goal as a person's editor does."""
    path = f".flow/goals/{GOAL}.goal.yaml"
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
        print(f"two evaluations at once: {len(both)} failures; {rounds} edits: {len(lost)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
