"""CPU time as a limit, on any machine: a slow one gets as much more as it is slower.

A limit is several times what the work takes. Where it is passed nevertheless, a fixed piece of work
tells how fast the machine is just now, and the limit grows with that: what is left to fail is work
that grew, not a machine that did not.

And counted work: what a call costs, whatever the machine and whatever else runs on it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


HIGHEST = 1.1
"""The exponent above which growth is a fault."""
NAMES = ("lstat", "stat", "fstat", "open", "read", "pread", "write", "listdir", "scandir", "fsync")


class Work(NamedTuple):
    """The work of one call in this process."""

    calls: int
    """Functions that were called, Python's own and built-in ones."""
    system_calls: int
    """Those of ``os`` that are counted by name."""
    bytes_read: int


def count(call: Callable[..., Any], *arguments: Any) -> tuple[Any, Work]:
    """Call it; returns its answer and the work."""
    calls = system_calls = size = 0
    counted = {getattr(os, name) for name in NAMES}
    saved = {"read": os.read, "pread": os.pread}

    def sized(name: str) -> Callable[..., bytes]:
        def read(*words: Any) -> bytes:
            nonlocal size
            data: bytes = saved[name](*words)
            size += len(data)
            return data

        return read

    def tick(_frame: object, event: str, function: object) -> None:
        nonlocal calls, system_calls
        if event in ("call", "c_call"):
            calls += 1
            system_calls += event == "c_call" and function in counted

    for name in saved:
        setattr(os, name, sized(name))
    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        answer = call(*arguments)
    finally:
        sys.setprofile(before)
        for name, function in saved.items():
            setattr(os, name, function)
    return answer, Work(calls, system_calls, size)


def assert_linear(work: Mapping[int, Work]) -> None:
    """Hold the growth over three sizes, each twice the one before, to an exponent.

    That of the steps, where what a call costs at any size drops out; or, since files are read in
    blocks and steps may be uneven, that from the first size to the last.
    """
    for kind, (first, second, third) in zip(
        Work._fields, zip(*work.values(), strict=True), strict=True
    ):
        step = max(second - first, 0.02 * first, 1)
        assert third - second <= 2**HIGHEST * step or third <= 4**HIGHEST * first, (kind, work)
