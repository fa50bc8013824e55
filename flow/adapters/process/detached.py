"""Work that goes on in a process of its own after Flow has answered and ended.

A Stop hook must not keep its host waiting while a judge thinks. The process that does the work has
no parent that waits for it and no pipe of the host's open, so the host sees the hook end at once,
and whoever adopts orphans reaps it.
"""

from __future__ import annotations

import os

from flow.adapters.process.child import close_others, forget_signals, fork
from flow.startup.typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


def start_detached(work: Callable[[], None], *, seconds: int) -> None:
    """Start ``work`` in a process of its own, and return at once.

    It leads a session of its own, holds no descriptor of this process, reads and writes nothing,
    and is ended after ``seconds``. What it raises is lost: it reports for itself. Raises OSError
    where no process can be made.
    """
    pid = fork()
    if pid == 0:
        _between(work, seconds)
    os.waitpid(pid, 0)


def _between(work: Callable[[], None], seconds: int) -> NoReturn:
    """The process that starts the other one and ends, so that nobody waits for that."""
    status = 1
    try:
        os.setsid()
        status = 0
        if fork() == 0:
            _settle(seconds)
            work()
    finally:
        os._exit(status)


def _settle(seconds: int) -> None:
    import signal

    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nothing, fd)
    close_others({0, 1, 2})
    forget_signals()
    signal.alarm(seconds)
