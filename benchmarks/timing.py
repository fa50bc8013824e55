"""Timing that compares: every figure and its base are measured in turns, in the same run."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Run(NamedTuple):
    """One process, started and waited for. ``peak_kib`` counts its waited-for children too."""

    seconds: float
    peak_kib: int


def spawn(argv: Sequence[str], env: Mapping[str, str], expected: int = 0) -> Run:
    """Run ``argv`` in the working directory with no input; check its exit status.

    What it prints goes to a file without a name, and is shown where the status is another one.
    """
    null = os.open(os.devnull, os.O_RDONLY)
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
    per_kib = 1024 if sys.platform == "darwin" else 1
    return Run(seconds, usage.ru_maxrss // per_kib)


def in_turns(
    contestants: Mapping[str, Callable[[], float]], rounds: int, warm: int = 1
) -> dict[str, list[float]]:
    """Call every contestant once in each round; returns the seconds of each, round by round.

    The first ``warm`` rounds fill caches and are not counted.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(warm + rounds):
        for name, call in contestants.items():
            seconds = call()
            if number >= warm:
                times[name].append(seconds)
    return times


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
    ratios = [time / against for time, against in zip(times, base, strict=True)]
    if len(ratios) < 4:
        return f"{min(ratios):.2f}-{max(ratios):.2f}"
    low, _, high = statistics.quantiles(ratios, n=4)
    return f"{low:.2f}-{high:.2f}"
