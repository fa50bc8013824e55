"""Flow started as a user starts it: the scripts of ``bin/``, as processes of their own.

For what is about the process; where it is not, :mod:`tests.support.here` costs a tenth.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The checkout under test."""
SKIPS_FAIL = (3, 12) <= sys.version_info < (3, 12, 2)
"""Whether ``unittest`` ends with 5 where all was skipped, as in CPython 3.12.0 and 3.12.1."""


class Ran(NamedTuple):
    """What a process came to."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.stdout)


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
    input: str | None = None,
    timeout: float = 300,
) -> Ran:
    """Run ``argv``. ``env`` is laid over the test's environment; None takes a variable away.

    ``timeout`` (seconds) only ends a hang. Without ``input`` standard input is empty.
    """
    changed = {**os.environ, **(env or {})}
    done = subprocess.run(
        [os.fspath(word) for word in argv],
        cwd=cwd,
        env={name: value for name, value in changed.items() if value is not None},
        input=(input or "").encode("utf-8"),
        capture_output=True,
        timeout=timeout,
    )
    return Ran(done.returncode, *(os.fsdecode(text) for text in (done.stdout, done.stderr)))


def start_flow(
    *arguments: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
    input: str | None = None,
    timeout: float = 300,
) -> Ran:
    """Run ``bin/flow`` with the interpreter and packages that the tests themselves run with."""
    return start_script("flow", *arguments, cwd=cwd, env=env, input=input, timeout=timeout)


def start_helper(
    name: str,
    *arguments: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
    input: str | None = None,
    timeout: float = 300,
) -> Ran:
    """Run ``bin/NAME`` (with or without its ``.sh``) in the same way."""
    name = name if name.endswith(".sh") else f"{name}.sh"
    return start_script(name, *arguments, cwd=cwd, env=env, input=input, timeout=timeout)


def start_script(
    name: str,
    *arguments: str | os.PathLike[str],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None,
    input: str | None,
    timeout: float,
) -> Ran:
    """Run a script of ``bin/``."""
    return run(
        [os.path.join(ROOT, "bin", name), *arguments],
        cwd=cwd,
        env={"FLOW_PYTHON": sys.executable, **(env or {})},
        input=input,
        timeout=timeout,
    )
