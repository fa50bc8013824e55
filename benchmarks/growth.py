"""How Flow's cost grows: ``python benchmarks/growth.py [--quick] [--only AXIS]``.

Each axis makes more of one thing, at three sizes, and takes the processor's seconds (user and
system, children too) of the commands that look at it. The exponent is that of the growth from the
first to the second size, and from the second to the third: what a command costs at any size drops
out. 1 is linear, 0 is flat; above 1.1 is a fault, and the exit status is 1.

``tests/test_growth.py`` asserts the same of smaller sizes by counted work (``work.py``).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # `-I` leaves it out

import place
from place import Place, program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HIGHEST = 1.1
"""The exponent above which growth is a fault."""
NOISE = 0.02
"""Growth of this share of the first cost cannot be told from noise."""
NOISE_OF_PIPES = 0.15
"""The same for how often is read and written: a pipe is emptied in one go or in several, as the
other end happens to be scheduled. How many bytes and calls there are does not depend on that."""


class Command(NamedTuple):
    """One that is measured: ``flow WORDS``, its exit status, whether it reads a host's event."""

    words: Sequence[str]
    status: int = 0
    event: bool = False


class Axis(NamedTuple):
    """What there is more of. ``grow`` is called with each size, and says where to measure."""

    sizes: tuple[int, int, int]
    counted: tuple[int, int, int]
    grow: Callable[[Place, int], str]
    commands: dict[str, Command]
    kinds: Sequence[str] = ("calls", "reads", "bytes_read")


RECORDED = ("calls", "reads", "bytes_read", "writes", "bytes_written")
"""Where each run of the command writes as much as the last one, and fills no cache."""


def exponent(costs: Sequence[float], ratio: float, noise: float = NOISE) -> float:
    """The exponent of growth of three costs, at sizes each ``ratio`` times the one before."""
    first, second = costs[1] - costs[0], costs[2] - costs[1]
    slack = noise * costs[0]
    if second <= slack:
        return 0.0
    return math.log(second / (max(first, 0.0) + slack), ratio)


def goals(here: Place, size: int) -> str:
    """Goals of other branches, beside the one of this branch."""
    repository = _grown(here, "goals", ["true"])
    with open(_goal_file(repository, "bench"), encoding="utf-8") as file:
        text = file.read()
    for number in range(_already(_goal_file(repository, "")), size):
        other = text.replace("bench", f"other-{number}").replace('"main"', f'"branch-{number}"')
        with open(_goal_file(repository, f"other-{number}"), "w", encoding="utf-8") as file:
            file.write(other.replace("branch: main", f"branch: branch-{number}"))
    return repository


def criteria(here: Place, size: int) -> str:
    """Criteria of one goal."""
    return here.repository(f"criteria-{size}", ["true"] * size)


def turns(here: Place, size: int) -> str:
    """Evaluations of one goal."""
    repository = _grown(here, "turns", ["false", "true"])
    evidence = os.path.join(repository, ".flow", "runs", "bench-run", "evidence")
    turn = _already(evidence) // 4 if os.path.isdir(evidence) else 0  # sidecars and outputs
    for number in range(turn, size):
        with open(os.path.join(repository, "work.txt"), "w", encoding="ascii") as file:
            file.write(f"{number}")
        here.flow(repository, "goal", "evaluate", "bench", "--no-input", expected=1)
    return repository


def files(*kinds: str) -> Callable[[Place, int], str]:
    """So many files of each of the kinds: tracked, changed, untracked; symlinks, half to folders.

    What is looked at in pairs, of one kind or of two, is seen where there are all of them.
    """

    def grow(here: Place, size: int) -> str:
        repository = here.repository(f"{'-'.join(kinds)}-{size}")
        for kind in TRACKED:
            if kind in kinds:
                _files(repository, kind, size, "one\n")
        here.git(repository, "add", "-A")
        here.git(repository, "commit", "-q", "--allow-empty", "-m", "many files")
        here.goal(repository, ["true"])
        if "changed" in kinds:
            _files(repository, "changed", size, "two\n")
        if "untracked" in kinds:
            _files(repository, "untracked", size, "one\n")
        if "symlinks" in kinds:
            _links(repository, size)
        return repository

    return grow


def output(here: Place, size: int) -> str:
    """Kibibytes that a command prints, as a log of tests does."""
    repository = here.repository(f"output-{size}")
    line = b"tests/test_example.py::test_number_12345 PASSED in 0.01s [ 42%]\n"  # 64 bytes
    with open(os.path.join(repository, "log.txt"), "wb") as file:
        file.write(line * (size * 16))
    here.goal(repository, ["cat log.txt"])
    return repository


def transcripts(here: Place, size: int) -> str:
    """Lines of a transcript that a judge is to score, in plain text."""
    repository = _grown(here, "transcripts")
    _judge(here, '{"no": "scores"}')
    with open(os.path.join(repository, "session.md"), "w", encoding="utf-8") as file:
        for number in range(size):
            file.write(f"**Assistant:** step {number} of the work is done, all tests passed.\n\n")
    return repository


def cards(here: Place, size: int) -> str:
    """Scorecards of one skill."""
    repository = _grown(here, "cards")
    folder = os.path.join(repository, ".flow", "scores")
    os.makedirs(folder, exist_ok=True)
    for number in range(size):
        at = time.gmtime(1_767_225_600 + 60 * number)  # 2026 and a minute each
        name = time.strftime("commit-%Y%m%d-%H%M%S.json", at)
        score = 5 + number % 5
        card = {
            "skill": "commit",
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", at),
            "dimensions": {name: {"score": score, "reason": "as it says"} for name in DIMENSIONS},
            "composite": score,
        }
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(card, file)
    return repository


def checkouts(here: Place, size: int) -> str:
    """Worktrees of one repository, each with a goal of its own branch."""
    repository = _grown(here, "checkouts", ["true"])
    if not os.path.isdir(os.path.join(here.folder, "trees")):
        here.git(repository, "add", "-A")
        here.git(repository, "commit", "-q", "-m", "goal")
        os.mkdir(os.path.join(here.folder, "trees"))
    for number in range(_already(os.path.join(here.folder, "trees")), size):
        tree = os.path.join(here.folder, "trees", f"t{number}")
        here.git(repository, "worktree", "add", "-q", "-b", f"branch-{number}", tree)
        with open(_goal_file(tree, "bench"), encoding="utf-8") as file:
            text = file.read().replace("branch: main", f"branch: branch-{number}")
        os.unlink(_goal_file(tree, "bench"))
        with open(_goal_file(tree, f"own-{number}"), "w", encoding="utf-8") as file:
            file.write(text.replace("id: bench", f"id: own-{number}"))
        here.git(tree, "add", "-A")
        here.git(tree, "commit", "-q", "-m", "own goal")
    return repository


TRACKED = ("tracked", "changed")
DIMENSIONS = (
    *("correctness", "completeness", "adherence", "actionability"),
    *("efficiency", "safety", "consistency"),
)
EVALUATE = ["goal", "evaluate", "bench", "--no-input"]
STATUS = {
    "status": Command(["goal", "status", "bench"]),
    "stop, unchanged": Command(["hook", "stop"], event=True),
}
RECORD = {
    **STATUS,
    "evidence list": Command(["evidence", "list", "bench"]),
    "evidence verify": Command(["evidence", "verify", "bench"]),
    "inspect": Command(["goal", "inspect", "bench"]),
    "history": Command(["goal", "history", "bench"]),
    "report": Command(["report", "bench", "--output", "-"]),
}
GOALS = {
    "status": Command(["goal", "status"]),
    "statusline": Command(["statusline"]),
    "list": Command(["goal", "list"]),
    "doctor": Command(["doctor"]),
    "stop": Command(["hook", "stop"], event=True),
}
FILES = {
    "evaluate": Command(EVALUATE),
    "dry run": Command([*EVALUATE, "--dry-run"], status=1),
    **STATUS,
}
OUTPUT = {"evaluate": Command(EVALUATE)}
TRANSCRIPTS = {
    "scorecard": Command(["judge", "scorecard", "commit", "--file", "session.md"], status=4)
}
CARDS = {"history": Command(["judge", "history", "commit"])}
CHECKOUTS = {
    "status": Command(["goal", "status", "bench"]),
    "list --all-branches": Command(["goal", "list", "--all-branches"]),
}

AXES: dict[str, Axis] = {
    "goals": Axis((100, 400, 1600), (40, 120, 360), goals, GOALS),
    "criteria": Axis(
        (25, 100, 400),
        (4, 12, 36),
        criteria,
        {"evaluate": Command(EVALUATE), **RECORD},
        RECORDED,
    ),
    "turns": Axis(
        (10, 40, 160),
        (2, 6, 18),
        turns,
        {**RECORD, "evaluate": Command(EVALUATE, status=1)},
        RECORDED,
    ),
    "changed files": Axis((1000, 4000, 16000), (40, 120, 360), files("changed"), FILES),
    "tracked files": Axis((3000, 12000, 48000), (40, 120, 360), files("tracked"), FILES),
    "untracked files": Axis((1000, 4000, 16000), (40, 120, 360), files("untracked"), FILES),
    "symlinks": Axis((250, 1000, 4000), (40, 120, 360), files("untracked", "symlinks"), FILES),
    "all files": Axis(
        (250, 1000, 4000), (40, 120, 360), files(*TRACKED, "untracked", "symlinks"), FILES
    ),
    # The short form stays between half of the 10 MiB that are kept, where an output's end is moved
    # once, and all of them.
    "output": Axis((4096, 16384, 65536), (5400, 7290, 9842), output, OUTPUT),
    "transcripts": Axis((2000, 8000, 32000), (60, 240, 960), transcripts, TRANSCRIPTS),
    "cards": Axis((100, 400, 1600), (20, 80, 320), cards, CARDS),
    "checkouts": Axis((10, 40, 160), (2, 8, 32), checkouts, CHECKOUTS),
}
ONE_KIND = ("changed files", "tracked files", "untracked files", "symlinks")
"""What "all files" has together."""


def counted(here: Place, name: str) -> Iterator[tuple[str, str, list[float], float]]:
    """Each command of an axis, each kind of its work, how much at each size, and its exponent."""
    axis = AXES[name]
    work: dict[tuple[str, str], list[float]] = {}
    for size in axis.counted:
        repository = axis.grow(here, size)
        for label, command in axis.commands.items():
            counts = _count(here, repository, command)
            for kind in (kind for kind in axis.kinds if kind in counts):
                work.setdefault((label, kind), []).append(counts[kind])
    ratio = axis.counted[1] / axis.counted[0]
    for (label, kind), amounts in work.items():
        noise = NOISE_OF_PIPES if kind in {"reads", "writes"} else NOISE
        yield label, kind, amounts, exponent(amounts, ratio, noise)


def seconds(here: Place, name: str, scale: int) -> Iterator[tuple[str, list[float]]]:
    """Each command of an axis, and its processor seconds at each size; the least of three."""
    axis = AXES[name]
    times: dict[str, list[float]] = {}
    for size in axis.sizes:
        repository = axis.grow(here, max(size // scale, 1))
        for label, command in axis.commands.items():
            _run(here, repository, command)
            least = min(_run(here, repository, command) for _ in range(3))
            times.setdefault(label, []).append(least)
    yield from times.items()


def _run(here: Place, repository: str, command: Command) -> float:
    """Processor seconds of one run."""
    spent = os.path.join(here.folder, "seconds")
    meter = [sys.executable, "-I", "-S", "-c", METER, spent]
    _start(here, repository, command, [*meter, program("flow"), *command.words])
    with open(spent, encoding="ascii") as file:
        return float(file.read())


METER = """
import os, resource, sys
child = os.fork()
if not child:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    file.write(repr(usage.ru_utime + usage.ru_stime))
sys.exit(os.waitstatus_to_exitcode(status))
"""


def _start(here: Place, repository: str, command: Command, argv: Sequence[str]) -> None:
    with open(event(repository) if command.event else os.devnull, "rb") as given:
        done = subprocess.run(
            argv,
            cwd=repository,
            env=here.env,
            stdin=given,
            capture_output=True,
            check=False,
        )
    if done.returncode != command.status:
        printed = (done.stdout + done.stderr).decode("utf-8", "replace")
        raise SystemExit(f"{' '.join(argv)[:300]}: exit {done.returncode}\n{printed[-2000:]}")


def _count(here: Place, repository: str, command: Command) -> dict[str, float]:
    result = os.path.join(here.folder, "work.json")
    program = os.path.join(place.ROOT, "benchmarks", "work.py")
    _start(here, repository, command, [sys.executable, "-I", program, result, *command.words])
    with open(result, encoding="ascii") as file:
        return {kind: float(amount) for kind, amount in json.load(file).items()}


def _grown(here: Place, name: str, commands: Sequence[str] = ()) -> str:
    """The repository of an axis that grows in place, made the first time."""
    repository = os.path.join(here.folder, name)
    return repository if os.path.isdir(repository) else here.repository(name, commands)


def _goal_file(repository: str, goal: str) -> str:
    folder = os.path.join(repository, ".flow", "goals")
    return os.path.join(folder, f"{goal}.goal.yaml") if goal else folder


def _already(folder: str) -> int:
    """How many entries a folder has."""
    return len(os.listdir(folder))


def _files(repository: str, kind: str, size: int, text: str) -> None:
    for number in range(size):
        # All names are as long: more digits are no growth of the work.
        folder = os.path.join(repository, kind, f"{number // 50:03}")
        if number % 50 == 0:
            os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{number:05}.txt"), "w", encoding="ascii") as file:
            file.write(f"{number:05} {text}")


def _links(repository: str, size: int) -> None:
    """Symlinks to untracked files and their folders."""
    folder = os.path.join(repository, "links")
    os.mkdir(folder)
    for number in range(size):
        target = f"../untracked/{number // 50:03}" + (f"/{number:05}.txt" if number % 2 else "")
        os.symlink(target, os.path.join(folder, f"link-{number:05}"))


def _judge(here: Place, reply: str) -> None:
    """A judge that gives the same reply to every question, in the user's settings."""
    folder = os.path.join(here.env["HOME"], ".claude")
    os.makedirs(folder, exist_ok=True)
    command = ["/bin/sh", "-c", f"cat >/dev/null; printf '%s' '{reply}'"]
    judge = {"backend": "command", "command": command}
    with open(os.path.join(folder, "settings.flow.json"), "w", encoding="utf-8") as file:
        json.dump({"flow": {"goals": {"judge": judge}}}, file)


def event(repository: str) -> str:
    """The file with a host's event: a session that works in the repository stops."""
    path = f"{repository}.stop.json"
    document = {
        "session_id": "bench",
        "transcript_path": f"{repository}.transcript.jsonl",
        "cwd": repository,
        "hook_event_name": "Stop",
        "stop_hook_active": False,
        "last_assistant_message": "It is done.",
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def main() -> int:
    """Measure and print; returns 0, or 1 where something grows too fast."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--quick", action="store_true", help="a quarter of the sizes")
    parser.add_argument("--only", action="append", choices=list(AXES), help="an axis")
    options = parser.parse_args()
    import scenes

    scenes.prepared()
    print("| axis | command | sizes | seconds of processor | exponent |\n|---|---|---|---|---|")
    missed = 0
    for name in options.only or AXES:
        folder = os.path.realpath(tempfile.mkdtemp(prefix="flow-growth-"))
        scale = 4 if options.quick else 1
        try:
            for label, times in seconds(Place(folder), name, scale):
                sizes = AXES[name].sizes
                power = exponent(times, sizes[1] / sizes[0])
                missed += power > HIGHEST
                shown = " ".join(f"{spent:.2f}" for spent in times)
                counts = " ".join(f"{size // scale:,}" for size in sizes)
                mark = " **too fast**" if power > HIGHEST else ""
                print(f"| {name} | {label} | {counts} | {shown} | {power:.2f}{mark} |", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
