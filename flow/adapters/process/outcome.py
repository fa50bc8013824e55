"""Meaning of a command's exit for its criterion (SPEC 3, step 2). A table and no more."""

from __future__ import annotations

from flow.adapters.process.child import status_of
from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from flow.core.evidence.model import Outcome

CRASHES = frozenset({"ABRT", "SEGV", "BUS", "FPE", "ILL"})
"""Signals that a program brings on itself: its own failure."""

_WHY = {
    "PIPE": (
        "a reader in a pipe ended before its writer did, which pipefail shows; let the reader take "
        "everything (sed -n 1p in place of head -1)"
    ),
    "KILL": "it was ended from outside, perhaps for want of memory",
    "XCPU": "it used up its processor time limit",
    "XFSZ": "it reached its file size limit",
}


class Exit(NamedTuple):
    """An exit read as an outcome; ``result`` is the goal file's ``last_result``."""

    outcome: Outcome
    exit_code: int | None
    result: str
    reason: str


def read_exit(wait_status: int) -> Exit:
    """Read a ``waitpid`` status: 128+n counts as signal n, as bash reports its children."""
    code = status_of(wait_status)
    if code == 0:
        return Exit("passed", 0, "exit 0", "")
    if code in (126, 127):
        why = "was found but cannot be executed" if code == 126 else "was not found"
        return Exit("inconclusive", code, "could not run", f"a command {why} (exit {code})")
    name = signal_name(code - 128)
    if name is None:
        return Exit("failed", code, f"exit {code}", f"exit {code}")
    if name in CRASHES:
        return Exit("failed", code, f"signal {name}", f"crashed with signal {name} (exit {code})")
    why = f"; {_WHY[name]}" if name in _WHY else ""
    return Exit(
        "inconclusive", code, f"signal {name}", f"ended by signal {name} (exit {code}){why}"
    )


def signal_name(number: int) -> str | None:
    """``TERM`` for 15; None if this system has no such signal."""
    if number <= 0:
        return None
    import signal

    if number not in signal.valid_signals():
        return None
    if hasattr(signal, "SIGRTMIN") and signal.SIGRTMIN <= number <= signal.SIGRTMAX:
        above = number - signal.SIGRTMIN
        return f"RTMIN+{above}" if above else "RTMIN"
    try:
        return signal.Signals(number).name.removeprefix("SIG")
    except ValueError:
        return str(number)
