"""Origin of this process's command: the one place that finds it out."""

from __future__ import annotations

import os
import sys

from flow.core.tool_calls.speaker import Speaker, speaker
from flow.startup.typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flow.app.transitions.persons_word import PersonsWord


class AskingPort(Protocol):
    """Interface for finding out who asks for an evaluation."""

    @property
    def speaker(self) -> Speaker | None:
        """From where the command comes; None at the stop of an agent."""

    @property
    def who(self) -> str:
        """The account's name."""

    def own_word(self) -> PersonsWord:
        """The word of the person who runs this; git may be asked for the name."""


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
        return os.fsencode(named).decode("utf-8", "backslashreplace")
    from pwd import getpwuid  # a service or a container often has neither variable

    try:
        return getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"


def asked_by(port: AskingPort) -> Mapping[str, str]:
    """The caller that asks for an evaluation: an agent by its shell, else a person by name.

    git is asked for the name only for a person at a terminal; empty at the stop of an agent.
    """
    speaker = port.speaker
    if speaker is None:
        return {}
    if speaker.said_from == "agent":
        return speaker.fields()
    if speaker.said_from == "pipe":
        return {"by": port.who, "by_from": "account", **speaker.fields()}
    word = port.own_word()
    return {"by": word.by, **word.name_fields, **speaker.fields()}
