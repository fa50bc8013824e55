"""Finding and ending every process that a command started.

Linux: the process that watches a command is a *subreaper*. A process below it whose parent dies
becomes its child, in any session or group, so that "no child is left" means "nothing is left"
(:class:`ReapedTree`). Elsewhere processes are followed by looking at the table again and again
(:class:`FollowedTree`), which one that detaches itself quickly enough can escape; the evidence
records that.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` itself loads `enum`
import os
import sys
import time

from flow.adapters.process.child import close_others, end_group, forget_signals
from flow.adapters.process.loop import Loop
from flow.adapters.process.tool import run_tool
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

CANNOT_FOLLOW = (
    "This system offers no way to find every process that a command started: one that detached "
    "itself at once may have been left running."
)


_STAT_LIMIT = 1 << 13
"""Bytes: more than the line of a process has."""


class Process(NamedTuple):
    """A row of the process table.

    ``start`` distinguishes it from a later one with the same number.
    """

    pid: int
    parent: int
    group: int
    state: str
    start: str
    name: str


class Tree(Protocol):
    """The processes that one command started, itself included."""

    complete: bool
    """Whether nothing can escape."""

    status: int | None
    """The command's ``waitpid`` status, once it has exited."""

    def watch(self, pid: int) -> None:
        """Take ``pid`` as the command."""

    def reap(self) -> bool:
        """Collect exited processes; True if none of the tree is left."""

    def living(self) -> list[Process]:
        """The processes of the tree that exist now; never any other."""


def watch_over(keep: set[int]) -> Loop:
    """Make a process that was just forked one that only watches its children.

    It leads a session of its own, where no Ctrl-C reaches it, and holds no descriptor except
    ``keep``, above all no lock of Flow's; its missing standard streams are empty. The loop wakes
    when a child exits.
    """
    os.setsid()
    forget_signals()
    close_others(keep)
    while (null := os.open(os.devnull, os.O_RDWR)) < 2:
        pass
    if null > 2:
        os.close(null)
    loop = Loop()
    loop.wake_on_children()
    return loop


def make_tree(*, reaps: bool) -> Tree:
    """The tree of the next command that this process starts. ``reaps``: it is a subreaper."""
    return ReapedTree() if reaps else FollowedTree()


def become_subreaper() -> bool:
    """Make this process the new parent of its orphaned descendants; False if that is unknown."""
    if not sys.platform.startswith("linux"):
        return False
    set_child_subreaper = 36
    try:
        done = _prctl(set_child_subreaper, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return False
    return done == 0 and os.path.exists("/proc/self/stat")


def _prctl(*numbers: int) -> int:
    """The system call, in the way of ``ctypes`` but without loading it, which takes 3 ms."""
    try:
        from _ctypes import call_function, dlopen, dlsym

        here = dlopen(None, 0)  # type: ignore[arg-type]  # all that is loaded
        result: int = call_function(dlsym(here, "prctl"), numbers)
    except (ImportError, AttributeError, TypeError):  # ``_ctypes`` is private and may change
        import ctypes

        result = ctypes.CDLL(None).prctl(*numbers)
    return result


class ReapedTree:
    """All descendants of this process, which must be a subreaper and have no other children."""

    complete = True

    def __init__(self) -> None:
        self.status: int | None = None
        self._command = -1

    def watch(self, pid: int) -> None:
        """Take ``pid`` as the command."""
        self._command, self.status = pid, None

    def reap(self) -> bool:
        """Collect exited processes; True if none of the tree is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self._command:
                self.status, self._command = status, -1

    def living(self) -> list[Process]:
        """The processes of the tree that exist now."""
        return descendants(os.getpid(), table())


class FollowedTree:
    """The processes that were seen to descend from the command, by parent or by process group."""

    complete = False

    def __init__(self) -> None:
        self.status: int | None = None
        self._command = -1
        self._known: dict[int, str] = {}
        self._groups: set[int] = set()

    def watch(self, pid: int) -> None:
        """Take ``pid`` as the command."""
        self._command, self.status = pid, None
        self._groups.add(pid)
        self.living()

    def reap(self) -> bool:
        """Collect exited processes; True if none of the tree was found."""
        if self._command >= 0:
            pid, status = os.waitpid(self._command, os.WNOHANG)
            if pid == 0:
                return False
            self.status, self._command = status, -1
        return not self.living()

    def living(self) -> list[Process]:
        """The processes of the tree that exist now, as far as known; frequent looks find more."""
        rows = table()
        rows.pop(os.getpid(), None)
        known = {p for p, start in self._known.items() if p in rows and rows[p].start == start}
        grown = True
        while grown:
            more = {
                row.pid
                for row in rows.values()
                if row.pid not in known and (row.parent in known or row.group in self._groups)
            }
            known |= more
            self._groups |= {rows[pid].group for pid in more if rows[pid].group == pid}
            grown = bool(more)
        self._known = {pid: rows[pid].start for pid in known}
        return [rows[pid] for pid in sorted(known) if rows[pid].state != "Z"]


def send(processes: Iterable[Process], number: int) -> None:
    """Send a signal to each, and never to another that got the same number meanwhile."""
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(signal, "pidfd_send_signal"):
                _send_exactly(process, number)
            else:
                os.kill(process.pid, number)


def _send_exactly(process: Process, number: int) -> None:
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    except OSError:  # an old kernel, or no descriptor left
        os.kill(process.pid, number)
        return
    try:
        now = _read_stat(str(process.pid))
        if now is not None and now.start == process.start:
            signal.pidfd_send_signal(fd, number)
    finally:
        os.close(fd)


def start_of(pid: int) -> str | None:
    """Start of a process, which tells it from a later one; None where only ``ps`` would know it."""
    row = _read_stat(str(pid))
    return row.start if row else None


def end_groups_of(leaders: Iterable[tuple[int, str | None]], seconds: float) -> None:
    """Kill the groups that these processes led, and wait until they have ended.

    Each leader comes with its start: a number that belongs to a later process is left alone.
    Processes that SIGKILL cannot end are given up after ``seconds``.
    """
    groups = {pid for pid, start in leaders if start_of(pid) in (None, start)}
    for pid in groups:
        end_group(pid)
    deadline = time.monotonic() + seconds
    while groups and time.monotonic() < deadline:
        if not any(row.group in groups and row.state not in "ZX" for row in table().values()):
            return
        time.sleep(0.001)


def descendants(pid: int, rows: dict[int, Process]) -> list[Process]:
    """Everything below ``pid`` in ``rows`` that is not a zombie, parents first."""
    below: dict[int, list[Process]] = {}
    for row in rows.values():
        below.setdefault(row.parent, []).append(row)
    below_pid = below.get(pid, [])
    for row in below_pid:  # it grows while it is walked
        below_pid.extend(below.get(row.pid, ()))
    return [row for row in below_pid if row.state != "Z"]


def table() -> dict[int, Process]:
    """Every process that can be seen, by number."""
    if os.path.exists("/proc/self/stat"):
        rows = (_read_stat(name) for name in os.listdir("/proc") if name.isdigit())
        return {row.pid: row for row in rows if row is not None}
    return _ask_ps()


def _read_stat(pid: str) -> Process | None:
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(fd, _STAT_LIMIT)  # a file of /proc: one read returns all of it
        finally:
            os.close(fd)
    except OSError:  # it has just gone
        return None
    start, end = text.index(b"("), text.rindex(b")")  # the name may hold anything
    fields = text[end + 2 :].decode("ascii").split()
    return Process(
        pid=int(pid),
        parent=int(fields[1]),
        group=int(fields[2]),
        state="Z" if fields[0] == "X" else fields[0],
        start=fields[19],
        name=_plain(text[start + 1 : end]),
    )


def _ask_ps() -> dict[int, Process]:
    result = run_tool(
        ("/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,state=,lstart=,comm="),
        cwd="/",
        env={"PATH": "/bin:/usr/bin", "LC_ALL": "C"},
        timeout=10,
    )
    rows = {}
    for line in result.stdout.splitlines():
        fields = line.split(None, 9)  # lstart is five words
        if len(fields) == 10:
            pid, parent, group = (int(field) for field in fields[:3])
            start = b" ".join(fields[4:9]).decode("ascii", "replace")
            name = _plain(os.path.basename(fields[9].strip()))
            state = fields[3][:1].decode("ascii", "replace")
            rows[pid] = Process(pid, parent, group, state, start, name)
    return rows


def _plain(name: bytes) -> str:
    """A process's name, which it chose itself, as at most 15 harmless characters."""
    text = name.decode("utf-8", "replace")[:15]
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text)
