"""The process between Flow and the supervisors of its commands.

A command can kill its own supervisor (``kill -9 $PPID``). Its remaining processes then become
children of the watchdog, which ends them and reports to Flow that the command's result is lost.
Flow talks to the watchdog over a channel (the number of the command to start next, and of the one
whose supervisor has reported that it is free) and hears from watchdog and supervisors over others;
a command can open none of them (:meth:`flow.adapters.process.loop.Loop.channel`). Neither of the
processes holds any other descriptor of Flow's, above all no lock, and both are in a session of
their own, where no Ctrl-C reaches them: Flow itself stops them, or its end does.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import gc
import os
import time

from flow.adapters.fs.files import write_all
from flow.adapters.process.child import fork_to
from flow.adapters.process.ending import FORCE, SETTLE
from flow.adapters.process.loop import CHUNK, LONG, Child, Loop
from flow.adapters.process.tree import (
    become_subreaper,
    descendants,
    end_groups_of,
    send,
    table,
    watch_over,
)
from flow.adapters.verification.supervisor import (
    LEFT_BEHIND,
    Supervisor,
    ToFlow,
    discard_outputs,
    send_report,
)
from flow.startup import json
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flow.adapters.verification.supervisor import CommandPlan

_NONE = -1
"""In place of a command's number: no command."""
_LOOK = 0.1
"""Seconds between two signals to supervisors to go on."""
_SLACK = 5.0
"""Seconds that a supervisor may take beyond all its limits before it counts as hung."""


class Watchdog:
    """Flow's end of the channel. Not for several threads."""

    def __init__(self, plans: Sequence[CommandPlan], *, wake: int, follow: bool = False) -> None:
        """Fork the watchdog. ``wake`` is a descriptor that ends a wait in :meth:`reports`.

        ``follow``: work without a subreaper, as on systems that have none. Raises OSError if no
        process or pipe can be made.
        """
        self._buffer = b""
        self._reports: list[dict[str, Any]] = []
        self._ended = False
        self._wake = wake
        self._longest_end = max(plan.grace for plan in plans) + SETTLE + FORCE + 2 * _SLACK
        self._running: set[int] = set()
        self._free: list[int] = []
        """Numbers of the commands that the free supervisors ran last."""
        self._leaders = bytearray()
        """Lines: the number of a command, the leader of its process group, and the leader's
        start.
        """
        self._redacted: dict[int, dict[str, int]] = {}
        self._loop = loop = Loop()
        try:
            (control_r, self._control), (alive_r, self._alive) = loop.channel(), loop.channel()
            report_r, report_w = loop.channel()
            self._started, started_w = loop.channel()
            os.set_blocking(self._started, False)
            to_flow = ToFlow(alive_r, report_w, started_w)
            process = _WatchdogProcess(plans, control_r, to_flow, follow=follow)
            pid = fork_to(process.run)
        except OSError:
            loop.close_all()
            raise
        self._process = Child(loop, pid, ask=lambda: None, grace=self._longest_end)
        self._group = pid
        """The process group of the watchdog and its supervisors, without any command."""
        loop.close(control_r, *to_flow)
        loop.read(report_r, self._hear, at_end=self._end)
        loop.on(wake, lambda: None)

    def start(self, indexes: Sequence[int]) -> None:
        """Let the commands of these plans begin. Nothing happens if the watchdog is gone."""
        orders = b""
        for index in indexes:
            self._running.add(index)
            after = self._free.pop() if self._free else _NONE
            orders += b"%d %d\n" % (index, after)
        with suppress(ConnectionError):  # ``reports`` will find out
            write_all(self._control, orders)

    def reports(self, seconds: float) -> list[dict[str, Any]] | None:
        """Reports that came within ``seconds``; None if the watchdog is gone for good."""
        self._loop.wait(seconds)
        gone = self._process.reap() and not self._loop.wait(0)
        reports, self._reports = self._reports, []
        return None if not reports and (gone or self._ended) else reports

    def _end(self) -> None:
        self._ended = True

    def _hear(self, data: bytes) -> None:
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            report = json.loads(line)
            index = report["i"]
            if report["kind"] == "redacted":
                self._redacted.setdefault(index, {}).update(report["counts"])
            elif index in self._running:  # it may have been reported before its supervisor was lost
                self._running.discard(index)
                if report.get("free"):
                    self._free.append(index)
                report["redacted"] = self._redacted.pop(index, {})
                if report["kind"] == "lost":
                    self._end_groups({index})
                self._reports.append(report)
        self._read_started()  # the supervisors' messages must not fill up the channel

    def _read_started(self) -> None:
        with suppress(BlockingIOError, ConnectionError):
            while lines := os.read(self._started, CHUNK):
                self._leaders += lines

    def _end_groups(self, numbers: set[int]) -> None:
        """End the groups of those of these commands that had started."""
        self._read_started()
        *lines, _ = self._leaders.decode("ascii").split("\n")
        started = (line.split(" ", 2) for line in lines)
        leaders = [
            (int(pid), start or None) for index, pid, start in started if int(index) in numbers
        ]
        end_groups_of(leaders, FORCE)

    def close(self) -> None:
        """End everything that still runs, and wait until it has ended."""
        deadline = time.monotonic() + self._longest_end
        self._loop.forget(self._wake)
        self._loop.close(self._control, self._alive)
        self._process.finish()
        while not self._ended and (left := deadline - time.monotonic()) > 0:
            # For the supervisors of a watchdog that was killed; a command may have stopped them.
            self._signal_supervisors(signal.SIGCONT)
            self._loop.wait(min(left, _LOOK))
        if not self._ended:
            rows = table()
            for each in [row.pid for row in rows.values() if row.group == self._group]:
                send(descendants(each, rows), signal.SIGKILL)
            self._signal_supervisors(signal.SIGKILL)
        self._end_groups(self._running)
        self._loop.close_all()

    def _signal_supervisors(self, number: int) -> None:
        """Send a signal while one of them lives, as the channel shows: the group is theirs then."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, number)


def _order(fd: int, index: int) -> None:
    os.write(fd, b"%d\n" % index)


class _Supervised:
    """A supervisor, and the command that it runs or ran last."""

    def __init__(self, orders: int) -> None:
        """``orders`` is the descriptor for its next command."""
        self.orders = orders
        self.index = _NONE
        self.began = 0.0
        self.hung_at = 0.0


class _WatchdogProcess:
    """The watchdog's end, in a process of its own."""

    def __init__(
        self, plans: Sequence[CommandPlan], control: int, flow: ToFlow, *, follow: bool
    ) -> None:
        self.plans, self.control, self.flow = plans, control, flow
        self.follow = follow
        self.waiting = b""
        self.ended = False
        self.supervisors: dict[int, _Supervised] = {}
        """The supervisors by process id."""

    def run(self) -> int:
        """Serve until Flow closes the control pipe, then end everything. Returns a status."""
        self.loop = watch_over({self.control, *self.flow})
        gc.freeze()  # Flow's objects are never looked at again, so their pages stay shared
        self.complete = not self.follow and become_subreaper()
        self.loop.read(self.loop.own(self.control), self._take_orders, at_end=self._end)
        while not self.ended:
            next_hung = min((each.hung_at for each in self.supervisors.values()), default=None)
            self.loop.wait(LONG if next_hung is None else next_hung - time.monotonic())
            self._reap()
            for pid, supervisor in self.supervisors.items():
                if time.monotonic() >= supervisor.hung_at:  # stopped, perhaps, by its command
                    os.kill(pid, signal.SIGKILL)
                    self._dismiss(supervisor)
        self._finish()
        return 0

    def _take_orders(self, data: bytes) -> None:
        *lines, self.waiting = (self.waiting + data).split(b"\n")
        for line in lines:
            self._start(*map(int, line.split()))

    def _end(self) -> None:
        self.ended = True

    def _start(self, index: int, after: int) -> None:
        """Let the supervisor that ran ``after`` run ``index``, or a new one."""
        supervisor = next((s for s in self.supervisors.values() if s.index == after), None)
        try:
            if supervisor is None or not self._reordered(supervisor, index):
                supervisor = self._new_supervisor(index)
        except OSError as error:
            why = f"cannot start a process: {error.strerror}"
            send_report(self.flow.report, index, {"kind": "refused", "why": why, "seconds": 0.0})
            return
        plan = self.plans[index]
        limits = 2 * plan.timeout + plan.grace + SETTLE + FORCE + _SLACK  # bash -n has a limit too
        supervisor.index, supervisor.began = index, time.monotonic()
        supervisor.hung_at = supervisor.began + limits

    def _reordered(self, supervisor: _Supervised, index: int) -> bool:
        """Give it another command; False if it has ended, or has to."""
        if supervisor.orders < 0:
            return False
        try:
            _order(supervisor.orders, index)
        except ConnectionError:
            return False
        return True

    def _new_supervisor(self, index: int) -> _Supervised:
        read, write = self.loop.channel()
        try:
            _order(write, index)  # before it can end, so that this is its command in every case
            pid = fork_to(lambda: self._become_supervisor(read))
        except OSError:
            self.loop.close(write)
            raise
        finally:
            self.loop.close(read)
        self.supervisors[pid] = supervisor = _Supervised(write)
        return supervisor

    def _dismiss(self, supervisor: _Supervised) -> None:
        """Give it no more commands."""
        self.loop.close(supervisor.orders)
        supervisor.orders = -1

    def _become_supervisor(self, orders: int) -> int:
        signal.set_wakeup_fd(-1)
        self.loop.disown(orders)
        self.loop.close_all()
        supervisor = Supervisor(
            self.plans,
            orders=orders,
            flow=self.flow,
            follow=not self.complete,
        )
        return supervisor.serve()

    def _reap(self) -> bool:
        """Collect exited processes; True if this process has no child left.

        A supervisor that was stopped is killed: its command may have done it, to outlast its limit.
        """
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if os.WIFSTOPPED(status):
                if pid in self.supervisors:
                    os.kill(pid, signal.SIGKILL)
                continue
            supervisor = self.supervisors.pop(pid, None)
            if supervisor is None:
                continue
            self._dismiss(supervisor)
            if status != 0:
                code = os.waitstatus_to_exitcode(status)
                lost = {
                    "kind": "lost",
                    "signal": max(-code, 0),
                    "seconds": time.monotonic() - supervisor.began,
                }
                self._end_strays()
                if code != LEFT_BEHIND:
                    send_report(self.flow.report, supervisor.index, lost)

    def _end_strays(self) -> None:
        """End all children of this process that are no supervisors, and their descendants."""
        deadline = time.monotonic() + FORCE
        while self.complete and time.monotonic() < deadline:
            rows = table()
            here = os.getpid()
            for pid in self.supervisors:
                rows.pop(pid, None)  # cuts off its own processes, too
            strays = descendants(here, rows)
            if not strays:
                return
            send(strays, signal.SIGKILL)
            time.sleep(0.001)

    def _finish(self) -> None:
        """End: Flow is gone, or wants no more.

        The supervisors see it too, and end their commands.
        """
        longest = max((plan.grace for plan in self.plans), default=0.0)
        deadline = time.monotonic() + longest + SETTLE + FORCE + _SLACK
        for supervisor in self.supervisors.values():
            self._dismiss(supervisor)
        while not (childless := self._reap()) and self.supervisors:
            left = deadline - time.monotonic()
            if left <= 0:
                for pid in self.supervisors:
                    os.kill(pid, signal.SIGKILL)
                left = _SLACK
                deadline += _SLACK
            self.loop.wait(left)
        if not childless:  # a process that lost its parent is a child of this one by now
            self._end_strays()
        discard_outputs(self.plans)  # the files that Flow, or the command, left
