"""The command line in a process of its own without a start of its own: a fork of the test's.

A start of Python and the imports cost ten times what most commands do. Descriptors, environment,
working directory and exit status are the child's own, and it remembers nothing that the test's
process did to a run. What the start itself is about (the launcher, streams and encodings from the
environment, isolation, being killed or interrupted) needs :func:`tests.support.run_flow`.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, NoReturn

from flow.__main__ import main
from tests.support.here import forget
from tests.support.start import Ran

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO


def run_forked(
    *arguments: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
    input: str | None = None,
    timeout: float = 300,
) -> Ran:
    """As ``run_flow``: the same arguments and the same result. ``timeout`` only ends a hang."""
    words = [os.fspath(word) for word in arguments]
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write((input or "").encode("utf-8"))
        given.seek(0)
        pid = os.fork()
        if pid == 0:
            _child(words, os.fspath(cwd), env or {}, (given, out, err))
        clock = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
        clock.start()
        try:
            _, status = os.waitpid(pid, 0)
        finally:
            clock.cancel()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(os.fsdecode(stream.read()))
    return Ran(os.waitstatus_to_exitcode(status), *texts)


def _child(
    words: list[str], cwd: str, env: Mapping[str, str | None], streams: tuple[BinaryIO, ...]
) -> NoReturn:
    status = 70
    try:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        for name, value in env.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        os.chdir(cwd)
        forget()
        sys.argv = ["flow", *words]
        status = main()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)
