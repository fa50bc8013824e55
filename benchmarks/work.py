"""``python -I work.py RESULT WORD...``: runs ``flow WORD...`` and counts what it does.

Counted work does not depend on the machine or on what else runs there, so a test may assert it.
RESULT gets one JSON object: ``calls``, how many functions were called in this process, Python's own
and built-in ones (a system call is one of these), and, where the system tells, ``reads`` and
``writes`` (system calls) and ``bytes_read`` and ``bytes_written`` of this process and of all that
it waited for.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading

IO_NAMES = {"syscr": "reads", "syscw": "writes", "rchar": "bytes_read", "wchar": "bytes_written"}


def main() -> int:
    """Run the words and write what was counted; returns their exit status."""
    result, *words = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from flow.__main__ import run

    tick = itertools.count().__next__  # one step of C: safe in threads

    def count(_frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            tick()

    before = _io()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        status = run(words)
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
