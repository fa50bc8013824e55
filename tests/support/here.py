"""The command line in the test's own process, where a process of its own adds nothing.

What the process itself is about (signals, streams, encodings, a terminal, being killed, start-up)
needs :func:`tests.support.run_flow`.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

from flow import helpers
from flow.adapters.baseline import work_folder
from flow.adapters.chain import ledger_file, session_writes
from flow.adapters.git import run as git_run
from flow.adapters.ledger import evidence_store, reader
from flow.cli.main import run
from tests.support.start import Ran

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def flow_here(
    *arguments: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
) -> Ran:
    """As ``run_flow``, with output that is no terminal's. For one thread."""
    return _here(lambda: run([os.fspath(word) for word in arguments]), cwd, env)


def helper_here(
    name: str,
    *arguments: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
) -> Ran:
    """As ``run_helper``, in the same way."""
    return _here(lambda: helpers.main(name, [os.fspath(w) for w in arguments]), cwd, env)


def forget() -> None:
    """Know no more than a process that has just begun.

    Above all, vouch for nothing: what an earlier command left counts by its files alone.
    """
    session_writes._runs.clear()
    session_writes._measuring.clear()
    work_folder._held.clear()
    ledger_file._known.clear()
    evidence_store._newest.clear()
    git_run._refusals.clear()
    git_run._checkouts.clear()
    reader._parsed.clear()
    reader._sidecars.clear()


def _here(
    main: Callable[[], int], cwd: str | os.PathLike[str], env: Mapping[str, str | None] | None
) -> Ran:
    before = dict(os.environ)
    out, err = io.StringIO(), io.StringIO()
    forget()
    try:
        for name, value in {"FLOW_PYTHON": sys.executable, **(env or {})}.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
            status = main()
    finally:
        os.environ.clear()
        os.environ.update(before)
        forget()
    return Ran(status, out.getvalue(), err.getvalue())
