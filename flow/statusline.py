"""``flow statusline``: one line on the branch's goal, for the status bar of an agent's host.

The host's JSON on standard input names the folder (Claude Code: ``workspace.current_dir``, else
``cwd``). There is always one line and the exit status is 0, also if something is broken.
"""

from __future__ import annotations

import os

from flow.core.text.locale import wants_ascii
from flow.errors import FlowError
from flow.startup import ctrl_c, json
from flow.startup.alarm import print_bytes, read_input
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

INPUT_LIMIT = 1 << 20
"""Bytes of standard input that are read."""
INPUT_SECONDS = 1.0
"""Seconds that the host may take to send the input; a terminal is not waited for."""
NO_GOAL = {"goals": [], "unreadable": 0, "goal": None}

USAGE = """\
usage: flow statusline [--json]

Print one line of at most 60 columns on the goal of the branch that is checked
out, for the status bar of an agent's host, whose JSON may come on standard
input. Runs nothing, writes nothing, exits with 0.

For Claude Code, in ~/.claude/settings.json:
  "statusLine": {"type": "command", "command": "flow statusline"}

example:
  flow statusline"""


def run(words: Sequence[str]) -> int:
    """Print the line. Raises nothing; returns 0."""
    if "-h" in words or "--help" in words:
        _print(json.dumps({"help": USAGE}) if "--json" in words else USAGE)
        return 0
    try:
        with ctrl_c.HEARD:
            line = _line()
    except (Exception, KeyboardInterrupt):  # noqa: BLE001 - a status bar always has its line
        line = "(o) flow doctor" if wants_ascii(os.environ) else "◎ flow doctor"
    if "--json" in words:
        line = json.dumps({"line": line})
    _print(line)
    return 0


def _line() -> str:
    from flow.render.goal.statusline import statusline

    return statusline(_facts(_folder()), unicode=not wants_ascii(os.environ))


def _facts(folder: str) -> Any:
    from flow.app.status_line import status_line
    from flow.wiring.context import Context
    from flow.wiring.goals import Goals

    try:
        context = Context(folder)
    except FlowError:  # no repository and no .flow folder
        return NO_GOAL
    context.be_lenient()
    return status_line(Goals(context))


def _folder() -> str:
    """The folder that the host names and that is there; else the working directory."""
    data = _standard_input()
    try:
        document = json.loads(data.decode("utf-8", "replace")) if data.strip() else {}
    except (ValueError, RecursionError):
        document = {}
    if not isinstance(document, dict):
        document = {}
    workspace = document.get("workspace")
    named = workspace.get("current_dir") if isinstance(workspace, dict) else None
    for folder in (named, document.get("cwd")):
        if isinstance(folder, str) and os.path.isabs(folder) and _is_folder(folder):
            return folder
    return os.getcwd()


def _is_folder(path: str) -> bool:
    try:
        return os.path.isdir(path)
    except ValueError:  # a NUL byte
        return False


def _standard_input() -> bytes:
    """The host's input, up to the limits of size and time; empty if it is a terminal."""
    return b"" if os.isatty(0) else read_input(INPUT_LIMIT, INPUT_SECONDS)


def _print(text: str) -> None:
    print_bytes(text.encode("utf-8", "replace"))
