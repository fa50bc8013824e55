"""Work that continues in a process of its own after Flow has answered and ended.

A Stop hook must not keep its host waiting while a judge thinks. The process that does the work has
no parent that waits for it and no pipe of the host's open, so the host sees the hook end at once,
and the process that adopts orphans reaps it.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import os

from flow.adapters.process.child import close_others, forget_signals, fork_to
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def start_detached(work: Callable[[], None], *, seconds: int) -> None:
    """Start ``work`` in a process of its own, and return at once.

    It leads a session of its own, holds no descriptor of this process, reads and writes nothing,
    and is ended after ``seconds``. Its exceptions are lost: it reports for itself. Raises OSError
    if no process can be made.
    """

    def run() -> int:
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(nothing, fd)
        close_others({0, 1, 2})
        forget_signals()
        signal.alarm(seconds)
        work()
        return 0

    def start_and_end() -> int:  # so that nothing waits for the working process
        os.setsid()
        fork_to(run)
        return 0

    os.waitpid(fork_to(start_and_end), 0)
