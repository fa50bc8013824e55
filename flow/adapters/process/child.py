"""Starting a program in a session of its own, without ``subprocess`` and without a thread.

``posix_spawn`` costs a fraction of a ``fork``, since it copies no page tables; it supports neither
a working directory nor, on some systems, new sessions. In these cases :func:`start` forks.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import os
from _thread import allocate_lock

from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_EVERY = tuple(n for n in range(1, 32) if n not in (signal.SIGKILL, signal.SIGSTOP))
"""The signals whose action a process may choose."""

_OWN = tuple(n for n in _EVERY if n not in (signal.SIGPIPE, signal.SIGXFSZ))
"""Signals that Python ignores stay ignored in its own processes: a closed pipe is an error, not an
end.
"""

_turn = [allocate_lock()]
"""Lock with which one thread of Flow forks at a time."""


def fork() -> int:
    """``os.fork()``, one thread after the other (judges of a debate are asked at the same time).

    Once ``filelock`` (4.2 on Python 3.12) is loaded, a fork during the fork of another thread is a
    RuntimeError there. Raises OSError if no process can be made.
    """
    turn = _turn[0]
    turn.acquire()
    pid = -1
    try:
        pid = os.fork()
    finally:
        if pid:
            turn.release()
    if pid == 0:  # the threads that waited for the lock are not here
        _turn[0] = allocate_lock()
    return pid


def fork_to(work: Callable[[], int]) -> int:
    """Fork a process for ``work``; its exit status is the result of ``work``, 1 if that raises.

    None of Flow's other code continues in it. Raises OSError if no process can be made.
    """
    pid = fork()
    if pid == 0:
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    return pid


class InterruptHeld:
    """A context that Ctrl-C waits for, so that no process is started and then not ended.

    The signal is not blocked but noted: a blocked one would be delivered to another thread of the
    process, and Python raises in the main thread all the same. Other threads are never interrupted.
    """

    def __init__(self) -> None:
        self._handler: Callable[[int, object], object] | None = None
        self._came = False

    def __enter__(self) -> None:
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            with suppress(ValueError):  # not the main thread
                signal.signal(signal.SIGINT, self._note)
                self._handler = handler

    def _note(self, *_: object) -> None:
        self._came = True

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            if self._came:
                self._handler(signal.SIGINT, None)


class Program(NamedTuple):
    """A program to start."""

    path: str
    argv: list[str]
    env: Mapping[str, str]
    cwd: str | None = None
    """None is the present one."""


def start(
    program: Program, fds: tuple[int, int, int], *, before: Callable[[], None] | None = None
) -> int:
    """Start ``program`` and return its process id. Raises OSError if it cannot start.

    ``fds`` become its standard input, output and error. It leads a session and a process group of
    its own, has no controlling terminal and no signal blocked or ignored. ``before`` is called in
    the new process, which then has its number and session.
    """
    path, argv, env, cwd = program
    if before is None and (cwd is None or _is_here(cwd)):
        safe, spare = _above_stdio(fds)
        try:
            return os.posix_spawn(
                path,
                argv,
                env,
                file_actions=[(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(safe)],
                setsid=True,
                setsigmask=(),
                setsigdef=_EVERY,
            )
        except NotImplementedError:
            pass  # no POSIX_SPAWN_SETSID here
        finally:
            for fd in spare:
                os.close(fd)

    def become_program() -> None:
        os.setsid()
        forget_signals(_EVERY)
        if cwd is not None:
            os.chdir(cwd)
        if before is not None:
            before()
        for target, fd in enumerate(_above_stdio(fds)[0]):
            os.dup2(fd, target, inheritable=True)
        os.execve(path, argv, env)  # noqa: S606

    return _fork_program(become_program, cwd if cwd else path)


def forget_signals(numbers: Iterable[int] = _OWN) -> None:
    """In a process that was just forked: handle, ignore and block no signal any more."""
    signal.set_wakeup_fd(-1)
    for number in numbers:
        if signal.getsignal(number) not in (signal.SIG_DFL, None):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _is_here(path: str) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.stat("."))
    except OSError:
        return False


def _above_stdio(fds: Sequence[int]) -> tuple[list[int], list[int]]:
    """``fds``, copied above 2 so that no step of putting them in place overwrites another.

    The second list has the copies that were made.
    """
    copies: list[int] = []
    safe: list[int] = []
    for fd in fds:
        while fd < 3:
            fd = os.dup(fd)  # noqa: PLW2901
            copies.append(fd)
        safe.append(fd)
    return safe, copies


def _fork_program(become_program: Callable[[], None], name: str) -> int:
    """Fork and call ``become_program``; its errno comes back as an OSError about ``name``."""
    fail_r, fail_w = os.pipe()

    def run() -> int:
        number = 5  # EIO
        try:
            become_program()
        except OSError as error:
            number = error.errno or number
        finally:
            with suppress(OSError):  # the parent is gone
                os.write(fail_w, b"%d" % number)
        return 127

    try:
        pid = fork_to(run)
        os.close(fail_w)
        fail_w = -1
        failure = os.read(fail_r, 64)  # end of file as soon as the program runs
        if failure:
            os.waitpid(pid, 0)
            number = int(failure)
            raise OSError(number, os.strerror(number), name)
        return pid
    finally:
        for fd in (fail_r, fail_w):
            if fd >= 0:
                os.close(fd)


def close_others(keep: set[int]) -> None:
    """Close every descriptor except ``keep``, so that no lock of Flow's outlives it in a child."""
    try:
        descriptors = [int(name) for name in os.listdir("/dev/fd")]
    except (OSError, ValueError):
        descriptors = list(range(1024))
    for fd in descriptors:
        if fd not in keep:
            with suppress(OSError):  # the one that the listing used
                os.close(fd)


def end_group(pid: int) -> None:
    """Kill the process group that ``pid`` leads, and ``pid``, at once."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):  # macOS says the second for zombies
            kill(pid, 9)


def status_of(wait_status: int) -> int:
    """A ``waitpid`` status as a shell shows it: the exit status, or 128+n for signal n."""
    code = os.waitstatus_to_exitcode(wait_status)
    return code if code >= 0 else 128 - code
