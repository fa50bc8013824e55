"""Running a goal's commands (SPEC 3, step 2): the order, the callbacks, the results.

The work is done in other processes (``watchdog``, ``supervisor``); here one thread starts them in
the goal's order, waits for their reports and calls back. At every end of a run, by itself, an
exception in a callback, a signal or a kill, no process of it is left.
"""

from __future__ import annotations

import os

from flow.adapters.fs.files import TEMP_PREFIX
from flow.adapters.process.environment import clean_environment, find_program
from flow.adapters.process.interrupt import Interrupts
from flow.adapters.process.outcome import Exit, read_exit, signal_name
from flow.adapters.process.output import END
from flow.adapters.process.tree import CANNOT_FOLLOW
from flow.adapters.verification.supervisor import CommandPlan, discard_outputs
from flow.adapters.verification.variables import limitation, removed_and_named, untranslate_messages
from flow.adapters.verification.watchdog import Watchdog
from flow.app.checks import CheckResult, RawOutput
from flow.core.text.display import visible
from flow.errors import FlowError, Interrupted, RefusedError, StorageError
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flow.adapters.sandbox.bubblewrap import Confinement
    from flow.app.checks import Check, CheckEvents

FALLBACK_BASH = "/bin/bash"
OUTPUT_LIMIT = 10 << 20
GRACE = 2.0
TICK = 0.1
IDLE = 1.0
"""Seconds between two checks whether the watchdog is alive."""


class CommandRunner:
    """Runs checks below ``top``; a :class:`flow.app.ports.RunChecks`.

    ``work_dir`` is the folder, relative to ``top``, in which outputs grow; ``ended`` must take a
    result's ``output`` from there (rename or link it), since leftovers are removed. ``environ`` is
    the user's environment. ``output_limit`` is in bytes, ``grace`` (between SIGTERM and SIGKILL) in
    seconds; ``tick`` is called about every ``tick_seconds`` while something runs, and after each
    start and end. ``follow`` works without features that only Linux has; it is for tests.
    ``outside`` is the folder from which bash is never taken, if that is not ``top``.
    """

    def __init__(
        self,
        top: str,
        work_dir: str,
        *,
        environ: Mapping[str, str],
        output_limit: int = OUTPUT_LIMIT,
        grace: float = GRACE,
        tick_seconds: float = TICK,
        follow: bool = False,
        outside: str | None = None,
    ) -> None:
        self._top = os.path.realpath(top)
        self._outside = outside or self._top
        self._work_dir = work_dir
        self._environ = environ
        self._limit = max(output_limit, 1)
        self._grace = grace
        self._tick_seconds = tick_seconds
        self._follow = follow

    def __call__(self, checks: Sequence[Check], *, jobs: int, events: CheckEvents) -> None:
        """Run ``checks``, at most ``jobs`` at once, each ``serial`` one alone.

        All callbacks are called in this thread, in the order of events; an exception from one ends
        everything that runs and is passed on. Raises :class:`StorageError` if an output cannot be
        recorded, :class:`Interrupted` on SIGINT, SIGTERM or SIGHUP.
        """
        if not checks:
            return
        environment = _environment(self._environ)
        plans = self._plans(checks, environment.variables)
        run = _RunnerCall(checks, plans, environment, max(jobs, 1), events, self._follow)
        run.loop(self._tick_seconds if events.tick else IDLE)

    def _plans(self, checks: Sequence[Check], env: dict[str, str]) -> list[CommandPlan]:
        path = self._environ.get("PATH")
        bash = find_program("bash", path, outside=self._outside) or FALLBACK_BASH
        confinements: Sequence[Confinement | None] = [None] * len(checks)
        if any(check.sandbox is not None for check in checks):
            from flow.adapters.sandbox.bubblewrap import confine_all

            confinements = confine_all(self._top, checks, bash, env, self._environ)
        return [
            CommandPlan(
                top=self._top,
                work_file=f"{self._work_dir}/{TEMP_PREFIX}{os.urandom(9).hex()}",
                command=check.command,
                cwd=check.cwd,
                timeout=check.timeout_seconds,
                grace=self._grace,
                limit=self._limit,
                bash=bash,
                env=env if confinement is None else dict(confinement.env),
                confined=confinement,
            )
            for check, confinement in zip(checks, confinements, strict=True)
        ]


class _Environment(NamedTuple):
    """Variables for commands, names that were removed, and limitations for the evidence."""

    variables: dict[str, str]
    removed: tuple[str, ...]
    limitations: tuple[str, ...]


def _environment(environ: Mapping[str, str]) -> _Environment:
    env, hijacking = clean_environment(environ)
    changing, named = removed_and_named(env)
    for name in changing:
        del env[name]
    changing += untranslate_messages(env)
    removed = tuple(sorted((*hijacking, *map(visible, changing))))
    return _Environment(env, removed, (limitation(list(map(visible, named))),) if named else ())


class _RunnerCall:
    """One call of a runner."""

    def __init__(
        self,
        checks: Sequence[Check],
        plans: Sequence[CommandPlan],
        environment: _Environment,
        jobs: int,
        events: CheckEvents,
        follow: bool,
    ) -> None:
        self.checks, self.plans, self.jobs = checks, plans, jobs
        self.environment = environment
        self.events, self.follow = events, follow
        self.upcoming = 0
        """The place of the check that is started next."""
        self.running: set[int] = set()
        """Numbers of the commands that were started and not reported yet."""
        self.watchdog: Watchdog | None = None

    def loop(self, seconds: float) -> None:
        """Start, wait for reports (at most ``seconds`` at a time), hand over, until all is done."""
        with Interrupts() as interrupts:
            try:
                while self._next is not None or self.running:
                    self._start_waiting(interrupts)
                    if not self.running:  # none of the rest fits
                        break
                    if self.events.tick:
                        self.events.tick()
                    reports = self._reports(seconds)
                    self.running.difference_update(report["i"] for report in reports)
                    for report in reports:
                        interrupts.check()
                        self._hand_over(report, interrupts)
                    interrupts.check()
            except KeyboardInterrupt:
                raise Interrupted("interrupted", remedy="evaluate again when ready") from None
            finally:
                self._close()

    def _start_waiting(self, interrupts: Interrupts) -> None:
        """Start all commands that may run now, by one order, which wakes the watchdog once."""
        indexes = []
        while (check := self._next) and self._may_start(check):
            interrupts.check()
            index = self.upcoming
            self.upcoming += 1
            if self.events.fits and not self.events.fits(check):
                continue
            self.running.add(index)
            self.events.started(check)
            indexes.append(index)
        if indexes:
            self._start(indexes, interrupts.fd)

    def _hand_over(self, report: Mapping[str, Any], interrupts: Interrupts) -> None:
        """Hand over a result; if several run at once, the next ones run while it is recorded.

        They also take the places of those that ended with it, and are handed over after it: the
        look at its changes came after their ends, too.
        """
        index = report["i"]
        record = self.events.ended(self.checks[index], self._result(index, report))
        try:
            if self.jobs > 1 and self._next and not self._next.serial:
                self._start_waiting(interrupts)
        finally:
            if record is not None:
                record()

    @property
    def _next(self) -> Check | None:
        """The check that is started next; None if all were."""
        return self.checks[self.upcoming] if self.upcoming < len(self.checks) else None

    def _may_start(self, check: Check) -> bool:
        if not self.running:
            return True
        alone = check.serial or any(self.checks[index].serial for index in self.running)
        return not alone and len(self.running) < self.jobs

    def _start(self, indexes: Sequence[int], wake: int) -> None:
        if self.watchdog is None:
            try:
                self.watchdog = Watchdog(self.plans, wake=wake, follow=self.follow)
            except OSError as error:
                raise StorageError(
                    f"cannot start a process: {error.strerror}",
                    code="no_process",
                    remedy="too many processes or open files; close some, then run it again",
                ) from error
        self.watchdog.start(indexes)

    def _reports(self, seconds: float) -> list[dict[str, Any]]:
        assert self.watchdog is not None  # noqa: S101  # something runs
        reports = self.watchdog.reports(seconds)
        if reports is not None:
            return reports
        self.watchdog.close()  # it was killed from outside; the next command gets a new one
        self.watchdog = None
        return [{"i": index, "kind": "lost", "signal": 9} for index in sorted(self.running)]

    def _close(self) -> None:
        try:
            if self.watchdog is not None:
                self.watchdog.close()
        finally:
            discard_outputs(self.plans)
            for plan in self.plans:
                if plan.confined is not None:
                    plan.confined.tidy(plan.top)

    def _result(self, index: int, report: Mapping[str, Any]) -> CheckResult:
        check, plan = self.checks[index], self.plans[index]
        if report["kind"] == "storage":
            raise _cannot_record(check, plan, report)
        exited = _exit(report, plan.timeout)
        path = f"{plan.top}/{plan.work_file}"
        confined = plan.confined
        return CheckResult(
            outcome=exited.outcome,
            exit_code=exited.exit_code,
            result=exited.result,
            reason=exited.reason,
            duration_seconds=report.get("seconds", 0.0),
            output=RawOutput(path, report["sha"], report["size"]) if "sha" in report else None,
            output_bytes=report.get("printed", 0),
            truncated_bytes=report.get("cut", 0),
            environment_removed=self.environment.removed,
            limitations=(
                *_limitations(report),
                *(confined.limitations if confined is not None else ()),
                *self.environment.limitations,
            ),
            redacted=tuple(sorted(report.get("redacted", {}).items())),
            sandbox=confined.record if confined is not None else None,
            output_end=path + END if report.get("end") else None,
        )


def _exit(report: Mapping[str, Any], timeout: float) -> Exit:
    """End of a command, by a report of kind ``exit``, ``timeout``, ``refused`` or ``lost``."""
    kind = report["kind"]
    if kind == "exit":
        return read_exit(report["status"])
    if kind == "timeout":
        why = f"took longer than {timeout:g} s, its time limit"
        return Exit("inconclusive", None, "timeout", why)
    if kind == "refused":
        return Exit("inconclusive", None, "could not run", report["why"])
    name = signal_name(report["signal"])
    ended = f"was ended by signal {name}" if name else f"failed ({report.get('why', '?')})"
    why = f"the process that watched it {ended} while it ran, so how it ended is not known"
    return Exit("inconclusive", None, f"signal {name or 'KILL'}", why)


def _limitations(report: Mapping[str, Any]) -> Iterator[str]:
    for key, verb in (("left", "Flow ended"), ("stuck", "Flow could not end")):
        if key in report:
            count, *names = report[key]
            more = ", ..." if count > len(names) else ""
            processes = "a process" if count == 1 else f"{count} processes"
            yield f"{verb} {processes} that the command left running: {', '.join(names)}{more}."
    if report.get("loose"):
        yield CANNOT_FOLLOW


def _cannot_record(check: Check, plan: CommandPlan, report: Mapping[str, Any]) -> FlowError:
    kind = RefusedError if report.get("code") == "unsafe_path" else StorageError
    return kind(
        f"cannot record the output of {check.criterion_id}: {report['why']}",
        code=report.get("code"),
        file=os.path.dirname(plan.work_file),
        remedy="free some disk space or put the folder right, then evaluate again",
    )
