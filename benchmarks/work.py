"""``python -I work.py RESULT WORD...``: runs ``flow WORD...`` twice and counts what it does then.

The first time fills caches, so that they are filled alike whatever was there before. Counted work
does not depend on the machine or on what else runs there, so a test may assert it.
RESULT gets one JSON object: ``calls``, how many functions were called in its process, Python's own
and built-in ones (a system call is one of these), and, where the system tells, ``reads`` and
``writes`` (system calls) and ``bytes_read`` and ``bytes_written`` of that process and of all that
it waited for.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

IO_NAMES = {"syscr": "reads", "syscw": "writes", "rchar": "bytes_read", "wchar": "bytes_written"}


def main() -> int:
    """As the program says of itself; returns an exit status."""
    result, *words = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return count(result, words)


def count(result: str, words: list[str]) -> int:
    """Run the words in one process and then in another; returns the first exit status not 0."""
    from flow.__main__ import run

    statuses = [_forked(lambda: run(words)), _forked(lambda: _counted(result, lambda: run(words)))]
    return statuses[0] or statuses[1]


def _forked(work: Callable[[], int]) -> int:
    """The exit status of ``work`` in a process of its own, which reads all of a file on stdin."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 70
    try:
        os.lseek(0, 0, os.SEEK_SET)
        status = work()
        sys.stdout.flush()
    finally:
        os._exit(status)


def _counted(result: str, work: Callable[[], int]) -> int:
    tick = itertools.count().__next__  # one step of C: safe in threads

    def count(_frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            tick()

    before = _io()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        status = work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    counted = {name: value - before[name] for name, value in _io().items()}
    with open(result, "w", encoding="ascii") as file:
        json.dump({"calls": tick(), **counted}, file)
    return status


def _io() -> dict[str, int]:
    try:
        with open("/proc/self/io", encoding="ascii") as file:
            pairs = [line.split(": ") for line in file]
    except OSError:  # not Linux, or a kernel that does not account for it
        return {}
    return {IO_NAMES[name]: int(value) for name, value in pairs if name in IO_NAMES}


if __name__ == "__main__":
    sys.exit(main())
