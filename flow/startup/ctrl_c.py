"""Signals in a process of Flow's own, those it inherits and when Ctrl-C counts; and its umask.

While Python loads modules, and once an answer is decided, there is nothing to interrupt: a
``KeyboardInterrupt`` there would only show a traceback, or take the answer back. So Ctrl-C is
remembered until the work begins (``with HEARD``), and ignored from the end of the work to the end
of the process. In between it is Python's own.

Only the starts of a process call :func:`settle` and :func:`own`. In any other (a program that
imports Flow, a test) nothing is changed.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import os

_owned = False
_missed = False


def settle() -> None:
    """Undo a parent's changes to the signals that Flow waits for, or that end it, and to the umask.

    An ignored SIGCHLD loses the exit status of every child; a blocked alarm never ends a hook. A
    SIGHUP or SIGINT that is ignored stays so: ``nohup`` and a shell's background jobs ignore them
    on purpose. Commands inherit none of these changes (:func:`flow.adapters.process.child.start`).
    A umask that takes the user's own rights away would shut Flow, and every command, out of what it
    has just made.
    """
    os.umask(os.umask(0o077) & 0o077)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def own(*, missed: bool = False) -> None:
    """Mark this process as Flow's; ``missed``: Ctrl-C came already.

    If the parent ignores SIGINT (``nohup``, a job in the background), it stays ignored.
    """
    global _owned, _missed  # noqa: PLW0603 - a signal's handler is the process's, too
    settle()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _owned = True
        signal.signal(signal.SIGINT, _keep)
    _missed = _missed or missed


class _Heard:
    """The work: Ctrl-C raises :class:`KeyboardInterrupt` in it, at its start if it came before.

    A handler of that error calls :func:`ignore` first: Ctrl-C may have come while the work ended.
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
    """Ignore Ctrl-C from now on. Called where a ``KeyboardInterrupt`` is still caught."""
    if _owned:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _keep(_number: int, _frame: object) -> None:
    global _missed  # noqa: PLW0603
    _missed = True
