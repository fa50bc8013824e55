"""Running the tools that Flow itself calls (git and the like).

Arguments are a tuple, no shell, output and time are bounded, and a tool that cannot start is a
result, not an exception. A criterion's own command runs through ``verification`` instead.
"""

from __future__ import annotations

import os
import time

from flow.adapters.process.child import InterruptHeld, end_group, start, status_of
from flow.adapters.process.environment import locate
from flow.adapters.process.loop import BoundedBytes, Child, Loop, attend
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.process.child import Program

COULD_NOT_START = 127
TIMED_OUT = 124
TOO_MUCH_OUTPUT = 125

_STDERR_LIMIT = 1 << 20


class ToolResult(NamedTuple):
    """End of a tool. ``status`` is its exit status, 128+n for signal n.

    124, 125 and 127 with a line in ``stderr`` that starts with ``flow:`` are Flow's own: it took
    too long, printed too much, could not start.
    """

    status: int
    stdout: bytes
    stderr: bytes


def run_tool(
    argv: Sequence[str],
    *,
    cwd: str | None,
    env: Mapping[str, str],
    stdin: bytes | None = None,
    timeout: float = 60,
    limit: int = 256 << 20,
) -> ToolResult:
    """Run a program to its end and return its output.

    ``argv[0]`` without a slash is looked up in the absolute folders of ``env``'s PATH, never in the
    working directory. ``cwd`` None is the present one, ``stdin`` None is ``/dev/null``. ``timeout``
    is in seconds, ``limit`` in bytes of standard output (standard error keeps its first MiB). The
    program gets a session of its own and none of Flow's descriptors, and is ended with its process
    group when it takes too long or Flow is interrupted. Raises no errors of its own.
    """
    program = locate(argv, cwd, env)
    if program is None:
        return _no_start(argv[0], "not found in PATH")
    try:
        with Loop() as loop:
            return _run(loop, program, stdin, timeout, limit)
    except OSError as error:
        return _no_start(argv[0], error.strerror or str(error))
    except ValueError as error:  # a NUL byte in an argument
        return _no_start(argv[0], str(error))


def _run(
    loop: Loop, program: Program, stdin: bytes | None, timeout: float, limit: int
) -> ToolResult:
    (out_r, out_w), (err_r, err_w) = loop.pipe(), loop.pipe()
    if stdin is None:
        in_r, in_w = loop.own(os.open(os.devnull, os.O_RDONLY)), -1
    else:
        in_r, in_w = loop.pipe()
    began = time.monotonic()
    child: Child | None = None
    try:
        with InterruptHeld():
            pid = start(program, (in_r, out_w, err_w))
            child = Child(loop, pid, ask=lambda: end_group(pid), grace=0)
        loop.close(in_r, out_w, err_w)
        out = BoundedBytes(limit, lambda: child.ask(began))
        err = BoundedBytes(_STDERR_LIMIT)
        loop.read(out_r, out.take)
        loop.read(err_r, err.take)
        if stdin is not None:
            loop.write(in_w, stdin)
        status = attend(loop, child, began=began, timeout=timeout).status
    finally:
        if child is not None:
            child.finish()
    if status is not None and not out.exceeded:
        return ToolResult(status_of(status), bytes(out.data), bytes(err.data))
    code, bound = TIMED_OUT, f"{timeout:g} s, its time limit"
    if out.exceeded:
        code, bound = TOO_MUCH_OUTPUT, f"{limit} bytes of output, the limit"
    message = f"flow: ended after {bound}\n".encode()
    return ToolResult(code, bytes(out.data), bytes(err.data) + message)


def _no_start(name: str, reason: str) -> ToolResult:
    text = f"flow: cannot start {name}: {reason}\n"
    return ToolResult(COULD_NOT_START, b"", text.encode("utf-8", "replace"))
