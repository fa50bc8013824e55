"""The reference of the command line (``docs/reference/cli.md``), made from the commands' help.

What argparse prints differs between versions of Python, so the tables are made from its arguments.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from flow.cli.parser import Parser


def reference() -> str:
    """Every command with its arguments, in the order of ``flow --help``."""
    from flow.cli.main import COMMANDS
    from flow.cli.parser import Parser
    from flow.cli.parsing import command_of

    lines: list[str] = []
    for name in COMMANDS:
        module = import_module(f"flow.cli.{name}")
        if hasattr(module, "COMMAND"):
            lines += _command(Parser(f"flow {name}", module.COMMAND), level=2)
        else:
            lines += [f"## flow {name}", "", _sentence(COMMANDS[name]), ""]
        for word in getattr(module, "COMMANDS", ()):
            lines += _command(Parser(f"flow {name} {word}", command_of(module, word)), level=3)
    return "\n".join(lines)


def _command(parser: Parser, *, level: int) -> list[str]:
    lines = [f"{'#' * level} {parser.prog}", "", f"{parser.description}", ""]
    rows = [_row(action) for action in parser._actions if action.dest not in ("json", "help")]
    if rows:
        lines += ["| argument | | meaning |", "|---|---|---|", *rows, ""]
    if parser.ending:
        lines += ["```text", parser.ending, "```", ""]
    return lines


def _row(action: argparse.Action) -> str:
    choices = [f"`{choice}`" for choice in action.choices or ()]
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.option_strings:
        shown = action.option_strings[0]
        if action.nargs != 0:
            shown += f" {value if action.metavar or not choices else action.dest.upper()}"
        names = ", ".join(f"`{name}`" for name in [shown, *action.option_strings[1:]])
        needed = action.required
    else:
        names, needed = f"`{value}`", action.nargs not in ("?", "*")
    help = (action.help or "").replace("|", "\\|")
    if choices:
        help += f": {', '.join(choices)}"
    return f"| {names} | {'required' if needed else ''} | {help} |"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
