"""An end to work that must not go on: by real time, in the middle of what it does.

For the main thread of a process of Flow's own. Waiting for input this way takes no ``select``, a
library that the hooks would load for nothing else. Their output is printed here, too.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import os

from flow.startup.typing import NoReturn

_PART = 1 << 20


class TooLate(BaseException):
    """The time is over.

    Not an Exception: no ``except Exception`` on the way may catch it.
    """


def set_alarm(seconds: float) -> None:
    """Raise :class:`TooLate` after this many seconds of real time; 0 cancels that.

    The work meanwhile must be safe against a kill at any moment.
    """
    if seconds:
        signal.signal(signal.SIGALRM, _raise_too_late)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _raise_too_late(*_: object) -> NoReturn:
    raise TooLate


def read_input(limit: int, seconds: float) -> bytes:
    """Standard input to its end, or to ``limit`` bytes, or as far as it came in ``seconds``."""
    received = bytearray()
    try:
        try:
            set_alarm(seconds)
            while len(received) < limit:
                data = _next_bytes(min(limit - len(received), _PART))
                if not data:
                    break
                received += data
        finally:
            set_alarm(0)
    except (OSError, TooLate):  # closed; or whoever writes it takes too long
        pass
    return bytes(received)


def print_bytes(data: bytes) -> None:
    """Print ``data`` and a line's end; a reader that has gone away changes nothing."""
    data += b"\n"
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        pass


def _next_bytes(most: int) -> bytes:
    """The next bytes of standard input, also where reading does not wait for them."""
    while True:
        try:
            return os.read(0, most)
        except BlockingIOError:
            import select

            select.select([0], [], [])
