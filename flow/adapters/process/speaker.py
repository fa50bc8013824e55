"""Origin of this process's command: the one place that finds it out."""

from __future__ import annotations

import os
import sys

from flow.core.tool_calls.speaker import Speaker, speaker
from flow.startup.typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping


def current_speaker(environ: Mapping[str, str]) -> Speaker:
    """The speaker. A terminal is one where a person could be asked: it reads and shows."""
    return speaker(environ, at_terminal=is_terminal(sys.stdin) and is_terminal(sys.stderr))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is a terminal; a closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def account(environ: Mapping[str, str]) -> str:
    """The name of the account that this process runs under."""
    named = environ.get("USER") or environ.get("LOGNAME")
    if named:
        return named
    from pwd import getpwuid  # a service or a container often has neither variable

    try:
        return getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"
