"""Values of running a command: the check, its result, the callbacks while it runs."""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flow.core.evidence.model import Outcome
    from flow.core.sandbox import Sandbox


class RawOutput(NamedTuple):
    """Output that is on disk already, to be published beside its sidecar; it is consumed."""

    path: str
    sha256: str
    size: int


class Check(NamedTuple):
    """A command to run for a criterion."""

    criterion_id: str
    command: str
    cwd: str
    """Relative to the top level; ``""`` is the top level itself."""
    timeout_seconds: float
    serial: bool = False
    sandbox: Sandbox | None = None
    """The sandbox to run it in; None runs it as the user."""
    report: str = ""
    """A path or pattern of the JUnit or CTRF files it writes; empty: none is named."""


class CheckResult(NamedTuple):
    """Result of running a command. ``result`` is the goal file's ``last_result`` text."""

    outcome: Outcome
    exit_code: int | None
    result: str
    reason: str
    duration_seconds: float
    output: RawOutput | None
    output_bytes: int
    truncated_bytes: int
    environment_removed: tuple[str, ...]
    limitations: tuple[str, ...]
    attribution: Mapping[str, Any] | None = None
    """Why an exit 0 is inconclusive: vacuous or a masked exit (SPEC 10)."""
    redacted: tuple[tuple[str, int], ...] = ()
    """Number of secrets of each kind that were redacted in the output before it was stored."""
    sandbox: Mapping[str, Any] | None = None
    """The sandbox of the run, or the reason that there was none."""
    output_end: str | None = None
    """A file with the end of an output that was cut, as it was before; gone after the callback."""
    tests_ran: int | None = None
    """Number of tests that its reports show; None if they show no certain number."""


class CheckEvents(NamedTuple):
    """Callbacks while commands run, called in the caller's thread and in time order."""

    started: Callable[[Check], None]
    ended: Callable[[Check, CheckResult], Callable[[], None] | None]
    """Looks at what the command did; returns what is left to do about it, which is done at once.

    Where several run beside each other, the next one is started in its place before that.
    """
    tick: Callable[[], None] | None = None
    """Called about every tenth of a second while something runs."""
    fits: Callable[[Check], bool] | None = None
    """Whether there is time to start it; one that does not fit is left out."""
