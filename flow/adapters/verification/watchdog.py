"""The process between Flow and the supervisors of its commands.

A command can kill its own supervisor (``kill -9 $PPID``). What it leaves behind then becomes a
child of the watchdog, which ends it and tells Flow that the command's result is lost. Flow talks to
the watchdog over a pipe (the number of the command to start next) and hears from watchdog and
supervisors over another. Neither of them holds any other descriptor of Flow's, a lock least of
all, and both live in a session of their own, where no Ctrl-C reaches them: Flow itself tells them
to stop, or its end does.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import json
import os
import select
import time
from contextlib import suppress

from flow.adapters.process.child import close_others, forget_signals, fork
from flow.adapters.process.ending import FORCE, SETTLE
from flow.adapters.process.output import discard
from flow.adapters.process.tree import (
    FollowedTree,
    ReapedTree,
    become_subreaper,
    descendants,
    end_group_of,
    send,
    table,
)
from flow.adapters.verification.supervisor import LEFT_BEHIND, send_report, supervise
from flow.startup.typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.verification.supervisor import CommandPlan

_SLACK = 5.0
"""Seconds that a supervisor may take on top of all its limits before it counts as hung."""

_LONG = 3600.0
"""Seconds of the longest single wait; ``poll`` takes no more than some weeks."""


class Watchdog:
    """Flow's end. Not for several threads."""

    def __init__(self, plans: Sequence[CommandPlan], *, wake: int, follow: bool = False) -> None:
        """Fork the watchdog. ``wake`` is a descriptor that ends a wait in :meth:`reports`.

        ``follow`` does without a subreaper, as on systems that have none. Raises OSError where no
        process or pipe can be made.
        """
        self._buffer = b""
        self._grace = max(plan.grace for plan in plans)
        self._leaders: dict[int, tuple[int, str | None]] = {}
        self._masked: dict[int, dict[str, int]] = {}
        pipes: list[int] = []
        try:
            for _ in range(3):
                pipes += os.pipe()
            self._pid = fork()
        except OSError:
            for fd in pipes:
                os.close(fd)
            raise
        control_r, self._control, alive_r, self._alive, self._report, report_w = pipes
        if self._pid == 0:
            _WatchdogProcess(plans, control_r, alive_r, report_w, follow=follow).run()
        for fd in (control_r, alive_r, report_w):
            os.close(fd)
        self._poll = select.poll()
        self._poll.register(self._report, select.POLLIN)
        self._poll.register(wake, select.POLLIN)
        self._wake = wake

    def start(self, index: int) -> None:
        """Let the command of plan ``index`` begin. Nothing happens where the watchdog is gone."""
        with suppress(BrokenPipeError):  # ``reports`` will find out
            os.write(self._control, b"%d\n" % index)

    def reports(self, seconds: float) -> list[dict[str, Any]] | None:
        """What came within ``seconds``; None once the watchdog is gone and nothing is to come."""
        if self._report not in (fd for fd, _ in self._poll.poll(seconds * 1000)):
            return None if self._gone() else []
        data = os.read(self._report, 1 << 16)
        if not data:
            return None
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        reports = []
        for line in lines:
            report = json.loads(line)
            if report["kind"] == "started":
                self._leaders[report["i"]] = (report["pid"], report["start"])
                continue
            if report["kind"] == "masked":
                self._masked.setdefault(report["i"], {}).update(report["counts"])
                continue
            report["masked"] = self._masked.pop(report["i"], {})
            leader = self._leaders.pop(report["i"], None)
            if report["kind"] == "lost" and leader is not None:
                end_group_of(*leader)
            reports.append(report)
        return reports

    def _gone(self) -> bool:
        if self._pid:
            pid, _ = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._pid = 0
        return not self._pid

    def close(self) -> None:
        """End everything that still runs, and wait until it has ended."""
        for fd in (self._control, self._alive):
            os.close(fd)
        self._poll.unregister(self._wake)
        deadline = time.monotonic() + self._grace + SETTLE + FORCE + 2 * _SLACK
        while (left := deadline - time.monotonic()) > 0:
            # End of file: the watchdog and every supervisor has ended.
            if self._poll.poll(left * 1000) and not os.read(self._report, 1 << 16):
                break
        os.close(self._report)
        if self._pid:
            if left <= 0:
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = 0
        for leader in self._leaders.values():
            end_group_of(*leader)


class _WatchdogProcess:
    """The watchdog's end, in a process of its own."""

    def __init__(
        self, plans: Sequence[CommandPlan], control: int, alive: int, report: int, *, follow: bool
    ) -> None:
        self.plans, self.control, self.alive, self.report = plans, control, alive, report
        self.follow = follow
        self.supervisors: dict[int, tuple[int, float, float]] = {}
        """Process id of each supervisor → (number of its plan, when it began, when it is hung)."""

    def run(self) -> NoReturn:
        """Serve until Flow closes the control pipe, then end everything and exit."""
        code = 1
        try:
            self._settle_in()
            self._serve()
            self._finish()
            code = 0
        finally:
            os._exit(code)

    def _settle_in(self) -> None:
        import gc

        os.setsid()
        forget_signals()
        close_others({self.control, self.alive, self.report})
        while (null := os.open(os.devnull, os.O_RDWR)) < 2:
            pass
        if null > 2:
            os.close(null)
        gc.freeze()  # what Flow holds is never looked at again, so its pages stay shared
        self.complete = not self.follow and become_subreaper()
        self.wake, self.wake_w = os.pipe()
        for fd in (self.wake, self.wake_w):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake_w, warn_on_full_buffer=False)
        self.poll = select.poll()
        self.poll.register(self.control, select.POLLIN)
        self.poll.register(self.wake, select.POLLIN)

    def _serve(self) -> None:
        waiting = b""
        while True:
            next_hung = min((when for _, _, when in self.supervisors.values()), default=None)
            wait = _LONG if next_hung is None else min(max(next_hung - time.monotonic(), 0), _LONG)
            for fd, _ in self.poll.poll(wait * 1000):
                if fd == self.wake:
                    os.read(self.wake, 1 << 16)
                    continue
                data = os.read(self.control, 1 << 12)
                if not data:
                    return
                *numbers, waiting = (waiting + data).split(b"\n")
                for number in numbers:
                    self._start(int(number))
            self._reap()
            for pid, (_, _, when) in self.supervisors.items():
                if time.monotonic() >= when:  # stopped, perhaps, by its command
                    os.kill(pid, signal.SIGKILL)

    def _start(self, index: int) -> None:
        plan = self.plans[index]
        try:
            pid = fork()
        except OSError as error:
            why = f"cannot start a process: {error.strerror}"
            send_report(self.report, index, {"kind": "refused", "why": why, "seconds": 0.0})
            return
        if pid == 0:
            self._become_supervisor(plan, index)
        limits = 2 * plan.timeout + plan.grace + SETTLE + FORCE + _SLACK  # bash -n has a limit too
        began = time.monotonic()
        self.supervisors[pid] = (index, began, began + limits)

    def _become_supervisor(self, plan: CommandPlan, index: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            for fd in (self.control, self.wake, self.wake_w):
                os.close(fd)
            complete = self.complete and become_subreaper()
            tree = ReapedTree() if complete else FollowedTree()
            supervise(plan, index, tree, alive=self.alive, report=self.report)
        finally:
            os._exit(1)

    def _reap(self) -> bool:
        """Collect who has exited; True where this process has no child left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            index, began, _ = self.supervisors.pop(pid, (None, 0.0, 0.0))
            if index is not None and status != 0:
                code = os.waitstatus_to_exitcode(status)
                lost = {
                    "kind": "lost",
                    "signal": max(-code, 0),
                    "seconds": time.monotonic() - began,
                }
                self._end_strays()
                if code != LEFT_BEHIND:
                    send_report(self.report, index, lost)

    def _end_strays(self) -> None:
        """End whatever is a child of this process and no supervisor, and what is below it."""
        deadline = time.monotonic() + FORCE
        while self.complete and time.monotonic() < deadline:
            rows = table()
            here = os.getpid()
            for pid in self.supervisors:
                rows.pop(pid, None)  # cuts off what it looks after, too
            strays = descendants(here, rows)
            if not strays:
                return
            send(strays, signal.SIGKILL)
            time.sleep(0.001)

    def _finish(self) -> None:
        """Flow is gone, or wants no more: the supervisors know it too, and end their commands."""
        self.poll.unregister(self.control)
        longest = max((plan.grace for plan in self.plans), default=0.0)
        deadline = time.monotonic() + longest + SETTLE + FORCE + _SLACK
        while not (childless := self._reap()) and self.supervisors:
            left = deadline - time.monotonic()
            if left <= 0:
                for pid in self.supervisors:
                    os.kill(pid, signal.SIGKILL)
                left = _SLACK
                deadline += _SLACK
            if self.poll.poll(min(left, _LONG) * 1000):
                os.read(self.wake, 1 << 16)
        if not childless:  # whoever lost its parent is a child of this process by now
            self._end_strays()
        for plan in self.plans:
            discard(plan.top, plan.work_file)  # whatever Flow, or the command, left of them
