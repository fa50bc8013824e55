"""``flow schema NAME``: the JSON Schemas of Flow's files."""

from __future__ import annotations

from flow.adapters.contracts import schemas
from flow.adapters.contracts.schemas import NAMES
from flow.cli.parsing import CommandSpec
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("NAME", choices=NAMES, help="the files it describes")


def _run_schema(args: argparse.Namespace, out: Output) -> int:
    out.text(schemas.text(args.NAME))  # the file as it is: one JSON document
    return 0


COMMAND = CommandSpec("print a JSON Schema of Flow's files", _arguments, _run_schema)
