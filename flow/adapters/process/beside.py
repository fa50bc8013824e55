"""Work of Flow's own that a process beside this one does, on another processor.

Threads of Python take turns: work with many short system calls is slower in two of them.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import gc
import os

from flow.adapters.process.child import InterruptHeld, close_others, forget_signals, fork_to
from flow.adapters.process.loop import Loop
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOK = 0.2
"""Seconds between two checks whether the process was stopped."""


def can_work_beside() -> bool:
    """Whether there is a second processor, and this process may be forked: it has one thread."""
    try:
        return len(os.sched_getaffinity(0)) > 1 and len(os.listdir("/proc/self/task")) == 1
    except (AttributeError, OSError):  # not Linux
        return False


class WorkBeside:
    """One piece of work under way. :meth:`close` has to be called."""

    def __init__(self, work: Callable[[], bytes]) -> None:
        """Start it.

        Raises OSError if no process can be made. It must only read: it is killed at any time.
        """
        self._loop = Loop()
        self._pid = 0
        try:
            # Any process of this user could write into a pipe, by its name in /proc.
            self._from, to = self._loop.channel()
            with InterruptHeld():
                self._pid = fork_to(lambda: _work(work, to))
            self._loop.close(to)
        except BaseException:
            self.close()
            raise

    def result(self) -> bytes | None:
        """Result of the work, after it has ended; None if it failed, was ended or stopped."""
        data = bytearray()
        self._loop.read(self._from, data.extend)
        while self._loop.watching:
            if not self._loop.wait(_LOOK) and self._is_stopped():
                return None
        return bytes(data) if self._reap() == 0 else None

    def close(self) -> None:
        """End it, if it is still under way."""
        self._loop.close_all()
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            self._reap()

    def _is_stopped(self) -> bool:
        """Whether the process was stopped by a signal; no one would let it go on."""
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, self._pid, os.WSTOPPED | os.WNOHANG) is not None
        return False

    def _reap(self) -> int | None:
        pid, self._pid = self._pid, 0
        try:
            return os.waitpid(pid, 0)[1]
        except ChildProcessError:  # the program around Flow ignores SIGCHLD
            return None


def _work(work: Callable[[], bytes], to: int) -> int:
    """Do the work and report, without any lock or pipe of the parent."""
    gc.disable()  # a collection touches every object, and so copies its page
    forget_signals()
    close_others({to})
    data = memoryview(work())
    while data:
        data = data[os.write(to, data) :]
    return 0
