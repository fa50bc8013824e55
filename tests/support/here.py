"""The command line without a start: in the test's own process, as if in a new one.

A start of Python and the imports cost ten times what most commands do. Standard streams (their
descriptors, too), environment and working directory are the command's own and are put back, and it
remembers nothing that an earlier command or the test itself did. What is about the process itself
(launcher, isolation, encodings, a terminal, signals, being killed, two at once) needs
:mod:`tests.support.start`. For the main thread.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import ExitStack, chdir, contextmanager
from typing import TYPE_CHECKING

from flow import helpers
from flow.__main__ import run as run_words
from flow.adapters.baseline import work_folder
from flow.adapters.chain import event_log
from flow.adapters.contracts import strict_yaml
from flow.adapters.git import run as git_run
from flow.adapters.ledger import reader
from tests.support.judges.scripted import answers_here
from tests.support.start import Ran

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REMEMBERED = (
    strict_yaml._handed_on,
    work_folder._held,
    git_run._refusals,
    git_run._checkouts,
    reader._parsed,
    reader._sidecars,
    event_log._newest,
)
"""What Flow's modules know of files and repositories that they have seen or written."""


def run_flow(
    *arguments: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
    input: str | None = None,
) -> Ran:
    """As ``start_flow``: the same arguments and the same result."""
    return run_main(lambda: run_words([os.fspath(word) for word in arguments]), cwd, env, input)


def run_helper(
    name: str,
    *arguments: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
    input: str | None = None,
) -> Ran:
    """As ``start_helper``, in the same way."""
    words = [os.fspath(word) for word in arguments]
    return run_main(lambda: helpers.main(name, words), cwd, env, input)


def forget() -> None:
    """Know no more than a process that has just begun.

    Above all, vouch for nothing: what an earlier command left counts by its files alone.
    """
    for container in REMEMBERED:
        container.clear()


def run_main(
    main: Callable[[], int],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None,
    input: str | None,
) -> Ran:
    """Any other program's ``main``, in the same way."""
    with ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write((input or "").encode("utf-8"))
        given.seek(0)
        forget()
        try:
            with (
                _environment({"FLOW_PYTHON": sys.executable, **(env or {})}),
                _interpreter(),
                answers_here(),
                chdir(cwd),
                _streams(given.fileno(), out.fileno(), err.fileno()),
            ):
                status = main()
        finally:
            forget()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(os.fsdecode(stream.read()))
    return Ran(status, *texts)


@contextmanager
def _environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    before = dict(os.environ)
    try:
        for name, value in changes.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        yield
    finally:
        if os.environ != before:
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def _interpreter() -> Iterator[None]:
    """Python's own memory of the environment and of signals."""
    tempdir, tempfile.tempdir = tempfile.tempdir, None
    alarm = signal.getsignal(signal.SIGALRM)
    try:
        yield
    finally:
        tempfile.tempdir = tempdir
        signal.signal(signal.SIGALRM, alarm)


@contextmanager
def _streams(*files: int) -> Iterator[None]:
    """These three as descriptors 0 to 2 and as Python's standard streams."""
    streams = sys.stdin, sys.stdout, sys.stderr
    descriptors = [os.dup(number) for number in range(3)]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, file in enumerate(files):
            os.dup2(file, number)
        with (
            open(0, encoding="utf-8", errors="surrogateescape", closefd=False) as sys.stdin,
            open(1, "w", encoding="utf-8", closefd=False) as sys.stdout,
            open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False) as sys.stderr,
        ):
            yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
