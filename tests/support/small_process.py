"""Forks the watchdogs of commands for a worker of pytest, from a process with little memory.

A worker holds all tests: to copy the tables of its 300 MB takes 5 ms, twice for each evaluated
goal, and a page of it 1 µs more when it is written next. Here is one that holds the watchdog's
modules alone, as a process of Flow's does. What it forks are the worker's own children (Linux's
``CLONE_PARENT``), so that the worker sees their ends and collects them.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import platform
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import flow.adapters.process.redaction  # noqa: F401  # loaded here, and not by each supervisor
from flow.adapters.process import child
from flow.adapters.verification import watchdog
from flow.adapters.verification.supervisor import ToFlow
from tests.support.start import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

_CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine(), 0)
"""Number of the system call; 0: this is no system for it."""
_CLONE_PARENT = 0x8000
_HEADER = 8
"""Bytes of a request's length."""


class SmallProcess:
    """The worker's end."""

    def __init__(self) -> None:
        here, there = socket.socketpair()
        with there:
            words = (sys.executable, "-m", __name__, str(there.fileno()))
            self._process = subprocess.Popen(words, pass_fds=(there.fileno(),), cwd=ROOT)
        self._channel = here

    def fork(self, process: watchdog._WatchdogProcess) -> int:
        """Start a watchdog there; returns its process id, that of a child of this process."""
        fds = (process.control, *process.flow)
        umask = os.umask(0)
        os.umask(umask)
        synced = os.fsync.__module__ == "posix"
        request = pickle.dumps((process.plans, process.follow, umask, synced))
        socket.send_fds(self._channel, [len(request).to_bytes(_HEADER, "big")], fds)
        self._channel.sendall(request)
        return int.from_bytes(_exactly(self._channel, _HEADER), "big")


def lend(*, unless: Callable[[], object]) -> None:
    """Let watchdogs of this process be forked there, as long as ``unless`` says nothing.

    On a system that cannot do it, and where lines are counted, nothing happens.
    """
    if sys.platform != "linux" or not _CLONE or sys.gettrace() or "coverage" in sys.modules:
        return
    worker, lent = os.getpid(), list[SmallProcess]()

    def fork_to(work: Callable[[], int]) -> int:
        process = getattr(work, "__self__", None)
        ours = isinstance(process, watchdog._WatchdogProcess) and os.getpid() == worker
        if not ours or unless():
            return child.fork_to(work)
        if not lent:
            lent.append(SmallProcess())
        return lent[0].fork(process)

    watchdog.fork_to = fork_to


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = channel.recv(size - len(data))
        if not more:
            raise ConnectionError("the other process is gone")
        data += more
    return data


def _serve(channel: socket.socket) -> None:
    """Fork a watchdog for each request, until the worker is gone."""
    clone = _clone()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        header, fds, _, _ = socket.recv_fds(channel, _HEADER, 4)
        if not header:
            return
        header += _exactly(channel, _HEADER - len(header))
        request = _exactly(channel, int.from_bytes(header, "big"))
        pid = clone()
        if pid == 0:
            _become(pickle.loads(request), fds)  # from the worker
        channel.sendall(pid.to_bytes(_HEADER, "big"))
        for fd in fds:
            os.close(fd)


def _clone() -> Callable[[], int]:
    """``os.fork()``, whose child is a child of this process's parent."""
    python = ctypes.pythonapi
    flags = ctypes.c_long(_CLONE_PARENT | signal.SIGCHLD)

    def clone() -> int:
        python.PyOS_BeforeFork()
        pid: int = python.syscall(ctypes.c_long(_CLONE), flags, *(ctypes.c_long(0),) * 4)
        (python.PyOS_AfterFork_Parent if pid else python.PyOS_AfterFork_Child)()
        return pid

    return clone


def _become(request: Any, fds: list[int]) -> NoReturn:
    code = 1
    try:
        plans, follow, umask, synced = request
        os.umask(umask)
        if not synced:
            os.fsync = os.fstat  # type: ignore[assignment]
        code = watchdog._WatchdogProcess(plans, fds[0], ToFlow(*fds[1:]), follow=follow).run()
    finally:
        os._exit(code)


if __name__ == "__main__":
    with suppress(ConnectionError), socket.socket(fileno=int(sys.argv[1])) as worker:
        _serve(worker)
