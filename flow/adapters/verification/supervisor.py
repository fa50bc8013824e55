"""A process that looks after one command at a time: its output, its time, and its processes.

It is forked, never executed, and has the command as its child. It takes the next command only when
no process of the last one is left, so that every process below it belongs to the running one. When
Flow ends, in any way, the ``alive`` channel reports end of file and the supervisor ends the
command's whole tree. Its findings go to Flow as one short line of JSON (at most 512 bytes, which
every system sends in one piece).
"""

from __future__ import annotations

import os
import time

from flow.adapters.process.child import Program, start
from flow.adapters.process.ending import EndingSteps
from flow.adapters.process.environment import is_below
from flow.adapters.process.loop import LONG, BoundedBytes, Loop, attend
from flow.adapters.process.output import END, OutputFile, discard
from flow.adapters.process.tree import become_subreaper, make_tree, start_of
from flow.errors import FlowError
from flow.startup import json
from flow.startup.contexts import suppress
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from flow.adapters.process.tree import Tree
    from flow.adapters.sandbox.bubblewrap import Confinement

LEFT_BEHIND = 3
"""The exit status of a supervisor that has reported, and may have left processes."""

_REASON = 160
_SYNTAX_OUTPUT = 1 << 16
_SANDBOX_STATUS = 1 << 16
_SANDBOX_OUTPUT = 1 << 12
"""Bytes of the first output that may be the sandbox's own."""
_KINDS = 12
"""Kinds of secrets, at most 15 bytes each, that fit in one line of a report."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,@%+= -")
_RESERVED = frozenset(
    (
        *("if", "then", "elif", "else", "fi", "time", "for", "until", "while", "do", "done"),
        *("case", "esac", "coproc", "select", "function"),
    )
)


def cannot_be_malformed(command: str) -> bool:
    """Whether a command is plain words, the first one not the shell's own."""
    return _PLAIN.issuperset(command) and _RESERVED.isdisjoint(command.split()[:1])


class CommandPlan(NamedTuple):
    """A command and its settings. Times are seconds, ``limit`` is bytes."""

    top: str
    """The real path of the checkout."""
    work_file: str
    """Path of the file for its output, below ``top``."""
    command: str
    cwd: str
    """Below ``top``; ``""`` is ``top`` itself."""
    timeout: float
    grace: float
    limit: int
    bash: str
    env: dict[str, str]
    confined: Confinement | None = None
    """The sandbox to run it in."""


def discard_outputs(plans: Sequence[CommandPlan]) -> None:
    """Remove the remaining work files of one runner's plans, which share a folder."""
    names = [name for plan in plans for name in (plan.work_file, plan.work_file + END)]
    if names:
        discard(plans[0].top, names)


class ToFlow(NamedTuple):
    """Descriptors between Flow and the processes that watch commands."""

    alive: int
    """End of file on it shows that Flow is gone, or wants no more."""
    report: int
    """For reports on ended commands; each line wakes Flow."""
    started: int
    """For the processes to end if a supervisor is killed; read when Flow is woken."""


class CommandRefused(Exception):
    """The command cannot be run; the text is the reason."""


class Supervisor:
    """Runs the commands whose numbers come over ``orders``. For a process that was just forked.

    Until it has reported a command, the watchdog must do so. Its report contains ``free`` if it can
    take the next one; otherwise it ends.
    """

    def __init__(
        self, plans: Sequence[CommandPlan], *, orders: int, flow: ToFlow, follow: bool
    ) -> None:
        """``follow``: work without a subreaper."""
        self.plans, self.flow = plans, flow
        self.reaps = not follow and become_subreaper()
        self.numbers: list[int] = []
        self.dismissed = False
        """Whether no more orders can come: the watchdog is gone, or ends."""
        self.abandoned = False
        """Whether Flow is gone, or wants no more."""
        self.run: _CommandRun | None = None
        self.loop = Loop()
        self.loop.wake_on_children()
        self.loop.read(self.loop.own(orders), self._take_order, at_end=self._dismiss)
        self.loop.read(flow.alive, lambda _: None, at_end=self._abandon)

    def _take_order(self, data: bytes) -> None:
        self.numbers += map(int, data.split())

    def _dismiss(self) -> None:
        self.dismissed = True

    def _abandon(self) -> None:
        self.abandoned = True
        if self.run is not None:
            self.run.abandon()

    def serve(self) -> int:
        """Run one command after the other; returns the exit status of this process."""
        while True:
            while not (self.numbers or self.dismissed or self.abandoned):
                self.loop.wait(LONG)
            if self.abandoned or not self.numbers:
                return 0
            index = self.numbers.pop(0)
            outcome = self._outcome(index)
            if outcome["kind"] == "abandoned":
                return 0
            send_report(self.flow.report, index, outcome)
            if not outcome["free"]:
                return LEFT_BEHIND if outcome["kind"] == "lost" else 0

    def _outcome(self, index: int) -> dict[str, Any]:
        plan = self.plans[index]
        outcome: dict[str, Any]
        held = self.loop.owned()
        try:
            try:
                output = OutputFile(
                    plan.top, plan.work_file, plan.limit, lambda: _redaction().redactor(plan.env)
                )
            except (OSError, FlowError) as error:
                outcome = {**_unrecorded(error), "free": True}
            else:
                tree = make_tree(reaps=self.reaps)
                self.run = _CommandRun(plan, tree, output, self.loop, self.flow, index)
                outcome = {**self.run.outcome(), "free": not self.run.stuck}
                output.close()
            self.loop.close(*(self.loop.owned() - held))
        except Exception as error:  # noqa: BLE001  # a defect or no descriptor left: no result
            why = f"{type(error).__name__}: {error}"
            outcome = {"kind": "lost", "signal": 0, "why": why, "free": False}
        self.run = None
        if "why" in outcome:  # it may quote the command, or bash's message on it
            outcome["why"] = _redaction().redacted_text(outcome["why"], plan.env)
        return outcome


def _redaction() -> ModuleType:
    """The module of redaction, loaded only if there was output, or a reason quotes the command."""
    from flow.adapters.process import redaction

    return redaction


def _unrecorded(error: OSError | FlowError) -> dict[str, Any]:
    if isinstance(error, FlowError):
        return {"kind": "storage", "why": error.fault.message, "code": error.code}
    return {"kind": "storage", "why": error.strerror or str(error)}


def send_report(fd: int, index: int, outcome: dict[str, Any]) -> None:
    """Write one line; it fits the smallest PIPE_BUF, so that lines of many writers never mix."""
    if "why" in outcome:
        text = outcome["why"].replace('"', "'").replace("\\", "/")  # JSON would make two of them
        outcome["why"] = "".join(c if 32 <= ord(c) < 127 else "?" for c in text)[:_REASON]
    with suppress(ConnectionError):  # Flow is gone, which the other pipes show too
        os.write(fd, json.dumps({"i": index, **outcome}, separators=(",", ":")).encode() + b"\n")


class _CommandRun:
    """The state of one command's run."""

    def __init__(
        self,
        plan: CommandPlan,
        tree: Tree,
        output: OutputFile,
        loop: Loop,
        flow: ToFlow,
        index: int,
    ) -> None:
        self.plan, self.tree, self.output, self.loop = plan, tree, output, loop
        self.flow, self.index = flow, index
        self.abandoned = False
        self.stuck = False
        """Whether a process of the command could not be ended."""
        self.disk_error: OSError | FlowError | None = None
        self.ending = self._ending()
        self.sandbox_status = BoundedBytes(_SANDBOX_STATUS)

    def _ending(self) -> EndingSteps:
        own = "bwrap" if self.plan.confined is not None else ""
        return EndingSteps(self.tree, self.plan.grace, own)

    def abandon(self) -> None:
        """End it: its outcome is not wanted any more."""
        self.abandoned = True
        self.ending.ask(time.monotonic())

    def outcome(self) -> dict[str, Any]:
        """Run it; returns the outcome as a report has it."""
        outcome: dict[str, Any]
        began = time.monotonic()
        try:
            self._enter()
            if self.plan.confined is not None and self.plan.confined.refused:
                raise CommandRefused(self.plan.confined.refused)
            outcome = {"kind": self._check_syntax()}
            if outcome["kind"] == "exit":
                began = time.monotonic()
                outcome = self._run_command()
        except CommandRefused as error:
            outcome = {"kind": "refused", "why": str(error)}
        outcome.setdefault("seconds", time.monotonic() - began)
        if self.abandoned:
            return {"kind": "abandoned"}
        if self.disk_error is not None:
            return _unrecorded(self.disk_error)
        try:
            stored = self.output.finish()
        except (OSError, FlowError) as error:
            return _unrecorded(error)
        outcome.update(sha=stored.sha256, size=stored.size, printed=stored.printed)
        outcome.update(cut=stored.left_out, **({"end": True} if stored.end else {}))
        self._report_redacted(stored.redacted)
        return outcome

    def _report_redacted(self, counts: Mapping[str, int]) -> None:
        """Report the number of redacted secrets, on lines of their own."""
        rows = list(counts.items())
        for at in range(0, len(rows), _KINDS):
            report = {"kind": "redacted", "counts": dict(rows[at : at + _KINDS])}
            send_report(self.flow.report, self.index, report)

    def _enter(self) -> None:
        """Change to the command's folder, and check that it is the intended one."""
        try:
            os.chdir(os.path.join(self.plan.top, self.plan.cwd))
            inside = is_below(os.getcwd(), self.plan.top)
        except OSError as error:
            raise CommandRefused(f"cwd {self.plan.cwd!r}: {error.strerror}") from None
        if not inside:
            raise CommandRefused(f"cwd {self.plan.cwd!r} leads outside the checkout")

    def _check_syntax(self) -> Literal["exit", "timeout"]:
        """Let bash parse the whole command first: else the part before an error would run."""
        command = self.plan.command
        if cannot_be_malformed(command):
            return "exit"
        messages = BoundedBytes(_SYNTAX_OUTPUT)
        outcome = self._attend(messages.take, "-n")
        if outcome["kind"] == "timeout":
            return "timeout"
        if outcome["status"] != 0:
            self._store(bytes(messages.data))
            lines = messages.data.decode("utf-8", "replace").splitlines() or [""]
            raise CommandRefused(
                f"bash -n refuses it: {lines[0].removeprefix(self.plan.bash + ': ')}"
            )
        return "exit"

    def _run_command(self) -> dict[str, Any]:
        if self.abandoned:
            return {}
        if self.plan.confined is None:
            return self._attend(self._store)
        beginning = BoundedBytes(_SANDBOX_OUTPUT)

        def take(data: bytes) -> None:
            beginning.take(data)
            self._store(data)

        outcome = self._attend(take)
        status = outcome["status"]
        if status is not None and os.WIFEXITED(status):
            refused = self.plan.confined.refusal(beginning.data, self.sandbox_status.data)
            if refused:
                raise CommandRefused(refused)
        return outcome

    def _start(self, take: Callable[[bytes], None], options: Sequence[str]) -> int:
        """Start bash with ``options``; ``take`` gets its output, whose descriptor is returned."""
        plan = self.plan
        argv = ["bash", "--noprofile", "--norc", *options, "-o", "pipefail", "-c", plan.command]
        # Without a subreaper the command itself reports its number, before it can kill this
        # process.
        before = None if self.tree.complete else self._announce
        program = Program(plan.bash, argv, plan.env)
        null = self.loop.own(os.open(os.devnull, os.O_RDONLY))
        out, out_w = self.loop.pipe()
        given = [null, out_w]
        if plan.confined is not None and "-n" not in options:
            status, status_w = self.loop.pipe()
            given.append(status_w)
            os.set_inheritable(status_w, True)
            self.loop.read(status, self.sandbox_status.take)
            argv = plan.confined.command(os.getcwd(), status_w, argv[1:])
            program = Program(argv[0], argv, plan.env)
        try:
            pid = start(program, (null, out_w, out_w), before=before)
        except OSError as error:
            raise CommandRefused(
                f"cannot start {os.path.basename(program.path)}: {error.strerror}"
            ) from None
        except ValueError as error:
            raise CommandRefused(f"cannot start bash: {error}") from None
        finally:
            self.loop.close(*given)
        self.loop.read(out, take)
        if before is None:
            self._announce(pid)
        self.tree.watch(pid)
        return out

    def _announce(self, pid: int | None = None) -> None:
        """Report to Flow the process to end if this one is killed."""
        pid = os.getpid() if pid is None else pid
        line = f"{self.index} {pid} {start_of(pid) or ''}\n"
        with suppress(ConnectionError):  # Flow is gone
            os.write(self.flow.started, line.encode("ascii"))

    def _store(self, data: bytes) -> None:
        if self.disk_error is None:
            try:
                self.output.write(data)
            except (OSError, FlowError) as error:
                self.disk_error = error
                self.ending.force(time.monotonic())

    def _attend(self, take: Callable[[bytes], None], *options: str) -> dict[str, Any]:
        """Run bash until no process of its tree is left, ending those that must be ended."""
        began = time.monotonic()
        self.ending = self._ending()
        out = self._start(take, options)
        attended = attend(self.loop, self.ending, began=began, timeout=self.plan.timeout)
        self.loop.close(out)
        report = self.ending.report(left_over=not attended.timed_out)
        self.stuck = self.stuck or "stuck" in report
        return {
            "kind": "timeout" if attended.timed_out else "exit",
            "status": attended.status,
            "seconds": attended.seconds,
            **report,
        }
