"""Work by its amount: calls and memory, which no other load of the machine changes."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
import tracemalloc
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


def calls(work: Callable[[], object]) -> int:
    """How many functions ``work`` calls in this thread, those written in C among them."""
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


class Memory(NamedTuple):
    """Bytes."""

    kept: int
    """What the result takes."""
    peak: int
    """The most that was taken at once."""


def memory_of(work: Callable[[], object]) -> Memory:
    """The memory that a call takes, measured in a process of its own.

    ``tracemalloc`` counts what every thread asks for, and a worker of pytest-xdist has one that
    receives the numbers of its next tests, thousands at once. A forked process has this one alone.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with open(writing, "wb") as answer:
            pickle.dump(_measured(work), answer)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        told = answer.read()
    os.waitpid(child, 0)
    memory: Memory | str = pickle.loads(told)
    assert isinstance(memory, Memory), memory
    return memory


def _measured(work: Callable[[], object]) -> Memory | str:
    try:
        tracemalloc.start()
        result = work()
        kept, peak = tracemalloc.get_traced_memory()
        del result
    except BaseException:
        return traceback.format_exc()
    return Memory(kept, peak)
