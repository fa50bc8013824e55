"""Signals in a process of Flow's own: what it inherits, and when Ctrl-C counts.

While Python loads modules, and once an answer is decided, there is nothing to interrupt: a
``KeyboardInterrupt`` there would only show a traceback, or take the answer back. So it is kept in
mind until the work begins (``with HEARD``), and does nothing once the work is over, until the
process has ended. In between it is Python's own.

Only the starts of a process call :func:`settle` and :func:`own`. In any other (a program that
imports Flow, a test) nothing is changed.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`

_owned = False
_missed = False


def settle() -> None:
    """Undo what a parent did to the signals that Flow waits for, or is ended by.

    Ignored, SIGCHLD loses the exit status of every child; blocked, an alarm never ends a hook. A
    SIGHUP or SIGINT that is ignored stays so: that is how ``nohup`` and a shell's background jobs
    say what a hangup or Ctrl-C does not concern. Commands inherit nothing of it
    (``process_child.start``).
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def own(*, missed: bool = False) -> None:
    """This process is Flow's; ``missed`` if Ctrl-C came already.

    Where whoever started it has SIGINT ignored (``nohup``, a job in the background), it stays so.
    """
    global _owned, _missed  # noqa: PLW0603 - a signal's handler is the process's, too
    settle()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _owned = True
        signal.signal(signal.SIGINT, _keep)
    _missed = _missed or missed


class _Heard:
    """The work, in which Ctrl-C raises :class:`KeyboardInterrupt`: at once where it came before.

    Whoever catches it calls :func:`ignore` first: it may have come while this was ending.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        global _missed  # noqa: PLW0603
        if _owned:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if _missed:
            _missed = False
            raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        ignore()


HEARD = _Heard()


def ignore() -> None:
    """From here on Ctrl-C does nothing. Called where a ``KeyboardInterrupt`` is still caught."""
    if _owned:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _keep(_number: int, _frame: object) -> None:
    global _missed  # noqa: PLW0603
    _missed = True
