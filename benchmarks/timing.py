"""Timing that compares: every figure and its base are measured in turns, in the same run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Result = TypeVar("Result")


PEAK = """
import os, sys
child = os.fork()
if not child:
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""
"""Starts a program from a small process: one that is spawned begins with its parent's peak."""


class Spent(NamedTuple):
    """Seconds by the clock, and seconds of the processor."""

    wall: float
    processor: float


def spawn(
    argv: Sequence[str], env: Mapping[str, str], expected: int = 0, *, stdin: str = os.devnull
) -> float:
    """Seconds that ``argv`` takes in the working directory; see :func:`spent`."""
    return spent(argv, env, expected, stdin=stdin).wall


def spent(
    argv: Sequence[str], env: Mapping[str, str], expected: int = 0, *, stdin: str = os.devnull
) -> Spent:
    """What ``argv`` takes in the working directory, the processes that it waits for included.

    Its exit status is checked.

    ``stdin`` is the file it reads.

    What it prints goes to a file without a name, and is shown where the status is another one.
    """
    null = os.open(stdin, os.O_RDONLY)
    with tempfile.TemporaryFile() as out:
        places = (null, out.fileno(), out.fileno())
        actions = [(os.POSIX_SPAWN_DUP2, place, number) for number, place in enumerate(places)]
        start = time.perf_counter()
        pid = os.posix_spawn(argv[0], list(argv), dict(env), file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        code = os.waitstatus_to_exitcode(status)
        if code != expected:
            out.seek(0)
            said = out.read()[-2000:].decode("utf-8", "replace")
            raise SystemExit(f"{' '.join(argv)[:300]}: exit {code}, expected {expected}\n{said}")
    os.close(null)
    return Spent(seconds, usage.ru_utime + usage.ru_stime)


def peak(argv: Sequence[str], env: Mapping[str, str]) -> float:
    """MiB that ``argv``, or a process it waits for, holds at most; it must exit with 0."""
    launch = [sys.executable, "-I", "-S", "-c", PEAK, *argv]
    done = subprocess.run(launch, env=dict(env), capture_output=True, text=True, check=True)
    status, peak = map(int, done.stdout.split())
    if status != 0:
        raise SystemExit(f"{' '.join(argv)[:300]}: exit {status}, expected 0")
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def in_turns(
    contestants: Mapping[str, Callable[[], Result]], rounds: int, warm: int = 1
) -> dict[str, list[Result]]:
    """Call every contestant once in each round; returns the results of each, round by round.

    The first ``warm`` rounds fill caches and are not counted.
    """
    results: dict[str, list[Result]] = {name: [] for name in contestants}
    for number in range(warm + rounds):
        for name, call in contestants.items():
            result = call()
            if number >= warm:
                results[name].append(result)
    return results


def creating(folder: str) -> float:
    """Seconds that creating a file takes there."""
    names = (f"{folder}/new-{time.monotonic_ns()}" for _ in range(20))
    return median([timed(partial(_create, name)) for name in names])


def _create(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL))


def timed(call: Callable[[], object]) -> float:
    """How many seconds ``call`` takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median(times: Sequence[float]) -> float:
    """The median, in the unit of ``times``."""
    return statistics.median(times)


def ratio(times: Sequence[float], base: Sequence[float]) -> float:
    """The median of ``times`` in medians of ``base``."""
    return median(times) / median(base)


def spread(times: Sequence[float], base: Sequence[float]) -> str:
    """The middle half of the ratios, round by round."""
    return middle_half([time / against for time, against in zip(times, base, strict=True)])


def middle_half(values: Sequence[float]) -> str:
    """Where the middle half of ``values`` is, with two decimals."""
    if len(values) < 4:
        return f"{min(values):.2f}-{max(values):.2f}"
    low, _, high = statistics.quantiles(values, n=4)
    return f"{low:.2f}-{high:.2f}"
