"""What is measured: each scene yields its figures as they are ready."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import growth
import place
import texts
import timing
from place import PYTHON, program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from place import Place

    from flow.core.chain.entries import LedgerEntry
    from flow.core.secrets.anchors import MakeFinder

UNSETTLED = 2.1
"""Seconds in which the stamps of a file are not believed yet, and it is read again each time."""


class Figure(NamedTuple):
    """One line of the table. ``value`` is compared with ``limit``; None: nothing is aimed at."""

    scene: str
    name: str
    measured: str
    base: str
    value: float
    shown: str
    spread: str = ""
    aim: str = ""
    limit: float | None = None

    @property
    def met(self) -> str:
        """Whether the aim is met."""
        if self.limit is None:
            return ""
        return "yes" if self.value <= self.limit else "NO"


class Scale(NamedTuple):
    """How much is measured."""

    rounds: int
    sidecars: tuple[int, ...]
    files: int
    changed: int
    outputs_mb: tuple[int, ...]
    goals: int
    redacted_mb: int
    series: int


FULL = Scale(21, (10, 1_000, 100_000), 50_000, 500, (1, 100, 300), 1_000, 8, 5)
QUICK = Scale(5, (10, 1_000, 5_000), 2_000, 20, (1, 30), 100, 1, 1)


def ms(seconds: float) -> str:
    """Milliseconds for people."""
    return f"{seconds * 1000:.1f} ms"


def starts(here: Place, scale: Scale) -> Iterator[Figure]:
    """A cold start of each command, against the bare interpreter."""
    repository = here.repository("starts", ["true", "false"])
    here.flow(repository, "goal", "evaluate", "bench", expected=1)
    os.chdir(repository)
    one = here.repository("one", ["true"])
    proposed = here.repository("proposed", ["true"])
    here.flow(proposed, "goal", "evaluate", "bench")
    elsewhere = {_PROPOSED: proposed, _EVALUATE: one}
    files = _inputs(here, repository)
    helper = {name: program(f"{name}.sh") for name in HELPERS}
    commands: dict[str, tuple[list[str], float | None]] = {
        "flow goal status": ([program("flow"), "goal", "status"], 5),
        "flow statusline": ([program("flow"), "statusline"], 4.5),
        _PROPOSED: ([program("flow"), "goal", "status"], None),
        "flow-record-verdict.sh": (
            [
                helper["flow-record-verdict"],
                "--run-id",
                "bench-run",
                "--verdict-file",
                files["verdict"],
            ],
            3.6,
        ),
        "flow-active-goal.sh": ([helper["flow-active-goal"]], 3.2),
        "flow-record-evidence.sh": (
            [
                helper["flow-record-evidence"],
                "--run-id",
                "bench-run",
                "--evidence-file",
                files["evidence"],
            ],
            9,
        ),
        "flow-goal-record.sh --update-lifecycle": (
            [
                helper["flow-goal-record"],
                *(
                    "--update-lifecycle",
                    "--goal-id",
                    "bench",
                    "--lifecycle-file",
                    files["lifecycle"],
                ),
                "--merge",
            ],
            12,
        ),
        "journal-record.sh": (
            [
                helper["journal-record"],
                "--issue",
                "7",
                "--type",
                "note",
                "--metadata",
                "text=measured",
            ],
            None,
        ),
        "flow-goal-trust.sh check": (
            [
                *(helper["flow-goal-trust"], "check"),
                *("--goal-file", ".flow/goals/bench.goal.yaml"),
            ],
            None,
        ),
        _EVALUATE: (
            [program("flow"), "goal", "evaluate", "bench", "--no-input"],
            10,
        ),
    }

    def start(name: str, argv: list[str]) -> float:
        if name == "flow-record-evidence.sh":
            _next_evidence(files["evidence"])
        os.chdir(elsewhere.get(name, repository))
        try:
            return timing.spawn(argv, here.env)
        finally:
            os.chdir(repository)

    bare = [PYTHON, "-I", "-S", "-c", "pass"]
    contestants: dict[str, Callable[[], float]] = {"bare": lambda: timing.spawn(bare, here.env)}
    for name, (argv, _) in commands.items():
        contestants[name] = lambda name=name, argv=argv: start(name, argv)  # type: ignore[misc]
    times = timing.in_turns(contestants, scale.rounds)
    for name, (_, aim) in commands.items():
        yield _ratio("cold start", name, times[name], times["bare"], "python3 -I -S -c pass", aim)


_EVALUATE = "flow goal evaluate, one criterion `true`"
_PROPOSED = "flow goal status, with a live proposal to check against the files"
HELPERS = (
    "flow-record-verdict",
    "flow-active-goal",
    "flow-record-evidence",
    "flow-goal-record",
    "journal-record",
    "flow-goal-trust",
)


def hook(here: Place, scale: Scale) -> Iterator[Figure]:
    """The Stop hook, as a host starts it after every turn of an agent."""
    script = os.path.join(place.ROOT, "hooks", "scripts", "flow-goal-evaluator.sh")
    goal = here.repository("stop", ["true"] * 3)
    nothing = here.repository("no-goals")
    events = {}
    for name in (goal, nothing):
        events[name] = f"{name}.json"
        with open(events[name], "w", encoding="utf-8") as file:
            json.dump(
                {
                    "session_id": "bench",
                    "transcript_path": os.path.join(here.folder, "transcript.jsonl"),
                    "cwd": name,
                    "prompt_id": "bench",
                    "permission_mode": "default",
                    "hook_event_name": "Stop",
                    "stop_hook_active": False,
                    "last_assistant_message": "It is done. " * 40,
                    "background_tasks": [],
                },
                file,
            )
    asks = os.path.join(place.ROOT, "hooks", "scripts", "flow-ask-person.sh")
    call = f"{goal}.call.json"
    with open(call, "w", encoding="utf-8") as file:
        tool = {"tool_name": "Bash", "tool_input": {"command": "ls -l src"}}
        json.dump({"session_id": "bench", "cwd": here.folder, **tool}, file)
    rounds = iter(range(1_000_000))

    def work() -> float:
        with open(os.path.join(goal, "work.txt"), "w", encoding="ascii") as file:
            file.write(f"{next(rounds)}")
        return stop(goal)

    def stop(where: str) -> float:
        return timing.spawn([script], here.env, stdin=events[where])

    os.chdir(here.folder)
    time.sleep(UNSETTLED)  # of a repository that was just made no stamp is believed yet
    once = "bash --noprofile --norc -o pipefail -c true </dev/null >/dev/null 2>&1"
    loop = ["/bin/bash", "--noprofile", "--norc", "-c", f"for i in 1 2 3; do {once}; done"]
    times = timing.in_turns(
        {
            "bare": lambda: timing.spawn([PYTHON, "-I", "-S", "-c", "pass"], here.env),
            "nothing": lambda: stop(nothing),
            "work": work,
            "same": lambda: stop(goal),
            "call": lambda: timing.spawn([asks], here.env, stdin=call),
            "commands": lambda: timing.spawn(loop, here.env),
        },
        scale.rounds,
        warm=2,
    )
    bare, what = times["bare"], "python3 -I -S -c pass"
    commands = timing.median(times["commands"])
    beyond = [max(seconds - commands, 0.0) for seconds in times["work"]]
    yield _ratio("stop hook", "no goals there", times["nothing"], bare, what, 0.3)
    yield _ratio("tool call hook", "nothing to say", times["call"], bare, what, 0.3)
    yield _ratio(
        "stop hook",
        f"three commands `true` that had to be run, besides the commands ({ms(commands)})",
        beyond,
        bare,
        what,
        8,
    )
    yield _ratio("stop hook", "the same, with unchanged files", times["same"], bare, what, 4.5)


def goals(here: Place, scale: Scale) -> Iterator[Figure]:
    """What looks for the branch's goal, among a thousand of other branches."""
    repository = growth.goals(here, scale.goals)
    time.sleep(UNSETTLED)
    os.chdir(repository)
    event = growth.event(repository)
    script = os.path.join(place.ROOT, "hooks", "scripts", "flow-goal-evaluator.sh")
    commands: dict[str, tuple[list[str], str, float]] = {
        "flow-active-goal.sh": ([program("flow-active-goal.sh")], os.devnull, 8),
        "flow goal status": ([program("flow"), "goal", "status"], os.devnull, 8),
        "stop hook, unchanged": ([script], event, 8),
        "flow goal list": ([program("flow"), "goal", "list"], os.devnull, 25),
    }
    bare = [PYTHON, "-I", "-S", "-c", "pass"]
    contestants: dict[str, Callable[[], float]] = {"bare": lambda: timing.spawn(bare, here.env)}
    for name, (argv, stdin, _) in commands.items():
        contestants[name] = lambda argv=argv, stdin=stdin: timing.spawn(  # type: ignore[misc]
            argv, here.env, stdin=stdin
        )
    times = timing.in_turns(contestants, scale.rounds, warm=2)
    for name, (_, _, aim) in commands.items():
        what = f"{name}, {scale.goals:,} goals"
        yield _ratio("goals", what, times[name], times["bare"], "python3 -I -S -c pass", aim)


def criteria(here: Place, scale: Scale) -> Iterator[Figure]:
    """Evaluating 1, 10 and 100 criteria of ``true``, against a bare shell loop of the same.

    Everything is measured in turns. An evaluation takes longer the more were recorded before it, so
    each series begins with new goals, and the second to the sixth evaluation of each are measured.
    """
    spent: dict[str, list[timing.Spent]] = {}
    syncs = _Syncs(here)
    for series in range(scale.series):
        contestants = _criteria(here, series)
        for name, times in timing.in_turns({**contestants, "sync": syncs.one}, 5).items():
            spent.setdefault(name, []).extend(times)
    for count in COUNTS:
        name = f"evaluate {count} criteria of `true`"
        flow, loop = ([one.wall for one in spent[f"{what} {count}"]] for what in ("flow", "loop"))
        yield _ratio("criteria", name, flow, loop, "the same in a shell loop", None)
    creating = f"{timing.creating(here.folder) * 1e6:.0f} µs"  # no sync: it is Flow's
    yield _overhead(spent, "wall", f", where creating a file takes {creating}", 2)
    yield _overhead(spent, "processor", ", in time of the processor", None)


COUNTS = (1, 10, 100)
"""Criteria of a goal."""


def _criteria(here: Place, series: int) -> dict[str, Callable[[], timing.Spent]]:
    """New goals, each with the loop of the same commands."""
    once = "bash --noprofile --norc -o pipefail -c true </dev/null >/dev/null 2>&1"
    contestants: dict[str, Callable[[], timing.Spent]] = {}
    for count in COUNTS:
        repository = here.repository(f"criteria-{count}-{series}", ["true"] * count)
        loop = f"for ((i = 0; i < {count}; i++)); do {once}; done"
        shell = ["/bin/bash", "--noprofile", "--norc", "-c", loop]
        contestants[f"flow {count}"] = partial(_evaluated, here, repository)
        contestants[f"loop {count}"] = partial(timing.spent, shell, here.env)
    return contestants


def _evaluated(here: Place, repository: str) -> timing.Spent:
    os.chdir(repository)
    return timing.spent([program("flow"), "goal", "evaluate", "bench", "--no-input"], here.env)


def _overhead(
    spent: dict[str, list[timing.Spent]], unit: str, name: str, aim: float | None
) -> Figure:
    """What one criterion more takes, beside a shell and the syncs of the same round."""

    def more(what: str) -> list[float]:
        both = zip(spent[f"{what} 100"], spent[f"{what} 1"], strict=True)
        return [(getattr(many, unit) - getattr(one, unit)) / 99 for many, one in both]

    flow, shell, sync = more("flow"), more("loop"), [getattr(one, unit) for one in spent["sync"]]
    own = [each - (bare + disk) for each, bare, disk in zip(flow, shell, sync, strict=True)]
    value = timing.median(own)
    return Figure(
        "criteria",
        f"overhead of one criterion beside shell and syncs{name}",
        ms(timing.median(flow)),
        f"shell {ms(timing.median(shell))} + three syncs {ms(timing.median(sync))}",
        value * 1000,
        ms(value),
        f"{timing.middle_half([seconds * 1000 for seconds in own])} ms",
        f"under {aim:g} ms" if aim is not None else "",
        aim,
    )


def jobs(here: Place, scale: Scale) -> Iterator[Figure]:
    """100 criteria of ``sleep 0.05`` with ``--jobs 8``, against the ideal and against xargs."""
    repository = here.repository("jobs", ["sleep 0.05"] * 100)
    os.chdir(repository)
    ideal = math.ceil(100 / 8) * 0.05
    each = "bash --noprofile --norc -o pipefail -c 'sleep 0.05'"
    xargs = f"seq 100 | xargs -P 8 -I_ {each}"
    times = timing.in_turns(
        {
            "flow": lambda: timing.spawn(
                [program("flow"), "goal", "evaluate", "bench", "--no-input", "--jobs", "8"],
                here.env,
            ),
            "xargs": lambda: timing.spawn(["/bin/bash", "-c", xargs], here.env),
        },
        max(scale.rounds // 3, 3),
    )
    name = "100 criteria of `sleep 0.05`, --jobs 8"
    flat = [ideal] * len(times["flow"])
    yield _ratio("jobs", name, times["flow"], flat, "the ideal, 13 x 0.05 s", None)
    yield _ratio("jobs", name, times["flow"], times["xargs"], "xargs -P 8", 1.4)


def evidence(here: Place, scale: Scale) -> Iterator[Figure]:
    """Recording evidence with its output, against plain write and fsync of the same bytes."""
    contestants = {str(count): _recorder(here, count) for count in scale.sidecars}
    contestants["plain"] = _plain(here)
    os.sync()  # so that no sync that is timed has to write what was put there before
    times = timing.in_turns(contestants, max(scale.rounds, 5), warm=2)
    for count in scale.sidecars:
        one = times[str(count)]
        name = f"one record beside {count:,} sidecars ({1 / timing.median(one):,.0f} a second)"
        what = "plain write+fsync of both files"
        yield _ratio("evidence", name, one, times["plain"], what, None)
    least, most = min(scale.sidecars), max(scale.sidecars)
    low, high = times[str(least)], times[str(most)]
    growth = timing.ratio(high, low)
    yield Figure(
        "evidence",
        f"one record beside {most:,} sidecars, against {least:,}",
        ms(timing.median(high)),
        ms(timing.median(low)),
        growth,
        f"{growth:.2f}x",
        timing.spread(high, low),
        aim="does not grow (1.5x at most)",
        limit=1.5,
    )


def chain(here: Place, scale: Scale) -> Iterator[Figure]:
    """Checking a run's hash chain with every file, and appending to a long one."""
    least, most = min(scale.sidecars), max(scale.sidecars)
    short, long = _chained(here, least), _chained(here, most)
    rounds = min(scale.rounds, 3)
    times = timing.in_turns({"check": long.check, "plain": long.plain}, rounds, warm=0)
    name = f"verify {most:,} entries with their sidecars and outputs"
    yield _ratio("chain", name, times["check"], times["plain"], "reading and hashing them", None)
    both = timing.in_turns(
        {"short": short.append, "long": long.append}, max(scale.rounds, 5), warm=2
    )
    growth = timing.ratio(both["long"], both["short"])
    yield Figure(
        "chain",
        f"one append to {most:,} entries, against {least:,}",
        ms(timing.median(both["long"])),
        ms(timing.median(both["short"])),
        growth,
        f"{growth:.2f}x",
        timing.spread(both["long"], both["short"]),
        aim="does not grow (1.5x at most)",
        limit=1.5,
    )


class _Chained(NamedTuple):
    """What is timed of one run; each returns seconds."""

    check: Callable[[], float]
    plain: Callable[[], float]
    append: Callable[[], float]


def _chained(here: Place, count: int) -> _Chained:
    """A run with ``count`` entries, each with a sidecar and an output."""
    from flow.adapters.chain import check as chain_check
    from flow.adapters.chain import ledger_file as chain
    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.ledger import evidence_store
    from flow.core import layout
    from flow.core.chain.entries import following

    repository = here.repository(f"chain-{count}", ["true"])
    run_id = "bench-run"
    folder = os.path.join(repository, layout.evidence_dir(run_id))
    os.makedirs(folder, exist_ok=True)
    fields = {
        "at": "2026-01-05T09:00:00Z",
        "kind": "evidence",
        "goal_id": "bench",
        "by": "evaluator",
        "output_sha256": _sha256(_OUTPUT),
    }
    entries: list[LedgerEntry] = []
    for number in range(count):
        text = json.dumps(_record(f"evidence-{number}", created_by="flow-evaluator")).encode()
        for name, data in (
            (f"evidence-{number}.evidence.yaml", text),
            (f"evidence-{number}.txt", _OUTPUT),
        ):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        own = {**fields, "evidence_id": f"evidence-{number}", "sidecar_sha256": _sha256(text)}
        entries.append(following(entries[-1].head if entries else None, run_id, own))
    chain.append(RunRecord(repository).run(run_id), *entries)

    def check() -> float:
        start = time.perf_counter()
        found = chain_check.check(repository, run_id, None)
        if found.entries < count or found.findings:
            raise AssertionError(found)
        return time.perf_counter() - start

    def plain() -> float:
        start = time.perf_counter()
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                _sha256(file.read())
        return time.perf_counter() - start

    numbers = iter(range(10**9))

    def append() -> float:
        one = _record(f"evidence-new-{next(numbers)}", created_by="flow-evaluator")
        session = RunRecord(repository)  # as of a process that has just started
        start = time.perf_counter()
        evidence_store.record(session, one, None, suffix=False, now=fields["at"])
        return time.perf_counter() - start

    return _Chained(check, plain, append)


_BLOCK = 20
"""Records that are timed as one."""
_OUTPUT = b"all 12 tests passed\n" * 20


def _recorder(here: Place, count: int) -> Callable[[], float]:
    """Seconds for one record of Flow's, in a run that has ``count`` sidecars already."""
    from flow.adapters.chain.run_record import RunRecord
    from flow.adapters.ledger.settings import LedgerSettings
    from flow.adapters.ledger.writer import FileLedger
    from flow.app.checks import RawOutput
    from flow.core import layout

    repository = here.repository(f"evidence-{count}", ["true"])
    ledger = FileLedger(RunRecord(repository), LedgerSettings(lambda: "2026-01-05T09:00:00Z"))
    folder = os.path.join(repository, layout.evidence_dir("bench-run"))
    digest = _sha256(_OUTPUT)
    _fill(folder, count, _record(created_by="flow-evaluator"))
    numbers = iter(range(10**9))

    def recorded() -> float:
        spent = 0.0
        for _ in range(_BLOCK):
            number = next(numbers)
            one = _record(f"evidence-new-{number}", created_by="flow-evaluator")
            source = os.path.join(folder, f".flow-tmp-bench-{number}")
            start = time.perf_counter()
            _write_synced(source, _OUTPUT)  # as the runner leaves it: on disk already
            ledger.record_evidence(one, RawOutput(source, digest, len(_OUTPUT)))
            spent += time.perf_counter() - start
        return spent / _BLOCK

    return recorded


def _plain(here: Place) -> Callable[[], float]:
    """Seconds for writing and syncing one record's two files, and nothing else."""
    text = json.dumps(_record(created_by="flow-evaluator"), indent=1).encode()
    folder = os.path.join(here.folder, "plain")
    os.mkdir(folder)
    numbers = iter(range(10**9))

    def written() -> float:
        start = time.perf_counter()
        for _ in range(_BLOCK):
            number = next(numbers)
            _write_synced(os.path.join(folder, f"{number}.txt"), _OUTPUT)
            _write_synced(os.path.join(folder, f"{number}.yaml"), text)
        return (time.perf_counter() - start) / _BLOCK

    return written


def _write_synced(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def boundary(here: Place, scale: Scale) -> Iterator[Figure]:
    """The path boundary on a large repository, against ``git status``."""
    from flow.wiring.context import Context

    repository = here.repository("boundary")
    _grow(here, repository, scale)
    here.goal(repository, ["true"])
    _touch(repository, scale)
    context = Context(repository, here.env)
    tree, goal = context.tree, context.load("bench")
    baseline = context.records.baseline("bench-run")
    if baseline is None:
        raise SystemExit("the goal has no baseline")
    os.chdir(repository)
    status = ["/usr/bin/env", "git", "status", "--porcelain"]

    def look() -> float:
        start = time.perf_counter()
        found = tree.snapshot(baseline, tree.denied(goal.goal), None)
        seconds = time.perf_counter() - start
        if found.problems or len(found.changes) < scale.changed:
            raise SystemExit(f"the boundary saw {len(found.changes)} changes, {found.problems}")
        return seconds

    first = look()
    here.flow(repository, "goal", "evaluate", "bench", "--no-input")

    def stamp() -> float:
        from flow.app.evaluation.current_files import CurrentFiles

        start = time.perf_counter()
        found = CurrentFiles(context.closing_context(), goal).subject
        seconds = time.perf_counter() - start
        if found.tree is None:
            raise SystemExit("there is no stamp")
        return seconds

    times = timing.in_turns(
        {
            "flow": look,
            "stamp": stamp,
            "status": lambda: timing.spawn([program("flow"), "goal", "status", "bench"], here.env),
            "git": lambda: timing.spawn(status, here.env),
            "dry": lambda: timing.spawn(
                [program("flow"), "goal", "evaluate", "bench", "--dry-run", "--no-input"],
                here.env,
                expected=1,
            ),
        },
        max(scale.rounds // 3, 3),
        warm=2,
    )
    what = f"{scale.files:,} files, {scale.changed} changed"
    yield _ratio(
        "boundary", f"{what}: change set, warm", times["flow"], times["git"], "git status", 1.5
    )
    yield _ratio(
        "boundary", f"{what}: stamp of the evidence", times["stamp"], times["git"], "git status", 3
    )
    yield _ratio(
        "boundary",
        f"{what}: flow goal status with evidence, whole",
        times["status"],
        times["git"],
        "git status",
        None,
    )
    yield _ratio(
        "boundary",
        f"{what}: evaluate --dry-run, whole",
        times["dry"],
        times["git"],
        "git status",
        None,
    )
    yield _ratio(
        "boundary",
        f"{what}: change set, the first time",
        [first],
        times["git"][:1],
        "git status",
        None,
    )
    here.remove(repository)


def memory(here: Place, scale: Scale) -> Iterator[Figure]:
    """Peak memory of an evaluation whose command prints much."""
    peaks: dict[int, float] = {}
    for size in scale.outputs_mb:
        command = f"head -c {size}000000 /dev/zero | tr '\\0' x"
        repository = here.repository(f"memory-{size}", [command])
        os.chdir(repository)
        argv = [program("flow"), "goal", "evaluate", "bench", "--no-input"]
        peaks[size] = min(timing.peak(argv, here.env) for _ in range(3))
        least = peaks[scale.outputs_mb[0]]
        yield Figure(
            "memory",
            f"peak memory, a command that prints {size} MB",
            f"{peaks[size]:.1f} MiB",
            f"{scale.outputs_mb[0]} MB of output: {least:.1f} MiB",
            peaks[size] / least,
            f"{peaks[size] / least:.2f}x",
            aim="flat (1.10x at most)",
            limit=1.10,
        )


def output(here: Place, scale: Scale) -> Iterator[Figure]:
    """Looking through output for secrets, and hashing it, in time of the processor."""
    from flow.adapters.process.many_strings import make_finder

    ways = {"plain": (None, 25.0), "with the extra fast": (make_finder, 12.0)}
    size = scale.redacted_mb << 20
    for kind in texts.KINDS:
        data = texts.text(kind, size)
        base = _processor_time(partial(_sha256, data)) / scale.redacted_mb
        for way, (finder, aim) in ways.items():
            if finder is not None and finder([b"any"]) is None:
                continue  # the library is not installed
            seconds = _processor_time(partial(_redact, data, finder))
            value = seconds / scale.redacted_mb * 1000
            name = f"{kind}, {way}"
            limit = None if kind == "base64" and finder is None else aim
            what = f"hashing it: {ms(base)}/MiB"
            aimed = f"at most {aim:g} ms/MiB" if limit else ""
            yield Figure(
                "output",
                name,
                f"{value:.1f} ms/MiB",
                what,
                value,
                f"{value / base / 1000:.0f}x",
                "",
                aimed,
                limit,
            )
    yield from _left_out(here, scale)


def _left_out(here: Place, scale: Scale) -> Iterator[Figure]:
    """What a MiB costs that is left out of a long output, in time of the processor."""
    from flow.adapters.process.output import OutputFile
    from flow.core.secrets.redact import Redactor

    data = texts.text("a log", 4 << 20)
    short, long = 2, 2 + 2 * scale.redacted_mb

    def store(times: int) -> None:
        output = OutputFile(here.folder, "output", 1 << 20, lambda: Redactor(()))
        for _ in range(times):
            for at in range(0, len(data), 1 << 16):
                output.write(data[at : at + (1 << 16)])
        output.finish()
        output.close()
        os.unlink(os.path.join(here.folder, "output"))

    base = _processor_time(lambda: _sha256(data)) / 4 * 1000
    more = _processor_time(lambda: store(long)) - _processor_time(lambda: store(short))
    value = max(more, 0) / (long - short) / 4 * 1000
    yield Figure(
        "output",
        "what is left out, plain",
        f"{value:.1f} ms/MiB",
        f"hashing it: {base:.1f} ms/MiB",
        value,
        f"{value / base:.1f}x",
        "",
        "at most 3 ms/MiB",
        3.0,
    )


def _redact(data: bytes, finder: MakeFinder | None) -> None:
    from flow.core.secrets.redact import Redactor

    redactor = Redactor((), finder)
    for at in range(0, len(data), 1 << 16):
        redactor.feed(data[at : at + (1 << 16)])
    redactor.finish()


def _processor_time(act: Callable[[], object]) -> float:
    best = math.inf
    for _ in range(3):
        began = time.process_time()
        act()
        best = min(best, time.process_time() - began)
    return best


SCENES = {
    "starts": starts,
    "hook": hook,
    "goals": goals,
    "criteria": criteria,
    "jobs": jobs,
    "evidence": evidence,
    "chain": chain,
    "boundary": boundary,
    "memory": memory,
    "output": output,
}


def _ratio(
    scene: str, name: str, times: list[float], base: list[float], what: str, aim: float | None
) -> Figure:
    value = timing.ratio(times, base)
    return Figure(
        scene,
        name,
        ms(timing.median(times)),
        f"{what}: {ms(timing.median(base))}",
        value,
        f"{value:.2f}x",
        timing.spread(times, base) if len(times) > 1 else "",
        f"under {aim:g}x" if aim is not None else "",
        aim,
    )


def _inputs(here: Place, repository: str) -> dict[str, str]:
    """The files that the helpers are given."""
    with open(os.path.join(repository, ".flow/runs/bench-run/last-verdict.json"), "rb") as file:
        verdict = json.load(file)
    lifecycle = {"status": "active", "current_phase": "measuring"}
    files = {}
    for name, document in (("verdict", verdict), ("lifecycle", lifecycle), ("evidence", _record())):
        files[name] = os.path.join(here.folder, f"input-{name}.json")
        with open(files[name], "w", encoding="utf-8") as file:
            json.dump(document, file)
    return files


def _next_evidence(path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(_record(f"evidence-helper-{time.monotonic_ns()}"), file)


def _record(evidence_id: str = "evidence-bench", **metadata: str) -> dict[str, object]:
    return {
        "apiVersion": "flow.synapti.ai/v1",
        "kind": "FlowEvidence",
        "metadata": {
            "id": evidence_id,
            "goal": "bench",
            "run_id": "bench-run",
            "created_at": "2026-01-05T09:00:00Z",
            **metadata,
        },
        "evidence": {
            "type": "test_result",
            "command": "make test",
            "exit_code": 0,
            "proves": ["AC1"],
            "limitations": ["Unit tests only, on one platform."],
        },
    }


def _sha256(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _fill(folder: str, count: int, document: dict[str, object]) -> None:
    """Put ``count`` sidecars there, and their events beside the folder, without syncs."""
    os.makedirs(folder, exist_ok=True)
    metadata = document["metadata"]
    events = os.path.join(os.path.dirname(folder), "events.jsonl")
    with open(events, "a", encoding="ascii") as log:
        for number in range(count):
            name = f"evidence-old-{number}"
            text = json.dumps({**document, "metadata": {**metadata, "id": name}})  # type: ignore[dict-item]
            with open(os.path.join(folder, f"{name}.evidence.yaml"), "w", encoding="ascii") as file:
                file.write(text)
            event = {"seq": number + 100, "type": "evidence", "evidence_id": name}
            log.write(json.dumps(event, separators=(",", ":")) + "\n")


class _Syncs:
    """The syncs of one criterion: of its sidecar, of the folder, of the ledger; nothing else."""

    def __init__(self, here: Place) -> None:
        self._folder = os.path.join(here.folder, "syncs")
        os.mkdir(self._folder)
        self._sidecar = json.dumps(_record(), indent=1).encode() * 2
        self._numbers = iter(range(10**9))

    def one(self) -> timing.Spent:
        """The mean of as many as an evaluation of 100 criteria has."""
        wall = processor = 0.0
        directory = os.open(self._folder, os.O_RDONLY)
        ledger = os.open(f"{self._folder}/ledger", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for number in islice(self._numbers, 100):
            sidecar = os.open(f"{self._folder}/{number}", os.O_WRONLY | os.O_CREAT)
            os.write(sidecar, self._sidecar)
            for file in (sidecar, directory, ledger):
                if file == ledger:
                    os.write(ledger, self._sidecar[:400])
                began, used = time.perf_counter(), time.process_time()
                os.fsync(file)
                wall += time.perf_counter() - began
                processor += time.process_time() - used
            os.close(sidecar)
        os.close(directory)
        os.close(ledger)
        return timing.Spent(wall / 100, processor / 100)


def _grow(here: Place, repository: str, scale: Scale) -> None:
    for number in range(scale.files):
        folder = os.path.join(repository, f"part{number // 1000}", f"f{number // 100 % 10}")
        if number % 100 == 0:
            os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{number}.txt"), "w", encoding="ascii") as file:
            file.write(f"file {number}\n" * 20)
    here.git(repository, "add", "-A")
    here.git(repository, "commit", "-q", "-m", "many files")


def _touch(repository: str, scale: Scale) -> None:
    """Change nine tenths of the files in place, add the rest as new ones."""
    added = scale.changed // 10
    step = scale.files // (scale.changed - added)
    for index in range(scale.changed - added):
        number = index * step
        path = f"part{number // 1000}/f{number // 100 % 10}/{number}.txt"
        with open(os.path.join(repository, path), "a", encoding="ascii") as file:
            file.write("changed\n")
    for number in range(added):
        with open(os.path.join(repository, "part0", f"new-{number}.txt"), "w") as file:
            file.write("new\n")


def prepared() -> None:
    """Make sure that ``bin/flow`` has its interpreter ready."""
    subprocess.run([program("flow"), "--version"], check=True, stdout=subprocess.DEVNULL)
    if not os.access(PYTHON, os.X_OK):
        raise SystemExit(f"{PYTHON} is missing: run this in a checkout that can be written")


def import_flow() -> None:
    """Make this checkout's Flow importable."""
    sys.path.insert(0, place.ROOT)
