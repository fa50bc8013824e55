"""From where this process was given its command: the one place that looks."""

from __future__ import annotations

import sys

from flow.core.tool_calls.speaker import Speaker, speaker
from flow.startup.typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping


def current_speaker(environ: Mapping[str, str]) -> Speaker:
    """Who speaks. A terminal is one where a person could be asked: it reads and shows."""
    return speaker(environ, at_terminal=is_terminal(sys.stdin) and is_terminal(sys.stderr))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is a terminal; a closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
