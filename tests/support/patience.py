"""For tests that wait for other processes: no outcome of theirs may depend on the machine's speed.

A limit that only ends a hang is :data:`LONG`. One that has to run out is as long as what comes
before it takes here, which :func:`long_enough` finds out.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Found = TypeVar("Found")

LONG = 120.0
"""Seconds that no machine takes for what is waited for."""

LIMITS = (0.5, 3.0, 20.0, LONG)

NAMED_SLEEP = (
    'up() { until read -r name <"/proc/$1/comm" && [ "$name" = sleep ]; do :; done 2>/dev/null; }; '
)
"""A shell's function: wait until the process $1 has become ``sleep``, as its name is looked at."""


def eventually(question: Callable[[], bool]) -> bool:
    """Whether it comes true, sooner or later."""
    deadline = time.monotonic() + LONG
    while time.monotonic() < deadline:
        if question():
            return True
        time.sleep(0.01)
    return question()


def long_enough(attempt: Callable[[float], Found], came: Callable[[Found], bool]) -> Found:
    """What ``attempt`` finds with the shortest limit that lets happen what ``came`` asks for."""
    for seconds in LIMITS:
        found = attempt(seconds)
        if came(found):
            break
    return found


def patient_locks() -> None:
    """Let locks be waited for as long as it takes, in this process, where no limit is named.

    Of processes that do nothing but write, one can have the lock again and again. On a slow disk
    the ten seconds of an honest wait are over then, before it is another one's turn.
    """
    from flow.adapters.fs import locks

    waiting = locks.exclusive.__wrapped__  # type: ignore[attr-defined]
    waiting.__kwdefaults__["timeout"] = 10 * LONG
