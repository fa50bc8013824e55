"""``flow doctor``: the faults of this set-up, why they matter, and what to do."""

from __future__ import annotations

import os

from flow.adapters.setup import doctor
from flow.cli.parsing import CommandSpec
from flow.render import text
from flow.startup.typing import TYPE_CHECKING
from flow.wiring import Checkout

if TYPE_CHECKING:
    import argparse

    from flow.cli.output import Output

FINDINGS = 1


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fix", action="store_true", help="remove left-over temporary files, finish begun writes"
    )


def _run_doctor(args: argparse.Namespace, out: Output) -> int:
    examined = doctor.examine(Checkout, os.environ, fix=args.fix)
    document = examined.to_document()
    out.result(document, text.doctor(document, out.paint))
    return FINDINGS if examined.findings else 0


COMMAND = CommandSpec(
    "look for what is wrong with this set-up",
    _arguments,
    _run_doctor,
    "exit status: 0 nothing found, 1 findings",
)
