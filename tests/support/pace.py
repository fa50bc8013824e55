"""CPU time as a limit, on any machine: a slow one gets as much more as it is slower.

A limit is several times what the work takes. Where it is passed nevertheless, a fixed piece of work
tells how fast the machine is just now, and the limit grows with that: what is left to fail is work
that grew, not a machine that did not.
"""

from __future__ import annotations

import json
import re
import time

USUAL = 0.04
"""Seconds of CPU time that :func:`_work` takes where the limits were measured."""


def _work() -> None:
    text = json.dumps([{f"key {n}": [n, n, str(n)]} for n in range(10_000)])
    for _ in range(2):
        json.loads(text)
    re.findall(r"([a-z]+) (\d+)\W", text)
    counts: dict[str, int] = {}
    for letter in text:
        counts[letter] = counts.get(letter, 0) + 1


def pace() -> float:
    """How many times longer work takes here and now than it does usually; at least 1."""
    began = time.process_time()
    _work()
    return max((time.process_time() - began) / USUAL, 1.0)


def exceeds(spent: float, limit: float) -> bool:
    """Whether ``spent`` seconds of CPU time are more than ``limit`` on a machine like this one."""
    return spent > limit and spent > limit * pace()
