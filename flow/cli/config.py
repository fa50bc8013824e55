"""``flow config list``: the settings in force."""

from __future__ import annotations

from flow.cli.parsing import CommandSpec, plain
from flow.core.settings import config_rows
from flow.render import text
from flow.startup.typing import TYPE_CHECKING
from flow.wiring.context import Context

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show-origin", action="store_true", help="say where each value is from")


def _list_settings(args: argparse.Namespace, out: Output) -> int:
    loaded = Context().settings
    rows = [
        {
            "key": row.key,
            "value": plain(row.value),
            **({"origin": row.origin} if args.show_origin else {}),
        }
        for row in config_rows(loaded)
    ]
    out.result({"settings": rows, "warnings": list(loaded.warnings)}, text.settings(rows))
    out.warn(loaded.warnings)
    return 0


_TABLE = {"list": CommandSpec("every setting with its value", _arguments, _list_settings)}
COMMANDS = {name: command.help for name, command in _TABLE.items()}


def load(name: str) -> CommandSpec:
    """The command ``name`` of this group."""
    return _TABLE[name]
