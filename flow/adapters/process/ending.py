"""Ending a tree of processes: first time to settle, then SIGTERM, then SIGKILL."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`

from flow.adapters.process.loop import LONG
from flow.adapters.process.tree import send
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flow.adapters.process.tree import Process, Tree

SETTLE = 0.1
"""Seconds for leftover processes to end by themselves: ``tee`` in ``> >(tee log)``."""

FORCE = 5.0
"""Seconds after which a process that SIGKILL cannot end, stuck in the kernel, is given up."""

_FOLLOW = 0.25
"""Seconds between two looks at the process table if the system has no subreaper."""

_SWEEP = 0.001
"""Seconds between two rounds of SIGKILL."""
_NAMES = 5
"""Most names of processes in a report."""

RUNNING, SETTLING, ASKED, FORCED = range(4)


class EndingSteps:
    """The steps and their times. Each one is taken once, and none leads back."""

    def __init__(self, tree: Tree, grace: float, own: str = "") -> None:
        """``own`` is the name of processes that are Flow's, not the command's: a sandbox's."""
        self.stage = RUNNING
        self._own = own
        self._tree, self._grace = tree, grace
        self._until = 0.0
        self._next_look = 0.0
        self._asked: list[Process] = []
        self._stuck: list[Process] | None = None

    @property
    def status(self) -> int | None:
        """The command's ``waitpid`` status, once it has exited."""
        return self._tree.status

    def reap(self) -> bool:
        """Collect exited processes; True if none of the tree is left."""
        return self._tree.reap()

    def settle(self, now: float) -> None:
        """The command has exited: let the rest end by itself for a moment."""
        if self.stage < SETTLING:
            self.stage, self._until = SETTLING, now + SETTLE

    def ask(self, now: float) -> None:
        """Send SIGTERM to every process of the tree now."""
        if self.stage < ASKED:
            self.stage, self._until = ASKED, now + self._grace
            self._asked = self._tree.living()
            send(self._asked, signal.SIGTERM)
            send(self._asked, signal.SIGCONT)  # a stopped process reacts to SIGKILL only

    def force(self, now: float) -> None:
        """Send SIGKILL from now on, until nothing is left."""
        if self.stage < FORCED:
            self.stage, self._until = FORCED, now + FORCE

    def advance(self, now: float) -> float | None:
        """Take the step that is due; returns the seconds to the next one, None after the last."""
        if self.stage == SETTLING and now >= self._until:
            self.ask(now)
        elif self.stage == ASKED and now >= self._until:
            self.force(now)
        if self.stage == FORCED:
            living = self._tree.living()
            if now >= self._until:
                self._stuck = living
                return None
            send(living, signal.SIGKILL)
            return _SWEEP
        if self._tree.complete:
            return LONG if self.stage == RUNNING else self._until - now
        interval = _FOLLOW if self.stage == RUNNING else _FOLLOW / 10
        if now >= self._next_look:
            self._tree.living()  # to find processes before they detach themselves
            self._next_look = now + interval
        return interval if self.stage == RUNNING else min(self._until - now, interval)

    def report(self, *, left_over: bool) -> dict[str, Any]:
        """The processes that were left over and ended, and those that could not be ended."""
        report: dict[str, Any] = {"loose": not self._tree.complete}
        left = [row for row in self._asked if row.name != self._own]
        if left_over and left:
            report["left"] = _named(left)
        if self._stuck is not None:
            report["stuck"] = _named(self._stuck) if self._stuck else [1, "one that is hidden"]
        return report


def _named(rows: list[Process]) -> list[int | str]:
    return [len(rows), *sorted({row.name for row in rows})[:_NAMES]]
