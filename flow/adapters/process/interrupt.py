"""Ctrl-C and similar signals while commands run: noted at once, acted on between two steps.

A signal that arrives while evidence is being recorded lets that finish first. The second Ctrl-C
does not wait.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import os

from flow.adapters.process.outcome import signal_name
from flow.errors import Interrupted
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from flow.startup.typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REPLACEABLE = (signal.SIG_DFL, signal.default_int_handler)


class Interrupts:
    """A context in which SIGINT, SIGTERM and SIGHUP are noted; :meth:`check` raises for them.

    Outside the main thread, and if the program has handlers of its own, nothing is changed. A
    signal that was not checked for is raised when the context ends.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._before: dict[int, Any] = {}
        self.fd = -1
        """Becomes readable when a signal has come."""
        self._write = -1

    def __enter__(self) -> Self:
        self.fd, self._write = os.pipe()
        os.set_blocking(self._write, False)
        with suppress(ValueError):  # only the main thread may set a signal's action
            for number in _SIGNALS:
                handler = signal.getsignal(number)
                if handler in _REPLACEABLE:
                    signal.signal(number, self._note)
                    self._before[number] = handler
        return self

    def _note(self, number: int, _frame: object) -> None:
        if self._seen and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._seen = number
        os.write(self._write, b"!")

    def check(self) -> None:
        """Raise :class:`Interrupted` if a signal has come."""
        if self._seen:
            name = f"SIG{signal_name(self._seen)}"
            self._seen = 0
            raise Interrupted(
                f"{name} ended the evaluation; nothing was decided",
                value=name,
                remedy="run it again when ready; what was recorded stays",
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.fd)
        os.close(self._write)
        if kind is None:
            self.check()
