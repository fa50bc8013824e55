"""One program that is asked something: text in, text out, its whole process tree ended after it.

A reaper is forked for it, as ``supervisor`` is for a goal's command: it has the program as
its child, finds every descendant, and ends them all when the program has exited, when its time is
up, or when Flow is gone. Unlike a goal's command the program gets text on its standard input, its
two outputs are kept apart, and both are held in memory, since they are small.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from contextlib import suppress

from flow.adapters.process.child import (
    close_others,
    end_group,
    forget_signals,
    fork,
    start,
    status_of,
)
from flow.adapters.process.ending import FORCE, RUNNING, SETTLE, EndingSteps
from flow.adapters.process.environment import find_program
from flow.adapters.process.tree import FollowedTree, ReapedTree, become_subreaper
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.process.tree import Tree

_CHUNK = 1 << 16
_STDERR = 1 << 16
_SLACK = 5.0
"""Seconds that the reaper may take on top of all limits before Flow gives it up."""

_LONG = 3600.0


class InputRunResult(NamedTuple):
    """How it ended. ``status`` is the exit status (128+n for signal n), of ``exit`` only."""

    kind: Literal["exit", "timeout", "too_much", "not_found", "not_started", "lost"]
    status: int | None
    stdout: bytes
    stderr: bytes
    """Its first 64 KiB."""
    why: str = ""
    """Why it could not be started or how it got lost."""


def run_with_input(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes,
    timeout: float,
    limit: int,
    grace: float = 1.0,
) -> InputRunResult:
    """Run a program, give it ``stdin``, and return what it said; never raises of its own.

    ``argv[0]`` without a slash is looked up in the absolute folders of ``env``'s PATH. ``timeout``
    and ``grace`` (between SIGTERM and SIGKILL) are seconds, ``limit`` is bytes of standard output:
    one more, and the program is ended. Nothing that it started outlives the call, whatever session
    it fled to (where the system allows to know that, SPEC 3).
    """
    program = argv[0] if "/" in argv[0] else find_program(argv[0], env.get("PATH"))
    if program is None:
        return InputRunResult("not_found", None, b"", b"", "it was not found in PATH")
    try:
        return _InputRun(stdin, limit).run(program, list(argv), cwd, env, timeout, grace)
    except OSError as error:
        return InputRunResult("not_started", None, b"", b"", error.strerror or str(error))


class _InputRun:
    """Flow's end of one talk."""

    def __init__(self, stdin: bytes, limit: int) -> None:
        self.left = memoryview(stdin)
        self.limit = limit
        self.out, self.err, self.report = bytearray(), bytearray(), bytearray()
        self.fds: set[int] = set()
        self.poll = select.poll()

    def run(
        self,
        program: str,
        argv: list[str],
        cwd: str,
        env: Mapping[str, str],
        timeout: float,
        grace: float,
    ) -> InputRunResult:
        reaper = 0
        try:
            pipes = [self._pipe() for _ in range(5)]
            (in_r, in_w), (out_r, out_w), (err_r, err_w), (alive_r, alive), (report, report_w) = (
                pipes
            )
            reaper = fork()
            if reaper == 0:
                inner = {in_r, out_w, err_w, alive_r, report_w}
                _Reaper(alive_r, report_w, inner, timeout, grace).run(
                    program, argv, cwd, env, (in_r, out_w, err_w)
                )
            for fd in (in_r, out_w, err_w, alive_r, report_w):
                self._close(fd)
            self._listen(in_w, {out_r: self.out, err_r: self.err, report: self.report})
            deadline = time.monotonic() + timeout + grace + SETTLE + FORCE + _SLACK
            self._pump(in_w, alive, report, deadline)
        finally:
            # Whatever happened, the reaper knows it by the closed pipe, and ends everything.
            if reaper:
                self._close(alive)
                self._await(reaper, report)
            for fd in list(self.fds):
                self._close(fd)
        return self._result()

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self.fds.update(ends)
        return ends

    def _close(self, fd: int) -> None:
        if fd in self.fds:
            self.fds.discard(fd)
            os.close(fd)

    def _listen(self, in_w: int, readers: dict[int, bytearray]) -> None:
        self.readers = readers
        for fd in readers:
            self.poll.register(fd, select.POLLIN)
        os.set_blocking(in_w, False)
        self.poll.register(in_w, select.POLLOUT)

    def _pump(self, in_w: int, alive: int, report: int, deadline: float) -> None:
        """Move bytes until the reaper has closed its report, which is the last thing it does."""
        while report in self.readers and (wait := deadline - time.monotonic()) > 0:
            for fd, _ in self.poll.poll(min(wait, _LONG) * 1000):
                if fd == in_w:
                    self._feed(in_w)
                else:
                    self._take(fd)
            if len(self.out) > self.limit:
                self._close(alive)  # the reaper ends it all
        for fd in [fd for fd in self.readers if fd != report]:
            os.set_blocking(fd, False)  # what is in the pipes; nobody is left to write more
            with suppress(BlockingIOError):
                while fd in self.readers and len(self.out) <= self.limit:
                    self._take(fd)

    def _feed(self, in_w: int) -> None:
        try:
            while self.left:
                self.left = self.left[os.write(in_w, self.left) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not read all of it, which is its own affair
            pass
        self.poll.unregister(in_w)
        self._close(in_w)

    def _take(self, fd: int) -> None:
        data = os.read(fd, _CHUNK)
        kept = self.readers[fd]
        if not data:
            self.poll.unregister(fd)
            del self.readers[fd]
        elif kept is self.out:
            kept += data[: max(self.limit + 1 - len(kept), 0)]
        else:
            kept += data[: max(_STDERR - len(kept), 0)]

    def _await(self, reaper: int, report: int) -> None:
        """Wait for the reaper's end, which the closed report tells; kill it if it hangs."""
        watch = select.poll()
        watch.register(report, select.POLLIN)
        deadline = time.monotonic() + FORCE + SETTLE + _SLACK + 1
        while (left := deadline - time.monotonic()) > 0:
            if watch.poll(left * 1000):
                data = os.read(report, _CHUNK)
                if not data:
                    break
                self.report += data
        else:
            os.kill(reaper, signal.SIGKILL)
        os.waitpid(reaper, 0)

    def _result(self) -> InputRunResult:
        report: dict[str, Any] = {}
        for line in bytes(self.report).splitlines():
            report.update(json.loads(line))
        out, err = bytes(self.out[: self.limit]), bytes(self.err)
        if len(self.out) > self.limit:
            return InputRunResult("too_much", None, out, err)
        if "kind" not in report:
            if "pid" in report:
                end_group(report["pid"])
            return InputRunResult("lost", None, out, err, "the process that watched it was ended")
        return InputRunResult(report["kind"], report.get("status"), out, err, report.get("why", ""))


class _Reaper:
    """The process between Flow and the program."""

    def __init__(
        self, alive: int, report: int, keep: set[int], timeout: float, grace: float
    ) -> None:
        self.alive, self.report, self.keep = alive, report, keep
        self.timeout, self.grace = timeout, grace

    def run(
        self,
        program: str,
        argv: list[str],
        cwd: str,
        env: Mapping[str, str],
        fds: tuple[int, int, int],
    ) -> NoReturn:
        """Run it to its end, report, exit."""
        try:
            tree = self._settle_in()
            began = time.monotonic()
            try:
                # The program itself says who it is, before it can kill this process.
                pid = start(program, argv, env, fds, cwd=cwd, before=self._announce)
            except (OSError, ValueError) as error:
                missing = isinstance(error, FileNotFoundError) and os.path.isdir(cwd)
                why = getattr(error, "strerror", None) or str(error)
                self._say({"kind": "not_found" if missing else "not_started", "why": why})
            else:
                for fd in fds:
                    os.close(fd)
                tree.watch(pid)
                self._say(self._attend(tree, began))
        finally:
            os._exit(0)

    def _settle_in(self) -> Tree:
        os.setsid()
        forget_signals()
        close_others(self.keep | {0, 1, 2})
        self.wake, wake_w = os.pipe()
        for fd in (self.wake, wake_w):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
        return ReapedTree() if become_subreaper() else FollowedTree()

    def _announce(self) -> None:
        self._say({"pid": os.getpid()})

    def _say(self, report: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):  # Flow is gone
            os.write(self.report, json.dumps(report).encode() + b"\n")

    def _attend(self, tree: Tree, began: float) -> dict[str, Any]:
        ending = EndingSteps(tree, self.grace)
        deadline = began + self.timeout
        poll = select.poll()
        poll.register(self.alive, select.POLLIN)
        poll.register(self.wake, select.POLLIN)
        kind = "exit"
        pause: float | None = 0.0
        while pause is not None:
            for fd, _ in poll.poll(min(pause, _LONG) * 1000):
                if fd == self.wake:
                    os.read(self.wake, _CHUNK)
                else:
                    poll.unregister(fd)  # Flow has heard enough, or is gone
                    ending.ask(time.monotonic())
                    kind = "timeout"
            nothing_left = tree.reap()
            now = time.monotonic()
            if nothing_left:
                break
            if tree.status is not None:
                ending.settle(now)
            elif now >= deadline and ending.stage == RUNNING:
                kind = "timeout"
                ending.ask(now)
            pause = ending.pause(now)
            if pause is not None and ending.stage == RUNNING:
                pause = min(pause, deadline - now)
        status = None if kind == "timeout" or tree.status is None else status_of(tree.status)
        return {"kind": kind, "status": status}
