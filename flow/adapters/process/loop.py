"""The one loop in which Flow waits for a process: its pipes, its end, and its time limit.

Three users differ in the processes that they watch and in the way of ending them: a tool (a
:class:`Child`, killed with its group), a program that gets a question (a :class:`Child` that is its
reaper), and all processes that such a program or a verification command has started
(``ending.EndingSteps``).
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import os
import select
import time

from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from flow.startup.typing import Self

CHUNK = 1 << 16
LONG = 3600.0
"""Seconds of the longest single wait; ``poll`` takes no more than some weeks."""

_HELD_PIPE, _CLOSED_PIPE = 0.05, 0.001
"""Seconds between two looks at a child whose end cannot be polled: while its pipes are open, and
once they are closed.
"""

_FULL_PIPE = (1 << 20) // 4096
"""Reads that empty a pipe of any size."""


class Loop:
    """Descriptors and their handlers for when they are ready.

    It owns them: they are closed with it.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._owned: set[int] = set()
        self._handlers: dict[int, Callable[[], object]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_all()

    def close_all(self) -> None:
        """Close every descriptor that it owns."""
        self.close(*self._owned)

    def own(self, fd: int) -> int:
        """Close ``fd`` with the loop."""
        self._owned.add(fd)
        return fd

    def pipe(self) -> tuple[int, int]:
        """A new pipe: its reading end, its writing end."""
        read, write = os.pipe()
        return self.own(read), self.own(write)

    def channel(self) -> tuple[int, int]:
        """Like :meth:`pipe`, for messages between Flow's own processes.

        Every process of the same user can open the pipes of any process by name, in ``/proc``, and
        write to them. These are sockets, which cannot be opened that way.
        """
        from _socket import AF_UNIX, SOCK_STREAM, socketpair  # `socket` itself loads much more

        read, write = socketpair(AF_UNIX, SOCK_STREAM)
        return self.own(read.detach()), self.own(write.detach())

    def disown(self, fd: int) -> None:
        """Leave ``fd`` open when the loop is closed."""
        self._owned.discard(fd)

    def owned(self) -> frozenset[int]:
        """The descriptors that it owns now."""
        return frozenset(self._owned)

    def close(self, *fds: int) -> None:
        """Close those of ``fds`` that are open."""
        for fd in fds:
            self.forget(fd)
            if fd in self._owned:
                self._owned.discard(fd)
                os.close(fd)

    def on(self, fd: int, handler: Callable[[], object], events: int = select.POLLIN) -> None:
        """Call ``handler`` whenever ``fd`` is ready."""
        self._handlers[fd] = handler
        self._poll.register(fd, events)

    def forget(self, fd: int) -> None:
        """Watch ``fd`` no more."""
        if self._handlers.pop(fd, None):
            self._poll.unregister(fd)

    @property
    def watching(self) -> bool:
        """Whether any descriptor is still watched."""
        return bool(self._handlers)

    def read(
        self, fd: int, take: Callable[[bytes], object], at_end: Callable[[], object] | None = None
    ) -> None:
        """Give the input of ``fd`` to ``take``; at its end close it and call ``at_end``."""

        def ready() -> None:
            data = os.read(fd, CHUNK)
            if data:
                take(data)
                return
            self.close(fd)
            if at_end is not None:
                at_end()

        self.on(fd, ready)

    def write(self, fd: int, data: bytes) -> None:
        """Write ``data`` as fast as it is read, or not all of it, and close ``fd``."""
        left = memoryview(data)
        os.set_blocking(fd, False)

        def ready() -> None:
            nonlocal left
            try:
                while left:
                    left = left[os.write(fd, left) :]
            except BlockingIOError:
                return
            except BrokenPipeError:  # the reader wants no more, which is no error here
                pass
            self.close(fd)

        self.on(fd, ready, select.POLLOUT)

    def wake_on_children(self) -> None:
        """Let a wait end when any child of this process exits. For a process of Flow's own."""
        wake_r, wake_w = self.pipe()
        for fd in (wake_r, wake_w):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
        self.on(wake_r, lambda: os.read(wake_r, CHUNK))

    def wait(self, seconds: float) -> bool:
        """Wait for a descriptor, at most ``seconds``, and serve all that are ready."""
        ready = self._poll.poll(max(min(seconds, LONG), 0) * 1000)
        for fd, _ in ready:
            if fd in self._handlers:  # no handler before it has closed it
                self._handlers[fd]()
        return bool(ready)

    def drain(self) -> None:
        """Take the rest in the pipes; this ends even if a writer continues."""
        for _ in range(_FULL_PIPE):
            if not self.wait(0):
                break


class BoundedBytes:
    """The first ``limit`` bytes of an output; ``at_limit`` is called when there are more."""

    def __init__(self, limit: int, at_limit: Callable[[], object] | None = None) -> None:
        self.data = bytearray()
        self.exceeded = False
        self._limit, self._at_limit = limit, at_limit

    def take(self, data: bytes) -> None:
        """Take more of the output."""
        room = self._limit - len(self.data)
        self.data += data[:room]
        if len(data) > room:
            self.exceeded = True
            if self._at_limit is not None:
                self._at_limit()


class WatchedProcess(Protocol):
    """A process or a tree of processes that :func:`attend` waits for, and its end."""

    @property
    def status(self) -> int | None:
        """The program's ``waitpid`` status, once it has exited."""

    def reap(self) -> bool:
        """Collect exited processes; True if nothing is left."""

    def settle(self, now: float) -> None:
        """Begin to settle: the program has exited, and processes of it are left."""

    def ask(self, now: float) -> None:
        """Ask it to end."""

    def advance(self, now: float) -> float | None:
        """Take the step that is due; returns the seconds to the next one, None after the last."""


class Attended(NamedTuple):
    """End of a watched process. ``status`` is a ``waitpid`` status, None after a timeout."""

    timed_out: bool
    status: int | None
    seconds: float
    """Seconds until the program had exited, or was ended after its time limit."""


def attend(loop: Loop, watched: WatchedProcess, *, began: float, timeout: float) -> Attended:
    """Serve ``loop`` until no process of ``watched`` is left; ask it to end after ``timeout``.

    ``began`` is the monotonic time just before the program was started.
    """
    deadline = began + timeout
    exited: float | None = None
    timed_out = False
    pause: float | None = 0.0
    while pause is not None:
        loop.wait(pause)
        nothing_left = watched.reap()
        now = time.monotonic()
        if exited is None and watched.status is not None:
            exited = now
        if nothing_left:
            break
        if exited is not None:
            watched.settle(now)
        elif now >= deadline:
            timed_out = True
            watched.ask(now)
        pause = watched.advance(now)
        if pause is not None and exited is None and not timed_out:
            pause = min(pause, deadline - now)
    loop.drain()
    if timed_out or exited is None:
        return Attended(timed_out, None, now - began)
    return Attended(timed_out, watched.status, exited - began)


class Child:
    """One child process and its end; processes that it starts are left aside.

    ``ask`` is called once, when it has to end; ``grace`` seconds later it is killed.
    """

    def __init__(self, loop: Loop, pid: int, *, ask: Callable[[], object], grace: float) -> None:
        self.status: int | None = None
        self._loop, self._pid = loop, pid
        self._ask, self._grace = ask, grace
        self._kill_at: float | None = None
        self._pidfd = -1
        with suppress(AttributeError, OSError):  # Linux 5.3 and newer
            self._pidfd = loop.own(os.pidfd_open(pid))
            loop.on(self._pidfd, lambda: None)

    def reap(self) -> bool:
        """Collect it if it has exited.

        One that was stopped is killed: no one would let it go on.
        """
        if self.status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG | os.WUNTRACED)
            if pid and os.WIFSTOPPED(status):
                os.kill(pid, signal.SIGKILL)
            elif pid:
                self.status = status
                self._loop.close(self._pidfd)
        return self.status is not None

    def settle(self, now: float) -> None:
        """Do nothing: an exited child leaves no processes to wait for."""

    def ask(self, now: float) -> None:
        """Ask it to end, once."""
        if self._kill_at is None:
            self._kill_at = now + self._grace
            self._ask()

    def advance(self, now: float) -> float:
        """Kill it if that is due; returns the seconds to the next look."""
        look = LONG if self._pidfd >= 0 else _HELD_PIPE if self._loop.watching else _CLOSED_PIPE
        if self._kill_at is not None:
            if now < self._kill_at:
                return min(self._kill_at - now, look)
            os.kill(self._pid, signal.SIGKILL)
        return look

    def finish(self) -> None:
        """End it, if an exception came while it ran."""
        if self.status is None:
            now = time.monotonic()
            self.ask(now)
            attend(self._loop, self, began=now, timeout=LONG)
