"""One program that gets a question: text in, text out, its whole process tree ended after it.

A reaper is forked for it, as ``supervisor`` is for a goal's command: it has the program as its
child, finds every descendant, and ends them all when the program has exited, when its time is up,
or when Flow is gone. Unlike a goal's command the program gets text on its standard input, its two
outputs are kept separate, and both are held in memory, since they are small.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

from flow.adapters.process.child import InterruptHeld, end_group, fork_to, start, status_of
from flow.adapters.process.ending import FORCE, SETTLE, EndingSteps
from flow.adapters.process.environment import locate
from flow.adapters.process.loop import BoundedBytes, Child, Loop, attend
from flow.adapters.process.tree import become_subreaper, make_tree, watch_over
from flow.startup.typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flow.adapters.process.child import Program

_STDERR = 1 << 16
_SLACK = 5.0
"""Seconds that the reaper may take beyond all limits before Flow gives it up."""


class InputRunResult(NamedTuple):
    """Result of a run. ``status`` is the exit status (128+n for signal n), of ``exit`` only."""

    kind: Literal["exit", "timeout", "too_much", "not_found", "not_started", "lost"]
    status: int | None
    stdout: bytes
    stderr: bytes
    """The first 64 KiB of standard error."""
    why: str = ""
    """Why it could not be started or how it got lost."""


class _Limits(NamedTuple):
    """Limits in seconds; ``grace`` is between SIGTERM and SIGKILL."""

    timeout: float
    grace: float


def run_with_input(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes,
    timeout: float,
    limit: int,
    grace: float = 1.0,
) -> InputRunResult:
    """Run a program, give it ``stdin``, and return its output; raises no errors of its own.

    ``argv[0]`` without a slash is looked up in the absolute folders of ``env``'s PATH. ``timeout``
    and ``grace`` (between SIGTERM and SIGKILL) are seconds, ``limit`` is bytes of standard output:
    one more, and the program is ended. None of its processes outlives the call, in any session (on
    systems that can find them all, SPEC 3).
    """
    program = locate(argv, cwd, env)
    if program is None:
        return InputRunResult("not_found", None, b"", b"", "it was not found in PATH")
    try:
        with Loop() as loop:
            return _run(loop, program, stdin, limit, _Limits(timeout, grace))
    except OSError as error:
        return InputRunResult("not_started", None, b"", b"", error.strerror or str(error))


def _run(loop: Loop, program: Program, stdin: bytes, limit: int, limits: _Limits) -> InputRunResult:
    """Start the reaper, move bytes until it has ended, read its report."""
    (in_r, in_w), (out_r, out_w), (err_r, err_w) = loop.pipe(), loop.pipe(), loop.pipe()
    (alive_r, alive), (report_r, report_w) = loop.channel(), loop.channel()
    fds = (in_r, out_w, err_w)
    began = time.monotonic()
    longest = limits.grace + SETTLE + FORCE + _SLACK
    reaper: Child | None = None
    try:
        with InterruptHeld():
            pid = fork_to(lambda: _reap(program, limits, fds, alive_r, report_w))
            # In every case the reaper notices the closed pipe, and ends everything.
            reaper = Child(loop, pid, ask=lambda: loop.close(alive), grace=longest)
        loop.close(*fds, alive_r, report_w)
        out = BoundedBytes(limit, lambda: reaper.ask(time.monotonic()))
        err = BoundedBytes(_STDERR)
        loop.read(out_r, out.take)
        loop.read(err_r, err.take)
        loop.write(in_w, stdin)
        attend(loop, reaper, began=began, timeout=limits.timeout + longest)
    finally:
        if reaper is not None:
            reaper.finish()
    outcome: dict[str, Any] = {}
    with open(report_r, "rb", closefd=False) as report:  # a few lines, which the pipe has held
        for line in report:
            outcome.update(json.loads(line))
    outputs = (bytes(out.data), bytes(err.data))
    if out.exceeded:
        return InputRunResult("too_much", None, *outputs)
    if "kind" not in outcome:
        if "pid" in outcome:
            end_group(outcome["pid"])
        return InputRunResult("lost", None, *outputs, "the process that watched it was ended")
    return InputRunResult(outcome["kind"], outcome.get("status"), *outputs, outcome.get("why", ""))


def _reap(
    program: Program, limits: _Limits, fds: tuple[int, int, int], alive: int, report: int
) -> int:
    """Run the program to its end and report; for the process between Flow and the program."""

    def tell(**fields: Any) -> None:
        with suppress(ConnectionError):  # Flow is gone
            os.write(report, json.dumps(fields).encode() + b"\n")

    loop = watch_over({*fds, alive, report, 0, 1, 2})
    tree = make_tree(reaps=become_subreaper())
    began = time.monotonic()
    try:
        # The program itself reports its number, before it can kill this process.
        pid = start(program, fds, before=lambda: tell(pid=os.getpid()))
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError) and os.path.isdir(program.cwd or ".")
        why = getattr(error, "strerror", None) or str(error)
        tell(kind="not_found" if missing else "not_started", why=why)
        return 0
    for fd in fds:
        os.close(fd)
    tree.watch(pid)
    ending = EndingSteps(tree, limits.grace)
    # Flow has read enough, or is gone.
    loop.read(alive, lambda _: None, at_end=lambda: ending.ask(time.monotonic()))
    attended = attend(loop, ending, began=began, timeout=limits.timeout)
    status = None if attended.status is None else status_of(attended.status)
    tell(kind="timeout" if attended.timed_out else "exit", status=status)
    return 0
