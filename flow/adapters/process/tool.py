"""Running the tools that Flow itself calls (git and its like).

Arguments are a tuple, no shell, output and time are bounded, and a tool that cannot start is a
result, not an exception. A criterion's own command runs through ``checks`` instead.
"""

from __future__ import annotations

import os

from flow.adapters.process.child import end_group, start, status_of
from flow.adapters.process.environment import clean_environment, find_program
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import select
    from collections.abc import Mapping, Sequence

__all__ = ["ToolResult", "clean_environment", "find_program", "run_tool"]

COULD_NOT_START = 127
TIMED_OUT = 124
TOO_MUCH_OUTPUT = 125

_CHUNK = 1 << 16
_STDERR_LIMIT = 1 << 20
_HELD_PIPE = 0.05
"""Seconds between two looks whether the tool has exited while something else holds its pipes."""


class ToolResult(NamedTuple):
    """How a tool ended. ``status`` is its exit status, 128+n for signal n.

    124, 125 and 127 with a line in ``stderr`` that starts with ``flow:`` are Flow's own: it took
    too long, printed too much, could not start.
    """

    status: int
    stdout: bytes
    stderr: bytes


def run_tool(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes | None = None,
    timeout: float = 60,
    limit: int = 256 << 20,
) -> ToolResult:
    """Run a program to its end and return what it printed.

    ``argv[0]`` without a slash is looked up in the absolute folders of ``env``'s PATH, never in
    the working directory. ``stdin`` None is ``/dev/null``. ``timeout`` is in seconds, ``limit`` in
    bytes of standard output (standard error keeps its first MiB). The program gets a session of
    its own and none of Flow's descriptors, and is ended with its process group when it takes too
    long or Flow is interrupted. Raises nothing of its own.
    """
    program = argv[0] if "/" in argv[0] else find_program(argv[0], env.get("PATH"))
    if program is None:
        return _no_start(argv[0], "not found in PATH")
    opened: list[int] = []
    pid = 0
    try:
        out_r, out_w = _pipe(opened)
        err_r, err_w = _pipe(opened)
        in_r, in_w = _stdin(stdin, opened)
        pid = start(program, list(argv), env, (in_r, out_w, err_w), cwd=cwd)
        for fd in (in_r, out_w, err_w):
            os.close(fd)
            opened.remove(fd)
        if in_w >= 0:
            opened.remove(in_w)  # closed as soon as everything is written
        done, result = _Pump(in_w, out_r, err_r, stdin or b"", limit).run(pid, timeout)
        if done:
            pid = 0
        return result
    except OSError as error:
        return _no_start(argv[0], error.strerror or str(error))
    except ValueError as error:  # a NUL byte in an argument
        return _no_start(argv[0], str(error))
    finally:
        if pid:
            end_group(pid)
            os.waitpid(pid, 0)
        for fd in opened:
            os.close(fd)


def _pipe(opened: list[int]) -> tuple[int, int]:
    ends = os.pipe()
    opened.extend(ends)
    return ends


def _stdin(data: bytes | None, opened: list[int]) -> tuple[int, int]:
    if data is not None:
        return _pipe(opened)
    opened.append(os.open(os.devnull, os.O_RDONLY))
    return opened[-1], -1


class _Pump:
    """Feeds one program and reads from it until it has exited or a bound is reached."""

    def __init__(self, in_w: int, out_r: int, err_r: int, stdin: bytes, limit: int) -> None:
        self.in_w = in_w
        self.left = memoryview(stdin)
        self.out, self.err = bytearray(), bytearray()
        self.open = {out_r: self.out, err_r: self.err}
        self.limit = limit

    def run(self, pid: int, timeout: float) -> tuple[bool, ToolResult]:
        """(whether the program has been waited for, how it ended)."""
        import select

        poll = select.poll()
        for fd in self.open:
            poll.register(fd, select.POLLIN)
        try:
            if self.in_w >= 0:
                os.set_blocking(self.in_w, False)
                poll.register(self.in_w, select.POLLOUT)
                self._feed(poll)
            status = self._wait(pid, timeout, poll)
        finally:
            if self.in_w >= 0:
                os.close(self.in_w)
        if status is not None:
            return True, ToolResult(status, bytes(self.out), bytes(self.err))
        own, why = TIMED_OUT, f"{timeout:g} s, its time limit"
        if len(self.out) > self.limit:
            own, why = TOO_MUCH_OUTPUT, f"{self.limit} bytes of output, the limit"
            del self.out[self.limit :]
        self.err += f"flow: ended after {why}\n".encode()
        return False, ToolResult(own, bytes(self.out), bytes(self.err))

    def _wait(self, pid: int, timeout: float, poll: select.poll) -> int | None:
        """The status, or None where a bound is reached first."""
        import time

        deadline = time.monotonic() + timeout
        pause = 0.0002
        while (left := deadline - time.monotonic()) > 0 and len(self.out) <= self.limit:
            if not self.open:  # its pipes are closed, so it is about to exit
                time.sleep(min(pause, left))
                pause = min(pause * 2, 0.02)
            elif self._serve(poll, min(left, _HELD_PIPE)) and self.open:
                continue
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                while self.open and len(self.out) <= self.limit and self._serve(poll, 0):
                    pass  # what is in the pipes; a child that it left may hold them open
                return status_of(status) if len(self.out) <= self.limit else TOO_MUCH_OUTPUT
        return None

    def _serve(self, poll: select.poll, seconds: float) -> bool:
        """Move bytes as far as the pipes allow; False where nothing moved."""
        ready = poll.poll(seconds * 1000)
        for fd, _ in ready:
            if fd == self.in_w:
                self._feed(poll)
            elif chunk := os.read(fd, _CHUNK):
                kept = self.open[fd]
                if kept is self.out or len(kept) < _STDERR_LIMIT:
                    kept += chunk
            else:
                poll.unregister(fd)
                del self.open[fd]
        return bool(ready)

    def _feed(self, poll: select.poll) -> None:
        while self.left:
            try:
                self.left = self.left[os.write(self.in_w, self.left) :]
            except BlockingIOError:
                return
            except BrokenPipeError:  # it does not read all of it, which is its own affair
                break
        poll.unregister(self.in_w)
        os.close(self.in_w)
        self.in_w = -1


def _no_start(name: str, reason: str) -> ToolResult:
    text = f"flow: cannot start {name}: {reason}\n"
    return ToolResult(COULD_NOT_START, b"", text.encode("utf-8", "replace"))
